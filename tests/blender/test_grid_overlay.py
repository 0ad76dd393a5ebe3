"""The grid overlay: what it would draw, the game's answers beside it, and that nothing of it stays when it is off.

Drawing itself needs a graphics card; here it is the arrays that are judged.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import bmesh
import bpy
import numpy as np
import pytest

from core.formats import mcol
from core.geometry.spheres import triangle_spheres
from tests.blender.helpers import (
    MANY_ASTEROIDS,
    ONE_ASTEROID,
    WALL_ONLY,
    coordinates,
    export,
    import_hull,
    move,
    select,
    source,
    surfaces,
)
from tests.oracle import exact
from tests.oracle import game_queries as game
from tests.oracle.readers import read_col


@pytest.fixture
def overlay(addon: ModuleType) -> Iterator[ModuleType]:
    package = importlib.import_module(f"{addon.__name__}.blender_addon.overlay")
    yield package
    package.switch.turn_off()


@pytest.fixture
def shoot_lines(addon: ModuleType):
    return importlib.import_module(f"{addon.__name__}.blender_addon.interface.shoot").lines


@pytest.fixture
def place_lines(addon: ModuleType):
    return importlib.import_module(f"{addon.__name__}.blender_addon.interface.grid_panel").place_lines


def shown(overlay: ModuleType, **settings: bool) -> dict[str, list]:
    """The layers that these settings alone ask for, by name."""
    chosen = bpy.context.window_manager.sylpheed_grid
    for name in ("cells", "rock", "cursor", "spheres"):
        setattr(chosen, name, settings.get(name, False))
    now = overlay.state.current()
    found = overlay.state.visible_layers(bpy.context, now)
    wanted = [name for name in now.layers if settings.get(name) or (name == "shot" and now.shot)]
    drawn = now.dimmed if now.refusal else now.layers
    assert sorted(map(id, found)) == sorted(id(layer) for name in wanted for layer in drawn[name])
    return {name: now.layers[name] for name in wanted}


def root_shown(overlay: ModuleType) -> bpy.types.Object | None:
    return overlay.state.root_shown(bpy.context, overlay.state.current())


def ends(overlay: ModuleType) -> list[int]:
    """The longest list of each class of cells."""
    return [last for _, last in overlay.grid_layers.LENGTHS]


def boxes(layer) -> set[tuple]:
    """Centres of boxes, rounded to whole units."""
    centres = layer.points.reshape(-1, 24 if layer.kind == "LINES" else 36, 3).astype(float)
    middle = (centres.min(axis=1) + centres.max(axis=1)) / 2
    return {tuple(np.round(point).tolist()) for point in middle}


def cells_of(data: bytes, wanted) -> set[tuple]:
    """Centres of the cells of a file for which `wanted` holds, as an independent reader sees them."""
    col = read_col(data)
    low, size = col.bbox_min[:3].astype(float), col.cell_size.astype(float)
    return {
        tuple(np.round(low + (np.array([cell.x, cell.y, cell.z]) + 0.5) * size).tolist())
        for cell in col.cells
        if wanted(cell)
    }


def counted(handlers) -> int:
    """How many of the handlers are the overlay's."""
    return sum(getattr(call, "__module__", "").endswith(".following") for call in handlers)


def registered() -> list[int]:
    after = bpy.app.handlers
    return [counted(h) for h in (after.depsgraph_update_post, after.undo_post, after.redo_post, after.load_post)]


def test_occupied_cells_are_drawn_in_the_color_of_their_length(overlay) -> None:
    import_hull(MANY_ASTEROIDS)
    bpy.ops.sylpheed.show_grid()
    (layer,) = shown(overlay, cells=True)["cells"]
    assert boxes(layer) == cells_of(source(MANY_ASTEROIDS), lambda cell: cell.lists)
    colors = layer.color.reshape(-1, 24, 4)
    assert (colors == colors[:, :1]).all(), "a box has one colour"
    assert ends(overlay) == [10, 20, 40, 80, 160, 65_535], "the check warns beyond 160"
    lengths = [sum(len(record.indices) for record in cell.lists) for cell in read_col(source(MANY_ASTEROIDS)).cells]
    lengths = [length for length in lengths if length]
    of_color = {}
    for color, length in zip(map(tuple, colors[:, 0].tolist()), lengths, strict=True):
        of_color.setdefault(color, []).append(length)
    spans = sorted((min(found), max(found)) for found in of_color.values())
    assert len(spans) > 1 and all(last < first for (_, last), (first, _) in itertools.pairwise(spans))
    classes = [next(end for end in ends(overlay) if length <= end) for length in lengths]
    assert len(set(classes)) == len(spans), "a class has one colour"


