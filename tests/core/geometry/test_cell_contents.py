"""Cell lists, fill states and surfaces against exact and independent answers. docs/FORMATS.md, section 3."""

import numpy as np
import pytest

from core.formats import mcol
from core.geometry import fill, overlap, surfaces
from core.geometry.grid import Grid
from core.geometry.surfaces import Facing
from tests.oracle import exact
from tests.oracle import game_queries as game
from tests.support.hulls import HULLS, box, cubic_grid, moved, new, pieces, read, rock

NAMES = [path.name for path in HULLS]
EXTRA_ALLOWED = 730 / 18_577  # of the game's own lists, section 3


def pairs(grid, vertices, triangles):
    return set(zip(*(a.tolist() for a in overlap.overlaps(grid, vertices, triangles)), strict=True))


def exact_pairs(grid, vertices, triangles):
    found = set()
    for number in range(grid.cell_count):
        position = grid.position([number])[0]
        low = grid.minimum.astype(float) + position * grid.cell_size.astype(float)
        high = grid.minimum.astype(float) + (position + 1) * grid.cell_size.astype(float)
        for triangle, corners in enumerate(vertices[triangles]):
            near = (corners.min(axis=0) <= high).all() and (corners.max(axis=0) >= low).all()
            if near and exact.overlaps(corners.tolist(), low.tolist(), high.tolist()):
                found.add((triangle, number))
    return found


@pytest.mark.parametrize(
    "path", [path for path in HULLS if path.name.startswith(("S13", "S14_p1_A", "test"))], ids=lambda p: p.name
)
def test_no_overlapping_triangle_is_missing_and_few_are_extra(path):
    hull = mcol.decode(path.read_bytes())
    found = pairs(hull.grid, hull.vertices, hull.triangles)
    truth = exact_pairs(hull.grid, hull.vertices, hull.triangles)
    assert not truth - found
    assert len(found - truth) <= EXTRA_ALLOWED * len(truth)


@pytest.mark.parametrize("scale", [2.0**-10, 1.0, 2.0**20])
def test_triangles_on_planes_edges_and_corners_of_cells_are_listed_on_both_sides(scale):
    """Coordinates on a lattice of half cells: almost everything touches exactly."""
    random = np.random.default_rng(11)
    grid = cubic_grid(2 * scale, 4)
    vertices = (scale * random.integers(-4, 5, (150, 3)) / 2).astype(np.float32)
    triangles = np.arange(150).reshape(-1, 3)
    found, truth = pairs(grid, vertices, triangles), exact_pairs(grid, vertices, triangles)
    assert not truth - found
    assert not found - truth  # the lattice is exact in float32, so the margin for rounding adds nothing


def test_slivers_and_triangles_larger_than_the_map_miss_no_cell():
    random = np.random.default_rng(12)
    grid = Grid(np.float32([-3, -2, -1]), np.float32([3, 2, 1]), np.float32([0.75, 0.5, 0.4]), (8, 8, 5))
    vertices = random.uniform(-8, 8, (90, 3)).astype(np.float32)
    vertices[1::3] = vertices[::3] + random.normal(0, 1e-3, (30, 3)).astype(np.float32)
    triangles = np.arange(90).reshape(-1, 3)
    inside = np.abs(vertices[triangles]).max(axis=(1, 2)) < 1e9
    found, truth = pairs(grid, vertices, triangles[inside]), exact_pairs(grid, vertices, triangles[inside])
    assert not truth - found


def test_border_cells_serve_what_lies_outside_as_clamped_queries_do():
    grid = cubic_grid(2, 4)
    vertices = np.float32([[5, 0.1, 0.1], [6, 0.2, 0.1], [5, 0.1, 0.2]])
    assert pairs(grid, vertices, np.array([[0, 1, 2]])) == {(0, int(grid.number([[3, 2, 2]])[0]))}


