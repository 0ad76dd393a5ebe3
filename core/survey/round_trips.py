"""Round trips in a survey: what our own readers and writers make of the files. docs/FORMATS.md, all sections."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..editing.assemble import assemble
from ..editing.options import Options, Rebuild
from ..editing.pieces import Piece
from ..editing.rebuild_hull import rebuild
from ..errors import FormatError
from ..formats import collision_set, idxd, ipfb, mcol, mcol_records, regn
from .archives import LARGEST_TABLE, Archive, read_part
from .facts import Fact, NothingThere, Same, Subject
from .hulls import Hull
from .layout import gaps
from .tables import Table

MOST_WORK = 1 << 26
"""Most cells times triangles of a hull that is rebuilt."""


LARGEST_DECODED = 1 << 18
"""Bytes of a table that our own reader is tried on: it makes an object of each row."""


def _same(decode: Callable[[bytes], object], encode: Callable[..., bytes]) -> Callable[..., str]:
    """Whether what our own reader makes of a file is written back byte for byte."""
    return lambda thing: "the same bytes" if encode(decode(thing.data)) == thing.data else "other bytes"


def _rebuilt(hull: Hull, how: Rebuild) -> bytes:
    try:
        source = mcol.decode(hull.data)
    except FormatError:
        raise NothingThere("not decoded") from None
    if source.grid.cell_count * len(source.triangles) > MOST_WORK:
        raise NothingThere("too many cells and triangles")
    vertices, triangles = np.arange(len(source.vertices)), np.arange(len(source.triangles))
    piece = Piece("hull", source.vertices, source.triangles, vertices, triangles)
    return mcol.encode(rebuild(source, assemble([piece], source), Options(rebuild=how)).hull)


def _table(table: Table) -> str:
    if len(table.data) > LARGEST_DECODED:
        raise NothingThere("too large")
    return _same(idxd.decode, idxd.encode)(table)


def _archive(archive: Archive) -> str:
    data = read_part(archive.path, LARGEST_TABLE)
    if archive.header[0] > len(archive.rows):
        raise NothingThere("rows that aren't there")
    return "the same bytes" if ipfb.encode(ipfb.decode(data)) == data else "other bytes"


def _unedited(hull: Hull) -> str:
    return "the same bytes" if _rebuilt(hull, Rebuild.CHANGED) == hull.data else "other bytes"


def _everything(hull: Hull) -> str:
    """What differs, but for lists, spheres and fill states, which are compared with ours by facts of their own."""
    again = Hull(_rebuilt(hull, Rebuild.ALL))
    parts = _carried(hull), _carried(again)
    different = [name for name in parts[0] if parts[0][name] != parts[1][name]]
    return "nothing" if not different else ", ".join(different)


def _carried(hull: Hull) -> dict[str, object]:
    header = hull.header.copy()
    for name in mcol_records.HEADER_POINTERS:
        header[name] = 0
    empty = hull.cells[hull.cells["list_count"] == 0]
    first, shell = hull.shell.first, hull.shell
    return {
        "chunk words": (first.flags, first.word, shell.table.flags, shell.table.word, shell.zeros, shell.row_end[0]),
        "header": header.tobytes(),
        "vertices": hull.vertices.tobytes(),
        "triangles": hull.triangles.tobytes(),
        "cells": (hull.cells["position"].tobytes(), hull.cells["unknown_0c"].tobytes()),
        "empty cells": (empty["lists"].tobytes(), empty["sphere"].tobytes()),
        "order of blocks": [name for _, name, _ in hull.blocks],
        "bytes between blocks": b"".join(more.replace(b"\0", b"") for _, _, more in gaps(hull)),
    }


BYTES = Same(("the same bytes",))
FACTS = (
    Fact(
        "F162", "I", "hulls decoded and encoded", Subject.HULL, "the same bytes", _same(mcol.decode, mcol.encode), BYTES
    ),
    Fact("F163", "I", "hulls rebuilt without an edit", Subject.HULL, "the same bytes", _unedited, BYTES),
    Fact(
        "F164",
        "I",
        "hulls rebuilt from nothing, what differs that no fact above compares",
        Subject.HULL,
        "nothing",
        _everything,
        Same(("nothing",)),
    ),
    Fact(
        "F165",
        "I",
        "navigation volumes decoded and encoded",
        Subject.NAVIGATION,
        "the same bytes",
        _same(regn.decode, regn.encode),
        BYTES,
    ),
    Fact(
        "F166",
        "I",
        "collision sets decoded and encoded",
        Subject.SET,
        "the same bytes",
        _same(collision_set.decode, collision_set.encode),
        BYTES,
    ),
    Fact(
        "F167",
        "I",
        "tables decoded and encoded",
        Subject.TABLE,
        "the same bytes",
        _table,
        BYTES,
    ),
    Fact("F168", "I", "archive tables decoded and encoded", Subject.ARCHIVE, "the same bytes", _archive, BYTES),
)
