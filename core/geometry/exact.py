"""Triangles in cells, decided without rounding: whether they touch, and how far they reach in.

`overlap` finds the cells of a triangle with a margin for the game's own rounding, which is right for what is written.
What a file lists is judged here: in float64 where its rounding can't matter, with integers of any length elsewhere.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from .arrays import contains
from .grid import Grid
from .triangles import corners
from .vectors import bounds, cross

PAIRS_AT_ONCE = 1 << 13

EPSILON = float(np.finfo(np.float64).eps)

ROUNDING_STEPS = 64
"""A projection is known but for so many roundings of its largest terms; far fewer are made."""

NO_DEPTH = 1e-9
"""Of a cell's size: what reaches in no farther only touches."""


def touching(
    grid: Grid, vertices: NDArray[np.floating], triangles: NDArray[np.integer], rows: np.ndarray, cells: np.ndarray
) -> np.ndarray:
    """Whether triangles touch the closed boxes of cells, bool (n,), exactly: vertices float32 (nv, 3), triangles
    (nt, 3), and pairs of a triangle's and a cell's number, int64 (n,) each. Cells at the border have no end there."""
    result = np.zeros(len(rows), bool)
    for start in range(0, len(rows), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        points = corners(vertices, triangles[rows[part]])
        position = grid.position(cells[part])
        result[part], doubtful = _touching_in_float(grid, points, position)
        unsure = np.flatnonzero(doubtful)
        result[start + unsure] = _touching_in_integers(grid, points[unsure], position[unsure])
    return result


def depths(
    grid: Grid, vertices: NDArray[np.floating], triangles: NDArray[np.integer], rows: np.ndarray, cells: np.ndarray
) -> NDArray[np.float64]:
    """How far triangles reach into cells, in game units, float64 (n,): the shortest way by which a triangle would have
    to be moved to only touch the cell. 0 for one that only touches it; see `touching` for the arguments."""
    result = np.zeros(len(rows))
    for start in range(0, len(rows), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        points = corners(vertices, triangles[rows[part]])
        low, high = ends(grid, grid.position(cells[part]))
        origin = points[:, :1]
        axes = _axes(points)
        length = np.linalg.norm(axes, axis=2)
        overlap = _overlaps(axes, points - origin, low - origin[:, 0], high - origin[:, 0])
        with np.errstate(divide="ignore", invalid="ignore"):
            overlap = np.where(length > 0, overlap / length, np.inf)
        result[part] = np.maximum(overlap.min(axis=1), 0)
    return result


def covered(
    grid: Grid,
    vertices: NDArray[np.floating],
    triangles: NDArray[np.integer],
    rows: np.ndarray,
    cells: np.ndarray,
    listed: np.ndarray,
) -> NDArray[np.bool_]:
    """Whether a cell beside lists the triangle where it touches this one, bool (n,), so that no query misses it.

    For triangles that only touch the cells, see `depths`. `listed` are ascending keys of what the file lists, int64:
    cell number * triangles + triangle.
    """
    result = np.zeros(len(rows), bool)
    size, minimum = grid.cell_size.astype(np.float64), grid.minimum.astype(np.float64)
    for start in range(0, len(rows), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        polygons, counts = clip(corners(vertices, triangles[rows[part]]), *ends(grid, grid.position(cells[part])))
        inside = np.arange(polygons.shape[1]) < counts[:, None]
        middle = np.where(inside[:, :, None], polygons, 0).sum(axis=1) / np.maximum(counts, 1)[:, None]
        place = (middle - minimum) / size
        # A point in a plane between cells belongs to both.
        sides = [
            np.clip(side, 0, np.array(grid.dimensions) - 1).astype(np.int64)
            for side in (np.ceil(place - 1 - NO_DEPTH), np.floor(place + NO_DEPTH))
        ]
        for choice in product((0, 1), repeat=3):
            beside = np.stack([sides[side][:, axis] for axis, side in enumerate(choice)], axis=1)
            result[part] |= (counts > 0) & contains(listed, grid.number(beside) * len(triangles) + rows[part])
    return result


def clip(points: NDArray[np.floating], low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The parts of triangles, float64 (n, 3, 3), inside boxes from `low` to `high`, (n, 3) each: polygons as corners,
    float64 (n, 9, 3), of which the first so many, int64 (n,), count."""
    polygon, count = points, np.full(len(points), 3)
    for axis in range(3):
        for bound, sign in ((low, -1), (high, 1)):
            polygon, count = _clip_plane(polygon, count, axis, bound[:, axis], sign)
    return polygon, count


def _clip_plane(
    polygon: np.ndarray, count: np.ndarray, axis: int, bound: np.ndarray, sign: int
) -> tuple[np.ndarray, np.ndarray]:
    """What is left of convex polygons (n, k, 3) on one side of planes: (n, k + 1, 3)."""
    total = polygon.shape[1]
    number = np.arange(total)
    real = number < count[:, None]
    following = np.where(number + 1 < count[:, None], number + 1, 0)
    ahead = np.take_along_axis(polygon, following[:, :, None], axis=1)
    here, there = (sign * (ends[:, :, axis] - bound[:, None]) for ends in (polygon, ahead))
    crossing = real & ((here > 0) != (there > 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(crossing, here / (here - there), 0)
    between = polygon + share[:, :, None] * (ahead - polygon)
    between[:, :, axis] = np.where(crossing, bound[:, None], between[:, :, axis])
    made = np.stack((polygon, between), axis=2).reshape(len(polygon), 2 * total, 3)
    counts = np.stack((real & (here <= 0), crossing), axis=2).reshape(len(polygon), 2 * total)
    order = np.argsort(~counts, axis=1, kind="stable")[:, : total + 1]
    return np.take_along_axis(made, order[:, :, None], axis=1), counts.sum(axis=1)


# --- separating axes ------------------------------------------------------------------------------


def ends(grid: Grid, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corners of cells, float64 (n, 3), without end at the border of the grid."""
    low = np.where(position == 0, -np.inf, grid.lower_corner(position))
    high = np.where(position == np.array(grid.dimensions) - 1, np.inf, grid.lower_corner(position + 1))
    return low, high


def _axes(points: NDArray[np.floating]) -> np.ndarray:
    """The directions along which a triangle and a box can be apart, (n, 13, 3): the box's, the triangle's normal, and
    the cross products of both ones' edges."""
    sides = np.roll(points, -1, axis=1) - points
    units = np.zeros((len(points), 3, 3), points.dtype)
    units[:, range(3), range(3)] = 1
    normal = cross(sides[:, 0], sides[:, 1])[:, None]
    edges = [cross(np.broadcast_to(units[:, axis, None], sides.shape), sides) for axis in range(3)]
    return np.concatenate((units, normal, *edges), axis=1)


def _overlaps(axes: np.ndarray, points: NDArray[np.floating], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """How far the shadows of triangles (n, 3, 3) and boxes reach into each other on axes (n, k, 3), (n, k); negative
    where they are apart."""
    along = [axes[:, :, axis, None] * points[:, None, :, axis] for axis in range(3)]
    shadow = along[0] + along[1] + along[2]
    positive = axes > 0
    with np.errstate(invalid="ignore"):  # no end times no direction
        near = np.where(axes == 0, 0, axes * np.where(positive, low[:, None], high[:, None])).sum(axis=2)
        far = np.where(axes == 0, 0, axes * np.where(positive, high[:, None], low[:, None])).sum(axis=2)
    return np.minimum(shadow.max(axis=2) - near, far - shadow.min(axis=2))


def _touching_in_float(
    grid: Grid, points: NDArray[np.floating], position: np.ndarray
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which triangles surely touch their cells, and for which of the others float64 can't decide, bool (n,) each."""
    low, high = ends(grid, position)
    origin = points[:, :1]
    relative = points - origin
    axes = _axes(relative)
    overlap = _overlaps(axes, relative, low - origin[:, 0], high - origin[:, 0])
    side = np.abs(relative).max(axis=(1, 2))
    largest = np.abs(points).max(axis=(1, 2)) + np.abs(grid.lower_corner(position + 1)).max(axis=1)
    largest += np.abs(grid.minimum.astype(np.float64)).max()
    error = np.concatenate((np.ones(3), np.full(1, 2.0), np.ones(9))) * ROUNDING_STEPS * EPSILON * largest[:, None]
    error[:, 3] *= side * side
    error[:, 4:] *= side[:, None]
    error[:, 4:] += np.finfo(np.float64).tiny
    apart = (overlap < -error).any(axis=1)
    together = (overlap >= error) | (axes == 0).all(axis=2)
    touches = together.all(axis=1)
    return touches, ~touches & ~apart


def _touching_in_integers(grid: Grid, points: NDArray[np.floating], position: np.ndarray) -> NDArray[np.bool_]:
    """The same, without rounding, bool (n,)."""
    if not len(points):
        return np.zeros(0, bool)
    digits = _digits(np.concatenate((points.ravel(), grid.minimum, grid.cell_size)))
    exact = _integers(points, digits)
    minimum, size = _integers(grid.minimum, digits), _integers(grid.cell_size, digits)
    place = position.astype(object)
    low, high = minimum + place * size, minimum + (place + 1) * size
    least, most = bounds(exact)
    low = np.where(position == 0, np.minimum(low, least) - 1, low)
    high = np.where(position == np.array(grid.dimensions) - 1, np.maximum(high, most) + 1, high)
    return np.asarray(_overlaps(_axes(exact), exact, low, high) >= 0, bool).all(axis=1)


def _digits(values: np.ndarray) -> int:
    """How many binary places behind the point float32 values have at most."""
    exponents = np.frexp(values[values != 0].astype(np.float64))[1]
    return max(24 - int(exponents.min(initial=24)), 0)


def _integers(values: np.ndarray, digits: int) -> np.ndarray:
    """Float32 values times 2 to the power of `digits` as Python's integers."""
    mantissa, exponent = np.frexp(np.asarray(values, np.float64))
    whole = np.ldexp(mantissa, 24).astype(np.int64)
    made = [
        int(part) << max(int(shift), 0)
        for part, shift in zip(whole.ravel(), (exponent - 24 + digits).ravel(), strict=True)
    ]
    result = np.empty(len(made), object)
    result[:] = made
    return result.reshape(np.shape(values))
