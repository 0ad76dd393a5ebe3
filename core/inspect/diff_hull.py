"""What changed between two hulls or two libraries, in a modder's terms.

Nothing to tell means identical bytes. Geometry is compared surface by surface, so that a hull in which one
asteroid was deleted shows just that, though every number behind it moved up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from ..editing.surface_meshes import Surface, separate
from ..formats import collision_set, mcol, mcol_records
from ..formats.binary import offset_of
from ..formats.collision_set import CollisionSet, Part, unusable
from ..formats.mcol import Hull
from ..formats.mcol_layout import gaps
from ..geometry.arrays import expand
from ..geometry.grid import Grid
from .diff_mesh import common, corner_keys, diff_meshes, different, pair, vector
from .stored import as_stored, carried, cell_records

NAMED_AT_MOST = 4
"""How many elements a message names before it says that there are more."""

STATES = {mcol.FREE: "free", mcol.LISTED: "holding triangles", mcol.SOLID: "solid"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that changed: `where` it is, and what happened, in words."""

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


# --- hulls ----------------------------------------------------------------------------------------


def diff_hulls(a: Hull, b: Hull) -> list[Difference]:
    """What turns hull `a` into hull `b`; empty if and only if their files are the same bytes.

    Hulls that were never in a file are compared as the files that they would become.
    """
    a, b = as_stored(a), as_stored(b)
    found = _diff_grids(a.grid, b.grid)
    if a.outside_solid != b.outside_solid:
        found.append(Difference("header", f"byte 0x73, outside is solid: {a.outside_solid} -> {b.outside_solid}"))
    surfaces, counterpart = _diff_surfaces(a, b)
    found += surfaces
    found += _diff_spheres(a, b, counterpart)
    if a.grid.dimensions == b.grid.dimensions:
        found += _diff_lists(a, b, counterpart)
        found += _diff_states(a, b)
    found += _diff_unread(a, b)
    return found or diff_bytes(mcol.encode(a), mcol.encode(b))


def _diff_grids(a: Grid, b: Grid) -> list[Difference]:
    found = [
        Difference("grid", f"{called}: {vector(before)} -> {vector(after)}")
        for called, before, after in (
            ("box minimum", a.minimum, b.minimum),
            ("box maximum", a.maximum, b.maximum),
            ("cell size", a.cell_size, b.cell_size),
            ("cells along x, y, z", a.dimensions, b.dimensions),
        )
        if not np.array_equal(before, after)
    ]
    if found:
        found.append(Difference("grid", "the .rgn file beside this hull takes its cell numbers from here"))
    if a.dimensions != b.dimensions:
        found.append(Difference("cells", "all renumbered, lists and fill states not compared"))
    return found


def _diff_surfaces(a: Hull, b: Hull) -> tuple[list[Difference], np.ndarray]:
    """The differences, and for each triangle of `a` its counterpart in `b` or -1, int64 (nt,)."""

    def shape(surface: Surface) -> Hashable:
        return surface.triangles.tobytes()

    def everything(surface: Surface) -> Hashable:
        return shape(surface), surface.vertices.tobytes()

    def with_name(key: Callable[[Surface], Hashable]) -> Callable[[Surface], Hashable]:
        return lambda surface: (surface.name, key(surface))

    # What is the same comes first, then what moved, then what was edited under the same name.
    keys = (with_name(everything), everything, with_name(shape), shape, lambda surface: surface.name)
    pairs, only_a, only_b = pair(separate(a), separate(b), keys)
    found = []
    counterpart = np.full(len(a.triangles), -1)
    for one, other in pairs:
        theirs, mine = _matching_triangles(one, other)
        counterpart[one.triangle_numbers[theirs]] = other.triangle_numbers[mine]
        found += [Difference(f"surface {one.name}", text) for text in diff_meshes(one, other)]
    found += [Difference(f"surface {one.name}", f"removed, {len(one.triangles):,} triangles") for one in only_a]
    found += [Difference(f"surface {one.name}", f"added, {len(one.triangles):,} triangles") for one in only_b]
    unused = [len(hull.vertices) - len(np.unique(hull.triangles)) for hull in (a, b)]
    if unused[0] != unused[1]:
        found.append(Difference("vertices", f"{unused[0]:,} -> {unused[1]:,} that no triangle uses"))
    kept = counterpart[counterpart >= 0]
    if (np.diff(kept) < 0).any():
        found.append(Difference("triangles", "stand in another order"))
    if not found and not np.array_equal(a.triangles, b.triangles):
        found.append(Difference("vertices", "stand in another order"))
    return found, counterpart


