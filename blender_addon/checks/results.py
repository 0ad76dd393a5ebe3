"""What the last check found, kept for the sidebar, which must not compute while it draws."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...core.errors import Severity
from ..scene import custom_properties, reading
from . import problems


@dataclass(slots=True)
class Result:
    """A check, and the state of the root and each object below it when it was made, by session number.

    The handlers only note that something happened, in the same time however much the scene holds. `edited` looks
    at the objects of the root when it is asked. `objects` are these as they were last found; no reference to them
    outlives an undo. `entered` are objects that were edited in edit mode, where no state can be read.
    """

    checked: problems.Checked
    states: dict[int, int | None]
    root: bpy.types.Object
    objects: list[bpy.types.Object] | None = None
    entered: set[int] = field(default_factory=set)
    touched: bool = False
    differs: bool = False

    @property
    def edited(self) -> bool:
        """Whether the objects differ from those that were checked."""
        if self.touched:
            self.differs = _differs(self)
            self.touched = False
        return self.differs


_results: dict[int, Result] = {}
"""By the root's session number, which survives undo and renaming."""


def run(context: bpy.types.Context, root: bpy.types.Object) -> problems.Checked:
    """Checks a root and keeps the result."""
    checked = problems.check_root(context, root)
    objects = [root, *reading.below(context.scene, root)]
    states = {obj.session_uid: _state(obj) for obj in objects}
    _results[root.session_uid] = Result(checked, states, root, objects)
    return checked


def of(root: bpy.types.Object) -> Result | None:
    """The last check of a root."""
    result = _results.get(root.session_uid)
    if result:
        result.root = root
    return result


def forget() -> None:
    """Drops every result."""
    _results.clear()


def trust(context: bpy.types.Context, root: bpy.types.Object) -> None:
    """Takes a result for fresh after something that Blender reports like an edit, such as entering edit mode."""
    context.view_layer.update()
    result = _results[root.session_uid]
    result.touched = result.differs = False
    result.entered.clear()


def _state(obj: bpy.types.Object) -> int | None:
    """A number that is the same as long as an object's shape and place are, or the source that a root carries; None
    if that can't be told. In edit mode it is that of the mesh as it was last written back."""
    if custom_properties.kind(obj) in (custom_properties.HULL, custom_properties.SET):
        data = obj.get(custom_properties.SOURCE)
        return zlib.crc32(data) if isinstance(data, bytes) else None
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
    if not _results or not depsgraph.id_type_updated("OBJECT"):
        return
    rearranged = depsgraph.id_type_updated("SCENE")  # something is new, gone, or has another parent
    for result in _results.values():
        result.touched = True
        if rearranged:
            result.objects = None
    if getattr(bpy.context, "mode", "").startswith("EDIT"):  # even to count the updates takes longer in a large scene
        for update in depsgraph.updates:
            if isinstance(update.id, bpy.types.Object) and (update.is_updated_geometry or update.is_updated_transform):
                _note_edit_mode(update.id.original)


def _note_edit_mode(obj: bpy.types.Object) -> None:
    for result in _results.values():
        if obj.session_uid in result.states:
            result.entered.add(obj.session_uid)


@persistent
def _forget_objects(*_: object) -> None:
    """Before an undo or redo."""
    for result in _results.values():
        result.objects = None


@persistent
def _note_undo(*_: object) -> None:
    for result in _results.values():
        result.touched, result.objects = True, None
        result.entered |= result.states.keys()


@persistent
def _note_load(*_: object) -> None:
    forget()


def _differs(result: Result) -> bool:
    try:
        return _compare(result, result.objects)
    except ReferenceError:  # one was deleted, and Blender has not reported it yet
        return _compare(result, None)


def _compare(result: Result, objects: list[bpy.types.Object] | None) -> bool:
    """Whether any of these objects, or where None those that the scene has now, differs from what was checked."""
    if objects is None:
        result.objects = objects = [result.root, *reading.below(bpy.context.scene, result.root)]
    if {obj.session_uid for obj in objects} != result.states.keys():
        return True
    for number, obj in enumerate(objects):
        if _is_edited_since(result, obj):
            objects.insert(0, objects.pop(number))  # it will be asked first, while it is dragged
            return True
    return False


def _is_edited_since(result: Result, obj: bpy.types.Object) -> bool:
    if reading.is_edited(obj):
        return obj.session_uid in result.entered
    state = _state(obj)
    return state is None or state != result.states[obj.session_uid]


HANDLERS = (
    ("depsgraph_update_post", _note_edits),
    ("undo_pre", _forget_objects),
    ("redo_pre", _forget_objects),
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


def summary(checked: problems.Checked) -> str:
    """One line: `S14: 2 errors, 1 warning: Open edges (3), …`"""
    told = [problem for problem in checked.problems if problem.severity is not Severity.INFO]
    if not told:
        return f"{checked.root}: sound"
    errors, warnings = checked.count(Severity.ERROR), checked.count(Severity.WARNING)
    counts = [f"{n} {word}{'s' if n > 1 else ''}" for n, word in ((errors, "error"), (warnings, "warning")) if n]
    return f"{checked.root}: {', '.join(counts)}: " + ", ".join(
        f"{problems.TITLES[problem.check]} ({problem.count:,})" for problem in told
    )


def worst_severity(checked: problems.Checked) -> Severity:
    return checked.problems[0].severity
