"""Arrays to a mesh and back: the one place where geometry crosses into Blender."""

from __future__ import annotations

from dataclasses import dataclass, field

import bpy
import numpy as np

VERTEX_ATTRIBUTE = "sylpheed_vertex"
TRIANGLE_ATTRIBUTE = "sylpheed_triangle"


@dataclass(frozen=True, slots=True, eq=False)
class MeshArrays:
    """vertices float32 (n, 3); triangles (m, 3); and the source's numbers, -1 for none, int64 from a mesh. `read_mesh`
    adds the face of the mesh that each triangle is cut from, int32 (m,), and how many faces it has."""

    vertices: np.ndarray
    triangles: np.ndarray
    vertex_ids: np.ndarray
    triangle_ids: np.ndarray
    faces: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    face_count: int = 0


def make_mesh(name: str, arrays: MeshArrays) -> bpy.types.Mesh:
    """A mesh of exactly these float32 coordinates and triangles, in their order.

    It is not validated: Blender would drop two-sided triangles. Indices and coordinates were checked when the
    file was read, and no triangle may use a vertex twice, on which edit mode hangs.
    """
    mesh = bpy.data.meshes.new(name)
    vertex_count, triangle_count = len(arrays.vertices), len(arrays.triangles)
    if not triangle_count:
        return mesh
    mesh.vertices.add(vertex_count)
    mesh.loops.add(3 * triangle_count)
    mesh.polygons.add(triangle_count)
    mesh.attributes["position"].data.foreach_set("vector", np.ascontiguousarray(arrays.vertices, np.float32).ravel())
    corners = np.ascontiguousarray(arrays.triangles, np.int32).ravel()
    mesh.attributes[".corner_vert"].data.foreach_set("value", corners)
    mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * triangle_count, 3, dtype=np.int32))
    # Blender fills an attribute that a joined mesh lacks with 0, so 0 has to mean "new".
    for attribute, kind, domain, values in (
        (VERTEX_ATTRIBUTE, "INT", "POINT", np.asarray(arrays.vertex_ids + 1, np.int32)),
        (TRIANGLE_ATTRIBUTE, "INT", "FACE", np.asarray(arrays.triangle_ids + 1, np.int32)),
        ("sharp_face", "BOOLEAN", "FACE", np.ones(triangle_count, bool)),  # flat: the game knows triangles
    ):
        mesh.attributes.new(attribute, kind, domain).data.foreach_set("value", values)
    mesh.update(calc_edges=True)
    return mesh


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
    if len(corner_vertices) == 3 * face_count:  # no face has fewer corners, so none has more
        faces = np.arange(face_count, dtype=np.int32)
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
    return values.astype(np.int64) - 1
