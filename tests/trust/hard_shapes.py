"""Triangles and hulls that are hard to get right, made from a seed."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from core.editing.rebuild_hull import build
from core.formats.mcol import Hull
from core.geometry.grid import Grid
from tests.support.hulls import box, rock

SCALES = st.sampled_from([1e-3, 1.0, 1e4, 1e6])
OFFSETS = st.sampled_from([0.0, 0.3, 100.0])
"""How far from the origin, in units of the shape's size: beyond some thousand, float32 has no digits left."""

TRIANGLE_KINDS = (
    "random",
    "lattice",  # corners at halves of cells: almost all touch faces, edges and corners of cells exactly
    "on planes",  # one or two coordinates on planes between cells
    "through corners",  # the plane of the triangle goes through a cell's corner
    "flat on a plane",
    "sliver",
    "needle",
    "tiny",
    "larger than the map",
    "line",  # without area
)


def triangles_of(kind: str, random: np.random.Generator, count: int, scale: float, offset: float = 0.0) -> np.ndarray:
    """Corners, float32 (count, 3, 3), around a grid of whole numbers from -3 to 3, times `scale`."""
    points = random.uniform(-3.2, 3.2, (count, 3, 3))
    if kind == "lattice":
        points = random.integers(-7, 8, (count, 3, 3)) / 2
    elif kind == "on planes":
        points = np.where(random.random((count, 3, 3)) < 0.5, np.round(points), points)
    elif kind == "through corners":
        corner = random.integers(-3, 4, (count, 1, 3)).astype(float)
        points[:, 2] = 2 * corner[:, 0] - (points[:, 0] + points[:, 1]) / 2
    elif kind == "flat on a plane":
        points[:, :, random.integers(0, 3)] = random.integers(-3, 4, (count, 1))
    elif kind == "sliver":
        points[:, 1] = points[:, 0] + random.normal(0, 1e-5, (count, 3))
    elif kind == "needle":
        points[:, 2] = (points[:, 0] + points[:, 1]) / 2 + random.normal(0, 1e-4, (count, 3))
    elif kind == "tiny":
        points = points[:, :1] + random.normal(0, 1e-3, (count, 3, 3))
    elif kind == "larger than the map":
        points *= 40
    elif kind == "line":
        points[:, 2] = points[:, 0] + (points[:, 1] - points[:, 0]) * random.uniform(-1, 2, (count, 1))
    return (scale * points + offset).astype(np.float32)


def asteroids(seed: int, cells: int = 8, scale: float = 1.0, wall: bool = True) -> Hull:
    """A hull of some rocks, which may overlap, in a cubic grid: within a wall, or in free space."""
    random = np.random.default_rng(seed)
    meshes = [
        rock(
            random.uniform(-5, 5, 3), random.uniform(0.8, 4.5), int(random.integers(3, 7)), int(random.integers(2**31))
        )
        for _ in range(random.integers(1, 5))
    ]
    if wall:
        meshes.append(box((-9.75,) * 3, (9.75,) * 3, inward=True))
    offsets = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    vertices = np.concatenate([vertices for vertices, _ in meshes])
    triangles = np.concatenate([triangles + first for (_, triangles), first in zip(meshes, offsets, strict=False)])
    half = np.float32(10 * scale)
    corner = np.full(3, half, np.float32)
    grid = Grid(-corner, corner, np.full(3, 2 * half / cells, np.float32), (cells, cells, cells))
    return build((vertices * np.float32(scale)).astype(np.float32), triangles, grid, wall)
