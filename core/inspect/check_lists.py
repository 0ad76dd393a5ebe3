"""Checks of a hull's cell lists: which triangles they miss, which they needn't hold, and the spheres in front of them.

docs/FORMATS.md, section 3. Whether a triangle touches a cell is decided without rounding, see `exact`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import Severity
from ..formats.mcol import Hull
from ..geometry import exact
from ..geometry.arrays import bits, contains, expand
from ..geometry.grid import Grid
from ..geometry.overlap import overlaps
from ..geometry.triangles import corners
from ..rules.rule import Rule
from ..rules.severity import SEVERITIES
from .check_cells import cell_name, in_cells
from .checks import NAMED_AT_MOST, Check, Where, count

FORGIVEN = 3
"""Missing entries of a hull that are a warning. The game's own eleven hulls have three in all."""

ROUNDING = 2.0**-20
"""Of a sphere's radius: what sticks out no farther does so by the rounding of float32."""


class Missing(NamedTuple):
    """Pairs of a triangle and a cell that touch and that the cell doesn't list, int64 (n,) each, how deep the triangle
    reaches in, float64 (n,), and whether a cell beside lists it where it only touches this one, bool (n,)."""

    triangle: np.ndarray
    cell: np.ndarray
    depth: np.ndarray
    beside: np.ndarray


def check_lists(hull: Hull, like: Hull | None = None) -> list[Check]:
    """Every check of a hull's lists. `like` is the hull that it was made from: what is missing there too is a warning,
    and what that one lists is an error."""
    grid, occupied, triangle_count = hull.grid, hull.occupied, len(hull.triangles)
    triangles = hull.triangles.astype(np.int64)
    rows, _, listed = hull.entries()
    cells = occupied[rows]
    keys = cells * triangle_count + listed
    triangle, cell = overlaps(grid, hull.vertices, triangles)
    touches = exact.touching(grid, hull.vertices, triangles, triangle, cell)
    near_keys = cell * triangle_count + triangle
    present = np.isin(near_keys, keys)
    wanted = np.isin(keys, near_keys[touches])
    first_of_its_kind = np.zeros(len(keys), bool)
    first_of_its_kind[np.unique(keys, return_index=True)[1]] = True
    lacking = touches & ~present
    inexact = np.concatenate((cell[lacking], cells[~wanted]))
    missing = _missing(hull, triangle[lacking], cell[lacking], np.sort(keys))
    listed_reach = _sphere_reaches(grid, hull.spheres[listed], cells)
    cell_reach = _sphere_reaches(grid, hull.cell_spheres, occupied)
    return [
        _missing_check(hull, missing, like, int(np.count_nonzero(touches))),
        count(Rule.TOUCHING_ENTRIES, ~missing.beside, in_cells(hull, missing.cell)),
        count(Rule.NEAR_ENTRIES, present[~touches], in_cells(hull, cell[~touches])),
        count(Rule.SPARE_ENTRIES, wanted, in_cells(hull, cells)),
        count(Rule.EXACT_LISTS, ~np.isin(occupied, inexact), in_cells(hull, occupied)),
        count(Rule.REPEATED_ENTRIES, first_of_its_kind, in_cells(hull, cells)),
        *_sphere_checks(hull),
        count(Rule.LISTED_SPHERE_REACH, listed_reach, in_cells(hull, cells)),
        count(Rule.CELL_SPHERE_REACH, cell_reach, in_cells(hull, occupied)),
    ]


def distances(points: np.ndarray, spheres: np.ndarray) -> np.ndarray:
    """From the centres of spheres (n, 4) to points (n, k, 3), float64 (n, k)."""
    return np.linalg.norm(points - spheres[:, None, :3].astype(np.float64), axis=2)


# --- missing entries ------------------------------------------------------------------------------


def _missing(hull: Hull, triangle: np.ndarray, cell: np.ndarray, keys: np.ndarray) -> Missing:
    triangles = hull.triangles.astype(np.int64)
    depth = exact.depths(hull.grid, hull.vertices, triangles, triangle, cell)
    beside = depth <= exact.NO_DEPTH * float(hull.grid.cell_size.min())
    only = np.flatnonzero(beside)
    beside[only] = exact.covered(hull.grid, hull.vertices, triangles, triangle[only], cell[only], keys)
    return Missing(triangle, cell, depth, beside)


def _missing_check(hull: Hull, missing: Missing, like: Hull | None, total: int) -> Check:
    """A ship or shot may pass through a triangle where its cell doesn't list it."""
    through = np.flatnonzero(~missing.beside)
    through = through[np.lexsort((missing.triangle[through], missing.cell[through]))]
    triangle, cell, depth = (array[through] for array in missing[:3])
    note = ""
    if like is None:
        bad = np.full(len(through), len(through) > FORGIVEN)
    else:
        listed, inherited = _compare_lists(hull, like, triangle, cell)
        bad = listed | (~inherited & (np.count_nonzero(~inherited) > FORGIVEN))
        if listed.any():
            note = f", {np.count_nonzero(listed):,} of which the original lists"
        triangle, cell, depth = (np.concatenate((array[bad], array[~bad])) for array in (triangle, cell, depth))
    labels = tuple(
        f"{cell_name(hull.grid, number)}: triangle {one:,}, {float(deep):.6g} units deep"
        for one, number, deep in zip(triangle[:NAMED_AT_MOST], cell, depth, strict=False)
    )
    severity = SEVERITIES[Rule.MISSING_ENTRIES] if bad.any() else Severity.WARNING
    elements = tuple(np.unique(cell).tolist())
    return Check(Rule.MISSING_ENTRIES, total - len(through), total, severity, "cell", elements, labels, note)