def test_the_legend_counts_every_cell(overlay) -> None:
    import_hull(MANY_ASTEROIDS)
    bpy.ops.sylpheed.show_grid()
    title, *rows = [row.text for row in overlay.state.current().cell_rows]
    assert title == "Triangles in a cell"
    cells = read_col(source(MANY_ASTEROIDS)).cells
    occupied = [cell for cell in cells if cell.lists]
    assert sum(int(text.split(": ")[1].split()[0].replace(",", "")) for text in rows) == len(occupied)
    longest = max(sum(len(record.indices) for record in cell.lists) for cell in occupied)
    assert f"–{longest}:" in rows[-1]


def test_cells_in_rock_are_drawn_when_asked(overlay) -> None:
    import_hull(ONE_ASTEROID)
    bpy.ops.sylpheed.fit_grid(cell_size=2_000, margin=4_000)
    data = bytes(bpy.data.objects["test"]["sylpheed_source"])
    bpy.ops.sylpheed.show_grid()
    (layer,) = shown(overlay, rock=True)["rock"]
    assert layer.kind == "TRIS"
    assert boxes(layer) == cells_of(data, lambda cell: cell.state == 2) != set()


def test_the_cell_under_the_cursor_is_the_game_s(overlay, place_lines) -> None:
    root = import_hull(MANY_ASTEROIDS)
    bpy.ops.sylpheed.show_grid()
    col = read_col(source(MANY_ASTEROIDS))
    rock = surfaces(root)["asteroid_03"]
    point = coordinates(rock.data)[0].astype(float) + np.array([10, 20, 30])
    bpy.context.view_layer.update()
    bpy.context.scene.cursor.location = (np.array(root.matrix_world) @ np.append(point, 1))[:3]
    fill, edges, cell = shown(overlay, cursor=True)["cursor"]
    place = overlay.state.place_at_cursor(bpy.context, overlay.state.current())
    index = tuple(game.cell_index(col, point).tolist())
    assert place.position == index and place.state == game.fill_state(col, point)
    assert place.solid == game.inside(col, point)
    assert boxes(cell) == cells_of(source(MANY_ASTEROIDS), lambda c: (c.x, c.y, c.z) == index)
    listed = [int(i) for record in col.cells[place.number].lists for i in record.indices]
    low, high = cell.points.min(axis=0), cell.points.max(axis=0)
    assert (fill.points >= low).all() and (fill.points <= high).all(), "only what lies in the cell is drawn"
    reach = [exact.overlaps(col.vertices[col.triangles[i].astype(int)], low, high) for i in listed]
    assert sum(reach) > 0 and len(fill.points) >= 3 * sum(reach) and len(edges.points) >= 6 * sum(reach)
    said = " ".join(place_lines(place))
    assert str(index) in said and "holds triangles" in said and said.endswith(f"Triangles listed: {len(listed)}")


def test_the_cell_under_the_cursor_shows_no_more_of_a_wall_than_lies_in_it(overlay) -> None:
    import_hull(WALL_ONLY)
    bpy.ops.sylpheed.show_grid()
    hull = overlay.state.current().hull
    wall = hull.vertices[hull.triangles[0].astype(int)].astype(float).mean(axis=0)
    root = root_shown(overlay)
    bpy.context.scene.cursor.location = (np.array(root.matrix_world) @ np.append(0.9999 * wall, 1))[:3]
    fill, edges, cell = shown(overlay, cursor=True)["cursor"]
    for layer in (fill, edges):
        assert (layer.points >= cell.points.min(axis=0)).all() and (layer.points <= cell.points.max(axis=0)).all()


def test_the_cursor_outside_of_the_grid(overlay, place_lines) -> None:
    import_hull(ONE_ASTEROID)
    bpy.ops.sylpheed.show_grid()
    bpy.context.scene.cursor.location = (100, 0, 0)
    assert shown(overlay, cursor=True)["cursor"] == []
    place = overlay.state.place_at_cursor(bpy.context, overlay.state.current())
    assert place_lines(place) == ["Solid here", "Outside the grid"]


