"""The elements of one object that a check names, and how faces are cut without losing their claims.

A mesh's claims to the source's numbers stay with the elements that stay. What a fix makes is new, unless it is a
triangle that the source has on the same vertices: then it is that one again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import bmesh
import numpy as np

from ..scene import mesh_arrays
from .problems import Shape

Corners = tuple[bmesh.types.BMVert, ...]
Triangles = list[Corners]


@dataclass(frozen=True, eq=False)
class Broken:
    """What a fix works on: the mesh of one object, the numbers of its broken elements, for each doubled vertex
    the one to keep, the mesh as it would be exported, and the source's triangles, int64 (nt, 3), none for what is
    new. `vertices` and `faces` have the numbers that the elements began with, which Blender's own forget."""

    mesh: bmesh.types.BMesh
    numbers: np.ndarray
    partners: np.ndarray
    shape: Shape
    source: np.ndarray
    vertices: dict[bmesh.types.BMVert, int]
    faces: dict[bmesh.types.BMFace, int]

    @cached_property
    def numbers_by_corners(self) -> dict[tuple[int, ...], int]:
        """The number of each of the source's triangles, by its vertices in ascending order: the first of several."""
        corners = map(tuple, np.sort(self.source, axis=1)[::-1].tolist())
        return dict(zip(corners, range(len(self.source) - 1, -1, -1), strict=True))

    def pick(self, sequence: Any) -> list:
        """The elements of these numbers among the mesh's vertices, edges or faces."""
        sequence.ensure_lookup_table()
        return [sequence[number] for number in self.numbers.tolist()]


def claim(broken: Broken, faces: Iterable[bmesh.types.BMFace]) -> None:
    """Makes faces new, or those triangles of the source again that have their vertices."""
    layer = broken.mesh.faces.layers.int.get(mesh_arrays.TRIANGLE_ATTRIBUTE)
    vertex_layer = broken.mesh.verts.layers.int.get(mesh_arrays.VERTEX_ATTRIBUTE)
    if layer is None:
        return
    for face in faces:
        face[layer] = 0
        if vertex_layer is not None and len(face.verts) == 3:
            corners = sorted(vertex[vertex_layer] - 1 for vertex in face.verts)
            face[layer] = broken.numbers_by_corners.get(tuple(corners), -1) + 1


def cut(broken: Broken, face: bmesh.types.BMFace, triangles: Triangles) -> list[bmesh.types.BMFace]:
    """Replaces a face by triangles of its vertices. Leaves it, and returns none, where there are none, one of them is
    there already, or the face uses a vertex twice."""
    there = any(broken.mesh.faces.get(corners) for corners in triangles)
    if not triangles or there or len(set(face.verts)) < len(face.verts):
        return []
    loops = {loop.vert: loop for loop in face.loops}
    made = []
    for corners in triangles:
        piece = broken.mesh.faces.new(corners, face)
        for loop in piece.loops:
            loop.copy_from(loops[loop.vert])
        piece.select = face.select
        made.append(piece)
    bmesh.ops.delete(broken.mesh, geom=[face], context="FACES_ONLY")
    claim(broken, made)
    return made


def exported(broken: Broken, face: bmesh.types.BMFace) -> Triangles:
    """The triangles that a face is exported as, running around like the face; none for a face that the fix changed
    already."""
    turn = {broken.vertices[vertex]: place for place, vertex in enumerate(face.verts)}
    vertices = list(face.verts)
    rows = broken.shape.triangles[broken.shape.faces == broken.faces.get(face, -1)].tolist()
    if any(number not in turn for row in rows for number in row):
        return []
    return [tuple(vertices[place] for place in sorted(turn[number] for number in row)) for row in rows]
