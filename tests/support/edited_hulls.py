"""Hulls with one edit each, for navigation volumes that have to follow it."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from core.editing.rebuild_hull import build as build_hull
from core.formats.mcol import Hull
from core.geometry.grid import Grid
from core.geometry.surfaces import split
from tests.support.hulls import rock
from tests.support.volumes import ROCKS, hull


def _wall_and_rocks(one: Hull) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """The surface of each triangle, which of the vertices belong to the wall, and the rocks, the largest first."""
    surface = split(one.triangles)
    places = [one.vertices[np.unique(one.triangles[surface == number])] for number in range(surface.max() + 1)]
    extents = [float(np.ptp(own, axis=0).max()) for own in places]
    half = float((one.grid.maximum - one.grid.minimum).max()) * 0.9
    rocks = sorted((n for n, extent in enumerate(extents) if extent < half), key=lambda n: -extents[n])
    wall = np.zeros(len(one.vertices), bool)
    wall[one.triangles[~np.isin(surface, rocks)]] = True
    return surface, wall, rocks


def rebuilt(one: Hull, vertices: np.ndarray, triangles: np.ndarray) -> Hull:
    used, corners = np.unique(triangles, return_inverse=True)
    return build_hull(vertices[used], corners.reshape(-1, 3), one.grid, bool(one.outside_solid))


def moved(name: str) -> Hull:
    """The largest rock somewhere else."""
    one = hull(name)
    surface, _, rocks = _wall_and_rocks(one)
    places = one.vertices.copy()
    scale = float(one.grid.maximum[0]) / 50_000
    places[np.unique(one.triangles[surface == rocks[0]])] += np.float32((-4000, 3000, -2500)) * np.float32(scale)
    return rebuilt(one, places, one.triangles)


def added(name: str) -> Hull:
    """A rock more, which may overlap others."""
    one = hull(name)
    scale = float(one.grid.maximum[0]) / 50_000
    places, triangles = rock(np.multiply((-20_000, -20_000, -20_000), scale), 9000 * scale, 5)
    joined = np.concatenate((one.triangles.astype(np.int64), triangles + len(one.vertices)))
    return rebuilt(one, np.concatenate((one.vertices, places)), joined)


def removed(name: str) -> Hull:
    """The largest rock is gone."""
    one = hull(name)
    surface, _, rocks = _wall_and_rocks(one)
    return rebuilt(one, one.vertices, one.triangles[surface != rocks[0]])


def tunnelled(name: str) -> Hull:
    """A tunnel of three sides through the largest rock, from one of its triangles to one across from it."""
    one = hull(name)
    surface, _, rocks = _wall_and_rocks(one)
    own = np.flatnonzero(surface == rocks[0])
    places = one.vertices.astype(np.float64)
    middles = places[one.triangles[own]].mean(axis=1)
    away = middles - middles.mean(axis=0)
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    sides = places[one.triangles[own]]
    area = np.linalg.norm(np.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0]), axis=1)
    entry = int(area.argmax())
    out = int((away @ away[entry]).argmin())
    here, there = one.triangles[own[entry]].astype(np.int64), one.triangles[own[out]].astype(np.int64)[::-1]
    turns = [np.roll(there, turn) for turn in range(3)]
    there = min(turns, key=lambda turn: np.linalg.norm(places[turn] - places[here], axis=1).sum())
    tube = []
    for a, b, c, d in zip(here, np.roll(here, -1), there, np.roll(there, -1), strict=True):
        tube += [(a, b, d), (a, d, c)]
    kept = np.delete(one.triangles.astype(np.int64), own[[entry, out]], axis=0)
    return rebuilt(one, one.vertices, np.concatenate((kept, np.array(tube))))


def grown(name: str) -> Hull:
    """The wall moves outward, and the grid grows with it by a cell on each side."""
    one = hull(name)
    _, wall, _ = _wall_and_rocks(one)
    grid = one.grid
    places = one.vertices.copy()
    places[wall] += np.sign(places[wall]) * grid.cell_size
    dimensions = tuple(count + 2 for count in grid.dimensions)
    larger = Grid(grid.minimum - grid.cell_size, grid.maximum + grid.cell_size, grid.cell_size, dimensions)
    return build_hull(places, one.triangles, larger, bool(one.outside_solid))


EDITS: dict[str, Callable[[str], Hull]] = {
    "moved": moved,
    "added": added,
    "removed": removed,
    "tunnelled": tunnelled,
    "grown": grown,
}


@functools.cache
def edited(edit: str, name: str = ROCKS) -> Hull:
    return EDITS[edit](name)
