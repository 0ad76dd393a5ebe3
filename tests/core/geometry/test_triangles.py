"""Triangles that are repeated, doubled or flat, and points that nearly meet."""

import numpy as np

from core.geometry import triangles as three
from tests.support.hulls import box

POINTS = np.float32([(0, 0, 0), (1, 0, 0), (0, 1, 0), (2, 0, 0), (0, 0, 5)])


def test_a_vertex_used_twice_is_repeated():
    assert three.repeated(np.array([(0, 1, 2), (0, 0, 1), (1, 0, 1), (2, 1, 1)])).tolist() == [False, True, True, True]


def test_the_same_corners_either_way_around_are_doubled():
    rows = np.array([(0, 1, 2), (2, 1, 0), (1, 2, 3), (1, 2, 0)])
    assert three.doubled(rows).tolist() == [True, True, False, True]


def test_three_points_on_a_line_have_no_area():
    assert three.flat(POINTS, np.array([(0, 1, 2), (0, 1, 3), (0, 0, 4), (1, 2, 4)])).tolist() == [
        *(False, True, True, False)
    ]


def test_corners_are_the_vertices_coordinates():
    rows = np.array([(4, 2, 0), (1, 1, 3)])
    assert np.array_equal(three.corners(POINTS, rows), POINTS[rows].astype(np.float64))


def test_triangles_with_own_vertices_are_the_same_shapes():
    vertices, rows = box((0, 0, 0), (1, 2, 3))
    some, own = three.with_own_vertices(vertices, rows[3:5])
    assert len(some) == len(np.unique(rows[3:5])) and np.array_equal(some[own], vertices[rows[3:5]])


def test_close_pairs_are_all_pairs_within_the_distance():
    points = np.random.default_rng(3).uniform(size=(80, 3))
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    expected = {(i, j) for i in range(80) for j in range(i + 1, 80) if apart[i, j] <= 0.15}
    assert set(map(tuple, three.close_pairs(points, 0.15).tolist())) == expected and expected
