"""Collision sets in a survey: a reader that no file stops, and its facts. docs/FORMATS.md, section 4."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..formats.hashes import file_id
from ..geometry.edges import edge_census
from ..geometry.triangles import repeated
from .facts import Answer, Fact, Measured, NothingThere, NotMeasurable, Same, Subject, Tally, named

HEAD, COUNTS = struct.Struct(">II"), struct.Struct(">II")
LONGEST_NAME = 1 << 12
MOST_PARTS = 1 << 14
MOST_TRIANGLES = 1 << 18
"""Most triangles of a part whose edges are counted."""
FAMILIES = ("rou_", "mob_", "rob_")
ROLES = ("_bdy", "_brg", "_eng", "_wep", "_sld")
SHIPPED_SETS = 18


class Part(NamedTuple):
    """One record: its size word, the name field, vertices (nv, 3) and triangles (nt, 3) as the file has them."""

    size: int
    name_field: bytes
    vertices: np.ndarray
    triangles: np.ndarray

    @property
    def name(self) -> bytes:
        return self.name_field.split(b"\0")[0].lower()

    @property
    def length(self) -> int:
        """What the size word should say."""
        return COUNTS.size + len(self.name_field) + 12 * (len(self.vertices) + len(self.triangles))


class CollisionSet:
    """A `.bin` as far as it can be read, with its digest. `end`: behind the last record that lies in the file."""

    def __init__(self, data: bytes, digest: str) -> None:
        self.data, self.digest, self.end = data, digest, 0
        self.parts: list[Part] = []
        while self.end < len(data) and len(self.parts) < MOST_PARTS:
            part = self._part(self.end)
            if part is None:
                break
            self.parts.append(part)
            self.end += 8 + part.length
        if not self.parts:
            raise NotMeasurable("no record that lies in the file")

    def _part(self, at: int) -> Part | None:
        data = self.data
        if at + HEAD.size > len(data):
            return None
        size, name_length = HEAD.unpack_from(data, at)
        counts_at = at + HEAD.size + name_length
        if not name_length <= LONGEST_NAME or counts_at + COUNTS.size > len(data):
            return None
        vertex_count, triangle_count = COUNTS.unpack_from(data, counts_at)
        vertices_at = counts_at + COUNTS.size
        if vertices_at + 12 * (vertex_count + triangle_count) > len(data):
            return None
        return Part(
            size,
            data[at + HEAD.size : counts_at],
            np.frombuffer(data, (">f4", 3), vertex_count, vertices_at),
            np.frombuffer(data, (">u4", 3), triangle_count, vertices_at + 12 * vertex_count),
        )

    @cached_property
    def meshes(self) -> list[Mesh]:
        """What is odd about each part's mesh."""
        return [_mesh(part) for part in self.parts]


class Mesh(NamedTuple):
    """Edges with two triangles and all edges, and how many of other things a part has."""

    shared: int
    edges: int
    unused: int
    repeating: int
    doubled: int
    beyond: int
    not_numbers: int


def _mesh(part: Part) -> Mesh:
    count = len(part.vertices)
    if len(part.triangles) > MOST_TRIANGLES:
        raise NothingThere("too many triangles in a mesh")
    triangles = part.triangles.astype(np.int64)
    good = triangles[(triangles < count).all(axis=1)]
    uses = edge_census(good)[1]
    used = np.unique(good)
    same = len(good) - len(np.unique(np.sort(good, axis=1), axis=0))
    not_numbers = int((~np.isfinite(part.vertices.astype(np.float32))).any(axis=1).sum())
    return Mesh(
        int((uses == 2).sum()),
        len(uses),
        count - len(used),
        int(repeated(good).sum()),
        same,
        len(triangles) - len(good),
        not_numbers,
    )


def _digests(measured: Sequence[Measured], whole: bool) -> Answer:
    """How many sets share each digest."""
    counts = Counter(value for _, value in measured)
    parts = [f"{digest[:12]} in {count:,}" for digest, count in counts.most_common(4)]
    more = f" and {len(counts) - 4:,} others" if len(counts) > 4 else ""
    usual = counts.most_common(1)[0][0]
    odd = [id for id, value in measured if value != usual]
    text = f"{', '.join(parts)}{more} of {len(measured):,}{named(odd)}"
    return Answer(text, len(counts) > 1 or (whole and len(measured) != SHIPPED_SETS))


def _numbers(found: CollisionSet) -> str:
    vertices = sum(len(part.vertices) for part in found.parts)
    triangles = sum(len(part.triangles) for part in found.parts)
    return f"{len(found.parts):,} meshes of {vertices:,} vertices and {triangles:,} triangles"


def _bytes(found: CollisionSet) -> str:
    return f"{len(found.data):,}"


def _behind(found: CollisionSet) -> str:
    return f"{len(found.data) - found.end:,}"


def _size_words(found: CollisionSet) -> tuple[int, int]:
    return sum(part.size == part.length for part in found.parts), len(found.parts)


def _fields(found: CollisionSet) -> str:
    counts = Counter(len(part.name_field) for part in found.parts)
    if set(counts) <= {16, 24, 32}:
        return "16, 24 or 32 bytes"
    return f"other lengths in {sum(count for size, count in counts.items() if size not in (16, 24, 32)):,}"


