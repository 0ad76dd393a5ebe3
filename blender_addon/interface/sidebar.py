"""The sidebar tab: what the last check found in the active hull or collision set. It computes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ...core.errors import Severity
from ..checks import results, sidebar_titles
from ..scene import custom_properties
from ..scene.roots import NAMES, has_root, shown_root
from .check_operators import SYLPHEED_OT_check, SYLPHEED_OT_select_problem
from .fix_all_operator import SYLPHEED_OT_fix_all
from .fix_operators import FIXES
from .layouts import WIDTH, draw_message, width

if TYPE_CHECKING:
    from ..checks import problems

ICONS = {Severity.ERROR: "CANCEL", Severity.WARNING: "ERROR", Severity.INFO: "INFO"}


NAMED = 3
"""How many objects a problem's row names."""


class SYLPHEED_PT_hull(bpy.types.Panel):
    bl_label = "Check"
    bl_category = "Sylpheed"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_order = 2

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return any(has_root(context.scene, kind) for kind in NAMES)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        root = shown_root(context)
        if root is None:
            layout.label(text="Select an object of a hull or collision set", icon="INFO")
            layout.operator(SYLPHEED_OT_check.bl_idname, text="Check All", icon="CHECKMARK")
            return
        icon = "MOD_PHYSICS" if custom_properties.kind(root) == custom_properties.HULL else "OUTLINER_COLLECTION"
        layout.label(text=root.name, icon=icon, translate=False)
        result = results.of(root)
        row = layout.row(align=True)
        row.scale_y = 1.3
        row.operator(SYLPHEED_OT_check.bl_idname, text="Check" if result is None else "Check Again", icon="CHECKMARK")
        if result is None:
            layout.label(text="Not checked yet")
            return
        if result.edited:
            layout.label(text="Edited since the last check", icon="FILE_REFRESH")
        column = layout.column()
        column.active = not result.edited
        if any(problem.check in FIXES for problem in result.checked.problems):
            layout.operator(SYLPHEED_OT_fix_all.bl_idname, text="Fix All").root_uid = root.session_uid
        _draw_verdict(column, result.checked.sound, len(result.checked.problems))
        for problem in result.checked.problems:
            _draw_problem(column, root, problem)


def _draw_verdict(layout: bpy.types.UILayout, sound: bool, count: int) -> None:
    if not sound:
        layout.label(text="Can't be exported yet", icon="CANCEL")
    elif count:
        layout.label(text="Can be exported", icon="CHECKMARK")
    else:
        layout.label(text="No problems", icon="CHECKMARK")


def _draw_problem(layout: bpy.types.UILayout, root: bpy.types.Object, problem: problems.Problem) -> None:
    from ..checks import problems

    column = layout.box().column(align=True)
    row = column.row()
    row.label(text=sidebar_titles.TITLES[problem.check], icon=ICONS[problem.severity])
    count = row.row()
    count.alignment = "RIGHT"
    count.label(text=f"{problem.count:,}", translate=False)
    for uid in [*problem.elements, *problem.objects][:NAMED]:
        column.label(text=problems.name_of(uid), icon="OBJECT_DATA", translate=False)
    if not problem.elements:
        draw_message(column, problem.message)
        if problem.kind or not problem.objects:
            return
    row = column.row(align=True)
    select = [
        row.operator(SYLPHEED_OT_select_problem.bl_idname, text="Select"),
        row.operator(SYLPHEED_OT_select_problem.bl_idname, text="", icon="TRIA_LEFT"),
        row.operator(SYLPHEED_OT_select_problem.bl_idname, text="", icon="TRIA_RIGHT"),
    ]
    for button, step in zip(select, (0, -1, 1), strict=True):
        button.root_uid, button.check, button.severity = root.session_uid, problem.check.value, problem.severity.value
        button.step = step
    if problem.check in FIXES:
        fix = row.operator(FIXES[problem.check], text="Fix")
        fix.root_uid, fix.severity = root.session_uid, problem.severity.value


class SYLPHEED_PT_hull_facts(bpy.types.Panel):
    bl_label = "Counts and Changes"
    bl_category = "Sylpheed"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_parent_id = "SYLPHEED_PT_hull"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        root = shown_root(context)
        return root is not None and results.of(root) is not None

    def draw(self, context: bpy.types.Context) -> None:
        root = shown_root(context)
        result = results.of(root) if root else None
        if result is None:
            return
        column = self.layout.column(align=True)
        column.active = not result.edited
        for fact in result.checked.facts:
            _draw_fact(column, fact)


def _draw_fact(layout: bpy.types.UILayout, fact: problems.Fact) -> None:
    value = f"{fact.value} / {fact.limit}" if fact.limit else fact.value
    if not value:
        layout.separator()
        layout.label(text=fact.label)
        return
    if width(value) > WIDTH // 2:
        layout.label(text=fact.label)
        draw_message(layout, value)
        return
    split = layout.split(factor=0.45)
    split.label(text=fact.label)
    split.label(text=value, translate=False)


CLASSES = (SYLPHEED_PT_hull, SYLPHEED_PT_hull_facts)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
