"""The stored form of an archive entry, raw or packed with zlib. docs/FORMATS.md, section 6."""

from __future__ import annotations

import functools
import struct
import zlib

from ..errors import FormatError
from .binary import check_extent

PACKED_MAGIC = b"Z1"
PACKED = struct.Struct(">2sII")  # magic, size, adler; in front of the zlib stream of a packed entry
PACKED_HEAD = "the first words of the packed data"

ENOUGH = PACKED.size
"""How many of an entry's first bytes say its unpacked size."""

SMALLEST_PACKED = 17
"""Bytes of the smallest packed entry that public tools take for one: the head and the shortest of streams."""

MOST_TIMES, MOST_BEYOND = 24, 48 << 20
"""A packed entry unpacks to at most so many times its bytes and so many more. Nothing in the game comes near, but a
megabyte made to do harm could declare, and hold, a gigabyte."""

LEVEL = 6
"""How hard to compress. More takes eight times as long, and makes no smaller file of floats."""


def is_packed(stored: bytes, size: int | None = None) -> bool:
    """Whether an entry is packed, by its first two bytes and its size, which is that of the bytes if none is given.

    Fewer than `SMALLEST_PACKED` bytes have no room for a packed stream, so they are raw.
    """
    enough = (len(stored) if size is None else size) >= SMALLEST_PACKED
    return enough and stored[: len(PACKED_MAGIC)] == PACKED_MAGIC


def unpacked_size(stored: bytes, size: int | None = None) -> int | None:
    """The length that a packed entry of `size` bytes declares, None for a raw one; the first `ENOUGH` bytes
    say it. Without a size it is that of the bytes."""
    if not is_packed(stored, size):
        return None
    check_extent(stored, PACKED.size, 0, PACKED_HEAD)
    return int(PACKED.unpack_from(stored)[1])


def beginning(stored: bytes, size: int) -> bytes:
    """The first bytes of an entry, so many or fewer, from the beginning of its stored form.

    Raises `FormatError` if what is there is damaged.
    """
    if not is_packed(stored):
        return stored[:size]
    try:
        return zlib.decompressobj().decompress(memoryview(stored)[PACKED.size :], size)
    except zlib.error as error:
        raise FormatError(f"its packed data are damaged ({error})") from error


def most_unpacked(stored_size: int) -> int:
    """How many bytes a packed entry of so many may unpack to, see `MOST_TIMES`."""
    return MOST_TIMES * stored_size + MOST_BEYOND


@functools.lru_cache(maxsize=1)  # the game stores one set 18 times
def pack(data: bytes) -> bytes:
    """The stored form of a packed entry."""
    return PACKED.pack(PACKED_MAGIC, len(data), zlib.adler32(data)) + zlib.compress(data, LEVEL)


def unpack(stored: bytes) -> bytes:
    """An entry's bytes from their stored form; raw ones are returned as they are.

    Never holds more than the declared length. Raises `FormatError` if the stream is damaged or cut short, if length or
    Adler-32 aren't the declared ones, and if more is declared than so few bytes may hold, see `MOST_TIMES`.
    """
    if not is_packed(stored):
        return stored
    _, size, declared_adler = PACKED.unpack_from(stored)
    stream = zlib.decompressobj()
    remedy = "the entry is damaged, extract the archive again from the disc"
    most = most_unpacked(len(stored))
    if size > most:
        problem = "its packed data declare an impossible length"
        raise FormatError(problem, offset=2, expected=f"{most:,} bytes at most", found=f"{size:,}", remedy=remedy)
    try:
        data = stream.decompress(memoryview(stored)[PACKED.size :], size + 1)
    except zlib.error as error:
        raise FormatError(f"its packed data are damaged ({error})", remedy=remedy) from error
    if len(data) != size or not stream.eof:
        found = f"more than {size:,}" if len(data) > size else f"{len(data):,}"
        problem = "its packed data don't have the length they declare"
        raise FormatError(problem, offset=2, expected=f"{size:,} bytes", found=found, remedy=remedy)
    end = len(stored) - len(stream.unused_data)
    adler = int.from_bytes(stored[end - 4 : end], "big")  # the stream ends with it, and zlib has compared the data
    if adler != declared_adler:
        problem = "its unpacked data don't have the Adler-32 they declare"
        raise FormatError(problem, offset=6, expected=f"{declared_adler:08x}", found=f"{adler:08x}", remedy=remedy)
    return data
