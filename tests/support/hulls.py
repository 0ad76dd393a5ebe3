"""Hulls and shapes that several tests use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from core.editing.assemble import assemble
from core.editing.pieces import Edit, Piece
from core.formats import mcol
from core.geometry import exact, surfaces
from core.geometry.grid import Grid

DATA = Path(__file__).parents[1] / "data"
HULLS = sorted([*DATA.glob("*.col"), *DATA.glob("quirks/*.col")])
LARGE = "S14_p1_AsteroidVolume_wp.col"


def read(name: str) -> bytes:
    return (DATA / name).read_bytes()


def pieces(hull: mcol.Hull) -> list[Piece]:
    """A piece for each surface, as the add-on makes objects of them, named `wall`, `asteroid_01`, …"""
    triangles = hull.triangles.astype(np.int64)
    surface = surfaces.split(triangles)
    result = []
    for number, name in enumerate(surfaces.names(hull.vertices, triangles, surface)):
        rows = np.flatnonzero(surface == number)
        used, corners = np.unique(triangles[rows], return_inverse=True)
        result.append(Piece(name, hull.vertices[used], corners.reshape(-1, 3), used, rows))
    return result


def moved(piece: Piece, by, name: str | None = None) -> Piece:
    vertices = (piece.vertices.astype(np.float64) + by).astype(np.float32)
    return Piece(name or piece.name, vertices, piece.triangles, piece.vertex_ids, piece.triangle_ids)


def new(name: str, vertices, triangles) -> Piece:
    """A piece that comes from no source."""
    count = len(vertices)
    return Piece(name, np.float32(vertices), np.asarray(triangles), np.full(count, -1), np.full(len(triangles), -1))


def edited(hull: mcol.Hull, changes: dict[str, Piece | None], extra: tuple[Piece, ...] = ()) -> Edit:
    """The hull with some of its pieces replaced, or left out where None, and others added."""
    kept = [changes.get(piece.name, piece) for piece in pieces(hull)]
    return assemble([piece for piece in (*kept, *extra) if piece is not None], hull)


def box(low, high, inward: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """A box, float32 (8, 3) and (12, 3): its front outward unless `inward`."""
    low, high = np.float32(low), np.float32(high)
    corner = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)])
    quads = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]
    triangles = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    return np.where(corner, high, low).astype(np.float32), triangles[:, [0, 2, 1]] if inward else triangles


def rock(centre, radius: float, count: int = 10, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """A closed, outward, bumpy ball of `count` rings by `2 count` columns."""
    random = np.random.default_rng(seed)
    rings, columns = count - 1, 2 * count
    angle = np.pi * np.arange(1, rings + 1) / count
    around = 2 * np.pi * np.arange(columns) / columns
    ring = np.stack(
        [
            np.outer(np.sin(angle), np.cos(around)),
            np.outer(np.sin(angle), np.sin(around)),
            np.outer(np.cos(angle), np.ones(columns)),
        ],
        axis=-1,
    ).reshape(-1, 3)
    ball = np.concatenate(([[0, 0, 1]], ring, [[0, 0, -1]]))
    ball *= 1 + 0.15 * random.uniform(-1, 1, (len(ball), 1))
    triangles = []
    last = len(ball) - 1
    for column in range(columns):
        following = (column + 1) % columns
        triangles.append((0, 1 + column, 1 + following))
        for row in range(rings - 1):
            a, b = 1 + row * columns + column, 1 + row * columns + following
            triangles += [(a, a + columns, b + columns), (a, b + columns, b)]
        triangles.append((last, last - columns + following, last - columns + column))
    return (np.array(centre) + radius * ball).astype(np.float32), np.array(triangles)


def cubic_grid(half: float, cells: int) -> Grid:
    """A grid around the origin."""
    corner = np.full(3, half, np.float32)
    return Grid(-corner, corner, np.full(3, 2 * half / cells, np.float32), (cells, cells, cells))


def without_entries(hull: mcol.Hull, count: int) -> bytes:
    """The hull with the last entry of so many lists gone, each of which reaches into its cell."""
    rows, lists, triangle = hull.entries()
    last = np.append(lists[1:] != lists[:-1], True)
    rows, lists, triangle = rows[last], lists[last], triangle[last]
    needed = exact.depths(hull.grid, hull.vertices, hull.triangles, triangle, hull.occupied[rows]) > 1
    sizes = hull.list_sizes.copy()
    sizes[lists[needed][:count]] -= 1
    return mcol.encode(replace(hull, list_sizes=sizes))
