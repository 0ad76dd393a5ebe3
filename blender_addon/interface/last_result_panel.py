"""The panel that shows what the last import, export or check said."""

from __future__ import annotations

import bpy
from bpy.props import StringProperty

from ..scene import viewport
from ..translations import report_text
from . import last_result
from .layouts import draw_message
from .reporting import Result

SHOWN = 12
"""How many lines the panel shows; Copy takes all."""

ICONS = {"ERROR": "CANCEL", "WARNING": "ERROR", "INFO": "INFO"}


class SYLPHEED_OT_select_named(bpy.types.Operator):
    """Select the object that this line names and bring it into view"""

    bl_idname = "sylpheed.select_named"
    bl_label = "Select Sylpheed Object"
    bl_options = {"UNDO", "INTERNAL"}

    name: StringProperty(name="Name", options={"HIDDEN", "SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> Result:
        obj = context.view_layer.objects.get(self.name)
        if obj is None:
            self.report({"WARNING"}, report_text('"{name}" isn\'t in this view layer', name=self.name))
            return {"CANCELLED"}
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        obj.hide_select = False
        obj.hide_set(False)
        viewport.select_only(context, obj)
        return {"FINISHED"}


class SYLPHEED_OT_copy_outcome(bpy.types.Operator):
    """Copy all lines to the clipboard"""

    bl_idname = "sylpheed.copy_outcome"
    bl_label = "Copy Sylpheed Messages"
    bl_options = {"INTERNAL"}

    def execute(self, context: bpy.types.Context) -> Result:
        said = last_result.last()
        if said is None:
            return {"CANCELLED"}
        context.window_manager.clipboard = said.text
        return {"FINISHED"}


class SYLPHEED_PT_outcome(bpy.types.Panel):
    bl_label = "Last Result"
    bl_category = "Sylpheed"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_order = 1

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return last_result.last() is not None

    def draw(self, context: bpy.types.Context) -> None:
        said = last_result.last()
        if said is None:
            return
        layout = self.layout
        title = bpy.app.translations.pgettext_iface(said.title, "Operator")
        layout.label(text=title, translate=False)
        lines = said.sorted_lines()
        for kind, text in lines[:SHOWN]:
            column = layout.column(align=True)
            draw_message(column, text, ICONS[kind])
            for name in last_result.objects_named(text):
                button = column.operator(SYLPHEED_OT_select_named.bl_idname, text=name, translate=False)
                button.name = name
        if len(lines) > SHOWN:
            layout.label(text=report_text("and {count:,} more", count=len(lines) - SHOWN), translate=False)
        row = layout.row(align=True)
        row.operator(SYLPHEED_OT_copy_outcome.bl_idname, text="Copy", icon="COPYDOWN")
        folder = last_result.folder_of(said)
        if folder:
            row.operator("wm.path_open", text="Open Folder", icon="FILE_FOLDER").filepath = folder


CLASSES = (SYLPHEED_OT_select_named, SYLPHEED_OT_copy_outcome, SYLPHEED_PT_outcome)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
    last_result.forget()
