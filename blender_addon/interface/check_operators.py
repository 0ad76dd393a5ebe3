"""Operators of the sidebar: check, and select what a check found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import IntProperty, StringProperty

from ...core.errors import Severity, SylpheedError
from ...core.text import some
from ..checks import results
from ..checks.results import summary, worst_severity
from ..scene import custom_properties, viewport
from ..scene.roots import by_uid, find_all_roots, find_damaged, find_root
from ..translations import report_text
from .reporting import Result, report

if TYPE_CHECKING:
    from ..checks import problems


class RootProperties:
    """Which root an operator works on. The sidebar gives the session number: names needn't be unique."""

    root: StringProperty(name="Root", description="Root object. Empty: the one of the active object", default="")
    root_uid: IntProperty(default=0, options={"HIDDEN", "SKIP_SAVE"})


class SYLPHEED_OT_check(bpy.types.Operator):
    """Check the hulls and collision sets of this scene as the export does. The sidebar shows the result"""

    bl_idname = "sylpheed.check"
    bl_label = "Check Sylpheed Hulls"

    def execute(self, context: bpy.types.Context) -> Result:
        roots = find_all_roots(context.scene)
        for damaged in find_damaged(context.scene):
            report(self, "WARNING", str(custom_properties.lost_source(damaged, custom_properties.KIND)))
        if not roots:
            self.report({"WARNING"}, "The scene has no hull or collision set")
            return {"CANCELLED"}
        for root in roots:
            checked = results.run(context, root)
            kind = "INFO" if not checked.problems or worst_severity(checked) is Severity.INFO else "WARNING"
            report(self, kind, summary(checked))
        viewport.redraw(context)
        return {"FINISHED"}


class SYLPHEED_OT_select_problem(bpy.types.Operator, RootProperties):
    """Select the elements with this problem in Edit Mode, or the objects"""

    bl_idname = "sylpheed.select_problem"
    bl_label = "Select Sylpheed Problem"
    bl_options = {"REGISTER", "UNDO"}

    check: StringProperty(name="Problem", description="Kind of problem, such as open edges", default="")
    severity: StringProperty(
        name="Severity", description="Limit to error, warning or info. Empty: all of them", default=""
    )

    step: IntProperty(
        name="Step",
        description="Which occurrence to select: the next for 1, the previous for -1, all for 0",
        default=0,
        min=-1,
        max=1,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        problem = shown_problem(context, properties.root_uid, properties.check, properties.severity)
        return problem.message if problem else ""

    def execute(self, context: bpy.types.Context) -> Result:
        from ..checks.selecting import frame_selection, matching, select_elements

        try:
            root = find_root(context, None, self.root, session_uid=self.root_uid)
            found = matching(results.run(context, root), self.check, self.severity)
            viewport.redraw(context)
            if not found:
                self.report({"INFO"}, report_text("{name}: the problem no longer exists", name=root.name))
                return {"CANCELLED"}
            selected, left_out = select_elements(context, self.chosen(context, root, found))
        except SylpheedError as error:
            self.report({"WARNING"}, str(error))
            return {"CANCELLED"}
        if left_out:
            names = some([f'"{name}"' for name in left_out])
            message = report_text(
                "Can't be selected in {names}: linked, not selectable, not in this view layer, or not "
                "part of the object's own mesh",
                names=names,
            )
            self.report({"WARNING"}, message)
        if selected and context.area and context.area.type == "VIEW_3D":
            frame_selection(context)
        return {"FINISHED"} if selected else {"CANCELLED"}

    def chosen(
        self, context: bpy.types.Context, root: bpy.types.Object, found: list[problems.Problem]
    ) -> list[problems.Problem]:
        """All that was found, or the occurrence that the step leads to."""
        from ..checks import occurrences, problems

        key = root.session_uid, self.check, self.severity
        if not self.step:
            occurrences.start_again(key)
            return found
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")  # the mesh is then what was checked
        single = occurrences.of(context.scene, found)
        if not single:
            return found
        number = occurrences.step(key, len(single), self.step)
        names = [problems.name_of(uid) for uid in (*single[number].elements, *single[number].objects)]
        text = report_text('{number:,} of {count:,}: "{name}"', number=number + 1, count=len(single), name=names[0])
        self.report({"INFO"}, text)
        return [single[number]]


def shown_problem(context: bpy.types.Context, root_uid: int, check: str, severity: str) -> problems.Problem | None:
    """A problem of the last check, for its tooltip."""
    from ..checks.selecting import matching

    root = by_uid(context.scene, root_uid)
    result = results.of(root) if root else None
    found = matching(result.checked, check, severity) if result else []
    return found[0] if found else None


CLASSES = (SYLPHEED_OT_check, SYLPHEED_OT_select_problem)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
