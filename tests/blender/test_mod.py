"""A mod holds what the scenes show: several roots of one entry, several files, edits taken back, moved games."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest

from core.formats import collision_set, mcol, regn, regn_contents
from core.game.archive import open_archive
from core.navigation.patch import patch
from tests.blender.helpers import move, origin_of
from tests.support.game_folder import make_game

HULL = "S14_p1_AsteroidVolume_wp"
ENTRY = f"{HULL}.col"
SETS = ("CollisionSet_S14.bin", "CollisionSet_S13.bin")


@pytest.fixture(scope="session")
def pristine(tmp_path_factory, addon) -> Path:
    return make_game(tmp_path_factory.mktemp("game"))


@pytest.fixture
def game(pristine, tmp_path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "game"))


@pytest.fixture
def mod(game, tmp_path):
    preferences = bpy.context.preferences.addons["bl_ext.user_default.sylpheed_collision"].preferences
    preferences.game_folder, preferences.mod_folder = str(game), str(tmp_path / "mod")
    (tmp_path / "mod").mkdir()
    yield tmp_path / "mod"
    preferences.game_folder = preferences.mod_folder = ""


def entry(folder: Path, name: str = ENTRY) -> bytes:
    opened = open_archive(folder / "hidden" / "MiscBin.pak")
    return opened.read(opened.find(name))


def part(data: bytes, name: str):
    return {part.name: part for part in collision_set.decode(data).parts}.get(name)


def shift(before: bytes, after: bytes, name: str) -> float:
    """How far along x the faces of a part lie from where they were."""
    old, new = part(before, name), part(after, name)
    corners = old.triangles[:100]
    return float(np.median(new.vertices[corners, 0] - old.vertices[corners, 0]))


def stage(phase: str = "Phase_1", parts: str = "NONE") -> bpy.types.Object:
    """Imports a phase and returns the root of its hull."""
    before = set(bpy.data.objects)
    assert bpy.ops.import_scene.sylpheed_stage(stage="S14", phase=phase, parts=parts) == {"FINISHED"}
    return next(obj for obj in set(bpy.data.objects) - before if obj.get("sylpheed_kind") == "hull")


def rock(root: bpy.types.Object, number: int = 1) -> bpy.types.Object:
    """An asteroid of a hull."""
    (found,) = [child for child in root.children if f"asteroid_{number:02}" in child.name]
    return found


def library(name: str = SETS[0]) -> bpy.types.Object:
    """The root of a set, imported as if another stage used it."""
    root = next(obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "set" and not obj.get("taken"))
    root["taken"] = True
    root["sylpheed_entry"] = name
    root.name = name.removesuffix(".bin")
    return root


def two_libraries() -> tuple[bpy.types.Object, bpy.types.Object]:
    stage(parts="ALL")
    first = library(SETS[0])
    stage("Phase_2", parts="ALL")
    return first, library(SETS[1])


def parts_of(root: bpy.types.Object) -> list[bpy.types.Object]:
    return sorted((obj for obj in root.children if obj.type == "MESH"), key=lambda obj: obj["sylpheed_record"])


def record_name(obj: bpy.types.Object) -> str:
    data = bytes(obj.parent["sylpheed_source"])
    return collision_set.decode(data).parts[obj["sylpheed_record"]].name


def export(**options) -> list[str]:
    """Exports the mod: the texts of all reports."""
    said: list[str] = []
    operator = import_operator()
    real = operator.report

    def report(op, kind, text):
        said.append(f"{kind}: {text}")
        real(op, kind, text)

    operator.report = report
    try:
        assert bpy.ops.export_scene.sylpheed_mod(**options) == {"FINISHED"}
    finally:
        operator.report = real
    return said


def import_operator():
    import importlib

    return importlib.import_module("bl_ext.user_default.sylpheed_collision.blender_addon.interface.mod_operator")


def refused(**options) -> str:
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.export_scene.sylpheed_mod(**options)
    assert "Traceback" not in str(caught.value)
    return str(caught.value)


# --- several roots of one entry -------------------------------------------------------------------


def test_unedited_twins_do_not_block(game, mod):
    stage(), stage(), stage("Phase_3"), stage("Phase_3")
    assert "nothing is edited" in export()[-1]
    assert list(mod.iterdir()) == []


@pytest.mark.parametrize("which", [0, 1])
def test_of_twins_the_edited_one_counts(game, mod, which):
    twins = [stage(), stage()]
    move(rock(twins[which]), x=500)
    export()
    assert entry(mod) != entry(game)
    move(rock(twins[1 - which]), x=500)
    assert "Wrote nothing" in export()[-1]


def test_two_different_edits_of_one_hull_are_refused_with_both_names(game, mod):
    twins = [stage(), stage()]
    for number, twin in enumerate(twins):
        move(rock(twin), x=500 + 100 * number)
    message = refused()
    assert all(f'"{twin.name}"' in message for twin in twins) and ENTRY in message
    assert not (mod / "hidden").exists()


def test_two_libraries_of_two_stages_merge_by_record(game, mod):
    first, second = two_libraries()
    one, other = parts_of(first)[0], parts_of(second)[1]
    one.location.x, other.location.x = 5, 7
    export()
    for name in (*SETS, "CollisionSet_Tutorial.bin"):
        for moved, by in ((one, 5), (other, 7)):
            assert shift(entry(game, name), entry(mod, name), record_name(moved)) == pytest.approx(by, abs=1e-3)


def test_two_different_edits_of_one_record_are_refused_with_both_names(game, mod):
    first, second = two_libraries()
    for number, root in enumerate((first, second)):
        move(parts_of(root)[0], x=5 + number)
    message = refused()
    assert first.name in message and second.name in message and record_name(parts_of(first)[0]) in message
    move(parts_of(second)[0], x=5)
    export()


def test_two_libraries_that_go_into_their_own_copies_may_differ(game, mod):
    first, second = two_libraries()
    for number, root in enumerate((first, second)):
        move(parts_of(root)[0], x=5 + number)
    export(sets="STAGE")
    assert len({entry(mod, name) for name in (*SETS, "CollisionSet_Tutorial.bin")}) == 3


# --- edits taken back -----------------------------------------------------------------------------


def test_an_edit_that_was_moved_back_leaves_the_mod(game, mod):
    root = stage()
    move(rock(root), x=500)
    export()
    move(rock(root), x=0)
    assert f"Replaced {ENTRY}" in export()[-1]
    assert entry(mod) == entry(game)
    assert "Wrote nothing" in export()[-1]


def test_an_edit_that_was_undone_leaves_the_mod(game, mod):
    name = rock(stage()).name
    bpy.ops.ed.undo_push(message="before")
    move(bpy.data.objects[name], x=500)
    bpy.ops.ed.undo_push(message="moved")
    export()
    bpy.ops.ed.undo()
    assert bpy.data.objects[name].location.x == origin_of(bpy.data.objects[name].data)[0]
    export()
    assert entry(mod) == entry(game)


def test_what_was_exported_is_known_after_undo_saving_and_opening(game, mod, tmp_path):
    name = rock(stage()).name
    bpy.ops.ed.undo_push(message="before")
    move(bpy.data.objects[name], x=500)
    bpy.ops.ed.undo_push(message="moved")
    export()
    bpy.ops.ed.undo()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "undone.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "undone.blend"))
    export()
    assert entry(mod) == entry(game)


def test_a_part_that_was_taken_back_removed_or_added_leaves_the_mod(game, mod):
    stage(parts="ALL")
    root = library()
    moved, gone = parts_of(root)[:2]
    move(moved, x=5)
    added = bpy.data.objects.new("new_part", gone.data.copy())
    bpy.context.scene.collection.objects.link(added)
    added.parent = root
    export()
    assert part(entry(mod, SETS[1]), "new_part")
    move(moved, x=0)
    bpy.data.objects.remove(added)
    export()
    assert entry(mod, SETS[0]) == entry(mod, SETS[1]) == entry(game, SETS[0])


def test_an_edit_of_what_came_from_the_mod_is_taken_back_to_that(game, mod):
    root = stage()
    move(rock(root), x=500)
    export()
    first = entry(mod)
    bpy.ops.wm.read_homefile(use_empty=True)
    root = stage()
    move(rock(root, 2), x=100)
    export()
    assert entry(mod) not in (first, entry(game))
    move(rock(root, 2), x=0)
    export()
    assert entry(mod) == first


# --- two files of one game ------------------------------------------------------------------------


def two_files(tmp_path: Path, make: Callable[[], object]) -> None:
    """Makes a scene and saves it, for two sessions that begin with it."""
    make()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "start.blend"))


def reopen(tmp_path: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "start.blend"))


def hull_root() -> bpy.types.Object:
    return bpy.data.objects[HULL]


def test_a_hull_that_another_file_edited_is_refused_unless_overwritten(game, mod, tmp_path):
    two_files(tmp_path, stage)
    move(rock(hull_root()), x=500)
    export()
    first = entry(mod)
    reopen(tmp_path)
    warned = export()
    assert any(HULL in text and "WARNING" in text for text in warned) and entry(mod) == first
    rock(hull_root(), 2).location.x += 100
    message = refused()
    assert ENTRY in message and HULL in message and "overwrite" in message
    assert entry(mod) == first
    export(overwrite=True)
    second = entry(mod)
    assert second not in (first, entry(game))
    rock(hull_root(), 2).location.x += 100
    export()  # its own
    assert entry(mod) not in (first, second)


def test_sets_that_two_files_edited_merge_by_record(game, mod, tmp_path):
    def make():
        stage(parts="ALL")
        library()

    two_files(tmp_path, make)
    name = SETS[0].removesuffix(".bin")
    one, two, three = parts_of(bpy.data.objects[name])[:3]
    moved, removed, other = record_name(one), record_name(two), record_name(three)
    move(one, x=5)
    bpy.data.objects.remove(two)
    export()
    reopen(tmp_path)
    move(parts_of(bpy.data.objects[name])[2], x=7)
    warned = export()
    assert any("WARNING" in text and moved in text for text in warned)
    for entry_name in SETS:
        before, after = entry(game, entry_name), entry(mod, entry_name)
        assert part(after, removed) is None
        for changed, by in ((moved, 5), (other, 7)):
            assert shift(before, after, changed) == pytest.approx(by, abs=1e-3)
    move(parts_of(bpy.data.objects[name])[0], x=9)
    assert moved in refused()
    export(overwrite=True)
    assert shift(entry(game, SETS[1]), entry(mod, SETS[1]), moved) == pytest.approx(9, abs=1e-3)


def test_a_saved_file_knows_what_it_exported(game, mod, tmp_path):
    two_files(tmp_path, stage)
    move(rock(hull_root()), x=500)
    export()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "start.blend"))
    reopen(tmp_path)
    move(rock(hull_root()), x=600)
    export()
    reopen(tmp_path)  # not saved: the mod holds an edit that this file doesn't know
    move(rock(hull_root()), x=700)
    assert "overwrite" in refused()


# --- scenes, and what is hidden in them -----------------------------------------------------------


def test_hulls_in_other_scenes_go_into_the_mod_as_they_are_shown_there(game, mod):
    first = bpy.context.window.scene if bpy.context.window else bpy.context.scene
    root = stage()
    move(rock(root), x=500)
    modifier = rock(root, 2).modifiers.new("Move", "DISPLACE")
    modifier.direction, modifier.strength, modifier.mid_level = "X", 100, 0
    bpy.context.view_layer.update()
    export()
    wanted = entry(mod)
    other = bpy.data.scenes.new("Other")
    for collection in list(first.collection.children):
        first.collection.children.unlink(collection)
        other.collection.children.link(collection)
    shutil.rmtree(mod / "hidden")
    bpy.ops.import_scene.sylpheed_col(filepath=str(Path(__file__).parents[1] / "data" / "S13_AsteroidVolume_wp.col"))
    stage("Phase_2")
    export()
    assert entry(mod) == wanted
    assert bpy.context.scene == first


def test_an_edit_in_another_scene_that_differs_is_refused_with_both_names(game, mod):
    root = stage()
    move(rock(root), x=500)
    collection = root.users_collection[0]
    bpy.context.scene.collection.children.unlink(collection)
    bpy.data.scenes.new("Other").collection.children.link(collection)
    here = stage()
    move(rock(here), x=600)
    message = refused()
    assert f'"{root.name}"' in message and f'"{here.name}"' in message


def test_a_linked_hull_that_an_empty_shows_is_named(game, mod, tmp_path):
    stage()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    stage("Phase_2")
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.collections = [HULL]
    empty = bpy.data.objects.new("instance", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", wanted.collections[0]
    bpy.context.scene.collection.objects.link(empty)
    (warning,) = [text for text in export() if text.startswith("WARNING")]
    assert '"instance"' in warning and HULL in warning and "Library Override" in warning


def test_a_local_hull_that_an_empty_shows_once_more_is_not_named(game, mod):
    root = stage()
    empty = bpy.data.objects.new("instance", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", root.users_collection[0]
    bpy.context.scene.collection.objects.link(empty)
    assert not [text for text in export() if "WARNING" in text]


def test_a_linked_root_goes_into_the_mod(game, mod, tmp_path):
    move(rock(stage()), x=500)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.collections = [HULL]
    bpy.context.scene.collection.children.link(wanted.collections[0])
    assert ENTRY in export()[-1]


def test_without_a_mod_folder_it_is_asked_for(game, mod):
    stage()
    bpy.context.preferences.addons["bl_ext.user_default.sylpheed_collision"].preferences.mod_folder = ""
    assert "no mod folder is named" in refused()


def test_hidden_and_excluded_roots_go_into_the_mod(game, mod):
    root, other = stage(), stage("Phase_2")
    for one in (root, other):
        rock(one).location.x += 100
    root.hide_viewport = True
    root.hide_set(True)
    layer = bpy.context.view_layer.layer_collection.children[other.users_collection[0].name]
    layer.exclude = True
    export()
    assert entry(mod) != entry(game)
    assert entry(mod, "S14_p2_AsteroidVolume_wp.col") != entry(game, "S14_p2_AsteroidVolume_wp.col")


# --- which game, which entry ----------------------------------------------------------------------


def test_a_game_that_was_moved_is_named_or_that_of_the_preferences(game, mod, tmp_path):
    move(rock(stage()), x=500)
    moved = game.rename(tmp_path / "moved")
    preferences = bpy.context.preferences.addons["bl_ext.user_default.sylpheed_collision"].preferences
    preferences.game_folder = ""
    assert "no longer there" in refused()
    export(game=str(moved))
    assert entry(mod) != entry(moved)
    preferences.game_folder = str(moved)
    move(rock(bpy.data.objects[HULL]), x=600)
    assert ENTRY in export()[-1]


def test_a_game_that_is_reached_through_a_link_is_the_same(game, mod, tmp_path):
    (tmp_path / "link").symlink_to(game)
    move(rock(stage()), x=500)
    assert ENTRY in export(game=str(tmp_path / "link"))[-1]
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.sylpheed_stage(directory=str(tmp_path / "link"), stage="S14", phase="Phase_1", parts="NONE")
    rock(bpy.data.objects[HULL]).location.y += 500
    stage("Phase_2")
    assert ENTRY in export()[-1]


def test_a_copy_of_the_game_that_is_named_outright_is_the_game(game, mod, tmp_path):
    shutil.copytree(game, tmp_path / "copy")
    move(rock(stage()), x=500)
    assert ENTRY in export(game=str(tmp_path / "copy"))[-1]


def test_of_two_games_the_other_is_left_out_with_a_message(game, mod, tmp_path):
    shutil.copytree(game, tmp_path / "copy")
    stage()
    bpy.ops.import_scene.sylpheed_stage(directory=str(tmp_path / "copy"), stage="S14", phase="Phase_2", parts="NONE")
    said = export(game=str(game))
    assert any('S14_p2_AsteroidVolume_wp" came from' in text and "isn't in the mod" in text for text in said)


def link_hidden(folder: Path, game: Path) -> Path:
    (folder / "hidden").symlink_to(game / "hidden")
    return folder


def link_files(folder: Path, game: Path) -> Path:
    (folder / "hidden").mkdir()
    for file in (game / "hidden").iterdir():
        (folder / "hidden" / file.name).symlink_to(file)
    return folder


def hard_link_files(folder: Path, game: Path) -> Path:
    (folder / "hidden").mkdir()
    for file in (game / "hidden").iterdir():
        (folder / "hidden" / file.name).hardlink_to(file)
    return folder


def link_folder(folder: Path, game: Path) -> Path:
    (folder / "link").symlink_to(game)
    return folder / "link"


@pytest.mark.parametrize(
    "way",
    [
        link_hidden,
        link_files,
        hard_link_files,
        link_folder,
        lambda folder, game: game / "hidden" / "mod",
        lambda folder, game: game.parent,
    ],
)
def test_a_mod_that_leads_into_the_game_is_refused(game, mod, way):
    before = {path: path.read_bytes() for path in game.rglob("*") if path.is_file()}
    move(rock(stage()), x=500)
    assert "can't be written onto the game" in refused(directory=str(way(mod, game)))
    assert {path: path.read_bytes() for path in game.rglob("*") if path.is_file()} == before


def test_a_root_that_lost_its_properties_is_named(game, mod):
    root, other = stage(), stage("Phase_2")
    rock(other).location.x += 100
    del root["sylpheed_kind"]
    said = export()
    assert any(f'"{root.name}" lost its source' in text for text in said)
    root["sylpheed_kind"] = "hull"
    del root["sylpheed_root"]
    move(rock(root), x=500)
    export()
    move(rock(root), x=0)
    export()
    assert "sylpheed_exported" not in root


def test_two_stages_of_one_hull_merge_with_what_a_copy_of_the_root_shows(game, mod):
    """A root that is copied with everything below it is one more root of its entry."""
    root = stage()
    for obj in bpy.context.view_layer.objects:
        obj.hide_select = False
        obj.select_set(obj in (root, *root.children))
    before = set(bpy.data.objects)
    bpy.ops.object.duplicate()
    (copy,) = [obj for obj in set(bpy.data.objects) - before if obj.get("sylpheed_kind") == "hull"]
    move(rock(copy), x=500)
    export()
    edited = entry(mod)
    assert edited != entry(game)
    move(rock(root), x=400)
    assert f'"{copy.name}"' in refused()
    move(rock(copy), x=400)
    export()
    assert entry(mod) not in (edited, entry(game))


def test_a_fitted_grid_that_is_taken_back_leaves_the_mod(game, mod):
    stage()
    source = bpy.data.objects[HULL]["sylpheed_source"]
    bpy.ops.sylpheed.fit_grid(cell_size=7000.0)
    export()
    assert entry(mod) != entry(game)
    root = bpy.data.objects[HULL]
    del root["sylpheed_source"]
    root["sylpheed_source"] = bytes(source)
    export()
    assert entry(mod) == entry(game)


def test_a_game_without_the_entry_leaves_it_out_with_a_message(game, mod, tmp_path):
    stage()
    bpy.data.objects[HULL]["sylpheed_entry"] = "S99.col"
    stage("Phase_2")
    assert any("has no S99.col" in text for text in export())


@pytest.mark.parametrize("renamed", [False, True])
def test_a_loose_hull_goes_into_the_mod_by_its_name(game, mod, tmp_path, renamed):
    root = stage()
    move(rock(root), x=500)
    file = tmp_path / ("any name.col" if renamed else f"{HULL.lower()}.COL")
    bpy.ops.export_scene.sylpheed_col(filepath=str(tmp_path / "x.col"))
    (tmp_path / "x.col").rename(file)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.sylpheed_col(filepath=str(file))
    (root,) = [obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "hull"]
    if renamed:
        stage("Phase_2")
        assert any("isn't in the mod" in text and "any name" in text for text in export())
        root.name = HULL
    said = export()
    assert any(f'"{root.name}" was imported from a file' in text and HULL.lower() in text.lower() for text in said)
    assert entry(mod) == file.read_bytes()
    rock(root, 2).location.x += 100
    export()
    assert entry(mod) not in (file.read_bytes(), entry(game))


def test_a_loose_set_goes_into_the_mod_by_its_name(game, mod, tmp_path):
    file = tmp_path / SETS[0]
    file.write_bytes(entry(game, SETS[0]))
    bpy.ops.import_scene.sylpheed_set(filepath=str(file))
    root = bpy.data.objects[SETS[0].removesuffix(".bin")]
    assert "Wrote nothing" in export()[-1]
    move(parts_of(root)[0], x=5)
    export()
    bpy.ops.export_scene.sylpheed_set(filepath=str(file))
    assert entry(mod, SETS[0]) == entry(mod, SETS[1]) == file.read_bytes() != entry(game, SETS[0])


def test_what_was_imported_from_a_mod_goes_whole_into_a_new_one(game, mod, tmp_path):
    move(rock(stage()), x=500)
    export()
    edited = entry(mod)
    bpy.ops.wm.read_homefile(use_empty=True)
    stage()
    export(directory=str(tmp_path / "second"))
    assert entry(tmp_path / "second") == edited
    assert mcol.decode(edited)


# --- navigation -----------------------------------------------------------------------------------

VOLUME = f"{HULL}.rgn"


def test_an_edited_hull_gets_a_patched_volume_and_the_games_again_when_it_is_put_back(game, mod):
    root = stage()
    moved = rock(root)
    move(moved, x=3_000)
    export()
    assert entry(mod) != entry(game)
    patched = entry(mod, VOLUME)
    hull = mcol.decode(entry(mod))
    assert regn.fits(regn.decode(patched), hull.grid) == []
    again = patch(regn.decode(entry(game, VOLUME)), mcol.decode(entry(game)), hull)
    assert patched == again.data
    move(moved, x=0)
    export()
    assert (entry(mod), entry(mod, VOLUME)) == (entry(game), entry(game, VOLUME))


def test_navigation_is_kept_where_that_is_asked_for(game, mod):
    move(rock(stage()), x=3_000)
    export(navigation="KEEP")
    assert entry(mod) != entry(game) and entry(mod, VOLUME) == entry(game, VOLUME)


@pytest.mark.heavy
def test_navigation_is_rebuilt_where_that_is_asked_for(game, mod):
    move(rock(stage()), x=3_000)
    export(navigation="REBUILD")
    volume, hull = regn.decode(entry(mod, VOLUME)), mcol.decode(entry(mod))
    assert regn.fits(volume, hull.grid) == [] and len(regn_contents.decode(volume).tetrahedra) > 100


@pytest.mark.heavy
def test_a_volume_that_somebody_else_made_is_the_start_of_the_next(game, mod):
    move(rock(stage()), x=3_000)
    export(navigation="REBUILD")
    foreign = entry(mod, VOLUME)
    move(rock(bpy.data.objects[HULL], 2), x=40)
    export()
    assert len(regn_contents.decode(regn.decode(entry(mod, VOLUME))).tetrahedra) == len(
        regn_contents.decode(regn.decode(foreign)).tetrahedra
    )
