"""An edited mesh and its source hull to a new hull. docs/FORMATS.md, section 3.

What the edit doesn't reach keeps every byte: lists, spheres, fill states, order, unknown words. A hull that
wasn't edited comes out as it went in because nothing was reached, on the same path as any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import Finding, RefusedError, Severity
from ..formats.mcol import FREE, LISTED, SOLID, Hull
from ..geometry.fill import layers_in_cells
from ..geometry.grid import LARGEST_DIMENSION, Grid
from ..geometry.spheres import triangle_spheres
from ..geometry.triangles import with_own_vertices
from ..rules.rule import Rule
from ..text import plural
from .cell_lists import Inherited, RebuiltLists, rebuild_lists
from .compare import Comparison
from .facing import facing_faults
from .fault import owners, refuse
from .faults import Judged, judge_edit, limit_faults, room_faults, shape_faults
from .options import USUAL, Options, Rebuild
from .pieces import Edit, Mesh


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A mesh: `vertices` float32 (nv, 3) and `triangles` int64 (nt, 3)."""

    vertices: NDArray[np.float32]
    triangles: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Rebuilt:
    """The new hull, what is worth telling about it, and what changed against the source.

    `moved`, `added`, `removed` count triangles; `cells` are those whose lists were rebuilt or whose fill
    state changed, int64, numbered in the new grid.
    """

    hull: Hull
    findings: tuple[Finding, ...]
    moved: int
    added: int
    removed: int
    cells: np.ndarray


def rebuild(source: Hull, edit: Edit, options: Options = USUAL) -> Rebuilt:
    """The hull of an edited mesh.

    Raises `RefusedError` that names the objects for geometry that the game can't take (see `faults`), or that
    lies outside the bounding box and `options.outside` is ERROR.
    """
    return rebuild_judged(source, judge_edit(Comparison(edit, source), source, options), options)


def rebuild_judged(source: Hull, judged: Judged, options: Options = USUAL) -> Rebuilt:
    """The hull of an edit that was judged with these options. Raises `RefusedError` for its first error."""
    findings = refuse(judged.faults)
    with np.errstate(invalid="ignore"):  # vertices that no triangle uses needn't be numbers
        return _rebuild(source, judged, options, findings)


def _rebuild(source: Hull, judged: Judged, options: Options, findings: list[Finding]) -> Rebuilt:
    comparison, edit = judged.comparison, judged.comparison.edit
    grid, cell_map, grown = _fit_grid(source, edit, judged.outside)
    everything = options.rebuild is Rebuild.ALL
    planes_moved = cell_map is not None and not _same_planes(source.grid, grid)
    lists = rebuild_lists(
        grid,
        edit.vertices,
        edit.triangles,
        Inherited(source, cell_map, _new_numbers(source, edit), comparison.unchanged),
        everything or planes_moved,
    )
    states = _rebuild_states(source, grid, cell_map, comparison, lists, everything)
    before = _moved_cells(source.states, cell_map, grid)
    spheres = _rebuild_spheres(source, comparison, everything)
    hull = _make_hull(grid, source.outside_solid, edit, spheres, states, lists)
    carried = source.carried
    if carried:
        carried = replace(carried, list_words=lists.words, cells=_regrid(carried.cells, cell_map, grid))
    changed, added, removed = count_changes(source, comparison)
    return Rebuilt(
        hull=replace(hull, carried=carried),
        findings=(*findings, *grown),
        moved=changed,
        added=added,
        removed=removed,
        cells=np.union1d(lists.touched, np.flatnonzero(states != before)),
    )


def count_changes(source: Hull, comparison: Comparison) -> tuple[int, int, int]:
    """How many triangles differ from the source's, are new, and are gone."""
    known = comparison.edit.triangle_ids >= 0
    kept = int(np.count_nonzero(known))
    changed = int(np.count_nonzero(known & ~comparison.same))
    return changed, len(known) - kept, len(source.triangles) - kept


