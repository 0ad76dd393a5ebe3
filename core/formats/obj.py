"""Wavefront OBJ: named triangle meshes as text. Coordinates are game units, unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ..errors import Finding, FormatError, Severity
from ..geometry.triangulate import MOST_CORNERS, triangulate
from ..rules.rule import Rule
from ..text import some

READ = (b"v", b"f", b"o", b"g")
CONTINUED = (b"v", b"f")
"""Lines that may go on behind a backslash. In names and comments it is a letter, or half of one in CP932."""


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """One object of an OBJ: `vertices` float32 (nv, 3), `triangles` int64 (nt, 3) that count from its own
    first vertex."""

    name: str
    vertices: NDArray[np.float32]
    triangles: NDArray[np.int64]


# --- encode ---------------------------------------------------------------------------------------


def encode(meshes: list[Mesh], comment: str = "") -> bytes:
    """The bytes of an OBJ with one `o` object a mesh, in the given order.

    Coordinates are the shortest decimals from which `decode` gets the same float32 values back, the sign of
    zero included. Vertices that no triangle uses are written too.
    """
    lines = [f"# {_one_line(line)}\n" for line in comment.splitlines()]
    first = 1
    for mesh in meshes:
        coordinates = _decimals(mesh.vertices)
        triangles = (np.asarray(mesh.triangles, np.int64) + first).ravel().tolist()
        lines.append(f"o {_one_line(mesh.name)}\n")
        # One format string for all lines of a kind: much faster than a Python loop over them.
        lines.append("v %s %s %s\n" * len(mesh.vertices) % tuple(coordinates))
        lines.append("f %d %d %d\n" * len(mesh.triangles) % tuple(triangles))
        first += len(mesh.vertices)
    return "".join(lines).encode("utf-8", "replace")


def _one_line(text: str) -> str:
    """Text with single spaces between its words; a backslash at its end doesn't reach the end of the line, where other
    programs take it for a continuation."""
    line = " ".join(word for word in text.translate(_SPACES).split(" ") if word)
    return f"{line} " if line.endswith("\\") else line


_SPACES = dict.fromkeys(map(ord, "\t\n\v\f\r\0"), " ")


def _decimals(vertices: NDArray[np.floating]) -> list[str]:
    values = np.asarray(vertices, np.float32).ravel()
    texts = values.astype(str)
    # A reader rounds twice, decimal to double to single. Where that could miss, the double is spelled out.
    wrong = np.flatnonzero(texts.astype(np.float64).astype(np.float32) != values) if len(values) else ()
    result = texts.tolist()
    for index in wrong:
        result[index] = repr(float(values[index]))
    return result


# --- decode ---------------------------------------------------------------------------------------


def decode(data: bytes) -> list[Mesh]:
    """The meshes that `read` finds."""
    return read(data)[0]


def read(data: bytes) -> tuple[list[Mesh], list[Finding]]:
    """Reads an OBJ: `v`, `f` (also a/b/c corners and negative, relative numbers), `o` and `g`. Everything
    else, texture coordinates, normals, materials and lines included, is passed over.

    Each `o` or `g` line begins a mesh. A mesh holds the vertices that its faces use and those under its line
    that no face uses, in file order; one without either is left out. Names are UTF-8, or CP932 where they can't be.
    Faces with more than three corners are cut as `triangulate` does; a finding names those that aren't flat.

    Raises `FormatError` with the line's number on coordinates that are no numbers, corners that name no
    vertex, faces with fewer than three, and faces whose outline crosses itself; also if there is no face at all.
    """
    vertices, faces, names = _sort_lines(data)
    if not faces.lines:
        raise FormatError(
            "no faces in this OBJ", expected="lines that begin with f", remedy="write the mesh with its faces"
        )
    coordinates = _coordinates(vertices)
    triangles, faces_of_triangles, findings = _triangles(faces, coordinates)
    mesh_of_triangle = np.asarray(faces.sections)[faces_of_triangles]
    mesh_of_vertex = np.asarray(vertices.sections, np.int64)
    unused = np.ones(len(coordinates), bool)
    unused[triangles] = False
    meshes = []
    for number, name in enumerate(names):
        own = triangles[mesh_of_triangle == number]
        members = unused & (mesh_of_vertex == number)
        members[own] = True
        kept = np.flatnonzero(members)
        if len(kept):
            meshes.append(Mesh(name, coordinates[kept], np.searchsorted(kept, own)))
    return meshes, findings


@dataclass(slots=True)
class _Lines:
    """Lines of one kind: their words behind the first, their numbers, the mesh that each belongs to."""

    words: list[list[bytes]]
    lines: list[int]
    sections: list[int]
    vertices_before: list[int]


def _sort_lines(data: bytes) -> tuple[_Lines, _Lines, list[str]]:
    """The lines of vertices, those of faces, and the names of the meshes."""
    vertices, faces = _Lines([], [], [], []), _Lines([], [], [], [])
    names = [b""]
    lines = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        words = line.split(None, 1)
        if not words or words[0] not in READ:
            continue
        if words[0] not in CONTINUED:
            # A name may hold the sign that begins a comment elsewhere.
            names.append(b" ".join(line.split()[1:]))
            continue
        kind = vertices if words[0] == b"v" else faces
        kind.vertices_before.append(len(vertices.lines))
        kind.words.append(_continued(line, numbered).split()[1:])
        kind.lines.append(number)
        kind.sections.append(len(names) - 1)
    return vertices, faces, _spelled(names)


def _continued(line: bytes, following: Iterator[tuple[int, bytes]]) -> bytes:
    """A line without its comment, and those that it goes on in."""
    parts: list[bytes] = []
    while True:
        text, comment, _ = line.partition(b"#")
        if comment or not text.endswith(b"\\"):
            return b"".join((*parts, text))
        parts.append(text[:-1] + b" ")
        line = next(following, (0, b""))[1]


def _spelled(names: list[bytes]) -> list[str]:
    """Names as text. One that is no UTF-8 is CP932, and so are the others of its file."""
    together = b"\n".join(names)
    for encoding in ("utf-8", "cp932"):
        try:
            return together.decode(encoding).split("\n")
        except UnicodeDecodeError:
            pass
    return together.decode("utf-8", "replace").split("\n")


def _coordinates(vertices: _Lines) -> np.ndarray:
    """float32 (n, 3): the first three numbers of each `v` line; a weight or a colour may follow them."""
    if not vertices.words:
        return np.zeros((0, 3), np.float32)
    try:
        values = np.array(list(map(float, chain.from_iterable(words[:3] for words in vertices.words))))
        with np.errstate(over="ignore"):
            coordinates = values.reshape(len(vertices.words), 3).astype(np.float32)
        good = np.isfinite(coordinates).all(axis=1)
    except ValueError:
        good = np.array([_is_point(words) for words in vertices.words])
    if not good.all():
        where = int(np.argmin(good))
        raise FormatError(
            f"line {vertices.lines[where]:,}: a vertex without three usable coordinates",
            expected="three finite numbers",
            found=_shown(b" ".join(vertices.words[where])),
        )
    return coordinates


def _shown(words: bytes) -> str:
    return words[:80].decode("utf-8", "replace") or "nothing"


def _is_point(words: list[bytes]) -> bool:
    try:
        return len([float(word) for word in words[:3]]) == 3
    except ValueError:
        return False


def _triangles(faces: _Lines, coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Finding]]:
    """Vertex numbers from 0, int64 (t, 3), for each triangle the face that it comes from, int64 (t,), and what is
    worth telling about the faces."""
    vertex_count = len(coordinates)
    sizes = np.array([len(words) for words in faces.words])
    if sizes.min() < 3:
        where = int(np.argmax(sizes < 3))
        raise FormatError(
            f"line {faces.lines[where]:,}: a face with too few corners",
            expected="3 or more",
            found=f"{sizes[where]}",
        )
    face_of_corner = np.repeat(np.arange(len(sizes)), sizes)
    spelled = [word.partition(b"/")[0] for word in chain.from_iterable(faces.words)]
    try:
        corners = np.array(list(map(int, spelled)), np.int64)
    except (ValueError, OverflowError):
        where = next(index for index, word in enumerate(spelled) if not _is_number(word))
        raise _no_vertex(faces, int(face_of_corner[where]), spelled[where], vertex_count) from None
    corners = np.where(corners < 0, corners + np.array(faces.vertices_before)[face_of_corner], corners - 1)
    bad = (corners < 0) | (corners >= vertex_count)
    if bad.any():
        where = int(np.argmax(bad))
        raise _no_vertex(faces, int(face_of_corner[where]), spelled[where], vertex_count)
    cut = triangulate(coordinates, corners, sizes)
    if len(cut.crossing):
        face = int(cut.crossing[0])
        raise FormatError(
            f"line {faces.lines[face]:,}: a face whose outline crosses or touches itself",
            expected=f"an outline around one area, with up to {MOST_CORNERS:,} corners where it isn't convex",
            found=f"{sizes[face]:,} corners",
            remedy="triangulate the faces before writing the file",
        )
    if not len(cut.bent):
        return cut.triangles, cut.faces, []
    count, lines = len(cut.bent), some([f"{faces.lines[face]:,}" for face in cut.bent.tolist()])
    are, s = ("isn't", "") if count == 1 else ("aren't", "s")
    message = f"{count:,} that {are} flat, which another program may cut in another way (line{s} {lines})"
    return cut.triangles, cut.faces, [Finding(Severity.WARNING, Rule.OBJ_FACES, message)]


def _is_number(word: bytes) -> bool:
    try:
        return abs(int(word)) < 2**63
    except ValueError:
        return False


def _no_vertex(faces: _Lines, face: int, word: bytes, vertex_count: int) -> FormatError:
    return FormatError(
        f"line {faces.lines[face]:,}: a face corner that names no vertex",
        expected=f"a number from 1 to {vertex_count:,}, or from -1 down",
        found=_shown(word[:40]),
    )
