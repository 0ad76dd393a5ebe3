"""Arrays to a mesh and back: the one place where geometry crosses into Blender."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

VERTEX_ATTRIBUTE = "sylpheed_vertex"
TRIANGLE_ATTRIBUTE = "sylpheed_triangle"


@dataclass(frozen=True, slots=True, eq=False)
class NewMesh:
    """What a mesh is made from: vertices float32 (n, 3), triangles int32 or uint32 (m, 3), and as the attributes hold
    them, int32, the source's numbers plus one. Blender fills an attribute that a joined mesh lacks with 0, so 0 has to
    mean "new"."""

    name: str
    vertices: np.ndarray
    triangles: np.ndarray
    vertex_claims: np.ndarray
    triangle_claims: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class MeshArrays:
    """What a mesh holds: vertices float32 (n, 3); triangles int32 (m, 3); the source's numbers, int64, -1 for none; the
    face that each triangle is cut from, int32 (m,); and how many faces there are."""

    vertices: np.ndarray
    triangles: np.ndarray
    vertex_ids: np.ndarray
    triangle_ids: np.ndarray
    faces: np.ndarray
    face_count: int


def make_meshes(meshes: Sequence[NewMesh]) -> Iterator[bpy.types.Mesh]:
    """Meshes of exactly these coordinates and triangles, in their order.

    They are not validated: Blender would drop two-sided triangles. Indices and coordinates were checked when the
    file was read, and no triangle may use a vertex twice, on which edit mode hangs.
    """
    most = max((len(new.triangles) for new in meshes), default=0)
    starts, flat = np.arange(0, 3 * most, 3, dtype=np.int32), np.ones(most, bool)
    for new in meshes:
        mesh = bpy.data.meshes.new(new.name)
        if len(new.triangles):
            _fill(mesh, new, starts[: len(new.triangles)], flat[: len(new.triangles)])
        yield mesh


def _fill(mesh: bpy.types.Mesh, new: NewMesh, starts: np.ndarray, flat: np.ndarray) -> None:
    mesh.vertices.add(len(new.vertices))
    mesh.loops.add(3 * len(starts))
    mesh.polygons.add(len(starts))
    mesh.attributes["position"].data.foreach_set("vector", new.vertices.ravel())
    mesh.attributes[".corner_vert"].data.foreach_set("value", new.triangles.ravel().view(np.int32))
    mesh.polygons.foreach_set("loop_start", starts)
    for attribute, kind, domain, values in (
        (VERTEX_ATTRIBUTE, "INT", "POINT", new.vertex_claims),
        (TRIANGLE_ATTRIBUTE, "INT", "FACE", new.triangle_claims),
        ("sharp_face", "BOOLEAN", "FACE", flat),  # flat: the game knows triangles
    ):
        mesh.attributes.new(attribute, kind, domain).data.foreach_set("value", values)
    mesh.update(calc_edges=True)


def read_mesh(mesh: bpy.types.Mesh) -> MeshArrays:
    """The mesh's geometry, faces cut into triangles the way Blender shows them."""
    vertices = np.empty(3 * len(mesh.vertices), np.float32)
    if len(vertices):  # Blender 5 has no such attribute in an empty mesh
        mesh.attributes["position"].data.foreach_get("vector", vertices)
    face_count = len(mesh.polygons)
    triangle_ids = _read_ids(mesh, TRIANGLE_ATTRIBUTE, "FACE", face_count)
    corner_vertices = np.empty(len(mesh.loops), np.int32)
    if len(corner_vertices):
        mesh.attributes[".corner_vert"].data.foreach_get("value", corner_vertices)
    faces = np.arange(face_count, dtype=np.int32)
    starts = np.empty(face_count, np.int32)
    mesh.polygons.foreach_get("loop_start", starts)
    if len(corner_vertices) == 3 * face_count and np.array_equal(starts, 3 * faces):
        triangles = corner_vertices.reshape(-1, 3)
    else:
        mesh.calc_loop_triangles()
        corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
        mesh.loop_triangles.foreach_get("loops", corners)
        faces = np.empty(len(mesh.loop_triangles), np.int32)
        mesh.loop_triangles.foreach_get("polygon_index", faces)
        triangles = corner_vertices[corners].reshape(-1, 3)
        triangle_ids = triangle_ids[faces]
    return MeshArrays(
        vertices.reshape(-1, 3),
        triangles,
        _read_ids(mesh, VERTEX_ATTRIBUTE, "POINT", len(mesh.vertices)),
        triangle_ids,
        faces,
        face_count,
    )


def _read_ids(mesh: bpy.types.Mesh, name: str, domain: str, count: int) -> np.ndarray:
    attribute = mesh.attributes.get(name)
    # A modifier may turn integers into something else; then nothing is known.
    if attribute is None or attribute.domain != domain or attribute.data_type != "INT":
        return np.full(count, -1, np.int64)
    values = np.empty(count, np.int32)
    attribute.data.foreach_get("value", values)
    return np.subtract(values, 1, dtype=np.int64)
