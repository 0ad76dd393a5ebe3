"""Faces of any outline are covered by their triangles, once, and nothing else is."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.geometry.triangles import flat
from core.geometry.triangulate import MOST_CORNERS, triangulate


def star(random, count):
    """Around its middle, at any distance."""
    angle = 2 * np.pi * (np.arange(count) + random.uniform(0, 0.8, count)) / count
    radius = random.uniform(0.2, 1, count)
    return np.stack((radius * np.cos(angle), radius * np.sin(angle)), axis=1)


def comb(random, count):
    teeth = max(count // 4, 1)
    low = [(x, 0.0) for x in (0, 2 * teeth)]
    high = [p for t in range(teeth - 1, -1, -1) for p in ((2 * t + 2, 3), (2 * t + 1, 0.5))]
    return np.array([*low, *high, (0, 3)], float)


def spiral(random, count):
    turn = np.linspace(0, 6 * np.pi, max(count // 2, 60))
    inner, outer = (np.stack(((turn + d) * np.cos(turn), (turn + d) * np.sin(turn)), axis=1) for d in (1, 3))
    return np.concatenate((outer, inner[::-1]))


def staircase(random, count):
    steps = max(count // 2, 2)
    stairs = [p for s in range(steps) for p in ((steps - s, s), (steps - s, s + 1))]
    return np.array([(0, 0), *stairs, (0, steps)], float)


def keyhole(random, count):
    """A square with a square hole, joined by a side that is walked twice."""
    outer = [(0, 0), (9, 0), (9, 9), (0, 9)]
    hole = [(3, 3), (3, 6), (6, 6), (6, 3)]
    return np.array([*outer, outer[0], hole[0], *hole[1:], hole[0]], float)


def arrow(random, count):
    return np.array([(0, 0), (10, 0), (10, 10), (5, 2), (0, 10)], float)


SHAPES = {function.__name__: function for function in (star, comb, spiral, staircase, keyhole, arrow)}


def on_sides(outline, random, most):
    """The outline with points on its sides, as many on each as drawn."""
    result = []
    for begin, end in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        result.append(begin)
        if (begin != end).any():
            result += [
                begin + (end - begin) * t for t in np.sort(random.uniform(0.1, 0.9, random.integers(0, most + 1)))
            ]
    return np.array(result)


def placed(outline, random, scale=1.0):
    """Somewhere in space, float32 (n, 3)."""
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    flat_points = np.concatenate((outline, np.zeros((len(outline), 1))), axis=1)
    return np.float32(scale * (flat_points @ turn.T + random.uniform(-3, 3, 3)))


def area(outline):
    x, y = outline.T
    return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)


def areas(points, triangles):
    a, b, c = np.moveaxis(points.astype(float)[triangles], 1, 0)
    return np.cross(b - a, c - a) / 2


def cut(points, outline=None):
    found = triangulate(points, np.arange(len(points)), np.array([len(points)]))
    assert not len(found.crossing)
    return found.triangles


def assert_covers(points, triangles, expected_area):
    """The front of all triangles is on one side, and their areas add up to the outline's: so none overlap."""
    vectors = areas(points, triangles)
    total = vectors.sum(axis=0)
    size = np.linalg.norm(total)
    assert size == pytest.approx(abs(expected_area), rel=1e-4)
    assert np.linalg.norm(vectors, axis=1).sum() == pytest.approx(size, rel=1e-4)


