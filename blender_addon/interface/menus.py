"""The entries in the menus File > Import and File > Export."""

from __future__ import annotations

import bpy

from . import part_names
from .export_operators import EXPORT_SCENE_OT_sylpheed_col, EXPORT_SCENE_OT_sylpheed_set
from .import_operators import IMPORT_SCENE_OT_sylpheed_col, IMPORT_SCENE_OT_sylpheed_set
from .mod_operator import EXPORT_SCENE_OT_sylpheed_mod
from .preferences import SylpheedPreferences
from .stage_operator import IMPORT_SCENE_OT_sylpheed_stage

IMPORTS = {
    IMPORT_SCENE_OT_sylpheed_stage: "Sylpheed Stage (Game Folder)…",
    IMPORT_SCENE_OT_sylpheed_col: "Sylpheed Hull (.col)",
    IMPORT_SCENE_OT_sylpheed_set: "Sylpheed Collision Set (.bin)",
}
EXPORTS = {
    EXPORT_SCENE_OT_sylpheed_mod: "Sylpheed Mod (MiscBin.pak)…",
    EXPORT_SCENE_OT_sylpheed_col: "Sylpheed Hull (.col)",
    EXPORT_SCENE_OT_sylpheed_set: "Sylpheed Collision Set (.bin)",
}
CLASSES = (SylpheedPreferences, *part_names.CLASSES, *IMPORTS, *EXPORTS)


def _draw_imports(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    for operator, label in IMPORTS.items():
        self.layout.operator(operator.bl_idname, text=label)


def _draw_exports(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    for operator, label in EXPORTS.items():
        self.layout.operator(operator.bl_idname, text=label)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.TOPBAR_MT_file_import.append(_draw_imports)
    bpy.types.TOPBAR_MT_file_export.append(_draw_exports)


def unregister() -> None:
    bpy.types.TOPBAR_MT_file_export.remove(_draw_exports)
    bpy.types.TOPBAR_MT_file_import.remove(_draw_imports)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
