"""A hull's surfaces as meshes of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..formats.mcol import Hull
from ..geometry.surfaces import names, split


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """One surface of a hull: `vertices` float32 (n, 3) in the hull's order, `triangles` int64 (m, 3) that count
    from its own first vertex, and the numbers that they have in the hull, `vertex_numbers` int64 (n,) and
    `triangle_numbers` int64 (m,)."""

    name: str
    vertices: np.ndarray
    triangles: np.ndarray
    vertex_numbers: np.ndarray
    triangle_numbers: np.ndarray


def separate(hull: Hull) -> list[Surface]:
    """The surfaces, numbered and named as `surfaces` does. Vertices that no triangle uses are in none."""
    surface = split(hull.triangles)
    by_surface = np.argsort(surface, kind="stable")
    bounds = np.cumsum(np.bincount(surface))[:-1]
    result = []
    for name, numbers in zip(names(hull.vertices, hull.triangles, surface), np.split(by_surface, bounds), strict=False):
        used, local = np.unique(hull.triangles[numbers], return_inverse=True)
        used = used.astype(np.int64)
        result.append(Surface(name, hull.vertices[used], local.reshape(-1, 3), used, numbers))
    return result
