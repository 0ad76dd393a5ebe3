"""IPFB archives: a table NAME.pak, and data files NAME.p00, NAME.p01, … (format notes, section 6).

An archive stores no names, only their hashes; names come from `stage.known_names`. Opening one reads the table and
nothing else. Archives are written by `ipfb_write`, unpacked to a folder by `ipfb_extract`.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import file_switch
from .binary import view
from .errors import Finding, FormatError, Severity
from .files import read_file
from .hashes import file_id

MAGIC, PACKED_MAGIC = b"IPFB", b"Z1"
HEADER = np.dtype([("magic", "S4"), ("count", ">u4"), ("alignment", ">u4"), ("limit", ">u4")])
ENTRY = np.dtype([("hash", ">u4"), ("position", ">u4"), ("size", ">u4")])
PACKED = np.dtype([("magic", "S2"), ("size", ">u4"), ("adler", ">u4")])  # in front of the zlib stream of a packed entry

ALIGNMENT, LIMIT, PARTS = 0x800, 0x10000000, 16
BLOCK = 1 << 20  # bytes read at a time where a whole entry isn't needed

Progress = Callable[[int, int], None]  # bytes done, bytes in all


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the table: the file id of the name, the position (`part` and `offset` in one word), the stored bytes."""

    hash: int
    position: int
    size: int

    @property
    def part(self) -> int:
        """The number of the data file."""
        return self.position >> 28

    @property
    def offset(self) -> int:
        """Where in the data file."""
        return self.position & 0x0FFFFFFF


@dataclass(frozen=True, slots=True)
class Table:
    """What a .pak file holds. `alignment` and `limit`: of the data files, bytes; `tail`: bytes behind the entries."""

    entries: tuple[Entry, ...]
    alignment: int = ALIGNMENT
    limit: int = LIMIT
    tail: bytes = b""


@dataclass(frozen=True, slots=True)
class Part:
    """A data file that is there, and its length when the archive was opened."""

    path: Path
    size: int


@dataclass(frozen=True, slots=True)
class Archive:
    """An open archive. Keeps no file open; if the files change, reading says so instead of giving wrong bytes.

    `path`: the .pak; `names`: by hash, those that are known.
    """

    path: Path
    table: Table
    parts: Mapping[int, Part]
    names: Mapping[int, str]
    by_hash: Mapping[int, Entry]
    stamp: tuple[Path, int, int] = field(repr=False)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries, in the table's order."""
        return self.table.entries

    def with_names(self, names: Mapping[int, str]) -> Archive:
        """The same archive, with names by hash added where it has such an entry."""
        known = {number: name for number, name in names.items() if number in self.by_hash}
        return dataclasses.replace(self, names={**self.names, **known})

    def label(self, entry: Entry) -> str:
        """The entry's name, or its hash in hexadecimal."""
        return self.names.get(entry.hash, f"{entry.hash:08x}")

    def find(self, wanted: str | int) -> Entry:
        """The entry of a name (case doesn't matter) or hash; a name may be a hash, as `2cf7eb47` or `2cf7eb47.bin`.

        Raises `FormatError`, with the closest of the known names, if there is none.
        """
        numbers = [wanted] if isinstance(wanted, int) else [file_id(wanted)]
        if isinstance(wanted, str) and re.fullmatch(r"[0-9a-fA-F]{8}(\.bin)?", wanted):
            numbers.append(int(wanted[:8], 16))
        for number in numbers:
            if number in self.by_hash:
                return self.by_hash[number]
        text = wanted if isinstance(wanted, str) else f"{wanted:08x}"
        known = {name.lower(): name for name in self.names.values()}
        close = [known[name] for name in difflib.get_close_matches(text.lower(), known, 3)]
        remedy = "did you mean " + " or ".join(close) + "?" if close else "the command `list` shows what it holds"
        raise FormatError(f"the archive has no {text}", remedy=remedy, file=str(self.path))

    def stored(self, entry: Entry) -> bytes:
        """An entry's bytes as they are stored, packed or raw. Raises `FormatError` if they can't be read."""
        return b"".join(self.stored_blocks(entry, max(entry.size, 1)))

    def stored_blocks(self, entry: Entry, block: int = BLOCK) -> Iterator[bytes]:
        """The same bytes in blocks, for copying."""
        try:
            part = self._part(entry)
            yield from read_range(part.path, entry.offset, entry.size, block)
        except FormatError as error:
            raise self._named(error, entry) from error

    def read(self, entry: Entry) -> bytes:
        """An entry's bytes, unpacked. Raises `FormatError` for damaged data; other entries can still be read."""
        stored = self.stored(entry)
        try:
            return unpack(stored)
        except FormatError as error:
            raise self._named(error, entry) from error

    def unpacked_size(self, entry: Entry) -> int | None:
        """The length that a packed entry declares, None for a raw one; reads a few bytes."""
        head = dataclasses.replace(entry, size=min(entry.size, PACKED.itemsize))
        start = self.stored(head)
        if not is_packed(start):
            return None
        return int(view(start, PACKED, 1, 0, "the head of the packed data")["size"][0])

    def _part(self, entry: Entry) -> Part:
        """The data file that holds the whole entry."""
        if _stamp(self.stamp[0]) != self.stamp:
            raise FormatError("the archive was changed by another program", remedy="open it again")
        part = self.parts.get(entry.part)
        if part is None:
            name = self.path.with_suffix(f".p{entry.part:02d}").name
            raise FormatError(f"its data file {name} is missing", remedy="copy it beside the .pak file")
        if entry.offset + entry.size > part.size:
            raise FormatError(
                f"its data reach beyond the end of {part.path.name}",
                offset=entry.offset,
                expected=f"{entry.size:,} bytes",
                found=f"{max(part.size - entry.offset, 0):,}",
                remedy="the data file is cut short, extract it again from the disc",
            )
        return part

    def _named(self, error: FormatError, entry: Entry) -> FormatError:
        return error if error.file.startswith(str(self.path)) else error.within(self.label(entry)).within(str(self.path))


