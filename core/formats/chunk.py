"""The chunk shell that `.col` and `.rgn` files share, and POF0, its relocation table.

docs/FORMATS.md, sections 1 and 2. All offsets here are file offsets. A pointer in the file counts from 0x10,
and 0 is null.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Finding, FormatError, Severity
from ..rules.rule import Rule
from ..rules.titles import TITLES
from .binary import check_extent, padding, view

SHELL = np.dtype([("magic", "S4"), ("size", ">u4"), ("flags", ">u4"), ("unknown_0c", ">u4")])
POINTER_BASE = SHELL.itemsize
END_OF_ROW = bytes(16)
DEFAULT_FLAGS = 0x00010005
ALREADY_RELOCATED = 0x01000000

LONGEST_DELTA = 0x3FFFFF
"""In words: what the widest code of the relocation table, 22 bits, can step over."""


@dataclass(frozen=True, slots=True)
class Relocation:
    """A POF0 chunk as the file spells it: several spellings can name the same slots."""

    flags: int = DEFAULT_FLAGS
    unknown_0c: int = 0
    coded: bytes = b""


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """One data chunk with its relocation table.

    `slots` are the file offsets, int64 (n,), of the words that hold pointers. `tail` is what follows the
    table, see `survey_tail`.
    """

    magic: bytes
    payload: memoryview
    slots: NDArray[np.int64]
    flags: int = DEFAULT_FLAGS
    unknown_0c: int = 0
    relocation: Relocation = Relocation()
    tail: bytes = END_OF_ROW


def decode(data: bytes, magic: bytes) -> Chunk:
    """Reads the shell, the payload's extent, the relocation table and the end of the row.

    Raises `FormatError` where the game's loader could not read the file, or would crash on it.
    """
    if data[:4] != magic:
        raise FormatError(
            f"not a {magic.decode()} file",
            offset=0,
            expected=f"the letters {magic.decode()}",
            found=_letters(data[:4]),
            remedy="choose another file",
        )
    shell = view(data, SHELL, 1, 0, "the file's first 16 bytes")[0]
    size, flags = int(shell["size"]), int(shell["flags"])
    if flags & ALREADY_RELOCATED:
        raise FormatError(
            "the file is marked as already relocated, the game would use its pointers as they are and crash",
            offset=0x08,
            expected="bit 0 of this byte clear",
            found=f"0x{flags >> 24:02X}",
        )
    payload_end = POINTER_BASE + size
    check_extent(data, size, POINTER_BASE, "the payload's bytes")
    relocation_shell = view(data, SHELL, 1, payload_end, "the POF0 chunk's first 16 bytes")[0]
    if relocation_shell["magic"] != b"POF0":
        raise FormatError(
            "no POF0 chunk directly behind the payload",
            offset=payload_end,
            expected="the letters POF0",
            found=_letters(data[payload_end : payload_end + 4]),
            remedy="the game would leave every pointer as it is; the payload size at 0x4 may be wrong",
        )
    coded_start = payload_end + SHELL.itemsize
    coded_size = int(relocation_shell["size"])
    check_extent(data, coded_size, coded_start, "the relocation table's bytes")
    coded = data[coded_start : coded_start + coded_size]
    tail = data[coded_start + coded_size :]
    survey_tail(tail, coded_start + coded_size)
    return Chunk(
        magic=magic,
        payload=memoryview(data)[POINTER_BASE:payload_end],
        slots=decode_slots(coded, coded_start),
        flags=flags,
        unknown_0c=int(shell["unknown_0c"]),
        relocation=Relocation(int(relocation_shell["flags"]), int(relocation_shell["unknown_0c"]), coded),
        tail=bytes(tail),
    )


def encode(chunk: Chunk) -> bytes:
    """The file's bytes. The table's spelling is kept as long as it names the same slots.

    Raises `FormatError` if the slots can't be coded, the payload isn't made of words, or the row would not end.
    """
    coded = chunk.relocation.coded
    if not coded or not np.array_equal(decode_slots(coded), chunk.slots):
        fresh = encode_slots(chunk.slots)
        pad = padding(len(fresh)) if len(coded) % 16 == 0 else 0
        coded = fresh + bytes(pad)
    shells = np.zeros(2, SHELL)
    shells[0] = (chunk.magic, len(chunk.payload), chunk.flags & ~ALREADY_RELOCATED, chunk.unknown_0c)
    shells[1] = (b"POF0", len(coded), chunk.relocation.flags, chunk.relocation.unknown_0c)
    survey_tail(chunk.tail)
    return b"".join((shells[0].tobytes(), chunk.payload, shells[1].tobytes(), coded, chunk.tail))


class Tail(NamedTuple):
    """What follows the relocation table: how many more chunks the row has, and whether a zero word ends it."""

    chunks: int
    ended: bool


def survey_tail(tail: bytes, offset: int = 0) -> Tail:
    """Walks what follows the first POF0 as the game does: over further chunks, up to a zero word.

    `offset` is where the bytes stand in the file. Raises `FormatError` for what the game can't step over: words that
    are no chunk, a chunk that reaches beyond the end, and a relocation table that hangs the game.
    """
    at = chunks = 0
    while any(word := tail[at : at + 4]):
        size = _size_within(tail, at)
        if size is None or not size or not _is_spelled(word):
            raise FormatError(
                "no zero word behind POF0, the game would run on past the file's end",
                offset=offset + at,
                expected="00000000, or another chunk",
                found=word.hex(),
            )
        at += SHELL.itemsize + size
        chunks += 1
        size = _size_within(tail, at)
        if tail[at : at + 4] == b"POF0" and size is not None:
            start, at = at + SHELL.itemsize, at + SHELL.itemsize + size
            decode_slots(tail[start:at], offset + start)
    return Tail(chunks, len(word) == 4)


def check(chunk: Chunk) -> list[Finding]:
    """Where the row of chunks is unlike that of the game's files, but can be read."""
    tail = survey_tail(chunk.tail)
    found = []
    if not tail.ended:
        found.append(Finding(Severity.WARNING, Rule.CHUNK_END, str(TITLES[Rule.CHUNK_END])))
    if tail.chunks:
        found.append(Finding(Severity.INFO, Rule.CHUNK_ALONE, str(TITLES[Rule.CHUNK_ALONE])))
    return found


