"""What the view layer evaluates is what the file holds; what a user only turned back and forth is unchanged."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import bmesh
import bpy
import numpy as np
import pytest

from tests.blender.helpers import (
    DATA,
    MANY_ASTEROIDS,
    ONE_ASTEROID,
    TWO_ASTEROIDS,
    WALL_ONLY,
    coordinates,
    export,
    import_hull,
    judged,
    move,
    refusal,
    select,
    source,
    surfaces,
)
from tests.blender.shown import assert_file_shows
from tests.oracle.readers import read_col

SET = DATA / "CollisionSet_small.bin"


def import_set(**options: object) -> bpy.types.Object:
    before = set(bpy.data.objects)
    options = {"layout_parts": "FILE", **options}
    assert bpy.ops.import_scene.sylpheed_set(filepath=str(SET), **options) == {"FINISHED"}
    (root,) = (obj for obj in set(bpy.data.objects) - before if obj.get("sylpheed_kind") == "set")
    return root


def export_set(folder: Path) -> bytes:
    path = folder / "exported.bin"
    assert bpy.ops.export_scene.sylpheed_set(filepath=str(path)) == {"FINISHED"}
    return path.read_bytes()


def set_refusal(folder: Path) -> str:
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.export_scene.sylpheed_set(filepath=str(folder / "refused.bin"))
    assert not (folder / "refused.bin").exists() and "Traceback" not in str(caught.value)
    return str(caught.value)


def assert_shown(folder: Path, root: bpy.types.Object) -> None:
    """What is exported is what the view layer shows, checked alike."""
    col = read_col(export(folder))
    assert_file_shows((col.vertices, col.triangles), root)


def link(obj: bpy.types.Object, hidden: str = "") -> bpy.types.Object:
    """Puts a new object into the scene, perhaps where the view layer doesn't evaluate it."""
    bpy.context.scene.collection.objects.link(obj)
    hide(obj, hidden)
    return obj


def hide(obj: bpy.types.Object, how: str) -> None:
    if how == "monitor":
        obj.hide_viewport = True
    elif how == "eye":
        obj.hide_set(True)
    elif how:
        collection = bpy.data.collections.new(how)
        bpy.context.scene.collection.children.link(collection)
        for owner in list(obj.users_collection):
            owner.objects.unlink(obj)
        collection.objects.link(obj)
        if how == "excluded":
            bpy.context.view_layer.layer_collection.children[collection.name].exclude = True
        else:
            collection.hide_viewport = True


HIDING = ["", "eye", "monitor", "excluded", "disabled collection"]


# --- transforms that were applied -----------------------------------------------------------------

APPLY = {
    "all": {"location": True, "rotation": True, "scale": True},
    "scale": {"location": False, "rotation": False, "scale": True},
    "rotation": {"location": False, "rotation": True, "scale": False},
}


def apply(objects: list[bpy.types.Object], what: str) -> None:
    select(*objects)
    assert bpy.ops.object.transform_apply(**APPLY[what]) == {"FINISHED"}


@pytest.mark.parametrize("what", APPLY)
@pytest.mark.parametrize("chosen", ["root and surfaces", "root"])
@pytest.mark.parametrize("options", [{}, {"surfaces": "JOINED"}, {"mirror": True}, {"scale": 0.01}], ids=str)
def test_applying_the_roots_transform_is_refused(what: str, chosen: str, options: dict, tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS, **options)
    apply([root] if chosen == "root" else [*surfaces(root).values(), root], what)
    message = refusal(tmp_path)
    assert root.name in message and "applied" in message and "undo" in message
    assert bpy.ops.sylpheed.check() == {"FINISHED"}


@pytest.mark.parametrize("what", APPLY)
def test_applying_the_surfaces_own_transform_changes_nothing(what: str, tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS)
    apply(list(surfaces(root).values()), what)
    assert export(tmp_path) == source(TWO_ASTEROIDS)


def test_applying_the_location_of_a_root_where_it_was_imported_changes_nothing(tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS)
    select(*surfaces(root).values(), root)
    bpy.ops.object.transform_apply(location=True, rotation=False, scale=False)
    assert export(tmp_path) == source(TWO_ASTEROIDS)


def test_an_applied_transform_is_refused_after_an_edit_and_a_scale_by_hand(tmp_path: Path) -> None:
    root = import_hull(MANY_ASTEROIDS)
    parts = surfaces(root)
    apply([*parts.values(), root], "all")
    parts["asteroid_01"].location.x += 2
    parts["asteroid_02"].scale *= 2
    parts["asteroid_03"].data.vertices[0].co.x += 0.5
    assert "applied" in refusal(tmp_path)
    root.scale = (0.001, 0.001, 0.001)
    root.rotation_euler.x = math.pi / 2
    assert "applied" in refusal(tmp_path)