def _closed(found: CollisionSet) -> tuple[int, int]:
    return sum(b"\0" in part.name_field for part in found.parts), len(found.parts)


def _clean(found: CollisionSet) -> tuple[int, int]:
    good = [not any(part.name_field[len(part.name) :]) for part in found.parts]
    return sum(good), len(good)


def _equal(found: CollisionSet) -> str:
    counts = Counter(file_id(part.name) for part in found.parts)
    return f"{sum(count - 1 for count in counts.values()):,}"


def _letters(found: CollisionSet) -> tuple[int, int]:
    return sum(part.name.isascii() and part.name != b"" for part in found.parts), len(found.parts)


def _families(found: CollisionSet) -> str:
    names = [part.name.decode("cp932", "replace") for part in found.parts]
    counts = [f"{family} {sum(name.startswith(family) for name in names):,}" for family in FAMILIES]
    rocks = sum("_asteroid_" in name for name in names)
    return " ".join([*counts, "asteroids", f"{rocks:,}"])


def _roles(found: CollisionSet) -> str:
    names = [part.name.decode("cp932", "replace") for part in found.parts]
    return " ".join(f"{role} {sum(role in name for name in names):,}" for role in ROLES)


def _manifold(found: CollisionSet) -> str:
    return f"{sum(mesh.shared == mesh.edges for mesh in found.meshes):,} of {len(found.meshes):,} meshes"


def _edges(found: CollisionSet) -> str:
    shared, edges = sum(mesh.shared for mesh in found.meshes), sum(mesh.edges for mesh in found.meshes)
    return f"{shared:,} of {edges:,}"


def _sum(name: str) -> Callable[[CollisionSet], str]:
    def measure(found: CollisionSet) -> str:
        values = [getattr(mesh, name) for mesh in found.meshes]
        return f"{sum(values):,} in {np.count_nonzero(values):,} meshes" if any(values) else "0"

    return measure


def _empty(found: CollisionSet) -> str:
    return f"{sum(not len(part.triangles) for part in found.parts):,}"


def _largest(found: CollisionSet) -> np.ndarray:
    return np.array([len(part.triangles) for part in found.parts], np.float64)


def _largest_answer(measured: Sequence[Measured], whole: bool) -> Answer:
    values = np.concatenate([value for _, value in measured])
    return Answer(f"{int(values.min()):,} to {int(values.max()):,}, median {np.median(values):,.0f}", False)


_S = Subject.SET
SHIPPED_NUMBERS = "158 meshes of 48,241 vertices and 90,836 triangles"
FACTS = (
    Fact("F121", "M", "digests", _S, "one in all 18", lambda found: found.digest, _digests),
    Fact("F122", "M", "size in bytes", _S, "1,675,148", _bytes, Same(("1,675,148",))),
    Fact("F123", "M", "number and size of meshes", _S, SHIPPED_NUMBERS, _numbers, Same((SHIPPED_NUMBERS,))),
    Fact("F124", "C", "bytes behind the last record", _S, "0", _behind, Same(("0",))),
    Fact("F125", "M", "size words that fit", _S, "all", _size_words, Tally()),
    Fact("F126", "M", "name fields", _S, "16, 24 or 32 bytes", _fields, Same(("16, 24 or 32 bytes",))),
    Fact("F127", "D", "names closed by NUL", _S, "all", _closed, Tally()),
    Fact("F128", "M", "name fields with zeros behind the name", _S, "all", _clean, Tally()),
    Fact("F129", "C", "names that a mesh before has, but for case", _S, "0", _equal, Same(("0",))),
    Fact("F130", "A", "names in ASCII", _S, "all", _letters, Tally()),
    Fact(
        "F131",
        "M",
        "families of names",
        _S,
        "rou_ 78 mob_ 30 rob_ 4 asteroids 46",
        _families,
        Same(("rou_ 78 mob_ 30 rob_ 4 asteroids 46",)),
    ),
    Fact("F132", "M", "parts by their names", _S, "not counted", _roles, Same()),
    Fact("F133", "M", "manifold meshes", _S, "147 of 158 meshes", _manifold, Same(("147 of 158 meshes",))),
    Fact("F134", "M", "edges of two triangles", _S, "132,167 of 134,529", _edges, Same(("132,167 of 134,529",))),
    Fact("F135", "D", "doubled triangles", _S, "some", _sum("doubled"), Same()),
    Fact("F136", "D", "vertices that no triangle uses", _S, "some", _sum("unused"), Same()),
    Fact("F137", "A", "triangles that use a vertex twice", _S, "0", _sum("repeating"), Same(("0",))),
    Fact("F138", "C", "triangles of vertices that aren't there", _S, "0", _sum("beyond"), Same(("0",))),
    Fact("F139", "C", "vertices that aren't numbers", _S, "0", _sum("not_numbers"), Same(("0",))),
    Fact("F140", "C", "meshes without triangles", _S, "0", _empty, Same(("0",))),
    Fact("F141", "M", "triangles of a mesh", _S, "not counted", _largest, _largest_answer),
)
