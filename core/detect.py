"""What kind of game file this is, by its content and never by its name."""

from __future__ import annotations

import enum
import os
import re
from pathlib import Path

from .collision_set import COUNTS, HEAD, LONGEST_SEEN_FIELD, TRIANGLE, VERTEX
from .errors import FormatError
from .files import read_stream

ENOUGH = LONGEST_SEEN_FIELD + HEAD.size + COUNTS.size
"""How many of a file's first bytes tell its kind."""


class Kind(enum.Enum):
    """The kinds of file that hold or name collision data, with the words for a reader."""

    HULL = "map hull"
    NAVIGATION = "navigation volume"
    COLLISION_SET = "collision set"
    ARCHIVE = "archive"
    TABLE = "table"


MAGIC = {
    b"MCOL": Kind.HULL,
    b"REGN": Kind.NAVIGATION,
    b"IPFB": Kind.ARCHIVE,
    b"IDXD": Kind.TABLE,
    b"IXUD": Kind.TABLE,
}


MOST = {
    Kind.HULL: 1 << 30,
    Kind.NAVIGATION: 1 << 30,
    Kind.COLLISION_SET: 1 << 28,
    Kind.ARCHIVE: 1 << 26,
    Kind.TABLE: 1 << 26,
}
"""How many bytes a file of a kind has at most; of an archive, its table. The game's own have below two million;
a hull of 255 cells an axis takes half a gigabyte."""


def detect(data: bytes) -> Kind | None:
    """The kind of a file with these first bytes, `ENOUGH` of them or all; None if it is none of them."""
    return MAGIC.get(bytes(data[:4])) or (Kind.COLLISION_SET if _begins_a_set(data) else None)


def detect_file(path: str | os.PathLike[str]) -> Kind | None:
    """The kind of the file at `path`, of which only the beginning is read.

    Raises `FormatError` with the system's reason when it can't be read.
    """
    try:
        with Path(path).open("rb") as stream:
            return detect(stream.read(ENOUGH))
    except OSError as error:
        raise FormatError(f"can't be read ({error.strerror or error})", file=str(path)) from error


def read_known(path: str | os.PathLike[str]) -> tuple[Kind | None, bytes]:
    """The kind of a file and its bytes; of an unknown kind the first `ENOUGH`, for only these are read before.

    Raises `FormatError` with the system's reason when it can't be read, and for more bytes than its kind has.
    """
    try:
        with open(path, "rb") as stream:
            start = stream.read(ENOUGH)
            kind = detect(start)
            if kind is None:
                return None, start
            if not stream.seekable():  # a pipe
                return kind, start + read_stream(stream, MOST[kind] - len(start))
            stream.seek(0)
            return kind, read_stream(stream, MOST[kind])
    except OSError as error:
        raise FormatError(f"can't be read ({error.strerror or error})", file=str(path)) from error
    except FormatError as error:
        raise error.within(str(path)) from None


def _begins_a_set(data: bytes) -> bool:
    """Whether a first record of a collision set fits. It has no magic: either its size word, which the game only logs,
    agrees with its counts, or its name field looks like one."""
    if len(data) < HEAD.size:
        return False
    size, name_length = HEAD.unpack_from(data)
    counts_at = HEAD.size + name_length
    if not 0 < name_length <= LONGEST_SEEN_FIELD or counts_at + COUNTS.size > len(data):
        return False
    vertex_count, triangle_count = COUNTS.unpack_from(data, counts_at)
    arrays = vertex_count * VERTEX.itemsize + triangle_count * TRIANGLE.itemsize
    return size == name_length + COUNTS.size + arrays or _looks_like_a_name(data[HEAD.size : counts_at])


def _looks_like_a_name(field: bytes) -> bool:
    name, nul, rest = field.partition(b"\0")
    usual = len(field) % 8 == 0 and nul and not any(rest)
    return bool(usual and re.fullmatch(rb"[A-Za-z]\w{3,}", name))
