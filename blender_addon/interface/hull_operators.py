"""Operators that make objects part of a hull, or take their shape out of its rock."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix

from ...core.errors import RefusedError, SylpheedError
from ..scene import custom_properties, viewport
from ..scene.roots import find_root, root_of
from ..translations import report_text
from .reporting import Result, refuse, report

SHAPES = {"MESH", "CURVE", "SURFACE", "FONT"}


def usable(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected objects with a shape."""
    return [obj for obj in context.selected_objects if obj.type in SHAPES]


def parent_in_place(obj: bpy.types.Object, root: bpy.types.Object) -> None:
    """Parents an object to a root without moving it, and links it to the root's collections."""
    world = np.array(obj.matrix_world, np.float64)
    local = np.linalg.solve(np.array(root.matrix_world, np.float64), world)
    obj.parent, obj.parent_type = root, "OBJECT"
    obj.matrix_parent_inverse = Matrix()
    obj.matrix_basis = Matrix(local.tolist())
    if not any(obj.name in collection.objects for collection in root.users_collection):
        root.users_collection[0].objects.link(obj)


class OBJECT_OT_sylpheed_add_to_hull(bpy.types.Operator):
    """Make the selected objects part of the hull. They stay where they are"""

    bl_idname = "sylpheed.add_to_hull"
    bl_label = "Add to Sylpheed Hull"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode == "OBJECT" and bool(usable(context))

    def execute(self, context: bpy.types.Context) -> Result:
        context.view_layer.update()
        try:
            root = find_root(context, custom_properties.HULL)
            chosen = [obj for obj in usable(context) if root_of(obj) != root]
            if not chosen:
                raise RefusedError(f'the selected objects are parts of "{root.name}" already')
            linked = [obj.name for obj in chosen if obj.library]
            if linked:
                raise RefusedError(f'"{linked[0]}" is linked from a library', remedy="make it local first")
            for obj in chosen:
                parent_in_place(obj, root)
        except SylpheedError as error:
            return refuse(self, error)
        text = report_text('{count:,} added to "{name}"', count=len(chosen), name=root.name)
        report(self, "INFO", text)
        return {"FINISHED"}


class OBJECT_OT_sylpheed_subtract(bpy.types.Operator):
    """Cut the shape of the other selected objects out of the active rock, and hide them"""

    bl_idname = "sylpheed.subtract"
    bl_label = "Subtract from Sylpheed Rock"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        rock = context.view_layer.objects.active
        return (
            context.mode == "OBJECT"
            and rock is not None
            and rock.type == "MESH"
            and root_of(rock) is not None
            and len(usable(context)) > 1
        )

    def execute(self, context: bpy.types.Context) -> Result:
        rock = context.view_layer.objects.active
        cutters = [obj for obj in usable(context) if obj != rock and obj.type == "MESH"]
        if rock.library or not cutters:
            return refuse(self, RefusedError("select meshes to cut with, and the local rock last"))
        for cutter in cutters:
            world = cutter.matrix_world.copy()
            cutter.parent = None  # a part of the hull would be exported as well
            cutter.matrix_world = world
            modifier = rock.modifiers.new(cutter.name, "BOOLEAN")
            modifier.operation, modifier.solver, modifier.object = "DIFFERENCE", "EXACT", cutter
            cutter.display_type = "WIRE"
            cutter.hide_set(True)
        viewport.select_only(context, rock)
        text = report_text('{count:,} cut out of "{name}"', count=len(cutters), name=rock.name)
        report(self, "INFO", text)
        return {"FINISHED"}


def _draw_object(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.operator(OBJECT_OT_sylpheed_add_to_hull.bl_idname)
    self.layout.operator(OBJECT_OT_sylpheed_subtract.bl_idname)


CLASSES = (OBJECT_OT_sylpheed_add_to_hull, OBJECT_OT_sylpheed_subtract)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.VIEW3D_MT_object.append(_draw_object)


def unregister() -> None:
    bpy.types.VIEW3D_MT_object.remove(_draw_object)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
