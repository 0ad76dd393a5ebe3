"""CollisionSet (`.bin`), the library of object meshes: decode and encode. Format notes, section 4."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from .binary import big_endian, check_extent
from .errors import FormatError
from .mcol import check_finite, check_indices

HEAD = struct.Struct(">II")
"""Bytes that follow this structure's first word and itself; bytes of the name field."""
COUNTS = struct.Struct(">II")
"""Vertices and triangles."""
VERTEX = np.dtype((">f4", 3))
TRIANGLE = np.dtype((">u4", 3))

NAME_LIMIT = 31
"""Most bytes of a name in CP932: the longest field seen, 32, less the closing NUL."""

LONGEST_SEEN_FIELD = 4096
"""A name field beyond this is taken for something that is no record."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One mesh of a library.

    `name_field` is the name as stored, the closing NUL and what follows it included. `vertices` float32
    (nv, 3) in game units, `triangles` uint32 (nt, 3). Open shells, doubled triangles, triangles without area
    and unused vertices occur in the game's own file.
    """

    name_field: bytes
    vertices: np.ndarray
    triangles: np.ndarray

    @property
    def name(self) -> str:
        """The name up to its first NUL; bytes that are no CP932 appear as \\xNN."""
        return spelled(self.name_field)

    @property
    def key(self) -> bytes:
        """What the game tells parts apart by: the name without case."""
        return self.name_field.split(b"\0")[0].lower()


@dataclass(frozen=True, slots=True, eq=False)
class CollisionSet:
    """The records of a library in file order, and the bytes behind the last, which should be none."""

    parts: tuple[Part, ...]
    trailing: bytes = b""


def spelled(name_field: bytes) -> str:
    """The name in a field, see `Part.name`."""
    return name_field.split(b"\0")[0].decode("cp932", "backslashreplace")


def decode(data: bytes) -> CollisionSet:
    """Reads a CollisionSet. Raises `FormatError` on cut or wrong data, indices past the vertices, and
    coordinates that are no numbers."""
    if not data:
        raise FormatError("the file is empty", remedy="choose another file")
    parts: list[Part] = []
    places: list[int] = []
    offset, trailing = 0, b""
    while offset < len(data):
        if parts and _is_trailing(data, offset):
            trailing = data[offset:]
            break
        part, place, offset = _decode_part(data, offset, len(parts))
        parts.append(part)
        places.append(place)
    if not np.isfinite(np.concatenate([part.vertices for part in parts])).all():
        for number, (part, vertices_at) in enumerate(zip(parts, places, strict=True)):
            with _within(number, part.name_field):
                check_finite(part.vertices, vertices_at)
    return CollisionSet(tuple(parts), trailing)


def encode(library: CollisionSet) -> bytes:
    """The bytes of a CollisionSet. A decoded one gives the bytes that it was decoded from."""
    pieces: list[bytes] = []
    for part in library.parts:
        body = (
            part.name_field,
            COUNTS.pack(len(part.vertices), len(part.triangles)),
            big_endian(part.vertices, ">f4"),
            big_endian(part.triangles, ">u4"),
        )
        pieces += (HEAD.pack(sum(map(len, body)), len(part.name_field)), *body)
    return b"".join((*pieces, library.trailing))


def encode_name(name: str) -> bytes:
    """A name as the field that stores it: CP932, closed by NUL, 16, 24 or 32 bytes.

    Raises `FormatError` if it is empty, too long, or can't be spelled in CP932.
    """
    try:
        spelled = name.encode("cp932")
    except UnicodeEncodeError as error:
        raise FormatError(
            f"the name {name!r} can't be stored: {name[error.start]!r} isn't in CP932", remedy="rename the object"
        ) from error
    if not spelled or b"\0" in spelled:
        raise FormatError(f"the name {name!r} can't be stored: it is empty or holds a NUL", remedy="rename the object")
    if len(spelled) > NAME_LIMIT:
        raise FormatError(
            f"the name {name!r} is too long",
            expected=f"{NAME_LIMIT} bytes at most",
            found=f"{len(spelled)}",
            remedy="rename the object",
        )
    return spelled.ljust(max(16, (len(spelled) + 8) // 8 * 8), b"\0")


def _decode_part(data: bytes, offset: int, number: int) -> tuple[Part, int, int]:
    """A record whose coordinates still have to be checked, where they begin, and where it ends."""
    name_at = offset + HEAD.size
    if name_at > len(data):
        check_extent(data, HEAD.size, offset, f"the first words of record {number:,}")
    size, name_length = HEAD.unpack_from(data, offset)
    if not name_length:
        raise FormatError(
            f"record {number:,} has no name field, which stops the game",
            offset=offset + 4,
            expected="16, 24 or 32 bytes",
            found="0",
            remedy="this is no CollisionSet, or it is damaged",
        )
    counts_at = name_at + name_length
    vertices_at = counts_at + COUNTS.size
    if vertices_at > len(data):
        check_extent(data, name_length + COUNTS.size, name_at, f"the name and the counts of record {number:,}")
    name_field = data[name_at:counts_at]
    vertex_count, triangle_count = COUNTS.unpack_from(data, counts_at)
    triangles_at = vertices_at + vertex_count * VERTEX.itemsize
    end = triangles_at + triangle_count * TRIANGLE.itemsize
    if size != end - name_at:
        with _within(number, name_field):
            raise FormatError(
                "the size word disagrees with the counts",
                offset=offset,
                expected=f"{end - name_at:,} bytes for {vertex_count:,} vertices and {triangle_count:,} triangles",
                found=f"{size:,}",
                remedy="this is no CollisionSet, or it is damaged",
            )
    if end > len(data):
        with _within(number, name_field):
            check_extent(data, triangles_at - vertices_at, vertices_at, "the vertices")
            check_extent(data, end - triangles_at, triangles_at, "the triangles")
    vertices = np.frombuffer(data, VERTEX.base, 3 * vertex_count, vertices_at).astype(np.float32).reshape(-1, 3)
    triangles = np.frombuffer(data, TRIANGLE.base, 3 * triangle_count, triangles_at).astype(np.uint32).reshape(-1, 3)
    vertices.flags.writeable = triangles.flags.writeable = False
    if triangle_count and np.maximum.reduce(triangles, axis=None) >= vertex_count:
        with _within(number, name_field):
            check_indices(triangles, vertex_count, triangles_at, TRIANGLE.itemsize)
    return Part(name_field, vertices, triangles), vertices_at, end


@contextmanager
def _within(number: int, name_field: bytes) -> Iterator[None]:
    """Errors raised within say which record they are about, with its name where that is one."""
    try:
        yield
    except FormatError as error:
        name = spelled(name_field)
        name = f" ({name})" if name.isprintable() else ""
        error.problem = f"in record {number:,}{name}, {error.problem}"
        raise


def _is_trailing(data: bytes, offset: int) -> bool:
    """Whether what is left is no record, cut or whole, but padding that somebody put behind the last one: one
    byte over and over. Anything else there is a damaged record, and more parts may follow it."""
    left, byte = len(data) - offset, data[offset : offset + 1]
    return left >= 4 and data.startswith(4 * byte, offset) and data.count(byte, offset) == left
