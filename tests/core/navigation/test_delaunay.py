"""Exact predicates and the tetrahedralization made with them, against fractions and scipy-free invariants."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from core.navigation.delaunay import CORNERS, Delaunay
from core.navigation.predicates import in_sphere, orientation

CUBE = np.stack(np.meshgrid(*[np.arange(5.0)] * 3), axis=-1).reshape(-1, 3) * 1000


def point(row) -> tuple[float, float, float]:
    x, y, z = np.asarray(row, np.float32).tolist()
    return x, y, z


def exact_volume(a, b, c, d) -> Fraction:
    """Six times the volume, by fractions."""
    (p, q, r) = ([Fraction(x) - Fraction(y) for x, y in zip(one, a, strict=True)] for one in (b, c, d))
    return p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) + p[2] * (q[0] * r[1] - q[1] * r[0])


def exact_in_sphere(corners, e) -> Fraction:
    """Positive inside, for a positive tetrahedron: expanded along the squares, by fractions."""
    rows = [[Fraction(x) - Fraction(y) for x, y in zip(one, e, strict=True)] for one in corners]
    rows = [[*row, sum(x * x for x in row)] for row in rows]
    total = Fraction(0)
    for order in permutations(range(4)):
        inversions = sum(order[i] > order[j] for i in range(4) for j in range(i + 1, 4))
        product = Fraction(1 if inversions % 2 == 0 else -1)
        for row, column in enumerate(order):
            product *= rows[row][column]
        total += product
    return -total


def sign(value) -> int:
    return (value > 0) - (value < 0)


def test_signs_of_a_unit_tetrahedron() -> None:
    corners = [point(row) for row in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))]
    assert orientation(*corners) > 0
    assert in_sphere(*corners, point((0.25, 0.25, 0.25))) > 0
    assert in_sphere(*corners, point((1, 1, 1))) == 0
    assert in_sphere(*corners, point((1, 1, 1.0000001))) < 0


@pytest.mark.parametrize("scale", [1e-40, 1.0, 250_000.0])
def test_signs_agree_with_fractions_where_they_are_hard(scale: float) -> None:
    rng = np.random.default_rng(4)
    for number in range(300):
        rows = np.float32(rng.integers(-3, 4, (5, 3)) * scale)
        if number % 2:
            rows = np.nextafter(rows, np.float32(rng.choice([-np.inf, np.inf])))
        a, b, c, d, e = (point(row) for row in rows)
        assert sign(orientation(a, b, c, d)) == sign(exact_volume(a, b, c, d))
        if exact_volume(a, b, c, d) > 0:
            assert sign(in_sphere(a, b, c, d, e)) == sign(exact_in_sphere((a, b, c, d), e))


@pytest.mark.parametrize(
    "points",
    [
        np.random.default_rng(1).uniform(-25_000, 25_000, (150, 3)),
        CUBE,
        np.concatenate((CUBE, CUBE + np.float32([500, 500, 0]))),
        np.random.default_rng(2).normal(size=(100, 3)) * [1, 1, 1e-6],
    ],
    ids=["random", "grid", "two grids", "nearly flat"],
)
def test_no_point_lies_inside_the_sphere_of_a_tetrahedron(points: np.ndarray) -> None:
    mesh = Delaunay(points.min(axis=0), points.max(axis=0))
    numbers = [mesh.insert(point(row)) for row in points]
    assert [mesh.insert(point(row)) for row in points] == numbers, "a point that is there gets its number again"
    corners = [one for one in mesh.tetrahedra if one is not None]
    spots = mesh.vertices
    rng = np.random.default_rng(3)
    for one in corners:
        shape = [spots[number] for number in one]
        assert orientation(*shape) > 0
        for number in rng.integers(0, len(spots), 8).tolist():
            assert number in one or in_sphere(*shape, spots[number]) <= 0
    volume = sum(orientation(*[spots[number] for number in one]) for one in corners)
    assert volume == pytest.approx(abs(float(exact_volume(*spots[:CORNERS]))), rel=1e-9)


def test_faces_name_the_tetrahedra_on_both_sides() -> None:
    mesh = Delaunay(CUBE.min(axis=0), CUBE.max(axis=0))
    for row in CUBE:
        mesh.insert(point(row))
    counted = sum(one is not None for one in mesh.tetrahedra)
    faces = mesh.faces()
    assert 2 * len(faces) == 4 * counted + 4, "every inner face has two sides, the four outermost have one"
    for face, sides in faces.items():
        for number in sides:
            assert number < 0 or set(face) < set(mesh.tetrahedra[number] or ())