def test_a_moved_root_takes_the_cursor_s_cell_along(overlay) -> None:
    root = import_hull(ONE_ASTEROID)
    bpy.ops.sylpheed.show_grid()
    before = overlay.state.place_at_cursor(bpy.context, overlay.state.current()).position
    root.location.x += 10
    bpy.context.view_layer.update()
    after = overlay.state.place_at_cursor(bpy.context, overlay.state.current()).position
    assert after == (before[0] - 1, *before[1:])


def test_spheres_of_selected_objects_and_of_faces_selected_in_edit_mode(overlay) -> None:
    root = import_hull(MANY_ASTEROIDS)
    bpy.ops.sylpheed.show_grid()
    rock = surfaces(root)["asteroid_02"]
    select(rock)
    (layer,) = shown(overlay, spheres=True)["spheres"]
    assert len(layer.points) == 192 * len(rock.data.polygons)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_mode(type="FACE")
    bpy.ops.mesh.select_all(action="DESELECT")
    bm = bmesh.from_edit_mesh(rock.data)
    bm.faces.ensure_lookup_table()
    bm.faces[3].select_set(True)
    corners = np.array([vertex.co for vertex in bm.faces[3].verts]) + np.array(rock.location)
    overlay.state.current().selection_changed = True
    (layer,) = shown(overlay, spheres=True)["spheres"]
    bpy.ops.object.mode_set(mode="OBJECT")
    x, y, z, radius = triangle_spheres(corners.astype(np.float32), np.array([[0, 1, 2]]))[0]
    distance = np.linalg.norm(layer.points.astype(float) - [x, y, z], axis=1)
    assert len(layer.points) == 192 and distance == pytest.approx(np.full(192, radius), rel=1e-4)


# --- edits ----------------------------------------------------------------------------------------


def test_it_shows_the_grid_as_it_would_be_exported(overlay, tmp_path: Path) -> None:
    root = import_hull(MANY_ASTEROIDS)
    bpy.ops.sylpheed.show_grid()
    surfaces(root)["asteroid_05"].location.x += 3_000
    bpy.ops.sylpheed.refresh_grid()
    path = tmp_path / "moved.col"
    bpy.ops.export_scene.sylpheed_col(filepath=str(path))
    assert path.read_bytes() != source(MANY_ASTEROIDS)
    (layer,) = shown(overlay, cells=True)["cells"]
    assert boxes(layer) == cells_of(path.read_bytes(), lambda cell: cell.lists)
    assert mcol.encode(overlay.state.current().hull) == path.read_bytes()


def test_a_hull_that_would_be_refused_is_shown_as_it_last_was(overlay) -> None:
    root = import_hull(ONE_ASTEROID)
    bpy.ops.sylpheed.show_grid()
    move(surfaces(root)["asteroid_01"], x=1e6)
    bpy.ops.sylpheed.refresh_grid()
    assert "reach outside the bounding box" in overlay.state.current().refusal
    (layer,) = shown(overlay, cells=True)["cells"]
    assert boxes(layer) == cells_of(source(ONE_ASTEROID), lambda cell: cell.lists)
    move(surfaces(root)["asteroid_01"], x=0)
    bpy.ops.sylpheed.refresh_grid()
    assert overlay.state.current().refusal == ""


def pending(overlay) -> bool:
    return bpy.app.timers.is_registered(overlay.following._follow)


@pytest.mark.parametrize("follow", [False, True])
def test_it_follows_edits_when_asked(overlay, follow: bool) -> None:
    root = import_hull(MANY_ASTEROIDS)
    bpy.context.window_manager.sylpheed_grid.follow = follow
    bpy.ops.sylpheed.show_grid()
    bpy.context.view_layer.update()
    assert not pending(overlay)
    surfaces(root)["asteroid_05"].location.x += 3_000
    bpy.context.view_layer.update()
    assert pending(overlay) == follow
    bpy.context.window_manager.sylpheed_grid.follow = False


def test_what_is_beside_the_hull_is_not_followed(overlay) -> None:
    import_hull(ONE_ASTEROID)
    other = bpy.data.objects.new("other", bpy.data.meshes.new("other"))
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.update()
    bpy.context.window_manager.sylpheed_grid.follow = True
    bpy.ops.sylpheed.show_grid()
    move(other, x=3)
    bpy.context.view_layer.update()
    assert not pending(overlay)
    bpy.data.objects.remove(other)
    bpy.context.window_manager.sylpheed_grid.follow = False


