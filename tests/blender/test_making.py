"""Asteroids, new hulls and fitted grids: good in the exported file, and one undo step each."""

from __future__ import annotations

import re
from pathlib import Path

import bpy
import numpy as np
import pytest

from core.errors import Severity
from core.formats import mcol
from core.inspect.check_hull import check_hull
from core.inspect.checks import findings
from tests.blender.helpers import (
    MANY_ASTEROIDS,
    NO_WALL,
    ONE_ASTEROID,
    coordinates,
    export,
    geometry,
    import_hull,
    move,
    refusal,
    roots,
    select,
    source,
    surfaces,
    volume,
)


def sound(data: bytes) -> mcol.Hull:
    """The hull of exported bytes, which has no fault that matters."""
    hull = mcol.decode(data)
    assert [str(f) for f in findings(check_hull(hull)) if f.severity is not Severity.INFO] == []
    return hull


def carried(root: bpy.types.Object) -> mcol.Hull:
    return mcol.decode(bytes(root["sylpheed_source"]))


def carried_bytes(root: bpy.types.Object) -> bytes:
    return bytes(root["sylpheed_source"])


def refused(operator, **options: object) -> str:
    with pytest.raises(RuntimeError) as caught:
        operator("EXEC_DEFAULT", **options)
    assert "Traceback" not in str(caught.value)
    return str(caught.value)


# --- asteroids ------------------------------------------------------------------------------------


def add(**options: object) -> bpy.types.Object:
    before = set(bpy.data.objects)
    assert bpy.ops.sylpheed.add_asteroid(**options) == {"FINISHED"}
    (obj,) = set(bpy.data.objects) - before
    return obj


