"""A navigation volume from a hull alone: its free space divided, with costs, clearances and the cells' table.

docs/FORMATS.md, sections 5 and 9.
"""

from __future__ import annotations

import numpy as np

from ..errors import RefusedError
from ..formats.mcol import ONE, Hull
from ..formats.regn import FACE, ITEM, NO_TETRAHEDRON, SPARE_FACES, TETRAHEDRON
from ..formats.regn_contents import Graph
from ..geometry.clearance import clearances
from ..geometry.fill import is_free
from ..geometry.grid import Grid
from ..geometry.spheres import group_spheres
from ..geometry.tetrahedra import SIDES, cells_near
from .facets import Progress
from .free_space import FreeSpace, Space, divide

SPHERE_MARGIN = np.float32(1.0001) / np.float32(1.001)
"""A tetrahedron's sphere is the smallest one around it, x 1.0001; spheres of groups are made x 1.001."""

MOST_REFERENCES = 1 << 24
"""From cells to tetrahedra, 4 bytes each in the file."""

MOST_INNER_POINTS = 1000
JITTER = 0.2
NEAREST = 0.4
"""Inner points stay this part of their spacing away from rock."""


def build(hull: Hull, progress: Progress = lambda part: None, most_inner: int = MOST_INNER_POINTS) -> Graph:
    """The free space of a hull. `progress` gets parts of 1. `most_inner`: points beside the hull's own.

    Raises `RefusedError` for a hull whose free space takes more than 16-bit numbers can name.
    """
    space = Space(hull.vertices, hull.triangles, hull.grid.minimum, hull.grid.maximum, bool(hull.outside_solid))
    free = divide(space, inner_points(space, most_inner), lambda part: progress(0.7 * part))
    graph = graph_of(free, hull)
    progress(1.0)
    return graph


def inner_points(space: Space, most: int = MOST_INNER_POINTS) -> np.ndarray:
    """Points in free space away from rock, float32 (n, 3), about one each cube of a size that makes few enough of them.

    They are the same each time, and no four of them lie on a circle.
    """
    size = space.maximum.astype(np.float64) - space.minimum
    spacing = float((size.prod() / most) ** (1 / 3)) if size.all() else float(size.max(initial=1.0))
    counts = np.maximum(np.floor(size / max(spacing, 1e-30)), 1).astype(np.int64)
    place = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3) + 0.5
    place += np.random.default_rng(1).uniform(-JITTER, JITTER, place.shape)
    points = (space.minimum + place * size / counts).astype(np.float32)
    points = points[is_free(points, space.vertices, space.triangles, space.outside_solid)]
    segments = np.repeat(points.astype(np.float64)[:, None, None], 2, axis=2)
    return points[clearances(segments, space.vertices, space.triangles)[:, 0] > NEAREST * spacing]


def graph_of(free: FreeSpace, hull: Hull) -> Graph:
    """The records of divided free space, for the cells of a hull's grid, with clearances to its triangles."""
    tetrahedra, faces = _records(free)
    cells, items, sizes, references = cell_table(hull.grid, free.vertices.astype(np.float64), free.tetrahedra)
    spare = np.zeros(SPARE_FACES, FACE)
    graph = Graph(free.vertices, tetrahedra, faces, spare, cells, items, sizes, references)
    segments = graph.pair_segments()
    tetrahedra["pairs"]["cost"] = np.linalg.norm(segments[:, :, 1] - segments[:, :, 0], axis=2)
    tetrahedra["pairs"]["clearance"] = stored_clearances(segments, hull)
    return graph


def stored_clearances(segments: np.ndarray, hull: Hull) -> np.ndarray:
    """Distances of segments (n, k, 2, 3) to a hull's triangles, float32 (n, k), rounded down; the box's diagonal at
    most."""
    diagonal = float(np.linalg.norm(hull.grid.maximum.astype(np.float64) - hull.grid.minimum))
    exact = np.minimum(clearances(segments, hull.vertices, hull.triangles), diagonal)
    return np.maximum(np.nextafter(exact.astype(np.float32), np.float32(0)), np.float32(0))


def _records(free: FreeSpace) -> tuple[np.ndarray, np.ndarray]:
    """TETRAHEDRON and FACE records, all but costs and clearances."""
    vertices, corners = free.vertices.astype(np.float64), free.tetrahedra
    sides = corners[:, SIDES].reshape(-1, 3)
    _, first, number = np.unique(np.sort(sides, axis=1), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # faces are numbered as the tetrahedra use them first
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    number, first = rank[number.reshape(-1)], first[order]
    faces = np.zeros(len(first), FACE)
    named = sides[first]
    points = vertices[named]
    centre = points.mean(axis=1)
    normal = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    faces["plane"][:, :3], faces["plane"][:, 3] = normal, -np.einsum("ni,ni->n", normal, centre)
    faces["centre"], faces["unknown_1c"], faces["vertices"] = centre, ONE, named
    faces["number"] = np.arange(len(faces))
    faces["tetrahedra"] = NO_TETRAHEDRON
    owner = np.repeat(np.arange(len(corners)), 4)
    is_first = np.zeros(len(sides), bool)
    is_first[first] = True
    faces["tetrahedra"][number[is_first], 0] = owner[is_first]
    faces["tetrahedra"][number[~is_first], 1] = owner[~is_first]
    tetrahedra = np.zeros(len(corners), TETRAHEDRON)
    tetrahedra["faces"] = number.reshape(-1, 4)
    # A face looks out of the tetrahedron that it is named by, whose inside is on the negative side.
    tetrahedra["sides"] = ~is_first.reshape(-1, 4)
    tetrahedra["number"] = np.arange(len(corners))
    spheres = group_spheres(vertices[corners].reshape(-1, 3), 4 * np.arange(len(corners)))
    spheres[:, 3] *= SPHERE_MARGIN
    tetrahedra["sphere"] = spheres
    return tetrahedra, faces


def cell_table(
    grid: Grid, vertices: np.ndarray, corners: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Which tetrahedra (m, 4) overlap each cell: the `cells`, `items`, `sizes` and `references` of a graph.

    Raises `RefusedError` if there are more of these than a file holds.
    """
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    count = 0
    for portion in cells_near(grid, vertices[corners]):
        found.append(portion)
        count += len(portion[0])
        if count > MOST_REFERENCES:
            raise RefusedError(
                "the cells are so small that too many of them lead to each tetrahedron", remedy="choose larger cells"
            )
    tetrahedron, cell = (np.concatenate(numbers) for numbers in zip(*found, strict=True))
    order = np.lexsort((tetrahedron, cell))
    cell, tetrahedron = cell[order], tetrahedron[order]
    occupied, starts = np.unique(cell, return_index=True)
    cells = np.zeros(grid.cell_count, np.int64)
    cells[occupied] = 1
    sizes = np.diff(np.append(starts, len(cell)))
    items = np.zeros(len(occupied), ITEM)
    items["sphere"] = group_spheres(vertices[corners[tetrahedron]].reshape(-1, 3), 4 * starts)
    return cells, items, sizes, tetrahedron
