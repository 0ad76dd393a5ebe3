"""Drag and drop of files into Blender, and collections that know how to export themselves."""

from __future__ import annotations

import bpy
from bpy_extras.io_utils import poll_file_object_drop

from . import export_operators, import_operators


class IO_FH_sylpheed_col(bpy.types.FileHandler):
    bl_idname = "IO_FH_sylpheed_col"
    bl_label = "Sylpheed Hull"
    bl_import_operator = import_operators.IMPORT_SCENE_OT_sylpheed_col.bl_idname
    bl_export_operator = export_operators.EXPORT_SCENE_OT_sylpheed_col.bl_idname
    bl_file_extensions = ".col"

    @classmethod
    def poll_drop(cls, context: bpy.types.Context) -> bool:
        return poll_file_object_drop(context)


class IO_FH_sylpheed_set(bpy.types.FileHandler):
    bl_idname = "IO_FH_sylpheed_set"
    bl_label = "Sylpheed Collision Set"
    bl_import_operator = import_operators.IMPORT_SCENE_OT_sylpheed_set.bl_idname
    bl_export_operator = export_operators.EXPORT_SCENE_OT_sylpheed_set.bl_idname
    bl_file_extensions = ".bin"

    @classmethod
    def poll_drop(cls, context: bpy.types.Context) -> bool:
        return poll_file_object_drop(context)


CLASSES = (IO_FH_sylpheed_col, IO_FH_sylpheed_set)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
