"""The operator that imports a stage from a game folder."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, StringProperty

from ...core.errors import RefusedError, SylpheedError
from ..scene import custom_properties
from ..translations import CONTEXT, label_text
from .import_options import HullProperties, LayoutProperty
from .preferences import PATH_OPTIONS, folders
from .reporting import Result, finish_import, refuse


def suggest_stages(options: bpy.types.OperatorProperties, context: bpy.types.Context, text: str) -> list[str]:
    """The stages of the game folder, for the dialog. Blender passes the operator's options, not the operator."""
    from ..scene import stage_import

    try:
        return [stage.name for stage in stage_import.list_stages(_game_folder(options, context))]
    except SylpheedError:
        return []  # the dialog and execute say why


def suggest_phases(
    options: bpy.types.OperatorProperties, context: bpy.types.Context, text: str
) -> list[tuple[str, str]]:
    """The phases of the chosen stage that have a hull, with its name."""
    return _phases(options, context)


def _phases(options: bpy.types.OperatorProperties, context: bpy.types.Context) -> list[tuple[str, str]]:
    from ..scene import stage_import

    try:
        return stage_import.phases(_game_folder(options, context), options.stage)
    except SylpheedError:
        return []  # the dialog and execute say why


def _game_folder(options: bpy.types.OperatorProperties, context: bpy.types.Context) -> str:
    return bpy.path.abspath(options.directory) if options.directory else folders(context)[0]


class IMPORT_SCENE_OT_sylpheed_stage(bpy.types.Operator, HullProperties, LayoutProperty):
    """Import the hull of a stage's phase from the extracted game, with the stage's own asteroids"""

    bl_idname = "import_scene.sylpheed_stage"
    bl_label = "Import Sylpheed Stage"
    bl_options = {"PRESET", "UNDO"}

    directory: StringProperty(
        name="Game Folder",
        description="Folder of the extracted game disc. Empty: the one in the preferences. Nothing is ever "
        "written to it",
        subtype="DIR_PATH",
        options={"SKIP_PRESET"} | PATH_OPTIONS,
    )
    stage: StringProperty(
        name="Stage",
        description="Stage to import, such as S14, or the ID of its table where its name isn't known",
        default="S01",
        search=suggest_stages,
    )
    phase: StringProperty(
        name="Phase",
        description="Phase of the stage, such as Phase_1. Phases without a hull aren't listed",
        default="Phase_1",
        search=suggest_phases,
        translation_context=CONTEXT,
    )
    parts: EnumProperty(
        name="Parts",
        description="Parts of the stage's collision set to import as well",
        items=[
            ("NONE", "None", "Only the hull"),
            ("STAGE", "Stage", "The stage's own asteroids"),
            ("ALL", "All", "Every part of the collision set"),
        ],
        default="STAGE",
    )

    source: EnumProperty(
        name="Source",
        description="Where to take what the mod folder holds too",
        items=[
            ("MOD", "Mod Folder", "From the mod folder, as an earlier export left it"),
            ("GAME", "Game Folder", "From the game, without any edit"),
        ],
        default="MOD",
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        self.directory = self.directory or folders(context)[0]
        for name in ("stage", "phase"):
            known = custom_properties.remembered(context.scene, name)
            if known and not self.properties.is_property_set(name):
                setattr(self, name, known)
        return context.window_manager.invoke_props_dialog(self, width=440, confirm_text="Import")

    def draw(self, context: bpy.types.Context) -> None:
        from ..scene import stage_import

        self.layout.use_property_split = True
        for name in ("directory", "stage", "phase"):
            self.layout.prop(self, name)
        listed = self.layout.box().column(align=True)
        phases = _phases(self, context)
        in_mod = stage_import.edited_entries(_game_folder(self, context), folders(context)[1])
        for name, hull in phases:
            icon = "RIGHTARROW" if name == self.phase else "BLANK1"
            edited = label_text(" (in the mod)") if hull.lower() in in_mod else ""
            listed.label(text=f"{name}: {hull}{edited}", icon=icon, translate=False)
        if not phases:
            problem = stage_import.why_no_phase(_game_folder(self, context), self.stage)
            listed.label(text=problem, icon="ERROR", translate=False)
        if in_mod:
            self.layout.prop(self, "source")
        self.layout.prop(self, "parts")
        if self.parts != "NONE":
            self.layout.prop(self, "layout_parts")
        self.draw_hull(self.layout)

    def execute(self, context: bpy.types.Context) -> Result:
        from ..scene import stage_import

        options = stage_import.StageOptions(self.stage, self.phase, self.parts, self.hull_options(), self.layout_parts)
        window = context.window_manager
        window.progress_begin(0, 1)
        try:
            folder = _game_folder(self, context)
            if not folder:
                raise RefusedError("no game folder is named", remedy="choose it here or in the extension's preferences")
            mod = folders(context)[1] if self.source == "MOD" else ""
            done = stage_import.import_stage(context.scene, folder, mod, options, window.progress_update)
        except SylpheedError as error:
            return refuse(self, error)
        finally:
            window.progress_end()
        custom_properties.remember(context.scene, stage=self.stage, phase=self.phase)
        finish_import(self, context, done)
        return {"FINISHED"}
