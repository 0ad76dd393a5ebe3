"""CollisionSet (`.bin`), the meshes of objects: decode and encode. docs/FORMATS.md, section 4."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NoReturn, overload

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from .binary import big_endian, check_extent, check_finite, check_indices
from .hashes import file_id

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
    """One mesh of a collision set.

    `name_field` is the name as stored, the closing NUL and what follows it included. `vertices` float32
    (nv, 3) in game units, `triangles` uint32 (nt, 3). Open shells, doubled triangles, triangles without area
    and unused vertices occur in the game's own file. `size_excess` is what the size word says beyond the record's
    size, 0 as a rule: the game only logs that word. See also `unusable`.
    """

    name_field: bytes
    vertices: NDArray[np.float32]
    triangles: NDArray[np.uint32]
    size_excess: int = 0

    @property
    def name(self) -> str:
        """The name up to its first NUL; bytes that are no CP932 appear as \\xNN."""
        return spelled(self.name_field)

    @property
    def key(self) -> bytes:
        """The name without case."""
        return self.name_field.split(b"\0")[0].lower()

    @property
    def id(self) -> int:
        """The file id of the name, by which the game distinguishes parts. Few pairs of different names share one."""
        return file_id(self.name_field.split(b"\0")[0])


class Records(Sequence[Part]):
    """The parts of a decoded collision set. Each is made when it is first asked for, of views of the file's words.

    `places`: for each record where in the file its vertices begin, its triangles begin, and it ends. Words are swapped
    once for all arrays that begin at the same remainder modulo 4. In the game's file these are all, but a name field
    may have any length. `excesses`: by number, each `Part.size_excess` that isn't 0.
    """

    __slots__ = ("excesses", "name_fields", "parts", "places", "words")

    def __init__(
        self, data: bytes, name_fields: list[bytes], places: list[tuple[int, int, int]], excesses: dict[int, int]
    ) -> None:
        self.name_fields = name_fields
        self.places = places
        self.excesses = excesses
        self.parts: list[Part | None] = [None] * len(name_fields)
        self.words = {start: _swapped(data, start) for start in {end % 4 for _, _, end in places}}

    def __len__(self) -> int:
        return len(self.parts)

    @overload
    def __getitem__(self, number: int) -> Part: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Part, ...]: ...
    def __getitem__(self, number: int | slice) -> Part | tuple[Part, ...]:
        if isinstance(number, slice):
            return tuple(self[one] for one in range(len(self))[number])
        part = self.parts[number]
        if part is None:
            vertices_at, triangles_at, end = self.places[number]
            words = self.words[end % 4]
            vertices = words[vertices_at // 4 : triangles_at // 4].reshape(-1, 3).view(np.float32)
            triangles = words[triangles_at // 4 : end // 4].reshape(-1, 3)
            excess = self.excesses.get(range(len(self))[number], 0)
            part = self.parts[number] = Part(self.name_fields[number], vertices, triangles, excess)
        return part


@dataclass(frozen=True, slots=True, eq=False)
class CollisionSet:
    """The records of a collision set in file order, and the bytes behind the last, which should be none."""

    parts: Sequence[Part]
    trailing: bytes = b""


def spelled(name_field: bytes) -> str:
    """The name in a field, see `Part.name`."""
    return name_field.split(b"\0")[0].decode("cp932", "backslashreplace")


def unusable(part: Part) -> str:
    """Why a part's geometry can't be drawn or edited, "" if it can: a triangle uses a vertex that doesn't exist, or
    one that isn't a place. Such a part is preserved, and the others stay usable."""
    try:
        check_indices(part.triangles, len(part.vertices))
        check_finite(part.vertices, part.triangles)
    except FormatError as error:
        return str(error)
    return ""


def dropped(parts: Sequence[Part]) -> list[int]:
    """Numbers of the parts that the game ignores because an earlier one has the same id: the same name but for case."""
    seen: set[int] = set()
    result = []
    for number, part in enumerate(parts):
        if part.id in seen:
            result.append(number)
        seen.add(part.id)
    return result


def decode(data: bytes) -> CollisionSet:
    """Reads a CollisionSet. Raises `FormatError` on cut or wrong data. What its triangles and coordinates say is
    checked a part at a time, by `unusable`."""
    if not data:
        raise FormatError("the file is empty", remedy="choose another file")
    name_fields, places, excesses, end = _find_records(data)
    if end < len(data) and not (name_fields and _is_trailing(data, end)):
        for number in excesses:  # from the first of them on, the rest may be at the wrong place
            _refuse_size(data, places[number], name_fields[number], number)
        _refuse_record(data, end, len(name_fields))
    return CollisionSet(Records(data, name_fields, places, excesses), data[end:])


def encode(model: CollisionSet) -> bytes:
    """The bytes of a CollisionSet. A decoded one gives the bytes that it was decoded from."""
    pieces: list[bytes] = []
    for part in model.parts:
        body = (
            part.name_field,
            COUNTS.pack(len(part.vertices), len(part.triangles)),
            big_endian(part.vertices, ">f4"),
            big_endian(part.triangles, ">u4"),
        )
        pieces += (HEAD.pack(sum(map(len, body)) + part.size_excess, len(part.name_field)), *body)
    return b"".join((*pieces, model.trailing))


