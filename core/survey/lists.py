"""Cell lists in a survey: facts about lists and spheres.

docs/FORMATS.md, section 3, "How a builder fills in the records".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..formats.mcol_records import INDEX, LIST
from ..geometry.spheres import LIST_MARGIN, TRIANGLE_MARGIN, group_spheres, triangle_spheres
from ..geometry.triangles import corners
from .facts import Amounts, Answer, Fact, Measured, NotMeasurable, Same, Spread, Subject, Tally, named
from .hulls import Hull

MISSING_SHIPPED = 3
EXTRAS_SHIPPED = 730

# --- lists ----------------------------------------------------------------------------------------


def _order(hull: Hull) -> str:
    rows, numbers = hull.all_entries
    same = rows[1:] == rows[:-1]
    up, down = (numbers[1:] > numbers[:-1])[same], (numbers[1:] < numbers[:-1])[same]
    if not len(up):
        return "lists of one triangle"
    # A triangle named twice in a row is another fact's, so it counts for neither direction.
    if not down.any():
        return "ascending"
    return "descending" if not up.any() else "in no order"


def _whole_lists(hull: Hull) -> tuple[int, int]:
    counts = hull.cells["list_count"][hull.occupied].astype(np.int64)
    good = np.count_nonzero(hull.list_sizes == hull.records["count"])
    rows, numbers = hull.all_entries
    good -= len(np.unique(rows[numbers >= len(hull.triangles)]))
    return int(good), int(counts.sum())


def _records_a_cell(hull: Hull) -> tuple[int, int]:
    return int(np.count_nonzero(hull.cells["list_count"][hull.occupied] == 1)), len(hull.occupied)


def _repeated(hull: Hull) -> int:
    rows, numbers = hull.entries
    keys = hull.record_cells[rows] * len(hull.triangles) + numbers
    return len(keys) - len(np.unique(keys))


def _missing(hull: Hull) -> np.ndarray:
    return hull.pairs.missing


def _extras(hull: Hull) -> np.ndarray:
    pairs = hull.pairs
    beside = pairs.listed_gaps > pairs.within
    in_box = pairs.box_gaps(pairs.listed) <= pairs.within
    return pairs.listed_gaps[beside & in_box]


def _beyond_box(hull: Hull) -> np.ndarray:
    pairs = hull.pairs
    gaps = pairs.box_gaps(pairs.listed)
    return gaps[gaps > pairs.within]


def _touching(hull: Hull) -> tuple[int, int]:
    pairs = hull.pairs
    listed = np.isin(pairs.touching, pairs.listed, assume_unique=True)
    return int(listed.sum()), len(listed)


def _longest(hull: Hull) -> int:
    return int(np.bincount(hull.pairs.listed // hull.pairs.count, minlength=1).max())


def _longest_answer(measured: Sequence[Measured], whole: bool) -> Answer:
    longest = max(int(value) for _, value in measured)
    ids = [id for id, value in measured if value == longest]
    return Answer(f"{longest:,} triangles, in {len(ids):,} of {len(measured):,}{named(ids)}", False)


# --- spheres --------------------------------------------------------------------------------------


def _factors(hull: Hull) -> np.ndarray:
    ours = triangle_spheres(hull.vertices, hull.triangles)[:, 3]
    return hull.spheres[:, 3].astype(np.float64) / ours * TRIANGLE_MARGIN


def _triangle_bits(hull: Hull) -> tuple[int, int, int, int, int]:
    points = corners(hull.vertices, hull.triangles)
    return _compared(hull.spheres, [triangle_spheres(hull.vertices, hull.triangles)], _enclosing(hull.spheres, points))


def _list_factors(hull: Hull) -> np.ndarray:
    return _cell_list_spheres(hull)[:, 3].astype(np.float64) / _own_spheres(hull)[:, 3] * LIST_MARGIN


def _list_bits(hull: Hull) -> tuple[int, int, int, int, int]:
    """Spheres of lists; cells with several lists count with the cell's own sphere."""
    rows, numbers = hull.entries
    points = corners(hull.vertices, hull.triangles[numbers])
    inside = _enclosing(hull.records["sphere"][rows].astype(np.float32), points)
    encloses = ~np.isin(_listing_cells(hull), hull.record_cells[rows[~inside]])
    ours = [_own_spheres(hull, way) for way in WAYS]
    return _compared(_cell_list_spheres(hull), ours, encloses)


def _listing_cells(hull: Hull) -> np.ndarray:
    """Numbers of the cells that list triangles, int64 (k,), ascending. Raises `NotMeasurable` without any."""
    cells = np.unique(hull.record_cells[hull.entries[0]])
    if not len(cells):
        raise NotMeasurable("no lists")
    return cells


def _cell_list_spheres(hull: Hull) -> np.ndarray:
    """The list's sphere of each cell that lists triangles, or the cell's if it has several lists, float32 (k, 4)."""
    cells = _listing_cells(hull)
    every, first, counts = np.unique(hull.record_cells, return_index=True, return_counts=True)
    at = np.searchsorted(every, cells)
    own = hull.records["sphere"][first[at]].astype(np.float32)
    return np.where((counts[at] == 1)[:, None], own, hull.cells["sphere"][cells].astype(np.float32))


WAYS = ((True, False, False), (True, True, False), (False, True, False), (True, True, True), (False, True, True))
"""Whether a cell's sphere is around what it lists, what reaches into it, and what only touches it. What is listed is
for other facts to say, so any of them will do; where nothing else is, it is what is listed."""