def test_showing_it_changes_nothing_in_the_file(overlay, tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID, cells="OBJECTS")
    rock = surfaces(root)["asteroid_01"]
    rock.modifiers.new("wave", "TRIANGULATE")

    def everything() -> list[tuple]:
        return [(kind, sorted(i.name for i in getattr(bpy.data, kind))) for kind in ("objects", "meshes", "scenes")]

    before = everything()
    bpy.ops.sylpheed.show_grid()
    shown(overlay, cells=True, rock=True, cursor=True, spheres=True)
    bpy.ops.sylpheed.shoot(start=(-20_000, 0, 0), movement=(40_000, 0, 0))
    assert everything() == before


# --- older than the last edit ---------------------------------------------------------------------


def outdated(overlay) -> bool:
    bpy.context.view_layer.update()
    return overlay.state.is_outdated(bpy.context, overlay.state.current())


def legend(overlay) -> list[str]:
    return [row.text for row in overlay.state.legend_rows(bpy.context, overlay.state.current())]


def opacity(layers: list) -> list[float]:
    return [float(np.max(layer.color[3] if isinstance(layer.color, tuple) else layer.color[:, 3])) for layer in layers]


def test_a_grid_older_than_the_last_edit_is_dimmed_and_says_so(overlay) -> None:
    root = import_hull(MANY_ASTEROIDS)
    bpy.ops.sylpheed.show_grid()
    bright = opacity(overlay.state.visible_layers(bpy.context, overlay.state.current()))
    assert not outdated(overlay) and "Older than the last edit" not in legend(overlay)
    rock = surfaces(root)["asteroid_05"]
    place = rock.location.copy()
    rock.location.x += 3_000
    assert outdated(overlay) and legend(overlay)[0] == "Older than the last edit"
    dim = opacity(overlay.state.visible_layers(bpy.context, overlay.state.current()))
    assert all(0 < after < 0.5 * before for before, after in zip(bright, dim, strict=True))
    rock.location = place
    assert not outdated(overlay), "an edit that is taken back is none"
    assert opacity(overlay.state.visible_layers(bpy.context, overlay.state.current())) == bright
    rock.location.x += 3_000
    bpy.ops.sylpheed.refresh_grid()
    assert not outdated(overlay) and "Older than the last edit" not in legend(overlay)
    assert opacity(overlay.state.visible_layers(bpy.context, overlay.state.current())) == bright


def test_a_refused_hull_is_dimmed_too(overlay) -> None:
    root = import_hull(ONE_ASTEROID)
    bpy.ops.sylpheed.show_grid()
    bright = opacity(overlay.state.visible_layers(bpy.context, overlay.state.current()))
    surfaces(root)["asteroid_01"].location.x = 1e6
    bpy.ops.sylpheed.refresh_grid()
    assert legend(overlay)[0] == "Older than the last edit"
    assert max(opacity(overlay.state.visible_layers(bpy.context, overlay.state.current()))) < max(bright) / 2


def test_looking_makes_no_grid_older(overlay, tmp_path: Path) -> None:
    root = import_hull(MANY_ASTEROIDS)
    rock = surfaces(root)["asteroid_05"]
    rock.modifiers.new("m", "TRIANGULATE")
    bpy.ops.sylpheed.show_grid()
    select(rock)
    assert not outdated(overlay)
    bpy.ops.object.mode_set(mode="EDIT")
    assert not outdated(overlay)
    bpy.ops.object.mode_set(mode="OBJECT")
    export(tmp_path)
    assert not outdated(overlay)
    rock.modifiers["m"].show_viewport = False
    assert not outdated(overlay)


