"""The operator that puts an object, or a whole hull, back to its source."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty

from ...core.errors import RefusedError, SylpheedError
from ..scene import viewport
from ..scene.roots import root_of, shown_root
from ..translations import report_text
from .reporting import Result, refuse, report


class SYLPHEED_OT_revert(bpy.types.Operator):
    """Revert the active object, or the whole hull or collision set, to its source file"""

    bl_idname = "sylpheed.revert"
    bl_label = "Revert to Sylpheed Source"
    bl_options = {"REGISTER", "UNDO"}

    whole: BoolProperty(
        name="Whole",
        description="Everything parented to the root: deleted surfaces come back, new objects are deleted",
        default=False,
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode == "OBJECT" and shown_root(context) is not None

    def execute(self, context: bpy.types.Context) -> Result:
        try:
            text = self.revert(context)
        except SylpheedError as error:
            return refuse(self, error)
        context.view_layer.update()
        viewport.redraw(context)
        report(self, "INFO", text)
        return {"FINISHED"}

    def revert(self, context: bpy.types.Context) -> str:
        """Does it: what to report. Raises `SylpheedError`."""
        from ..scene import reverting

        root, obj = shown_root(context), context.view_layer.objects.active
        if root is None:
            raise RefusedError("no hull or collision set is selected", remedy="select one of its objects")
        if self.whole:
            reverted, made, deleted = reverting.revert_all(context.scene, root)
            return report_text(
                '"{name}": {reverted:,} reverted, {made:,} restored, {deleted:,} deleted',
                name=root.name,
                reverted=reverted,
                made=made,
                deleted=deleted,
            )
        if obj is None or obj == root or root_of(obj) != root:
            raise RefusedError(
                "the active object isn't a surface or a part", remedy="select one, or revert the whole hull"
            )
        reverting.revert_object(root, obj)
        return report_text('Reverted "{name}" to its source', name=obj.name)


def _draw_object(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.operator(SYLPHEED_OT_revert.bl_idname)


def register() -> None:
    bpy.utils.register_class(SYLPHEED_OT_revert)
    bpy.types.VIEW3D_MT_object.append(_draw_object)


def unregister() -> None:
    bpy.types.VIEW3D_MT_object.remove(_draw_object)
    bpy.utils.unregister_class(SYLPHEED_OT_revert)
