"""IPFB, the game's archives: the table NAME.pak and the stored form of entries (format notes, section 6).

Bytes only. `archive` opens archives on the disk, with the data files NAME.p00, NAME.p01, …
"""

from __future__ import annotations

import functools
import zlib
from dataclasses import dataclass

import numpy as np

from .binary import view
from .errors import FormatError

MAGIC, PACKED_MAGIC = b"IPFB", b"Z1"
HEADER = np.dtype([("magic", "S4"), ("count", ">u4"), ("alignment", ">u4"), ("limit", ">u4")])
ENTRY = np.dtype([("hash", ">u4"), ("position", ">u4"), ("size", ">u4")])
PACKED = np.dtype([("magic", "S2"), ("size", ">u4"), ("adler", ">u4")])  # in front of the zlib stream of a packed entry

ALIGNMENT, LIMIT, PARTS = 0x800, 0x10000000, 16

MOST_TIMES, MOST_BEYOND = 24, 48 << 20
"""A packed entry unpacks to at most so many times its bytes and so many more. Nothing in the game comes near, but a
megabyte made to do harm could declare, and hold, a gigabyte."""


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
        tuple(Entry(*row) for row in rows.tolist()),
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


def unpacked_size(stored: bytes) -> int | None:
    """The length that a packed entry declares, None for a raw one; its first bytes are enough."""
    return (
        int(view(stored, PACKED, 1, 0, "the first words of the packed data")["size"][0]) if is_packed(stored) else None
    )


@functools.lru_cache(maxsize=1)  # the game stores one library 18 times
def pack(data: bytes) -> bytes:
    """The stored form of a packed entry."""
    return np.array([(PACKED_MAGIC, len(data), zlib.adler32(data))], PACKED).tobytes() + zlib.compress(data, 9)


def unpack(stored: bytes) -> bytes:
    """An entry's bytes from their stored form; raw ones are returned as they are.

    Never holds more than the declared length. Raises `FormatError` if the stream is damaged or cut short, if length or
    Adler-32 aren't the declared ones, and if more is declared than so few bytes may hold, see `MOST_TIMES`.
    """
    if not is_packed(stored):
        return stored
    head = view(stored, PACKED, 1, 0, "the first words of the packed data")[0]
    size, stream = int(head["size"]), zlib.decompressobj()
    remedy = "the entry is damaged, extract the archive again from the disc"
    most = MOST_TIMES * len(stored) + MOST_BEYOND
    if size > most:
        problem = "its packed data declare an impossible length"
        raise FormatError(problem, offset=2, expected=f"{most:,} bytes at most", found=f"{size:,}", remedy=remedy)
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