def test_after_a_turn_by_hand_an_applied_transform_is_refused_too(tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS)
    root.rotation_euler.z, root.location.x = 0.4, 7
    bpy.context.view_layer.update()
    apply([*surfaces(root).values(), root], "all")
    assert "applied" in refusal(tmp_path)


@pytest.mark.parametrize("what", APPLY)
@pytest.mark.parametrize("chosen", ["root and parts", "root"])
def test_applying_a_sets_transform_is_refused(what: str, chosen: str, tmp_path: Path) -> None:
    root = import_set()
    apply([root] if chosen == "root" else [*root.children_recursive, root], what)
    message = set_refusal(tmp_path)
    assert root.name in message and "applied" in message and "undo" in message


@pytest.mark.parametrize("chosen", ["root and surfaces", "root"])
@pytest.mark.parametrize("what", APPLY)
def test_what_the_refusal_advises_leads_back(chosen: str, what: str, tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS)
    parts = surfaces(root)
    apply([root] if chosen == "root" else [*parts.values(), root], what)
    message = refusal(tmp_path)
    assert "Keep Transform" in message and "(0.001, 0.001, 0.001)" in message and "(90°, 0°, 0°)" in message
    select(*parts.values())
    bpy.ops.object.parent_clear(type="CLEAR_KEEP_TRANSFORM")
    root.scale, root.rotation_euler = (0.001, 0.001, 0.001), (math.radians(90), 0, 0)
    bpy.context.view_layer.update()
    select(*parts.values(), root)
    bpy.ops.object.parent_set(type="OBJECT", keep_transform=True)
    assert export(tmp_path) == source(TWO_ASTEROIDS)


def test_all_surfaces_turned_or_scaled_by_hand_are_an_edit(tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS)
    for obj in surfaces(root).values():
        obj.rotation_euler.x = math.pi / 2
    assert_shown(tmp_path, root)
    for obj in surfaces(root).values():
        obj.scale = (0.5, 0.5, 0.5)
    assert_shown(tmp_path, root)
    root.scale, root.rotation_euler = (0.002, 0.003, 0.004), (1, 2, 3)
    assert_shown(tmp_path, root)


# --- rounding -------------------------------------------------------------------------------------

TWIST = 2 * math.pi


def clear_and_set(obj: bpy.types.Object, root: bpy.types.Object) -> None:
    select(obj)
    bpy.ops.object.parent_clear(type="CLEAR_KEEP_TRANSFORM")
    select(obj, root)
    bpy.ops.object.parent_set(type="OBJECT", keep_transform=True)


def turn_fully(obj: bpy.types.Object, root: bpy.types.Object) -> None:
    for axis in range(3):
        obj.rotation_euler[axis] += TWIST


def turn_in_quarters(obj: bpy.types.Object, root: bpy.types.Object) -> None:
    select(obj)
    for _ in range(4):
        bpy.ops.transform.rotate(value=math.pi / 2, orient_axis="Z")


def turn_and_apply(obj: bpy.types.Object, root: bpy.types.Object) -> None:
    turn_fully(obj, root)
    apply([obj], "rotation")


def set_origin(obj: bpy.types.Object, root: bpy.types.Object) -> None:
    select(obj)
    bpy.ops.object.origin_set(type="ORIGIN_GEOMETRY")


def set_origin_and_apply(obj: bpy.types.Object, root: bpy.types.Object) -> None:
    set_origin(obj, root)
    select(obj)
    bpy.ops.object.transform_apply(location=True, rotation=True, scale=True)


def move_there_and_back(obj: bpy.types.Object, root: bpy.types.Object) -> None:
    select(obj)
    bpy.ops.transform.translate(value=(1.1, 2.2, 3.3))
    bpy.ops.object.transform_apply(location=True, rotation=False, scale=False)
    bpy.ops.transform.translate(value=(-1.1, -2.2, -3.3))


BACK = [
    clear_and_set, turn_fully, turn_in_quarters, turn_and_apply, set_origin, set_origin_and_apply, move_there_and_back
]  # fmt: skip


@pytest.mark.parametrize("change", BACK)
@pytest.mark.parametrize("name", [ONE_ASTEROID, MANY_ASTEROIDS, WALL_ONLY])
def test_what_leads_back_changes_nothing(change, name: str, tmp_path: Path) -> None:
    root = import_hull(name)
    root.location, root.rotation_euler.z = (3, -40, 500), 0.7
    bpy.context.view_layer.update()
    for obj in surfaces(root).values():
        change(obj, root)
    assert export(tmp_path) == source(name)
    assert bpy.ops.sylpheed.check() == {"FINISHED"}


