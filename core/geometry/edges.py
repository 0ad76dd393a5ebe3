"""The edges of a mesh: how many triangles meet at each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import narrow


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """The edges of triangles (n, 3), in ascending order.

    ends     unsigned (e, 2): the two vertices, the lower first
    counts   int64 (e,): how many triangles use each
    sides    int64 (3 n,): the sides of the triangles in the order of their edges; 0-1, 1-2, 2-0 of the first triangle
             are 0, 1, 2, then come those of the second
    """

    ends: NDArray[np.unsignedinteger]
    counts: NDArray[np.int64]
    sides: NDArray[np.int64]

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sides that are the same edge, int64 (p,) each: one pair for two triangles, two for three, and so on."""
        if (self.counts == 2).all():
            left, right = self.sides.reshape(-1, 2).T
            return left, right
        again = np.ones(len(self.sides), bool)
        again[np.cumsum(self.counts) - self.counts] = False
        return self.sides[:-1][again[1:]], self.sides[again]

    def triangles_at(self, edges: np.ndarray) -> NDArray[np.bool_]:
        """Which triangles have any of these edges, bool (e,) to bool (n,)."""
        result = np.zeros(len(self.sides) // 3, bool)
        if edges.any():
            result[self.sides[np.repeat(edges, self.counts)] // 3] = True
        return result


def edge_census(triangles: NDArray[np.integer]) -> tuple[np.ndarray, np.ndarray]:
    """The edges, int64 (e, 2) with the lower vertex first, and how many triangles use each, int64 (e,)."""
    edges = undirected_edges(triangles)
    return edges.ends.astype(np.int64), edges.counts


def undirected_edges(triangles: NDArray[np.integer]) -> Edges:
    """The edges of triangles (n, 3), whichever way around they are used."""
    triangles = narrow(np.asarray(triangles))
    following = np.roll(triangles, -1, axis=1)
    low, high = np.minimum(triangles, following).ravel(), np.maximum(triangles, following).ravel()
    sides = np.lexsort((high, low))
    low, high = low[sides], high[sides]
    fresh = np.ones(len(sides), bool)
    fresh[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    first = np.flatnonzero(fresh)
    return Edges(np.stack((low[first], high[first]), axis=1), np.diff(first, append=len(sides)), sides)
