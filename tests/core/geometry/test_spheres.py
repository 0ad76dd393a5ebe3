"""Spheres and edges against figures of docs/FORMATS.md and slow, independent methods. docs/FORMATS.md, section 3."""

import math

import numpy as np
import pytest

from core.formats import mcol
from core.geometry import spheres as sphere_module
from core.geometry import vectors
from core.geometry.edges import edge_census, undirected_edges
from core.geometry.spheres import group_spheres, triangle_spheres
from core.geometry.triangles import flat, with_own_vertices
from core.geometry.vectors import columns, extremes
from tests.oracle import exact
from tests.support.hulls import HULLS, LARGE, box, read

NAMES = [path.name for path in HULLS]


def excess(spheres, points):
    """How far each point sticks out of its sphere, in units of the radius."""
    distance = np.linalg.norm(points - spheres[:, None, :3].astype(np.float64), axis=2)
    return distance / spheres[:, None, 3].astype(np.float64) - 1


def test_a_wall_triangle_of_the_500_km_box_has_the_printed_sphere():
    hull = mcol.decode(read("mapmesh_box_500km.col"))
    spheres = triangle_spheres(hull.vertices, hull.triangles)
    assert spheres[:, 3] == pytest.approx(250_000 * math.sqrt(2) * 1.0001, rel=1e-7)
    assert np.array_equal(spheres, hull.spheres)


@pytest.mark.parametrize(
    "cell, centre, radius",
    [((0, 0, 0), (0, 0, 0), 43_344.570), ((2, 0, 0), (8333.333, -8333.333, -8333.333), 40_865.652)],
)
def test_cell_spheres_of_s14_p1_are_those_that_the_notes_print(cell, centre, radius):
    hull = mcol.decode(read(LARGE))
    triangles = hull.cell_triangles(int(hull.grid.number([cell])[0]))
    points = hull.vertices[hull.triangles[triangles]].reshape(-1, 3).astype(np.float64)
    sphere = group_spheres(points, np.array([0]))[0]
    assert sphere[:3] == pytest.approx(centre, abs=0.0006)
    assert sphere[3] == pytest.approx(radius, abs=0.004)


@pytest.mark.parametrize("path", HULLS, ids=NAMES)
def test_triangle_spheres_are_those_of_the_files_but_for_rounding(path):
    hull = mcol.decode(path.read_bytes())
    spheres = triangle_spheres(hull.vertices, hull.triangles)
    assert spheres[:, 3] == pytest.approx(hull.spheres[:, 3], rel=3e-6)
    assert np.abs(spheres[:, :3] - hull.spheres[:, :3]).max() <= 3e-6 * hull.spheres[:, 3].max() + 0.02


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_triangle_spheres_enclose_and_are_smallest(scale):
    random = np.random.default_rng(3)
    vertices = (scale * random.normal(size=(900, 3)) + scale * random.normal(size=3)).astype(np.float32)
    triangles = np.arange(900).reshape(-1, 3)
    spheres = triangle_spheres(vertices, triangles)
    points = vertices[triangles].astype(np.float64)
    assert excess(spheres, points).max() <= -0.00009
    for corners, sphere in zip(points[:100], spheres[:100], strict=True):
        _, smallest = exact.smallest_sphere(corners)
        assert sphere[3] == pytest.approx(smallest * 1.0001, rel=2e-6)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_group_spheres_enclose_and_are_smallest(scale):
    random = np.random.default_rng(4)
    groups = [random.normal(size=(random.integers(1, 40), 3)) * random.choice([0.01, 1, 100], 3) for _ in range(120)]
    groups += [
        np.repeat(random.normal(size=(1, 3)), 5, axis=0),  # one point, five times
        np.outer(np.arange(6.0), [1, 2, 3]),  # a line
        np.stack([np.cos(np.arange(12)), np.sin(np.arange(12)), np.zeros(12)], axis=1),  # a circle
        box((-1, -1, -1), (1, 1, 1))[0].astype(np.float64),  # eight points on one sphere
    ]
    groups = [(scale * group).astype(np.float32).astype(np.float64) for group in groups]
    starts = np.cumsum([0, *map(len, groups)])[:-1]
    spheres = group_spheres(np.concatenate(groups), starts)
    for points, sphere in zip(groups, spheres, strict=True):
        _, smallest = exact.enclosing_sphere(points)
        assert sphere[3] == pytest.approx(smallest * 1.001, rel=3e-6, abs=1e-30)
        if smallest > 0:
            assert excess(sphere[None], points[None]).max() <= -0.0009