def build(vertices: np.ndarray, triangles: np.ndarray, grid: Grid, outside_solid: bool, name: str = "the mesh") -> Hull:
    """A hull from nothing: vertices float32 (nv, 3) in game units, triangles (nt, 3), and its grid.

    Raises `RefusedError` like `rebuild`.
    """
    vertices = np.ascontiguousarray(vertices, np.float32)
    triangles = np.asarray(triangles, np.int64, order="F")  # faster to go through by corner
    _refuse_new(vertices, triangles, outside_solid, name)
    outside = grid.outside(vertices)
    if outside.any():
        raise RefusedError(
            f"{plural(np.count_nonzero(outside), 'vertex')} of {name} outside the bounding box", rule=Rule.BOUNDING_BOX
        )
    return sort_into_cells(grid, outside_solid, vertices, triangles, triangle_spheres(vertices, triangles))


def _refuse_new(vertices: np.ndarray, triangles: np.ndarray, outside_solid: bool, name: str) -> None:
    """Raises `RefusedError` for geometry from no source that the game can't take."""
    count = len(triangles)
    edit = Edit(
        vertices=vertices,
        triangles=triangles,
        vertex_ids=np.full(len(vertices), -1),
        triangle_ids=np.full(count, -1),
        owners=np.zeros(count, np.int64),
        origins=np.arange(count),
        places=np.arange(len(vertices)),
        names=(name,),
    )
    unmatched = Comparison(edit, None).matched
    refuse(limit_faults(edit, None))
    refuse(shape_faults(edit, None, unmatched) + room_faults(edit, None))
    refuse(facing_faults(edit, None, outside_solid, unmatched, unmatched[0])[1])


def sort_into_cells(
    grid: Grid, outside_solid: int, vertices: np.ndarray, triangles: np.ndarray, spheres: np.ndarray
) -> Hull:
    """A hull of vertices float32 (nv, 3), triangles (nt, 3) and their spheres float32 (nt, 4): every list, cell sphere
    and fill state is made here, nothing is checked."""
    triangles = np.asarray(triangles, np.int64)
    lists = rebuild_lists(grid, vertices, triangles, Inherited.nothing(len(triangles)), everything=True)
    rock = layers_in_cells(grid, vertices, triangles) + int(bool(outside_solid)) >= 1
    states = np.where(rock, SOLID, FREE).astype(np.uint8)
    states[lists.occupied] = LISTED
    return _make_hull(grid, int(outside_solid), Shape(vertices, triangles), spheres, states, lists)


def _make_hull(
    grid: Grid,
    outside_solid: int,
    mesh: Mesh,
    spheres: NDArray[np.float32],
    states: NDArray[np.uint8],
    lists: RebuiltLists,
) -> Hull:
    return Hull(
        grid=grid,
        outside_solid=outside_solid,
        vertices=mesh.vertices,
        triangles=mesh.triangles.astype(np.uint16, order="C"),
        spheres=spheres,
        states=states,
        **lists.arrays(),
    )


def _new_numbers(source: Hull, edit: Edit) -> NDArray[np.int64]:
    """The number that each of the source's triangles has now, int64 (nt of the source,); -1 for none."""
    numbers = np.full(len(source.triangles), -1)
    claims = edit.triangle_ids >= 0
    numbers[edit.triangle_ids[claims]] = np.flatnonzero(claims)
    return numbers


def _rebuild_spheres(source: Hull, comparison: Comparison, everything: bool) -> NDArray[np.float32]:
    edit = comparison.edit
    keep = np.zeros_like(comparison.unchanged) if everything else comparison.unchanged
    spheres = np.zeros((len(edit.triangles), 4), np.float32)
    spheres[keep] = source.spheres.take(edit.triangle_ids[keep], axis=0)
    spheres[~keep] = triangle_spheres(*with_own_vertices(edit.vertices, edit.triangles[~keep]))
    return spheres


# --- fill states ----------------------------------------------------------------------------------


def _rebuild_states(
    source: Hull,
    grid: Grid,
    cell_map: NDArray[np.int64] | None,
    comparison: Comparison,
    lists: RebuiltLists,
    everything: bool,
) -> np.ndarray:
    """Fill states, uint8 (cells,). One that the source holds changes only where the old and the new geometry
    differ about it."""
    edit = comparison.edit
    listed = np.zeros(grid.cell_count, bool)
    listed[lists.occupied] = True
    was_listed = np.ones(grid.cell_count, bool)
    was_listed[np.arange(source.grid.cell_count) if cell_map is None else cell_map] = False
    was_listed[source.occupied if cell_map is None else cell_map[source.occupied]] = True

    states = _moved_cells(source.states, cell_map, grid).copy()
    states[lists.touched] = LISTED
    states[listed & ~was_listed] = LISTED
    gained = np.zeros(grid.cell_count, np.int32) if everything else _layers_gained(source, grid, comparison)
    open_question = ~listed & (everything | was_listed | (gained != 0))
    if open_question.any():
        layers = layers_in_cells(grid, edit.vertices, edit.triangles) + int(bool(source.outside_solid))
        solid = layers >= 1
        differs = everything | was_listed | (solid != (layers - gained >= 1))
        decided = open_question & differs
        states[decided] = np.where(solid[decided], SOLID, FREE)
    return states