def test_an_asteroid_becomes_part_of_the_hull(tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    obj = add(seed=4, size=3_000, roughness=0.7, triangles=120, location=(15_000, 15_000, -15_000))
    assert obj.parent == root and obj.name == f"asteroid_02.{root['sylpheed_stem']}"
    assert len(obj.data.polygons) == 120
    assert volume(*geometry(obj.data)) > 0
    hull = sound(export(tmp_path))
    assert len(hull.triangles) == len(mcol.decode(source(ONE_ASTEROID)).triangles) + 120
    new = hull.vertices[len(mcol.decode(source(ONE_ASTEROID)).vertices) :]
    assert np.linalg.norm(new - [15_000, 15_000, -15_000], axis=1).max() == pytest.approx(1_500, rel=1e-4)


def test_a_wall_is_wire_that_a_click_goes_through() -> None:
    bpy.ops.sylpheed.new_hull(name="x")
    (root,) = roots()
    wall = surfaces(root)["wall"]
    assert wall.display_type == "WIRE" and wall.hide_select
    wall.display_type = "TEXTURED"
    assert add().display_type == surfaces(root)["wall"].display_type == "TEXTURED", "the user's choice stays"


def test_without_a_location_it_comes_to_the_3d_cursor() -> None:
    root = import_hull(ONE_ASTEROID)
    bpy.context.scene.cursor.location = (5.0, -7.0, 9.0)
    obj = add(size=2_000)
    bpy.context.view_layer.update()
    assert obj.matrix_world.translation[:] == pytest.approx((5.0, -7.0, 9.0), abs=1e-4)
    assert obj.location[:] == pytest.approx((5_000, 9_000, 7_000), abs=0.1), "in the file's axes"
    assert root.scale[0] == pytest.approx(0.001)


def test_it_is_selected_and_named_by_the_first_free_number() -> None:
    import_hull(MANY_ASTEROIDS)
    first, second = add(), add(seed=2)
    assert bpy.context.selected_objects == [second] and bpy.context.object == second
    assert [obj.name.partition(".")[0] for obj in (first, second)] == ["asteroid_20", "asteroid_21"]


def test_the_same_seed_is_the_same_rock() -> None:
    import_hull(ONE_ASTEROID)
    one, same, other = add(seed=3), add(seed=3), add(seed=4)
    assert np.array_equal(coordinates(one.data), coordinates(same.data))
    assert not np.array_equal(coordinates(one.data), coordinates(other.data))


def test_it_goes_to_the_hull_of_the_active_object() -> None:
    first, second = import_hull(ONE_ASTEROID), import_hull(MANY_ASTEROIDS)
    select(surfaces(first)["wall"])
    assert add().parent == first
    select(second)
    assert add().parent == second


def test_without_a_hull_there_is_nothing_to_add_to() -> None:
    assert not bpy.ops.sylpheed.add_asteroid.poll()
    assert not bpy.ops.sylpheed.fit_grid.poll()
    assert bpy.ops.sylpheed.new_hull.poll()


def test_in_edit_mode_the_edit_goes_on() -> None:
    root = import_hull(ONE_ASTEROID)
    select(surfaces(root)["asteroid_01"])
    bpy.ops.object.mode_set(mode="EDIT")
    assert add().parent == root
    assert bpy.context.mode == "EDIT_MESH" and bpy.context.object == surfaces(root)["asteroid_01"]
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("place", [(float("nan"), 0, 0), (0, float("inf"), 0), (0, 0, -3e38), (1e13, 0, 0)], ids=str)
def test_a_place_that_is_none_is_refused(place: tuple) -> None:
    root = import_hull(ONE_ASTEROID)
    before = set(bpy.data.objects), set(bpy.data.meshes)
    assert "the asteroid can't be there" in refused(bpy.ops.sylpheed.add_asteroid, location=place)
    assert (set(bpy.data.objects), set(bpy.data.meshes)) == before and source(ONE_ASTEROID) == carried_bytes(root)


def test_a_size_beyond_all_maps_is_refused() -> None:
    import_hull(ONE_ASTEROID)
    assert "that size" in refused(bpy.ops.sylpheed.add_asteroid, size=1e30)


@pytest.mark.parametrize(
    ("size", "triangles", "place"),
    [(1.0, 2_000, (20_000, 20_000, 20_000)), (1.0, 500, (200_000, 200_000, -200_000)), (1.0, 80, (1e6, 0, 0))],
    ids=str,
)
def test_an_asteroid_finer_than_the_file_s_coordinates_is_refused(
    tmp_path: Path, size: float, triangles: int, place: tuple
) -> None:
    import_hull(ONE_ASTEROID)
    before = set(bpy.data.objects)
    message = refused(
        bpy.ops.sylpheed.add_asteroid, seed=3, roughness=1.0, size=size, triangles=triangles, location=place
    )
    assert f"too small there for {triangles:,} triangles" in message and "make it larger" in message
    assert set(bpy.data.objects) == before
    assert export(tmp_path) == source(ONE_ASTEROID)


def test_a_fine_asteroid_that_the_coordinates_can_hold_has_every_vertex(tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    add(location=(15_000, 15_000, -15_000), size=300.0, triangles=2_000)
    added = sound(export(tmp_path)).vertices[len(carried(root).vertices) :]
    assert len(added) == len(np.unique(added, axis=0)) == 1_002


# --- new hulls ------------------------------------------------------------------------------------


@pytest.mark.parametrize("wall", ["BOX", "NONE"])
def test_a_new_hull_exports_as_it_is_and_after_an_edit(wall: str, tmp_path: Path) -> None:
    assert bpy.ops.sylpheed.new_hull(name="S99_test", box=(60_000, 50_000, 40_000), cell_size=8_000, wall=wall) == {
        "FINISHED"
    }
    (root,) = roots()
    assert root.name == "S99_test" and root.users_collection[0].name == "S99_test"
    made = sound(export(tmp_path))
    assert made.grid.dimensions == (8, 7, 5) and bool(made.outside_solid) == (wall == "BOX")
    assert list(surfaces(root)) == ["wall" if wall == "BOX" else "asteroid_01"]
    select(root)
    obj = add(size=6_000, location=(20_000, 15_000, 10_000))
    assert obj.name == ("asteroid_01.S99_test" if wall == "BOX" else "asteroid_02.S99_test")
    assert len(sound(export(tmp_path)).triangles) == len(made.triangles) + 80
    if wall == "NONE":  # the asteroid that it began with may go now
        bpy.data.objects.remove(surfaces(root)["asteroid_01"])
        assert len(sound(export(tmp_path)).triangles) == 80


def test_a_new_hull_of_a_map_s_measures_has_its_grid() -> None:
    bpy.ops.sylpheed.new_hull(name="x", box=(100_000,) * 3, cell_size=10_000)
    grid = carried(roots()[0]).grid
    theirs = mcol.decode(source(ONE_ASTEROID)).grid
    assert grid.dimensions == theirs.dimensions == (10, 10, 10)
    assert np.array_equal(grid.minimum, theirs.minimum) and np.array_equal(grid.cell_size, theirs.cell_size)


NO_FILE_NAMES = (".", "..", ". .", "CON", "con", "nul.old", "COM1", "LPT9.col", "aux .x", "a\nb", "a\tb", "é" * 126)


@pytest.mark.parametrize("name", ["console", "COM10", "S01.v2", "コロニー", "CONIN", "a" * 59])
def test_a_name_that_only_looks_like_a_device_s_is_taken(name: str) -> None:
    assert bpy.ops.sylpheed.new_hull(name=name) == {"FINISHED"}
    assert roots()[0]["sylpheed_stem"] == name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "a/b"}, "a/b"),
        ({"name": "  "}, "name"),
        *(({"name": name}, "can't be the name of a file") for name in NO_FILE_NAMES),
        ({"box": (3e38, 3e38, 3e38), "cell_size": 1e38}, "the box can't be there"),
        ({"box": (float("nan"), 10, 10)}, "the box can't be there"),
        ({"cell_size": float("nan")}, "the box can't be there"),
        ({"box": (1e6, 1e6, 1e6), "cell_size": 100.0}, "larger cells"),
        ({"box": (1e6, 10, 10), "cell_size": 1000.0}, "larger cells"),
    ],
)
def test_a_hull_that_cannot_be_is_refused_and_leaves_nothing(options: dict, message: str) -> None:
    assert message in refused(bpy.ops.sylpheed.new_hull, **options)
    assert not bpy.data.objects and not bpy.data.meshes and not bpy.data.collections


