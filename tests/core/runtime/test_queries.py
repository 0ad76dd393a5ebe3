"""The game's queries against an independent simulation of them, and against brute force that knows no grid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.editing.rebuild_hull import build
from core.formats import mcol
from core.geometry.grid import Grid
from core.runtime.queries import Place, free_time, is_solid, place, shoot
from tests.oracle import game_queries as game
from tests.oracle.readers import read_col
from tests.support import hulls

SHOTS = 32
RADII = (None, 1.0, 700.0, 6_000.0)


@pytest.fixture(params=hulls.HULLS, ids=lambda path: path.name)
def both(request):
    """A sample as this package and as the independent reader see it."""
    data = request.param.read_bytes()
    return mcol.decode(data), read_col(data)


def points_around(hull: mcol.Hull, count: int, seed: int = 1) -> np.ndarray:
    """Points in and a little around the box, some of them on the borders of cells."""
    numbers = np.random.default_rng(seed)
    low, high = hull.grid.minimum.astype(float), hull.grid.maximum.astype(float)
    points = low + numbers.uniform(-0.2, 1.2, (count, 3)) * (high - low)
    points[::7, 0] = hull.grid.lower_corner(numbers.integers(0, hull.grid.dimensions, (count, 3)))[::7, 0]
    return points


def test_a_point_is_looked_up_as_in_the_game(both):
    hull, col = both
    for point in points_around(hull, 300):
        found = place(hull, point)
        assert found.state == game.fill_state(col, point)
        assert found.solid == game.inside(col, point)
        if found.number is None:
            assert found.position is None and not len(found.triangles)
        else:
            assert found.position == tuple(game.cell_index(col, point))
            cell = col.cells[found.number]
            assert (cell.x, cell.y, cell.z) == found.position
            assert found.triangles.tolist() == [int(i) for record in cell.lists for i in record.indices]


def test_a_point_less_than_a_cell_below_the_box_is_looked_up_in_the_first_cell():
    hull = mcol.decode(hulls.read("test.col"))
    below = hull.grid.minimum - 0.4 * hull.grid.cell_size
    assert place(hull, below).position == (0, 0, 0)
    assert place(hull, below - hull.grid.cell_size).position is None
    assert is_solid(hull, below) == bool(hull.outside_solid)


@pytest.mark.parametrize("radius", RADII)
def test_shots_hit_what_the_game_hits(both, radius):
    hull, col = both
    starts, ends = points_around(hull, SHOTS, 2), points_around(hull, SHOTS, 3)
    hits = 0
    for start, movement in zip(starts, ends - starts, strict=True):
        shot = shoot(hull, start, movement, radius)
        known = game.ray(col, start, movement) if radius is None else game.sweep(col, start, movement, radius)
        assert (shot.triangle is None) == (known is None)
        if known is not None:
            hits += 1
            assert shot.time == pytest.approx(known[0], abs=1e-9)
            if shot.triangle != known[1]:  # both are met at once, at a shared edge
                again = game.ray if radius is None else game.sweep
                assert again(col, start, movement, *([] if radius is None else [radius]))[0] == pytest.approx(shot.time)
            assert shot.position == pytest.approx(start + shot.time * movement)
    assert hits > SHOTS / 4


@pytest.mark.parametrize("name", ["test.col", "S01_AsteroidVolume_wp.col", "S14_p2_AsteroidVolume_wp.col"])
@pytest.mark.parametrize("radius", RADII)
def test_in_a_sound_hull_nothing_is_missed(name, radius):
    hull = mcol.decode(hulls.read(name))
    starts, ends = points_around(hull, SHOTS, 4), points_around(hull, SHOTS, 5)
    if radius is None:
        truth = game.first_hits(hull.vertices, hull.triangles, starts, ends - starts)
    else:
        truth = game.first_sweep_hits(hull.vertices, hull.triangles, starts, ends - starts, radius)
    inside = ((starts > hull.grid.minimum) & (starts < hull.grid.maximum)).all(axis=1)
    assert inside.any()
    for start, end, expected in zip(starts[inside], ends[inside], truth[inside], strict=True):
        shot = shoot(hull, start, end - start, radius)
        assert (shot.time if shot.triangle is not None else np.inf) == pytest.approx(expected, abs=1e-6)


def test_what_was_looked_at_narrows_down(both):
    hull, _ = both
    starts, ends = points_around(hull, SHOTS, 6), points_around(hull, SHOTS, 7)
    for radius in RADII:
        for start, movement in zip(starts, ends - starts, strict=True):
            shot = shoot(hull, start, movement, radius)
            if shot.first is None:
                assert not len(shot.listed) and shot.visited == 0 and shot.triangle is None
                continue
            sides = np.array(shot.last) - shot.first + 1
            assert shot.visited == sides.prod()
            position = hull.grid.position(shot.listed)
            assert ((position >= shot.first) & (position <= shot.last)).all()
            assert np.isin(shot.opened, shot.listed).all()
            assert len(np.unique(shot.looked_up)) == len(shot.looked_up)
            listed = [hull.cell_triangles(cell) for cell in shot.opened]
            assert np.isin(shot.looked_up, np.concatenate([*listed, [-1]])).all()
            assert np.isin(shot.tested, shot.looked_up).all()
            assert shot.triangle is None or shot.triangle in shot.tested


def test_every_cell_of_the_box_around_the_path_is_visited():
    hull = mcol.decode(hulls.read("mapmesh_box_500km.col"))
    shot = shoot(hull, [-240_000, -240_000, 10_000], [110_000, 60_000, 0])
    assert (shot.first, shot.last, shot.visited) == ((0, 0, 5), (2, 1, 5), 6)
    wide = shoot(hull, [-240_000, -240_000, 10_000], [110_000, 60_000, 0], 45_000)
    assert (wide.first, wide.last, wide.visited) == ((0, 0, 4), (3, 2, 6), 36)


def made_of(*parts: tuple[np.ndarray, np.ndarray], outside_solid: bool = False) -> mcol.Hull:
    offsets = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    vertices = np.concatenate([vertices for vertices, _ in parts])
    triangles = np.concatenate([t + o for (_, t), o in zip(parts, offsets, strict=False)])
    corner = np.full(3, 500, np.float32)
    return build(vertices, triangles, Grid(-corner, corner, np.full(3, 100, np.float32), (10,) * 3), outside_solid)


def test_front_and_back_and_times_of_a_box():
    hull = made_of(hulls.box([-100, -100, -100], [100, 100, 100]))
    front = shoot(hull, [-400, 10, 20], [400, 0, 0])
    assert front.time == pytest.approx(0.75) and not front.back
    back = shoot(hull, [0, 10, 20], [400, 0, 0])
    assert back.time == pytest.approx(0.25) and back.back
    ball = shoot(hull, [-400, 10, 20], [400, 0, 0], 50)
    assert ball.time == pytest.approx(0.625) and not ball.back
    edge = shoot(hull, [-400, 130, 20], [400, 0, 0], 50)  # 30 beside the box: 40 before its edge
    assert edge.time == pytest.approx((300 - 40) / 400)
    assert shoot(hull, [-400, 151, 20], [800, 0, 0], 50).triangle is None
    assert shoot(hull, [0, 10, 60], [1, 0, 0], 50).time == 0


def test_a_wrong_fill_state_lets_a_sphere_through_and_not_a_ray():
    hull = made_of(hulls.box([-100, -100, -100], [100, 100, 100]))
    holed = replace(hull, states=np.zeros_like(hull.states))
    assert shoot(holed, [-400, 10, 20], [400, 0, 0]).triangle is not None
    assert shoot(holed, [-400, 10, 20], [400, 0, 0], 50).triangle is None


def test_a_list_sphere_that_is_too_small_hides_its_triangles():
    hull = made_of(hulls.box([-100, -100, -100], [100, 100, 100]))
    spheres = hull.list_spheres.copy()
    spheres[:, 3] = 0
    shot = shoot(replace(hull, list_spheres=spheres), [-400, 10, 20], [400, 0, 0])
    assert shot.triangle is None and len(shot.listed) and not len(shot.opened)


def test_solid_and_free_around_a_box_and_inside_a_wall():
    box = hulls.box([-100, -100, -100], [100, 100, 100])
    hull = made_of(hulls.box([-490] * 3, [490] * 3, inward=True), box, outside_solid=True)
    assert [is_solid(hull, [x, 3, 5]) for x in (0, 95, 105, 300, 485, 495, 600)] == [
        *(True, True, False, False, False, True, True)
    ]
    free = made_of(box)
    assert [is_solid(free, [x, 3, 5]) for x in (0, 95, 105, 495, 600)] == [True, True, False, False, False]
    assert isinstance(place(free, [0, 0, 0]), Place)


@pytest.mark.parametrize("radius", [0.0, 30.0])
def test_a_path_from_outside_a_wall_begins_in_free_space(radius):
    box = hulls.box([-100, -100, -100], [100, 100, 100])
    hull = made_of(hulls.box([-490] * 3, [490] * 3, inward=True), box, outside_solid=True)
    start, movement = np.array([-1000.0, 3.0, 5.0]), np.array([2000.0, 0.0, 0.0])
    time = free_time(hull, start, movement, radius)
    assert time == pytest.approx((510 + radius) / 2000, abs=1e-5)
    begin = start + time * movement
    shot = shoot(hull, begin, movement, radius or None)
    assert shot.position[0] == pytest.approx(-100 - radius) and not shot.back
    # From within the box it comes out on the other side; in free space it stays; through rock alone it can't.
    assert free_time(hull, [0, 3, 5], movement, radius) == pytest.approx((100 + radius) / 2000, abs=1e-5)
    assert free_time(hull, [-300, 3, 5], movement, radius) == 0
    assert free_time(hull, [-50, 3, 5], [60, 0, 0], radius) == 0