def test_wanted_cells_limit_the_answer_and_nothing_else():
    hull = mcol.decode(read("S13_AsteroidVolume_wp.col"))
    wanted = np.zeros(hull.grid.cell_count, bool)
    wanted[::3] = True
    triangles, cells = overlap.overlaps(hull.grid, hull.vertices, hull.triangles)
    some = overlap.overlaps(hull.grid, hull.vertices, hull.triangles, wanted)
    assert np.array_equal(some[0], triangles[wanted[cells]])
    assert np.array_equal(some[1], cells[wanted[cells]])


def test_portions_give_the_same_answer(monkeypatch):
    hull = mcol.decode(read("S13_AsteroidVolume_wp.col"))
    whole = overlap.overlaps(hull.grid, hull.vertices, hull.triangles)
    monkeypatch.setattr(overlap, "PAIRS_AT_ONCE", 37)
    parts = overlap.overlaps(hull.grid, hull.vertices, hull.triangles)
    assert np.array_equal(whole, parts)


# --- fill -----------------------------------------------------------------------------------------


def solid_cells(grid, vertices, triangles, outside):
    return fill.layers_in_cells(grid, vertices, triangles) + int(outside) >= 1


def centres(grid):
    return grid.lower_corner(grid.position(np.arange(grid.cell_count)) + 0.5)


@pytest.mark.parametrize("path", HULLS, ids=NAMES)
def test_fill_states_of_the_files_come_out_again(path):
    hull = mcol.decode(path.read_bytes())
    empty = np.ones(hull.grid.cell_count, bool)
    empty[hull.occupied] = False
    empty[hull.states == mcol.LISTED] = False
    solid = solid_cells(hull.grid, hull.vertices, hull.triangles, hull.outside_solid)
    assert np.array_equal(solid[empty], hull.states[empty] == mcol.SOLID)


@pytest.mark.parametrize("outside", [False, True])
def test_solid_cells_agree_with_the_generalised_winding_number(outside):
    grid = cubic_grid(10, 18)
    shapes = [rock((1, 2, 3), 3.3, 6, seed=5), rock((-4, -3, 0.5), 4.1, 6, seed=6), rock((-3, -2, 1), 2.0, 6, seed=7)]
    if outside:
        shapes.append(box((-9.5, -9.5, -9.5), (9.5, 9.5, 9.5), inward=True))
    vertices = np.concatenate([shape[0] for shape in shapes])
    offsets = np.cumsum([0, *(len(shape[0]) for shape in shapes)])
    triangles = np.concatenate([shape[1] + offset for shape, offset in zip(shapes, offsets, strict=False)])
    listed = np.unique(overlap.overlaps(grid, vertices, triangles)[1])
    empty = np.setdiff1d(np.arange(grid.cell_count), listed)
    mine = solid_cells(grid, vertices, triangles, outside)[empty]
    assert np.array_equal(mine, game.solid(vertices, triangles, outside, centres(grid)[empty]))
    assert 0 < mine.sum() < len(empty)


def test_lines_through_corners_and_along_edges_cross_as_often_inward_as_outward():
    """An octahedron and boxes whose corners and edges lie on the lines through the cells' centres."""
    octahedron = np.float32([[-3, 0, 0], [3, 0, 0], [0, -3, 0], [0, 3, 0], [0, 0, -3], [0, 0, 3]])
    faces = np.array([(1, 3, 5), (3, 0, 5), (0, 2, 5), (2, 1, 5), (3, 1, 4), (0, 3, 4), (2, 0, 4), (1, 2, 4)])
    grid = cubic_grid(5.5, 11)  # centres at whole numbers
    random = np.random.default_rng(2)
    cases = [(octahedron, faces), box((-3, -3, -3), (2, 3, 4))]
    for vertices, triangles in cases:
        for _ in range(20):  # whatever the numbering
            order = random.permutation(len(vertices))
            renumbered = np.argsort(order)[triangles]
            layers = fill.layers_in_cells(grid, vertices[order], renumbered)
            listed = np.unique(overlap.overlaps(grid, vertices[order], renumbered)[1])
            empty = np.setdiff1d(np.arange(grid.cell_count), listed)
            truth = game.solid(vertices, triangles, False, centres(grid)[empty])
            assert np.array_equal(layers[empty] == 1, truth)
            assert set(np.unique(layers[empty])) <= {0, 1}


