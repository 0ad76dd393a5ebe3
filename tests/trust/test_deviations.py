"""Files that differ from the game's own in one point that docs/FORMATS.md only derives or assumes: read, written back
byte for byte, and no error of `verify`. Each is made from a file without faults, with exactly one deviation."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from core.cli.main import main
from core.editing.assemble import assemble
from core.editing.options import Options
from core.editing.rebuild_hull import rebuild
from core.errors import Severity
from core.formats import collision_set, mcol, regn
from core.geometry import exact
from core.inspect.check_hull import check_hull
from tests.oracle.readers import read_col
from tests.support.hulls import edited, moved, pieces, read
from tests.support.navigation_file import make_navigation
from tests.support.tally import cases

HULL = read("S13_AsteroidVolume_wp.col")
PLAN = read_col(HULL)
AT, POF0 = PLAN.at, 16 + PLAN.payload_size
MODEL = mcol.decode(HULL)
EMPTY = AT["cells"] + 32 * next(number for number, cell in enumerate(PLAN.cells) if not cell.count)
OCCUPIED = AT["cells"] + 32 * next(number for number, cell in enumerate(PLAN.cells) if cell.count)
LIST = PLAN.cells[int(MODEL.occupied[0])].lists[0].offset
LIBRARY = read("CollisionSet_small.bin")
VOLUME = make_navigation(MODEL.grid)

Change = Callable[[], bytes]


def put(data: bytes, form: str, offset: int, *values) -> bytes:
    changed = bytearray(data)
    struct.pack_into(">" + form, changed, offset, *values)
    return bytes(changed)


def model(**changes) -> bytes:
    return mcol.encode(replace(MODEL, **changes))


def shell(**changes) -> bytes:
    carried = MODEL.carried
    return model(carried=replace(carried, shell=replace(carried.shell, **changes)))


def blocks(change: Callable[[list], list]) -> bytes:
    return model(carried=replace(MODEL.carried, blocks=tuple(change(list(MODEL.carried.blocks)))))


def recoded(coded: bytes) -> bytes:
    """The hull with the same relocation table in other bytes."""
    end = POF0 + 16 + int.from_bytes(HULL[POF0 + 4 : POF0 + 8], "big")
    return put(HULL[: POF0 + 16], "I", POF0 + 4, len(coded)) + coded + HULL[end:]


def coded(slots, width: int = 1) -> bytes:
    deltas = np.diff(slots, prepend=0x10) // 4
    widths = [max(width, 1 + (delta > 0x3F) + (delta > 0x3FFF)) for delta in deltas.tolist()]
    return b"".join(
        ((size << (8 * size - 2)) + delta).to_bytes(size, "big")
        for size, delta in zip(widths, deltas.tolist(), strict=True)
    )


SLOTS = mcol.chunk.decode(HULL, b"MCOL").slots


def relisted(order: Callable[[np.ndarray], np.ndarray]) -> bytes:
    """Each list's triangles as `order` gives them."""
    runs = np.split(MODEL.indices, MODEL.list_starts[1:])
    runs = [np.asarray(order(run), np.uint16) for run in runs]
    sizes = np.array([len(run) for run in runs])
    return model(indices=np.concatenate(runs), list_sizes=sizes, list_starts=np.cumsum(sizes) - sizes)


def with_spheres(factor: float) -> bytes:
    spheres = MODEL.spheres.copy()
    spheres[:, 3] *= np.float32(factor)
    return model(spheres=spheres)


def with_list_spheres(spheres: np.ndarray) -> bytes:
    return model(list_spheres=spheres.astype(np.float32))


def around_cells() -> np.ndarray:
    """A sphere around each occupied cell's box, wide enough for what lies in it."""
    grid = MODEL.grid
    middle = grid.lower_corner(grid.position(MODEL.occupied)) + grid.cell_size / 2
    radius = np.linalg.norm(grid.cell_size) / 2 * 1.001
    return np.concatenate((middle, np.full((len(middle), 1), radius)), axis=1)


