"""Bounding spheres against slow, independent ones, on shapes that rounding and degeneration make hard."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.geometry.spheres import LIST_MARGIN, TRIANGLE_MARGIN, group_spheres, triangle_spheres
from tests.oracle import exact
from tests.support.tally import cases
from tests.trust.hard_shapes import OFFSETS, SCALES, TRIANGLE_KINDS, triangles_of

POINT_KINDS = ("random", "plane", "line", "equal", "sphere", "pairs", "lattice", "two far apart")


def enclosed(sphere: np.ndarray, points: np.ndarray) -> bool:
    """Whether float32 points lie in a float32 sphere, without any rounding."""
    x, y, z, radius = (Fraction(float(value)) for value in sphere)
    squares = radius * radius
    return all(
        sum((Fraction(float(v)) - c) ** 2 for v, c in zip(point, (x, y, z), strict=True)) <= squares for point in points
    )


def needed(points: np.ndarray, centre: np.ndarray, smallest: float, margin: float) -> float:
    """The largest radius that is no larger than it need be: the smallest sphere's, with the builder's margin, from a
    centre that float32 holds."""
    rounding = np.linalg.norm(np.spacing(np.abs(centre).astype(np.float32)).astype(np.float64))
    return (smallest * (1 + 2e-6) + rounding) * margin


@settings(max_examples=400)
@given(kind=st.sampled_from(TRIANGLE_KINDS), scale=SCALES, offset=OFFSETS, seed=st.integers(0, 2**32 - 1))
def test_a_triangle_s_sphere_holds_it_and_is_the_smallest(kind, scale, offset, seed):
    points = triangles_of(kind, np.random.default_rng(seed), 6, scale, offset * scale)
    spheres = triangle_spheres(points.reshape(-1, 3), np.arange(3 * len(points)).reshape(-1, 3))
    with cases("spheres of triangles", len(points)):
        for corners, sphere in zip(points, spheres, strict=True):
            assert enclosed(sphere, corners)
            _, smallest = exact.smallest_sphere(corners.astype(np.float64))
            assert sphere[3] <= needed(corners, sphere[:3], smallest, TRIANGLE_MARGIN)


def points_of(kind: str, random: np.random.Generator, count: int) -> np.ndarray:
    points = random.normal(size=(count, 3))
    if kind == "plane":
        points[:, 2] = 0
    if kind == "line":
        points = np.outer(random.normal(size=count), random.normal(size=3))
    if kind == "equal":
        points[:] = points[0]
    if kind == "sphere":
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    if kind == "pairs":
        points[count // 2 :] = -points[: count - count // 2]
    if kind == "lattice":
        points = random.integers(-2, 3, (count, 3)).astype(float)
    if kind == "two far apart":
        points[0] *= 1000
    return points


@settings(max_examples=300)
@given(
    kind=st.sampled_from(POINT_KINDS),
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=6),
    scale=SCALES,
    offset=OFFSETS,
    seed=st.integers(0, 2**32 - 1),
)
def test_a_list_s_sphere_holds_its_triangles_and_is_the_smallest(kind, sizes, scale, offset, seed):
    random = np.random.default_rng(seed)
    groups = [
        (scale * (points_of(kind, random, size) + offset)).astype(np.float32).astype(np.float64) for size in sizes
    ]
    starts = np.cumsum([0, *sizes[:-1]])
    with cases("spheres of lists", len(groups)):
        for points, sphere in zip(groups, group_spheres(np.concatenate(groups), starts), strict=True):
            assert enclosed(sphere, points)
            _, smallest = exact.smallest_sphere(points)
            assert sphere[3] <= needed(points, sphere[:3], smallest, LIST_MARGIN)


@pytest.mark.parametrize("count", [13, 200, 3000])
@pytest.mark.parametrize("kind", POINT_KINDS)
def test_a_large_list_s_sphere_is_the_smallest(kind, count):
    points = points_of(kind, np.random.default_rng(count), count).astype(np.float32).astype(np.float64)
    with cases("spheres of lists"):
        (sphere,) = group_spheres(points, np.array([0]))
        assert enclosed(sphere, points)
        _, smallest = exact.enclosing_sphere(points)
        assert sphere[3] <= needed(points, sphere[:3], smallest, LIST_MARGIN)
