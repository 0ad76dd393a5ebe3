"""What a file may be like without harm is kept, in any mixture; what the game would choke on is never written, and
reported in a file that has it."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.cli.main import main
from core.editing.assemble import assemble
from core.editing.build import build_from_nothing, hull_meshes
from core.editing.options import Options, Rebuild
from core.editing.rebuild_hull import rebuild
from core.errors import Severity
from core.formats import ipfb, mcol
from core.game.archive_write import make_archive
from core.geometry.grid import Grid
from core.inspect.check_hull import check_hull
from tests.oracle import game_queries as game
from tests.oracle.readers import read_col
from tests.support.hulls import edited, moved, pieces, read
from tests.support.navigation_file import make_navigation
from tests.support.tally import cases
from tests.trust.irregular_hulls import odd_hull

PLAIN = {
    name: read_col(read(name))
    for name in ("test.col", "S01_AsteroidVolume_wp.col", "S05_AsteroidVolume_wp.col", "S13_AsteroidVolume_wp.col")
}


def errors(hull: mcol.Hull) -> list[str]:
    return [check.name for check in check_hull(hull) if not check.passed and check.severity is Severity.ERROR]


@settings(max_examples=100)
@given(name=st.sampled_from(sorted(PLAIN)), seed=st.integers(0, 2**32 - 1))
def test_any_mixture_of_oddities_is_read_kept_and_written_back(name, seed):
    plain, random = PLAIN[name], np.random.default_rng(seed)
    data = odd_hull(plain, random)
    with cases("odd hulls, unedited"):
        hull = mcol.decode(data)
        assert mcol.encode(hull) == data
        assert np.array_equal(hull.vertices, plain.vertices) and np.array_equal(hull.triangles, plain.triangles)
        assert not errors(hull)
        assert mcol.encode(rebuild(hull, assemble(pieces(hull), hull)).hull) == data
    with cases("odd hulls, edited"):
        part = pieces(hull)[0]
        step = random.normal(0, 300, 3)
        change = edited(hull, {part.name: moved(part, step)})
        every = bool(random.random() < 0.5)
        edit = rebuild(hull, change, Options(Rebuild.ALL if every else Rebuild.CHANGED))
        written = mcol.encode(edit.hull)
        after = mcol.decode(written)
        assert not errors(after)
        assert_kept(hull, after, edit.cells)
        starts, ends = random.uniform(plain.bbox_min[:3], plain.bbox_max[:3], (2, 20, 3))
        col = read_col(_usual(written), strict=False)
        truth = game.first_hits(col.vertices, col.triangles, starts, ends - starts)
        np.testing.assert_allclose(game.rays(col, starts, ends - starts), truth, atol=1e-7)


def assert_kept(before: mcol.Hull, after: mcol.Hull, touched: np.ndarray) -> None:
    """Everything that nobody reads, and the lists of cells that the edit didn't reach."""
    one, two = before.carried, after.carried
    assert one is not None and two is not None
    for field in ("minimum_w", "maximum_w", "extent_w", "unknown_4c", "unknown_60", "unknown_78", "outside_solid"):
        assert np.array_equal(one.header[field], two.header[field]), field
    assert [block.name for block in one.blocks] == [block.name for block in two.blocks]
    for old, new in zip(
        (one.lead, *(b.spare for b in one.blocks)), (two.lead, *(b.spare for b in two.blocks)), strict=True
    ):
        assert old.strip(b"\0") in new
    assert (one.shell.flags, one.shell.unknown_0c, one.shell.tail) == (
        two.shell.flags,
        two.shell.unknown_0c,
        two.shell.tail,
    )
    assert np.array_equal(one.cells["position"], two.cells["position"])
    assert np.array_equal(one.cells["unknown_0c"], two.cells["unknown_0c"])
    for cell in np.setdiff1d(before.occupied, touched).tolist():
        assert np.array_equal(before.cell_triangles(cell), after.cell_triangles(cell)), cell


def _usual(data: bytes) -> bytes:
    """The same without what lies behind the zero word, on which the independent reader insists."""
    end = 16 + int.from_bytes(data[4:8], "big")
    return data[: end + 16 + int.from_bytes(data[end + 4 : end + 8], "big")] + bytes(16)


# --- what the game would choke on -----------------------------------------------------------------


def put(form: str, offset: int, *values) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        changed = bytearray(data)
        struct.pack_into(">" + form, changed, offset, *values)
        return bytes(changed)

    return change


HULL = read("S13_AsteroidVolume_wp.col")
PLAN = read_col(HULL)
AT, POF0 = PLAN.at, 16 + PLAN.payload_size
OCCUPIED = AT["cells"] + 32 * next(i for i, cell in enumerate(PLAN.cells) if cell.count)
LIBRARY = read("CollisionSet_small.bin")
FIRST = 8 + int.from_bytes(LIBRARY[:4], "big")
VOLUME = make_navigation(mcol.decode(HULL).grid)

