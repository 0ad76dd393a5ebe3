"""The operator that exports the scenes into a mod folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ...core.errors import SylpheedError
from ..scene import viewport
from ..translations import label_text, report_text
from . import last_result
from .layouts import DIALOG_WIDTH, draw_message
from .preferences import PATH_OPTIONS, folders, remember_mod_folder
from .reporting import Result, progress, refuse_export, report

if TYPE_CHECKING:
    from ..scene import mod_export


LISTED = 8
"""How many lines of a kind the dialog lists."""


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
        self._look(context)
        return context.window_manager.invoke_props_dialog(self, width=440, confirm_text="Export")

    def check(self, context: bpy.types.Context) -> bool:
        """Blender asks this after each change in the dialog."""
        if self._looked_at != self._options(context):
            self._look(context)
        return True

    def _look(self, context: bpy.types.Context) -> None:
        """Finds what the dialog lists."""
        from ..scene import mod_export

        self._looked_at = self._options(context)
        self._preview, self._refusal = None, ""
        try:
            with progress(context) as update:
                self._preview = mod_export.preview_mod(context, self._looked_at, update)
        except SylpheedError as error:
            self._refusal = str(error)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "directory")
        layout.prop(self, "game")
        if self._refusal:
            draw_message(layout.box(), self._refusal, "CANCEL", DIALOG_WIDTH)
        if self._preview is not None:
            _draw_preview(layout, self._preview)
        header, body = layout.panel("sylpheed_export_mod", default_closed=True)
        header.label(text="Options")
        if body:
            for name in ("sets", "navigation", "overwrite"):
                body.prop(self, name)

    def execute(self, context: bpy.types.Context) -> Result:
        from ..scene import mod_export

        try:
            with progress(context) as update:
                exported = mod_export.export_mod(context, self._options(context), update)
        except SylpheedError as error:
            return refuse_export(self, context, error)
        for warning in exported.warnings:
            report(self, "WARNING", warning)
        for note in exported.notes:
            report(self, "INFO", note)
        written = exported.written
        if written.replaced:
            text = report_text("Wrote {path}. Replaced {names}", path=written.path, names=", ".join(written.replaced))
        elif written.path:
            text = report_text("Wrote nothing: {path} already holds every edit", path=written.path)
        else:
            text = report_text("Wrote nothing: nothing is edited, so the mod needs no archive")
        report(self, "INFO", text)
        remember_mod_folder(context, self._options(context).directory)
        viewport.redraw(context)
        if written.path:
            last_result.note_path(self, str(written.path))
        return {"FINISHED"}

    def _options(self, context: bpy.types.Context) -> mod_export.ModOptions:
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


def _draw_preview(layout: bpy.types.UILayout, preview: mod_export.Preview) -> None:
    """What an export would write, what stays, and what to know before."""
    box = layout.box().column()
    box.label(text="Files to write:" if preview.writes else "No file to write", icon="EXPORT")
    _draw_lines(box, preview.writes, "FILE")
    if preview.stays:
        box.label(text="Not written:", icon="PINNED")
        _draw_lines(box, preview.stays, "DOT")
    for text in preview.warnings[:LISTED]:
        draw_message(box, text, "ERROR", DIALOG_WIDTH)


def _draw_lines(layout: bpy.types.UILayout, lines: Sequence[str], icon: str) -> None:
    column = layout.column(align=True)
    for line in lines[:LISTED]:
        draw_message(column, line, icon, DIALOG_WIDTH)
    if len(lines) > LISTED:
        column.label(text=label_text("and {count:,} more", count=len(lines) - LISTED), translate=False)
