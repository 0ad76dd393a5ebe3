"""Free space as tetrahedra: it adds up to what the hull leaves free, and none of it lies in rock."""

from __future__ import annotations

import numpy as np
import pytest

from core.formats import mcol
from core.geometry.fill import layers_at
from core.geometry.tetrahedra import passes_through
from core.navigation.build import inner_points
from core.navigation.free_space import FreeSpace, Space, divide
from tests.oracle import game_queries as game
from tests.support.hulls import HULLS, box, rock

NOTHING = np.zeros((0, 3), np.float32)
SIZE = 50_000.0
WALL = box((-SIZE,) * 3, (SIZE,) * 3, inward=True)


def joined(*meshes):
    """Meshes as one."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    triangles = [triangles + start for (_, triangles), start in zip(meshes, starts, strict=False)]
    return np.concatenate([vertices for vertices, _ in meshes]), np.concatenate(triangles)


def moved(mesh, by):
    vertices, triangles = mesh
    return (vertices.astype(np.float64) + by).astype(np.float32), triangles


def space(mesh, outside_solid: bool) -> Space:
    return Space(*mesh, np.full(3, -SIZE, np.float32), np.full(3, SIZE, np.float32), outside_solid)


def volumes(free: FreeSpace) -> np.ndarray:
    points = free.vertices.astype(np.float64)[free.tetrahedra]
    product = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    return np.einsum("ni,ni->n", product, points[:, 3] - points[:, 0]) / 6


def enclosed(vertices: np.ndarray, triangles: np.ndarray) -> float:
    points = vertices.astype(np.float64)[triangles]
    return float(np.einsum("ni,ni->n", points[:, 0], np.cross(points[:, 1], points[:, 2])).sum() / 6)


def free_volume(one: Space) -> float:
    """What surfaces that don't overlap leave free, by the volume that they enclose."""
    inside = enclosed(one.vertices, one.triangles)
    whole = np.prod(one.maximum.astype(np.float64) - one.minimum)
    return -inside if one.outside_solid else float(whole - inside)


def judge(one: Space, free: FreeSpace) -> None:
    """Every tetrahedron is positive and free, each inner face has two, no two vertices are one place."""
    assert volumes(free).min() > 0
    centres = free.vertices.astype(np.float64)[free.tetrahedra].mean(axis=1)
    assert not game.solid(one.vertices, one.triangles, one.outside_solid, centres).any()
    sides = np.sort(free.tetrahedra[:, [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]], axis=2).reshape(-1, 3)
    assert np.unique(sides, axis=0, return_counts=True)[1].max() <= 2
    assert len(np.unique(free.vertices, axis=0)) == len(free.vertices)


def touching() -> tuple[np.ndarray, np.ndarray]:
    """Two rocks that share one place."""
    one, other = rock((0, 0, 0), 8000, 5), rock((0, 0, 0), 8000, 5, seed=2)
    top, bottom = one[0][:, 2].argmax(), other[0][:, 2].argmin()
    vertices, triangles = moved(other, one[0][top].astype(np.float64) - other[0][bottom])
    vertices[bottom] = one[0][top]
    return joined(one, (vertices, triangles))


def a_thousandth_apart() -> tuple[np.ndarray, np.ndarray]:
    """A rock whose lowest corner stands a thousandth of a unit over the middle of another one's face."""
    plate, other = box((-4000, -4000, -100), (4000, 4000, 0)), rock((0, 0, 0), 8000, 5)
    lowest = other[0][other[0][:, 2].argmin()].astype(np.float64)
    return joined(plate, moved(other, np.array([700.0, 300.0, 1e-3]) - lowest))


CASES = {
    "touching, wall": (joined(WALL, touching()), True),
    "touching, no wall": (touching(), False),
    "a thousandth apart": (joined(WALL, a_thousandth_apart()), True),
    "a thousandth apart, no wall": (a_thousandth_apart(), False),
    "cavern": (joined(moved(rock((0, 0, 0), 30_000, 6), 0), rock((0, 0, 0), 5000, 4)), True),
    "wall and nothing": (WALL, True),
    "nothing at all": ((np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int64)), False),
    "wall that isn't the box": (box((-20_000,) * 3, (30_000,) * 3, inward=True), True),
}
CASES["cavern"][0][1][: len(rock((0, 0, 0), 30_000, 6)[1])] = rock((0, 0, 0), 30_000, 6)[1][:, ::-1]