def test_more_groups_than_fit_at_once_give_the_same_spheres(monkeypatch):
    random = np.random.default_rng(5)
    points = random.normal(size=(600, 3))
    starts = np.sort(random.choice(np.arange(1, 600), 49, replace=False))
    starts = np.append(0, starts)
    together = group_spheres(points, starts)
    monkeypatch.setattr(sphere_module, "GROUPS_AT_ONCE", 7)
    assert np.array_equal(group_spheres(points, starts), together)


def test_edges_of_a_box_are_each_shared_by_two():
    edges, counts = edge_census(box((0, 0, 0), (1, 1, 1))[1])
    assert len(edges) == 18
    assert (counts == 2).all()
    assert (edges[:, 0] < edges[:, 1]).all()


def test_edges_with_one_and_with_three_triangles_are_counted():
    edges, counts = edge_census(np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4]]))
    assert dict(zip(map(tuple, edges.tolist()), counts.tolist(), strict=True))[(0, 1)] == 3
    assert sorted(counts.tolist()) == [1] * 6 + [3]


def test_sides_that_are_one_edge_come_in_pairs():
    """Sides 0, 1, 2 are those of the first triangle, and so on; the edge 0-1 has three, 1-2 and the others one."""
    crowded = undirected_edges(np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4]]))
    assert list(zip(*(sides.tolist() for sides in crowded.pairs()), strict=True)) == [(0, 3), (3, 6)]
    closed = undirected_edges(box((0, 0, 0), (1, 1, 1))[1])
    assert sorted(np.concatenate(closed.pairs()).tolist()) == list(range(36))


def test_triangles_are_found_by_their_edges():
    edges = undirected_edges(np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4], [3, 4, 5]]))
    assert edges.triangles_at(edges.counts == 3).tolist() == [True, True, True, False]
    assert edges.triangles_at((edges.ends == (4, 5)).all(axis=1)).tolist() == [False, False, False, True]
    assert not edges.triangles_at(edges.counts > 3).any()


@pytest.mark.parametrize("path", HULLS, ids=NAMES)
def test_the_box_of_a_triangle_is_that_of_its_vertices(path):
    hull = mcol.decode(path.read_bytes())
    places = columns(hull.vertices)
    low, high = extremes(places, places, hull.triangles)
    points = hull.vertices[hull.triangles]
    assert np.array_equal(low.T, points.min(axis=1))
    assert np.array_equal(high.T, points.max(axis=1))


def test_some_triangles_with_their_own_vertices_are_where_they_were():
    hull = mcol.decode(read(LARGE))
    some = hull.triangles[100:140]
    vertices, triangles = with_own_vertices(hull.vertices, some)
    assert np.array_equal(vertices[triangles], hull.vertices[some])
    assert len(vertices) == len(np.unique(some))
    assert np.array_equal(np.argsort(triangles.ravel(), kind="stable"), np.argsort(some.ravel(), kind="stable"))


def test_triangles_in_portions_have_the_same_spheres_and_areas(monkeypatch):
    hull = mcol.decode(read(LARGE))
    spheres = triangle_spheres(hull.vertices, hull.triangles)
    triangles = np.concatenate((hull.triangles, hull.triangles[:, [0, 1, 0]]))
    thin = flat(hull.vertices, triangles)
    assert thin.tolist() == [False] * len(hull.triangles) + [True] * len(hull.triangles)
    monkeypatch.setattr(vectors, "TRIANGLES_AT_ONCE", 13)
    assert np.array_equal(triangle_spheres(hull.vertices, hull.triangles), spheres)
    assert np.array_equal(flat(hull.vertices, triangles), thin)


@pytest.mark.parametrize(
    "corners, thin",
    [
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], False),
        ([[0, 0, 0], [1, 0, 0], [2, 0, 0]], True),
        ([[0, 0, 0], [0, 0, 0], [1, 1, 1]], True),
        ([[25000, 0, 0], [-25000, 0, 0], [0, 0.001, 0]], True),
        ([[25000, 0, 0], [-25000, 0, 0], [0, 1, 0]], False),
        # The middle of a side, rounded to float32: off the line, but by rounding alone.
        ([[23456.789, 1.1, 7.3], [24000.123, 900.77, 3.1], [23728.456, 450.935, 5.2]], True),
        ([[1e-3, 0, 0], [2e-3, 0, 0], [0, 1e-3, 0]], False),
        ([[1e-20, 0, 0], [2e-20, 0, 0], [0, 1e-20, 0]], True),
    ],
)
def test_a_triangle_without_area_in_float32_is_found(corners, thin):
    assert flat(np.float32(corners), np.array([[0, 1, 2]])).tolist() == [thin]
