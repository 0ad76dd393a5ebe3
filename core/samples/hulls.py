"""Stand-in hulls with the names, counts, boxes and cells of the game's maps. docs/FORMATS.md, section 3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..editing.rebuild_hull import build
from ..formats import mcol
from ..geometry.grid import Grid
from ..geometry.solids import inward_box, shared
from .shapes import joined, random_numbers, rock, rounded


@dataclass(frozen=True, slots=True)
class Map:
    """One row of the table of maps: name, vertices, half the box's side, cell size, and what is in it.

    A map has `rocks` asteroids, and a wall of 8 vertices around them unless it is one single surface:
    outward in free space, or inward in rock that is `solid` outside.
    """

    name: str
    vertices: int
    half: int
    cell: int
    rocks: int
    wall: bool = True
    solid: bool = True


MAPS = (
    Map("test", 34, 50_000, 10_000, rocks=1),
    Map("mapmesh_box_500km", 8, 250_000, 50_000, rocks=0),
    Map("S01_AsteroidVolume_wp", 111, 50_000, 10_000, rocks=1, wall=False, solid=False),
    Map("S04_AsteroidVolume_wp", 405, 50_000, 10_000, rocks=4),
    Map("S05_AsteroidVolume_wp", 89, 50_000, 10_000, rocks=1, wall=False),
    Map("S08_p1_AsteroidVolume_wp", 134, 50_000, 10_000, rocks=1),
    Map("S08_p2_AsteroidVolume_wp", 8, 250_000, 50_000, rocks=0),
    Map("S13_AsteroidVolume_wp", 73, 50_000, 10_000, rocks=2),
    Map("S14_p1_AsteroidVolume_wp", 502, 25_000, 10_000, rocks=19),
    Map("S14_p2_AsteroidVolume_wp", 632, 25_000, 10_000, rocks=24),
    Map("S28_p1_AsteroidVolume_wp", 554, 25_000, 10_000, rocks=21),
)


def sample_hull(row: Map, seed: int) -> mcol.Hull:
    """The hull of one map."""
    numbers = random_numbers(seed, row.name)
    half = np.full(3, row.half, np.float32)
    grid = Grid(-half, half, np.full(3, row.cell, np.float32), (2 * row.half // row.cell,) * 3)
    if row.wall:
        meshes = _asteroid_field(row, numbers)
        meshes.append(inward_box(-half, half))
    else:
        vertices, triangles = rock(row.vertices, numbers)
        meshes = [(rounded(vertices * 0.97 * row.half), triangles[:, ::-1] if row.solid else triangles)]
    return build(*_first_used_first(*joined(meshes)), grid, row.solid, row.name)


def _asteroid_field(row: Map, numbers: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rocks that touch neither each other nor the outermost cells: each has a slot of its own."""
    if not row.rocks:
        return []
    inner = row.half - row.cell
    along = int(np.ceil(row.rocks ** (1 / 3)))
    slot = inner / along
    places = numbers.permutation(along**3)[: row.rocks]
    position = np.stack(np.unravel_index(np.sort(places), (along,) * 3), axis=1)
    centres = (2 * position + 1 - along) * slot
    sizes = shared(row.vertices - 8, numbers.uniform(0.5, 1.5, row.rocks), 10)
    meshes = []
    for centre, size in zip(centres, sizes, strict=True):
        radius = numbers.uniform(0.6, 0.9) * slot
        shift = numbers.uniform(-1, 1, 3) * 0.95 * (slot - radius)
        vertices, triangles = rock(size, numbers)
        meshes.append((rounded(vertices * radius + centre + shift), triangles))
    return meshes


def _first_used_first(vertices: NDArray[np.floating], triangles: NDArray[np.integer]) -> tuple[np.ndarray, np.ndarray]:
    """Vertices numbered in the order in which the triangles first use them, as in the game's files."""
    used, first = np.unique(triangles, return_index=True)
    order = used[np.argsort(first)]
    number = np.empty(len(vertices), np.int64)
    number[order] = np.arange(len(order))
    return vertices[order], number[triangles]
