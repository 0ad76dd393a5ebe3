"""Stand-in hulls follow the table of the game's maps."""

import numpy as np
import pytest

from core.formats import mcol
from core.samples.hulls import MAPS, sample_hull


@pytest.mark.parametrize("row", MAPS, ids=lambda row: row.name)
def test_counts_box_and_cells_are_those_of_the_table(row):
    hull = sample_hull(row, 1)
    assert len(hull.vertices) == row.vertices and len(np.unique(hull.triangles)) == row.vertices
    assert hull.grid.maximum.tolist() == [row.half] * 3 and hull.grid.cell_size.tolist() == [row.cell] * 3
    assert bool(hull.outside_solid) == row.solid and not hull.grid.outside(hull.vertices).any()


def test_a_hull_is_stored_and_read_back():
    data = mcol.encode(sample_hull(MAPS[0], 1))
    assert mcol.encode(mcol.decode(data)) == data
