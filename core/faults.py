"""What an edited hull may not have when it is written, because the game would have a hole or a ghost wall.

Format notes, section 3. A fault that the source file has already, untouched by the edit, is reported and
kept: refusing it would keep its owner from editing anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from . import surfaces
from .arrays import narrow
from .assemble import Edit, Mesh, matches, moved
from .errors import Finding, FormatError, Severity, some
from .geometry import doubled, edge_census, flat
from .grid import Grid
from .mcol import LIMIT, Hull
from .overlap import overlaps
from .surfaces import Facing

LONG_LIST = 160
"""Triangles of a cell. The longest lists of the game's own maps have about half as many."""


Matched = tuple[np.ndarray, np.ndarray]
"""What `matches` tells of an edit and its source; all False where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """Something about an edited mesh: an ERROR is refused, a WARNING told, an INFO is for who asks.

    `elements` are the triangles or vertices meant, int64 (n,), or edges by their two vertices, int64 (n, 2),
    as `kind` says: "triangles", "vertices", "edges", or "" for none. Where they make up something larger that is
    at fault, `surfaces_or_cells` says how many.
    """

    severity: Severity
    check: str
    problem: str
    kind: str = ""
    elements: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    expected: object = None
    found: object = None
    remedy: str = ""
    surfaces_or_cells: int = 0

    @property
    def count(self) -> int:
        """How many there are of what the check is named for."""
        return self.surfaces_or_cells or max(len(self.elements), 1)

    @property
    def message(self) -> str:
        return f"{self.check}: {self.problem}"


def find_faults(edit: Edit, source: Hull, own_box: bool = True) -> list[Fault]:
    """Everything that `rebuild` would refuse or warn of, in the order in which it looks. `own_box`: see its options."""
    matched = matches(edit, source)
    faults = [*loose_faults(edit), *count_faults(edit, source), *shape_faults(edit, source, matched)]
    if len(edit.triangles) and not unplaced(edit).any():
        with np.errstate(invalid="ignore"):  # vertices that no triangle uses needn't be numbers
            faults += facing_faults(edit, source, bool(source.outside_solid), matched)
        faults += box_faults(edit, source if own_box else None, source.grid)
    return faults + missing_surfaces(edit, source)


def refuse(faults: Sequence[Fault]) -> list[Finding]:
    """Raises `FormatError` for the first fault that is an ERROR, else returns all as findings."""
    for fault in faults:
        if fault.severity is Severity.ERROR:
            raise FormatError(fault.message, expected=fault.expected, found=fault.found, remedy=fault.remedy)
    return [Finding(f.severity, f.check, f.problem, f.kind, tuple(map(int, f.elements.ravel()))) for f in faults]


def loose_faults(edit: Edit) -> list[Fault]:
    """Vertices of the pieces that no triangle uses. They have no number in the edit, so `elements` is empty; it
    is `edit.places` that is -1 for them."""
    if not edit.loose:
        return []
    return [Fault(Severity.WARNING, "loose vertices", f"{edit.loose:,} belong to no face and are left out")]


def count_faults(edit: Edit, source: Mesh | None) -> list[Fault]:
    """A mesh that is empty or larger than the header's counts can say, or that has more vertices than triangles,
    for which the game has no room. Runtime notes, section 5."""
    vertices, triangles = len(edit.vertices), len(edit.triangles)
    if not triangles and source is not None and not len(source.triangles):
        return [Fault(Severity.WARNING, "counts", "the hull has no triangles, as in the source file")]
    if not triangles:
        remedy = "parent at least one closed mesh to the hull's root"
        return [Fault(Severity.ERROR, "counts", "the hull has no triangles", remedy=remedy)]
    faults = [
        Fault(
            Severity.ERROR,
            "counts",
            f"the hull has {count:,} {what}",
            expected=f"{LIMIT:,} at most",
            found=f"{_largest(edit)} among them",
            remedy="simplify it, for example with a Decimate modifier",
        )
        for what, count in (("vertices", vertices), ("triangles", triangles))
        if count > LIMIT
    ]
    spare = len(source.vertices) - len(source.triangles) if source else 0
    if vertices - triangles > max(spare, 0):
        faults.append(
            Fault(
                Severity.ERROR,
                "counts",
                f"the hull has more vertices ({vertices:,}) than triangles ({triangles:,}), "
                "which the game has no room for",
                remedy="merge vertices by distance, closed surfaces have about twice as many triangles as vertices",
            )
        )
    return faults


def shape_faults(edit: Edit, source: Mesh | None, matched: Matched) -> list[Fault]:
    """Coordinates that are no numbers, triangles without area or that are there twice, edges that aren't shared by
    exactly two triangles, and the surfaces that are open thereby."""
    faults: list[Fault] = []
    bad = unplaced(edit)
    if bad.any():
        faults.append(
            Fault(
                Severity.ERROR,
                "coordinates",
                f"{np.count_nonzero(bad):,} vertices of {owners(edit, bad[edit.triangles].any(axis=1))} "
                "have no usable coordinates",
                "vertices",
                np.flatnonzero(bad),
                expected="finite numbers",
                found=f"{edit.vertices[bad][0]}",
            )
        )
    known, _ = matched

    thin = np.zeros_like(known) if bad.any() else flat(edit.vertices, edit.triangles)
    inherited = np.zeros_like(thin)
    if thin.any() and source:
        inherited[known] = flat(source.vertices, source.triangles)[edit.triangle_ids[known]]
    faults += _judge(
        edit,
        thin,
        inherited,
        "zero-area triangles",
        "without area",
        "the game would hit them everywhere; merge vertices by distance or dissolve degenerate faces",
    )

    counts = edit.edges.counts
    old = counts if (counts == 2).all() else _source_counts(edit, source)
    for wrong, check, what, remedy in (
        (counts == 1, "open edges", "at open edges", "fill the hole: the game would have a hole there too"),
        (
            counts > 2,
            "crowded edges",
            "at edges with three or more faces",
            "remove inner or doubled faces; is an object there twice?",
        ),
    ):
        faults += _judge_edges(edit, wrong, counts == old, check, what, remedy)
    faults += _doubled_faults(edit, source, known)
    return faults + _open_surfaces(edit, edit.edges.triangles_at((counts == 1) & (counts != old)))


def unplaced(edit: Edit) -> np.ndarray:
    """Which vertices that a triangle uses have coordinates that aren't numbers, bool (nv,). Others may: they come
    from the source and go back there."""
    bad = np.zeros(len(edit.vertices), bool)
    if np.isfinite(edit.vertices).all():
        return bad
    bad[edit.triangles] = True
    return bad & ~np.isfinite(edit.vertices).all(axis=1)


def facing_faults(edit: Edit, source: Mesh | None, outside_solid: bool, matched: Matched) -> list[Fault]:
    """Triangles whose front doesn't face free space, alone or with their surface, and surfaces buried in rock.

    Where the source's own surfaces contradict byte 0x73, an edit is held against either reading of that byte.
    """
    known, wound = matched
    flipped, wrong, buried, lost = _judge_sides(edit, outside_solid, known, wound)
    inherited = was_lost = excused = np.zeros_like(wrong)
    if source and (flipped | wrong | lost).any():
        inherited, was_lost, contradicts = _source_sides(edit, source, outside_solid, wound)
        if contradicts:
            excused = _excused(edit, outside_solid, matched, wrong | lost) & ~(inherited | was_lost)
            wrong, lost = wrong & ~excused, lost & ~excused
    return [
        *_excused_faults(edit, excused),
        *_lost_faults(edit, lost, was_lost),
        *_buried_faults(edit, buried),
        *_judge(
            edit,
            flipped,
            inherited,
            "flipped triangles",
            "whose front doesn't face free space, as that of the rest of their surface does",
            "flip their normals or export with Turn",
        ),
        *_judge(
            edit,
            wrong,
            inherited,
            "winding",
            "whose front doesn't face free space",
            "flip their normals (asteroids face outward, a wall inward) or export with Turn",
        ),
    ]


def turn_faces(edit: Edit, source: Mesh | None, outside_solid: bool, matched: Matched) -> tuple[Edit, list[Fault]]:
    """Turns the triangles whose front doesn't face free space."""
    known, wound = matched
    flipped, wrong, buried, lost = _judge_sides(edit, outside_solid, known, wound)
    was_lost = excused = np.zeros_like(lost)
    if source and (wrong | lost).any():
        inherited, was_lost, contradicts = _source_sides(edit, source, outside_solid, wound)
        if contradicts:
            excused = _excused(edit, outside_solid, matched, wrong | lost) & ~(inherited | was_lost)
            wrong, lost = wrong & ~excused, lost & ~excused
    faults = _excused_faults(edit, excused) + _lost_faults(edit, lost, was_lost) + _buried_faults(edit, buried)
    turned = flipped | wrong
    if not turned.any():
        return edit, faults
    triangles = edit.triangles.copy()
    triangles[turned] = triangles[turned][:, [0, 2, 1]]
    message = f"turned {np.count_nonzero(turned):,} triangles of {owners(edit, turned)}"
    return replace(edit, triangles=triangles), [*faults, Fault(Severity.WARNING, "winding", message)]