def test_the_cursor_s_cell_waits_for_the_hull_as_it_is_now(overlay, addon: ModuleType) -> None:
    """Drawing must not read the hull, so a moved cursor asks for that."""
    root = import_hull(MANY_ASTEROIDS)
    bpy.ops.sylpheed.show_grid()
    now, panel = overlay.state.current(), addon.blender_addon.interface.grid_panel
    assert len(shown(overlay, cursor=True)["cursor"]) and panel.cursor_lines(bpy.context, now)[0].endswith("here")
    surfaces(root)["asteroid_05"].location.x += 3_000
    bpy.context.view_layer.update()
    assert panel.cursor_lines(bpy.context, now) == ["Older than the last edit"] and not now.refresh_wanted
    bpy.context.scene.cursor.location.x += 1
    assert overlay.state.visible_layers(bpy.context, now) == [] and now.refresh_wanted
    overlay.following._follow()
    assert not now.refresh_wanted and len(shown(overlay, cursor=True)["cursor"])
    assert panel.cursor_lines(bpy.context, now)[0].endswith("here")


def test_a_refused_hull_is_not_asked_for_again_and_again(overlay) -> None:
    root = import_hull(ONE_ASTEROID)
    bpy.ops.sylpheed.show_grid()
    surfaces(root)["asteroid_01"].location.x = 1e6
    bpy.context.view_layer.update()
    bpy.context.scene.cursor.location.x += 1
    overlay.state.visible_layers(bpy.context, overlay.state.current())
    overlay.following._follow()
    assert overlay.state.current().refusal
    overlay.state.visible_layers(bpy.context, overlay.state.current())
    assert not overlay.state.current().refresh_wanted


# --- nothing to show ------------------------------------------------------------------------------


def test_a_layer_with_nothing_to_show_says_so_and_draws_nothing(overlay) -> None:
    root = import_hull(WALL_ONLY)
    select(root)
    bpy.ops.sylpheed.show_grid()
    bpy.context.scene.cursor.location = (1e6, 0, 0)
    layers = shown(overlay, cells=True, rock=True, cursor=True, spheres=True)
    assert all(len(layer.points) for name in layers for layer in layers[name])
    empty = [name for name in layers if not layers[name]]
    assert empty == ["rock", "cursor", "spheres"]
    assert [overlay.legend.NOTES[name] for name in empty] == legend(overlay)[-3:]


def test_the_legend_names_what_is_shown(overlay) -> None:
    import_hull(ONE_ASTEROID)
    shoot_across()
    shown(overlay, rock=True)
    rows = overlay.state.legend_rows(bpy.context, overlay.state.current())
    layers = overlay.state.layers_of(bpy.context, overlay.state.current(), "shot")
    colors = {layer.color for layer in layers}
    said = {row.text: row.color for row in rows if row.color in colors}
    assert {"Cells visited", "Cells opened", "Triangles tested", "Path", "Hit triangle"} == said.keys()
    assert {color for color in colors} - set(said.values()) == {overlay.shot_layers.MISSED_PATH}


# --- shots ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("radius", [0.0, 800.0])
def test_a_shot_shows_what_the_game_would_hit(overlay, shoot_lines, radius: float) -> None:
    import_hull(MANY_ASTEROIDS)
    col = read_col(source(MANY_ASTEROIDS))
    start, movement = np.array([-24_000.0, 1_000.0, -3_000.0]), np.array([60_000.0, 2_000.0, 9_000.0])
    assert bpy.ops.sylpheed.shoot(start=start, movement=movement, radius=radius) == {"FINISHED"}
    shot = overlay.state.current().shot
    time_, triangle = game.sweep(col, start, movement, radius) if radius else game.ray(col, start, movement)
    assert shot.triangle == triangle and shot.time == pytest.approx(time_, abs=1e-6)
    said = " ".join(shoot_lines(shot))
    assert f"triangle {triangle:,}" in said and "front" in said
    points = np.concatenate([layer.points for layer in shown(overlay)["shot"]])
    corners = col.vertices[col.triangles[triangle].astype(int)]
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0]).astype(float)
    hit = np.concatenate([layer.points for layer in shown(overlay)["shot"] if layer.color == overlay.shot_layers.HIT])
    assert len(hit) and np.allclose((hit - corners[0]) @ normal / np.linalg.norm(normal), 0, atol=1)
    assert (np.abs(points - (start + time_ * movement)).max(axis=1) < 1).any()
    # Blender copies a layer's points as they lie in memory, and one triangle may lie there by columns.
    assert all(layer.points.flags.c_contiguous for layer in shown(overlay)["shot"])


