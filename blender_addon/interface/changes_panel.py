"""The sidebar's list of what differs from the source, and the buttons that put it back. Drawing computes nothing."""

from __future__ import annotations

import bpy

from ...core.errors import SylpheedError
from ..overlay import state, switch
from ..overlay.settings import settings
from ..scene import custom_properties
from ..scene.roots import find_root, shown_root
from ..translations import label_text, report_text
from .check_operators import RootProperties
from .layouts import draw_message
from .reporting import Result, refuse, report
from .revert_operator import SYLPHEED_OT_revert

SHOWN = 16
"""How many lines the panel shows."""


class SYLPHEED_OT_list_changes(bpy.types.Operator, RootProperties):
    """List what an export would change in the source file, surface by surface"""

    bl_idname = "sylpheed.list_changes"
    bl_label = "List Sylpheed Changes"

    def execute(self, context: bpy.types.Context) -> Result:
        from ..checks import changes

        try:
            root = find_root(context, None, self.root, session_uid=self.root_uid)
            found = changes.find(context, root)
        except SylpheedError as error:
            return refuse(self, error)
        for line in found.lines:
            report(self, "INFO", line)
        if found.lines:
            text = report_text('Changes in "{name}": {count:,}', name=root.name, count=len(found.lines))
        else:
            text = report_text('"{name}" is unedited', name=root.name)
        report(self, "INFO", text)
        return {"FINISHED"}


class SYLPHEED_OT_show_changes(bpy.types.Operator):
    """Show what differs from the source in the 3D views, with the source's surface where it was"""

    bl_idname = "sylpheed.show_changes"
    bl_label = "Show Sylpheed Changes"

    def execute(self, context: bpy.types.Context) -> Result:
        shown = settings(context)
        shown.changes = not (shown.changes and state.current() is not None)
        if shown.changes:
            try:
                switch.turn_on(context)
                state.bring_up_to_date(context)
            except SylpheedError as error:
                return refuse(self, error)
        return {"FINISHED"}


class SYLPHEED_PT_changes(bpy.types.Panel):
    bl_label = "Changes"
    bl_category = "Sylpheed"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_order = 3
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return shown_root(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        from ..checks import changes

        layout, root = self.layout, shown_root(context)
        layout.operator(SYLPHEED_OT_list_changes.bl_idname, text="List Changes").root_uid = root.session_uid
        if custom_properties.kind(root) == custom_properties.HULL:
            shown = settings(context).changes and state.current() is not None
            layout.operator(SYLPHEED_OT_show_changes.bl_idname, text="Show Changes", depress=shown)
        listed = changes.of(root)
        if listed is not None:
            edited = listed.snapshot.differs(context, root)
            if edited:
                layout.label(text="Edited since this list", icon="FILE_REFRESH")
            column = layout.column(align=True)
            column.active = not edited
            if not listed.lines:
                column.label(text="Nothing differs from the source")
            for line in listed.lines[:SHOWN]:
                draw_message(column, line, "DOT")
            if len(listed.lines) > SHOWN:
                text = label_text("and {count:,} more", count=len(listed.lines) - SHOWN)
                column.label(text=text, translate=False)
        row = layout.row(align=True)
        row.operator(SYLPHEED_OT_revert.bl_idname, text="Revert Object").whole = False
        row.operator(SYLPHEED_OT_revert.bl_idname, text="Revert All").whole = True


CLASSES = (SYLPHEED_OT_list_changes, SYLPHEED_OT_show_changes, SYLPHEED_PT_changes)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