def _matching_triangles(a: Surface, b: Surface) -> tuple[np.ndarray, np.ndarray]:
    """Places in `a` and places in `b` of the triangles that are the same."""
    if np.array_equal(a.triangles, b.triangles):
        return np.arange(len(a.triangles)), np.arange(len(a.triangles))
    return common(*corner_keys(a, b))


def _diff_spheres(a: Hull, b: Hull, counterpart: np.ndarray) -> list[Difference]:
    mine = np.flatnonzero(counterpart >= 0)
    theirs = counterpart[mine]
    changed = different(a.spheres[mine], b.spheres[theirs])
    moved = different(a.vertices[a.triangles[mine]].reshape(-1, 9), b.vertices[b.triangles[theirs]].reshape(-1, 9))
    found = []
    if (changed & moved).any():
        found.append(Difference("triangle spheres", f"{(changed & moved).sum():,} changed with their triangles"))
    if (changed & ~moved).any():
        text = f"{(changed & ~moved).sum():,} changed though their triangles didn't"
        found.append(Difference("triangle spheres", text + _some(mine[changed & ~moved], "triangle")))
    return found


def _diff_lists(a: Hull, b: Hull, counterpart: np.ndarray) -> list[Difference]:
    """Which cells list other triangles, in another order, in other records, behind other spheres."""
    grid = a.grid
    lost, gained = np.setdiff1d(a.occupied, b.occupied), np.setdiff1d(b.occupied, a.occupied)
    both = np.intersect1d(a.occupied, b.occupied)
    rows_a, rows_b = np.searchsorted(a.occupied, both), np.searchsorted(b.occupied, both)

    # A triangle of a that has no counterpart gets a number that b can't hold.
    known = np.where(counterpart >= 0, counterpart, mcol.LIMIT + 1 + np.arange(len(counterpart)))
    cells_a, listed_a = _entries(a, both, known)
    cells_b, listed_b = _entries(b, both, np.arange(len(b.triangles)))
    taken, added = _only(cells_a, listed_a, cells_b, listed_b)
    changed = np.union1d(cells_a[taken], cells_b[added])
    same_a, same_b = ~np.isin(cells_a, changed), ~np.isin(cells_b, changed)
    reordered = np.unique(cells_a[same_a][listed_a[same_a] != listed_b[same_b]])

    records = a.list_counts[rows_a] != b.list_counts[rows_b]
    _, lists_a = expand(a.first_list[rows_a][~records], a.list_counts[rows_a][~records])
    owners, lists_b = expand(b.first_list[rows_b][~records], b.list_counts[rows_b][~records])
    list_spheres = both[~records][np.unique(owners[different(a.list_spheres[lists_a], b.list_spheres[lists_b])])]
    cell_spheres = both[different(a.cell_spheres[rows_a], b.cell_spheres[rows_b])]
    sizes = both[~records][np.unique(owners[a.list_sizes[lists_a] != b.list_sizes[lists_b]])]
    resized = np.union1d(both[records], np.setdiff1d(sizes, changed))

    entries = f"with other triangles in their lists, {len(added):,} entries more and {len(taken):,} fewer"
    return [
        Difference("cells", f"{len(cells):,} {text}{_some(grid.position(cells), 'cell')}")
        for cells, text in (
            (gained, "that were empty and hold triangles now"),
            (lost, "that held triangles and are empty now"),
            (changed, entries),
            (reordered, "with the same triangles in another order"),
            (resized, "with their lists cut into records in another way"),
            (list_spheres, "with another sphere in front of their list"),
            (cell_spheres, "with another sphere in the cell record, which the game doesn't read"),
        )
        if len(cells)
    ]


