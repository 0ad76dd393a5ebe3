"""Tetrahedra and the cells and triangles that they overlap, beside many sampled points."""

from __future__ import annotations

import numpy as np
import pytest

from core.geometry.grid import Grid
from core.geometry.tetrahedra import cell_spans, cells_near, cells_within, passes_through, reached, volumes
from tests.support.hulls import cubic_grid

CORNER = np.array([[(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]], float)


def random_shapes(count: int, seed: int, size: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.uniform(-60, 60, (count, 1, 3)) + rng.normal(size=(count, 4, 3)) * size


def points_inside(shape: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Points inside each tetrahedron, (n, count, 3)."""
    weights = np.random.default_rng(seed).dirichlet(np.ones(4), (len(shape), count))
    return np.einsum("npc,nci->npi", weights, shape)


def pairs(portions) -> set[tuple[int, int]]:
    return {pair for rows, cells in portions for pair in zip(rows.tolist(), cells.tolist(), strict=True)}


def test_volumes_have_the_sign_of_the_orientation() -> None:
    assert volumes(CORNER) == pytest.approx([1 / 6])
    assert volumes(CORNER[:, [1, 0, 2, 3]]) == pytest.approx([-1 / 6])


@pytest.mark.parametrize("size", [1.0, 10.0, 60.0])
def test_every_cell_that_holds_a_point_of_a_tetrahedron_is_near_it(size: float) -> None:
    grid, shape = cubic_grid(50, 10), random_shapes(40, 1, size)
    near = pairs(cells_near(grid, shape))
    points = points_inside(shape, 400, 2)
    position = grid.locate(points.reshape(-1, 3))
    inside = ~grid.outside(points.reshape(-1, 3))
    row = np.repeat(np.arange(len(shape)), 400)
    held = set(zip(row[inside].tolist(), grid.number(position[inside]).tolist(), strict=True))
    within = pairs(cells_within(grid, shape))
    assert held <= near and within <= near and len(within) > 0.5 * len(held)
    assert len(near) <= cell_spans(grid, shape).sum()
    # Where many points lie in a cell, it is overlapped for sure.
    many, counts = np.unique(row[inside] * grid.cell_count + grid.number(position[inside]), return_counts=True)
    sure = {(int(key) // grid.cell_count, int(key) % grid.cell_count) for key in many[counts > 20]}
    assert sure <= within


def test_a_tetrahedron_that_touches_a_cell_isnt_within_it_for_sure() -> None:
    grid = Grid(np.zeros(3, np.float32), np.full(3, 2, np.float32), np.ones(3, np.float32), (2, 2, 2))
    assert pairs(cells_within(grid, CORNER)) == {(0, 0)}
    assert pairs(cells_near(grid, CORNER)) >= {(0, 0), (0, 1), (0, 2), (0, 4)}
    slanted = np.array([[(1.2, 0.0, 0.5), (0.0, 1.2, 0.5), (-0.5, -0.5, 0.4), (0.1, 0.1, 0.6)]])
    held = {pair[1] for pair in pairs(cells_within(grid, slanted))}
    assert held == {0, 1, 2}  # its edge cuts off the corner at (1, 1), so cell 3 isn't overlapped


@pytest.mark.parametrize("seed", range(5))
def test_a_triangle_reaches_into_a_tetrahedron_where_a_point_of_it_lies_inside(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape, faces = rng.normal(size=(60, 4, 3)), rng.normal(size=(60, 3, 3))
    weights = rng.dirichlet(np.ones(3), 3000)
    points = np.einsum("pc,nci->npi", weights, faces)
    a = shape[:, :1]
    inverse = np.linalg.inv(np.swapaxes(shape[:, 1:] - a, 1, 2))
    parts = np.einsum("nij,npj->npi", inverse, points - a)
    depth = np.minimum(parts.min(axis=2), 1 - parts.sum(axis=2)).max(axis=1)
    found = passes_through(faces, shape)
    assert found[depth > 0].all() and not found[depth < -0.3].any()
    assert (reached(shape, faces[:0]) == 0).all()
    every = np.array([passes_through(faces, np.repeat(one[None], len(faces), 0)).any() for one in shape])
    assert (reached(shape, faces) == every).all()


def test_how_deep_a_triangle_reaches_decides() -> None:
    face = np.array([[(-5, -5, 0.1), (5, -5, 0.1), (0, 5, 0.1)]], float)
    assert passes_through(face, CORNER).all() and passes_through(face, CORNER, 0.05).all()
    assert not passes_through(face, CORNER, 0.2).any()
