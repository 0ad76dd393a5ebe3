"""Large triangles are looked for in blocks of cells: the same answer, in time and memory that grow with it."""

import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.geometry import overlap
from core.geometry.grid import LARGEST_DIMENSION, Grid
from tests.support.hulls import cubic_grid
from tests.trust.hard_shapes import SCALES, TRIANGLE_KINDS, triangles_of

LARGEST = cubic_grid(100, LARGEST_DIMENSION)
SECONDS = 5
BEYOND = 60 << 20
"""Bytes beyond the answer."""


def both_ways(monkeypatch, grid, points, wanted=None):
    """The pairs found in blocks, and one by one."""
    triangles = np.arange(3 * len(points)).reshape(-1, 3)
    found = []
    for large in (0, 1 << 60):
        monkeypatch.setattr(overlap, "LARGE", large)
        found.append(overlap.overlaps(grid, points.reshape(-1, 3), triangles, wanted))
    return found


@settings(max_examples=300)
@given(
    kind=st.sampled_from(TRIANGLE_KINDS),
    dimensions=st.tuples(*[st.integers(1, 40)] * 3),
    scale=SCALES,
    shift=st.sampled_from([0.0, 0.37, 100.0]),
    larger=st.sampled_from([1, 1, 1e3, 1e12]),
    share=st.sampled_from([None, 0.0, 1e-3, 0.3, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_blocks_find_what_looking_at_every_cell_finds(monkeypatch, kind, dimensions, scale, shift, larger, share, seed):
    random = np.random.default_rng(seed)
    low, high = (np.full(3, (edge + shift) * scale, np.float32) for edge in (-3, 3))
    grid = Grid(low, high, np.float32(6 * scale / np.array(dimensions)), dimensions)
    points = np.float32(larger) * triangles_of(kind, random, 4, scale, shift * scale)
    wanted = None if share is None else random.random(grid.cell_count) < share
    one, other = both_ways(monkeypatch, grid, points, wanted)
    assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


def test_small_and_large_triangles_come_in_their_order(monkeypatch):
    random = np.random.default_rng(5)
    points = random.uniform(-90, 90, (40, 1, 3)) + random.normal(0, 1, (40, 3, 3)) * random.choice([1, 60], (40, 1, 1))
    grid = cubic_grid(100, 30)
    mixed = overlap.overlaps(grid, np.float32(points).reshape(-1, 3), np.arange(120).reshape(-1, 3))
    one, other = both_ways(monkeypatch, grid, np.float32(points))
    for pairs in (mixed, other):
        assert np.array_equal(one[0], pairs[0]) and np.array_equal(one[1], pairs[1])
    keys = mixed[0] * grid.cell_count + mixed[1]
    assert (np.diff(keys) > 0).all()


def corner_cells() -> np.ndarray:
    wanted = np.zeros(LARGEST.cell_count, bool)
    wanted[[0, -1]] = True
    return wanted


LARGE_TRIANGLES = {
    "one across the grid": ([(-100, -100, -100), (100, 100, -90), (-90, 100, 100)], None),
    "one far beyond the grid": (1e6 * np.array([(-1, -1, -1), (1, 1, -0.9), (-0.9, 1, 1)]), None),
    "a needle from corner to corner": ([(-100, -100, -100), (100, 100, 100), (0.01, 0, 0)], None),
    "a line from corner to corner": ([(-100, -100, -100), (100, 100, 100), (0, 0, 0)], None),
    "one in a plane between cells": ([(-100, -100, 0), (100, -100, 0), (-100, 100, 0)], None),
    "30": (np.random.default_rng(1).uniform(-100, 100, (90, 3)), None),
    "30 that may touch two opposite corners": (np.random.default_rng(2).uniform(-150, 150, (90, 3)), corner_cells()),
    "one beside all that is wanted": ([(-100, -100, -100), (100, 100, 100), (90, -100, 100)], corner_cells()),
}


@pytest.mark.parametrize("case", LARGE_TRIANGLES)
def test_triangles_across_the_largest_grid_take_seconds_and_bounded_memory(case):
    points, wanted = LARGE_TRIANGLES[case]
    points = np.float32(points)
    began = time.perf_counter()
    triangle, cell = overlap.overlaps(LARGEST, points, np.arange(len(points)).reshape(-1, 3), wanted)
    assert time.perf_counter() - began < SECONDS
    tracemalloc.start()
    triangle, cell = overlap.overlaps(LARGEST, points, np.arange(len(points)).reshape(-1, 3), wanted)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < BEYOND + 4 * (triangle.nbytes + cell.nbytes)
    if wanted is None:
        assert len(triangle) > LARGEST_DIMENSION
    else:
        assert wanted[cell].all()
