"""What kind of game file this is, by its content alone."""

from __future__ import annotations

import enum
import re

from .collision_set import COUNTS, HEAD, LONGEST_SEEN_FIELD, TRIANGLE, VERTEX

ENOUGH = LONGEST_SEEN_FIELD + HEAD.size + COUNTS.size
"""How many of a file's first bytes decide its kind."""


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


def detect(data: bytes) -> Kind | None:
    """The kind of a file with these first bytes, `ENOUGH` of them or all; None for any other file."""
    return MAGIC.get(bytes(data[:4])) or (Kind.COLLISION_SET if _begins_a_set(data) else None)


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
