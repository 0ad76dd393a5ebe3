"""No operator and no command in Blender changes a file outside what it was asked to write."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import bpy
import pytest

from tests.blender.helpers import DATA, TWO_ASTEROIDS, run_command
from tests.support.folder_digest import changed, tree
from tests.support.game_folder import make_game

STEM = Path(TWO_ASTEROIDS).stem
SET = "CollisionSet_small.bin"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A user's folders: a game, which the preferences name, loose files, and a mod that leads into the game."""
    folder = tmp_path / "home"
    make_game(folder / "game")
    (folder / "work").mkdir()
    for name in (TWO_ASTEROIDS, SET):
        shutil.copy(DATA / name, folder / "work")
    (folder / "into").mkdir()
    (folder / "into" / "hidden").symlink_to(folder / "game" / "hidden")
    preferences = bpy.context.preferences.addons["bl_ext.user_default.sylpheed_collision"].preferences
    preferences.game_folder = str(folder / "game")
    yield folder
    preferences.game_folder = ""


def import_both(home: Path) -> None:
    bpy.ops.import_scene.sylpheed_col(filepath=str(home / "work" / TWO_ASTEROIDS))
    bpy.ops.import_scene.sylpheed_set(filepath=str(home / "work" / SET))


def import_stage(home: Path) -> None:
    bpy.ops.import_scene.sylpheed_stage(directory=str(home / "game"), stage="S14", phase="Phase_1", parts="NONE")
    bpy.data.objects["asteroid_01.S14_p1_AsteroidVolume_wp"].location.x += 500


def export_hull(path: Path) -> set[str]:
    return bpy.ops.export_scene.sylpheed_col(filepath=str(path))


def export_set(path: Path) -> set[str]:
    return bpy.ops.export_scene.sylpheed_set(filepath=str(path))


def export_mod(path: Path) -> set[str]:
    return bpy.ops.export_scene.sylpheed_mod(directory=str(path))


CASES = [
    (import_both, export_hull, "out.col", {"out.col"}),
    (import_both, export_hull, f"work/{TWO_ASTEROIDS}", set()),
    (import_both, export_set, "out.bin", {"out.bin"}),
    (import_both, export_hull, "game/hidden/out.col", None),
    (import_both, export_set, "into/hidden/MiscBin.bin", None),
    (import_stage, export_hull, "game/out.col", None),
    (import_stage, export_mod, "out", {"out", "out/hidden", "out/hidden/MiscBin.p00", "out/hidden/MiscBin.pak"}),
    (import_stage, export_mod, "into", None),
    (import_stage, export_mod, "game", None),
    (import_stage, export_mod, "game/mod", None),
]


@pytest.mark.parametrize(
    ("before", "export", "target", "may"), CASES, ids=lambda value: getattr(value, "__name__", None)
)
def test_an_operator_changes_its_target_alone(
    home: Path, before: Callable, export: Callable, target: str, may: set | None
):
    """`may` is None where it must refuse; the same bytes over the source change nothing."""
    before(home)
    found = tree(home)
    try:
        result = export(home / target)
    except RuntimeError:
        result = {"CANCELLED"}
    assert changed(found, tree(home)) == (may or set())
    assert (result == {"CANCELLED"}) == (may is None)


def test_commands_change_their_targets_alone(home: Path, addon, capfd) -> None:
    """Over an older .blend no backup is made beside it, which might replace one of the user's."""
    run = functools.partial(run_command, addon)
    out, hull = home / "out.blend", home / "work" / TWO_ASTEROIDS
    (home / "out.blend1").write_bytes(b"mine")
    for arguments, may in [
        (("import", hull, "-o", out), {"out.blend"}),
        (("stage", home / "game", "-o", out, "--stage", "S14"), {"out.blend"}),
        (("stage", home / "game", "-o", home / "game" / "x.blend", "--stage", "S14"), None),
        (("import", hull, "-o", home / "into" / "hidden" / "x.blend"), None),
        (("check", out, hull), set()),
        (("export", out, "--root", "S14_p1_AsteroidVolume_wp", "-o", home / "game" / "hidden" / "x.col"), None),
        (("export", out, "--root", "S14_p1_AsteroidVolume_wp", "-o", home / "out.col"), {"out.col"}),
        (("mod", out, "-o", home / "into"), None),
    ]:
        before = tree(home)
        status = run(*arguments)
        assert changed(before, tree(home)) == (may or set()), arguments
        assert (status == 2) == (may is None), (arguments, capfd.readouterr().err)
