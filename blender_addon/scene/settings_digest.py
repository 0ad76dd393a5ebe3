"""What shapes and places an object besides its own mesh: modifiers, constraints, shape keys, and all that these use.

Reads only. It serves where Blender evaluates nothing that could be read instead: hidden objects, and edit mode.
"""

from __future__ import annotations

import zlib
from typing import Any

import bpy

from .evaluation import DEFORMS
from .mesh_digest import mesh_digests, place_digest

SKIPPED = {
    "rna_type", "execution_time", "is_active", "is_bound", "is_override_data", "persistent_uid", "use_pin_to_last",
    "show_expanded", "show_on_cage", "show_in_editmode", "show_render", "show_options", "show_preview",
    "show_texture", "select", "location_absolute", "location", "width", "height", "dimensions", "color",
    "use_custom_color", "hide", "is_valid", "is_modified", "active", "links", "internal_links", "parent", "panels",
    "preview", "warning_propagation", "node_warnings", "bakes", "open_bake_directory_popup", "bake_target",
    "is_icon_used", "is_inactive", "is_unavailable", "is_linked", "link_limit", "show_expanded_inputs",
    "panel_toggle_socket", "description", "error_location", "error_rotation",
}  # fmt: skip
"""Properties that only show something, or that Blender changes by itself."""

DEPTH = 4
"""How many structures deep a setting may lie within another."""


def settings_digest(context: bpy.types.Context, obj: bpy.types.Object) -> int:
    """A number for the settings of an object, and for all that these use; 0 where it has none."""
    deformed = obj.parent is not None and obj.parent_type in DEFORMS
    if not (obj.modifiers or obj.constraints or deformed or _is_animated(obj)) and obj.type in {"MESH", "EMPTY"}:
        keys = obj.data.shape_keys if obj.type == "MESH" else None
        if not keys:
            return 0
    walk = _Walk(context)
    walk.of_object(obj, shape=obj.type != "MESH")
    if deformed:
        walk.of_id(obj.parent)
    return zlib.crc32("\n".join(walk.lines).encode("utf-8", "replace"))


def _is_animated(obj: bpy.types.Object) -> bool:
    owners = (obj, obj.data, getattr(obj.data, "shape_keys", None))
    return any(getattr(owner, "animation_data", None) for owner in owners)


class _Walk:
    """The values of settings, a line each. What it met once isn't entered again."""

    def __init__(self, context: bpy.types.Context) -> None:
        self.lines: list[str] = []
        self._seen: set[int] = set()
        self._context = context

    def of_object(self, obj: bpy.types.Object, shape: bool) -> None:
        self._seen.add(obj.session_uid)
        self._add("object", obj.type, obj.instance_type)
        if _is_animated(obj):
            self._add("frame", self._context.scene.frame_current_final)
        for held in (*obj.modifiers, *obj.constraints):
            self._of_struct(held, DEPTH)
            if isinstance(held, bpy.types.NodesModifier):
                self._of_inputs(held)
        for bone in obj.pose.bones if obj.pose else ():
            self._add(bone.name, *(value for column in bone.matrix_basis.col for value in column))
        if shape and obj.data is not None:
            self.of_id(obj.data, owner=obj)
        keys = getattr(obj.data, "shape_keys", None)
        for key in keys.key_blocks if keys else ():
            self._add("key", key.name, key.value, key.mute, key.relative_key.name)

    def of_id(self, found: bpy.types.ID, owner: bpy.types.Object | None = None) -> None:
        self._add("id", found.session_uid)
        if found.session_uid in self._seen:
            return
        self._seen.add(found.session_uid)
        if isinstance(found, bpy.types.Object):
            above: bpy.types.Object | None = found
            while above is not None:
                self._add("place", place_digest(above))
                above = above.parent
            self.of_object(found, shape=True)
        elif isinstance(found, bpy.types.Mesh):
            self._add("mesh", mesh_digests(owner, found) if owner else found.session_uid)
        elif isinstance(found, bpy.types.Collection):
            for obj in found.all_objects:
                self.of_id(obj)
        elif isinstance(found, bpy.types.NodeTree):
            for node in found.nodes:
                self._of_struct(node, DEPTH)
            for link in found.links:
                self._add(
                    link.from_node.name, link.from_socket.identifier, link.to_node.name, link.to_socket.identifier
                )
        elif isinstance(found, bpy.types.Curve | bpy.types.Lattice):
            self._of_struct(found, DEPTH)

    def _of_inputs(self, modifier: Any) -> None:
        """The values of a node group's inputs: custom properties, which Blender 5.3 has as properties of their own."""
        if hasattr(modifier, "properties"):
            self._of_struct(modifier.properties.inputs, DEPTH)
            return
        for name in modifier.keys():  # noqa: SIM118, it has no iterator
            self._of_value(name, modifier[name], DEPTH)

    def _of_struct(self, struct: Any, depth: int) -> None:
        properties: Any = struct.bl_rna.properties
        for prop in properties:
            if prop.identifier not in SKIPPED:
                self._of_value(prop.identifier, getattr(struct, prop.identifier, None), depth)

    def _of_value(self, name: str, value: Any, depth: int) -> None:
        if isinstance(value, bpy.types.ID):
            self._add(name)
            self.of_id(value)
        elif isinstance(value, bpy.types.bpy_struct):
            if depth:
                self._of_struct(value, depth - 1)
        elif isinstance(value, bpy.types.bpy_prop_collection):
            self._add(name, len(value))
            for item in value if depth else ():
                self._of_value(name, item, depth - 1)
        elif isinstance(value, str | int | float | bool | set | None):
            self._add(name, value)
        else:
            self._add(name, *value)

    def _add(self, *values: object) -> None:
        self.lines.append(" ".join(map(repr, values)))
