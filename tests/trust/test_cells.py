"""Cell lists against an exact test, fill states against winding numbers, and the game's own queries on both."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.formats import mcol
from core.geometry.grid import Grid
from core.geometry.overlap import ROUNDING, overlaps
from tests.oracle import exact
from tests.oracle import game_queries as game
from tests.oracle.readers import read_col
from tests.support.hulls import HULLS
from tests.support.tally import cases
from tests.trust.hard_shapes import SCALES, TRIANGLE_KINDS, asteroids, triangles_of

GRIDS = (
    # from -3 to 3, in cells of: 1 along each axis, others that float32 can't hold, a flat one
    ((6, 6, 6), (1.0, 1.0, 1.0)),
    ((8, 5, 4), (0.75, 1.2, 1.5)),
    ((7, 3, 9), (6 / 7, 2.0, 2 / 3)),
    ((1, 6, 2), (6.0, 1.0, 3.0)),
)


def grid_of(dimensions: tuple[int, int, int], size: tuple[float, float, float], scale: float, shift: float) -> Grid:
    low, high = (np.full(3, scale * edge + shift, np.float32) for edge in (-3, 3))
    return Grid(low, high, np.float32(np.array(size) * scale), dimensions)


def exact_pairs(grid: Grid, points: np.ndarray) -> set[tuple[int, int]]:
    """Triangles and the cells whose closed box they touch, without any rounding."""
    lists = exact.cell_lists(
        points.reshape(-1, 3), np.arange(3 * len(points)).reshape(-1, 3), grid.minimum, grid.cell_size, grid.dimensions
    )
    return {(triangle, cell) for cell, listed in enumerate(lists) for triangle in listed}


@settings(max_examples=260)
@given(
    kind=st.sampled_from(TRIANGLE_KINDS),
    shape=st.sampled_from(GRIDS),
    scale=SCALES,
    shift=st.sampled_from([0.0, 0.37]),
    seed=st.integers(0, 2**32 - 1),
)
def test_no_cell_misses_a_triangle_that_touches_it(kind, shape, scale, shift, seed):
    grid = grid_of(*shape, scale, shift * scale)
    points = triangles_of(kind, np.random.default_rng(seed), 6, scale, shift * scale)
    triangles, cells = overlaps(grid, points.reshape(-1, 3), np.arange(3 * len(points)).reshape(-1, 3))
    found, truth = set(zip(triangles.tolist(), cells.tolist(), strict=True)), exact_pairs(grid, points)
    with cases("cell lists", len(points)):
        assert not truth - found
        # What is listed beyond that is as near to the cell as the game's own rounding, or outside the grid.
        margin = 4 * ROUNDING * np.maximum(grid.maximum.astype(float) - grid.minimum, grid.cell_size)
        for triangle, cell in found - truth:
            low, high = exact.cell_box(grid.minimum, grid.cell_size, grid.position([cell])[0].tolist())
            low, high = ([float(v) for v in corner] for corner in (low, high))
            inside = (points[triangle] >= grid.minimum).all() and (points[triangle] <= grid.maximum).all()
            assert not inside or exact.overlaps(points[triangle], low - margin, high + margin), (triangle, cell)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), wall=st.booleans(), cells=st.sampled_from([3, 7, 12, 16]), scale=SCALES)
def test_fill_states_are_right_at_any_point_of_a_cell_without_triangles(seed, wall, cells, scale):
    hull = asteroids(seed, cells, scale, wall)
    empty = np.setdiff1d(np.arange(hull.grid.cell_count), hull.occupied)
    anywhere = np.random.default_rng(seed).uniform(0, 1, (len(empty), 3))
    points = hull.grid.lower_corner(hull.grid.position(empty) + anywhere)
    with cases("fill states", len(empty)):
        rock = game.solid(hull.vertices, hull.triangles, hull.outside_solid, points)
        assert np.array_equal(hull.states[empty] == mcol.SOLID, rock)
        assert (hull.states[hull.occupied] == mcol.LISTED).all()


# --- the game's queries ---------------------------------------------------------------------------

FLIGHTS = ("inside", "from outside", "through all", "in a plane between cells", "along a line between cells", "short")


def flights(kind: str, grid: Grid, random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts and movements, (count, 3) each."""
    low, high = grid.minimum.astype(float), grid.maximum.astype(float)
    starts, ends = random.uniform(low, high, (2, count, 3))
    if kind == "from outside":
        starts += np.sign(random.normal(size=(count, 3))) * (random.random((count, 3)) < 0.5) * (high - low)
    elif kind == "through all":
        starts, ends = starts * 3, -starts * 3 + random.normal(size=(count, 3)) * (high - low) * 0.1
    elif kind == "short":
        ends = starts + random.normal(size=(count, 3)) * grid.cell_size * 0.3
    elif kind != "inside":
        inner = np.array(grid.dimensions) - 1
        plane = low + random.integers(1, inner + 1, (count, 3)) * grid.cell_size.astype(float)
        fixed = random.permuted(np.tile([True, kind == "along a line between cells", False], (count, 1)), axis=1)
        starts, ends = np.where(fixed, plane, starts), np.where(fixed, plane, ends)
    return starts, ends - starts


def same_times(found: np.ndarray, truth: np.ndarray) -> None:
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(truth))
    both = np.isfinite(truth)
    np.testing.assert_allclose(found[both], truth[both], atol=1e-7)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1), wall=st.booleans(), cells=st.sampled_from([3, 5, 10]), kind=st.sampled_from(FLIGHTS)
)
def test_the_game_s_rays_and_ships_hit_what_they_would_without_a_grid(seed, wall, cells, kind):
    hull = asteroids(seed, cells, 1e3, wall)
    col, random = read_col(mcol.encode(hull)), np.random.default_rng(seed)
    starts, movements = flights(kind, hull.grid, random, 100)
    with cases("rays of the game", len(starts)):
        same_times(game.rays(col, starts, movements), game.first_hits(col.vertices, col.triangles, starts, movements))
    starts, movements = starts[:25], movements[:25]
    radius = float(random.uniform(0.01, 1)) * 1e3
    with cases("ships of the game", len(starts)):
        same_times(
            game.sweeps(col, starts, movements, radius),
            game.first_sweep_hits(col.vertices, col.triangles, starts, movements, radius),
        )


@pytest.mark.parametrize("path", [path for path in HULLS if path.name != "S13_missing.col"], ids=lambda path: path.name)
def test_the_game_s_queries_in_the_sample_files(path):
    col = read_col(path.read_bytes(), strict=False)
    grid, random = mcol.decode(path.read_bytes()).grid, np.random.default_rng(1)
    for kind in FLIGHTS:
        starts, movements = flights(kind, grid, random, 60)
        with cases("rays of the game", len(starts)):
            truth = game.first_hits(col.vertices, col.triangles, starts, movements)
            same_times(game.rays(col, starts, movements), truth)
    points = random.uniform(grid.minimum, grid.maximum, (100, 3))
    with cases("points inside and outside rock", len(points)):
        rock = game.solid(col.vertices, col.triangles, col.outside, points)
        assert np.array_equal(game.insides(col, points), rock)