def _layers_gained(source: Hull, grid: Grid, comparison: Comparison) -> NDArray[np.int32]:
    """Layers of rock that the edit added over each cell's centre, from the triangles that it changed alone."""
    edit = comparison.edit
    left = np.ones(len(source.triangles), bool)
    left[edit.triangle_ids[comparison.same]] = False
    if not left.any() and comparison.same.all():
        return np.zeros(grid.cell_count, np.int32)
    now = layers_in_cells(grid, *with_own_vertices(edit.vertices, edit.triangles[~comparison.same]))
    return now - layers_in_cells(grid, *with_own_vertices(source.vertices, source.triangles[left]))


# --- the grid -------------------------------------------------------------------------------------


def _fit_grid(
    source: Hull, edit: Edit, outliers: NDArray[np.bool_]
) -> tuple[Grid, NDArray[np.int64] | None, list[Finding]]:
    """The grid to use, the new numbers of the source's cells where it grew, and a finding that says so."""
    grid = source.grid
    if not outliers.any():
        return grid, None, []
    names = owners(edit, outliers[edit.triangles].any(axis=1))
    size = grid.cell_size.astype(np.float64)
    beyond = edit.vertices[outliers].astype(np.float64)
    below = np.maximum(np.ceil((grid.minimum - beyond.min(axis=0)) / size), 0)
    highest = beyond.max(axis=0)
    end = grid.minimum + np.array(grid.dimensions) * size  # of the cells; a file's box may end elsewhere
    above = np.maximum(np.ceil((highest - end) / size), 0)
    dimensions = np.array(grid.dimensions) + below + above
    if (dimensions > LARGEST_DIMENSION).any():
        axis = int(dimensions.argmax())
        raise RefusedError(
            f"the grid would need {dimensions[axis]:,.0f} cells along {'xyz'[axis]} for {names}",
            expected=f"{LARGEST_DIMENSION} at most",
            remedy="move them closer",
        )
    grown = Grid(
        (grid.minimum - below * size).astype(np.float32),
        np.where(highest > grid.maximum, end + above * size, grid.maximum).astype(np.float32),
        grid.cell_size,
        (int(dimensions[0]), int(dimensions[1]), int(dimensions[2])),
    )
    cell_map = grown.number(grid.position(np.arange(grid.cell_count)) + below.astype(np.int64))
    message = (
        f"grown from {_times(grid)} to {_times(grown)} cells for {names}: the matching .rgn no longer fits this grid "
        "and must be regenerated"
    )
    return grown, cell_map, [Finding(Severity.WARNING, Rule.GROWN_GRID, message)]


def _same_planes(source: Grid, grown: Grid) -> bool:
    """Whether the cells of a grown grid lie exactly where they were: its float32 minimum may be a rounded one."""
    size = grown.cell_size.astype(np.float64)
    shift = source.minimum.astype(np.float64) - grown.minimum
    return bool((np.round(shift / size) * size == shift).all())


def _moved_cells(values: np.ndarray, cell_map: np.ndarray | None, grid: Grid) -> np.ndarray:
    if cell_map is None:
        return values
    placed = np.zeros(grid.cell_count, values.dtype)
    placed[cell_map] = values
    return placed


def _regrid(cells: np.ndarray | None, cell_map: np.ndarray | None, grid: Grid) -> np.ndarray | None:
    """The source's cell records in the new grid; their positions are counted again."""
    if cells is None or cell_map is None:
        return cells
    placed = _moved_cells(cells, cell_map, grid)
    placed["position"] = grid.position(np.arange(grid.cell_count))
    return placed


def _times(grid: Grid) -> str:
    return " x ".join(str(n) for n in grid.dimensions)
