"""Routes between random free points, and whether an independent sweep finds them clear."""

from __future__ import annotations

import numpy as np

from core.formats import mcol
from core.formats.mcol import Hull
from core.runtime.route import Route, find_route
from tests.oracle import game_queries as game
from tests.oracle.readers import read_col
from tests.support.volumes import decoded

RADIUS = 1.0

Found = tuple[np.ndarray, np.ndarray, Route]
"""A start, a goal, and the route between them."""


def free_points(one: Hull, count: int, seed: int = 1) -> np.ndarray:
    """Points in free space that a ship fits at, float64 (count, 3)."""
    col = read_col(mcol.encode(one))
    low, high = one.grid.minimum.astype(float), one.grid.maximum.astype(float)
    spots = np.random.default_rng(seed).uniform(low, high, (4 * count + 200, 3))
    solid = game.solid(one.vertices, one.triangles, bool(one.outside_solid), spots)
    spots = spots[~solid][: count + count // 4 + 50]
    spots = spots[np.isinf(game.sweeps(col, spots, np.full(spots.shape, 1e-3), RADIUS))]
    assert len(spots) >= count
    return spots[:count]


def routes(one: Hull, data: bytes, count: int, seed: int = 1) -> list[Found]:
    graph = decoded(data)
    spots = free_points(one, 2 * count, seed)
    return [(a, b, find_route(one, graph, a, b, RADIUS)) for a, b in zip(spots[::2], spots[1::2], strict=True)]


def blocked(one: Hull, found: list[Found]) -> list[int]:
    """Numbers of the routes of which a leg touches the hull, as a sweep over all its triangles says."""
    legs = [
        (number, *leg)
        for number, (*_, route) in enumerate(found)
        for leg in zip(route.points[:-1], route.points[1:], strict=True)
    ]
    if not legs:
        return []
    starts, ends = (np.array([leg[end] for leg in legs]) for end in (1, 2))
    times = game.first_sweep_hits(one.vertices, one.triangles, starts, ends - starts, RADIUS)
    return sorted({legs[row][0] for row in np.flatnonzero(times <= 1).tolist()})


def same_region(data: bytes, found: list[Found]) -> np.ndarray:
    """Whether start and goal of each pair lie in one connected part of free space, bool (n,), by every tetrahedron of
    the volume and none of its cells."""
    graph = decoded(data)
    region = graph.regions()
    shape = graph.shapes()
    a = shape[:, 0]
    inverse = np.linalg.inv(np.swapaxes(shape[:, 1:] - a[:, None], 1, 2))

    def region_of(point: np.ndarray) -> int:
        parts = np.einsum("nij,nj->ni", inverse, point - a)
        least = np.minimum(parts.min(axis=1), 1 - parts.sum(axis=1))
        return int(region[least.argmax()]) if least.max() > -1e-6 else -1

    return np.array([region_of(start) == region_of(goal) != -1 for start, goal, _ in found])
