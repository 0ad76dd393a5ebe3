"""The operators that fix what a check found, one undo step each."""

from __future__ import annotations

import bpy
from bpy.props import StringProperty

from ...core.errors import SylpheedError
from ..checks.fix_kinds import FixKind
from ..scene.roots import find_root
from .check_operators import RootProperties
from .navigation_operators import SYLPHEED_OT_fix_navigation
from .reporting import Result, report_fixed


class FixProperties(RootProperties):
    """An operator that fixes the problems of a root as its `fix` says."""

    bl_options = {"REGISTER", "UNDO"}
    fix: FixKind

    severity: StringProperty(
        name="Severity", description="Limit to error, warning or info. Empty: all of them", default=""
    )

    def execute(self, context: bpy.types.Context) -> Result:
        from ..checks import fixing, object_fixes

        try:
            root = find_root(context, None, self.root, session_uid=self.root_uid)
            if self.fix in fixing.MESH_FIXES:
                done = fixing.fix_objects(context, root, fixing.MESH_FIXES[self.fix], self.severity)
            else:
                fix = object_fixes.OBJECT_FIXES[self.fix]
                done = object_fixes.fix_whole_objects(context, root, fix, self.severity)
        except SylpheedError as error:
            self.report({"WARNING"}, str(error))
            return {"CANCELLED"}
        return report_fixed(self, context, root, done)


class SYLPHEED_OT_fix_triangulate(bpy.types.Operator, FixProperties):
    """Cut faces with four or more corners into triangles"""

    bl_idname = "sylpheed.fix_triangulate"
    bl_label = "Triangulate Sylpheed Faces"
    fix = FixKind.TRIANGULATE


class SYLPHEED_OT_fix_doubled_vertices(bpy.types.Operator, FixProperties):
    """Merge vertices of an object that lie in one place"""

    bl_idname = "sylpheed.fix_doubled_vertices"
    bl_label = "Merge Sylpheed Vertices by Distance"
    fix = FixKind.MERGE_VERTICES


class SYLPHEED_OT_fix_flat(bpy.types.Operator, FixProperties):
    """Merge corners that lie in one place, and flip the longest edge of the other zero-area faces"""

    bl_idname = "sylpheed.fix_flat"
    bl_label = "Fix Sylpheed Zero-Area Faces"
    fix = FixKind.ZERO_AREA


class SYLPHEED_OT_fix_holes(bpy.types.Operator, FixProperties):
    """Fill the holes at open edges with triangles"""

    bl_idname = "sylpheed.fix_holes"
    bl_label = "Fill Sylpheed Holes"
    fix = FixKind.FILL_HOLES


class SYLPHEED_OT_fix_facing(bpy.types.Operator, FixProperties):
    """Flip faces so that their front faces free space"""

    bl_idname = "sylpheed.fix_facing"
    bl_label = "Flip Sylpheed Faces"
    fix = FixKind.FLIP_FACES


class SYLPHEED_OT_fix_loose_vertices(bpy.types.Operator, FixProperties):
    """Delete vertices and edges that belong to no face"""

    bl_idname = "sylpheed.fix_loose_vertices"
    bl_label = "Delete Unused Sylpheed Vertices"
    fix = FixKind.LOOSE_VERTICES


class SYLPHEED_OT_fix_doubled_faces(bpy.types.Operator, FixProperties):
    """Delete faces that use the same vertices as another"""

    bl_idname = "sylpheed.fix_doubled_faces"
    bl_label = "Delete Doubled Sylpheed Faces"
    fix = FixKind.DOUBLED_FACES


class SYLPHEED_OT_fix_cutters(bpy.types.Operator, FixProperties):
    """Unparent objects that only cut others from the hull. They stay in place and keep cutting"""

    bl_idname = "sylpheed.fix_cutters"
    bl_label = "Move Sylpheed Cutters out of the Hull"
    fix = FixKind.CUTTERS


class SYLPHEED_OT_fix_cells(bpy.types.Operator, FixProperties):
    """Make the faces of cell boxes part of the hull, and delete the rest of the box"""

    bl_idname = "sylpheed.fix_cells"
    bl_label = "Make Sylpheed Cell Boxes Part of the Hull"
    fix = FixKind.CELLS


CLASSES = (
    SYLPHEED_OT_fix_triangulate,
    SYLPHEED_OT_fix_doubled_vertices,
    SYLPHEED_OT_fix_flat,
    SYLPHEED_OT_fix_holes,
    SYLPHEED_OT_fix_facing,
    SYLPHEED_OT_fix_loose_vertices,
    SYLPHEED_OT_fix_doubled_faces,
    SYLPHEED_OT_fix_cutters,
    SYLPHEED_OT_fix_cells,
)

FIXES = {check: cls.bl_idname for cls in (*CLASSES, SYLPHEED_OT_fix_navigation) for check in cls.fix.value}
"""The operator that fixes a check's problems, where one does."""

register, unregister = bpy.utils.register_classes_factory(CLASSES)