def _size_within(data: bytes, at: int) -> int | None:
    """The size word of the chunk at this place; None if the shell or what it holds reaches beyond the end."""
    start = at + SHELL.itemsize
    if start > len(data):
        return None
    size = int(np.frombuffer(data, SHELL, 1, at)[0]["size"])
    return size if size <= len(data) - start else None


def decode_slots(coded: bytes, offset: int = 0) -> NDArray[np.int64]:
    """File offsets, int64 (n,), of the words that the coded bytes name, ascending.

    `offset` is where the bytes stand in the file. Raises `FormatError` on a code that the game can't read.
    """
    code = np.frombuffer(coded, np.uint8)
    length = len(code)
    starting = np.ones(length, bool)
    end = 0
    for at in np.flatnonzero(code >= 0x80).data:  # few codes take more than a byte
        if at >= end:
            end = at + (coded[at] >> 6)
            starting[at + 1 : end] = False
    starts = np.flatnonzero(starting)
    first = code[starts]
    last = int(np.argmax(first < 0x40)) if len(starts) else 0
    if len(starts) and first[last] < 0x40:
        if first[last]:
            raise FormatError(
                f"the relocation table holds code 0x{first[last]:02X} behind slot number {last:,}, "
                "which hangs the game",
                offset=offset + int(starts[last]),
                expected="0x40 to 0xFF, or 0x00 at the end",
                found=f"0x{first[last]:02X}",
                remedy="the game knows one form of POF0 only: 16-byte shell, codes of 6, 14 and 22 bits",
            )
        starts, first = starts[:last], first[:last]
    elif end > length:
        raise FormatError(
            "the relocation table ends within a code",
            offset=offset + int(starts[-1]),
            expected=f"{first[-1] >> 6} bytes",
            found=f"{length - starts[-1]}",
        )
    delta = (first & 0x3F).astype(np.int64)
    for width in (2, 3):
        wide = np.flatnonzero(first >= width << 6)
        delta[wide] = delta[wide] << 8 | code[starts[wide] + width - 1]
    return POINTER_BASE + 4 * np.cumsum(delta)