def box_faults(edit: Edit, source: Mesh | None, grid: Grid) -> list[Fault]:
    """Vertices outside the bounding box, see `outside_box`."""
    outside = outside_box(edit, source, grid)
    if not outside.any():
        return []
    triangles = outside[edit.triangles].any(axis=1)
    return [
        Fault(
            Severity.ERROR,
            "bounding box",
            f"{owners(edit, triangles)} reach outside the bounding box",
            "vertices",
            np.flatnonzero(outside),
            expected=f"{_point(grid.minimum)} to {_point(grid.maximum)}",
            found=f"{_point(edit.vertices[outside].min(axis=0))} to {_point(edit.vertices[outside].max(axis=0))}",
            remedy="move them inside, or export with Outside: Grow",
        )
    ]


def long_list_faults(
    edit: Edit, source: Hull | None, grid: Grid, listed: tuple[np.ndarray, np.ndarray] | None = None
) -> list[Fault]:
    """Cells with so many triangles that looking through them costs the game time. INFO where the source's list is
    no shorter. `listed` has the lists if they were made already: triangles and their cells, int64 (n,) each."""
    triangle, cell = listed or overlaps(grid, edit.vertices, edit.triangles)
    lengths = np.bincount(cell, minlength=grid.cell_count)
    before = np.zeros(grid.cell_count, np.int64)
    if source is not None and source.grid.cell_count == grid.cell_count:
        cells, _, _ = source.entries()
        before = np.bincount(source.occupied[cells], minlength=grid.cell_count)
    long = lengths > LONG_LIST
    faults = []
    for severity, which in ((Severity.WARNING, long & (lengths > before)), (Severity.INFO, long & (lengths <= before))):
        if which.any():
            count = np.count_nonzero(which)
            problem = (
                f"{count:,} cells list up to {lengths[which].max():,} triangles, "
                f"more than {LONG_LIST:,} cost the game time"
            )
            elements = np.unique(triangle[which[cell]])
            remedy = "simplify what is there, or build the hull with smaller cells"
            faults.append(
                Fault(severity, "long lists", problem, "triangles", elements, remedy=remedy, surfaces_or_cells=count)
            )
    return faults