def test_crossings_in_portions_are_the_same(monkeypatch):
    hull = mcol.decode(read("S13_AsteroidVolume_wp.col"))
    whole = fill.layers_in_cells(hull.grid, hull.vertices, hull.triangles)
    monkeypatch.setattr(fill, "PAIRS_AT_ONCE", 11)
    assert np.array_equal(whole, fill.layers_in_cells(hull.grid, hull.vertices, hull.triangles))


@pytest.mark.parametrize("spread", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_a_line_crosses_a_ball_where_it_passes_by_its_middle(spread):
    """Lines at one y, at one z, at one place, and anywhere; most pass by."""
    centre = np.array([40, -7, 3])
    ball, triangles = rock(centre, 5, 12)
    lines = centre[1:] + np.random.default_rng(4).uniform(-30, 30, (200, 2)) * spread
    found = [np.concatenate(part) for part in zip(*fill.crossings(lines, ball, triangles), strict=True)]
    line, triangle, x, layers = found
    away = np.linalg.norm(lines - centre[1:], axis=1)
    assert (away[line] < 5 * 1.15).all()
    assert np.isin(np.flatnonzero(away < 5 * 0.8), line).all()
    assert (np.bincount(line, layers) == 0).all()
    corners = ball[triangles[triangle]]
    assert ((corners[..., 0].min(axis=1) <= x) & (x <= corners[..., 0].max(axis=1))).all()


def test_no_lines_cross_nothing():
    found = list(fill.crossings(np.zeros((0, 2)), *box((0, 0, 0), (1, 1, 1))))
    assert sum(len(line) for line, *_ in found) == 0


# --- surfaces -------------------------------------------------------------------------------------

EULER = {"test": 4, "S01": 2, "S05": 2, "S13": 6, "S14_p1": 40, "S14_p2": 50, "mapmesh": 2}


@pytest.mark.parametrize("path", HULLS, ids=NAMES)
def test_a_hull_splits_into_the_surfaces_of_its_euler_characteristic(path):
    hull = mcol.decode(path.read_bytes())
    surface = surfaces.split(hull.triangles)
    expected = next(value for stem, value in EULER.items() if path.name.startswith(stem))
    assert surface.max() + 1 == expected // 2
    names = surfaces.names(hull.vertices, hull.triangles, surface)
    assert names.count("wall") == (0 if path.name.startswith("S01") else 1)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("path", HULLS, ids=NAMES)
def test_every_surface_of_the_files_faces_free_space(path):
    hull = mcol.decode(path.read_bytes())
    triangles = hull.triangles.astype(np.int64)
    surface = surfaces.split(triangles)
    outside = bool(hull.outside_solid)
    same, odd = surfaces.orient(triangles)
    assert np.array_equal(same, surface) and not odd.any()
    assert (surfaces.facing(hull.vertices, triangles, surface, outside) == Facing.RIGHT).all()
    for number in range(surface.max() + 1):
        turned = triangles.copy()
        turned[surface == number] = turned[surface == number][:, ::-1]
        facing = surfaces.facing(hull.vertices, turned, surface, outside)
        assert np.flatnonzero(facing != Facing.RIGHT).tolist() == [number]
    assert (surfaces.facing(hull.vertices, triangles[:, ::-1], surface, outside) != Facing.RIGHT).all()


def facings(shapes, outside):
    vertices = np.concatenate([shape[0] for shape in shapes])
    offsets = np.cumsum([0, *(len(shape[0]) for shape in shapes)])
    triangles = np.concatenate([shape[1] + offset for shape, offset in zip(shapes, offsets, strict=False)])
    return surfaces.facing(vertices, triangles, surfaces.split(triangles), outside).tolist()


WALL = box((-20, -20, -20), (20, 20, 20), inward=True)


@pytest.mark.parametrize(
    "shapes, outside, expected",
    [
        ([WALL], True, [Facing.RIGHT]),
        ([WALL], False, [Facing.WRONG]),  # a shell in free space that shows its back
        ([box((-20, -20, -20), (20, 20, 20))], True, [Facing.OUTSIDE]),
        ([WALL, rock((0, 0, 0), 5)], True, [Facing.RIGHT, Facing.RIGHT]),
        ([WALL, rock((0, 0, 0), 9), rock((0, 0, 0), 3)], True, [Facing.RIGHT, Facing.RIGHT, Facing.BURIED]),
        ([rock((0, 0, 0), 9), box((-1, -1, -1), (1, 1, 1), inward=True)], False, [Facing.RIGHT, Facing.RIGHT]),
        # Two rocks that overlap, and a rock that looks out of the wall by its tip.
        ([WALL, rock((0, 0, 0), 6), rock((7, 0, 0), 5)], True, [Facing.RIGHT] * 3),
        ([WALL, rock((24, 0, 0), 5)], True, [Facing.RIGHT, Facing.RIGHT]),
        ([WALL, rock((24, 0, 0), 3)], True, [Facing.RIGHT, Facing.OUTSIDE]),
    ],
)
def test_what_a_surface_faces_follows_from_what_surrounds_it(shapes, outside, expected):
    assert facings(shapes, outside) == expected


def test_triangles_against_the_rest_of_their_surface_are_the_fewer_ones():
    _, triangles = rock((0, 0, 0), 1)
    surface = surfaces.split(triangles)
    triangles[[3, 4, 40]] = triangles[[3, 4, 40]][:, ::-1]
    same, odd = surfaces.orient(triangles)
    assert np.array_equal(same, surface) and np.flatnonzero(odd).tolist() == [3, 4, 40]


def test_a_moved_piece_keeps_its_name_for_the_tests():
    hull = mcol.decode(read("test.col"))
    first = pieces(hull)[0]
    assert moved(first, (1, 0, 0)).name == first.name == "asteroid_01"
    assert (new("x", first.vertices, first.triangles).vertex_ids == -1).all()


def test_a_triangle_beyond_the_last_plane_is_in_every_cell_of_the_border_that_it_spans():
    grid = Grid(np.zeros(3, np.float32), np.full(3, 100, np.float32), np.full(3, 9.9, np.float32), (10, 10, 10))
    vertices = np.float32([[99.5, 10, 10], [99.5, 60, 10], [99.5, 10, 60]])
    triangles = np.array([[0, 1, 2]])
    found = overlap.overlaps(grid, vertices, triangles)[1].tolist()
    expected = exact.cell_lists(vertices, triangles, grid.minimum, grid.cell_size, grid.dimensions)
    assert found == [cell for cell, listed in enumerate(expected) if listed]
    assert len(found) == 21 and {number % 10 for number in found} == {9}


@pytest.mark.parametrize("seed", range(6))
def test_cells_serve_what_lies_beyond_the_grid(seed):
    numbers = np.random.default_rng(seed)
    grid = Grid(np.float32([0, -2, 5]), np.float32([4, 2, 9]), np.float32([1, 0.75, 2]), (4, 3, 2))
    vertices = numbers.uniform(-6, 14, (60, 3)).astype(np.float32)
    triangles = np.arange(60).reshape(-1, 3)
    triangle, cell = overlap.overlaps(grid, vertices, triangles)
    expected = exact.cell_lists(vertices, triangles, grid.minimum, grid.cell_size, grid.dimensions)
    wanted = {(number, place) for place, listed in enumerate(expected) for number in listed}
    assert wanted <= set(zip(triangle.tolist(), cell.tolist(), strict=True))
    assert len(triangle) == len(wanted)
