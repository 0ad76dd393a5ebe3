"""The mesh of an object, to be changed in object mode as in edit mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bmesh
import bpy

from ..translations import report_text


def reason_against(obj: bpy.types.Object) -> str:
    """Why a fix may not change an object's mesh, "" where it may."""
    if obj.library or obj.data.library or obj.data.override_library:
        return report_text("is linked from a library: make it local first")
    if sum(other.data == obj.data for other in bpy.data.objects) > 1:
        return report_text("shares its mesh with another object: make it a single user first")
    if obj.mode not in {"OBJECT", "EDIT"}:
        return report_text("is in another mode: switch to Object Mode or Edit Mode first")
    return ""


@contextmanager
def editable(obj: bpy.types.Object) -> Iterator[bmesh.types.BMesh]:
    """The object's mesh to change, in object and in edit mode."""
    if obj.mode == "EDIT":
        mesh = bmesh.from_edit_mesh(obj.data)
        _number(mesh)
        yield mesh
        bmesh.update_edit_mesh(obj.data)
        return
    mesh = bmesh.new()
    try:
        mesh.from_mesh(obj.data)
        _number(mesh)
        yield mesh
        mesh.to_mesh(obj.data)
        obj.data.update()
    finally:
        mesh.free()


def restore(obj: bpy.types.Object, mesh: bmesh.types.BMesh) -> None:
    """Gives an object the mesh that it had."""
    if obj.mode != "EDIT":
        mesh.to_mesh(obj.data)
        obj.data.update()
        return
    copy = bpy.data.meshes.new(obj.data.name)
    try:
        mesh.to_mesh(copy)
        edited = bmesh.from_edit_mesh(obj.data)
        edited.clear()
        edited.from_mesh(copy)
        bmesh.update_edit_mesh(obj.data)
    finally:
        bpy.data.meshes.remove(copy)


def _number(mesh: bmesh.types.BMesh) -> None:
    for sequence in (mesh.verts, mesh.edges, mesh.faces):
        sequence.index_update()
