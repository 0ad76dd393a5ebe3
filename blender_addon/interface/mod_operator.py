"""The operator that exports the scenes into a mod folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...core.errors import SylpheedError
from ..translations import report_text
from . import outcome
from .preferences import PATH_OPTIONS, folders
from .reporting import Result, progress, refuse, report

if TYPE_CHECKING:
    from ..scene import mod_export


class EXPORT_SCENE_OT_sylpheed_mod(bpy.types.Operator):
    """Write hidden/MiscBin.pak with the edited hulls and collision sets of all scenes to the mod folder"""

    bl_idname = "export_scene.sylpheed_mod"
    bl_label = "Export Sylpheed Mod"
    bl_options = {"PRESET"}

    directory: StringProperty(
        name="Mod Folder",
        description="Folder for the modded archive, in the layout of the disc. Empty: the one in the preferences",
        subtype="DIR_PATH",
        options={"SKIP_PRESET"} | PATH_OPTIONS,
    )
    game: StringProperty(
        name="Game Folder",
        description="Game that supplies everything else. Empty: the one that was imported from, or the one in "
        "the preferences. Nothing is ever written to it",
        subtype="DIR_PATH",
        options={"SKIP_PRESET"} | PATH_OPTIONS,
    )
    sets: EnumProperty(
        name="Collision Sets",
        description="Copies that an edited collision set replaces. The game holds 18 of them",
        items=[
            ("ALL", "All", "Every copy, so that all stay the same"),
            ("STAGE", "Stage", "Only the copy that was imported"),
        ],
        default="ALL",
    )
    navigation: EnumProperty(
        name="Navigation",
        description="What becomes of the navigation volumes beside edited hulls, which lead computer-flown ships",
        items=[
            ("PATCH", "Patch", "Change what the edit reaches"),
            ("KEEP", "Keep", "Leave them as they are: ships may fly through new rock"),
            ("REBUILD", "Rebuild", "Divide the free space again. This takes seconds for each hull"),
        ],
        default="PATCH",
    )
    overwrite: BoolProperty(
        name="Overwrite",
        description="Replace what another session wrote to the mod, where it is edited here as well",
        default=False,
        options={"SKIP_PRESET", "SKIP_SAVE"},
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        self.directory = self.directory or folders(context)[1]
        self.game = self.game or folders(context)[0]
        return context.window_manager.invoke_props_dialog(self, width=440, confirm_text="Export")

    def execute(self, context: bpy.types.Context) -> Result:
        from ..scene import mod_export

        try:
            with progress(context) as update:
                exported = mod_export.export_mod(context, self.mod_options(context), update)
        except SylpheedError as error:
            return refuse(self, error)
        for warning in exported.warnings:
            report(self, "WARNING", warning)
        for note in exported.notes:
            report(self, "INFO", note)
        written = exported.written
        if written.replaced:
            text = report_text("Wrote {path}. Replaced {names}", path=written.path, names=", ".join(written.replaced))
        else:
            text = report_text("Nothing to replace: {path} already holds every edit", path=written.path)
        report(self, "INFO", text)
        outcome.note_path(self, str(written.path))
        return {"FINISHED"}

    def mod_options(self, context: bpy.types.Context) -> mod_export.ModOptions:
        from ..scene import mod_export

        usual_game, usual_mod = folders(context)
        return mod_export.ModOptions(
            bpy.path.abspath(self.directory) if self.directory else usual_mod,
            bpy.path.abspath(self.game) if self.game else "",
            usual_game,
            self.sets == "ALL",
            self.overwrite,
            self.navigation,
        )