def _own_spheres(hull: Hull, way: tuple[bool, bool, bool] = WAYS[0]) -> np.ndarray:
    """Spheres as documented for the cells that list triangles, float32 (k, 4), around one of the `WAYS`."""
    with_listed, reaching, touching = way
    pairs, cells, count = hull.pairs, _listing_cells(hull), len(hull.triangles)
    keys = [np.zeros(0, np.int64)]
    if reaching:
        keys.append(pairs.overlapping)
    if touching:
        keys.append(pairs.touching)
    others = np.concatenate(keys)
    others = others[np.isin(others // count, cells)]
    listed = pairs.listed if with_listed else pairs.listed[~np.isin(pairs.listed // count, others // count)]
    chosen = np.concatenate((others, listed))
    corners_of = (chosen // count)[:, None] * len(hull.vertices) + hull.triangles[chosen % count]
    row, vertex = np.divmod(np.unique(corners_of), len(hull.vertices))
    return group_spheres(hull.vertices[vertex].astype(np.float64), np.searchsorted(row, cells))


def _compared(spheres: np.ndarray, ours: list[np.ndarray], encloses: np.ndarray) -> tuple[int, int, int, int, int]:
    """How many spheres are equal to any of ours bit for bit, are a step off in no number more than one, have an equal
    centre, don't enclose what they should; and how many there are."""
    bits = spheres.view(np.int32).astype(np.int64)
    apart = np.abs(bits - np.stack([own.view(np.int32) for own in ours]))
    steps, centres = apart.max(axis=2).min(axis=0), apart[..., :3].max(axis=2).min(axis=0)
    counts = (steps == 0, steps == 1, centres == 0, ~encloses)
    return *(int(one.sum()) for one in counts), len(spheres)  # type: ignore[return-value]


def _enclosing(spheres: np.ndarray, points: np.ndarray) -> np.ndarray:
    centres = spheres[:, None, :3].astype(np.float64)
    return np.linalg.norm(points - centres, axis=2).max(axis=1) <= spheres[:, 3]


def _bits_answer(measured: Sequence[Measured], whole: bool) -> Answer:
    equal, step, centres, small, total = (sum(value[place] for _, value in measured) for place in range(5))
    odd = [id for id, value in measured if value[0] != value[4] or value[3]]
    text = f"all in {len(measured) - len(odd):,} of {len(measured):,}"
    if odd:
        details = f"one step off {step:,}, equal centres {centres:,}, too small {small:,}"
        text = f"{equal:,} of {total:,}, {details}, {text}{named(odd)}"
    return Answer(text, bool(odd))


def _cell_spheres(hull: Hull) -> tuple[int, int]:
    """Those that are the list's bit for bit, or what it should be, or of a cell with several lists."""
    cells = _listing_cells(hull)
    stored = hull.cells["sphere"][cells].astype(np.float32)
    same = [_bits(stored) == _bits(_cell_list_spheres(hull))]
    same += [_bits(stored) == _bits(_own_spheres(hull, way)) for way in WAYS]
    good = np.any([one.all(axis=1) for one in same], axis=0)
    return int(good.sum()), len(good)


def _bits(spheres: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(spheres).view(np.uint32)


def _packed(hull: Hull) -> tuple[int, int]:
    starts, sizes = hull.list_starts, hull.list_sizes
    return int((np.diff(starts) == INDEX.itemsize * sizes[:-1]).sum()), max(len(starts) - 1, 0)


def _in_cell_order(hull: Hull) -> tuple[int, int]:
    steps = np.diff(hull.record_places[1])
    return int((steps == LIST.itemsize).sum()), len(steps)


_H = Subject.HULL
FACTS = (
    Fact("F30", "A", "order of the lists' triangles", _H, "ascending", _order, Same(("ascending",))),
    Fact("F31", "M", "lists within the file, of triangles that exist", _H, "all", _whole_lists, Tally()),
    Fact("F32", "M", "occupied cells with one list record", _H, "all", _records_a_cell, Tally()),
    Fact(
        "F33",
        "M",
        "triangles missing from a cell that they reach into",
        _H,
        "3 in the game's 11 hulls",
        _missing,
        Amounts("deep", MISSING_SHIPPED),
    ),
    Fact(
        "F34",
        "M",
        "list entries beside their cell",
        _H,
        "730 in the game's 11 hulls",
        _extras,
        Amounts("away", EXTRAS_SHIPPED, some=True),
    ),
    Fact("F35", "M", "list entries whose bounding box misses the cell", _H, "none", _beyond_box, Amounts("away")),
    Fact("F36", "D", "triangles that only touch a cell and are listed", _H, "all", _touching, Tally()),
    Fact("F37", "C", "list entries named again in their cell", _H, "any number", _repeated, Same(("0",))),
    Fact("F38", "C", "longest list of a cell", _H, "any length", _longest, _longest_answer),
    Fact("F39", "M", "list records in cell order, 32 bytes apart", _H, "all", _in_cell_order, Tally()),
    Fact("F40", "M", "lists whose indices follow those of the list before", _H, "all", _packed, Tally()),
    Fact(
        "F41",
        "M",
        "radius of triangle spheres to the smallest's",
        _H,
        "1.0001",
        _factors,
        Spread(1.00009, 1.00011, 6, whole_range=False),
    ),
    Fact("F42", "D", "triangle spheres equal to ours bit for bit", _H, "all", _triangle_bits, _bits_answer),
    Fact(
        "F43",
        "D",
        "radius of list spheres to the smallest's",
        _H,
        "1.001",
        _list_factors,
        Spread(1.0009, 1.0011, 6, whole_range=False),
    ),
    Fact("F44", "D", "list spheres equal to ours bit for bit", _H, "all", _list_bits, _bits_answer),
    Fact("F45", "D", "cell spheres equal to the list's", _H, "all", _cell_spheres, Tally()),
)