# --- the grid -------------------------------------------------------------------------------------


def test_fit_grid_takes_what_moved_out_of_the_box(tmp_path: Path) -> None:
    root = import_hull(NO_WALL)
    rock = surfaces(root)["asteroid_01"]
    move(rock, (300_000, 0, 0))
    assert "Outside: Grow" in refusal(tmp_path)
    assert bpy.ops.sylpheed.fit_grid() == {"FINISHED"}
    grid, old = carried(root).grid, mcol.decode(source(NO_WALL)).grid
    moved = coordinates(rock.data) + np.float32([300_000, 0, 0])
    assert (grid.minimum <= moved.min(axis=0)).all() and (grid.maximum >= moved.max(axis=0)).all()
    assert (grid.maximum - grid.minimum < moved.max(axis=0) - moved.min(axis=0) + 2 * old.cell_size).all()
    assert np.array_equal(grid.cell_size, old.cell_size)
    hull = sound(export(tmp_path))
    assert np.array_equal(hull.vertices, moved)
    assert hull.grid.dimensions == grid.dimensions


def test_fit_grid_with_another_cell_size_and_room(tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    assert bpy.ops.sylpheed.fit_grid(cell_size=4_000, margin=3_000) == {"FINISHED"}
    assert export(tmp_path) == bytes(root["sylpheed_source"]), "it is an unedited hull again"
    hull = sound(export(tmp_path))
    assert hull.grid.dimensions == (27, 27, 27) and (hull.grid.maximum >= 53_000).all()
    before = mcol.decode(source(ONE_ASTEROID))
    assert np.array_equal(hull.vertices, before.vertices) and np.array_equal(hull.triangles, before.triangles)


def test_a_grid_that_fits_stays() -> None:
    root = import_hull(ONE_ASTEROID)
    assert bpy.ops.sylpheed.fit_grid() == {"CANCELLED"}
    assert bytes(root["sylpheed_source"]) == source(ONE_ASTEROID)


def test_the_cells_that_are_shown_follow() -> None:
    root = import_hull(ONE_ASTEROID, cells="OBJECTS", spheres=True)
    bpy.ops.sylpheed.fit_grid(cell_size=12_500)
    occupied = carried(root).occupied
    stem = root["sylpheed_stem"]
    for what in ("cells", "spheres"):
        assert len(bpy.data.collections[f"{stem} {what}"].objects) == len(occupied)
    assert not any(mesh.users == 0 for mesh in bpy.data.meshes)


def test_fit_grid_refuses_too_many_cells_and_changes_nothing() -> None:
    root = import_hull(ONE_ASTEROID)
    for size in (1e-38, 1e-30, 1.0):
        assert "larger cells" in refused(bpy.ops.sylpheed.fit_grid, cell_size=size)
    assert "larger cells" in refused(bpy.ops.sylpheed.fit_grid, cell_size=150.0)
    assert bytes(root["sylpheed_source"]) == source(ONE_ASTEROID)


@pytest.mark.parametrize(
    "options", [{"margin": 1e30}, {"margin": float("nan")}, {"cell_size": float("nan")}, {"cell_size": 1e38}], ids=str
)
def test_fit_grid_refuses_impossible_numbers_and_changes_nothing(options: dict) -> None:
    root = import_hull(ONE_ASTEROID)
    assert "the grid can't be there or have that size" in refused(bpy.ops.sylpheed.fit_grid, **options)
    assert carried_bytes(root) == source(ONE_ASTEROID)


def test_fit_grid_says_where_the_box_is_now_and_was(capfd: pytest.CaptureFixture) -> None:
    root = import_hull(NO_WALL)
    assert bpy.ops.sylpheed.fit_grid() == {"FINISHED"}
    capfd.readouterr()
    for obj in surfaces(root).values():
        obj.location.x += 0.25
    before = carried(root).grid
    assert bpy.ops.sylpheed.fit_grid() == {"FINISHED"}
    after, said = carried(root).grid, capfd.readouterr().out
    assert after.dimensions == before.dimensions and not np.array_equal(after.minimum, before.minimum)
    now, _, was = said.partition(", it was ")
    for part, grid in ((now, after), (was, before)):
        corners = [tuple(float(number) for number in text.replace(",", " ").split()) for text in corner_texts(part)]
        assert np.array_equal(np.float32(corners), [grid.minimum, grid.maximum])


def corner_texts(said: str) -> list[str]:
    """What a message has in brackets, with the commas within numbers taken away."""
    return [re.sub(r"(?<=\d),(?=\d)", "", text) for text in re.findall(r"\(([^)]*)\)", said)]


@pytest.mark.parametrize("how", ["linked", "override"])
def test_fit_grid_refuses_a_hull_of_another_file(how: str, tmp_path: Path) -> None:
    name, library = import_hull(ONE_ASTEROID).name, str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.collections = [name]
    scene, collection = bpy.context.scene, bpy.data.collections[name, library]
    scene.collection.children.link(collection)
    if how == "override":  # takes the linked one's place
        assert collection.override_hierarchy_create(scene, bpy.context.view_layer)
    found = [obj for obj in scene.objects if obj.get("sylpheed_kind") == "hull"]
    (root,) = (obj for obj in found if bool(obj.override_library) == (how == "override"))
    select(root)
    message = refused(bpy.ops.sylpheed.fit_grid, cell_size=7_000.0)
    assert "is linked from" in message and "library.blend" in message and "make it local" in message
    assert carried_bytes(root) == source(ONE_ASTEROID)


def test_a_hull_without_geometry_has_nothing_to_fit() -> None:
    root = import_hull(ONE_ASTEROID)
    for obj in surfaces(root).values():
        bpy.data.objects.remove(obj)
    assert "no geometry" in refused(bpy.ops.sylpheed.fit_grid)


# --- undo -----------------------------------------------------------------------------------------


def state() -> tuple:
    return sorted(obj.name for obj in bpy.data.objects), [bytes(root["sylpheed_source"]) for root in roots()]


@pytest.mark.parametrize(
    ("operator", "options"),
    [
        ("add_asteroid", {"seed": 5}),
        ("new_hull", {"name": "another"}),
        ("fit_grid", {"cell_size": 20_000}),
    ],
)
def test_each_is_one_step_to_undo_and_redo(operator: str, options: dict) -> None:
    import_hull(ONE_ASTEROID, cells="OBJECTS")
    bpy.ops.ed.undo_push(message="before")
    before = state()
    getattr(bpy.ops.sylpheed, operator)("EXEC_DEFAULT", True, **options)
    after = state()
    assert after != before
    bpy.ops.ed.undo()
    assert state() == before
    bpy.ops.ed.redo()
    assert state() == after