@pytest.mark.parametrize("name", CASES)
def test_volumes_add_up_to_the_free_volume(name: str) -> None:
    mesh, outside_solid = CASES[name]
    one = space(mesh, outside_solid)
    free = divide(one, NOTHING)
    judge(one, free)
    assert volumes(free).sum() == pytest.approx(free_volume(one), rel=1e-6)


SOME = [path for path in HULLS if path.stem[:3] in ("S01", "S05", "S13") or path.stem.startswith("S14_p2")]


@pytest.mark.parametrize("path", SOME, ids=lambda path: path.stem)
def test_volumes_of_sample_hulls_add_up_with_inner_points(path) -> None:
    hull = mcol.decode(path.read_bytes())
    one = Space(hull.vertices, hull.triangles, hull.grid.minimum, hull.grid.maximum, bool(hull.outside_solid))
    inner = inner_points(one)
    assert not game.solid(one.vertices, one.triangles, one.outside_solid, inner).any()
    free = divide(one, inner)
    judge(one, free)
    assert volumes(free).sum() == pytest.approx(free_volume(one), rel=1e-6)
    assert free.left_out == 0


@pytest.mark.parametrize("outside_solid", [True, False])
def test_rocks_that_overlap_leave_out_a_little_and_take_nothing_of_rock(outside_solid: bool) -> None:
    rocks = joined(rock((0, 0, 0), 8000, 5), rock((6000, 3000, 1000), 8000, 5, seed=2))
    one = space(joined(WALL, rocks) if outside_solid else rocks, outside_solid)
    free = divide(one, NOTHING)
    judge(one, free)
    assert free.left_out
    spots = np.random.default_rng(1).uniform(-SIZE, SIZE, (40_000, 3))
    share = 1 - game.solid(one.vertices, one.triangles, outside_solid, spots).mean()
    assert volumes(free).sum() == pytest.approx(share * (2 * SIZE) ** 3, rel=2e-3)


def test_what_pokes_out_of_the_box_is_cut_off_by_it() -> None:
    one = space(rock((SIZE - 2000, 0, 0), 8000, 5), False)
    free = divide(one, NOTHING)
    judge(one, free)
    assert np.abs(free.vertices).max() <= SIZE


def test_winding_agrees_with_the_oracle() -> None:
    mesh = joined(WALL, rock((0, 0, 0), 8000, 5), rock((6000, 3000, 1000), 8000, 5, seed=2))
    spots = np.random.default_rng(5).uniform(-1.2 * SIZE, 1.2 * SIZE, (500, 3))
    spots[:200] = np.random.default_rng(6).uniform(-9000, 14_000, (200, 3))
    solid = layers_at(spots, *mesh) + 1 >= 1
    assert np.array_equal(solid, game.solid(*mesh, True, spots))


def test_touching_a_tetrahedron_is_not_passing_through_it() -> None:
    shape = np.array([[(0, 0, 0), (4, 0, 0), (0, 4, 0), (0, 0, 4)]], float)
    for face, through in (
        ([(0, 0, 0), (4, 0, 0), (0, 4, 0)], False),  # one of its own
        ([(0, 0, 0), (-4, 0, 0), (0, -4, 0)], False),  # shares a corner
        ([(0, 0, 0), (4, 0, 0), (2, -3, -3)], False),  # shares an edge
        ([(1, 1, -1), (1, 1, 9), (1, 2, 9)], True),
        ([(-9, -9, 1), (9, -9, 1), (0, 9, 1)], True),
        ([(0.5, 0.5, 0.5), (0.6, 0.5, 0.5), (0.5, 0.6, 0.5)], True),  # inside
        ([(-9, -9, 5), (9, -9, 5), (0, 9, 5)], False),
    ):
        assert passes_through(np.array([face], float), shape)[0] == through, face
