"""The sidebar's first panel, the same whatever is active: folders, the scene's hulls and collision sets, the mod."""

from __future__ import annotations

import os
import time

import bpy

from ...core.errors import SylpheedError
from ..checks import results
from ..scene import custom_properties, mod_record
from ..scene.roots import known_roots
from ..translations import label_text
from .last_result_panel import SYLPHEED_OT_select_named
from .mod_operator import EXPORT_SCENE_OT_sylpheed_mod
from .online_manual import PAGE
from .play_operators import SYLPHEED_OT_deploy, SYLPHEED_OT_restore
from .preferences import folders, play_folder_of
from .stage_operator import IMPORT_SCENE_OT_sylpheed_stage

FRESH = 3.0
"""Seconds for which what is known of a folder counts: a panel is drawn at each move of the mouse."""

_states: dict[tuple[str, str], tuple[float, str, bool]] = {}
"""By which folder and its path: when it was looked at, what to say, and whether it can be used."""


def folder_state(which: str, path: str) -> tuple[str, bool]:
    """What to say of the game folder or the mod folder, and whether it can be used."""
    known = _states.get((which, path))
    now = time.monotonic()
    if known is None or now - known[0] > FRESH:
        text, usable = _look_at(which, path)
        known = now, text, usable
        _states[which, path] = known
    return known[1], known[2]


def _look_at(which: str, path: str) -> tuple[str, bool]:
    from ...core.game.game_folder import find_game
    from ...core.game.play_folder import is_deployed
    from ..scene import stage_import

    if not path:
        return label_text("Not chosen"), False
    if which == "mod":
        there = os.path.isfile(os.path.join(path, "hidden", "MiscBin.pak"))
        return label_text("Holds a mod") if there else label_text("Still empty"), True
    if not os.path.isdir(path):
        return label_text("No such folder"), False
    if which == "play" and is_deployed(path):
        return label_text("Holds the mod"), True
    try:
        game = find_game(path)
    except SylpheedError:
        return label_text("Not a game folder"), False
    if game.collision is None:
        return label_text("No hidden folder in it"), False
    try:
        count = len(stage_import.list_stages(path))
    except SylpheedError:
        return label_text("No stage tables in it"), False
    return label_text("Stages: {count}", count=count), True


def root_state(root: bpy.types.Object) -> tuple[str, str]:
    """What to say of a hull or collision set, and the icon beside it."""
    result = results.of(root)
    unchanged = result is not None and not result.edited and not result.checked.changed
    if not unchanged and mod_record.is_current(bpy.context, root):
        return label_text("In the mod folder"), "CHECKMARK"
    if result is None:
        return label_text("Not checked"), "QUESTION"
    if result.edited:
        return label_text("Edited since the check"), "FILE_REFRESH"
    if not result.checked.sound:
        return label_text("Can't be exported"), "CANCEL"
    if not result.checked.changed:
        return label_text("Unedited"), "RADIOBUT_OFF"
    return label_text("Edited"), "RADIOBUT_ON"


class SYLPHEED_PT_hub(bpy.types.Panel):
    bl_label = "Overview"
    bl_category = "Sylpheed"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_order = 0

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        game, mod = folders(context)
        column = layout.column(align=True)
        _draw_folder(column, label_text("Game Folder"), "game", game)
        _draw_folder(column, label_text("Mod Folder"), "mod", mod)
        _draw_folder(column, label_text("Play Folder"), "play", play_folder_of(context))
        layout.operator(IMPORT_SCENE_OT_sylpheed_stage.bl_idname, text="Import Stage…", icon="IMPORT")
        roots = known_roots(context.scene)
        column = layout.column(align=True)
        for root in roots:
            _draw_root(column, root)
        if not roots:
            column.label(text="The scene has no hull yet", icon="INFO")
        _draw_plan(layout, roots)
        row = layout.row()
        row.enabled = bool(roots)
        row.operator(EXPORT_SCENE_OT_sylpheed_mod.bl_idname, text="Export Mod…", icon="EXPORT")
        row = layout.row(align=True)
        row.operator(SYLPHEED_OT_deploy.bl_idname, text="Deploy", icon="PLAY")
        row.operator(SYLPHEED_OT_restore.bl_idname, text="Restore Originals", icon="LOOP_BACK")
        layout.operator("wm.url_open", text="Manual", icon="HELP").url = PAGE.as_uri()


def planned_files(roots: list[bpy.types.Object]) -> tuple[list[str], bool]:
    """The files that an export of the mod would write, by the last check of each root, and whether some root has to be
    checked before that is known."""
    files, unknown = [], False
    for root in roots:
        result = results.of(root)
        if mod_record.is_current(bpy.context, root):
            continue
        if result is None or result.edited:
            unknown = True
        elif result.checked.sound and result.checked.changed:
            kind = custom_properties.kind(root)
            name = custom_properties.origin(root)[1] or root.name + custom_properties.ENDINGS[kind]
            files.append(name)
            if kind == custom_properties.HULL:
                files.append(f"{name.rpartition('.')[0]}.rgn")
    return list(dict.fromkeys(files)), unknown


def _draw_plan(layout: bpy.types.UILayout, roots: list[bpy.types.Object]) -> None:
    files, unknown = planned_files(roots)
    column = layout.box().column(align=True)
    if files:
        column.label(text="Files to write:")
        for name in files:
            column.label(text=name, icon="FILE", translate=False)
    if unknown:
        column.label(text="Check first to list every file", icon="QUESTION")
    elif not files:
        column.label(text="No file to write", icon="CHECKMARK")  # a row all the same: nothing below it jumps


def _draw_folder(layout: bpy.types.UILayout, label: str, which: str, path: str) -> None:
    text, usable = folder_state(which, path)
    split = layout.split(factor=0.4)
    split.label(text=label, translate=False)
    split.label(text=text, icon="CHECKMARK" if usable else "ERROR", translate=False)


def _draw_root(layout: bpy.types.UILayout, root: bpy.types.Object) -> None:
    text, icon = root_state(root)
    is_hull = custom_properties.kind(root) == custom_properties.HULL
    select = layout.operator(
        SYLPHEED_OT_select_named.bl_idname,
        text=root.name,
        translate=False,
        icon="MOD_PHYSICS" if is_hull else "OUTLINER_COLLECTION",
    )
    select.name = root.name
    layout.label(text=text, icon=icon, translate=False)


def register() -> None:
    bpy.utils.register_class(SYLPHEED_PT_hub)


def unregister() -> None:
    bpy.utils.unregister_class(SYLPHEED_PT_hub)
    _states.clear()
