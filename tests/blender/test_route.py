"""The way of a computer-flown ship in Blender: where the volume comes from, and what is drawn and reported."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import bpy
import numpy as np
import pytest

from core.formats import mcol, regn, regn_contents
from core.game.archive import open_archive
from core.game.archive_write import write_archive
from core.navigation.build import build
from core.navigation.patch import patch
from core.runtime.route import find_route
from tests.blender.helpers import (
    DATA,
    MANY_ASTEROIDS,
    ONE_ASTEROID,
    export,
    import_hull,
    move,
    select,
    source,
    surfaces,
)
from tests.oracle import game_queries as game
from tests.oracle.readers import read_col
from tests.support.game_folder import make_game
from tests.support.navigation_file import make_navigation

START, GOAL = (-30_000.0, 100.0, 200.0), (30_000.0, -300.0, 400.0)


@pytest.fixture(scope="session")
def volume() -> bytes:
    """The volume of ONE_ASTEROID."""
    hull = mcol.decode(source(ONE_ASTEROID))
    return regn_contents.encode(build(hull), hull.grid)


@pytest.fixture
def overlay(addon: ModuleType) -> Iterator[ModuleType]:
    package = addon.blender_addon.overlay
    yield package
    package.switch.turn_off()


@pytest.fixture
def navigation(addon: ModuleType) -> ModuleType:
    return importlib.import_module(f"{addon.__name__}.blender_addon.scene.navigation")


@pytest.fixture
def root(tmp_path: Path, volume: bytes) -> bpy.types.Object:
    """A hull that was imported from a folder with its volume."""
    shutil.copy(DATA / ONE_ASTEROID, tmp_path / ONE_ASTEROID)
    (tmp_path / ONE_ASTEROID).with_suffix(".rgn").write_bytes(volume)
    return import_hull(tmp_path / ONE_ASTEROID)


def free_ends() -> tuple[np.ndarray, np.ndarray]:
    """Two points on either side of the asteroid, on a line through its middle."""
    hull = mcol.decode(source(ONE_ASTEROID))
    rock = hull.vertices[(np.abs(hull.vertices) < hull.grid.maximum).all(axis=1)].astype(float)
    middle, away = (rock.min(axis=0) + rock.max(axis=0)) / 2, np.array([np.ptp(rock[:, 0]), 0, 0])
    return middle - away, middle + 1.2 * away


def lines(addon: ModuleType, overlay) -> list[str]:
    return addon.blender_addon.interface.route.route_lines(overlay.state.current().ways)


def assert_free(data: bytes, points: np.ndarray, radius: float) -> None:
    """The game's own sphere flies each leg."""
    col = read_col(data)
    for start, end in pairwise(points):
        assert game.sweep(col, start, end - start, radius) is None


def test_an_unedited_hull_has_one_way(root, overlay, addon: ModuleType, volume: bytes) -> None:
    start, goal = free_ends()
    assert bpy.ops.sylpheed.route(start=start, goal=goal) == {"FINISHED"}
    ways = overlay.state.current().ways
    hull = mcol.decode(source(ONE_ASTEROID))
    expected = find_route(hull, regn_contents.decode(regn.decode(volume)), start, goal, 1.0)
    assert ways.before.found and np.allclose(ways.before.points, expected.points)
    assert np.array_equal(ways.before.points, ways.after.points) and ways.radius == 1.0
    assert len(ways.after.points) > 2, "it goes round the asteroid"
    assert_free(source(ONE_ASTEROID), ways.after.points, 1.0)
    before, after = lines(addon, overlay)
    assert before.removeprefix("Before the edit: ") == after.removeprefix("After the edit: ")


def test_a_moved_asteroid_changes_the_way(root, overlay, addon: ModuleType, volume: bytes, tmp_path: Path) -> None:
    start, goal = free_ends()
    rock = surfaces(root)["asteroid_01"]
    move(rock, y=30_000)
    assert bpy.ops.sylpheed.route(start=start, goal=goal) == {"FINISHED"}
    ways = overlay.state.current().ways
    edited = export(tmp_path)
    patched = patch(regn.decode(volume), mcol.decode(source(ONE_ASTEROID)), mcol.decode(edited))
    expected = find_route(mcol.decode(edited), regn_contents.decode(regn.decode(patched.data)), start, goal, 1.0)
    assert ways.after.found == expected.found and np.allclose(ways.after.points, expected.points)
    assert ways.after.straight and not ways.before.straight
    assert_free(edited, ways.after.points, 1.0)
    layers = overlay.state.layers_of(bpy.context, overlay.state.current(), "route")
    colors = {layer.color for layer in layers}
    assert overlay.route_layers.BEFORE in colors and overlay.route_layers.ENDS in colors
    (drawn,) = [layer.points for layer in layers if layer.color == overlay.route_layers.BEFORE]
    assert np.allclose(drawn[0], start, atol=0.1) and np.allclose(drawn[-1], goal, atol=0.1)
    assert len(drawn) == 2 * (len(ways.before.points) - 1)


def test_a_refused_step_is_drawn_and_says_why(root, overlay, addon: ModuleType) -> None:
    start, goal = free_ends()
    bpy.ops.sylpheed.route(start=start, goal=goal, radius=20_000)
    now = overlay.state.current()
    assert not now.ways.after.found and now.ways.after.refused.step is not None
    assert "no way" in lines(addon, overlay)[1] and "needs a clearance of 20000" in lines(addon, overlay)[1]
    layers = overlay.state.layers_of(bpy.context, now, "route")
    refused = [layer for layer in layers if layer.color == overlay.route_layers.REFUSED]
    assert np.allclose(refused[0].points[-2:], now.ways.after.refused.step, atol=0.1)
    assert "Refused step" in [row.text for row in overlay.state.legend_rows(bpy.context, now)]


