"""Whether triangles touch cells, against an oracle that counts in whole numbers, and how far they reach in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.geometry import exact
from core.geometry.grid import Grid
from core.geometry.overlap import overlaps
from tests.oracle.exact import cell_lists
from tests.support.hulls import cubic_grid

GRID = Grid(np.float32([-3, -3, -3]), np.float32([3, 3, 3]), np.float32([1, 1, 1]), (6, 6, 6))


def all_pairs(count, grid=GRID):
    cells = np.arange(grid.cell_count)
    return np.repeat(np.arange(count), len(cells)), np.tile(cells, count)


def lists_of(grid, vertices, triangles):
    rows, cells = all_pairs(len(triangles), grid)
    touches = exact.touching(grid, vertices, triangles, rows, cells)
    return [rows[touches & (cells == cell)].tolist() for cell in range(grid.cell_count)]


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), step=st.sampled_from([1.0, 0.5, 2.0**-10, 2.0**-22]))
def test_touching_is_what_whole_numbers_say(seed, step):
    """Corners on the planes between cells and the smallest steps beside them, where float64 alone can't tell."""
    random = np.random.default_rng(seed)
    corners = random.integers(-4, 5, (12, 3)) + step * random.integers(-1, 2, (12, 3))
    vertices, triangles = corners.astype(np.float32), np.arange(12).reshape(4, 3)
    assert lists_of(GRID, vertices, triangles) == cell_lists(vertices, triangles, [-3] * 3, [1] * 3, (6, 6, 6))


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_touching_with_cells_whose_planes_float32_cannot_hold(seed):
    random = np.random.default_rng(seed)
    grid = Grid(np.float32([-0.1, 1e5, 0]), np.float32([0.5, 2e5, 1]), np.float32([0.2, 33333.3, 1 / 3]), (3, 3, 3))
    spans = grid.maximum - grid.minimum
    vertices = (grid.minimum + random.integers(0, 4, (9, 3)) * grid.cell_size).astype(np.float32)
    vertices += (random.integers(-1, 2, (9, 3)) * np.spacing(vertices) * (random.random((9, 3)) < 0.5)).astype(
        np.float32
    )
    assert (vertices - grid.minimum <= 2 * spans).all()
    triangles = np.arange(9).reshape(3, 3)
    truth = cell_lists(vertices, triangles, grid.minimum.tolist(), grid.cell_size.tolist(), grid.dimensions)
    assert lists_of(grid, vertices, triangles) == truth


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 1e25])
def test_no_size_is_too_small_or_large(scale):
    grid = Grid(*(np.float32([end * scale] * 3) for end in (-3, 3, 1)), (6, 6, 6))
    vertices = np.float32([[0, 0, 0], [2, 0, 0], [0, 2, 0]]) * np.float32(scale)
    triangles = np.array([[0, 1, 2]])
    truth = cell_lists(vertices, triangles, grid.minimum.tolist(), grid.cell_size.tolist(), grid.dimensions)
    assert lists_of(grid, vertices, triangles) == truth


def test_what_the_game_rounds_to_a_cell_need_not_touch_it():
    grid = cubic_grid(250_000, 10)
    beyond = np.float32(50_000) - np.spacing(np.float32(50_000))
    vertices = np.float32([[1000, 1000, 1000], [beyond, 1000, 1000], [1000, beyond, 9000]])
    triangles = np.array([[0, 1, 2]])
    rows, cells = overlaps(grid, vertices, triangles)
    touches = exact.touching(grid, vertices, triangles, rows, cells)
    assert len(cells) > 1 and touches.sum() == 1


@pytest.mark.parametrize(
    ("corners", "depth"),
    [
        ([[-9, -9, 0.9], [9, -9, 0.9], [0, 9, 0.9]], 0.1),
        ([[-9, -9, 1], [9, -9, 1], [0, 9, 1]], 0),
        ([[0.25, 0.5, 0.5], [0.75, 0.5, 0.5], [0.5, 0.5, 0.75]], 0.5),
        ([[0.5, 0.5, 0.75], [5, 5, 0.75], [5, 4, 0.75]], 0.25),
        ([[1.5, 0.5, 0], [0.5, 1.5, 0], [1, 1, 3]], 0),
        ([[1.25, 0.5, 0.5], [0.5, 1.25, 0.5], [1, 1, 3]], 0.25 * np.sqrt(0.5)),
    ],
)
def test_the_depth_is_the_shortest_way_out_of_the_cell(corners, depth):
    number = GRID.number(np.array([[3, 3, 3]]))  # from 0 to 1
    found = exact.depths(GRID, np.float32(corners), np.array([[0, 1, 2]]), np.zeros(1, np.int64), number)
    assert found[0] == pytest.approx(depth, abs=1e-6)


def test_a_cell_at_the_border_has_no_end_there():
    corners = np.float32([[-9, -9, 3], [9, -9, 3], [0, 9, 3]])
    number = GRID.number(np.array([[3, 3, 5]]))
    rows = np.zeros(1, np.int64)
    assert exact.touching(GRID, corners + np.float32([0, 0, 7]), np.array([[0, 1, 2]]), rows, number).all()
    assert exact.depths(GRID, corners, np.array([[0, 1, 2]]), rows, number)[0] == pytest.approx(1)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_clipped_triangle_has_the_points_that_lie_in_the_box(seed):
    random = np.random.default_rng(seed)
    points = random.uniform(-2, 2, (20, 3, 3))
    low, high = np.full((20, 3), -1.0), np.full((20, 3), 1.0)
    polygons, counts = exact.clip(points, low, high)
    for triangle, polygon, count in zip(points, polygons, counts, strict=True):
        weights = random.dirichlet(np.ones(3), 300)
        inside = (weights @ triangle)[(np.abs(weights @ triangle) <= 1).all(axis=1)]
        assert count > 0 or not len(inside)
        if not count:
            continue
        corners = polygon[:count]
        assert (np.abs(corners) <= 1 + 1e-12).all()
        directions = random.normal(size=(10, 3))
        if len(inside):
            assert ((inside @ directions.T).max(axis=0) <= (corners @ directions.T).max(axis=0) + 1e-9).all()
        normal = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
        assert np.abs((corners - triangle[0]) @ normal).max() < 1e-9


def test_a_triangle_in_the_plane_between_two_cells_is_covered_by_either():
    vertices, triangles = np.float32([[0.2, 0.2, 0], [0.8, 0.2, 0], [0.2, 0.8, 0]]), np.array([[0, 1, 2]])
    below, above, aside = GRID.number(np.array([[3, 3, 2], [3, 3, 3], [4, 3, 3]]))
    row = np.zeros(1, np.int64)
    for cell, other in ((below, above), (above, below)):
        assert exact.covered(GRID, vertices, triangles, row, np.array([cell]), np.array([other])).all()
        assert not exact.covered(GRID, vertices, triangles, row, np.array([cell]), np.array([aside])).any()