@settings(max_examples=250)
@given(
    shape=st.sampled_from(sorted(SHAPES)),
    count=st.integers(5, 40),
    more=st.integers(0, 3),
    first=st.integers(0, 100),
    backward=st.booleans(),
    scale=st.sampled_from([1e-3, 1.0, 1e4]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_outline_is_covered_once_with_all_its_corners(shape, count, more, first, backward, scale, seed):
    random = np.random.default_rng(seed)
    more = 0 if shape == "keyhole" else more  # both walks along its slit have the same corners
    outline = np.roll(on_sides(SHAPES[shape](random, count), random, more), first, axis=0)
    outline = outline[::-1] if backward else outline
    points = placed(outline, random, scale)
    triangles = cut(points)
    assert len(triangles) == len(outline) - 2
    assert_covers(points, triangles, scale**2 * area(outline))
    assert not flat(points, triangles).any()
    sides = np.sort(np.stack((triangles, np.roll(triangles, -1, axis=1)), axis=2).reshape(-1, 2), axis=1)
    counts = {tuple(side): 0 for side in sides.tolist()}
    for side in sides.tolist():
        counts[tuple(side)] += 1
    around = {tuple(sorted((i, (i + 1) % len(points)))) for i in range(len(points))}
    assert all(count == (1 if side in around else 2) for side, count in counts.items()) and around <= set(counts)


def test_a_notch_gets_no_lid():
    points = np.float32([(0, 0, 0), (100, 0, 0), (100, 100, 0), (50, 20, 0), (0, 100, 0)])
    triangles = cut(points)
    assert_covers(points, triangles, 6000)
    assert {3} <= set(triangles.ravel().tolist())


def test_convex_faces_are_fans_and_stay_in_their_order():
    points = np.float32([(i, i * i, 0) for i in range(6)])
    corners = np.array([0, 1, 2, 0, 1, 2, 3, 4, 5, 1, 2, 3, 4])
    found = triangulate(points, corners, np.array([3, 6, 4]))
    fans = [[0, 1, 2], [0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4]]
    assert found.triangles.tolist() == fans and found.faces.tolist() == [0, 1, 1, 1, 1, 2, 2]
    assert not len(found.bent) and not len(found.crossing)


@pytest.mark.parametrize("first", range(4))
def test_a_dart_of_four_corners_is_cut_along_its_inner_diagonal(first):
    points = np.roll(np.float32([(0, 0, 0), (4, -3, 0), (1, 0, 0), (4, 3, 0)]), first, axis=0)
    triangles = cut(points)
    assert_covers(points, triangles, 3)


def test_corners_at_one_place_count_once():
    points = np.float32([(0, 0, 0), (4, 0, 0), (4, -0.0, 0), (4, 4, 0), (0, 4, 0), (0, 4, 0), (-0.0, 0, 0)])
    found = triangulate(points, np.arange(7), np.array([7]))
    assert_covers(points, found.triangles, 16)
    assert not flat(points, found.triangles).any() and len(found.triangles) == 2
    named_twice = triangulate(points, np.array([0, 1, 1, 3, 4, 4]), np.array([6]))
    assert_covers(points, named_twice.triangles, 16)


@pytest.mark.parametrize(
    "outline",
    [
        [(0, 0), (4, 4), (4, 0), (0, 4)],  # a bow tie
        [(0, 0), (9, 9), (9, 0), (0, 4)],  # one with a larger half
        [(np.cos(t), np.sin(t)) for t in np.arange(5) * 4 * np.pi / 5],  # a pentagram
        [(0, 0), (6, 0), (6, 6), (3, -2), (0, 6)],  # a notch through the other side
    ],
)
def test_an_outline_that_crosses_itself_gets_no_triangles(outline):
    points = placed(np.array(outline, float), np.random.default_rng(3))
    square = placed(np.array([(0, 0), (1, 0), (1, 1), (0, 1)], float), np.random.default_rng(4))
    sizes = np.array([4, len(points), 4])
    corners = np.concatenate((np.arange(4), 4 + np.arange(len(points)), np.arange(4)))
    found = triangulate(np.concatenate((square, points)), corners, sizes)
    assert found.crossing.tolist() == [1] and found.faces.tolist() == [0, 0, 2, 2]


@pytest.mark.parametrize("corners", [[0, 1, 2, 3], [0, 1, 2, 1], [0, 0, 0, 0], [0, 1, 0, 1]])
def test_a_face_that_is_only_a_line_keeps_triangles_without_area(corners):
    points = np.float32([(0, 0, 0), (1, 1, 1), (2, 2, 2), (3, 3, 3)])
    found = triangulate(points, np.array(corners), np.array([4]))
    assert not len(found.crossing) and len(found.triangles)
    assert (flat(points, found.triangles) | (np.diff(np.sort(found.triangles), axis=1) == 0).any(axis=1)).all()


@pytest.mark.parametrize("lift, expected", [(0, []), (1e-5, []), (0.1, [0]), (20, [0])])
def test_faces_that_are_not_flat_are_reported(lift, expected):
    points = np.float32([(0, 0, 0), (100, 0, 0), (100, 100, lift), (50, 20, 0), (0, 100, 0)])
    found = triangulate(points, np.arange(5), np.array([5]))
    assert found.bent.tolist() == expected and len(found.triangles) == 3
    quad = triangulate(points, np.array([0, 1, 2, 4]), np.array([4]))
    assert quad.bent.tolist() == expected and quad.triangles.tolist() == [[0, 1, 2], [0, 2, 4]]


def test_triangles_stay_as_they_are():
    corners = np.array([0, 1, 2, 2, 1, 1])
    found = triangulate(np.zeros((3, 3), np.float32), corners, np.array([3, 3]))
    assert found.triangles.tolist() == [[0, 1, 2], [2, 1, 1]] and not len(found.bent)


@pytest.mark.parametrize("shape", ["star", "comb", "spiral", "staircase"])
def test_large_faces_take_seconds(shape):
    random = np.random.default_rng(6)
    outline = SHAPES[shape](random, 2000)
    points = placed(outline, random)
    began = time.perf_counter()
    triangles = cut(points)
    assert time.perf_counter() - began < 10
    assert_covers(points, triangles, area(outline))


def test_many_faces_take_seconds():
    random = np.random.default_rng(7)
    points = np.concatenate([placed(arrow(random, 5), random) for _ in range(5000)])
    began = time.perf_counter()
    found = triangulate(points, np.arange(25_000), np.full(5000, 5))
    assert time.perf_counter() - began < 10
    assert len(found.triangles) == 15_000 and (np.bincount(found.faces) == 3).all()


def test_a_face_with_too_many_corners_gets_no_triangles():
    outline = star(np.random.default_rng(8), MOST_CORNERS + 1)
    found = triangulate(placed(outline, np.random.default_rng(8)), np.arange(len(outline)), np.array([len(outline)]))
    assert found.crossing.tolist() == [0]
