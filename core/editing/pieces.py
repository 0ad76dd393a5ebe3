"""What an edit is made of, a piece per object, before and after they become one mesh."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ..geometry.edges import Edges, undirected_edges
from ..geometry.surfaces import orient

NEW = -1
"""The number of a vertex or triangle that comes from no source."""


class Mesh(Protocol):
    """A hull or a part of a collision set: `vertices` float32 (nv, 3) and `triangles` integer (nt, 3)."""

    @property
    def vertices(self) -> np.ndarray: ...
    @property
    def triangles(self) -> np.ndarray: ...


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """One object's geometry in the file's own space.

    `vertices` float32 (n, 3), `triangles` integer (m, 3) with the front counter-clockwise, and the source's
    numbers that they claim, `vertex_ids` (n,) and `triangle_ids` (m,), NEW where none. `slack` is how far off each
    vertex may be by rounding, float64 (n,), None where all are exact, see `placement.place`.
    """

    name: str
    vertices: np.ndarray
    triangles: np.ndarray
    vertex_ids: np.ndarray
    triangle_ids: np.ndarray
    slack: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Edit:
    """One mesh, in the order in which it will be written.

    vertices, triangles   float32 (nv, 3), int64 (nt, 3)
    vertex_ids            int64 (nv,): the source's vertex, or NEW; each at most once
    triangle_ids          int64 (nt,): the source's triangle, or NEW; each at most once
    owners                int64 (nt,): the piece in `names` that a triangle is from; -1 for a preserved one
    origins               int64 (nt,): its number among the triangles of all pieces in a row; -1 likewise
    places                int64 (vertices of all pieces in a row,): the vertex that each became; -1 for one left out
    loose                 how many vertices of the pieces no triangle uses; they are left out
    """

    vertices: np.ndarray
    triangles: np.ndarray
    vertex_ids: np.ndarray
    triangle_ids: np.ndarray
    owners: np.ndarray
    origins: np.ndarray
    places: np.ndarray
    names: tuple[str, ...]
    loose: int = 0

    @cached_property
    def edges(self) -> Edges:
        """The triangles' `undirected_edges`."""
        return undirected_edges(self.triangles)

    @cached_property
    def oriented(self) -> tuple[np.ndarray, np.ndarray]:
        """The surface of each triangle, and which are wound against it, see `orient`."""
        return orient(self.triangles, self.edges)