@pytest.mark.parametrize("change", BACK)
def test_what_leads_back_changes_nothing_of_a_joined_hull(change, tmp_path: Path) -> None:
    root = import_hull(MANY_ASTEROIDS, surfaces="JOINED")
    change(surfaces(root)["hull"], root)
    assert export(tmp_path) == source(MANY_ASTEROIDS)


@pytest.mark.parametrize("change", BACK)
def test_what_leads_back_changes_no_part_of_a_set(change, tmp_path: Path) -> None:
    root = import_set()
    for obj in root.children_recursive:
        if obj.type == "MESH" and len(obj.data.polygons):
            change(obj, root)
    assert export_set(tmp_path) == SET.read_bytes()


@pytest.mark.parametrize("angle", [math.pi / 2, math.pi, -math.pi / 2])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_wall_turned_onto_itself_stays_in_the_box(angle: float, axis: int, tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    surfaces(root)["wall"].rotation_euler[axis] = angle
    assert_shown(tmp_path, root)


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("change", [set_origin, clear_and_set, turn_fully])
def test_a_rock_split_in_two_stays_one_surface(change, moved: bool, tmp_path: Path) -> None:
    root = import_hull(MANY_ASTEROIDS)
    rock = surfaces(root)["asteroid_01"]
    select(rock)
    for polygon in rock.data.polygons:
        polygon.select = polygon.center.x > rock.data.vertices[0].co.x
    for vertex in rock.data.vertices:
        vertex.select = False
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_mode(type="FACE")
    assert bpy.ops.mesh.separate(type="SELECTED") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    halves = [obj for obj in bpy.context.selected_objects if obj.type == "MESH"]
    assert len(halves) == 2
    if moved:
        for half in halves:
            move(half, (100.3, 200.7, -50.1))
        bpy.context.view_layer.update()
    for half in halves:
        change(half, root)
    data = export(tmp_path)
    if not moved:
        assert data == source(MANY_ASTEROIDS)
    col, before = judged(data), read_col(source(MANY_ASTEROIDS))
    assert (col.nv, col.nt) == (before.nv, before.nt)
    assert_file_shows((col.vertices, col.triangles), root)


def test_a_small_move_of_a_whole_rock_is_kept(tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    rock = surfaces(root)["asteroid_01"]
    before, start = coordinates(rock.data), np.array(rock.location, float)
    move(rock, x=0.01)
    col = read_col(export(tmp_path))
    by = np.array(rock.location, float) - start
    expected = np.add(before, by, dtype=float).astype(np.float32)
    assert by[0] != 0 and (expected[:, 0] != before[:, 0]).any()
    assert set(map(tuple, expected.tolist())) <= set(map(tuple, col.vertices.tolist()))


# --- faces filled by hand -------------------------------------------------------------------------


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("number", [0, 5, 40])
@pytest.mark.parametrize("name", [ONE_ASTEROID, MANY_ASTEROIDS, WALL_ONLY])
def test_a_face_deleted_and_filled_by_hand_is_the_same_face(
    name: str, number: int, joined: bool, tmp_path: Path
) -> None:
    root = import_hull(name, surfaces="JOINED" if joined else "SEPARATE")
    obj = max(surfaces(root).values(), key=lambda obj: len(obj.data.polygons))
    fill_again(obj, number % len(obj.data.polygons))
    assert export(tmp_path) == source(name)


def test_a_part_with_a_face_filled_by_hand_is_the_same_part(tmp_path: Path) -> None:
    root = import_set()
    part = next(obj for obj in root.children_recursive if obj.type == "MESH" and is_closed(obj.data))
    fill_again(part, 0)
    assert export_set(tmp_path) == SET.read_bytes()


def is_closed(mesh: bpy.types.Mesh) -> bool:
    counts = Counter(key for face in mesh.polygons for key in face.edge_keys)
    return len(mesh.polygons) > 4 and set(counts.values()) == {2}


def fill_again(obj: bpy.types.Object, number: int) -> None:
    """Deletes a face in edit mode and fills the hole with F."""
    select(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_mode(type="FACE")
    bpy.ops.mesh.select_all(action="DESELECT")
    mesh = bmesh.from_edit_mesh(obj.data)
    mesh.faces.ensure_lookup_table()
    edges = list(mesh.faces[number].edges)
    mesh.faces[number].select_set(True)
    bmesh.update_edit_mesh(obj.data)
    bpy.ops.mesh.delete(type="ONLY_FACE")
    bpy.ops.mesh.select_mode(type="EDGE")
    mesh = bmesh.from_edit_mesh(obj.data)
    for edge in edges:
        edge.select_set(True)
    bmesh.update_edit_mesh(obj.data)
    assert bpy.ops.mesh.edge_face_add() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
