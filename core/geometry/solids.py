"""The plain shapes that made-up hulls are shaped from: a ball of any number of triangles, a box for a wall."""

from __future__ import annotations

import numpy as np

WALL = np.array(
    [
        *((0, 6, 4), (0, 2, 6), (1, 7, 3), (1, 5, 7)),
        *((0, 5, 1), (0, 4, 5), (2, 7, 6), (2, 3, 7)),
        *((0, 3, 2), (0, 1, 3), (4, 7, 5), (4, 6, 7)),
    ]
)
"""A box that faces inward. Corner i is at the far end of x, y, z where bit 0, 1, 2 of i is set; the diagonals
of the three sides at corner 0 start there, as the spheres in docs/FORMATS.md, section 3, ask for."""


def inward_box(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A wall: the box between two corners (3,), vertices float32 (8, 3), triangles int64 (12, 3) that face inward."""
    return np.where(np.arange(8)[:, None] >> np.arange(3) & 1, high, low).astype(np.float32), WALL


def ball(size: int, rim: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A ball of radius 1 and exactly `size` vertices, 5 or more: vertices float64 (size, 3), triangles int64
    (2 size - 4, 3) that face outward. With a `rim`, a bowl whose opening has so many edges: one vertex and two
    sets of `rim` triangles fewer, of which one is the bowl's own.

    Rings of vertices from pole to pole, as many in each as its circumference asks for.
    """
    poles = 1 if rim else 2
    start = np.radians(70) if rim else 0.0
    ring_count = max(1, int(np.sqrt((size - poles) * (np.pi - start) ** 2 / (2 * np.pi * (1 + np.cos(start))))))
    polar = start + (np.pi - start) * (np.arange(ring_count) + (0 if rim else 1)) / (ring_count + (0 if rim else 1))
    sizes = shared(size - poles - rim, np.sin(polar[1:] if rim else polar), 3)
    rings = [rim, *sizes] if rim else sizes
    ring = np.repeat(np.arange(ring_count), rings)
    begins = np.cumsum(rings) - rings
    around = 2 * np.pi * (np.arange(len(ring)) - begins[ring]) / np.array(rings)[ring]
    directions = np.stack(
        (np.sin(polar[ring]) * np.cos(around), np.sin(polar[ring]) * np.sin(around), np.cos(polar[ring])), axis=1
    )
    ends = [(0.0, 0.0, -1.0)] if rim else [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]
    directions = np.concatenate((directions, ends))
    triangles = [_between(a, m, b, n) for a, m, b, n in zip(begins, rings, begins[1:], rings[1:], strict=False)]
    if not rim:
        triangles.insert(0, _fan(len(ring), begins[0], rings[0]))
    triangles.append(_fan(len(directions) - 1, begins[-1], rings[-1])[:, ::-1])
    return directions, np.concatenate(triangles)


def _between(upper: int, upper_count: int, lower: int, lower_count: int) -> np.ndarray:
    """Triangles between two rings, each given by its first vertex and its size: one for each side of both."""
    above = (np.arange(upper_count) + 0.5) / upper_count
    below = (np.arange(lower_count) + 0.5) / lower_count
    is_above = np.repeat([True, False], (upper_count, lower_count))[np.argsort([*above, *below], kind="stable")]
    i = np.cumsum(is_above) - is_above
    j = np.cumsum(~is_above) - np.logical_not(is_above)
    third = np.where(is_above, upper + (i + 1) % upper_count, lower + (j + 1) % lower_count)
    return np.stack((upper + i % upper_count, lower + j % lower_count, third), axis=1)


def _fan(pole: int, ring: int, count: int) -> np.ndarray:
    """Triangles between the upper pole and a ring."""
    around = np.arange(count)
    return np.stack((np.full(count, pole), ring + around, ring + (around + 1) % count), axis=1)


def shared(total: int, weights: np.ndarray, least: int) -> list[int]:
    """`total` cut into whole numbers, `least` or more each, the rest by weight."""
    rest = total - least * len(weights)
    ends = np.round(rest * np.cumsum(weights) / np.sum(weights)).astype(int)
    return (least + np.diff(ends, prepend=0)).tolist()
