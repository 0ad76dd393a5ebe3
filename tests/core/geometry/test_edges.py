"""Edges: which there are, and how many triangles meet at each."""

from collections import Counter

import numpy as np

from core.geometry.edges import edge_census, undirected_edges
from tests.support.hulls import box


def counted(triangles) -> dict:
    return dict(Counter(tuple(sorted(side)) for a, b, c in triangles.tolist() for side in ((a, b), (b, c), (c, a))))


def test_a_closed_surface_has_two_triangles_at_each_edge():
    _, triangles = box((0, 0, 0), (1, 1, 1))
    edges, counts = edge_census(triangles)
    assert len(edges) == 18 and (counts == 2).all() and (edges[:, 0] < edges[:, 1]).all()


def test_edges_and_counts_are_those_counted_one_by_one():
    triangles = np.random.default_rng(2).integers(0, 12, (60, 3))
    edges, counts = edge_census(triangles)
    assert dict(zip(map(tuple, edges.tolist()), counts.tolist(), strict=True)) == counted(triangles)


def test_pairs_are_sides_of_one_edge():
    triangles = np.array([(0, 1, 2), (1, 0, 3), (0, 1, 4), (5, 6, 7)])
    sides = np.sort(np.stack((triangles, np.roll(triangles, -1, axis=1)), axis=2).reshape(-1, 2), axis=1)
    left, right = undirected_edges(triangles).pairs()
    assert len(left) == 2 and np.array_equal(sides[left], sides[right]) and (left != right).all()


def test_triangles_at_edges():
    triangles = np.array([(0, 1, 2), (1, 0, 3), (0, 1, 4), (5, 6, 7)])
    edges = undirected_edges(triangles)
    assert edges.triangles_at(edges.counts > 2).tolist() == [True, True, True, False]
    assert not edges.triangles_at(edges.counts > 3).any()
