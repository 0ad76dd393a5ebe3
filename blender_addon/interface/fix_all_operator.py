"""The operator that fixes all that can be fixed safely, in one undo step."""

from __future__ import annotations

import bpy

from ...core.errors import Severity, SylpheedError
from ..checks import results
from ..checks.results import summary
from ..scene import viewport
from ..scene.roots import find_root
from ..scene.scene_rules import SceneRule
from ..translations import report_text
from . import navigation_operators
from .check_operators import RootProperties
from .reporting import Result, refuse, report


class SYLPHEED_OT_fix_all(bpy.types.Operator, RootProperties):
    """Fix all errors and warnings that can be fixed safely"""

    bl_idname = "sylpheed.fix_all"
    bl_label = "Fix All Sylpheed Problems"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> Result:
        from ..checks.fix_all import fix_all

        try:
            root = find_root(context, None, self.root, session_uid=self.root_uid)
            fixed = fix_all(context, root)
            checked = results.of(root).checked
            patched = ""
            if checked.sound and any(problem.check is SceneRule.NAVIGATION_BLOCKED for problem in checked.problems):
                patched = navigation_operators.patch(context, root)  # last: it is made for the hull as it now is
                checked = results.of(root).checked
        except SylpheedError as error:
            return refuse(self, error)
        viewport.redraw(context)
        for name, count in fixed.counts.items():
            report(self, "INFO", report_text('Fixed {count:,} in "{name}"', count=count, name=name))
        if patched:
            report(self, "INFO", patched)
        for name, why in fixed.left_out.items():
            report(self, "WARNING", f'"{name}" {why}')
        left = checked.count(Severity.ERROR) + checked.count(Severity.WARNING)
        report(self, "WARNING" if left else "INFO", summary(checked))
        return {"FINISHED"} if fixed.counts or patched else {"CANCELLED"}


CLASSES = (SYLPHEED_OT_fix_all,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