def outside_box(edit: Edit, source: Mesh | None, grid: Grid) -> np.ndarray:
    """Which vertices lie outside the bounding box, bool (nv,). Not those that are where the source has them, nor those
    that lie no farther outside, on the same side, than any of the source does."""
    outside = grid.outside(edit.vertices)
    if source is None or not outside.any():
        return outside
    places = source.vertices[np.isfinite(source.vertices).all(axis=1)]
    low = np.minimum(places.min(axis=0, initial=np.inf), grid.minimum)
    high = np.maximum(places.max(axis=0, initial=-np.inf), grid.maximum)
    outside = ((edit.vertices < low) | (edit.vertices > high)).any(axis=1)
    return outside & moved(edit.vertices, edit.vertex_ids, source)


def missing_surfaces(edit: Edit, source: Mesh) -> list[Fault]:
    """Each surface of the source of which no triangle is left: a deletion may be a slip, such as an object that
    left the scene with its collection."""
    kept = edit.triangle_ids[edit.triangle_ids >= 0]
    if len(kept) == len(source.triangles):
        return []
    triangles = source.triangles.astype(np.int64)
    surface = surfaces.split(triangles)
    names = surfaces.names(source.vertices, triangles, surface)
    left = np.bincount(surface[kept], minlength=len(names))
    lost = [name for name, count in zip(names, left, strict=True) if not count]
    if not lost:
        return []
    return [Fault(Severity.WARNING, "removed surfaces", f"nothing is left of the source's {some(lost)} below the root")]


