"""What an edited hull may not have when it is written, because the game would have a hole or a ghost wall.

docs/FORMATS.md, section 3. A fault that the source file has already, untouched by the edit, is reported and
kept: refusing it would keep its owner from editing anything else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import Severity
from ..formats.mcol import LIMIT, Hull
from ..geometry import surfaces
from ..geometry.arrays import narrow
from ..geometry.edges import edge_census, undirected_edges
from ..geometry.grid import Grid
from ..geometry.overlap import overlaps
from ..geometry.triangles import FLATTEST, corners, doubled, flat
from ..rules.rule import Rule
from ..text import plural, quoted, some, titled
from .compare import Comparison, Matched, moved
from .facing import facing_faults, turn_faces
from .fault import Fault, judge, kept_message, owners
from .options import USUAL, Options, Outside
from .pieces import Edit, Mesh

LONG_LIST = 160
"""Triangles of a cell. The longest lists of the game's own maps have about half as many."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """An edit compared with its source hull, with its faults. Where the options turn triangles, it is the turned edit
    that is compared. `outside`: which vertices lie outside the bounding box, see `outside_box`."""

    comparison: Comparison
    faults: list[Fault]
    outside: NDArray[np.bool_]


def judge_edit(comparison: Comparison, source: Hull, options: Options = USUAL) -> Judged:
    """Everything that `rebuild` refuses or warns of, in the order in which it looks: what causes other faults comes
    before them."""
    edit = comparison.edit
    faults = [
        *loose_faults(edit),
        *limit_faults(edit, source),
        *shape_faults(edit, source, comparison.matched),
        *room_faults(edit, source),
    ]
    outside = np.zeros(len(edit.vertices), bool)
    if len(edit.triangles) and not unplaced(edit).any():
        with np.errstate(invalid="ignore"):  # vertices that no triangle uses needn't be numbers
            outside = outside_box(edit, source if options.own_box else None, source.grid)
            if options.outside is Outside.ERROR:
                faults += box_faults(edit, outside, source.grid)
            beyond = outside[edit.triangles].any(axis=1)
            look = turn_faces if options.turn else facing_faults
            turned, found = look(edit, source, bool(source.outside_solid), comparison.matched, beyond)
            faults += found
            if turned is not edit:
                comparison = Comparison(turned, source)
    return Judged(comparison, faults + missing_surfaces(edit, source), outside)


def find_faults(edit: Edit, source: Hull, own_box: bool = True) -> list[Fault]:
    """The faults of `judge_edit`. `own_box`: see `Options`."""
    return judge_edit(Comparison(edit, source), source, Options(own_box=own_box)).faults


def loose_faults(edit: Edit) -> list[Fault]:
    """Vertices of the pieces that no triangle uses. They have no number in the edit, so `elements` is empty; it
    is `edit.places` that is -1 for them."""
    if not edit.loose:
        return []
    message = f"{titled(Rule.LOOSE_VERTICES, edit.loose)} left out"
    return [Fault(Severity.WARNING, Rule.LOOSE_VERTICES, message)]


def limit_faults(edit: Edit, source: Mesh | None) -> list[Fault]:
    """A mesh that is empty or larger than the header's counts can say."""
    if not len(edit.triangles):
        inherited = source is not None and not len(source.triangles)
        severity, as_before = (Severity.WARNING, ", as in the source file") if inherited else (Severity.ERROR, "")
        return [Fault(severity, Rule.NO_TRIANGLES, f"the hull has no triangles{as_before}")]
    return [
        Fault(
            Severity.ERROR,
            Rule.LIMITS,
            f"the hull has {count:,} {what}",
            expected=f"{LIMIT:,} at most",
            found=f"{_largest(edit)} among them",
        )
        for what, count in (("vertices", len(edit.vertices)), ("triangles", len(edit.triangles)))
        if count > LIMIT
    ]


def room_faults(edit: Edit, source: Mesh | None) -> list[Fault]:
    """A mesh with more vertices than triangles, for which the game has no room. docs/FORMATS.md, section 9."""
    vertices, triangles = len(edit.vertices), len(edit.triangles)
    spare = len(source.vertices) - len(source.triangles) if source else 0
    if vertices - triangles <= max(spare, 0):
        return []
    problem = f"the hull has more vertices ({vertices:,}) than triangles ({triangles:,})"
    return [Fault(Severity.ERROR, Rule.VERTEX_COUNT, problem)]