def test_a_shot_at_a_wall_shows_no_more_of_it_than_is_near(overlay) -> None:
    import_hull(WALL_ONLY)
    bpy.ops.sylpheed.shoot(start=(0, 10_000, 20_000), movement=(0, 0, 300_000))
    now = overlay.state.current()
    assert now.shot.triangle is not None
    box = now.hull.grid.lower_corner(np.array([now.shot.first, np.add(now.shot.last, 1)]))
    side = now.hull.grid.cell_size.astype(float)
    for layer in shown(overlay)["shot"]:
        if layer.color in (overlay.shot_layers.TESTED, overlay.shot_layers.HIT):
            hit = layer.color == overlay.shot_layers.HIT
            low, high = (now.shot.position - side, now.shot.position + side) if hit else box
            assert (layer.points >= np.float32(low)).all() and (layer.points <= np.float32(high)).all()


def test_a_shot_that_misses_the_grid_says_so(overlay, shoot_lines) -> None:
    import_hull(ONE_ASTEROID)
    bpy.ops.sylpheed.shoot(start=(0, 0, 300_000), movement=(1, 0, 0))
    assert shoot_lines(overlay.state.current().shot) == ["Misses the grid: no cell is visited"]


def test_a_shot_to_nowhere_or_at_nothing_is_refused(overlay) -> None:
    with pytest.raises(RuntimeError, match="no hull"):
        bpy.ops.sylpheed.shoot(movement=(1, 0, 0))
    import_hull(ONE_ASTEROID)
    with pytest.raises(RuntimeError, match="nowhere"):
        bpy.ops.sylpheed.shoot()


# --- on and off -----------------------------------------------------------------------------------


def test_off_it_costs_nothing(overlay) -> None:
    import_hull(ONE_ASTEROID)
    assert registered() == [0, 0, 0, 0] and not overlay.drawing._handles
    bpy.ops.sylpheed.show_grid()
    assert registered() == [1, 1, 1, 1] and len(overlay.drawing._handles) == 2
    overlay.following.later()
    bpy.ops.sylpheed.show_grid()
    assert registered() == [0, 0, 0, 0] and not overlay.drawing._handles
    assert overlay.state.current() is None and not pending(overlay)
    assert not bpy.ops.sylpheed.refresh_grid.poll()


def test_without_a_hull_it_stays_off(overlay) -> None:
    with pytest.raises(RuntimeError, match="no hull"):
        bpy.ops.sylpheed.show_grid()
    assert overlay.state.current() is None and registered() == [0, 0, 0, 0]


def test_disabling_the_extension_takes_it_away(addon: ModuleType, overlay) -> None:
    import_hull(ONE_ASTEROID)
    bpy.ops.sylpheed.show_grid()
    overlay.following.later()
    follow, handles = overlay.following._follow, overlay.drawing._handles
    bpy.ops.preferences.addon_disable(module=addon.__name__)
    try:
        assert registered() == [0, 0, 0, 0] and not handles and not bpy.app.timers.is_registered(follow)
        assert not hasattr(bpy.types.WindowManager, "sylpheed_grid")
    finally:
        bpy.ops.preferences.addon_enable(module=addon.__name__)


def test_another_file_is_shown_in_its_turn(overlay) -> None:
    import_hull(ONE_ASTEROID)
    bpy.ops.sylpheed.show_grid()
    bpy.ops.wm.read_homefile(use_empty=True)
    assert pending(overlay)
    overlay.following._follow()
    assert (
        overlay.state.current().hull is None
        and overlay.state.visible_layers(bpy.context, overlay.state.current()) == []
    )
    import_hull(MANY_ASTEROIDS)
    bpy.ops.sylpheed.refresh_grid()
    assert mcol.encode(overlay.state.current().hull) == source(MANY_ASTEROIDS)


def test_it_is_of_the_active_object_s_hull(overlay) -> None:
    one, other = import_hull(ONE_ASTEROID), import_hull(MANY_ASTEROIDS)
    select(surfaces(one)["wall"])
    bpy.ops.sylpheed.show_grid()
    assert overlay.state.current().root == one.name
    select(other)
    bpy.ops.sylpheed.refresh_grid()
    assert overlay.state.current().root == other.name


# --- the hull that is shown goes away -------------------------------------------------------------


def shoot_across() -> None:
    assert bpy.ops.sylpheed.shoot(start=(0, 0, -100_000), movement=(0, 0, 200_000)) == {"FINISHED"}