def without_touching() -> bytes:
    """The lists less what only touches the cell and is listed beside."""
    rows, _, listed = MODEL.entries()
    cells, triangles = MODEL.occupied[rows], MODEL.triangles.astype(np.int64)
    shallow = exact.depths(MODEL.grid, MODEL.vertices, triangles, listed, cells) == 0
    keys = np.sort((cells * len(triangles) + listed)[~shallow])
    shallow[shallow] = exact.covered(MODEL.grid, MODEL.vertices, triangles, listed[shallow], cells[shallow], keys)
    assert shallow.any()
    sizes = np.bincount(rows[~shallow], minlength=len(MODEL.occupied))
    return model(indices=MODEL.indices[~shallow], list_sizes=sizes, list_starts=np.cumsum(sizes) - sizes)


def renumbered_vertices() -> bytes:
    count = len(MODEL.vertices)
    return model(
        vertices=MODEL.vertices[::-1], triangles=(count - 1 - MODEL.triangles.astype(np.int64)).astype(np.uint16)
    )


def nudged(steps: int) -> bytes:
    vertices = MODEL.vertices.copy()
    top = vertices[:, 0] == MODEL.grid.maximum[0]
    assert top.any()
    vertices[top, 0] += steps * np.spacing(MODEL.grid.maximum[0])
    return model(vertices=vertices)


def with_header(name: str, value) -> bytes:
    header = MODEL.carried.header.copy()
    header[name] = value
    return model(carried=replace(MODEL.carried, header=header))


def wall_inside_out() -> bytes:
    parts = pieces(MODEL)
    wall = next(part for part in parts if part.name == "wall")
    triangles = MODEL.triangles.copy()
    triangles[wall.triangle_ids] = triangles[wall.triangle_ids][:, ::-1]
    return model(triangles=triangles)


FURTHER = b"MESH" + struct.pack(">3I", 5, 0, 0) + b"five!"
TABLE = b"POF0" + struct.pack(">3I", 2, 0, 0) + b"\x41\0"

HULLS: dict[str, Change] = {
    # Section 1
    "another version": lambda: put(HULL, "I", 8, 0x00020005),
    "a word behind the version": lambda: put(HULL, "I", 12, 0x12345678),
    "4 zero bytes at the end": lambda: HULL[:-12],
    "no zero byte at the end": lambda: HULL[:-16],
    "3 zero bytes at the end": lambda: HULL[:-13],
    "20 zero bytes at the end": lambda: HULL + bytes(4),
    "bytes behind the zero word": lambda: HULL + b"made by somebody",
    "a further chunk": lambda: HULL[:-16] + FURTHER + bytes(4),
    "a further chunk with its table": lambda: HULL[:-16] + FURTHER + TABLE + bytes(16),
    "a further chunk and no end": lambda: HULL[:-16] + FURTHER + TABLE,
    "a payload of no whole words": lambda: put(HULL[:POF0] + b"\0" + HULL[POF0:], "I", 4, POF0 - 15),
    # Section 2
    "table without padding": lambda: recoded(coded(SLOTS)),
    "table with uncounted padding": lambda: recoded(coded(SLOTS)) + bytes(16),
    "table in long codes": lambda: recoded(coded(SLOTS, 3)),
    "table with bytes behind its end": lambda: recoded(coded(SLOTS) + b"\0\1\2\3"),
    "table that names empty cells": lambda: recoded(coded(np.union1d(SLOTS, [EMPTY + 8]))),
    "table that names unread words": lambda: recoded(
        coded(np.union1d(SLOTS, [0x4C, 0x60, 0x78, LIST + 8, EMPTY + 12]))
    ),
    "words of the table's shell": lambda: shell(
        relocation=replace(MODEL.carried.shell.relocation, flags=7, unknown_0c=9)
    ),
    # Section 3
    "words of the header": lambda: put(put(HULL, "I", 0x4C, 7), "4I", 0x60, 1, 2, 3, 4),
    "words behind the cells' pointer": lambda: put(HULL, "2I", 0x78, 5, 6),
    "another extent": lambda: put(HULL, "3f", 0x30, 1, 2, 3),
    "box words": lambda: put(put(HULL, "f", 0x1C, 0), "f", 0x2C, 7),
    "another order of arrays": lambda: blocks(lambda order: order[::-1]),
    "cells in front": lambda: blocks(lambda order: [order[3], *order[:3], *order[4:]]),
    "a gap in front": lambda: model(carried=replace(MODEL.carried, lead=b"spare byte here!")),
    "a gap between arrays": lambda: blocks(
        lambda order: [replace(one, spare=one.spare + b"mine" * 4) if one.name == "triangles" else one for one in order]
    ),
    "no padding of arrays": lambda: blocks(
        lambda order: [replace(one, spare=b"") if one.name == "vertices" else one for one in order]
    ),
    "a pointer in an empty cell": lambda: put(HULL, "I", EMPTY + 8, 0x40),
    "a pointer nowhere in an empty cell": lambda: put(HULL, "I", EMPTY + 8, 0xFFFFFFF0),
    "a cell's spare word": lambda: put(HULL, "I", OCCUPIED + 12, 0xABCD),
    "a cell's position": lambda: put(HULL, "3B", OCCUPIED, 9, 9, 9),
    "a cell's own sphere": lambda: put(HULL, "4f", OCCUPIED + 16, 1, 2, 3, float("nan")),
    "a sphere in an empty cell": lambda: put(HULL, "4f", EMPTY + 16, 1, 2, 3, 4),
    "words of a list record": lambda: put(HULL, "2I", LIST + 8, 0xDEAD, 0xBEEF),
    "lists in falling order": lambda: relisted(lambda run: run[::-1]),
    "lists in any order": lambda: relisted(lambda run: np.roll(run, 1)),
    "lists with duplicates": lambda: relisted(lambda run: np.append(run, run[0])),
    "lists with more than they need": lambda: relisted(lambda run: np.union1d(run, [0])),
    "lists without what only touches": without_touching,
    "fill states of free cells": lambda: put(HULL, "B", EMPTY + 3, 2 - HULL[EMPTY + 3]),
    "another fill state": lambda: put(HULL, "B", EMPTY + 3, 77),
    "byte 0x73 of another value": lambda: put(HULL, "B", 0x73, 255),
    "byte 0x73 the other way around": lambda: put(HULL, "B", 0x73, 0 if HULL[0x73] else 1),
    "a wall that faces outward": wall_inside_out,
    "larger triangle spheres": lambda: with_spheres(1.01),
    "triangle spheres without margin": lambda: with_spheres(1 / 1.0001),
    "larger list spheres": lambda: with_list_spheres(MODEL.list_spheres * [1, 1, 1, 1.5]),
    "list spheres without margin": lambda: with_list_spheres(MODEL.list_spheres * [1, 1, 1, 1 / 1.001]),
    "vertices in another order": renumbered_vertices,
    "vertices a step outside the box": lambda: nudged(1),
    "vertices some steps outside the box": lambda: nudged(5),
    "a box larger than its cells": lambda: with_larger_box(),
}


