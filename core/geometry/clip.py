"""The parts of triangles that lie in a box."""

from __future__ import annotations

import numpy as np


def clip(triangles: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The convex polygons that triangles (n, 3, 3) leave in the box from `low` (3,) to `high` (3,).

    Returns their corners, float64 (m, 3), one polygon after the other in its triangle's winding, and the number of each
    corner's triangle, int64 (m,), ascending. A triangle that lies outside has no corner.
    """
    points = np.asarray(triangles, np.float64).reshape(-1, 3)
    numbers = np.repeat(np.arange(len(points) // 3), 3)
    for axis in range(3):
        for side, bound in ((1.0, low), (-1.0, high)):
            points, numbers = _cut(points, numbers, axis, side, float(bound[axis]))
    return points, numbers


def _cut(
    points: np.ndarray, numbers: np.ndarray, axis: int, side: float, bound: float
) -> tuple[np.ndarray, np.ndarray]:
    """What is left of polygons on one side of a plane at right angles to an axis."""
    after = _next(numbers)
    depth = side * (points[:, axis] - bound)
    inside = depth >= 0
    crosses = inside != inside[after]
    part = np.divide(depth, depth - depth[after], out=np.zeros_like(depth), where=crosses)
    met = points + part[:, None] * (points[after] - points)
    met[:, axis] = bound
    both = np.stack((points, met), axis=1).reshape(-1, 3)
    kept = np.stack((inside, crosses), axis=1).reshape(-1)
    return both[kept], np.repeat(numbers, 2)[kept]


def _next(numbers: np.ndarray) -> np.ndarray:
    """The row of the corner that follows each, within its polygon, int64 (m,)."""
    after = np.arange(1, len(numbers) + 1)
    first = np.flatnonzero(np.diff(numbers, prepend=-1))
    after[np.append(first[1:], len(numbers))[: len(first)] - 1] = first
    return after


def fans(numbers: np.ndarray) -> np.ndarray:
    """Rows of the corners of the triangles that polygons, as `clip` gives them, are cut into, int64 (k, 3)."""
    first = np.flatnonzero(np.diff(numbers, prepend=-1))
    start = np.repeat(first, np.diff(np.append(first, len(numbers))))
    row = np.arange(len(numbers))
    after = _next(numbers)
    inner = (row != start) & (after != start)
    return np.stack((start[inner], row[inner], after[inner]), axis=1)


def outlines(numbers: np.ndarray) -> np.ndarray:
    """Rows of the ends of the sides of polygons, as `clip` gives them, int64 (m, 2)."""
    return np.stack((np.arange(len(numbers)), _next(numbers)), axis=1)
