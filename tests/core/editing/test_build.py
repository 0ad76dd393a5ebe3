"""New hulls: what the game needs, from nothing."""

from __future__ import annotations

import numpy as np
import pytest

from core.editing.build import fit_grid, new_hull
from core.errors import RefusedError, Severity
from core.formats import mcol
from core.inspect.check_hull import check_hull
from core.inspect.checks import findings
from core.runtime.queries import is_solid

LOW, HIGH = np.float32([-25_000, -20_000, -5_000]), np.float32([25_000, 20_000, 7_000])


@pytest.mark.parametrize("wall", [True, False])
def test_a_new_hull_passes_every_check(wall):
    hull = mcol.decode(mcol.encode(new_hull(LOW, HIGH, 5_000, wall)))
    assert [f for f in findings(check_hull(hull)) if f.severity is not Severity.INFO] == []
    assert hull.grid.dimensions == (10, 8, 3)
    assert (hull.grid.minimum <= LOW).all() and (hull.grid.maximum >= HIGH).all()


def test_a_wall_is_the_box_and_rock_begins_behind_it():
    hull = new_hull(LOW, HIGH, 5_000, True)
    assert len(hull.triangles) == 12 and hull.outside_solid
    assert (hull.vertices.min(axis=0) == LOW).all() and (hull.vertices.max(axis=0) == HIGH).all()
    points = [[0, 0, 0], [24_000, 19_000, 6_000], [24_000, 19_000, 7_200], [30_000, 0, 0]]
    assert [is_solid(hull, point) for point in points] == [False, False, True, True]


def test_without_a_wall_all_is_free_but_one_asteroid_in_the_middle():
    hull = new_hull(LOW, HIGH, 5_000, False)
    middle = (LOW + HIGH) / 2
    assert not hull.outside_solid and 8 <= len(hull.triangles) <= 80
    assert [is_solid(hull, middle), is_solid(hull, LOW), is_solid(hull, LOW * 2)] == [True, False, False]
    assert np.linalg.norm(hull.vertices - middle, axis=1).max() == pytest.approx(2_000, rel=1e-3)


def test_too_many_cells_are_refused():
    with pytest.raises(RefusedError, match="larger cells"):
        new_hull(LOW, HIGH, 100, True)


def test_a_grid_may_have_a_cell_size_for_each_axis():
    grid = fit_grid(np.stack((LOW, HIGH)), np.float32([5_000, 10_000, 4_000]))
    assert grid.dimensions == (10, 4, 3) and grid.cell_size.tolist() == [5_000, 10_000, 4_000]