def with_larger_box() -> bytes:
    return model(grid=replace(MODEL.grid, maximum=MODEL.grid.maximum + np.float32(3)))


def errors(hull: mcol.Hull) -> list[str]:
    return [check.name for check in check_hull(hull) if not check.passed and check.severity is Severity.ERROR]


def verified(tmp_path, capsys, name: str, data: bytes) -> int:
    path = tmp_path / name
    path.write_bytes(data)
    status = main(["verify", str(path)])
    error = capsys.readouterr().err
    assert error == ""
    return status


@pytest.mark.parametrize("deviation", HULLS)
def test_a_hull_with_one_deviation_is_carried_and_passes(deviation, tmp_path, capsys):
    data = HULLS[deviation]()
    with cases("files with one deviation"):
        assert data != HULL
        hull = mcol.decode(data)
        assert mcol.encode(hull) == data
        assert mcol.encode(rebuild(hull, assemble(pieces(hull), hull)).hull) == data
        assert verified(tmp_path, capsys, "a.col", data) == 0


@pytest.mark.parametrize("deviation", HULLS)
def test_an_edit_of_a_hull_with_one_deviation_is_no_worse(deviation):
    hull = mcol.decode(HULLS[deviation]())
    rock = next(part for part in pieces(hull) if part.name.startswith("asteroid"))
    with cases("edits of files with one deviation"):
        after = rebuild(hull, edited(hull, {rock.name: moved(rock, (10, 20, 30))}), Options())
        again = mcol.decode(mcol.encode(after.hull))
        assert not errors(again)
        assert again.carried.shell.tail == hull.carried.shell.tail
        assert again.carried.header["unknown_60"].tolist() == hull.carried.header["unknown_60"].tolist()


