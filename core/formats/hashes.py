"""The game's two name hashes. Don't use one for the other: the same name gives different numbers."""

from __future__ import annotations

import struct

from ..errors import FormatError

ENCODING = "cp932"  # of every name in the game's files; ASCII names, all the shipped ones, are the same in it


def file_id(name: str | bytes) -> int:
    """The u32 id of a file name or a mesh name, without regard to the case of A-Z (docs/FORMATS.md, sections 4 and 6).

    Text is hashed by its CP932 bytes; bytes are hashed as they are. What the game does with names beyond ASCII
    isn't known, the shipped names hold none.
    Raises `FormatError` for text that CP932 lacks.
    """
    lower = _encoded(name).lower()  # changes A-Z and nothing else
    hashed = 0
    for byte in lower:
        hashed = ((hashed << 8) + byte) & 0xFFFFFFFF
        if hashed & 0xFF800000:
            hashed %= 0xFFF9D7
    return hashed | (sum(lower) << 24 & 0xFF000000)


def string_id(name: str | bytes) -> int:
    """The u32 id of a section or key of a table, with regard to case (docs/FORMATS.md, section 7).

    Raises `FormatError` for text that CP932 lacks.
    """
    total = hashed = 0
    for byte in _encoded(name):
        signed = byte - 0x100 if byte & 0x80 else byte
        total += signed
        hashed = (((hashed & 0xFFFFFF) << 8) + signed & 0xFFFFFFFF) % 0xFFFFDF
    return (total & 0xFF) << 24 | hashed


def wide_string_id(name: str | bytes) -> int:
    """The u32 id of a section or key of an IXUD table, over UTF-16BE units (docs/FORMATS.md, section 7)."""
    raw = name if isinstance(name, bytes) else name.encode("utf-16-be", "surrogatepass")
    hashed = total = 0
    for (unit,) in struct.iter_unpack(">H", raw[: len(raw) // 2 * 2]):
        total += unit
        hashed = (hashed * 65536 + unit) % 0xFFFFFF67
    return (total & 0xFF) << 24 | hashed % 0xFFFFDF


def _encoded(name: str | bytes) -> bytes:
    if isinstance(name, bytes):
        return name
    if name.isascii():
        return name.encode("ascii")  # the same bytes, without the search for a codec
    try:
        return name.encode(ENCODING)
    except UnicodeEncodeError as error:
        raise FormatError(
            f"the name {name!a} holds a character that the game's files can't hold",
            expected="characters of CP932 (Latin and Japanese)",
            found=ascii(name[error.start : error.end]),
            remedy="choose another name",
        ) from error