def _compare_lists(hull: Hull, like: Hull, triangle: np.ndarray, cell: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For pairs of a triangle and a cell, (n,): whether the other hull lists that triangle in that cell, and whether
    it has the triangle and doesn't list it there, bool (n,) each. Triangles and cells are the same where their
    corners are at the same places."""
    size = np.asarray(like.grid.cell_size, np.float64)
    middle = hull.grid.lower_corner(hull.grid.position(cell)) + hull.grid.cell_size.astype(np.float64) / 2
    place = np.floor((middle - like.grid.minimum) / size)
    inside = ((place >= 0) & (place < like.grid.dimensions)).all(axis=1)
    if not np.array_equal(hull.grid.cell_size, like.grid.cell_size):
        inside[:] = False
    theirs = _same_triangle(hull, like, triangle)
    known = inside & (theirs >= 0)
    rows, _, listed = like.entries()
    keys = np.sort(like.occupied[rows] * len(like.triangles) + listed)
    there = np.zeros(len(cell), bool)
    number = like.grid.number(place[known].astype(np.int64))
    there[known] = contains(keys, number * len(like.triangles) + theirs[known])
    return there, known & ~there


def _same_triangle(hull: Hull, like: Hull, wanted: np.ndarray) -> np.ndarray:
    """The number of the other hull's triangle with the same corners as each of the wanted ones, -1 without, int64."""
    _, inverse = np.unique(np.concatenate((bits(hull.vertices), bits(like.vertices))), return_inverse=True)
    mine = np.sort(inverse.reshape(-1)[hull.triangles[wanted].astype(np.int64)], axis=1)
    theirs = np.sort(inverse.reshape(-1)[len(hull.vertices) + like.triangles.astype(np.int64)], axis=1)
    _, keys = np.unique(np.concatenate((mine, theirs)), axis=0, return_inverse=True)
    keys = keys.reshape(-1)
    result = np.full(int(keys.max(initial=-1)) + 1, -1)
    result[keys[len(mine) :]] = np.arange(len(theirs))
    return result[keys[: len(mine)]]


# --- spheres --------------------------------------------------------------------------------------


def _sphere_checks(hull: Hull) -> list[Check]:
    """The list's sphere is the game's only test in front of it, so what sticks out in the cell is a hole."""
    lists = np.flatnonzero(hull.list_sizes)
    sizes = hull.list_sizes[lists]
    rows, entries = expand(hull.list_starts[lists], sizes)
    points = corners(hull.vertices, hull.triangles[hull.indices[entries]])
    spheres = hull.list_spheres[lists]
    reach = distances(points, spheres[rows]).max(axis=1)
    farthest = np.maximum.reduceat(reach, np.cumsum(sizes) - sizes) if len(lists) else reach
    outside = ~(farthest <= spheres[:, 3])
    holes = np.zeros(len(lists), bool)
    numbers = lists[~(farthest <= spheres[:, 3].astype(np.float64) * (1 + ROUNDING))]
    holes[np.searchsorted(lists, numbers)] = _sticks_out_in_a_cell(hull, numbers)
    return [
        count(Rule.LIST_SPHERES, ~holes, Where("list", lists)),
        count(Rule.LIST_SPHERE_REACH, ~outside | holes, Where("list", lists)),
    ]


def _sticks_out_in_a_cell(hull: Hull, lists: np.ndarray) -> np.ndarray:
    """Whether any triangle of these lists, int64 (n,), sticks out of the list's sphere inside a cell that has the
    list, bool (n,)."""
    result = np.zeros(len(lists), bool)
    if not len(lists):
        return result
    rows, numbers, listed = hull.entries()
    chosen = np.flatnonzero(np.isin(numbers, lists))
    for start in range(0, len(chosen), exact.PAIRS_AT_ONCE):
        part = chosen[start : start + exact.PAIRS_AT_ONCE]
        low, high = exact.ends(hull.grid, hull.grid.position(hull.occupied[rows[part]]))
        polygons, counts = exact.clip(corners(hull.vertices, hull.triangles[listed[part]]), low, high)
        spheres = hull.list_spheres[numbers[part]]
        out = ~(distances(polygons, spheres) <= spheres[:, 3:].astype(np.float64) * (1 + ROUNDING))
        out &= np.arange(polygons.shape[1]) < counts[:, None]
        np.logical_or.at(result, np.searchsorted(lists, numbers[part]), out.any(axis=1))
    return result


def _sphere_reaches(grid: Grid, spheres: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Whether spheres (n, 4) touch the closed boxes of cells (n,), bool (n,)."""
    low = grid.lower_corner(grid.position(cells))
    centre = spheres[:, :3].astype(np.float64)
    nearest = np.clip(centre, low, low + grid.cell_size)
    return np.linalg.norm(centre - nearest, axis=1) <= spheres[:, 3]
