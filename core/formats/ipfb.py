"""IPFB, the game's archives: the table NAME.pak. docs/FORMATS.md, section 6.

Bytes only. `archive` opens archives on the disk, with the data files NAME.p00, NAME.p01, …
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import FormatError
from .binary import check_extent

MAGIC = b"IPFB"
HEADER = struct.Struct(">4sIII")  # magic, count, alignment, limit
ENTRY = struct.Struct(">III")  # hash, position, size

END = 0
"""The hash of a row that ends the table."""


ALIGNMENT, LIMIT, PARTS = 0x800, 0x10000000, 16


class Entry(NamedTuple):
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
    """What a .pak file holds. `alignment` and `limit`: of the data files, bytes; `tail`: bytes behind the entries.

    `count`: the header's count where it isn't that of the entries; None where it is.
    """

    entries: tuple[Entry, ...]
    alignment: int = ALIGNMENT
    limit: int = LIMIT
    tail: bytes = b""
    count: int | None = None


def decode(data: bytes) -> Table:
    """Reads a .pak file.

    A row with hash 0 ends the table, and so does the end of the file, whatever the header's count says; what follows
    is the tail. Raises `FormatError` for another magic and for a header that is cut short.
    """
    if data[: len(MAGIC)] != MAGIC:
        raise FormatError(
            "not an archive table",
            offset=0,
            expected="IPFB",
            found=ascii(data[: len(MAGIC)]),
            remedy="choose the .pak file of an archive, not one of its data files",
        )
    check_extent(data, HEADER.size, 0, "the header's words")
    _, count, alignment, limit = HEADER.unpack_from(data)
    rows = min(count, (len(data) - HEADER.size) // ENTRY.size)
    end = HEADER.size + rows * ENTRY.size
    entries = []
    for row in ENTRY.iter_unpack(memoryview(data)[HEADER.size : end]):
        if row[0] == END:
            break
        entries.append(Entry._make(row))
    tail = bytes(data[HEADER.size + len(entries) * ENTRY.size :])
    return Table(tuple(entries), alignment, limit, tail, None if count == len(entries) else count)


def encode(table: Table) -> bytes:
    """The bytes of a .pak file; those it was read from, if nothing was changed."""
    count = len(table.entries) if table.count is None else table.count
    header = HEADER.pack(MAGIC, count, table.alignment, table.limit)
    return b"".join((header, *(ENTRY.pack(*entry) for entry in table.entries), table.tail))