def _entries(hull: Hull, cells: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The list entries of these cells: the cell, and the triangle by its new number."""
    rows, _, listed = hull.entries()
    owner = hull.occupied[rows]
    wanted = np.isin(owner, cells)
    return owner[wanted], number[listed[wanted]]


def _diff_states(a: Hull, b: Hull) -> list[Difference]:
    changed = np.flatnonzero(a.states != b.states)
    found = []
    for before, after in np.unique(np.stack((a.states[changed], b.states[changed]), axis=1), axis=0):
        cells = changed[(a.states[changed] == before) & (b.states[changed] == after)]
        text = f"{len(cells):,} cells from {_state(before)} to {_state(after)}"
        found.append(Difference("fill states", text + _some(a.grid.position(cells), "cell")))
    return found


def _state(value: int) -> str:
    return STATES.get(int(value), str(value))


def _diff_unread(a: Hull, b: Hull) -> list[Difference]:
    """Words and bytes that the game doesn't read, or that nobody understands."""
    words = _unread_header_words(a, b)
    if a.grid.dimensions == b.grid.dimensions:
        words += _unread_cell_words(a, b)
    one, other = carried(a), carried(b)
    if len(one.list_words) == len(other.list_words):
        words.append(("list records, +8 to +0xF", one.list_words, other.list_words))
    counts = [(where, _words_that_differ(before, after)) for where, before, after in words]
    found = [Difference(where, f"{count:,} unread words changed") for where, count in counts if count]
    found += [
        Difference("chunk shell", f"{name} changed")
        for name, before, after in (
            ("flags and version", one.shell.flags, other.shell.flags),
            ("word 0xC", one.shell.unknown_0c, other.shell.unknown_0c),
            ("flags of POF0", one.shell.relocation.flags, other.shell.relocation.flags),
            ("word 0xC of POF0", one.shell.relocation.unknown_0c, other.shell.relocation.unknown_0c),
            ("bytes behind POF0", one.shell.tail, other.shell.tail),
        )
        if before != after
    ]
    if [block.name for block in one.blocks] != [block.name for block in other.blocks]:
        found.append(Difference("arrays", "stand in another order"))
    before, after = (
        dict(
            zip(
                ("header", *(block.name for block in more.blocks)),
                (gap.kept for gap in gaps(more.lead, more.blocks, mcol_records.HEADER_END)),
                strict=True,
            )
        )
        for more in (one, other)
    )
    return found + [
        Difference("arrays", f"other bytes behind the {name}") for name in before if before[name] != after[name]
    ]


def _unread_header_words(a: Hull, b: Hull) -> list[tuple[str, np.ndarray, np.ndarray]]:
    fields = [name for name in mcol_records.HEADER.names or () if name.startswith("unknown") or name.endswith("_w")]
    if np.array_equal((a.grid.minimum, a.grid.maximum), (b.grid.minimum, b.grid.maximum)):
        fields.append("extent")
    headers = carried(a).header, carried(b).header
    offsets = [mcol.POINTER_BASE + offset_of(mcol_records.HEADER, name) for name in fields]
    return [
        (f"header, 0x{offset:X}", headers[0][name], headers[1][name])
        for offset, name in sorted(zip(offsets, fields, strict=True))
    ]


def _unread_cell_words(a: Hull, b: Hull) -> list[tuple[str, np.ndarray, np.ndarray]]:
    cells = cell_records(a), cell_records(b)
    empty = np.ones(a.grid.cell_count, bool)
    empty[a.occupied] = empty[b.occupied] = False
    return [
        ("cell records, position", cells[0]["position"], cells[1]["position"]),
        ("cell records, +0xC", cells[0]["unknown_0c"], cells[1]["unknown_0c"]),
        ("empty cells, pointer", cells[0]["lists"][empty], cells[1]["lists"][empty]),
        ("empty cells, sphere", cells[0]["sphere"][empty], cells[1]["sphere"][empty]),
    ]


# --- libraries ------------------------------------------------------------------------------------


def diff_sets(a: CollisionSet, b: CollisionSet) -> list[Difference]:
    """What turns collision set `a` into `b`; empty if and only if their files are the same bytes."""

    def geometry(item: tuple[int, Part]) -> Hashable:
        return item[1].vertices.tobytes(), item[1].triangles.tobytes()

    keys = (
        lambda item: (item[1].name_field, geometry(item)),
        lambda item: item[1].key,
        geometry,
    )
    pairs, only_a, only_b = pair(list(enumerate(a.parts)), list(enumerate(b.parts)), keys)
    found = []
    for (_, one), (_, other) in pairs:
        where = f"mesh {one.name}"
        if one.name != other.name:
            found.append(Difference(where, f"renamed to {other.name}"))
        elif one.name_field != other.name_field:
            found.append(Difference(where, "other bytes behind the name"))
        if not (unusable(one) or unusable(other)):
            found += [Difference(where, text) for text in diff_meshes(one, other)]
        elif geometry((0, one)) != geometry((0, other)):
            found.append(Difference(where, "a mesh with unusable triangles or coordinates, other bytes"))
        if one.size_excess != other.size_excess:
            found.append(Difference(where, "the size word, which the game only logs"))
    found += [Difference(f"mesh {one.name}", f"removed, {len(one.triangles):,} triangles") for _, one in only_a]
    found += [Difference(f"mesh {one.name}", f"added, {len(one.triangles):,} triangles") for _, one in only_b]
    if (np.diff([place for _, (place, _) in pairs]) < 0).any():
        found.append(Difference("meshes", "stand in another order"))
    if a.trailing != b.trailing:
        text = f"{len(a.trailing):,} -> {len(b.trailing):,} bytes, which the game takes for a mesh"
        found.append(Difference("behind the last mesh", text))
    return found or diff_bytes(collision_set.encode(a), collision_set.encode(b))


# --- small tools -----------------------------------------------------------------------------------


def _only(cells_a: np.ndarray, a: np.ndarray, cells_b: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of the pairs (cell, number) that only `a` has, and of those that only `b` has."""
    span = 2 * (mcol.LIMIT + 1)
    in_a, in_b = common(cells_a * span + a, cells_b * span + b)
    return np.delete(np.arange(len(a)), in_a), np.delete(np.arange(len(b)), in_b)


def _words_that_differ(a: np.ndarray, b: np.ndarray) -> int:
    """How many values of two arrays of one shape differ in any bit."""
    size = a.dtype.itemsize
    rows = (np.frombuffer(array.tobytes(), np.uint8).reshape(-1, size) for array in (a, b))
    return int((next(rows) != next(rows)).any(axis=1).sum())


def _some(elements: np.ndarray, kind: str) -> str:
    """The first of some elements in brackets: numbers (n,), or positions (n, 3)."""
    named = [vector(element) if np.ndim(element) else f"{element:,}" for element in elements[:NAMED_AT_MOST]]
    return f" ({kind} {', '.join(named)}{', …' if len(elements) > len(named) else ''})"


def diff_bytes(a: bytes, b: bytes) -> list[Difference]:
    """The last resort: where the first byte differs that nothing above accounts for."""
    if a == b:
        return []
    shorter = min(len(a), len(b))
    differ = np.flatnonzero(np.frombuffer(a, np.uint8, shorter) != np.frombuffer(b, np.uint8, shorter))
    first = int(differ[0]) if len(differ) else shorter
    return [Difference("bytes", f"first difference at 0x{first:X}; {len(a):,} -> {len(b):,} bytes")]
