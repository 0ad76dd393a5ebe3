"""From a game folder to a mod folder, in Blender."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from core.formats import mcol
from core.formats.hashes import file_id
from core.game.archive import open_archive
from core.game.archive_write import make_archive
from core.samples.game import write_tables
from tests.blender.helpers import coordinates, move, run_command
from tests.support.game_folder import make_game

HULL = "S14_p1_AsteroidVolume_wp"


@pytest.fixture(scope="session")
def game(tmp_path_factory, addon) -> Path:
    """A stand-in game folder."""
    return make_game(tmp_path_factory.mktemp("game"))


@pytest.fixture
def folders(game, tmp_path):
    preferences = bpy.context.preferences.addons["bl_ext.user_default.sylpheed_collision"].preferences
    preferences.game_folder, preferences.mod_folder = str(game), str(tmp_path / "mod")
    (tmp_path / "mod").mkdir()
    yield game, tmp_path / "mod"
    preferences.game_folder = preferences.mod_folder = ""


def fingerprint(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def entries(archive: Path) -> dict[int, bytes]:
    opened = open_archive(archive)
    return {entry.hash: opened.stored(entry) for entry in opened.entries}


def by_name(archive: Path, name: str) -> bytes:
    opened = open_archive(archive)
    return opened.read(opened.find(name))


def rock():
    """An asteroid that may be moved along x by 500 units."""
    return bpy.data.objects[f"asteroid_01.{HULL}"]


def test_a_stage_comes_with_its_hull_and_its_own_asteroids(folders):
    bpy.ops.import_scene.sylpheed_stage(stage="S14", phase="Phase_1")
    assert HULL in bpy.data.objects
    parts = [obj.name for obj in bpy.data.objects if "sylpheed_record" in obj]
    assert parts
    assert all(name.startswith("S14_") for name in parts)


@pytest.mark.parametrize("parts, count", [("NONE", 0), ("ALL", 10)])
def test_parts_can_be_left_out_or_be_all(folders, parts, count):
    bpy.ops.import_scene.sylpheed_stage(directory=str(folders[0]), stage="S14", phase="Phase_1", parts=parts)
    assert sum("sylpheed_record" in obj for obj in bpy.data.objects) == count


def test_a_moved_asteroid_goes_into_the_mod_and_comes_back_from_it(folders):
    game, mod = folders
    before = fingerprint(game)
    bpy.ops.import_scene.sylpheed_stage(stage="S14", phase="Phase_1")
    move(rock(), x=500)
    moved = coordinates(rock().data)[:, 0] + 500
    bpy.ops.export_scene.sylpheed_mod()
    assert fingerprint(game) == before
    old, new = entries(game / "hidden/MiscBin.pak"), entries(mod / "hidden/MiscBin.pak")
    assert old.keys() == new.keys()
    assert sum(old[key] != new[key] for key in old) == 1
    assert by_name(mod / "hidden/MiscBin.pak", f"{HULL}.col") != by_name(game / "hidden/MiscBin.pak", f"{HULL}.col")

    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.sylpheed_stage(stage="S14", phase="Phase_1")
    assert coordinates(rock().data)[:, 0] == pytest.approx(moved, abs=0.01)


def test_a_fitted_grid_alone_goes_into_the_mod(folders):
    game, mod = folders
    bpy.ops.import_scene.sylpheed_stage(stage="S14", phase="Phase_1", parts="NONE")
    bpy.ops.sylpheed.fit_grid(cell_size=7000.0)
    bpy.ops.export_scene.sylpheed_mod()
    hull = mcol.decode(by_name(mod / "hidden/MiscBin.pak", f"{HULL}.col"))
    assert hull.grid.cell_size.tolist() == [7000] * 3
    assert np.array_equal(hull.vertices, mcol.decode(by_name(game / "hidden/MiscBin.pak", f"{HULL}.col")).vertices)


def test_a_mod_grows_and_what_is_not_edited_here_stays_as_another_session_made_it(folders):
    _, mod = folders
    bpy.ops.import_scene.sylpheed_stage(stage="S14", phase="Phase_1", parts="NONE")
    bpy.ops.wm.save_as_mainfile(filepath=str(mod.parent / "early.blend"))
    move(rock(), x=500)
    bpy.ops.export_scene.sylpheed_mod()
    edited = by_name(mod / "hidden/MiscBin.pak", f"{HULL}.col")

    bpy.ops.wm.open_mainfile(filepath=str(mod.parent / "early.blend"))  # unedited, from before
    bpy.ops.import_scene.sylpheed_stage(stage="S14", phase="Phase_2", parts="NONE")
    other = next(obj for obj in bpy.data.objects if obj.name.startswith("asteroid_01.S14_p2_AsteroidVolume_wp"))
    move(other, z=20)
    bpy.ops.export_scene.sylpheed_mod()
    assert by_name(mod / "hidden/MiscBin.pak", f"{HULL}.col") == edited
    assert (
        sum(
            old != new
            for old, new in zip(
                entries(folders[0] / "hidden/MiscBin.pak").values(),
                entries(mod / "hidden/MiscBin.pak").values(),
                strict=True,
            )
        )
        == 2
    )


@pytest.mark.parametrize("sets, count", [("ALL", 18), ("STAGE", 1)])
def test_an_edited_set_replaces_every_copy_or_one(folders, sets, count):
    game, mod = folders
    bpy.ops.import_scene.sylpheed_stage(stage="S14", phase="Phase_1")
    move(next(obj for obj in bpy.data.objects if "sylpheed_record" in obj), x=5)
    bpy.ops.export_scene.sylpheed_mod(sets=sets)
    old, new = entries(game / "hidden/MiscBin.pak"), entries(mod / "hidden/MiscBin.pak")
    assert sum(old[key] != new[key] for key in old) == count


def refused(operator, **options) -> str:
    with pytest.raises(RuntimeError) as caught:
        operator(**options)
    return str(caught.value)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"stage": "S77"}, "has no stage 'S77', expected S14, S20"),
        ({"stage": "S20"}, "Phase_1 of stage S20 names no hull"),
        ({"stage": "S14", "phase": "Phase_9"}, "expected Phase_1 (S14_p1_AsteroidVolume_wp.col)"),
        ({"directory": "/nowhere/at/all"}, "there is no such folder"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(folders, options, words):
    assert words in refused(bpy.ops.import_scene.sylpheed_stage, **options)
    assert not bpy.data.objects


def test_no_folder_at_all_is_said():
    assert "no game folder is named" in refused(bpy.ops.import_scene.sylpheed_stage, stage="S14")


def test_the_game_is_never_written(folders):
    game, _ = folders
    before = fingerprint(game)
    bpy.ops.import_scene.sylpheed_stage(stage="S14", phase="Phase_1", parts="NONE")
    move(rock(), x=500)
    for target in (game, game.parent):
        assert "can't be written onto the game" in refused(bpy.ops.export_scene.sylpheed_mod, directory=str(target))
    assert fingerprint(game) == before


def test_a_scene_without_a_game_says_so(samples, tmp_path):
    bpy.ops.import_scene.sylpheed_col(filepath=str(samples / "test.col"))
    message = refused(bpy.ops.export_scene.sylpheed_mod, directory=str(tmp_path))
    assert "nothing in the scene came from a game folder" in message


def test_an_archive_without_some_sets_takes_an_edit_of_those_that_it_has(tmp_path):
    sets = ("CollisionSet_S14.bin", "CollisionSet_S02.bin", "CollisionSet_test.bin")
    game = make_game(tmp_path / "demo", sets=sets)
    bpy.ops.import_scene.sylpheed_stage(directory=str(game), stage="S14", phase="Phase_1")
    move(next(obj for obj in bpy.data.objects if "sylpheed_record" in obj), x=5)
    bpy.ops.export_scene.sylpheed_mod(directory=str(tmp_path / "mod"), sets="ALL")
    old, new = entries(game / "hidden/MiscBin.pak"), entries(tmp_path / "mod/hidden/MiscBin.pak")
    assert {number for number in old if old[number] != new[number]} == {file_id(name) for name in sets}


def test_a_stage_whose_set_is_missing_comes_with_its_hull_and_a_warning(tmp_path, capfd):
    game = make_game(tmp_path / "demo", sets=("CollisionSet_S02.bin",))
    bpy.ops.import_scene.sylpheed_stage(directory=str(game), stage="S14", phase="Phase_1")
    assert HULL in bpy.data.objects
    assert "the archive has no CollisionSet_S14.bin" in capfd.readouterr().out


LAYOUTS = ["Stage\\", "", "nobody knows\\"]


@pytest.fixture(scope="module", params=LAYOUTS)
def layout(request, tmp_path_factory) -> tuple[Path, str]:
    """A stand-in game whose tables have likely names, bare ones, or names that nobody knows; and what S14 is called."""
    name = f"{request.param}StageResource_S14.tbl"
    stage = "S14" if request.param in LAYOUTS[:2] else f"{file_id(name):08x}"
    return make_game(tmp_path_factory.mktemp("layout"), request.param), stage


def test_an_asteroid_of_a_stage_goes_in_and_out_whatever_the_tables_are_named(layout, tmp_path):
    game, stage = layout
    before = fingerprint(game)
    bpy.ops.import_scene.sylpheed_stage(directory=str(game), stage=stage, phase="Phase_1")
    parts = [obj.name for obj in bpy.data.objects if "sylpheed_record" in obj]
    assert parts and all(name.startswith("S14_") for name in parts), "the stage's own, by the name of its hull"
    move(rock(), x=500)
    bpy.ops.export_scene.sylpheed_mod(directory=str(tmp_path / "mod"))
    assert fingerprint(game) == before
    old, new = entries(game / "hidden/MiscBin.pak"), entries(tmp_path / "mod/hidden/MiscBin.pak")
    assert sum(old[key] != new[key] for key in old) in (1, 2), "the hull, and the volume beside it"
    assert by_name(tmp_path / "mod/hidden/MiscBin.pak", f"{HULL}.col") != by_name(
        game / "hidden/MiscBin.pak", f"{HULL}.col"
    )


@pytest.mark.parametrize("tables_in", LAYOUTS)
def test_the_dialog_and_the_command_line_list_29_stages_and_87_phases(tables_in, addon, tmp_path, capfd):
    (tmp_path / "dat").mkdir()
    write_tables(tmp_path, tables_in)
    options = SimpleNamespace(directory=str(tmp_path), stage="")
    names = list(addon.blender_addon.interface.stage_operator.suggest_stages(options, bpy.context, ""))
    count = 0
    for options.stage in names:
        count += len(addon.blender_addon.interface.stage_operator.suggest_phases(options, bpy.context, ""))
    assert (len(names), count) == (29, 86), "a phase of S20 has no hull"
    capfd.readouterr()
    assert run_command(addon, "stage", tmp_path) == 0
    assert "29 stages, 87 phases" in capfd.readouterr().out.splitlines()


def test_the_command_line_takes_a_stage_by_its_table_s_id(layout, addon, tmp_path, capfd):
    game, stage = layout
    blend = tmp_path / "out.blend"
    assert run_command(addon, "stage", game, "--stage", stage, "--phase", "Phase_2", "-o", blend) == 0
    assert blend.exists()
    assert run_command(addon, "stage", game, "--stage", "S77", "-o", blend) == 2
    error = capfd.readouterr().err
    assert "the game has no stage 'S77'" in error and stage in error


def test_the_dialog_says_why_it_offers_nothing(game, addon, tmp_path):
    say = addon.blender_addon.scene.stage_import.why_no_phase
    (tmp_path / "without" / "dat").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    make_archive(tmp_path / "without" / "dat" / "GP_MAIN_GAME_E.pak", {"a.bin": (b"x", False)})
    messages = [
        say("", "S14"),
        say("/nowhere/at/all", "S14"),
        say(str(tmp_path / "empty"), "S14"),
        say(str(tmp_path / "without"), "S14"),
        say(str(game), "S77"),
        say(str(game), "S20"),
    ]
    assert len(set(messages)) == 6
    assert messages[1:5] == [
        "There is no such folder",
        "This isn't a game folder",
        "This game folder holds no stage tables",
        "The game has no stage of this name",
    ]


def test_the_dialog_offers_stages_and_phases_with_their_hulls(folders, addon):
    """Blender hands these functions the options alone, none of the operator's methods."""
    options = SimpleNamespace(directory="", stage="S14")
    assert list(addon.blender_addon.interface.stage_operator.suggest_stages(options, bpy.context, "")) == ["S14", "S20"]
    assert list(addon.blender_addon.interface.stage_operator.suggest_phases(options, bpy.context, "")) == [
        ("Phase_1", "S14_p1_AsteroidVolume_wp.col"),
        ("Phase_2", "S14_p2_AsteroidVolume_wp.col"),
        ("Phase_3", "mapmesh_box_500km.col"),
    ]
    options.directory = "/nowhere/at/all"
    assert list(addon.blender_addon.interface.stage_operator.suggest_stages(options, bpy.context, "")) == []
