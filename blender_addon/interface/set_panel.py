"""The sidebar's panel of collision sets: how the parts lie, and which of them are assets."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, EnumProperty

from ...core.errors import SylpheedError
from ..scene import custom_properties, viewport
from ..scene.roots import find_root, has_root, root_of
from ..translations import report_text
from .reporting import Result, refuse, report


class OBJECT_OT_sylpheed_lay_out(bpy.types.Operator):
    """Show the parts of the collision set in rows by family, or as in the file. What is exported stays the same"""

    bl_idname = "sylpheed.lay_out"
    bl_label = "Lay Out Sylpheed Set"
    bl_options = {"REGISTER", "UNDO"}

    layout_parts: EnumProperty(
        name="Layout",
        description="Where the parts are shown",
        items=[
            ("ROWS", "Rows", "In rows by family, apart from each other"),
            ("FILE", "As in the File", "Where the file has them: nearly all at one point"),
        ],
        default="ROWS",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode == "OBJECT" and has_root(context.scene, custom_properties.SET)

    def execute(self, context: bpy.types.Context) -> Result:
        from ..scene import set_layout, sources

        try:
            root = find_root(context, custom_properties.SET)
            set_layout.lay_out(root, sources.set_source(root).parts, self.layout_parts)
        except SylpheedError as error:
            return refuse(self, error)
        context.view_layer.update()
        viewport.redraw(context)
        return {"FINISHED"}


class OBJECT_OT_sylpheed_mark_assets(bpy.types.Operator):
    """Make an asset of each selected part, or of all parts of the set, to drag from the Asset Browser into a hull"""

    bl_idname = "sylpheed.mark_assets"
    bl_label = "Mark Sylpheed Parts as Assets"
    bl_options = {"REGISTER", "UNDO"}

    clear: BoolProperty(name="Clear", description="Delete the assets of these parts instead", default=False)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode == "OBJECT" and has_root(context.scene, custom_properties.SET)

    def execute(self, context: bpy.types.Context) -> Result:
        from ..scene import assets

        try:
            root = find_root(context, custom_properties.SET)
        except SylpheedError as error:
            return refuse(self, error)
        chosen = [obj for obj in context.selected_objects if obj != root and root_of(obj) == root]
        parts = chosen or [obj for obj in root.children if obj.type == "MESH"]
        if self.clear:
            text = report_text("Assets deleted: {count:,}", count=assets.clear_assets(context.scene, parts))
        else:
            text = report_text("Assets made: {count:,}", count=assets.make_assets(context.scene, root, parts))
        report(self, "INFO", text)
        return {"FINISHED"}


class SYLPHEED_PT_set(bpy.types.Panel):
    bl_label = "Collision Set"
    bl_category = "Sylpheed"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_order = 4
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_root(context.scene, custom_properties.SET)

    def draw(self, context: bpy.types.Context) -> None:
        row = self.layout.row(align=True)
        row.operator_enum(OBJECT_OT_sylpheed_lay_out.bl_idname, "layout_parts")
        row = self.layout.row(align=True)
        row.operator(
            OBJECT_OT_sylpheed_mark_assets.bl_idname, text="Mark as Assets", icon="ASSET_MANAGER"
        ).clear = False
        row.operator(OBJECT_OT_sylpheed_mark_assets.bl_idname, text="", icon="X").clear = True


CLASSES = (OBJECT_OT_sylpheed_lay_out, OBJECT_OT_sylpheed_mark_assets, SYLPHEED_PT_set)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
