"""Fixes of what is wrong with whole objects, one undo step each."""

from __future__ import annotations

from collections.abc import Callable

import bmesh
import bpy
import numpy as np
from bpy.props import StringProperty
from mathutils import Matrix

from ...core.errors import SylpheedError
from ..checks import problems, results
from ..checks.fixing import editable, reason_against
from ..checks.selecting import matching
from ..scene import custom_properties, evaluation
from ..scene.roots import find_any_root
from ..translations import report_text
from .check_operators import RootProperties
from .reporting import Result, report_fixed


class ObjectFix(RootProperties):
    """An operator that fixes the objects of a problem, a key of `problems.TITLES`. `fix` returns why it leaves one
    as it is, "" where it doesn't."""

    bl_options = {"REGISTER", "UNDO"}
    problem = ""
    fix: Callable[[bpy.types.Context, bpy.types.Object, bpy.types.Object], str]

    severity: StringProperty(
        name="Severity", description="Only what is an error, warning or info. Empty: all of it", default=""
    )

    def execute(self, context: bpy.types.Context) -> Result:
        fixed, left = [], {}
        try:
            root = find_any_root(context, self.root, self.root_uid)
            found = matching(results.run(context, root), self.problem, self.severity)
            objects = problems.by_session_uid(context.scene)
            for uid in {uid for problem in found for uid in problem.objects}:
                why = self.fix(context, root, objects[uid])
                if why:
                    left[objects[uid].name] = why
                else:
                    fixed.append(objects[uid].name)
            context.view_layer.update()
            results.run(context, root)
        except SylpheedError as error:
            self.report({"WARNING"}, str(error))
            return {"CANCELLED"}
        return report_fixed(context, self, root, dict.fromkeys(sorted(fixed), 1), left)


class SYLPHEED_OT_fix_cutters(bpy.types.Operator, ObjectFix):
    """Take objects that only cut others out of the hull: they stay where they are and go on cutting"""

    bl_idname = "sylpheed.fix_cutters"
    bl_label = "Move Sylpheed Cutters out of the Hull"
    problem = "cutters"

    @staticmethod
    def fix(context: bpy.types.Context, root: bpy.types.Object, obj: bpy.types.Object) -> str:
        if obj.library or obj.override_library:
            return report_text("is linked from a library: make it local first")
        with evaluation.evaluated(context, root, [obj], True) as view:
            place = view.placement(obj).matrix
        world = np.array(root.matrix_world, np.float64) @ place
        obj.parent = None
        obj.matrix_world = Matrix(world.tolist())
        return ""


class SYLPHEED_OT_fix_cells(bpy.types.Operator, ObjectFix):
    """Make cell boxes with faces part of the hull, without what is left of the box"""

    bl_idname = "sylpheed.fix_cells"
    bl_label = "Make Sylpheed Cell Boxes Part of the Hull"
    problem = "edited cells"

    @staticmethod
    def fix(context: bpy.types.Context, root: bpy.types.Object, obj: bpy.types.Object) -> str:
        why = reason_against(obj)
        if why:
            return why
        with editable(obj) as mesh:
            bmesh.ops.delete(mesh, geom=[vertex for vertex in mesh.verts if not vertex.link_faces], context="VERTS")
        del obj.data[custom_properties.KIND]
        return ""


CLASSES = (SYLPHEED_OT_fix_cutters, SYLPHEED_OT_fix_cells)

FIXES = {cls.problem: cls.bl_idname for cls in CLASSES}
"""The operator that fixes a check's problems, where one does."""


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
