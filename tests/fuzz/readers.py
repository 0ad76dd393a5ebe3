"""Each reader of the package, with what is done to its model afterwards.

A reader takes any bytes. It returns whether they could be read, and raises nothing but on a fault of the package: what
`FormatError` refuses was refused in time. What could be read must be written back byte for byte, and every command on
it must come to an end.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from core.disk import transaction
from core.editing.assemble import assemble
from core.editing.build import hull_meshes, part_meshes
from core.editing.options import Options
from core.editing.rebuild_hull import rebuild
from core.errors import FormatError, RefusedError
from core.formats import chunk, collision_set, compression, idxd, ipfb, mcol, obj, regn
from core.formats.kinds import detect
from core.game import archive
from core.game.archive_extract import extract
from core.game.archive_write import write_archive
from core.inspect import check_archive, check_table, describe
from core.inspect.check_hull import check_hull
from core.inspect.check_set import check_set
from core.inspect.checks import findings
from core.inspect.describe_navigation import describe_navigation
from core.inspect.diff_archive import diff_archives
from core.inspect.diff_hull import diff_hulls, diff_sets
from core.survey import runner
from tests.support.hulls import pieces

FREE_BYTES, TIMES_INPUT = 100 << 20, 50
"""What reading may allocate: so many bytes, and so many times the input's."""

HANGS_AFTER = 60.0
"""Seconds after which an input counts as one that never ends."""


def same(written: bytes, data: bytes) -> None:
    if written != data:
        where = next((i for i, (a, b) in enumerate(zip(written, data, strict=False)) if a != b), -1)
        raise AssertionError(f"written back differently: {len(written)} of {len(data)} bytes, first at {where}")


def read_hull(data: bytes) -> None:
    hull = mcol.decode(data)
    same(mcol.encode(hull), data)
    findings(check_hull(hull))
    json.dumps(describe.describe_hull(hull))
    if len(hull.triangles):
        meshes = hull_meshes(hull, "fuzzed")
        assert sum(len(mesh.triangles) for mesh in meshes) == len(hull.triangles)
        assert not diff_hulls(hull, hull)
    with contextlib.suppress(RefusedError):  # a fault that the game would choke on
        same(mcol.encode(rebuild(hull, assemble(pieces(hull), hull), Options()).hull), data)


def read_set(data: bytes) -> None:
    library = collision_set.decode(data)
    same(collision_set.encode(library), data)
    findings(check_set(library))
    json.dumps([describe.describe_set(library), describe.list_set(library)])
    part_meshes(library, "fuzzed")
    assert not diff_sets(library, library)


def read_navigation(data: bytes) -> None:
    volume = regn.decode(data)
    same(regn.encode(volume), data)
    regn.check(volume)
    json.dumps(describe_navigation(volume))
    if volume.grid:
        # Its arrays may contradict its own count of cells.
        assert all("room for" in reason for reason in regn.fits(volume, volume.grid))
        assert not regn.doubts(volume, volume.grid)


def read_table(data: bytes) -> None:
    table = idxd.decode(data)
    same(idxd.encode(table), data)
    check_table.check(table)
    json.dumps([describe.describe_table(table), describe.list_table(table)])
    for section in table.sections[:4]:
        for row in table.rows_of(section)[:4]:
            if section.name is not None and row.key is not None:
                with contextlib.suppress(FormatError):  # a name that this encoding can't spell
                    changed = idxd.set_value(table, section.name, row.key, "changed.col")
                    again = idxd.decode(idxd.encode(changed))
                    assert again.value(again.section(section.name), row.key) == "changed.col"


def read_packed(data: bytes) -> None:
    """A stored entry of an archive."""
    compression.unpacked_size(data)
    unpacked = compression.unpack(data)
    assert compression.unpack(compression.pack(unpacked)) == unpacked


def read_relocation(data: bytes) -> None:
    slots = chunk.decode_slots(data)
    if (slots[1:] > slots[:-1]).all():
        assert (chunk.decode_slots(chunk.encode_slots(slots)) == slots).all()


def read_obj(data: bytes) -> None:
    meshes = obj.decode(data)
    again = obj.decode(obj.encode(meshes))
    assert [mesh.triangles.tolist() for mesh in again] == [mesh.triangles.tolist() for mesh in meshes]
    assert [mesh.vertices.tobytes() for mesh in again] == [mesh.vertices.tobytes() for mesh in meshes]


def read_archive(data: bytes) -> None:
    """The input is a table's length in four bytes, the table, and the one data file."""
    size = int.from_bytes(data[:4], "big") % (len(data) + 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "A.pak").write_bytes(data[4 : 4 + size])
        (folder / "A.p00").write_bytes(data[4 + size :])
        same(ipfb.encode(ipfb.decode(data[4 : 4 + size])), data[4 : 4 + size])
        opened = archive.open_archive(folder / "A.pak")
        check_archive.check(opened, visit=lambda rows, contents: detect(contents))
        json.dumps([describe.describe_archive(opened), describe.list_archive(opened)])
        extract(opened, folder / "out")
        assert not {path.name for path in folder.iterdir()} - {"A.pak", "A.p00", "out"}
        assert not diff_archives(opened, opened)
        written = write_archive(opened, {}, folder / "new")
        for entry in opened.entries:
            if opened.by_hash[entry.hash] == entry:
                assert written.stored(written.find(entry.hash)) == opened.stored(entry)


def read_journal(data: bytes) -> None:
    """What an interrupted write of an archive left behind."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "inner"
        folder.mkdir()
        (folder.parent / "beside").write_bytes(b"not to be touched")
        for file in ("a", "b", "b.new~", "c.old~"):
            (folder / file).write_bytes(b"123")
        (folder / "A.journal~").write_bytes(data)
        try:
            transaction.pending(folder, "A")
            transaction.recover(folder, "A")
        finally:
            assert (folder.parent / "beside").read_bytes() == b"not to be touched"


SURVEYED = {
    "hull": "test.col",
    "set": "CollisionSet_S01.bin",
    "navigation": "test.rgn",
    "table": "StageResource_S01.tbl",
    "archive": "MiscBin.pak",
}


def read_survey(data: bytes) -> None:
    """The input is a byte that says what kind the rest is. A survey refuses nothing, and every fact has an answer."""
    kind = list(SURVEYED)[data[0] % len(SURVEYED)] if data else "hull"
    with tempfile.TemporaryDirectory() as name:
        folder, rest = Path(name), data[1:]
        if kind == "archive":
            size = int.from_bytes(rest[:4], "big") % (len(rest) + 1)
            (folder / "MiscBin.p00").write_bytes(rest[4 + size :])
            rest = rest[4 : 4 + size]
        (folder / SURVEYED[kind]).write_bytes(rest)
        found = runner.survey(folder, everything=True)
        text = runner.report(found)
        assert text.count("\n") < runner.MOST_LINES
        assert all(line.answer.text for line in found.lines)
        json.dumps(runner.document(found))


READERS: dict[str, Callable[[bytes], None]] = {
    "hull": read_hull,
    "set": read_set,
    "navigation": read_navigation,
    "table": read_table,
    "archive": read_archive,
    "packed": read_packed,
    "relocation": read_relocation,
    "obj": read_obj,
    "journal": read_journal,
    "survey": read_survey,
}


def readable(reader: str, data: bytes) -> bool:
    """Whether a reader takes the bytes. Raises whatever isn't the documented refusal."""
    try:
        READERS[reader](data)
    except FormatError as error:
        assert str(error) and "\n" not in str(error), repr(str(error))
        return False
    return True
