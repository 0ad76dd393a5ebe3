"""How near segments come to triangles: the room that a way through free space leaves.

Inside this module each coordinate is a row of its own, so vectors are arrays (3, n).
"""

from __future__ import annotations

import numpy as np

from .triangles import corners

PAIRS_AT_ONCE = 1 << 20
"""Pairs of a row of segments with a triangle whose bounding spheres are compared at once."""

EXACT_AT_ONCE = 1 << 13
"""Pairs whose distance is computed at once: their vectors fit into the processor's cache."""

ROUNDING = 1e-6
"""Distances between spheres are off by less than this part of the largest coordinate."""


def clearances(
    segments: np.ndarray, vertices: np.ndarray, triangles: np.ndarray, at_most: np.ndarray | None = None
) -> np.ndarray:
    """The distance of each segment, float64 (n, k, 2, 3), to the nearest triangle of (m, 3): float64 (n, k), 0 where it
    passes through one, infinite without triangles. The k segments of a row must lie near each other.

    With `at_most`, float64 (n, k), larger distances are of no interest, and are given as those values.
    """
    result = np.full(segments.shape[:2], np.inf) if at_most is None else at_most.astype(np.float64)
    if not len(triangles) or not len(segments):
        return result
    shape = corners(vertices, triangles).transpose(1, 2, 0)
    middle = (shape[0] + shape[1] + shape[2]) / 3
    reach = np.linalg.norm(shape - middle, axis=1).max(axis=0)
    ends = np.moveaxis(segments, 0, 3).astype(np.float64, order="C")  # (k, 2, 3, n)
    centre = ends.mean(axis=(0, 1))
    radius = np.linalg.norm(ends - centre, axis=2).max(axis=(0, 1))
    slack = ROUNDING * max(float(np.abs(shape).max()), float(np.abs(centre).max()))
    at_once = max(PAIRS_AT_ONCE // len(triangles), 1)
    for start in range(0, len(segments), at_once):
        rows = slice(start, min(start + at_once, len(segments)))
        apart = _distances(centre[:, rows], middle) - reach - slack
        own = result[rows]
        # What the triangle that seems the nearest says of all segments of a row leaves most others out.
        likely = apart.argmin(axis=1)
        own[:] = np.minimum(own, (_from_point(centre[:, rows], shape[:, :, likely]) + radius[rows])[:, None] + slack)
        row, triangle = np.nonzero(apart <= own.max(axis=1, keepdims=True) + radius[rows, None])
        _nearest(own, ends[..., rows], (centre[:, rows], radius[rows]), shape, (row, triangle))
    return result


def _nearest(
    result: np.ndarray,
    ends: np.ndarray,
    spheres: tuple[np.ndarray, np.ndarray],
    shape: np.ndarray,
    pairs: tuple[np.ndarray, np.ndarray],
) -> None:
    """Lowers results (n, k), upper bounds so far, to the distances of pairs of a row of segments with a triangle."""
    (centre, radius), (row, triangle) = spheres, pairs
    away = np.empty(len(row))
    for start in range(0, len(row), EXACT_AT_ONCE):
        part = slice(start, start + EXACT_AT_ONCE)
        away[part] = _from_point(centre[:, row[part]], shape[:, :, triangle[part]])
    nearest = np.full(len(radius), np.inf)
    np.minimum.at(nearest, row, away)
    beyond = away - nearest[row]
    kept = np.flatnonzero(beyond <= 2 * radius[row] * (1 + ROUNDING))
    kept = kept[np.argsort(beyond[kept], kind="stable")]  # what is the nearest to a row comes first
    row, triangle, least = row[kept], triangle[kept], (away - radius[row] * (1 + ROUNDING))[kept]
    for start in range(0, len(row), EXACT_AT_ONCE):
        part = slice(start, start + EXACT_AT_ONCE)
        for number in range(len(ends)):
            near = start + np.flatnonzero(least[part] <= result[row[part], number])
            begin, end = (ends[number, point][:, row[near]] for point in (0, 1))
            np.minimum.at(result[:, number], row[near], _from_segment(begin, end, shape[:, :, triangle[near]]))


def segment_to_triangle(segments: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """The distance of each segment (n, 2, 3) to the triangle (n, 3, 3) of its row, float64 (n,)."""
    start, end = np.moveaxis(np.asarray(segments, np.float64), (0, 2), (2, 1)).copy()
    return _from_segment(start, end, np.moveaxis(np.asarray(faces, np.float64), (0, 2), (2, 1)).copy())


def _from_segment(start: np.ndarray, end: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """The distance of each segment to the triangle (3, 3, n), corners first, of its column, float64 (n,)."""
    along = end - start
    sides = faces[[1, 2, 0]] - faces
    normal = _cross(sides[0], sides[1])
    length2 = _dot(normal, normal)
    squared = np.full(start.shape[1], np.inf)
    for corner in range(3):
        np.minimum(squared, _between(start, along, faces[corner], sides[corner]), out=squared)
    inward = [_cross(normal, side) for side in sides]
    heights = _dot(normal, start - faces[0]), _dot(normal, end - faces[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        for point, height in zip((start, end), heights, strict=True):
            over = _over(point, faces, inward) & (length2 > 0)
            squared = np.where(over, np.minimum(squared, height * height / length2), squared)
        time = heights[0] / (heights[0] - heights[1])
    crosses = (heights[0] * heights[1] <= 0) & (heights[0] != heights[1])
    meeting = start + np.where(crosses, time, 0) * along
    through = crosses & _over(meeting, faces, inward) & (length2 > 0)
    return np.where(through, 0.0, np.sqrt(squared))


def _from_point(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """The distance of each point (3, n) to the triangle (3, 3, n) of its column, float64 (n,)."""
    sides = faces[[1, 2, 0]] - faces
    normal = _cross(sides[0], sides[1])
    length2 = _dot(normal, normal)
    squared = np.full(points.shape[1], np.inf)
    over = length2 > 0
    for corner in range(3):
        away = points - faces[corner]
        over &= _dot(_cross(normal, sides[corner]), away) >= 0
        long2 = _dot(sides[corner], sides[corner])
        part = np.clip(_dot(away, sides[corner]) / np.where(long2 > 0, long2, 1), 0, 1)
        gap = away - part * sides[corner]
        np.minimum(squared, _dot(gap, gap), out=squared)
    height = _dot(normal, points - faces[0])
    squared = np.where(over, np.minimum(squared, height * height / np.where(length2 > 0, length2, 1)), squared)
    return np.sqrt(squared)


def _over(points: np.ndarray, faces: np.ndarray, inward: list[np.ndarray]) -> np.ndarray:
    """Whether points (3, n) lie over their triangles."""
    return (
        (_dot(inward[0], points - faces[0]) >= 0)
        & (_dot(inward[1], points - faces[1]) >= 0)
        & (_dot(inward[2], points - faces[2]) >= 0)
    )


def _between(a: np.ndarray, u: np.ndarray, b: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The squared distance between segments a to a + u and b to b + v, (3, n) each."""
    w = a - b
    uu, uv, vv, uw, vw = _dot(u, u), _dot(u, v), _dot(v, v), _dot(u, w), _dot(v, w)
    bottom = uu * vv - uv * uv
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.where(bottom > 1e-12 * uu * vv, np.clip((uv * vw - vv * uw) / bottom, 0, 1), 0.0)
        t = np.where(vv > 0, np.clip((uv * s + vw) / vv, 0, 1), 0.0)
        s = np.where(uu > 0, np.clip((uv * t - uw) / uu, 0, 1), 0.0)
    gap = w + s * u - t * v
    return _dot(gap, gap)


def _distances(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """From each point (3, n) to each point (3, m): float64 (n, m)."""
    squares = _dot(one, one)[:, None] + _dot(other, other) - 2 * (one.T @ other)
    return np.sqrt(np.maximum(squares, 0, out=squares), out=squares)


def _dot(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def _cross(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.stack((u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]))
