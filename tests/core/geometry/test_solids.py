"""Plain shapes: exact counts, closed surfaces, and which way they face."""

import numpy as np
import pytest

from core.geometry.edges import edge_census
from core.geometry.solids import ball, inward_box, shared


def volume(vertices, triangles) -> float:
    a, b, c = np.moveaxis(vertices[triangles].astype(np.float64), 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6


def test_a_wall_faces_inward():
    vertices, triangles = inward_box(np.float32([-1, -2, -3]), np.float32([1, 2, 3]))
    assert volume(vertices, triangles) == pytest.approx(-48)
    assert (edge_census(triangles)[1] == 2).all()


@pytest.mark.parametrize("size", [5, 6, 7, 12, 58, 500])
def test_a_ball_has_exactly_so_many_vertices_and_is_closed(size):
    vertices, triangles = ball(size)
    assert (len(vertices), len(triangles)) == (size, 2 * size - 4)
    assert np.allclose(np.linalg.norm(vertices, axis=1), 1) and len(np.unique(triangles)) == size
    assert (edge_census(triangles)[1] == 2).all() and 0 < volume(vertices, triangles) < 4 * np.pi / 3


@pytest.mark.parametrize("rim", [3, 50])
def test_a_bowl_has_an_opening_of_so_many_edges(rim):
    _, triangles = ball(300, rim)
    counts = edge_census(triangles)[1]
    assert (counts == 1).sum() == rim and counts.max() == 2


def test_shares_add_up():
    parts = shared(1000, np.array([1, 2, 3.5]), 10)
    assert sum(parts) == 1000 and min(parts) >= 10 and parts == sorted(parts)
