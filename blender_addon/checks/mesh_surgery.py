"""Changes to the faces of a mesh that keep its claims to the source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import bmesh
import bpy
import numpy as np

from ...core.geometry.triangles import FLATTEST, flat
from ..scene import custom_properties, mesh_arrays, sources
from . import problems

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
    shape: problems.Shape
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


def source_triangles(root: bpy.types.Object, obj: bpy.types.Object) -> np.ndarray:
    """The triangles of the source that an object's mesh may claim, int64 (n, 3)."""
    if custom_properties.kind(root) == custom_properties.HULL:
        return sources.hull_source(root).triangles.astype(np.int64)
    parts, record = sources.set_source(root).parts, obj.get(custom_properties.RECORD)
    if isinstance(record, int) and 0 <= record < len(parts) and custom_properties.came_with(obj, root):
        return parts[record].triangles.astype(np.int64)
    return np.zeros((0, 3), np.int64)


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


def flat_triangles(broken: Broken, triangles: Triangles) -> list[bool]:
    numbers = [[broken.vertices[vertex] for vertex in corners] for corners in triangles]
    return [bool(answer) for answer in flat(broken.shape.vertices, np.array(numbers, np.int64).reshape(-1, 3))]


def turn_within(broken: Broken, triangles: Triangles) -> Triangles:
    """The triangles of one face with edges between them turned, so that as few as possible have no area."""
    turned = True
    while turned:
        turned = False
        for one, is_flat in zip(triangles, flat_triangles(broken, triangles), strict=True):
            if not is_flat:
                continue
            a, b, c = longest_last(broken, one)
            for other in triangles:
                if other is not one and {b, c} < set(other):
                    (d,) = set(other) - {b, c}
                    new: Triangles = [(a, b, d), (a, d, c)]
                    turned = sum(flat_triangles(broken, new)) < sum(flat_triangles(broken, [one, other]))
                    if turned:
                        triangles = [kept for kept in triangles if kept not in (one, other)] + new
                    break
            if turned:
                break
    return triangles


def turn_longest(broken: Broken, face: bmesh.types.BMFace) -> bool:
    """Turns a face's longest edge toward the corner opposite, where that leaves fewer faces without area."""
    a, b, c = longest_last(broken, tuple(face.verts))
    edge = broken.mesh.edges.get((b, c))
    if len(edge.link_faces) == 2 and any(len(other.verts) > 3 for other in edge.link_faces):
        (large,) = (other for other in edge.link_faces if other != face)
        cut(broken, large, exported(broken, large))
    if len(edge.link_faces) != 2 or not edge.is_contiguous:
        return False
    (other,) = (other for other in edge.link_faces if other != face)
    if len(other.verts) > 3:
        return False
    (d,) = set(other.verts) - {b, c}
    if d == a or broken.mesh.edges.get((a, d)):
        return False
    if sum(flat_triangles(broken, [(a, b, d), (a, d, c)])) >= sum(flat_triangles(broken, [(a, b, c), (b, c, d)])):
        return False
    turned = bmesh.utils.edge_rotate(edge)
    if turned is None:
        return False
    claim(broken, turned.link_faces)
    return True


def merge_corners(broken: Broken, face: bmesh.types.BMFace) -> bool:
    """Merges the ends of a face's shortest edge if they lie in one place and nothing folds up around them."""
    places = broken.shape.vertices.astype(np.float64)

    def length(edge: bmesh.types.BMEdge) -> float:
        return float(np.linalg.norm(places[broken.vertices[edge.verts[0]]] - places[broken.vertices[edge.verts[1]]]))

    edge = min(face.edges, key=length)
    if length(edge) > 4 * FLATTEST * float(np.abs(places).max()):
        return False
    near, far = ({edge.other_vert(vertex) for edge in vertex.link_edges} for vertex in edge.verts)
    if near & far - {vertex for other in edge.link_faces for vertex in other.verts}:
        return False
    layer = broken.mesh.verts.layers.int.get(mesh_arrays.VERTEX_ATTRIBUTE)
    kept, gone = sorted(edge.verts, key=lambda vertex: (layer is None or vertex[layer] == 0, broken.vertices[vertex]))
    bmesh.ops.weld_verts(broken.mesh, targetmap={gone: kept})
    claim(broken, kept.link_faces)
    return True


def longest_last(broken: Broken, corners: Corners) -> Corners:
    """The corners of a triangle, turned so that its longest side is that from the second to the third."""
    places = broken.shape.vertices[[broken.vertices[vertex] for vertex in corners]].astype(np.float64)
    first = int(np.linalg.norm(np.roll(places, -1, axis=0) - np.roll(places, 1, axis=0), axis=1).argmax())
    return corners[first:] + corners[:first]