def test_a_route_into_rock_is_none(root, overlay, addon: ModuleType) -> None:
    start, _ = free_ends()
    rock = surfaces(root)["asteroid_01"]
    select(rock)
    bpy.context.scene.cursor.location = (np.array(root.matrix_world) @ np.append(start, 1))[:3]
    assert bpy.ops.sylpheed.route_to_active() == {"FINISHED"}
    now = overlay.state.current()
    assert np.allclose(now.ways.start, start, rtol=1e-4) and np.allclose(now.ways.goal, rock.location, rtol=1e-4)
    assert "no way, the goal lies in" in lines(addon, overlay)[0]


def test_the_root_is_no_goal(root, overlay) -> None:
    select(root)
    with pytest.raises(RuntimeError, match="the root is no goal"):
        bpy.ops.sylpheed.route_to_active()


def test_a_new_edit_dims_the_way_and_a_refresh_takes_it_away(root, overlay) -> None:
    start, goal = free_ends()
    bpy.ops.sylpheed.route(start=start, goal=goal)
    move(surfaces(root)["asteroid_01"], x=100)
    bpy.context.view_layer.update()
    assert overlay.state.is_outdated(bpy.context, overlay.state.current())
    bpy.ops.sylpheed.refresh_grid()
    assert overlay.state.current().ways is None


# --- where the volume comes from ------------------------------------------------------------------


def test_without_a_volume_it_says_where_one_is_expected(overlay, tmp_path: Path) -> None:
    shutil.copy(DATA / ONE_ASTEROID, tmp_path / ONE_ASTEROID)
    import_hull(tmp_path / ONE_ASTEROID)
    with pytest.raises(RuntimeError, match=r"has no navigation volume, expected .*test\.rgn"):
        bpy.ops.sylpheed.route(start=START, goal=GOAL)


def test_a_new_hull_has_no_volume(overlay) -> None:
    bpy.ops.sylpheed.new_hull(name="new", box=(20_000, 20_000, 20_000))
    with pytest.raises(RuntimeError, match="isn't known"):
        bpy.ops.sylpheed.route(start=START, goal=GOAL)


def test_the_volume_of_another_hull_is_refused(overlay, tmp_path: Path) -> None:
    shutil.copy(DATA / ONE_ASTEROID, tmp_path / ONE_ASTEROID)
    other = mcol.decode(source(MANY_ASTEROIDS))
    (tmp_path / ONE_ASTEROID).with_suffix(".rgn").write_bytes(make_navigation(other.grid))
    import_hull(tmp_path / ONE_ASTEROID)
    with pytest.raises(RuntimeError, match="doesn't fit the hull"):
        bpy.ops.sylpheed.route(start=START, goal=GOAL)


def test_a_damaged_volume_is_refused(overlay, tmp_path: Path) -> None:
    shutil.copy(DATA / ONE_ASTEROID, tmp_path / ONE_ASTEROID)
    (tmp_path / ONE_ASTEROID).with_suffix(".rgn").write_bytes(b"REGN" + bytes(40))
    import_hull(tmp_path / ONE_ASTEROID)
    with pytest.raises(RuntimeError, match=r"test\.rgn"):
        bpy.ops.sylpheed.route(start=START, goal=GOAL)


def test_a_fitted_grid_is_patched_from_the_imported_hull(root, overlay, navigation) -> None:
    assert bpy.ops.sylpheed.fit_grid(cell_size=5_000) == {"FINISHED"}
    found = navigation.find_navigation(root)
    assert mcol.encode(found.hull) == source(ONE_ASTEROID)
    start, goal = free_ends()
    assert bpy.ops.sylpheed.route(start=start, goal=goal) == {"FINISHED"}


def test_of_mod_and_game_the_one_that_holds_the_imported_hull(navigation, tmp_path: Path) -> None:
    game, mod = make_game(tmp_path / "game"), tmp_path / "mod"
    (mod / "hidden").mkdir(parents=True)
    bpy.ops.import_scene.sylpheed_stage(directory=str(game), stage="S14", phase="Phase_1", parts="NONE")
    root = bpy.data.objects["S14_p1_AsteroidVolume_wp"]
    names = {0: ""}
    archive = open_archive(game / "hidden/MiscBin.pak", names)
    col, rgn = "S14_p1_AsteroidVolume_wp.col", "S14_p1_AsteroidVolume_wp.rgn"
    stored = archive.read(archive.find(rgn))
    write_archive(archive, {col: source("S14_p2_AsteroidVolume_wp.col")}, mod / "hidden")
    found = navigation.find_navigation(root, str(mod))
    assert regn.encode(found.navigation) == stored and str(game) in found.place
    (mod / "hidden/MiscBin.pak").unlink()
    for part in (mod / "hidden").iterdir():
        part.unlink()
    write_archive(archive, {rgn: stored[:-1] + b"\1"}, mod / "hidden")
    found = navigation.find_navigation(root, str(mod))
    assert str(mod) in found.place and regn.encode(found.navigation) == stored[:-1] + b"\1"


def test_an_unedited_hull_leaves_the_volume_as_it_is(root, navigation, volume: bytes) -> None:
    found = navigation.find_navigation(root)
    assert navigation.patch_for(found, found.hull).data == volume
