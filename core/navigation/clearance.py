"""How near segments come to triangles: the room that a way through free space leaves."""

from __future__ import annotations

import numpy as np

from ..geometry.triangles import corners

PAIRS_AT_ONCE = 1 << 16


def clearances(
    segments: np.ndarray, vertices: np.ndarray, triangles: np.ndarray, at_most: np.ndarray | None = None
) -> np.ndarray:
    """The distance of each segment, float64 (n, k, 2, 3), to the nearest triangle of (m, 3): float64 (n, k), 0 where it
    passes through one, infinite without triangles. The k segments of a row must lie near each other.

    With `at_most`, float64 (n, k), larger distances are of no interest, and are given as those values.
    """
    shape = corners(vertices, triangles).astype(np.float64)
    result = np.full(segments.shape[:2], np.inf) if at_most is None else at_most.astype(np.float64)
    if not len(shape) or not len(segments):
        return result
    centre = segments.mean(axis=(1, 2))
    radius = np.linalg.norm(segments - centre[:, None, None], axis=3).max(axis=(1, 2))
    middle = shape.mean(axis=1)
    reach = np.linalg.norm(shape - middle[:, None], axis=2).max(axis=1)
    at_once = max(PAIRS_AT_ONCE * 4 // len(shape), 1)
    for start in range(0, len(segments), at_once):
        rows = slice(start, start + at_once)
        apart = np.linalg.norm(centre[rows, None] - middle, axis=2) - reach
        # What the triangle that seems the nearest says of all segments of the row is enough to leave most others out.
        likely = apart.argmin(axis=1)
        _nearest(result[rows], segments[rows], shape, np.arange(len(likely)), likely)
        row, triangle = np.nonzero(apart - radius[rows, None] < result[rows].max(axis=1, keepdims=True))
        _nearest(result[rows], segments[rows], shape, row, triangle)
    return result


def _nearest(
    result: np.ndarray, segments: np.ndarray, shape: np.ndarray, row: np.ndarray, triangle: np.ndarray
) -> None:
    """Lowers results (n, k) to the distances of the pairs of a row of segments with a triangle."""
    for start in range(0, len(row), PAIRS_AT_ONCE):
        rows, faces = row[start : start + PAIRS_AT_ONCE], shape[triangle[start : start + PAIRS_AT_ONCE]]
        middle = faces.mean(axis=1)
        reach = np.linalg.norm(faces - middle[:, None], axis=2).max(axis=1)
        for number in range(segments.shape[1]):
            near = _to_point(segments[rows, number], middle) - reach < result[rows, number]
            distance = segment_to_triangle(segments[rows[near], number], faces[near])
            np.minimum.at(result[:, number], rows[near], distance)


def _to_point(segments: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The distance of each segment (n, 2, 3) to the point (n, 3) of its row."""
    along, away = segments[:, 1] - segments[:, 0], points - segments[:, 0]
    length2 = np.einsum("ni,ni->n", along, along)
    part = np.einsum("ni,ni->n", along, away) / np.where(length2 > 0, length2, 1)
    gap = away - np.clip(part, 0, 1)[:, None] * along
    return np.sqrt(np.einsum("ni,ni->n", gap, gap))


def segment_to_triangle(segments: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """The distance of each segment (n, 2, 3) to the triangle (n, 3, 3) of its row, float64 (n,)."""
    start, end = segments[:, 0], segments[:, 1]
    sides = faces[:, [1, 2, 0]] - faces
    normal = np.cross(sides[:, 0], -sides[:, 2])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0)
    inward = np.cross(normal[:, None], sides)
    distance = np.full(len(segments), np.inf)
    for corner in range(3):
        distance = np.minimum(distance, _between(start, end - start, faces[:, corner], sides[:, corner]))
    heights = [np.einsum("ni,ni->n", normal, point - faces[:, 0]) for point in (start, end)]
    for point, height in zip((start, end), heights, strict=True):
        over = _over(point, faces, inward)
        distance = np.where(over, np.minimum(distance, np.abs(height)), distance)
    with np.errstate(divide="ignore", invalid="ignore"):
        time = heights[0] / (heights[0] - heights[1])
    crosses = (heights[0] * heights[1] <= 0) & (heights[0] != heights[1])
    meeting = start + np.where(crosses, time, 0)[:, None] * (end - start)
    return np.where(crosses & _over(meeting, faces, inward) & (length[:, 0] > 0), 0.0, distance)


def _over(points: np.ndarray, faces: np.ndarray, inward: np.ndarray) -> np.ndarray:
    """Whether points (n, 3) lie over their triangles."""
    return (np.einsum("nki,nki->nk", inward, points[:, None] - faces) >= 0).all(axis=1)


def _between(a: np.ndarray, u: np.ndarray, b: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The distance between segments a to a + u and b to b + v, (n, 3) each."""
    w = a - b
    uu, uv, vv = (np.einsum("ni,ni->n", one, two) for one, two in ((u, u), (u, v), (v, v)))
    uw, vw = (np.einsum("ni,ni->n", one, w) for one in (u, v))
    bottom = uu * vv - uv * uv
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.where(bottom > 1e-12 * uu * vv, np.clip((uv * vw - vv * uw) / bottom, 0, 1), 0.0)
        t = np.where(vv > 0, np.clip((uv * s + vw) / vv, 0, 1), 0.0)
        s = np.where(uu > 0, np.clip((uv * t - uw) / uu, 0, 1), 0.0)
    gap = w + s[:, None] * u - t[:, None] * v
    return np.sqrt(np.einsum("ni,ni->n", gap, gap))
