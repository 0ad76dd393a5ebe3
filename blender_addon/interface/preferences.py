"""Where the game is, and where the mod goes."""

from __future__ import annotations

import os

import bpy
from bpy.props import StringProperty

from ..scene import custom_properties

EXTENSION = __package__.partition(".blender_addon")[0]
"""The name by which Blender knows the extension."""

# From 4.5 on Blender warns of a path that begins with "//" unless the property says that it is understood.
PATH_OPTIONS: set[str] = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set()


MOD_FOLDER = "mod_folder"
"""The name under which a .blend remembers its mod folder."""


class SylpheedPreferences(bpy.types.AddonPreferences):
    bl_idname = EXTENSION

    game_folder: StringProperty(
        name="Game Folder",
        description="Folder of the extracted game disc, which contains dat and hidden. Nothing is ever written to it",
        subtype="DIR_PATH",
        options=PATH_OPTIONS,
    )
    mod_folder: StringProperty(
        name="Mod Folder",
        description="Folder for mods, in the layout of the disc. Imports prefer its files to the game's. A .blend that "
        "was exported to another folder keeps to that",
        subtype="DIR_PATH",
        options=PATH_OPTIONS,
    )

    play_folder: StringProperty(
        name="Play Folder",
        description="Copy of the game that the emulator runs. Only Deploy and Restore write to it",
        subtype="DIR_PATH",
        options=PATH_OPTIONS,
    )

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        self.layout.prop(self, "game_folder")
        self.layout.prop(self, "mod_folder")
        self.layout.prop(self, "play_folder")


def folders(context: bpy.types.Context) -> tuple[str, str]:
    """The game folder and the mod folder, "" where none is set. A .blend may have a mod folder of its own."""
    preferences = context.preferences.addons[EXTENSION].preferences
    if not isinstance(preferences, SylpheedPreferences):  # while the extension is being disabled
        return "", ""
    game, mod = preferences.game_folder, own_mod_folder(context.scene) or preferences.mod_folder
    return bpy.path.abspath(game) if game else "", bpy.path.abspath(mod) if mod else ""


def own_mod_folder(scene: bpy.types.Scene) -> str:
    """The mod folder that the .blend was exported to, "" where it has none or that is no longer there."""
    folder = custom_properties.remembered(scene, MOD_FOLDER)
    return folder if folder and os.path.isdir(bpy.path.abspath(folder)) else ""


def remember_mod_folder(context: bpy.types.Context, folder: str) -> None:
    """Makes a folder the mod folder of the .blend. That of the preferences needs no such note."""
    usual = context.preferences.addons[EXTENSION].preferences.mod_folder
    same = bool(usual) and os.path.abspath(bpy.path.abspath(usual)) == os.path.abspath(folder)
    custom_properties.remember(context.scene, **{MOD_FOLDER: "" if same else folder})


def play_folder_of(context: bpy.types.Context) -> str:
    """The play folder, "" where none is set."""
    preferences = context.preferences.addons[EXTENSION].preferences
    if not isinstance(preferences, SylpheedPreferences) or not preferences.play_folder:
        return ""
    return bpy.path.abspath(preferences.play_folder)
