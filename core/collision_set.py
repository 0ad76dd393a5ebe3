"""CollisionSet (`.bin`), the library of object meshes: decode and encode. Format notes, section 4."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .binary import big_endian, native, view
from .errors import FormatError
from .mcol import check_finite, check_indices

HEAD = np.dtype([("size", ">u4"), ("name_length", ">u4")])
COUNTS = np.dtype([("vertex_count", ">u4"), ("triangle_count", ">u4")])
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
        return self.name_field.split(b"\0")[0].decode("cp932", "backslashreplace")

    @property
    def key(self) -> bytes:
        """What the game tells parts apart by: the name without case."""
        return self.name_field.split(b"\0")[0].lower()


@dataclass(frozen=True, slots=True, eq=False)
class CollisionSet:
    """The records of a library in file order, and the bytes behind the last, which should be none."""

    parts: tuple[Part, ...]
    trailing: bytes = b""


def decode(data: bytes) -> CollisionSet:
    """Reads a CollisionSet. Raises `FormatError` on cut or wrong data, indices past the vertices, and
    coordinates that are no numbers."""
    if not data:
        raise FormatError("the file is empty", remedy="choose another file")
    parts: list[Part] = []
    offset = 0
    while offset < len(data):
        if parts and _is_trailing(data, offset):
            return CollisionSet(tuple(parts), data[offset:])
        part, offset = _decode_part(data, offset, len(parts))
        parts.append(part)
    return CollisionSet(tuple(parts))


def encode(library: CollisionSet) -> bytes:
    """The bytes of a CollisionSet. A decoded one gives the bytes that it was decoded from."""
    pieces: list[bytes] = []
    for part in library.parts:
        counts = np.array((len(part.vertices), len(part.triangles)), COUNTS)
        body = (
            part.name_field,
            counts.tobytes(),
            big_endian(part.vertices, ">f4"),
            big_endian(part.triangles, ">u4"),
        )
        head = np.array((sum(map(len, body)), len(part.name_field)), HEAD)
        pieces += (head.tobytes(), *body)
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


def _decode_part(data: bytes, offset: int, number: int) -> tuple[Part, int]:
    what = f"record {number:,}"
    head = view(data, HEAD, 1, offset, f"the first words of {what}")[0]
    name_length, size = int(head["name_length"]), int(head["size"])
    name_at = offset + HEAD.itemsize
    if not name_length:
        raise FormatError(
            f"{what} has no name field, which stops the game",
            offset=offset + HEAD.fields["name_length"][1],
            expected="16, 24 or 32 bytes",
            found="0",
            remedy="this is no CollisionSet, or it is damaged",
        )
    view(data, np.dtype("u1"), name_length, name_at, f"the name bytes of {what}")
    name_field = data[name_at : name_at + name_length]
    counts_at = name_at + name_length
    part = Part(name_field, np.zeros((0, 3), np.float32), np.zeros((0, 3), np.uint32))
    what = f"record {number:,} ({part.name})" if part.name.isprintable() else what
    counts = view(data, COUNTS, 1, counts_at, f"the counts of {what}")[0]
    vertex_count, triangle_count = int(counts["vertex_count"]), int(counts["triangle_count"])
    vertices_at = counts_at + COUNTS.itemsize
    triangles_at = vertices_at + vertex_count * VERTEX.itemsize
    end = triangles_at + triangle_count * TRIANGLE.itemsize
    if size != end - name_at:
        raise FormatError(
            f"the size word of {what} disagrees with its counts",
            offset=offset,
            expected=f"{end - name_at:,} bytes for {vertex_count:,} vertices and {triangle_count:,} triangles",
            found=f"{size:,}",
            remedy="this is no CollisionSet, or it is damaged",
        )
    vertices = view(data, VERTEX, vertex_count, vertices_at, f"the vertices of {what}")
    triangles = view(data, TRIANGLE, triangle_count, triangles_at, f"the triangles of {what}")
    part = Part(name_field, native(vertices, np.float32), native(triangles, np.uint32))
    try:
        check_finite(part.vertices, vertices_at)
        check_indices(part.triangles, vertex_count, triangles_at, TRIANGLE.itemsize)
    except FormatError as error:
        error.problem = f"in {what}, {error.problem}"
        raise
    return part, end


def _is_trailing(data: bytes, offset: int) -> bool:
    """Whether what is left is no record, cut or whole, but padding that somebody put behind the last one: one
    byte over and over. Anything else there is a damaged record, and more parts may follow it."""
    left = len(data) - offset
    return left >= 4 and data.count(data[offset : offset + 1], offset) == left