def split(data: bytes) -> tuple[list[tuple[int, bytes]], bytes]:
    """The id (`Part.id`) and the bytes of each record of a CollisionSet, and what follows the last record.

    Raises `FormatError` for what can't be decoded.
    """
    model = decode(data)
    if not isinstance(model.parts, Records):
        raise TypeError("a decoded set has records")
    ends = [end for _, _, end in model.parts.places]
    ids = (file_id(field.split(b"\0")[0]) for field in model.parts.name_fields)
    return [(id_, data[start:end]) for id_, start, end in zip(ids, [0, *ends], ends, strict=False)], model.trailing


def encode_name(name: str) -> bytes:
    """A name as the field that stores it: CP932, closed by NUL, 16, 24 or 32 bytes.

    Raises `FormatError` if it is empty, too long, or can't be spelled in CP932.
    """
    try:
        spelled = name.encode("cp932")
    except UnicodeEncodeError as error:
        raise FormatError(
            f"the name {name!r} can't be stored: {name[error.start]!r} isn't in CP932", remedy="rename the part"
        ) from error
    if not spelled or b"\0" in spelled:
        raise FormatError(f"the name {name!r} can't be stored: it is empty or holds a NUL", remedy="rename the part")
    if len(spelled) > NAME_LIMIT:
        raise FormatError(
            f"the name {name!r} is too long",
            expected=f"{NAME_LIMIT} bytes at most",
            found=f"{len(spelled)}",
            remedy="rename the part",
        )
    return spelled.ljust(max(16, (len(spelled) + 8) // 8 * 8), b"\0")


def _find_records(data: bytes) -> tuple[list[bytes], list[tuple[int, int, int]], dict[int, int], int]:
    """The name fields, places and excesses, see `Records`, of the records up to the first whose words can't be right,
    and where that one begins. Like the game, this goes by the counts."""
    name_fields: list[bytes] = []
    places: list[tuple[int, int, int]] = []
    excesses: dict[int, int] = {}
    offset, length = 0, len(data)
    head, counts, row = HEAD.size, COUNTS.size, VERTEX.itemsize  # looked up once: this loop takes longest
    try:
        while offset < length:
            size, name_length = HEAD.unpack_from(data, offset)
            name_at = offset + head
            counts_at = name_at + name_length
            vertex_count, triangle_count = COUNTS.unpack_from(data, counts_at)
            vertices_at = counts_at + counts
            end = vertices_at + row * (vertex_count + triangle_count)
            if not name_length or end > length:
                break
            if size != end - name_at:
                excesses[len(places)] = size - (end - name_at)
            name_fields.append(data[name_at:counts_at])
            places.append((vertices_at, vertices_at + row * vertex_count, end))
            offset = end
    except struct.error:
        pass  # the data end within these words
    return name_fields, places, excesses, offset


def _refuse_size(data: bytes, place: tuple[int, int, int], name_field: bytes, number: int) -> NoReturn:
    """Raises `FormatError` for a record whose size word disagrees with its counts, and behind which nothing fits."""
    vertices_at, triangles_at, end = place
    name_at = vertices_at - COUNTS.size - len(name_field)
    vertex_count = (triangles_at - vertices_at) // VERTEX.itemsize
    triangle_count = (end - triangles_at) // TRIANGLE.itemsize
    with _within(number, name_field):
        raise FormatError(
            "the size word disagrees with the counts",
            offset=name_at - HEAD.size,
            expected=f"{end - name_at:,} bytes for {vertex_count:,} vertices and {triangle_count:,} triangles",
            found=f"{HEAD.unpack_from(data, name_at - HEAD.size)[0]:,}",
            remedy="this isn't a collision set, or it is damaged",
        )


def _refuse_record(data: bytes, offset: int, number: int) -> NoReturn:
    """Raises `FormatError` that says what can't be right about the words of a record."""
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
            remedy="this isn't a collision set, or it is damaged",
        )
    counts_at = name_at + name_length
    vertices_at = counts_at + COUNTS.size
    if vertices_at > len(data):
        check_extent(data, name_length + COUNTS.size, name_at, f"the name and the counts of record {number:,}")
    name_field = data[name_at:counts_at]
    vertex_count, triangle_count = COUNTS.unpack_from(data, counts_at)
    triangles_at = vertices_at + vertex_count * VERTEX.itemsize
    end = triangles_at + triangle_count * TRIANGLE.itemsize
    place = (vertices_at, triangles_at, end)
    if size != end - name_at and name_at + size <= len(data):  # the counts lead beyond the end, the size doesn't
        _refuse_size(data, place, name_field, number)
    with _within(number, name_field):
        check_extent(data, triangles_at - vertices_at, vertices_at, "the vertices")
        check_extent(data, end - triangles_at, triangles_at, "the triangles")
    raise AssertionError("the record's words are right")


def _swapped(data: bytes, start: int) -> NDArray[np.uint32]:
    """The 32-bit words from an offset on in the machine's byte order, uint32 (n,)."""
    words = np.frombuffer(data, ">u4", (len(data) - start) // 4, start).astype(np.uint32)
    words.flags.writeable = False
    return words


@contextmanager
def _within(number: int, name_field: bytes) -> Iterator[None]:
    """Errors raised within say which record they are about, with its name where that is one."""
    try:
        yield
    except FormatError as error:
        name = spelled(name_field)
        name = f" ({name})" if name.isprintable() else ""
        raise replace(error, problem=f"in record {number:,}{name}, {error.problem}") from error


def _is_trailing(data: bytes, offset: int) -> bool:
    """Whether what is left is no record, cut or whole, but padding that somebody put behind the last one: one
    byte over and over. Anything else there is a damaged record, and more parts may follow it."""
    left, byte = len(data) - offset, data[offset : offset + 1]
    return left >= 4 and data.startswith(4 * byte, offset) and data.count(byte, offset) == left
