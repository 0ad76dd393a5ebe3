"""Operators that put the mod into the game that is played, and take it out again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ...core.errors import SylpheedError
from ..scene import viewport
from ..translations import report_text
from . import last_result
from .preferences import folders, play_folder_of
from .reporting import Result, progress, refuse, report

if TYPE_CHECKING:
    from collections.abc import Callable


class PlayOperator:
    """Runs one of `core.game.play_folder`'s functions with the folders of the preferences."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if play_folder_of(context):
            return True
        cls.poll_message_set("Choose the play folder in the preferences")
        return False

    def run(self, context: bpy.types.Context, act: Callable[[str, str, str, Callable[[float], None]], str]) -> Result:
        """Calls `act` with game, mod, play folder and a progress; reports what it returns."""
        game, mod = folders(context)
        try:
            with progress(context) as update:
                text = act(game, mod, play_folder_of(context), update)
        except SylpheedError as error:
            return refuse(self, error)
        report(self, "INFO", text)
        last_result.note_path(self, play_folder_of(context))
        viewport.redraw(context)
        return {"FINISHED"}


class SYLPHEED_OT_deploy(PlayOperator, bpy.types.Operator):
    """Copy the mod's files to the play folder. The files that they replace are backed up once as .orig"""

    bl_idname = "sylpheed.deploy"
    bl_label = "Deploy Sylpheed Mod"

    def execute(self, context: bpy.types.Context) -> Result:
        from ...core.game import play_folder

        def act(game: str, mod: str, play: str, progress: Callable[[float], None]) -> str:
            done = play_folder.deploy(mod, play, game, progress)
            if done.put_back:
                names = ", ".join(path.name for path in done.put_back)
                report(self, "INFO", report_text("Restored what this mod doesn't change: {names}", names=names))
            return report_text(
                "Deployed to {path}. Copied files: {count:,}, originals kept: {kept:,}",
                count=len(done.files),
                path=play,
                kept=len(done.kept),
            )

        return self.run(context, act)


class SYLPHEED_OT_restore(PlayOperator, bpy.types.Operator):
    """Restore the original files of the play folder"""

    bl_idname = "sylpheed.restore"
    bl_label = "Restore Sylpheed Originals"

    def execute(self, context: bpy.types.Context) -> Result:
        from ...core.game import play_folder

        def act(game: str, mod: str, play: str, progress: Callable[[float], None]) -> str:
            done = play_folder.restore(play, game, progress)
            return report_text("Restored the originals in {path}. Files: {count:,}", count=len(done), path=play)

        return self.run(context, act)


CLASSES = (SYLPHEED_OT_deploy, SYLPHEED_OT_restore)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