def _judge_sides(
    mesh: Mesh, outside_solid: bool, known: np.ndarray, wound: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Which triangles don't face free space, bool (nt,) each: against the rest of their surface, or with it; which
    face rock because their surface lies in it, and which because no surface leaves free space.

    A surface in rock all around is one that was moved there, unless the source had it the other way around
    (`known` but not `wound`), or it is new with nothing but the solid outside around it.
    """
    triangles = np.asarray(mesh.triangles, np.int64)
    surface, odd = surfaces.orient(triangles, mesh.edges if isinstance(mesh, Edit) else None)
    agreeing = np.where(odd[:, None], triangles[:, [0, 2, 1]], triangles) if odd.any() else triangles
    facing = surfaces.facing(mesh.vertices, agreeing, surface, outside_solid)
    was_turned, is_new = np.zeros(len(facing), bool), np.ones(len(facing), bool)
    was_turned[surface[known & (wound == odd)]] = True
    is_new[surface[known]] = False
    in_rock = np.isin(facing, (Facing.BURIED, Facing.OUTSIDE))
    wrong = (facing == Facing.WRONG) | (in_rock & was_turned) | (is_new & (facing == Facing.OUTSIDE))
    in_rock &= ~wrong
    facing = np.where(wrong, Facing.WRONG, facing)
    lost = in_rock & (in_rock.any() and surfaces.all_rock(mesh.vertices, agreeing, surface, facing))
    return odd & ~wrong[surface], ~odd & wrong[surface], (in_rock & ~lost)[surface], lost[surface]


def _source_sides(
    edit: Edit, source: Mesh, outside_solid: bool, wound: np.ndarray
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Which triangles the source has the same way around, facing rock; and without any free space, bool (nt,) each;
    and whether any of the source's surfaces contradicts byte 0x73."""
    everything = np.ones(len(source.triangles), bool)
    flipped, wrong, _, lost = _judge_sides(source, outside_solid, everything, everything)
    ids = edit.triangle_ids[wound]
    result = np.zeros((2, len(wound)), bool)
    result[:, wound] = (flipped | wrong)[ids], lost[ids]
    return result[0], result[1], bool((wrong | lost).any())


def _excused(edit: Edit, outside_solid: bool, matched: Matched, doubtful: np.ndarray) -> np.ndarray:
    """Which of the doubtful triangles face free space if byte 0x73 said the opposite, bool (nt,)."""
    _, wrong, _, lost = _judge_sides(edit, not outside_solid, *matched)
    return doubtful & ~(wrong | lost)


def _excused_faults(edit: Edit, excused: np.ndarray) -> list[Fault]:
    if not excused.any():
        return []
    message = (
        f"{owners(edit, excused)} face free space only if byte 0x73 is wrong; the source file's own surfaces "
        "contradict that byte too"
    )
    return [Fault(Severity.WARNING, "winding", message, "triangles", np.flatnonzero(excused))]


def _lost_faults(edit: Edit, lost: np.ndarray, inherited: np.ndarray) -> list[Fault]:
    return _judge(
        edit,
        lost,
        inherited,
        "no free space",
        "in the solid outside, and no surface leaves free space",
        "keep a wall around them: without one the whole map would be rock",
    )


def _buried_faults(edit: Edit, buried: np.ndarray) -> list[Fault]:
    if not buried.any():
        return []
    message = f"{owners(edit, buried)} lie wholly in rock, where no ship gets"
    return [Fault(Severity.WARNING, "buried surfaces", message, "triangles", np.flatnonzero(buried))]


def _doubled_faults(edit: Edit, source: Mesh | None, known: np.ndarray) -> list[Fault]:
    """Triangles on the corners of an earlier one, which is not named: it is the one to keep."""
    if _no_two_alike(edit):
        return []
    pairs = doubled(edit.triangles)
    if not pairs.any():
        return []
    inherited = np.zeros_like(known)
    if source:
        inherited[known] = doubled(source.triangles)[edit.triangle_ids[known]]
    corners = np.sort(edit.triangles, axis=1)
    first = np.zeros_like(pairs)
    first[np.unique(corners, axis=0, return_index=True)[1]] = True
    return _judge(
        edit, pairs & ~first, inherited, "doubled triangles", "that are there twice", "delete one of each pair"
    )


def _no_two_alike(edit: Edit) -> bool:
    """Whether no triangles at an edge have the same third corner. Tells nothing where an edge has three or more."""
    opposite = np.roll(narrow(edit.triangles), -2, axis=1).ravel()
    left, right = edit.edges.pairs()
    return not (edit.edges.counts > 2).any() and not (opposite[left] == opposite[right]).any()


def _open_surfaces(edit: Edit, at_hole: np.ndarray) -> list[Fault]:
    """Surfaces with a hole that the source doesn't have."""
    if not at_hole.any():
        return []
    surface = surfaces.split(edit.triangles)
    broken = np.unique(surface[at_hole])
    triangles = np.isin(surface, broken)
    return [
        Fault(
            Severity.ERROR,
            "open surfaces",
            f"{len(broken):,} of {owners(edit, triangles)} that aren't closed",
            "triangles",
            np.flatnonzero(triangles),
            remedy="close every hole",
            surfaces_or_cells=len(broken),
        )
    ]


def _judge(edit: Edit, wrong: np.ndarray, inherited: np.ndarray, check: str, what: str, remedy: str) -> list[Fault]:
    """An ERROR for the triangles that the edit made wrong, a WARNING for those that the source has so."""
    faults = []
    new, kept = wrong & ~inherited, wrong & inherited
    if new.any():
        problem = f"{np.count_nonzero(new):,} triangles of {owners(edit, new)} {what}"
        faults.append(Fault(Severity.ERROR, check, problem, "triangles", np.flatnonzero(new), remedy=remedy))
    if kept.any():
        problem = _kept(edit, np.count_nonzero(kept), kept)
        faults.append(Fault(Severity.WARNING, check, problem, "triangles", np.flatnonzero(kept)))
    return faults


def _judge_edges(
    edit: Edit, wrong: np.ndarray, inherited: np.ndarray, check: str, what: str, remedy: str
) -> list[Fault]:
    """The same for edges, bool (e,)."""
    faults = []
    ends = edit.edges.ends
    new, kept = wrong & ~inherited, wrong & inherited
    if new.any():
        triangles = edit.edges.triangles_at(new)
        problem = f"{np.count_nonzero(new):,} edges, triangles of {owners(edit, triangles)} {what}"
        faults.append(Fault(Severity.ERROR, check, problem, "edges", ends[new].astype(np.int64), remedy=remedy))
    if kept.any():
        problem = _kept(edit, np.count_nonzero(kept), edit.edges.triangles_at(kept))
        faults.append(Fault(Severity.WARNING, check, problem, "edges", ends[kept].astype(np.int64)))
    return faults


def _kept(edit: Edit, count: int, triangles: np.ndarray) -> str:
    return f"{count:,}, as in the source file, near {owners(edit, triangles)}"


def _source_counts(edit: Edit, source: Mesh | None) -> np.ndarray:
    """How many of the source's triangles use each edge, int64 (e,); 0 where it has no such edge."""
    edges = edit.edges.ends
    if source is None or not len(source.triangles):
        return np.zeros(len(edges), np.int64)
    theirs, counts = edge_census(source.triangles)
    span = len(source.vertices) + 1
    keys = theirs[:, 0] * span + theirs[:, 1]
    ids = np.sort(edit.vertex_ids[edges], axis=1)
    wanted = np.where(ids[:, 0] < 0, -1, ids[:, 0] * span + ids[:, 1])
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, counts[at], 0)


def owners(edit: Edit, triangles: np.ndarray) -> str:
    """The names of the objects that these triangles, bool (nt,), are of."""
    names = [edit.names[owner] for owner in np.unique(edit.owners[triangles]) if owner >= 0]
    if not names:
        return "what was kept aside"
    return some([f"`{name}`" for name in names])


def _largest(edit: Edit) -> str:
    counts = np.bincount(edit.owners[edit.owners >= 0], minlength=len(edit.names))
    return f"{counts.max():,} triangles in `{edit.names[int(counts.argmax())]}`"


def _point(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{value:,.7g}" for value in values) + ")"
