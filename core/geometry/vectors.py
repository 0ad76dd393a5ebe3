"""Arithmetic on many points at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

TRIANGLES_AT_ONCE = 8192


def portions(count: int) -> Iterator[slice]:
    """Cuts so many triangles into portions. What is computed for one fits into the processor's cache."""
    return (slice(first, first + TRIANGLES_AT_ONCE) for first in range(0, count, TRIANGLES_AT_ONCE))


def columns(points: NDArray[np.floating]) -> NDArray[np.float64]:
    """The coordinates of points (n, 3), float64 (3, n): each axis in a row of its own is faster to go through."""
    return np.asarray(points, np.float64, order="F").T


def pick(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """These rows of an array (n, 3), as columns in memory."""
    return np.asarray(vectors).T.take(rows, axis=1).T


def bounds(points: NDArray[np.floating]) -> tuple[np.ndarray, np.ndarray]:
    """The boxes of triangles with the corners (n, 3, 3): lowest and highest coordinates, (n, 3) each."""
    a, b, c = np.moveaxis(points, 1, 0)
    return np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)


def extremes(low: np.ndarray, high: np.ndarray, triangles: NDArray[np.integer]) -> tuple[np.ndarray, np.ndarray]:
    """The least `low` and the greatest `high` of the corners of triangles (n, 3), given those of each vertex,
    (…, nv): (…, n) each. Of numbers that ascend with a coordinate, these are the ones of the triangles' boxes."""
    a, b, c = np.moveaxis(low.take(np.asarray(triangles).T, axis=-1), -2, 0)
    d, e, f = np.moveaxis(high.take(np.asarray(triangles).T, axis=-1), -2, 0)
    return np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(d, e), f)


def cross(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The cross products of vectors (…, 3); numpy's own takes several times as long."""
    result = np.empty_like(u)
    for axis in range(3):
        one, two = (axis + 1) % 3, (axis + 2) % 3
        np.multiply(u[..., one], v[..., two], out=result[..., axis])
        result[..., axis] -= u[..., two] * v[..., one]
    return result


def squared(vectors: np.ndarray) -> np.ndarray:
    return np.einsum("...i,...i->...", vectors, vectors)
