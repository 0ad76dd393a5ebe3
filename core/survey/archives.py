"""Archives in a survey: a reader that no file stops, and its facts. docs/FORMATS.md, section 6."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..formats import compression, ipfb
from ..game.archive_files import part_names
from .facts import Fact, NotMeasurable, Same, Subject, Tally

ROW = np.dtype([("hash", ">u4"), ("position", ">u4"), ("size", ">u4")])
LARGEST_TABLE = 16 << 20
LARGEST_ENTRY = 16 << 20
"""Most bytes of an entry, stored or unpacked, that are read."""
HEAD = 4224
"""Bytes of an entry, stored and unpacked, that decide its kind."""
REPEATED_ONLY_UP_TO = 12 << 20
"""Bytes that are packed again to see with what level they were."""
MOST_ENTRIES = 1 << 15
LEVELS = (9, 6, 1)


@dataclass(frozen=True, slots=True)
class Stored:
    """What the stored form of one blob says: how it is packed, and what is wrong with it."""

    form: str
    fits: bool
    level: str
    behind: int


@dataclass(slots=True)
class Archive:
    """NAME.pak as far as it can be read. `parts`: by number, path and size of the data files. `stored` by row, of those
    that were read; `kinds` what all of them are. `id` distinguishes the archives of one survey."""

    path: Path
    id: str
    table_size: int
    table_digest: str
    header: tuple[int, int, int]
    rows: np.ndarray
    tail: int
    parts: dict[int, tuple[str, int]]
    stored: dict[tuple[int, int], Stored] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    levels: dict[str, str] = field(default_factory=dict)
    packed_again: int = 0

    def read(self, row: int, most: int = LARGEST_ENTRY) -> bytes:
        """The stored bytes of an entry, the first `most` at most; what lies beyond the data file is missing."""
        position, size = int(self.rows["position"][row]), int(self.rows["size"][row])
        return self.read_at(position >> 28, position & 0x0FFFFFFF, min(size, most))

    def read_at(self, part: int, offset: int, size: int) -> bytes:
        """Bytes of a data file; what isn't there is missing."""
        if part not in self.parts or size <= 0:
            return b""
        return read_part(self.parts[part][0], size, offset)

    def head(self, row: int) -> bytes:
        """The first bytes of an entry, unpacked."""
        stored = self.read(row, HEAD)
        if not compression.is_packed(stored) or len(stored) < compression.PACKED.size:
            return stored
        try:
            return zlib.decompressobj().decompress(stored[compression.PACKED.size :], HEAD)
        except zlib.error:
            return b""

    def unpack(self, row: int, stored: bytes) -> bytes:
        """The unpacked bytes of an entry, as far as they can be had; notes how it is stored."""
        place = int(self.rows["position"][row]), int(self.rows["size"][row])
        if len(stored) < place[1]:
            self.stored.setdefault(place, Stored("cut", False, "", 0))
        if not compression.is_packed(stored) or len(stored) < compression.PACKED.size:
            self.stored.setdefault(place, Stored("raw", True, "", 0))
            return stored
        _, size, adler = compression.PACKED.unpack_from(stored)
        stream = zlib.decompressobj()
        try:
            data = stream.decompress(stored[compression.PACKED.size :], min(size, LARGEST_ENTRY) + 1)
        except zlib.error:
            data = b""
        fits = len(data) == size and stream.eof and zlib.adler32(data) == adler
        if place not in self.stored:
            level = self._level(stored, data) if fits else ""
            self.stored[place] = Stored("packed", fits, level, len(stream.unused_data))
        return data[:size]

    def _level(self, stored: bytes, data: bytes) -> str:
        """The first words of the stream, and the level at which our zlib writes the same one."""
        form = stored[compression.PACKED.size : compression.PACKED.size + 2].hex()
        key = digest(stored)
        if key in self.levels:
            return self.levels[key]
        if self.packed_again + len(data) > REPEATED_ONLY_UP_TO:
            return form
        self.packed_again += len(data)
        for level in LEVELS:
            again = zlib.compress(data, level)
            if stored[compression.PACKED.size : compression.PACKED.size + len(again)] == again:
                form += f", level {level}"
                break
        else:
            form += ", no level of ours"
        self.levels[key] = form
        return form