FATAL: dict[str, tuple[bytes, Callable[[bytes], bytes], str]] = {
    "already relocated": (HULL, put("B", 8, 1), ".col"),
    "a code that hangs the relocator": (HULL, put("B", POF0 + 17, 0x21), ".col"),
    "no POF0 behind the payload": (HULL, put("4s", POF0, b"POFX"), ".col"),
    "no zero word at the end": (HULL, put("I", len(HULL) - 16, 1), ".col"),
    "a pointer not relocated": (HULL, put("B", POF0 + 19, 0), ".col"),
    "a null pointer": (HULL, put("I", 0x54, 0), ".col"),
    "a vertex that isn't there": (HULL, put("H", AT["triangles"], 9999), ".col"),
    "a triangle that isn't there": (HULL, put("H", AT["indices"], 9999), ".col"),
    "a coordinate that is no number": (HULL, put("f", AT["vertices"], float("nan")), ".col"),
    "cells of no size": (HULL, put("f", 0x40, 0), ".col"),
    "no cells": (HULL, put("B", 0x70, 0), ".col"),
    "a cell with triangles that sweeps skip": (HULL, put("B", OCCUPIED + 3, 0), ".col"),
    "a list too short": (HULL, put("I", PLAN.cells[0].lists[0].offset, 1), ".col"),
    "a list's sphere too small": (HULL, put("f", PLAN.cells[0].lists[0].offset + 28, 10), ".col"),
    "a triangle's sphere too small": (HULL, put("f", AT["spheres"] + 12, 10), ".col"),
    "a triangle without area": (HULL, put("3H", AT["triangles"], *PLAN.triangles[0][[0, 1, 1]]), ".col"),
    "a triangle wound against the others": (HULL, put("3H", AT["triangles"], *PLAN.triangles[0][::-1]), ".col"),
    "a vertex outside the box": (HULL, put("f", AT["vertices"], 1e6), ".col"),
    "bytes behind the last mesh": (LIBRARY, lambda data: data + bytes(16), ".bin"),
    "a mesh cut off": (LIBRARY, lambda data: data[:-4], ".bin"),
    "no name field": (LIBRARY, put("I", 4, 0), ".bin"),
    "a size word that disagrees": (LIBRARY, put("I", 0, 9999), ".bin"),
    "a mesh's vertex that isn't there": (LIBRARY, put("I", FIRST - 4, 9999), ".bin"),
    "faces not aligned": (VOLUME, put("I", 0x78, int.from_bytes(VOLUME[0x78:0x7C], "big") - 4), ".rgn"),
    "a volume already relocated": (VOLUME, put("B", 8, 1), ".rgn"),
    "faces beyond the end": (VOLUME, put("H", 0x64, 60_000), ".rgn"),
}


@pytest.mark.parametrize("fault", FATAL)
def test_verify_reports_what_the_game_would_choke_on(fault, tmp_path, capsys):
    data, change, ending = FATAL[fault]
    file = tmp_path / f"file{ending}"
    with cases("fatal faults reported by verify"):
        file.write_bytes(data)
        assert main(["verify", str(file)]) == 0, "it is sound without the fault"
        file.write_bytes(change(data))
        assert change(data) != data
        capsys.readouterr()
        status = main(["verify", "--json", str(file)])
        output, error = capsys.readouterr()
        said = json.loads(output)
        assert status in (1, 2) and "Traceback" not in error
        assert error.startswith("error: ") if status == 2 else "error" in json.dumps(said)


NO_REASON_TO_FAIL = {"hash twice": "is in the table 2 times", "overlap": "overlap at"}
"""What nothing says the game minds: reported as a warning."""


@pytest.mark.parametrize("swapped", ["order", "hash twice", "overlap", "beyond the end", "damaged"])
def test_verify_reports_archives_in_which_the_game_would_not_find_or_read_entries(swapped, tmp_path, capsys):
    with cases("fatal faults reported by verify"):
        made = make_archive(tmp_path / "A.pak", {"a": (b"first" * 50, True), "b": (b"second" * 50, True)})
        assert main(["verify", str(made.path)]) == 0
        first, second = made.entries
        rows = {
            "order": (second, first),
            "hash twice": (first, ipfb.Entry(first.hash, second.position, second.size)),
            "overlap": (first, ipfb.Entry(second.hash, first.position, first.size + 1)),
            "beyond the end": (first, ipfb.Entry(second.hash, second.position, 1 << 20)),
            "damaged": (first, ipfb.Entry(second.hash, second.position, second.size - 1)),
        }[swapped]
        made.path.write_bytes(ipfb.encode(ipfb.Table(rows, made.table.alignment, made.table.limit)))
        capsys.readouterr()
        status = main(["verify", str(made.path)])
        printed = "".join(capsys.readouterr())
        assert "Traceback" not in printed
        if swapped in NO_REASON_TO_FAIL:
            assert status == 0 and NO_REASON_TO_FAIL[swapped] in printed and "warning" in printed
        else:
            assert status in (1, 2)


@settings(max_examples=60)
@given(name=st.sampled_from(sorted(PLAIN)), size=st.sampled_from([4_000.0, 7_777.7, 12_345.6, 50_000.0]))
def test_what_is_built_from_nothing_has_nothing_that_the_game_would_choke_on(name, size):
    with cases("hulls built from nothing"):
        hull = build_from_nothing(hull_meshes(mcol.decode(read(name)), "made"), size)
        data = mcol.encode(hull)
        read_col(data)
        again = mcol.decode(data)
        assert not errors(again)
        assert isinstance(again.grid, Grid) and again.outside_solid == mcol.decode(read(name)).outside_solid
