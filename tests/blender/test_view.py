"""What the view layer evaluates is what the file holds; what a user only turned back and forth is unchanged."""

from __future__ import annotations

import math
from pathlib import Path

import bpy
import pytest

from tests.blender.helpers import (
    DATA,
    MANY_ASTEROIDS,
    TWO_ASTEROIDS,
    export,
    import_hull,
    refusal,
    select,
    source,
    surfaces,
)
from tests.blender.shown import assert_file_shows
from tests.oracle.reader import read_col

SET = DATA / "CollisionSet_small.bin"


def import_set(**options: object) -> bpy.types.Object:
    before = set(bpy.data.objects)
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