def test_list_spheres_around_their_cells_are_enough(tmp_path, capsys):
    """The sphere needs to hold what matters in the cell: where no triangle reaches past the border of the grid."""
    inside = MODEL.grid.position(MODEL.occupied)
    inside = ((inside > 0) & (inside < np.array(MODEL.grid.dimensions) - 1)).all(axis=1)
    spheres = MODEL.list_spheres.astype(np.float64)
    spheres[inside] = around_cells()[inside]
    data = with_list_spheres(spheres)
    assert inside.any() and mcol.encode(mcol.decode(data)) == data
    assert verified(tmp_path, capsys, "a.col", data) == 0


# --- sets -----------------------------------------------------------------------------------------

PARTS = collision_set.decode(LIBRARY).parts


def library(*parts) -> bytes:
    return collision_set.encode(collision_set.CollisionSet((*parts, *PARTS[1:])))


FIRST = PARTS[0]
NAN = np.full((1, 3), np.nan, np.float32)
SETS: dict[str, Change] = {
    "a name field of 8 bytes": lambda: library(replace(FIRST, name_field=b"abc".ljust(8, b"\0"))),
    "a name field of 13 bytes": lambda: library(replace(FIRST, name_field=b"mob_n040".ljust(13, b"\0"))),
    "a name field of 64 bytes": lambda: library(replace(FIRST, name_field=b"mob_n040".ljust(64, b"\0"))),
    "a name without NUL": lambda: library(replace(FIRST, name_field=b"mob_n040")),
    "bytes behind the name": lambda: library(replace(FIRST, name_field=b"mob_n040\0rest...")),
    "equal names": lambda: library(FIRST, FIRST),
    "names that differ in case": lambda: library(FIRST, replace(FIRST, name_field=FIRST.name_field.upper())),
    "a mesh without triangles": lambda: library(replace(FIRST, triangles=FIRST.triangles[:0])),
    "an empty mesh": lambda: library(replace(FIRST, triangles=FIRST.triangles[:0], vertices=FIRST.vertices[:0])),
    "unused vertices": lambda: library(replace(FIRST, vertices=np.concatenate((FIRST.vertices, FIRST.vertices[:1])))),
    "unused vertices that are no numbers": lambda: library(
        replace(FIRST, vertices=np.concatenate((FIRST.vertices, NAN, -NAN, np.inf * NAN)))
    ),
    "one mesh": lambda: collision_set.encode(collision_set.CollisionSet((FIRST,))),
}


@pytest.mark.parametrize("deviation", SETS)
def test_a_set_with_one_deviation_is_carried_and_passes(deviation, tmp_path, capsys):
    data = SETS[deviation]()
    with cases("files with one deviation"):
        assert data != LIBRARY
        assert collision_set.encode(collision_set.decode(data)) == data
        assert verified(tmp_path, capsys, "a.bin", data) == 0


# --- navigation volumes ---------------------------------------------------------------------------

VOLUMES: dict[str, Change] = {
    "dimensions in another form": lambda: put(VOLUME, "4I", 0x50, 0x0A0A0A00, 0, 0, 0),
    "dimensions of another order": lambda: put(VOLUME, "3I", 0x50, 1, 100, 10),
    "another count of cells": lambda: put(VOLUME, "H", 0x66, 3),
    "no count of cells": lambda: put(VOLUME, "H", 0x66, 0),
    "another count of vertices": lambda: put(VOLUME, "H", 0x60, 1),
    "another count of items": lambda: put(VOLUME, "2H", 0x68, 9, 9),
    "a spare word": lambda: put(VOLUME, "I", 0x6C, 77),
    "a word behind the cell size": lambda: put(VOLUME, "I", 0x4C, 77),
    "another extent": lambda: put(VOLUME, "3f", 0x30, 1, 2, 3),
    "no pointer to the items": lambda: put(VOLUME, "2I", 0x80, 0, 0),
    "4 zero bytes at the end": lambda: VOLUME[:-12],
    "no zero byte at the end": lambda: VOLUME[:-16],
    "a further chunk": lambda: VOLUME[:-16] + FURTHER + TABLE + bytes(4),
    "another version": lambda: put(VOLUME, "I", 8, 0x00020005),
}


@pytest.mark.parametrize("deviation", VOLUMES)
def test_a_volume_with_one_deviation_is_carried_passes_and_fits(deviation, tmp_path, capsys):
    data = VOLUMES[deviation]()
    with cases("files with one deviation"):
        assert data != VOLUME
        volume = regn.decode(data)
        assert regn.encode(volume) == data
        assert regn.fits(volume, MODEL.grid) == []
        assert verified(tmp_path, capsys, "a.rgn", data) == 0