def encode_slots(slots: np.ndarray) -> bytes:
    """The shortest codes for ascending file offsets of pointer words, with no end mark.

    Raises `FormatError` if a step is too long for the widest code, or a pointer isn't at a multiple of 4.
    """
    apart = np.diff(np.asarray(slots, np.int64), prepend=POINTER_BASE)
    if (apart % 4).any():
        where = int(np.argmax(apart % 4 != 0))
        raise FormatError(
            "a pointer stands between two words, where the relocation table can't name it",
            offset=int(slots[where]),
            expected="a multiple of 4",
            found=f"0x{int(slots[where]):X}",
        )
    delta = apart // 4
    if len(delta) and delta.max() > LONGEST_DELTA:
        where = int(np.argmax(delta))
        raise FormatError(
            f"{4 * int(delta[where]):,} bytes lie between two pointers and the relocation table can step over "
            f"{4 * LONGEST_DELTA:,} at most",
            offset=int(slots[where]),
            remedy="use larger cells: this many empty cells in a row can't be stored",
        )
    if len(delta) and (delta.min() < 0 or (delta[1:] == 0).any()):
        raise ValueError("slots must ascend")
    width = 1 + (delta > 0x3F) + (delta > 0x3FFF)
    ends = np.cumsum(width)
    coded = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    start = ends - width
    coded[ends - 1] = delta & 0xFF
    three, two = width == 3, width >= 2
    coded[ends[two] - 2] = delta[two] >> 8 & 0xFF
    coded[ends[three] - 3] = delta[three] >> 16
    coded[start] |= (width << 6).astype(np.uint8)
    return coded.tobytes()


def resolve(pointer: int, offset: int, what: str, start: int, end: int) -> int:
    """The file offset that a pointer, itself at `offset`, leads to.

    Raises `FormatError` if it is null, or leads before `start`, where the header ends, or beyond `end`.
    """
    target = POINTER_BASE + int(pointer)
    if not start <= target <= end:
        raise FormatError(
            f"the pointer to the {what} leads nowhere",
            offset=offset,
            expected=f"0x{start - POINTER_BASE:X} to 0x{end - POINTER_BASE:X}",
            found=f"0x{int(pointer):X}",
        )
    return target


def check_slots(found: np.ndarray, needed: np.ndarray, allowed: np.ndarray) -> None:
    """Raises `FormatError` that names the slots if a relocation table lacks one of `needed`, names one that is
    neither needed nor `allowed`, bool (n of `found`,), or names one twice. All slots are int64, ascending."""
    lacking = np.setdiff1d(needed, found)
    beyond = np.setdiff1d(found if len(lacking) else found[~allowed], needed)
    if not len(lacking) and not len(beyond) and (np.diff(found) > 0).all():
        return
    parts = [
        f"{word} {len(slots):,} ({', '.join(f'0x{slot:X}' for slot in slots[:4])}{', …' if len(slots) > 4 else ''})"
        for word, slots in (("lacks", lacking), ("has beyond them", beyond))
        if len(slots)
    ]
    raise FormatError(
        "the relocation table disagrees with the file's pointers",
        expected=f"{len(needed):,} slots",
        found=f"{len(found):,}: {' and '.join(parts) or 'some twice'}",
        remedy="the game would follow wrong pointers; it knows only POF0 with a 16-byte shell and deltas from 0x10",
    )


def _letters(data: bytes) -> str:
    if not data:
        return "an empty file"
    return data.decode("ascii") if _is_spelled(data) else f"bytes {data.hex(' ')}"


def _is_spelled(magic: bytes) -> bool:
    return magic.isalnum() and magic.isascii()
