"""What the last check found, kept for the sidebar, which must not compute while it draws."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import bpy
import numpy as np
from bpy.app.handlers import persistent

from . import carry
from .deferred import problems, scene_read

ALL = -1
"""In `Result.edited`: the objects below the root are others than they were."""


@dataclass(slots=True)
class Result:
    """A check, the state of the root and each object below it when it was made, and which of them differ since."""

    checked: problems.Checked
    states: dict[int, int | None]
    edited: set[int] = field(default_factory=set)


_results: dict[int, Result] = {}
"""By the root's session number, which survives undo and renaming."""

_object_count = -1


def run(context: bpy.types.Context, root: bpy.types.Object) -> problems.Checked:
    """Checks a root and keeps the result."""
    global _object_count
    checked = problems.check_root(context, root)
    states = {obj.session_uid: _state(obj) for obj in (root, *scene_read.below(context.scene, root))}
    _results[root.session_uid] = Result(checked, states)
    _object_count = len(bpy.data.objects)
    return checked


def of(root: bpy.types.Object) -> Result | None:
    """The last check of a root."""
    return _results.get(root.session_uid)


def forget() -> None:
    """Drops every result."""
    _results.clear()


def trust(context: bpy.types.Context, root: bpy.types.Object) -> None:
    """Takes a result for fresh after something that Blender reports like an edit, such as entering edit mode."""
    context.view_layer.update()
    _results[root.session_uid].edited.clear()


def _state(obj: bpy.types.Object) -> int | None:
    """A number that is the same as long as an object's shape and place are, or the source that a root carries; None
    if that can't be told. In edit mode it is that of the mesh as it was last written back."""
    if carry.kind(obj) in (carry.HULL, carry.SET):
        return zlib.crc32(carry.source(obj))
    if obj.modifiers or obj.constraints or obj.type not in {"MESH", "EMPTY"}:
        return None
    number = zlib.crc32(np.array([obj.matrix_basis, obj.matrix_parent_inverse], np.float32).tobytes())
    number = zlib.crc32(f"{obj.name} {obj.parent.session_uid if obj.parent else ''}".encode(), number)
    if obj.type == "MESH":
        if obj.data.shape_keys:
            return None
        places = np.empty(3 * len(obj.data.vertices), np.float32)
        corners = np.empty(len(obj.data.loops), np.int32)
        obj.data.vertices.foreach_get("co", places)
        obj.data.loops.foreach_get("vertex_index", corners)
        number = zlib.crc32(corners.tobytes(), zlib.crc32(places.tobytes(), number))
    return number


# --- what may have been edited since --------------------------------------------------------------


@persistent
def _note_edits(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    global _object_count
    if not _results:
        return
    if len(bpy.data.objects) != _object_count:
        _object_count = len(bpy.data.objects)
        _compare_all(scene)
        return
    for update in depsgraph.updates:
        if isinstance(update.id, bpy.types.Object) and (update.is_updated_geometry or update.is_updated_transform):
            _compare(update.id.original)


@persistent
def _note_undo(*_: object) -> None:
    if _results and bpy.context.scene:
        _compare_all(bpy.context.scene)


@persistent
def _note_load(*_: object) -> None:
    forget()


def _compare(obj: bpy.types.Object) -> None:
    for result in _results.values():
        if obj.session_uid in result.states:
            state = None if scene_read.is_edited(obj) else _state(obj)
            if state is None or state != result.states[obj.session_uid]:
                result.edited.add(obj.session_uid)
            else:
                result.edited.discard(obj.session_uid)


def _compare_all(scene: bpy.types.Scene) -> None:
    for kind in (carry.HULL, carry.SET):
        for root in scene_read.find_roots(scene, kind):
            result = of(root)
            if result is None:
                continue
            objects = [root, *scene_read.below(scene, root)]
            result.edited.clear()
            if {obj.session_uid for obj in objects} != set(result.states):
                result.edited.add(ALL)
            for obj in objects:
                _compare(obj)


HANDLERS = (
    ("depsgraph_update_post", _note_edits),
    ("undo_post", _note_undo),
    ("redo_post", _note_undo),
    ("load_post", _note_load),
)


def register() -> None:
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
    forget()
