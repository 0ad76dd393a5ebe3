"""Triangles cut to a box, against areas that are known and points that are drawn at random."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.geometry.clip import clip, fans, outlines

LOW, HIGH = np.zeros(3), np.ones(3)


def area(triangles: np.ndarray) -> float:
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return float(np.linalg.norm(normals, axis=1).sum()) / 2


def test_a_triangle_inside_stays_as_it_is() -> None:
    triangle = np.array([[[0.1, 0.2, 0.3], [0.8, 0.2, 0.3], [0.1, 0.9, 0.4]]])
    points, numbers = clip(triangle, LOW, HIGH)
    assert np.array_equal(points, triangle[0]) and numbers.tolist() == [0, 0, 0]
    assert fans(numbers).tolist() == [[0, 1, 2]] and outlines(numbers).tolist() == [[0, 1], [1, 2], [2, 0]]


def test_a_wall_leaves_the_square_of_the_cell() -> None:
    wall = np.array([[[-1e5, -1e5, 0.5], [1e5, -1e5, 0.5], [0, 1e5, 0.5]]])
    points, numbers = clip(wall, LOW, HIGH)
    assert sorted(map(tuple, points.round(9).tolist())) == [(0, 0, 0.5), (0, 1, 0.5), (1, 0, 0.5), (1, 1, 0.5)]
    assert area(points[fans(numbers)]) == pytest.approx(1)


def test_what_lies_outside_leaves_nothing() -> None:
    points, numbers = clip(np.array([[[2, 0, 0], [3, 0, 0], [2, 1, 0.0]]]), LOW, HIGH)
    assert points.shape == (0, 3) and len(numbers) == 0
    assert fans(numbers).shape == (0, 3) and outlines(numbers).shape == (0, 2)
    assert clip(np.zeros((0, 3, 3)), LOW, HIGH)[0].shape == (0, 3)


@given(st.integers(0, 2**32 - 1))
def test_a_point_of_a_triangle_is_in_its_part_exactly_if_it_is_in_the_box(seed: int) -> None:
    chance = np.random.default_rng(seed)
    triangles = chance.uniform(-2, 3, (20, 3, 3))
    points, numbers = clip(triangles, LOW, HIGH)
    assert (points >= LOW).all() and (points <= HIGH).all() and (np.diff(numbers) >= 0).all()
    parts, owner = points[fans(numbers)], numbers[fans(numbers)[:, 0]]
    for number, triangle in enumerate(triangles):
        weights = chance.dirichlet(np.ones(3), 200)
        inside = ((weights @ triangle >= LOW) & (weights @ triangle <= HIGH)).all(axis=1).mean()
        assert area(parts[owner == number]) / area(triangle[None]) == pytest.approx(inside, abs=0.15)
        normal = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
        for part in parts[owner == number]:
            assert np.cross(part[1] - part[0], part[2] - part[0]) @ normal >= -1e-9, "the winding stays"
