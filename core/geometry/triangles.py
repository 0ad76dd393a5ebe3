"""Triangles by their corners: repeated, doubled and flat ones, and corners that nearly meet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .arrays import narrow
from .vectors import columns, cross, portions, squared

FLATTEST = 2.0**-23
"""The last place of a float32. A triangle has no area where its height is less than this part of its longest
side, or of its largest coordinate: then rounding alone keeps its corners off one line."""


SMALLEST = 1e-19
"""An area below this has a square that float32 can't hold: the game finds no normal."""


SKEW = np.array([0.53779, 0.73127, 0.41983])
"""A direction of length 1 along which the corners of made things rarely line up."""


NEAR = 1e-6
"""Vertices of one object are doubled if they are nearer than this part of the largest coordinate, a few steps of
float32."""


def corners(vertices: NDArray[np.floating], triangles: NDArray[np.integer]) -> NDArray[np.float64]:
    """The triangles' corners, float64 (n, 3, 3); in memory each coordinate of each corner is a column."""
    return columns(vertices).take(np.asarray(triangles).T, axis=1).transpose(2, 1, 0)


def with_own_vertices(vertices: NDArray[np.floating], triangles: NDArray[np.integer]) -> tuple[np.ndarray, np.ndarray]:
    """Some triangles, int64 (n, 3), with no vertices but those that they use, in the same order."""
    used = np.zeros(len(vertices), bool)
    used[triangles] = True
    return vertices[used], (np.cumsum(used) - 1)[triangles]


def repeated(triangles: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which triangles (n, 3) use a vertex twice, bool (n,)."""
    a, b, c = np.asarray(triangles).T
    return (a == b) | (b == c) | (c == a)


def doubled(triangles: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which triangles have the same three vertices as another, either way around, bool (n,)."""
    a, b, c = np.sort(narrow(np.asarray(triangles)), axis=1).T
    order = np.lexsort((c, b, a))
    same = np.ones(max(len(order) - 1, 0), bool)
    for column in (a, b, c):
        same &= column[order[1:]] == column[order[:-1]]
    result = np.zeros(len(order), bool)
    result[order[1:][same]] = result[order[:-1][same]] = True
    return result


def flat(vertices: NDArray[np.floating], triangles: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which triangles have no area, bool (n,). The game reports a hit at time 0 for them."""
    places = columns(vertices).T
    largest = np.abs(places).max(axis=1)
    result = np.zeros(len(triangles), bool)
    with np.errstate(invalid="ignore", over="ignore"):
        for part in portions(len(triangles)):
            farthest = largest.take(triangles[part].T).max(axis=0)
            result[part] = _flat(corners(places, triangles[part]), farthest)
    return result


def _flat(points: NDArray[np.floating], farthest: np.ndarray) -> np.ndarray:
    """The same for corners (n, 3, 3) and the largest coordinate of each triangle, (n,)."""
    a, b, c = np.moveaxis(points, 1, 0)
    ab, bc, ca = b - a, c - b, a - c
    longest = np.sqrt(np.maximum(np.maximum(squared(ab), squared(bc)), squared(ca)))
    twice_area = np.sqrt(squared(cross(ab, bc)))
    least = FLATTEST * longest * np.maximum(longest, farthest)
    return twice_area <= np.maximum(least, SMALLEST)


def close_pairs(points: NDArray[np.floating], distance: float) -> NDArray[np.int64]:
    """Pairs of points (n, 3) that lie no farther apart than a distance, int64 (p, 2), the lower first."""
    points = np.asarray(points, np.float64)
    along = points @ SKEW
    order = np.argsort(along, kind="stable")
    found = [np.zeros((0, 2), np.int64)]
    near = np.arange(len(points) - 1)
    step = 1
    while len(near):
        near = near[near + step < len(points)]
        near = near[along[order[near + step]] - along[order[near]] <= distance]
        pairs = np.stack((order[near], order[near + step]), axis=1)
        apart = points[pairs[:, 0]] - points[pairs[:, 1]]
        found.append(np.sort(pairs[squared(apart) <= distance * distance], axis=1))
        step += 1
    return np.concatenate(found)
