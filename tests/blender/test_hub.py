"""The sidebar's first panel and the last result: states of folders and roots, and what was said."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import bpy
import numpy as np
import pytest

from tests.blender.helpers import DATA, ONE_ASTEROID, export, import_hull, judged, move, select, source, surfaces
from tests.support.game_folder import make_game


@pytest.fixture
def interface(addon: ModuleType):
    """A module of the add-on's interface by its name."""
    return lambda name: importlib.import_module(f"{addon.__name__}.blender_addon.interface.{name}")


@pytest.fixture
def folders(tmp_path: Path):
    """A game folder and a mod folder, named in the preferences."""
    preferences = bpy.context.preferences.addons["bl_ext.user_default.sylpheed_collision"].preferences
    game, mod = make_game(tmp_path / "game"), tmp_path / "mod"
    mod.mkdir()
    preferences.game_folder, preferences.mod_folder = str(game), str(mod)
    yield game, mod
    preferences.game_folder = preferences.mod_folder = ""


def test_folders_say_what_they_are(interface, tmp_path: Path) -> None:
    state = interface("overview_panel").folder_state
    game = make_game(tmp_path / "game")
    assert state("game", str(game)) == ("Stages: 2", True)
    assert state("game", "") == ("Not chosen", False)
    assert state("game", str(tmp_path / "none")) == ("No such folder", False)
    (tmp_path / "empty").mkdir()
    assert state("game", str(tmp_path / "empty")) == ("Not a game folder", False)
    (tmp_path / "half").mkdir()
    (game / "dat").rename(tmp_path / "half" / "dat")
    assert state("game", str(tmp_path / "half")) == ("No hidden folder in it", False)
    assert state("mod", str(tmp_path / "empty")) == ("Still empty", True)
    assert state("mod", str(game)) == ("Holds a mod", True)


def test_a_hull_is_not_checked_then_unedited_edited_or_refused(interface) -> None:
    root_state = lambda: interface("overview_panel").root_state(root)[0]  # noqa: E731
    root = import_hull(ONE_ASTEROID)
    rock = surfaces(root)["asteroid_01"]
    assert root_state() == "Not checked"
    bpy.ops.sylpheed.check()
    assert root_state() == "Unedited"
    move(rock, x=500)
    bpy.context.view_layer.update()
    assert root_state() == "Edited since the check"
    bpy.ops.sylpheed.check()
    assert root_state() == "Edited"
    move(rock, x=1e6)
    bpy.ops.sylpheed.check()
    assert root_state() == "Can't be exported"


def test_after_the_export_it_is_in_the_mod_folder_until_the_next_edit(interface, folders) -> None:
    assert bpy.ops.import_scene.sylpheed_stage(stage="S14", phase="Phase_1", parts="NONE") == {"FINISHED"}
    root = bpy.context.object
    move(surfaces(root)["asteroid_01"], x=500)
    assert bpy.ops.export_scene.sylpheed_mod() == {"FINISHED"}
    state = interface("overview_panel").root_state
    assert state(root)[0] == "In the mod folder"
    surfaces(root)["asteroid_01"].location.x += 5
    bpy.context.view_layer.update()
    assert state(root)[0] == "Not checked"