def open_archive(path: Path, id: str) -> Archive:
    """Reads an archive's table. Raises `NotMeasurable` if it is none, `OSError` if it can't be read."""
    data = read_part(path, LARGEST_TABLE)
    if data[:4] != ipfb.MAGIC or len(data) < ipfb.HEADER.size:
        raise NotMeasurable("no archive's table")
    _, count, alignment, limit = ipfb.HEADER.unpack_from(data)
    there = min(count, (len(data) - ipfb.HEADER.size) // ROW.itemsize, MOST_ENTRIES)
    rows = np.frombuffer(data, ROW, there, ipfb.HEADER.size)
    tail = len(data) - ipfb.HEADER.size - there * ROW.itemsize
    return Archive(path, id, len(data), digest(data), (count, alignment, limit), rows, tail, data_files(path))


def data_files(pak: Path) -> dict[int, tuple[str, int]]:
    """Path and size of each data file beside a .pak, by number. Raises `OSError` if the folder can't be read."""
    found = {}
    for number, name in part_names(pak.name, os.listdir(pak.parent)).items():
        path = pak.parent / name
        if path.is_file():
            found[number] = os.fspath(path), path.stat().st_size
    return found


def read_part(path: str | os.PathLike[str], most: int, offset: int = 0) -> bytes:
    """So many bytes of a file, or as many as there are. Raises `OSError` if it can't be read."""
    with open(path, "rb") as stream:
        there = os.fstat(stream.fileno()).st_size - offset
        stream.seek(offset)
        return stream.read(max(min(most, there), 0))  # reading takes the memory that is asked for, not what is there


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


# --- facts ----------------------------------------------------------------------------------------


def _kinds(archive: Archive) -> str:
    return ", ".join(f"{kind} {count:,}" for kind, count in sorted(archive.kinds.items()))


def _header(archive: Archive) -> str:
    return f"0x{archive.header[1]:X} 0x{archive.header[2]:X}"


def _count(archive: Archive) -> str:
    return "as many" if archive.header[0] == len(archive.rows) else "more than there are"


def _tail(archive: Archive) -> str:
    return f"{archive.tail:,}"


def _zero_rows(archive: Archive) -> str:
    return f"{np.count_nonzero(archive.rows['hash'] == 0):,}"


def _ascending(archive: Archive) -> str:
    steps = np.diff(archive.rows["hash"].astype(np.int64))
    return "ascending" if (steps > 0).all() else f"{np.count_nonzero(steps <= 0):,} rows out of order or twice"


def _data_order(archive: Archive) -> str:
    """Whether the data lie in the order of the rows."""
    positions = archive.rows["position"].astype(np.int64)
    if (np.diff(positions) >= 0).all():
        return "as the rows"
    return f"{np.count_nonzero(np.diff(positions) < 0):,} steps back"


def _blobs(archive: Archive) -> np.ndarray:
    """The different (position, size) of entries with data, ascending, int64 (n, 2)."""
    rows = archive.rows[archive.rows["size"] > 0]
    return np.unique(np.stack((rows["position"], rows["size"]), axis=1).astype(np.int64), axis=0)


def _shared(archive: Archive) -> str:
    filled = int(np.count_nonzero(archive.rows["size"]))
    shared = filled - len(_blobs(archive))
    return f"{shared:,} of {filled:,} entries" if shared else "none"


def _ends(archive: Archive) -> tuple[np.ndarray, np.ndarray]:
    """Where the gap in front of each blob begins and where it ends, in the position's own numbering."""
    blobs = _blobs(archive)
    reach = np.maximum.accumulate(blobs.sum(axis=1)) if len(blobs) else np.zeros(0, np.int64)
    before = np.concatenate(([0], reach[:-1])) if len(blobs) else reach
    starts = blobs[:, 0]
    same = starts >> 28 == np.maximum(before - 1, 0) >> 28
    return np.where(same, before, starts >> 28 << 28), starts


def _overlaps(archive: Archive) -> str:
    before, starts = _ends(archive)
    return f"{np.count_nonzero(before > starts):,}"


def _aligned(archive: Archive) -> tuple[int, int]:
    good = (_blobs(archive)[:, 0] & 0x0FFFFFFF) % ipfb.ALIGNMENT == 0
    return int(good.sum()), len(good)


def _gap_sizes(archive: Archive) -> str:
    before, starts = _ends(archive)
    wide = np.count_nonzero(starts - before >= ipfb.ALIGNMENT)
    return "smaller than 0x800" if not wide else f"{wide:,} wider"


def _gap_bytes(archive: Archive) -> str:
    odd = 0
    for before, start in zip(*_ends(archive), strict=True):
        size = min(int(start - before), LARGEST_ENTRY)
        gap = archive.read_at(int(before) >> 28, int(before) & 0x0FFFFFFF, size)
        odd += gap.count(0) != len(gap)
    return "zeros" if not odd else f"something else in {odd:,}"


def _data_ends(archive: Archive) -> str:
    """What follows the last blob of each data file."""
    ends: Counter[int] = Counter()
    for position, size in _blobs(archive).tolist():
        ends[position >> 28] = max(ends[position >> 28], (position & 0x0FFFFFFF) + size)
    words = set()
    for part, end in ends.items():
        size = archive.parts.get(part, ("", -1))[1]
        if size < end:
            words.add("cut short")
        elif size == end:
            words.add("with the last entry")
        else:
            words.add("padded" if size == end + -end % ipfb.ALIGNMENT else "with something more")
    return " and ".join(sorted(words)) or "no data"


def _forms(archive: Archive) -> str:
    counts = Counter(stored.form for stored in archive.stored.values())
    return ", ".join(f"{form} {count:,}" for form, count in sorted(counts.items()))


def _fits(archive: Archive) -> tuple[int, int]:
    return sum(stored.fits for stored in archive.stored.values()), len(archive.stored)


def _levels(archive: Archive) -> str:
    counts = Counter(stored.level for stored in archive.stored.values() if stored.level)
    return "; ".join(f"{level}: {count:,}" for level, count in counts.most_common()) or "nothing packed"


def _behind(archive: Archive) -> str:
    return f"{sum(stored.behind > 0 for stored in archive.stored.values()):,}"


_A = Subject.ARCHIVE
FACTS = (
    Fact("F144", "P", "entries by kind", _A, "11 .rgn, 11 .col, 18 sets", _kinds, Same()),
    Fact("F145", "P", "alignment and limit", _A, "0x800 0x10000000", _header, Same(("0x800 0x10000000",))),
    Fact("F146", "P", "rows that the header counts", _A, "as many", _count, Same(("as many",))),
    Fact("F147", "P", "bytes behind the last row", _A, "0", _tail, Same(("0",))),
    Fact("F148", "A", "rows with hash 0", _A, "0", _zero_rows, Same(("0",))),
    Fact("F149", "C", "order of the rows by hash", _A, "ascending", _ascending, Same(("ascending",))),
    Fact("F150", "A", "order of the data", _A, "as the rows", _data_order, Same(("as the rows",))),
    Fact("F151", "A", "entries that share position and size", _A, "none", _shared, Same(("none",))),
    Fact("F152", "P", "entries that overlap otherwise", _A, "0", _overlaps, Same(("0",))),
    Fact("F153", "P", "positions at multiples of 0x800", _A, "all", _aligned, Tally()),
    Fact("F154", "A", "gaps between entries", _A, "smaller than 0x800", _gap_sizes, Same(("smaller than 0x800",))),
    Fact("F155", "P", "bytes in gaps", _A, "zeros", _gap_bytes, Same(("zeros",))),
    Fact("F156", "A", "ends of data files", _A, "padded", _data_ends, Same(("padded",))),
    Fact("F157", "P", "stored forms of what was read", _A, "packed or raw", _forms, Same()),
    Fact("F158", "P", "sizes and Adler-32 that fit", _A, "all", _fits, Tally()),
    Fact("F159", "A", "zlib streams", _A, "not known", _levels, Same()),
    Fact("F160", "P", "entries with bytes behind the stream", _A, "0", _behind, Same(("0",))),
)
