"""Selects what a check found: elements in edit mode, or whole objects."""

from __future__ import annotations

from typing import Any

import bmesh
import bpy
import numpy as np

from ...core.errors import RefusedError
from ...core.geometry.triangles import repeated
from ..scene import mesh_arrays, reading
from . import problems


def matching(checked: problems.Checked, check: str, severity: str = "") -> list[problems.Problem]:
    """The problems of one check, of one severity or of all for ""."""
    return [p for p in checked.problems if p.check == check and severity in ("", p.severity.value)]


def select_elements(context: bpy.types.Context, found: list[problems.Problem]) -> tuple[list[str], list[str]]:
    """Enters edit mode on the objects with elements, exactly those selected. Returns the objects' names, and those
    of objects that can't be entered.

    Raises `SylpheedError` for a face on which edit mode would hang.
    """
    objects = problems.by_session_uid(context.scene)
    elements = gather(found)
    whole = {uid for problem in found if not problem.kind for uid in problem.objects}
    if whole and not elements:
        return _select_objects(context, [objects[uid] for uid in whole if uid in objects], whole)
    _refuse_repeated_corners([objects[uid] for uid in elements])
    chosen = [objects[uid] for uid in elements if _can_enter(context, objects[uid])]
    kind = found[0].kind
    if chosen:
        _enter_edit_mode(context, chosen, kind)
    entered = [obj for obj in chosen if obj.mode == "EDIT"]
    for obj in entered:
        _select_in(obj, kind, elements[obj.session_uid])
    concerned = {*elements, *(uid for problem in found for uid in problem.objects)}
    left_out = sorted(objects[uid].name for uid in concerned if objects[uid] not in entered)
    return [obj.name for obj in entered], left_out


def _select_objects(
    context: bpy.types.Context, objects: list[bpy.types.Object], wanted: set[int]
) -> tuple[list[str], list[str]]:
    """Selects exactly these objects, in object mode. Returns their names, and those of the wanted that can't be."""
    chosen = [obj for obj in objects if _can_select(context, obj)]
    if chosen:
        _show_alone(context, chosen)
    reached = {obj.session_uid for obj in chosen}
    return [obj.name for obj in chosen], sorted(problems.name_of(uid) for uid in wanted - reached)


def gather(found: list[problems.Problem]) -> dict[int, np.ndarray]:
    """The elements of some problems, int64, by the objects' session numbers."""
    elements: dict[int, np.ndarray] = {}
    for problem in found:
        for uid, numbers in problem.elements.items():
            elements[uid] = np.union1d(elements.get(uid, np.zeros(0, np.int64)), numbers)
    return elements


def _enter_edit_mode(context: bpy.types.Context, objects: list[bpy.types.Object], kind: str) -> None:
    """Enters edit mode on these objects alone, to select elements of a kind, and shows them."""
    _show_alone(context, objects)
    context.tool_settings.mesh_select_mode = tuple(kind == mode for mode in ("VERT", "EDGE", "FACE"))
    bpy.ops.object.mode_set(mode="EDIT")


def _show_alone(context: bpy.types.Context, objects: list[bpy.types.Object]) -> None:
    """Shows and selects these objects alone, in object mode."""
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for obj in context.view_layer.objects:
        obj.select_set(False)
    view = context.space_data if isinstance(context.space_data, bpy.types.SpaceView3D) else None
    for obj in objects:
        obj.hide_viewport = obj.hide_select = False
        obj.hide_set(False)
        if view and view.local_view:
            obj.local_view_set(view, True)
        obj.select_set(True)
    context.view_layer.objects.active = objects[0]


def _can_enter(context: bpy.types.Context, obj: bpy.types.Object) -> bool:
    return obj.library is None and obj.data.library is None and _can_select(context, obj)


def _can_select(context: bpy.types.Context, obj: bpy.types.Object) -> bool:
    return obj in context.view_layer.objects.values() and _collections_shown(context, obj)


def _collections_shown(context: bpy.types.Context, obj: bpy.types.Object) -> bool:
    """Whether the object would be visible if it weren't hidden itself."""

    def shown(layer: bpy.types.LayerCollection) -> bool:
        if layer.exclude or layer.hide_viewport or layer.collection.hide_viewport:
            return False
        return obj in layer.collection.objects.values() or any(shown(child) for child in layer.children)

    return shown(context.view_layer.layer_collection)


def _refuse_repeated_corners(objects: list[bpy.types.Object]) -> None:
    for obj in objects:
        if not reading.is_edited(obj) and repeated(mesh_arrays.read_mesh(obj.data).triangles).any():
            raise RefusedError(
                f'"{obj.name}" has a face that uses a vertex twice, on which Edit Mode hangs',
                remedy="run Mesh > Clean Up > Validate, or delete the object",
            )


def _select_in(obj: bpy.types.Object, kind: str, numbers: np.ndarray) -> None:
    mesh = bmesh.from_edit_mesh(obj.data)
    for face in mesh.faces:
        face.select_set(False)
    for edge in mesh.edges:
        edge.select_set(False)
    for vertex in mesh.verts:
        vertex.select_set(False)
    sequence: Any = {"VERT": mesh.verts, "EDGE": mesh.edges, "FACE": mesh.faces}[kind]
    sequence.ensure_lookup_table()
    for number in numbers.tolist():
        sequence[number].hide_set(False)
        sequence[number].select_set(True)
    mesh.select_history.clear()
    mesh.select_flush_mode()
    bmesh.update_edit_mesh(obj.data, loop_triangles=False, destructive=False)


def frame_selection(context: bpy.types.Context) -> None:
    """Brings the selection into view."""
    for region in context.area.regions:
        if region.type == "WINDOW":
            with context.temp_override(region=region):
                bpy.ops.view3d.view_selected()
