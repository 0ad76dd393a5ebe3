"""Deploy and Restore by their operators: only the play folder changes, and every byte of it comes back."""

from __future__ import annotations

import shutil
from pathlib import Path

import bpy
import pytest

from tests.blender.helpers import move, surfaces
from tests.support.folder_digest import tree
from tests.support.game_folder import make_game


@pytest.fixture
def places(tmp_path: Path):
    """A game folder, a mod folder and a play folder, named in the preferences."""
    preferences = bpy.context.preferences.addons["bl_ext.user_default.sylpheed_collision"].preferences
    game = make_game(tmp_path / "game")
    play, mod = Path(shutil.copytree(game, tmp_path / "play")), tmp_path / "mod"
    mod.mkdir()
    preferences.game_folder, preferences.mod_folder, preferences.play_folder = map(str, (game, mod, play))
    yield game, mod, play
    preferences.game_folder = preferences.mod_folder = preferences.play_folder = ""


def test_from_a_moved_rock_to_the_played_game_and_back(places) -> None:
    game, mod, play = places
    game_before, before = tree(game), tree(play)
    bpy.ops.import_scene.sylpheed_stage(stage="S14", phase="Phase_1", parts="NONE")
    move(surfaces(bpy.context.object)["asteroid_01"], x=500)
    bpy.ops.export_scene.sylpheed_mod()
    assert bpy.ops.sylpheed.deploy() == {"FINISHED"}
    archive = Path("hidden", "MiscBin.pak")
    assert (play / archive).read_bytes() == (mod / archive).read_bytes()
    assert (play / "hidden" / "MiscBin.pak.orig").read_bytes() == (game / archive).read_bytes()
    assert bpy.ops.sylpheed.restore() == {"FINISHED"}
    assert tree(play) == before and tree(game) == game_before


def test_without_a_mod_nothing_is_deployed(places) -> None:
    _, _, play = places
    before = tree(play)
    for operator in (bpy.ops.sylpheed.deploy, bpy.ops.sylpheed.restore):
        with pytest.raises(RuntimeError):
            operator()
    assert tree(play) == before


def test_the_buttons_need_a_play_folder(places) -> None:
    bpy.context.preferences.addons["bl_ext.user_default.sylpheed_collision"].preferences.play_folder = ""
    assert not bpy.ops.sylpheed.deploy.poll() and not bpy.ops.sylpheed.restore.poll()