def decode(data: bytes) -> Table:
    """Reads a .pak file. Raises `FormatError` for another magic and for a table longer than the file."""
    if data[: len(MAGIC)] != MAGIC:
        raise FormatError(
            "not an archive table",
            offset=0,
            expected="IPFB",
            found=ascii(data[: len(MAGIC)]),
            remedy="choose the .pak file of an archive, not one of its data files",
        )
    header = view(data, HEADER, 1, 0, "the header's words")[0]
    rows = view(data, ENTRY, int(header["count"]), HEADER.itemsize, "the archive's entries")
    return Table(
        tuple(Entry(*map(int, row)) for row in rows.tolist()),
        int(header["alignment"]),
        int(header["limit"]),
        bytes(data[HEADER.itemsize + rows.nbytes :]),
    )


def encode(table: Table) -> bytes:
    """The bytes of a .pak file; those it was read from, if nothing was changed."""
    header = np.array([(MAGIC, len(table.entries), table.alignment, table.limit)], HEADER)
    rows = np.array([(entry.hash, entry.position, entry.size) for entry in table.entries], ENTRY)
    return header.tobytes() + rows.tobytes() + table.tail


def is_packed(stored: bytes) -> bool:
    """Whether an entry is packed: the game goes by the first two bytes."""
    return stored[: len(PACKED_MAGIC)] == PACKED_MAGIC


def pack(data: bytes) -> bytes:
    """The stored form of a packed entry."""
    return np.array([(PACKED_MAGIC, len(data), zlib.adler32(data))], PACKED).tobytes() + zlib.compress(data, 9)


def unpack(stored: bytes) -> bytes:
    """An entry's bytes from their stored form; raw ones are returned as they are.

    Never holds more than the declared length. Raises `FormatError` if the stream is damaged or cut short, and
    if length or Adler-32 aren't the declared ones.
    """
    if not is_packed(stored):
        return stored
    head = view(stored, PACKED, 1, 0, "the head of the packed data")[0]
    size, stream = int(head["size"]), zlib.decompressobj()
    remedy = "the entry is damaged, extract the archive again from the disc"
    try:
        data = stream.decompress(memoryview(stored)[PACKED.itemsize :], size + 1)
    except zlib.error as error:
        raise FormatError(f"its packed data are damaged ({error})", remedy=remedy) from error
    if len(data) != size or not stream.eof:
        found = f"more than {size:,}" if len(data) > size else f"{len(data):,}"
        problem = "its packed data don't have the length they declare"
        raise FormatError(problem, offset=2, expected=f"{size:,} bytes", found=found, remedy=remedy)
    adler = zlib.adler32(data)
    if adler != head["adler"]:
        problem = "its unpacked data don't have the Adler-32 they declare"
        raise FormatError(problem, offset=6, expected=f"{int(head['adler']):08x}", found=f"{adler:08x}", remedy=remedy)
    return data


def open_archive(path: str | os.PathLike[str], names: Mapping[int, str] | None = None, *, recover: bool = False) -> Archive:
    """Opens NAME.pak: reads its table, and looks which data files are there. `names`: see `Archive.with_names`.

    If writing this archive was interrupted, the files that count are read, some of them from beside the others
    (`file_switch`). With `recover` the switch is finished or undone on the disk first; without, nothing is written.
    Raises `FormatError` if the table can't be read; faults of single entries come up when they are read.
    """
    pak = Path(path)
    if recover:
        file_switch.recover(pak.parent, pak.name)
    waiting = file_switch.pending(pak.parent, pak.name)
    try:
        stamp = _stamp(waiting.get(pak.name) or pak)
        table = decode(read_file(stamp[0]))
        parts = _parts(pak, waiting)
    except FormatError as error:
        raise (error if error.file else error.within(str(pak))) from error
    by_hash = {entry.hash: entry for entry in reversed(table.entries)}  # of two equal hashes the first counts
    return Archive(pak, table, parts, {}, by_hash, stamp).with_names(names or {})


def part_files(pak: Path) -> dict[int, Path]:
    """The data files beside a .pak, by number. Names are compared without case, an exact one comes first."""
    pattern = re.compile(re.escape(pak.stem) + r"\.p(\d\d)", re.IGNORECASE)
    found: dict[int, Path] = {}
    for other in sorted(pak.parent.iterdir(), key=lambda other: other.stem == pak.stem):
        match = pattern.fullmatch(other.name)
        if match and int(match[1]) < PARTS:
            found[int(match[1])] = other
    return found


def read_range(path: Path, offset: int, size: int, block: int = BLOCK) -> Iterator[bytes]:
    """A range of a file in blocks. Raises `FormatError` if the file can't be read or ends before."""
    try:
        with open(path, "rb") as stream:
            stream.seek(offset)
            while size > 0:
                data = stream.read(min(size, block))
                if not data:
                    raise FormatError(f"{path.name} ends too early", offset=offset, expected=f"{size:,} more bytes")
                size -= len(data)
                yield data
    except OSError as error:
        raise FormatError(f"{path.name} can't be read ({error.strerror or error})") from error
