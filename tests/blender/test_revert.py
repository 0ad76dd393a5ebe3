"""Revert puts one object, or everything, back to what its file says."""

from __future__ import annotations

from pathlib import Path

import bmesh
import bpy
import pytest

from tests.blender.helpers import (
    DATA,
    MANY_ASTEROIDS,
    ONE_ASTEROID,
    edit_faces,
    export,
    import_hull,
    move,
    new_object,
    select,
    source,
    surfaces,
    tetrahedron,
)


def drag(obj: bpy.types.Object) -> None:
    obj.data.vertices[3].co.x += 900
    obj.data.update()


def turn(obj: bpy.types.Object) -> None:
    obj.rotation_euler.x, obj.scale = 0.4, (1.1, 0.9, 1.3)


def open_up(obj: bpy.types.Object) -> None:
    edit_faces(obj.data, lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[0]], context="FACES"))


def subdivide(obj: bpy.types.Object) -> None:
    edit_faces(obj.data, lambda bm: bmesh.ops.subdivide_edges(bm, edges=bm.edges[:], cuts=1))


def modify(obj: bpy.types.Object) -> None:
    obj.modifiers.new("shift", "DISPLACE").strength = 300


def rename(obj: bpy.types.Object) -> None:
    obj.name = "mine"


EDITS = (drag, turn, open_up, subdivide, modify, rename)


@pytest.mark.parametrize("change", EDITS, ids=lambda change: change.__name__)
def test_one_object_is_put_back_and_no_other(change, tmp_path: Path) -> None:
    parts = surfaces(import_hull(MANY_ASTEROIDS))
    move(parts["asteroid_02"], x=40)
    other = export(tmp_path)
    change(parts["asteroid_01"])
    select(parts["asteroid_01"])
    assert bpy.ops.sylpheed.revert() == {"FINISHED"}
    assert export(tmp_path) == other != source(MANY_ASTEROIDS)


@pytest.mark.parametrize("options", [{}, {"surfaces": "JOINED"}], ids=["separate", "joined"])
def test_the_whole_hull_is_put_back_byte_for_byte(options: dict, tmp_path: Path) -> None:
    root = import_hull(MANY_ASTEROIDS, **options)
    first = next(iter(surfaces(root).values()))
    turn(first)
    if not options:
        parts = surfaces(root)
        bpy.data.objects.remove(parts["asteroid_05"])
        drag(parts["asteroid_06"])
        parts["wall"].location.x += 3
    new_object(root, "new", *tetrahedron((15_000, 15_000, 15_000)))
    select(root)
    assert bpy.ops.sylpheed.revert(whole=True) == {"FINISHED"}
    assert export(tmp_path) == source(MANY_ASTEROIDS)
    assert len(surfaces(root)) == (1 if options else 20)


def test_rocks_joined_by_hand_are_put_back_together(tmp_path: Path) -> None:
    root = import_hull(MANY_ASTEROIDS)
    parts = surfaces(root)
    select(parts["asteroid_02"], parts["asteroid_01"])
    assert bpy.ops.object.join() == {"FINISHED"}
    drag(parts["asteroid_01"])
    select(root)
    assert bpy.ops.sylpheed.revert(whole=True) == {"FINISHED"}
    assert export(tmp_path) == source(MANY_ASTEROIDS)


def test_a_copy_is_no_second_surface(tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    copy = surfaces(root)["asteroid_01"].copy()
    copy.data = copy.data.copy()
    root.users_collection[0].objects.link(copy)
    copy.location.x += 9_000
    select(root)
    assert bpy.ops.sylpheed.revert(whole=True) == {"FINISHED"}
    assert export(tmp_path) == source(ONE_ASTEROID)


def test_a_new_object_has_nothing_to_go_back_to() -> None:
    root = import_hull(ONE_ASTEROID)
    select(new_object(root, "new", *tetrahedron((15_000, 15_000, 15_000))))
    with pytest.raises(RuntimeError, match="no source"):
        bpy.ops.sylpheed.revert()


def test_a_users_material_stays() -> None:
    rock = surfaces(import_hull(ONE_ASTEROID))["asteroid_01"]
    rock.active_material = bpy.data.materials.new("mine")
    drag(rock)
    select(rock)
    bpy.ops.sylpheed.revert()
    assert [slot.material.name for slot in rock.material_slots] == ["mine"]


@pytest.mark.parametrize("whole", [False, True])
def test_parts_of_a_set_are_put_back(whole: bool, tmp_path: Path) -> None:
    path = DATA / "CollisionSet_small.bin"
    bpy.ops.import_scene.sylpheed_set(filepath=str(path))
    root = next(obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "set")
    part = next(obj for obj in root.children if len(obj.data.polygons) > 20)
    part.location.x, part.name = 70, "renamed"
    drag(part)
    if whole:
        bpy.data.objects.remove(next(obj for obj in root.children if obj != part))
        bpy.context.view_layer.update()
    select(part)
    assert bpy.ops.sylpheed.revert(whole=whole) == {"FINISHED"}
    assert bpy.ops.export_scene.sylpheed_set(filepath=str(tmp_path / "a.bin")) == {"FINISHED"}
    assert (tmp_path / "a.bin").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("whole", [False, True])
def test_one_undo_brings_the_edit_back(whole: bool, tmp_path: Path) -> None:
    root = import_hull(MANY_ASTEROIDS)
    rock = surfaces(root)["asteroid_01"]
    name = rock.name
    drag(rock)
    select(rock)
    edited = export(tmp_path)
    bpy.ops.ed.undo_push(message="edited")
    assert bpy.ops.sylpheed.revert("EXEC_DEFAULT", True, whole=whole) == {"FINISHED"}
    assert export(tmp_path) == source(MANY_ASTEROIDS)
    bpy.ops.ed.undo()
    select(bpy.data.objects[name])
    assert export(tmp_path) == edited