def delete(root: bpy.types.Object) -> None:
    for obj in (*root.children, root):
        bpy.data.objects.remove(obj)


def test_a_deleted_hull_is_no_longer_shown_nor_shot_at(overlay) -> None:
    root = import_hull(ONE_ASTEROID)
    bpy.ops.sylpheed.show_grid()
    delete(root)
    now = overlay.state.current()
    assert overlay.state.root_shown(bpy.context, now) is None
    assert (
        overlay.state.visible_layers(bpy.context, now) == [] and overlay.state.place_at_cursor(bpy.context, now) is None
    )
    assert not bpy.types.SYLPHEED_PT_grid_cursor.poll(bpy.context)
    with pytest.raises(RuntimeError, match="no hull"):
        shoot_across()
    assert overlay.state.current().hull is None


@pytest.mark.parametrize("refreshed", [False, True])
def test_a_new_hull_of_the_same_name_is_shot_at(overlay, refreshed: bool) -> None:
    root = import_hull(ONE_ASTEROID)
    name = root.name
    bpy.ops.sylpheed.show_grid()
    delete(root)
    if refreshed:
        with pytest.raises(RuntimeError, match="no hull"):
            bpy.ops.sylpheed.refresh_grid()
    bpy.ops.sylpheed.new_hull(name=name, box=(20_000, 20_000, 20_000))
    new = bpy.context.object
    assert new.name == name
    shoot_across()
    assert root_shown(overlay) == new
    assert (
        overlay.state.current().hull.grid.dimensions == (2, 2, 2) and overlay.state.current().shot.triangle is not None
    )


def test_after_another_file_it_shoots_at_that_file_s_hull(overlay) -> None:
    import_hull(ONE_ASTEROID)
    bpy.ops.sylpheed.show_grid()
    bpy.ops.wm.read_homefile(use_empty=True)
    root = import_hull(MANY_ASTEROIDS)
    shoot_across()
    assert root_shown(overlay) == root


def test_it_shoots_at_the_active_object_s_hull(overlay) -> None:
    one, other = import_hull(ONE_ASTEROID), import_hull(MANY_ASTEROIDS)
    select(one)
    bpy.ops.sylpheed.show_grid()
    select(surfaces(other)["wall"])
    shoot_across()
    assert overlay.state.current().root == other.name
    bpy.context.view_layer.objects.active = None
    shoot_across()
    assert overlay.state.current().root == other.name, "where nothing is active, the one that is shown"


def test_a_shot_is_at_the_hull_as_it_is_now(overlay, tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    bpy.ops.sylpheed.show_grid()
    surfaces(root)["asteroid_01"].location.x += 3_000
    bpy.context.view_layer.update()
    shoot_across()
    assert overlay.state.current().shot is not None and not outdated(overlay)
    assert mcol.encode(overlay.state.current().hull) == export(tmp_path) != source(ONE_ASTEROID)


def test_a_linked_hull_is_told_from_its_namesake(overlay, tmp_path: Path) -> None:
    root, library = import_hull(ONE_ASTEROID), str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library, copy=True)
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.scenes = ["Scene"]
    linked = bpy.data.objects[root.name, library]
    bpy.context.scene.collection.children.link(linked.users_collection[0])
    for active in (linked, root):
        select(active)
        shoot_across()
        assert root_shown(overlay) == active


def test_the_hull_is_known_after_undo_and_renaming(overlay) -> None:
    root = import_hull(ONE_ASTEROID)
    bpy.ops.sylpheed.show_grid()
    bpy.ops.ed.undo_push(message="before")
    root.name = "renamed"
    assert root_shown(overlay) == root
    bpy.ops.ed.undo_push(message="renamed")
    bpy.ops.ed.undo()
    assert root_shown(overlay) == bpy.data.objects[Path(ONE_ASTEROID).stem]


@pytest.mark.parametrize("wrong", [{"start": (float("nan"), 0, 0)}, {"movement": (float("inf"), 0, 0)}], ids=str)
def test_a_shot_of_impossible_numbers_is_refused(overlay, wrong: dict) -> None:
    import_hull(ONE_ASTEROID)
    with pytest.raises(RuntimeError, match="expected numbers up to"):
        bpy.ops.sylpheed.shoot(**{"start": (0, 0, 0), "movement": (1, 0, 0), **wrong})