def test_the_last_result_holds_every_line_that_was_reported(interface, tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    rock = surfaces(root)["asteroid_01"]
    rock.parent = None
    export(tmp_path)
    said = interface("last_result").last()
    assert said.title == "Export Sylpheed Hull" and said.path == str(tmp_path / "exported.col")
    warnings = [text for kind, text in said.lines if kind == "WARNING"]
    assert any(rock.name in interface("last_result").objects_named(text) for text in warnings)
    assert said.sorted_lines()[-1][0] == "INFO" and all(text in said.text for _, text in said.lines)
    assert bpy.ops.sylpheed.select_named(name=rock.name) == {"FINISHED"}
    assert bpy.context.selected_objects == [rock]


def test_each_run_of_an_operator_starts_over(interface, tmp_path: Path) -> None:
    import_hull(ONE_ASTEROID)
    for _ in range(3):
        export(tmp_path)
        said = interface("last_result").last()
        assert said.title == "Export Sylpheed Hull" and len(said.lines) == 1


def test_a_refused_export_is_in_the_last_result(interface, tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    move(surfaces(root)["asteroid_01"], x=1e6)
    with pytest.raises(RuntimeError):
        bpy.ops.export_scene.sylpheed_col(filepath=str(tmp_path / "a.col"))
    assert [kind for kind, _ in interface("last_result").last().lines] == ["ERROR"]


@pytest.mark.parametrize("text, lines", [("word " * 20, 3), ("x" * 100, 3), ("石" * 40, 3)])
def test_a_message_fits_into_its_lines(interface, text: str, lines: int) -> None:
    layouts = interface("layouts")
    cut = layouts.wrap(text.strip())
    assert "".join(cut).replace(" ", "") == text.replace(" ", "")
    assert len(cut) == lines and all(layouts.width(line) <= layouts.WIDTH + 1 for line in cut)


def test_an_object_is_added_to_the_hull_where_it_is(tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=1.0, location=(14.0, -15.0, 16.0))
    rock = bpy.context.object
    before = np.array(rock.matrix_world)
    assert bpy.ops.sylpheed.add_to_hull() == {"FINISHED"}
    bpy.context.view_layer.update()
    assert rock.parent == root and np.allclose(np.array(rock.matrix_world), before, atol=1e-5)
    col = judged(export(tmp_path))
    assert len(col.triangles) > len(judged(source(ONE_ASTEROID)).triangles)
    with pytest.raises(RuntimeError, match="already"):
        bpy.ops.sylpheed.add_to_hull()


def test_a_shape_is_subtracted_from_a_rock_in_one_step(tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    rock = surfaces(root)["asteroid_01"]
    bpy.context.view_layer.update()
    size = max(rock.dimensions)
    bpy.ops.mesh.primitive_cube_add(size=size * 0.4, location=rock.matrix_world.translation)
    cutter = bpy.context.object
    cutter.location.z += size / 2
    select(cutter, rock)
    assert bpy.ops.sylpheed.subtract() == {"FINISHED"}
    assert cutter.hide_get() and cutter.parent is None and rock.modifiers[0].object == cutter
    before = len(judged(source(ONE_ASTEROID)).triangles)
    assert len(judged(export(tmp_path)).triangles) != before


def test_panels_about_a_hull_need_one(interface) -> None:
    check, grid = interface("sidebar").SYLPHEED_PT_hull, interface("grid_panel").SYLPHEED_PT_grid
    assert not check.poll(bpy.context) and not grid.poll(bpy.context)
    root = import_hull(ONE_ASTEROID)
    assert check.poll(bpy.context) and grid.poll(bpy.context)
    bpy.context.view_layer.objects.active = None
    roots = importlib.import_module(interface("sidebar").__name__.replace("interface.sidebar", "scene.roots"))
    assert roots.shown_root(bpy.context) == root


def test_a_set_is_not_called_a_hull(interface) -> None:
    bpy.ops.import_scene.sylpheed_set(filepath=str(DATA / "CollisionSet_small.bin"))
    assert interface("sidebar").SYLPHEED_PT_hull.bl_label == "Check"
    assert not interface("grid_panel").SYLPHEED_PT_grid.poll(bpy.context)


def test_the_stage_dialog_marks_what_the_mod_holds_and_offers_the_games(addon, folders) -> None:
    game, mod = folders
    stage_import = addon.blender_addon.scene.stage_import
    assert stage_import.edited_entries(str(game), str(mod)) == frozenset()
    bpy.ops.import_scene.sylpheed_stage(stage="S14", phase="Phase_1", parts="NONE")
    name = f"{bpy.context.object.name}.col"
    unedited = bytes(bpy.context.object["sylpheed_source"])
    move(surfaces(bpy.context.object)["asteroid_01"], x=500)
    bpy.ops.export_scene.sylpheed_mod()
    assert stage_import.edited_entries(str(game), str(mod)) == {name.lower()}
    for place, same in (("GAME", True), ("MOD", False)):
        bpy.ops.wm.read_homefile(use_empty=True)
        bpy.ops.import_scene.sylpheed_stage(stage="S14", phase="Phase_1", parts="NONE", source=place)
        assert (bytes(bpy.context.object["sylpheed_source"]) == unedited) == same


def test_the_last_stage_is_remembered_in_the_file(addon, folders, tmp_path: Path) -> None:
    bpy.ops.import_scene.sylpheed_stage(stage="S14", phase="Phase_2", parts="NONE")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    remembered = addon.blender_addon.scene.custom_properties.remembered
    assert remembered(bpy.context.scene, "stage") == ""
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert remembered(bpy.context.scene, "stage") == "S14" and remembered(bpy.context.scene, "phase") == "Phase_2"


def edited_stage() -> bpy.types.Object:
    bpy.ops.import_scene.sylpheed_stage(stage="S14", phase="Phase_1", parts="STAGE")
    root = bpy.context.object
    move(surfaces(root)["asteroid_01"], x=500)
    return root


def test_the_overview_lists_what_an_export_of_the_mod_would_write(interface, folders) -> None:
    planned = interface("overview_panel").planned_files
    roots = importlib.import_module(
        interface("overview_panel").__name__.replace("interface.overview_panel", "scene.roots")
    )
    root = edited_stage()
    assert planned(roots.known_roots(bpy.context.scene)) == ([], True)
    bpy.ops.sylpheed.check()
    assert planned(roots.known_roots(bpy.context.scene)) == ([f"{root.name}.col", f"{root.name}.rgn"], False)
    bpy.ops.export_scene.sylpheed_mod()
    assert planned(roots.known_roots(bpy.context.scene)) == ([], False)


def test_the_dialog_lists_what_is_written_and_what_stays(addon, folders) -> None:
    mod_export = importlib.import_module(f"{addon.__name__}.blender_addon.scene.mod_export")
    game, mod = folders
    root = edited_stage()
    options = mod_export.ModOptions(str(mod), str(game))
    shown = mod_export.preview_mod(bpy.context, options, lambda part: None)
    assert shown.writes == (f"{root.name}.col", f"{root.name}.rgn")
    assert [text for text in shown.stays if "CollisionSet" in text and "unedited" in text] == list(shown.stays) != []
    assert list(mod.iterdir()) == [], "a preview writes nothing"
    bpy.ops.export_scene.sylpheed_mod()
    after = mod_export.preview_mod(bpy.context, options, lambda part: None)
    assert after.writes == () and f'"{root.name}" is in the mod folder already' in after.stays


def test_a_blend_keeps_to_the_mod_folder_that_it_was_exported_to(interface, folders, tmp_path: Path) -> None:
    game, usual = folders
    own = tmp_path / "second mod"
    own.mkdir()
    edited_stage()
    assert bpy.ops.export_scene.sylpheed_mod(directory=str(own)) == {"FINISHED"}
    assert interface("preferences").folders(bpy.context) == (str(game), str(own))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "second.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    assert interface("preferences").folders(bpy.context) == (str(game), str(usual))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "second.blend"))
    bpy.data.objects["asteroid_01.S14_p1_AsteroidVolume_wp"].location.x += 5
    assert bpy.ops.export_scene.sylpheed_mod() == {"FINISHED"}
    assert list(usual.iterdir()) == [] and (own / "hidden" / "MiscBin.pak").is_file()
    (own / "hidden").rename(tmp_path / "moved away")
    own.rmdir()
    assert interface("preferences").folders(bpy.context) == (str(game), str(usual))


def test_a_refused_export_fills_the_check(addon, folders) -> None:
    results = importlib.import_module(f"{addon.__name__}.blender_addon.checks.results")
    root = edited_stage()
    move(surfaces(root)["asteroid_01"], x=1e6)
    with pytest.raises(RuntimeError):
        bpy.ops.export_scene.sylpheed_mod()
    assert not results.of(root).checked.sound
