"""What the view shows of a hull or collision set and the file doesn't hold as shown, and why.

What isn't geometry (lights, cameras, plain empties, armatures) needs no warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import bmesh
import bpy

from ...core.text import some
from . import custom_properties
from .evaluation import is_edited
from .scene_rules import SceneRule

UNREADABLE = {
    "META": "a metaball",
    "CURVES": "hair curves",
    "POINTCLOUD": "a point cloud",
    "VOLUME": "a volume",
    "GPENCIL": "a Grease Pencil object",
    "GREASEPENCIL": "a Grease Pencil object",
}
"""Types of objects that show something, and aren't exported."""

VISIBLE = {"MESH", "CURVE", "SURFACE", "FONT", *UNREADABLE}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that isn't exported as shown: what to say, the session numbers of the objects, and the rule that it
    breaks."""

    message: str
    objects: tuple[int, ...] = ()
    check: SceneRule = SceneRule.LEFT_OUT

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Family:
    """What is parented to a root, up to other roots, each by name: what is exported, what only shows something, and
    what isn't in the scene."""

    exported: list[bpy.types.Object]
    shown: list[bpy.types.Object]
    elsewhere: list[bpy.types.Object]


def _of(check: SceneRule, objects: list[bpy.types.Object], text: str) -> list[LeftOut]:
    """One of a check for some objects, none for no objects: their names, and `text`."""
    if not objects:
        return []
    names = some([f'"{obj.name}"' for obj in objects])
    return [LeftOut(f"{names}: {text}", tuple(obj.session_uid for obj in objects), check)]


def around(scene: bpy.types.Scene, root: bpy.types.Object, family: Family) -> list[LeftOut]:
    """What is left out though it is parented to a root or seems to be, and what isn't and should be."""
    objects = family.exported
    used = operands(objects)
    filled = [obj for obj in family.shown if obj.type == "MESH" and _has_faces(obj)]
    away = [obj for obj in family.elsewhere if obj.type in VISIBLE]
    gone = [obj for obj in _strays(scene, root) if not is_helper(obj, used)]
    beside = [obj for obj in _beside(scene, root) if obj not in gone and not is_helper(obj, used)]
    remedy = "parent it to the root (Object > Parent > Object (Keep Transform))"
    return [
        *_of(
            SceneRule.CUTTERS,
            [obj for obj in objects if obj in used and is_helper(obj, used)],
            "only used by a modifier of another object, and exported as rock all the same; move it out of the "
            "hull (Object > Parent > Clear and Keep Transformation)",
        ),
        *_of(
            SceneRule.EDITED_CELLS,
            filled,
            "part of what shows the grid, which is never exported, but with faces; make it part of the hull, "
            "or undo the edit",
        ),
        *_of(SceneRule.LEFT_OUT, away, "parented to the root, but in another scene, and not exported"),
        *_of(SceneRule.LEFT_OUT, gone, f"came with {root.name}, is no longer parented to it and isn't exported"),
        *_of(
            SceneRule.LEFT_OUT,
            beside,
            f"in the collection of {root.name} but not parented to it, and not exported; {remedy}",
        ),
    ]


def of_object(obj: bpy.types.Object, shown_as: bpy.types.Object | None = None) -> list[LeftOut]:
    """What an object of a root's shows besides a mesh. `shown_as` is the collection instance that it shows in."""
    owner = shown_as or obj
    name = f'"{owner.name}" holds "{obj.name}", which' if shown_as else f'"{obj.name}"'
    uid = (owner.session_uid,)
    found = []
    if obj.type in UNREADABLE:
        found.append(LeftOut(f"{name} is {UNREADABLE[obj.type]} and isn't exported: convert it to a mesh", uid))
    if obj.type != "EMPTY" and obj.instance_type in {"VERTS", "FACES"} and obj.children:
        found.append(LeftOut(f"{name} repeats its children; only the originals are exported", uid))
    if any(modifier.type == "PARTICLE_SYSTEM" and modifier.show_viewport for modifier in obj.modifiers):
        remedy = "use Object > Apply > Make Instances Real, and parent what that makes to the root"
        found.append(LeftOut(f"{name} has particles, which aren't exported: {remedy}", uid))
    return found


