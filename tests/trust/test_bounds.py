"""Bounds by kind of file: the worst file of each kind takes neither the memory nor the disk, and holds up no command.

Sizes are claimed by files with holes, by rows that share bytes, and by packed zeros.
"""

from __future__ import annotations

import struct
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli.main import main
from core.formats import compression, ipfb
from core.formats.kinds import MAGIC
from tests.fuzz.readers import FREE_BYTES, TIMES_INPUT
from tests.support.hulls import DATA
from tests.support.tally import cases

SECONDS = 60.0
"""Far more than any of them takes, far less than it took before there were bounds."""


def with_holes(start: bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        with open(folder / "huge.col", "wb") as stream:
            stream.write(start)
            stream.truncate(5 << 30)
        return folder / "huge.col"

    return write


def archive_of(rows: list[ipfb.Entry], data: bytes, folder: Path) -> Path:
    (folder / "X.pak").write_bytes(ipfb.encode(ipfb.Table(tuple(rows))))
    (folder / "X.p00").write_bytes(data)
    return folder / "X.pak"


def shared_blob(folder: Path) -> Path:
    """200 rows over one packed blob of zeros: 48 kB that unpack to 10 GB."""
    stored = compression.pack(bytes(47 << 20))
    return archive_of([ipfb.Entry(row + 1, 0, len(stored)) for row in range(200)], stored, folder)


def longer_and_longer(folder: Path) -> Path:
    """The same with each row a byte longer than the last, so that no two are equal."""
    stored = compression.pack(bytes(47 << 20))
    rows = [ipfb.Entry(row + 1, 0, len(stored) + row) for row in range(200)]
    return archive_of(rows, stored + bytes(200), folder)


def overlapping(folder: Path) -> Path:
    """Thousands of raw rows over nearly all of one data file: 10 GB out of 5 MB."""
    rows = [ipfb.Entry(row + 1, row, (5 << 20) - row) for row in range(2000)]
    return archive_of(rows, bytes(5 << 20), folder)


def many_rows(folder: Path) -> Path:
    """A table of 50,000 rows without data."""
    return archive_of([ipfb.Entry(row + 1, row * 0x800 % (1 << 28), 64) for row in range(50_000)], b"", folder)


def claims_rows(folder: Path) -> Path:
    (folder / "X.pak").write_bytes(struct.pack(">4sIII", b"IPFB", 0xFFFFFFFF, 0x800, 0x10000000) + bytes(1000))
    return folder / "X.pak"


WORST: dict[str, Callable[[Path], Path]] = {
    **{f"{magic.decode()} with holes": with_holes(magic) for magic in MAGIC},
    "set with holes": with_holes((DATA / "CollisionSet_small.bin").read_bytes()[:5000]),
    "unknown with holes": with_holes(b"????"),
    "shared blob": shared_blob,
    "longer and longer": longer_and_longer,
    "overlapping": overlapping,
    "many rows": many_rows,
    "claims rows": claims_rows,
}


@pytest.mark.parametrize("kind", WORST)
def test_the_worst_of_each_kind_stays_within_bounds(kind, tmp_path, capsys):
    file = WORST[kind](tmp_path)
    # What a file with holes takes on the disk is known on POSIX; elsewhere the bound is that of its length.
    size = sum(getattr(path.stat(), "st_blocks", path.stat().st_size / 512) * 512 for path in tmp_path.iterdir())
    for command in (["info"], ["list"], ["verify"], ["extract", "-o", str(tmp_path / "out")], ["diff", str(file)]):
        with cases("worst files of each kind, commands") as figure:
            tracemalloc.start()
            begun = time.monotonic()
            try:
                status = main([*command, str(file)])
                assert tracemalloc.get_traced_memory()[1] <= FREE_BYTES + TIMES_INPUT * size, command
            finally:
                tracemalloc.stop()
            assert time.monotonic() - begun < SECONDS, command
            printed = capsys.readouterr()
            assert "Traceback" not in printed.out + printed.err
            figure.refused += status == 2
    out = tmp_path / "out"
    assert sum(path.stat().st_size for path in out.iterdir()) < 100 << 20 if out.exists() else True
