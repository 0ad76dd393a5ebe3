"""Triangles that fill a hole, from the ring of vertices around it."""

from __future__ import annotations

import numpy as np

from ...core.geometry.vectors import cross

SLENDER = 1e-3
"""What the squares of a triangle's sides cost beside its area, so that of equal areas the rounder triangles win."""

MOST = 400
"""Vertices of a ring that is filled. The time grows with their third power, this many take seconds."""


def fill_ring(points: np.ndarray, barred: np.ndarray) -> np.ndarray | None:
    """The triangulation of least area, int64 (n - 2, 3), that runs around like the ring.

    `points` (n, 3) are the ring's vertices in turn; `barred`, bool (n, n), the pairs that no new edge may join. None
    where they leave no way, or for more than `MOST` vertices. Klincsek's method: the best fill of each part of the
    ring from those of its parts.
    """
    count = len(points)
    if count > MOST:
        return None
    if count == 3:
        return np.array([[0, 1, 2]])
    points = np.asarray(points, np.float64) - points[0]
    cost = np.where(np.eye(count, k=1, dtype=bool), 0.0, np.inf)
    middle = np.zeros((count, count), np.int64)
    for span in range(2, count):
        first = np.arange(count - span)[:, None]
        last, between = first + span, first + np.arange(1, span)
        total = cost[first, between] + cost[between, last] + _costs(points[first], points[between], points[last])
        best = total.argmin(axis=1)
        rows = np.arange(count - span)
        closed = barred[rows, rows + span] & (span < count - 1)
        cost[rows, rows + span] = np.where(closed, np.inf, total[rows, best])
        middle[rows, rows + span] = rows + 1 + best
    if not np.isfinite(cost[0, count - 1]):
        return None
    triangles, waiting = [], [(0, count - 1)]
    while waiting:
        low, high = waiting.pop()
        if high - low > 1:
            at = int(middle[low, high])
            triangles.append((low, at, high))
            waiting += [(low, at), (at, high)]
    return np.array(triangles, np.int64)


def _costs(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """What triangles cost, float64 (r, s), with the corners a (r, 1, 3), b (r, s, 3) and c (r, 1, 3)."""
    ab, bc, ca = b - a, c - b, np.broadcast_to(a - c, b.shape)
    areas = np.linalg.norm(cross(ab.reshape(-1, 3), bc.reshape(-1, 3)), axis=1).reshape(ab.shape[:2]) / 2
    return areas + SLENDER * sum((side * side).sum(axis=2) for side in (ab, bc, ca))