def shape_faults(edit: Edit, source: Mesh | None, matched: Matched) -> list[Fault]:
    """Coordinates that are no numbers, triangles without area or that are there twice, edges that aren't shared by
    exactly two triangles, and the surfaces that are open thereby."""
    faults: list[Fault] = []
    bad = unplaced(edit)
    if bad.any():
        faults.append(
            Fault(
                Severity.ERROR,
                Rule.COORDINATES,
                f"{titled(Rule.COORDINATES, np.count_nonzero(bad))} in {owners(edit, bad[edit.triangles].any(axis=1))}",
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
    faults += judge(edit, Rule.ZERO_AREA, thin, inherited, _remedy_for_thin(edit, thin & ~inherited))

    counts = edit.edges.counts
    old = counts if (counts == 2).all() else _source_counts(edit, source)
    faults += _judge_edges(edit, Rule.OPEN_EDGES, counts == 1, counts == old)
    if not bad.any():
        faults += volume_faults(edit, source, matched)
    faults += _judge_edges(edit, Rule.NON_MANIFOLD_EDGES, counts > 2, counts == old)
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


def _remedy_for_thin(edit: Edit, thin: np.ndarray) -> str:
    """What helps for triangles without area, bool (nt,): only corners in one place can be merged."""
    points = corners(edit.vertices, edit.triangles[thin])
    sides = np.linalg.norm(points - np.roll(points, 1, axis=1), axis=2)
    apart = sides.min(axis=1) > 4 * FLATTEST * np.abs(points).max(axis=(1, 2))
    if not apart.any():
        return "merge vertices by distance"
    remedy = "triangulate faces with more than three corners; of a triangle, flip the longest edge"
    return remedy if apart.all() else f"merge vertices by distance, then {remedy}"


def volume_faults(edit: Edit, source: Mesh | None, matched: Matched) -> list[Fault]:
    """Closed surfaces that enclose nothing, as far as float32 can tell: flattened ones, and two sheets back to back.
    INFO where the source has them so. Two sheets of the same triangles are an ERROR, the cause of others."""
    if not len(edit.triangles):
        return []
    known, _ = matched
    if source is not None:
        known = known & ~moved(edit.vertices, edit.vertex_ids, source)[edit.triangles].any(axis=1)
    surface, odd = edit.oriented
    triangles = np.where(odd[:, None], edit.triangles[:, [0, 2, 1]], edit.triangles) if odd.any() else edit.triangles
    empty = surfaces.encloses_nothing(edit.vertices, triangles, surface)
    empty[surface[edit.edges.triangles_at(edit.edges.counts != 2)]] = False
    sheets = _sheets(edit, surface, len(empty))
    is_new = np.zeros(len(empty), bool)
    is_new[surface[~known]] = True
    faults = []
    for severity, chosen in (
        (Severity.ERROR, sheets & is_new),
        (Severity.WARNING, empty & ~sheets & is_new),
        (Severity.INFO, (empty | sheets) & ~is_new),
    ):
        if chosen.any():
            mask, count = chosen[surface], np.count_nonzero(chosen)
            problem = f"{titled(Rule.NO_VOLUME, count)} in {owners(edit, mask)}"
            numbers = np.flatnonzero(mask)
            faults.append(Fault(severity, Rule.NO_VOLUME, problem, "triangles", numbers, surfaces_or_cells=count))
    return faults


def _sheets(edit: Edit, surface: np.ndarray, count: int) -> np.ndarray:
    """Which surfaces have each of their triangles twice and are open where they have it once, bool (count,)."""
    result = np.zeros(count, bool)
    if _no_two_alike(edit):
        return result
    twice = np.bincount(surface, doubled(edit.triangles), minlength=count) == np.bincount(surface, minlength=count)
    once = _first_alike(edit.triangles)
    edges = undirected_edges(edit.triangles[once])
    result[surface[once][edges.triangles_at(edges.counts == 1)]] = True
    return result & twice


def _first_alike(triangles: np.ndarray) -> np.ndarray:
    """The first of the triangles that have the same corners, of each kind, int64."""
    return np.unique(np.sort(triangles, axis=1), axis=0, return_index=True)[1]


def box_faults(edit: Edit, outside: NDArray[np.bool_], grid: Grid) -> list[Fault]:
    """Vertices outside the bounding box, bool (nv,), see `outside_box`."""
    if not outside.any():
        return []
    triangles, count = outside[edit.triangles].any(axis=1), np.count_nonzero(outside)
    reach = "reaches" if count == 1 else "reach"
    return [
        Fault(
            Severity.ERROR,
            Rule.BOUNDING_BOX,
            f"{plural(count, 'vertex')} of {owners(edit, triangles)} {reach} outside the bounding box",
            "vertices",
            np.flatnonzero(outside),
            expected=f"{_point(grid.minimum)} to {_point(grid.maximum)}",
            found=f"{_point(edit.vertices[outside].min(axis=0))} to {_point(edit.vertices[outside].max(axis=0))}",
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
            problem = f"{titled(Rule.LONG_LISTS, count)}: up to {lengths[which].max():,} triangles"
            elements = np.unique(triangle[which[cell]])
            faults.append(Fault(severity, Rule.LONG_LISTS, problem, "triangles", elements, surfaces_or_cells=count))
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
    problem = f"{some(lost)} of the source file {'was' if len(lost) == 1 else 'were'} deleted"
    return [Fault(Severity.WARNING, Rule.REMOVED_SURFACES, problem)]


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
    first = np.zeros_like(pairs)
    first[_first_alike(edit.triangles)] = True
    return judge(edit, Rule.DOUBLED_TRIANGLES, pairs & ~first, inherited)


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
            Rule.OPEN_SURFACES,
            f"{titled(Rule.OPEN_SURFACES, len(broken))} in {owners(edit, triangles)}",
            "triangles",
            np.flatnonzero(triangles),
            surfaces_or_cells=len(broken),
        )
    ]


def _judge_edges(edit: Edit, rule: Rule, wrong: NDArray[np.bool_], inherited: NDArray[np.bool_]) -> list[Fault]:
    """The same as `judge` for edges, bool (e,)."""
    faults = []
    ends = edit.edges.ends
    new, kept = wrong & ~inherited, wrong & inherited
    if new.any():
        problem = f"{titled(rule, np.count_nonzero(new))} in {owners(edit, edit.edges.triangles_at(new))}"
        faults.append(Fault(Severity.ERROR, rule, problem, "edges", ends[new].astype(np.int64)))
    if kept.any():
        problem = kept_message(edit, rule, np.count_nonzero(kept), edit.edges.triangles_at(kept))
        faults.append(Fault(Severity.WARNING, rule, problem, "edges", ends[kept].astype(np.int64)))
    return faults


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


def _largest(edit: Edit) -> str:
    counts = np.bincount(edit.owners[edit.owners >= 0], minlength=len(edit.names))
    return f"{plural(int(counts.max()), 'triangle')} in {quoted(edit.names[int(counts.argmax())])}"


def _point(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{value:,.7g}" for value in values) + ")"