# --- what only serves a modifier ------------------------------------------------------------------


def operands(objects: Iterable[bpy.types.Object]) -> dict[bpy.types.Object, bool]:
    """The objects that modifiers of these use, and whether a Boolean does."""
    found: dict[bpy.types.Object, bool] = {}
    for obj in objects:
        for modifier in obj.modifiers:
            for used in _used_by(modifier):
                if used != obj:
                    found[used] = found.get(used, False) or modifier.type == "BOOLEAN"
    return found


def _used_by(modifier: bpy.types.Modifier) -> Iterator[bpy.types.Object]:
    properties: Any = modifier.bl_rna.properties
    values = [getattr(modifier, prop.identifier) for prop in properties if prop.type == "POINTER"]
    if modifier.type == "NODES":
        values += _node_inputs(modifier)
    for value in values:
        if isinstance(value, bpy.types.Object):
            yield value
        elif isinstance(value, bpy.types.Collection):
            yield from value.all_objects


def _node_inputs(modifier: Any) -> list[object]:
    """The values of a node group's inputs. Blender 5.3 has them apart from custom properties."""
    if hasattr(modifier, "properties"):
        inputs = modifier.properties.inputs
        names = [prop.identifier for prop in inputs.bl_rna.properties if prop.type == "POINTER"]
        return [getattr(getattr(inputs, name), "value", None) for name in names]
    return [modifier[name] for name in modifier.keys()]  # noqa: SIM118, it has no iterator


def is_helper(obj: bpy.types.Object, used: dict[bpy.types.Object, bool]) -> bool:
    """Whether an object that modifiers use is there for that alone: neither drawn solid nor rendered."""
    if obj not in used:
        return False
    drawn_as = {"BOUNDS", "WIRE"}
    if used[obj]:
        return obj.display_type == "BOUNDS" or (obj.hide_render and obj.display_type in drawn_as)
    return obj.hide_render and obj.display_type in drawn_as


# --- what isn't parented --------------------------------------------------------------------------


def _strays(scene: bpy.types.Scene, root: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects that were imported with a root and are no longer parented to one."""
    mine = custom_properties.root_id(root)
    if not mine:
        return []
    found = [
        obj
        for obj in bpy.data.objects
        if obj.get(custom_properties.ROOT_ID) == mine
        and obj.type == "MESH"
        and custom_properties.kind(obj) != custom_properties.SHOWN
        and not _has_root(obj)
        and scene.objects.get(obj.name) == obj
    ]
    return sorted(found, key=lambda obj: obj.name)


def _beside(scene: bpy.types.Scene, root: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects that show something in a root's collections, and aren't parented to a root."""
    members: dict[bpy.types.Object, None] = {}
    for collection in bpy.data.collections:
        if collection.objects.get(root.name) == root:
            members |= dict.fromkeys(collection.all_objects)
    found = [
        obj
        for obj in members
        if _shows(obj)
        and not _has_root(obj)
        and custom_properties.kind(obj) != custom_properties.SHOWN
        and scene.objects.get(obj.name) == obj
    ]
    return sorted(found, key=lambda obj: obj.name)


def _shows(obj: bpy.types.Object) -> bool:
    if obj.type == "MESH":
        return _has_faces(obj)
    instances = obj.instance_type == "COLLECTION" and obj.instance_collection is not None
    return obj.type in VISIBLE or instances


def _has_faces(obj: bpy.types.Object) -> bool:
    """Whether a mesh object has faces, or modifiers that may make some."""
    if obj.modifiers or not is_edited(obj):
        return bool(obj.modifiers or len(obj.data.polygons))
    return bool(bmesh.from_edit_mesh(obj.data).faces)  # flushing the edit would be a change that every handler hears of


def _has_root(obj: bpy.types.Object | None) -> bool:
    while obj is not None and custom_properties.kind(obj) not in (custom_properties.HULL, custom_properties.SET):
        obj = obj.parent
    return obj is not None
