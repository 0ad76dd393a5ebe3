"""The chunk shell in a survey: a reader that no file stops, and its facts.

docs/FORMATS.md, sections 1 and 2.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from ..formats import chunk
from ..formats.chunk import POINTER_BASE
from .facts import Fact, NothingThere, NotMeasurable, Same, Subject

SHELL = struct.Struct(">4sIII")
POF0 = b"POF0"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk as far as the file has it: letters, the size that it declares, two words, and where its data are."""

    magic: bytes
    size: int
    flags: int
    word: int
    start: int
    end: int


class Shell:
    """The row of chunks of a file: the data, POF0, and what follows."""

    def __init__(self, data: bytes) -> None:
        if len(data) < SHELL.size:
            raise NotMeasurable("shorter than a chunk's shell")
        self.data = data
        self.first = chunk_at(data, 0)
        self.fits = self.first.end == POINTER_BASE + self.first.size
        self.behind = self.fits and data[self.first.end : self.first.end + 4] == POF0
        # A wrong size is a fact of its own; the others are about the table that is there.
        at = self.first.end if self.behind else data.rfind(POF0)
        self.relocation = chunk_at(data, at) if at >= SHELL.size else None
        self.end = at if self.relocation else self.first.end

    @cached_property
    def table(self) -> Chunk:
        """The relocation table's chunk."""
        if self.relocation is None:
            raise NothingThere("no POF0")
        return self.relocation

    @cached_property
    def coded(self) -> bytes:
        """The relocation table's coded bytes."""
        return self.data[self.table.start : self.table.end]

    @cached_property
    def slots(self) -> np.ndarray:
        """File offsets of the relocated words, int64 (n,). Raises `FormatError` where the game couldn't read them."""
        return chunk.decode_slots(self.coded)

    @cached_property
    def row_end(self) -> tuple[int, int]:
        """How many well-formed chunks follow POF0, and the offset behind the last."""
        at, count = self.table.end, 0
        while at + SHELL.size <= len(self.data) and _is_letters(self.data[at : at + 4]):
            following = chunk_at(self.data, at)
            if following.end - following.start != following.size:
                break
            at, count = following.end, count + 1
        return count, at

    @cached_property
    def zeros(self) -> int:
        """How many zero bytes follow the last chunk."""
        tail = self.data[self.row_end[1] :]
        return len(tail) - len(tail.lstrip(b"\0"))


def chunk_at(data: bytes, at: int) -> Chunk:
    """The chunk at an offset, with zeros for words beyond the file's end."""
    magic, size, flags, word = SHELL.unpack(data[at : at + SHELL.size].ljust(SHELL.size, b"\0"))
    start = min(at + SHELL.size, len(data))
    return Chunk(magic, size, flags, word, start, min(start + size, len(data)))


def _is_letters(magic: bytes) -> bool:
    return magic.isalnum() and magic.isascii()


class Chunked(Protocol):
    """What the facts of this module ask of a hull or a navigation volume."""

    shell: Shell
    expected_slots: NDArray[np.int64]


def _magic(thing: Chunked) -> str:
    letters = thing.shell.first.magic
    return letters.decode() if letters in (b"MCOL", b"REGN") else "other letters"


def _zeros(thing: Chunked) -> str:
    return f"{thing.shell.zeros:,}"


def _size(thing: Chunked) -> str:
    if not thing.shell.fits:
        return "payload beyond the file's end"
    return "directly behind the payload" if thing.shell.behind else "not behind the payload"


def _multiple(thing: Chunked) -> str:
    return f"remainder {thing.shell.first.size % 16}"


def _coded(thing: Chunked) -> str:
    coded, size = thing.shell.coded, thing.shell.table.size
    if len(coded) < size:
        return "cut by the file's end"
    return "padded to 16, counted" if size % 16 == 0 else f"{size % 16} bytes beyond a multiple of 16"


def _coded_end(thing: Chunked) -> str:
    coded, slots = thing.shell.coded, thing.shell.slots
    if (np.diff(slots) <= 0).any():
        return "not ascending"
    shortest = chunk.encode_slots(slots)
    if not coded.startswith(shortest):
        return "longer codes than needed"
    return "something else" if any(coded[len(shortest) :]) else "zeros"


def _codes(thing: Chunked) -> str:
    try:
        return f"at most {_widest(thing.shell.slots)} bits"
    except FormatError:
        return "a code that hangs the game"


def _widest(slots: np.ndarray) -> int:
    longest = int(np.diff(slots, prepend=POINTER_BASE).max(initial=0)) // 4
    return 14 if longest < 1 << 14 else 22


def _slots(thing: Chunked) -> str:
    found, expected = thing.shell.slots, thing.expected_slots
    if np.array_equal(found, expected):
        return "those of the layout"
    lacking, more = len(np.setdiff1d(expected, found)), len(np.setdiff1d(found, expected))
    return f"{lacking:,} lacking and {more:,} more" if lacking or more else "out of order or twice"


def _further(thing: Chunked) -> str:
    count, end = thing.shell.row_end
    rest = len(thing.shell.data) - end - thing.shell.zeros
    if not count and not rest:
        return "none"
    return f"{count:,} further chunks, {rest:,} bytes behind the zeros"


def _word(name: str, table: bool = False):  # type: ignore[no-untyped-def]
    def measure(thing: Chunked) -> str:
        return f"0x{getattr(thing.shell.table if table else thing.shell.first, name):08X}"

    return measure


FACTS = (
    Fact("F07", "P", "zero bytes behind POF0", Subject.CHUNKS, "16", _zeros, Same(("16",))),
    Fact("F08", "C", "chunks and bytes behind POF0 but for zeros", Subject.CHUNKS, "none", _further, Same(("none",))),
    Fact("F09", "M", "letters at 0x00", Subject.CHUNKS, "MCOL or REGN", _magic, Same(("MCOL", "REGN"))),
    Fact(
        "F10",
        "M",
        "POF0",
        Subject.CHUNKS,
        "directly behind the payload",
        _size,
        Same(("directly behind the payload",)),
    ),
    Fact("F11", "P", "word at 0x08", Subject.CHUNKS, "0x00010005", _word("flags"), Same(("0x00010005",))),
    Fact("F12", "C", "word at 0x0C", Subject.CHUNKS, "unread, 0 so far", _word("word"), Same(("0x00000000",))),
    Fact("F13", "P", "POF0's word at +0x08", Subject.CHUNKS, "0x00010005", _word("flags", True), Same(("0x00010005",))),
    Fact(
        "F14",
        "C",
        "POF0's word at +0x0C",
        Subject.CHUNKS,
        "unread, 0 so far",
        _word("word", True),
        Same(("0x00000000",)),
    ),
    Fact("F15", "A", "payload size modulo 16", Subject.CHUNKS, "remainder 0", _multiple, Same(("remainder 0",))),
    Fact(
        "F16",
        "A",
        "POF0's coded bytes",
        Subject.CHUNKS,
        "padded to 16, counted",
        _coded,
        Same(("padded to 16, counted",)),
    ),
    Fact("F17", "C", "bytes behind POF0's last code", Subject.CHUNKS, "zeros", _coded_end, Same(("zeros",))),
    Fact(
        "F18",
        "C",
        "relocated words",
        Subject.CHUNKS,
        "those of the layout",
        _slots,
        Same(("those of the layout",)),
    ),
    Fact(
        "F19",
        "D",
        "widest code of POF0",
        Subject.HULL,
        "at most 14 bits",
        _codes,
        Same(("at most 14 bits",)),
    ),
)
