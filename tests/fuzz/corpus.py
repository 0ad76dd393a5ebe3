"""Small inputs to start from, one folder of tests/data/fuzz a reader, and those made from the tests' other files."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np

from core.editing.build import hull_meshes
from core.editing.rebuild_hull import build
from core.formats import compression, idxd, mcol, obj
from core.game.archive_write import make_archive
from core.geometry.grid import Grid
from tests.fuzz.readers import READERS, SURVEYED
from tests.support.hulls import DATA, box, read
from tests.support.navigation_file import make_navigation

FOLDER = DATA / "fuzz"


def start(reader: str) -> list[bytes]:
    """The inputs of a reader, always in the same order."""
    return [*_kept(reader), *made(reader)]


def made(reader: str) -> list[bytes]:
    """Those of them that were made for this and have no damage."""
    return _made()[reader]


def _kept(reader: str) -> list[bytes]:
    paths = sorted((FOLDER / reader).glob("*")) if (FOLDER / reader).is_dir() else []
    return [path.read_bytes() for path in paths]


def _made() -> dict[str, list[bytes]]:
    corner = np.float32([4, 4, 4])
    small = mcol.encode(build(*box((-2, -2, -2), (1, 1, 1)), Grid(-corner, corner, corner, (2, 2, 2)), False))
    hull = mcol.decode(read("test.col"))
    table = idxd.build([("StageResource", [("a", "b")]), ("Phase_1", [("MapMesh", "test.col"), ("MapPath", "日本")])])
    wide = idxd.build([("Phase_1", [("MapMesh", "test.col")])], wide=True)
    journal = {"switching": True, "backup": True, "sizes": {"a": 3, "b": 3, "c": None}}
    coded = read("test.col")[-256:-16]
    made = {
        "hull": [small, read("test.col"), read("quirks/test_descending_multilist.col")],
        "set": [read("CollisionSet_small.bin")[:0x818], read("CollisionSet_small.bin")[-232:]],
        "navigation": [make_navigation(mcol.decode(small).grid), make_navigation(hull.grid)],
        "table": [idxd.encode(table), idxd.encode(wide)],
        "archive": [_archive()],
        "packed": [compression.pack(b"packed" * 50), compression.pack(b""), b"raw"],
        "relocation": [coded, b"\x51\x80\x40\xc0\x40\x00"],
        "obj": [
            obj.encode(hull_meshes(hull, "test")),
            b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\no a\nf 1/1 2//2 -2 4/4/4\n",
        ],
        "journal": [json.dumps(journal).encode(), json.dumps(journal | {"switching": False}).encode()],
    }
    made["survey"] = [
        bytes([number]) + data for number, reader in enumerate(SURVEYED) for data in (*_kept(reader), *made[reader])
    ]
    assert made.keys() == READERS.keys()
    return made


def _archive() -> bytes:
    with tempfile.TemporaryDirectory() as name:
        entries: dict[int | str, tuple[bytes, bool]] = {
            "a.col": (b"a" * 40, True),
            "b.bin": (b"raw bytes", False),
            "empty": (b"", True),
        }
        make_archive(Path(name) / "A.pak", entries, alignment=16, limit=4096)
        table, data = (Path(name) / "A.pak").read_bytes(), (Path(name) / "A.p00").read_bytes()
        return len(table).to_bytes(4, "big") + table + data
