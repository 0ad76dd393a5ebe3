"""Wavefront OBJ in and out: named triangle meshes as text. Coordinates are game units, unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np

from .errors import FormatError


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """One object of an OBJ: `vertices` float32 (nv, 3), `triangles` int64 (nt, 3) that count from its own
    first vertex."""

    name: str
    vertices: np.ndarray
    triangles: np.ndarray


# --- encode ---------------------------------------------------------------------------------------


def encode(meshes: list[Mesh], comment: str = "") -> bytes:
    """The bytes of an OBJ with one `o` object a mesh, in the given order.

    Coordinates are the shortest decimals from which `decode` gets the same float32 values back, the sign of
    zero included. Vertices that no triangle uses are written too.
    """
    lines = [f"# {line}\n" for line in comment.splitlines()]
    first = 1
    for mesh in meshes:
        coordinates = _decimals(mesh.vertices)
        triangles = (np.asarray(mesh.triangles, np.int64) + first).ravel().tolist()
        lines.append(f"o {' '.join(mesh.name.split())}\n")
        # One format string for all lines of a kind: much faster than a Python loop over them.
        lines.append("v %s %s %s\n" * len(mesh.vertices) % tuple(coordinates))
        lines.append("f %d %d %d\n" * len(mesh.triangles) % tuple(triangles))
        first += len(mesh.vertices)
    return "".join(lines).encode("utf-8", "replace")


def _decimals(vertices: np.ndarray) -> list[str]:
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
    """Reads an OBJ: `v`, `f` (also a/b/c corners and negative, relative numbers), `o` and `g`. Everything
    else, texture coordinates, normals, materials and lines included, is passed over.

    Each `o` or `g` line begins a mesh. A mesh holds the vertices that its faces use and those under its line
    that no face uses, in file order; one without either is left out. A face with more than three corners
    becomes a fan of triangles around its first corner, which is right for flat convex faces only:
    triangulate others before writing the file.

    Raises `FormatError` with the line's number on coordinates that are no numbers, corners that name no
    vertex and faces with fewer than three; also if there is no face at all.
    """
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    vertices, faces, names, sections = _sort_lines(text.replace("\\\n", " ").split("\n"))
    if not faces.lines:
        raise FormatError(
            "no faces in this OBJ", expected="lines that begin with f", remedy="write the mesh with its faces"
        )
    coordinates = _coordinates(vertices)
    triangles, faces_of_triangles = _triangles(faces, len(coordinates))
    mesh_of_triangle = np.asarray(faces.sections)[faces_of_triangles]
    mesh_of_vertex = np.asarray(vertices.sections, np.int64)
    unused = np.ones(len(coordinates), bool)
    unused[triangles] = False
    meshes = []
    for number in range(sections):
        own = triangles[mesh_of_triangle == number]
        members = unused & (mesh_of_vertex == number)
        members[own] = True
        kept = np.flatnonzero(members)
        if len(kept):
            meshes.append(Mesh(names[number], coordinates[kept], np.searchsorted(kept, own)))
    return meshes


@dataclass(slots=True)
class _Lines:
    """Lines of one kind: their words behind the first, their numbers, the mesh that each belongs to."""

    words: list[list[str]]
    lines: list[int]
    sections: list[int]
    vertices_before: list[int]


def _sort_lines(lines: list[str]) -> tuple[_Lines, _Lines, list[str], int]:
    vertices, faces = _Lines([], [], [], []), _Lines([], [], [], [])
    names = [""]
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0] == "v":
            kind = vertices
        elif words[0] == "f":
            kind = faces
            kind.vertices_before.append(len(vertices.lines))
        else:
            if words[0] in ("o", "g"):
                # A name may hold the sign that begins a comment elsewhere.
                names.append(" ".join(line.split()[1:]))
            continue
        kind.words.append(words[1:])
        kind.lines.append(number)
        kind.sections.append(len(names) - 1)
    return vertices, faces, names, len(names)


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
            found=" ".join(vertices.words[where]) or "nothing",
        )
    return coordinates


def _is_point(words: list[str]) -> bool:
    try:
        return len([float(word) for word in words[:3]]) == 3
    except ValueError:
        return False


def _triangles(faces: _Lines, vertex_count: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertex numbers from 0, int64 (t, 3), and for each triangle the face that it comes from, int64 (t,)."""
    sizes = np.array([len(words) for words in faces.words])
    if sizes.min() < 3:
        where = int(np.argmax(sizes < 3))
        raise FormatError(
            f"line {faces.lines[where]:,}: a face with too few corners",
            expected="3 or more",
            found=f"{sizes[where]}",
        )
    face_of_corner = np.repeat(np.arange(len(sizes)), sizes)
    spelled = [word.partition("/")[0] for word in chain.from_iterable(faces.words)]
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
    first = np.cumsum(sizes) - sizes
    face = np.repeat(np.arange(len(sizes)), sizes - 2)
    step = np.arange(len(face)) - (first - 2 * np.arange(len(sizes)))[face]
    start = first[face]
    return np.stack((corners[start], corners[start + step + 1], corners[start + step + 2]), axis=-1), face


def _is_number(word: str) -> bool:
    try:
        return abs(int(word)) < 2**63
    except ValueError:
        return False


def _no_vertex(faces: _Lines, face: int, word: str, vertex_count: int) -> FormatError:
    return FormatError(
        f"line {faces.lines[face]:,}: a face corner that names no vertex",
        expected=f"a number from 1 to {vertex_count:,}, or from -1 down",
        found=word[:40] or "nothing",
    )
