"""A hull in another grid: the same mesh, every list rebuilt, and found by the game's queries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.editing.build import fit_grid
from core.editing.options import Options, Rebuild
from core.editing.rebuild_hull import rebuild
from core.editing.regrid import regrid
from core.errors import Severity
from core.formats import mcol
from core.inspect.check_hull import check_hull
from core.inspect.checks import findings
from tests.oracle import game_queries as game
from tests.oracle.readers import read_col
from tests.support import hulls


@pytest.mark.parametrize("path", hulls.HULLS, ids=lambda path: path.name)
@pytest.mark.parametrize("cell_size", [7_300.0, 40_000.0])
def test_the_mesh_stays_and_the_game_finds_all_of_it(path, cell_size):
    source = mcol.decode(path.read_bytes())
    hull = regrid(source, fit_grid(source.vertices, cell_size))
    data = mcol.encode(hull)
    again = mcol.decode(data)
    for name in ("vertices", "triangles", "spheres"):
        assert np.array_equal(getattr(again, name), getattr(source, name))
    assert (again.grid.cell_size == np.float32(cell_size)).all()
    assert again.outside_solid == source.outside_solid
    col = read_col(data)
    numbers = np.random.default_rng(1)
    low, high = again.grid.minimum.astype(float), again.grid.maximum.astype(float)
    starts, ends = numbers.uniform(low, high, (2, 100, 3))
    expected = game.first_hits(again.vertices, again.triangles, starts, ends - starts)
    assert game.rays(col, starts, ends - starts) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["test.col", "S01_AsteroidVolume_wp.col", "S14_p1_AsteroidVolume_wp.col"])
def test_it_passes_every_check_and_is_what_a_full_rebuild_gives(name):
    source = mcol.decode(hulls.read(name))
    hull = mcol.decode(mcol.encode(regrid(source, fit_grid(source.vertices, 6_000.0))))
    assert [f for f in findings(check_hull(hull)) if f.severity is not Severity.INFO] == []
    full = rebuild(hull, hulls.edited(hull, {}), Options(Rebuild.ALL))
    # The sample's triangle spheres are kept, and differ from ours in their last bits.
    assert mcol.encode(replace(full.hull, spheres=hull.spheres)) == mcol.encode(hull)


def test_what_nobody_understands_is_kept():
    source = mcol.decode(hulls.read("quirks/test_words_sharedgap.col"))
    again = mcol.decode(mcol.encode(regrid(source, fit_grid(source.vertices, 9_000.0))))
    for field in ("unknown_4c", "unknown_60", "unknown_78"):
        assert np.array_equal(again.carried.header[field], source.carried.header[field])
    assert source.carried.header["unknown_60"].any()
    assert again.carried.shell.flags == source.carried.shell.flags
