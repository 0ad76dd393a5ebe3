"""Vectors and boxes of many points, against numpy's own slower ways."""

import numpy as np

from core.geometry import vectors

NUMBERS = np.random.default_rng(1)
POINTS = NUMBERS.normal(size=(40, 3)).astype(np.float32)


def test_portions_cover_everything_once():
    for count in (0, 1, vectors.TRIANGLES_AT_ONCE, vectors.TRIANGLES_AT_ONCE + 1, 3 * vectors.TRIANGLES_AT_ONCE - 1):
        rows = np.arange(count)
        assert np.array_equal(np.concatenate([rows[:0], *(rows[part] for part in vectors.portions(count))]), rows)


def test_columns_and_picked_rows_are_the_same_numbers():
    assert np.array_equal(vectors.columns(POINTS), POINTS.T.astype(np.float64))
    rows = np.array([3, 3, 0, 39])
    assert np.array_equal(vectors.pick(POINTS, rows), POINTS[rows])


def test_bounds_are_the_extremes_of_the_corners():
    triangles = NUMBERS.integers(0, 40, (25, 3))
    low, high = vectors.bounds(POINTS[triangles])
    assert np.array_equal(low, POINTS[triangles].min(axis=1)) and np.array_equal(high, POINTS[triangles].max(axis=1))
    least, greatest = vectors.extremes(POINTS.T, POINTS.T, triangles)
    assert np.array_equal(least, low.T) and np.array_equal(greatest, high.T)


def test_products_are_those_of_numpy():
    u, v = NUMBERS.normal(size=(2, 30, 3))
    assert np.allclose(vectors.cross(u, v), np.cross(u, v), rtol=1e-14, atol=1e-14)
    assert np.allclose(vectors.squared(u), (u * u).sum(axis=1))
