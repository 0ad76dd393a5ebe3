"""Collision sets to look at: rows that only show, names to tick, and parts as assets that are dropped into a hull."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from tests.blender.helpers import DATA, ONE_ASTEROID, export, import_hull, judged, select, source
from tests.oracle.readers import read_set

SMALL = DATA / "CollisionSet_small.bin"


def load(**options: object) -> bpy.types.Object:
    before = set(bpy.data.objects)
    assert bpy.ops.import_scene.sylpheed_set(filepath=str(SMALL), **options) == {"FINISHED"}
    (root,) = [obj for obj in set(bpy.data.objects) - before if obj.get("sylpheed_kind") == "set"]
    bpy.context.view_layer.update()
    return root


def save(folder: Path) -> bytes:
    path = folder / "exported.bin"
    assert bpy.ops.export_scene.sylpheed_set(filepath=str(path)) == {"FINISHED"}
    return path.read_bytes()


def boxes(root: bpy.types.Object) -> list[tuple[np.ndarray, np.ndarray]]:
    """The box of each part as the views show it."""
    found = []
    for obj in root.children:
        corners = np.array([obj.matrix_world @ vertex.co for vertex in obj.data.vertices])
        found.append((corners.min(axis=0), corners.max(axis=0)))
    return found


def part_of(data: bytes, name: str) -> np.ndarray:
    return next(np.array(part.vertices) for part in read_set(data) if part.name == name)


@pytest.mark.parametrize("up", ["Y", "Z"])
def test_rows_keep_parts_apart_and_stand_on_one_level(up: str) -> None:
    root = load(up=up)
    shown = boxes(root)
    for number, (low, high) in enumerate(shown):
        for other_low, other_high in shown[:number]:
            assert (low[:2] >= other_high[:2]).any() or (high[:2] <= other_low[:2]).any()
    levels = [low[2] for low, _ in shown]
    assert np.ptp(levels) < 1e-4
    assert all(obj.location.length == 0 for obj in root.children)


def test_a_family_has_rows_of_its_own(addon: ModuleType) -> None:
    set_layout = importlib.import_module(f"{addon.__name__}.blender_addon.scene.set_layout")
    low, high = np.zeros((6, 3)), np.ones((6, 3))
    families = [("rou",), ("mob",), ("rou",), ("mob",), ("rou",), ("rob",)]
    shelves = set_layout.row_shelves(low, high, families, 1)
    rows = {
        family: {shelf[2] for shelf, own in zip(shelves, families, strict=True) if own == family} for family in families
    }
    assert not (rows[("rou",)] & rows[("mob",)]) and not (rows[("mob",)] & rows[("rob",)])


@pytest.mark.parametrize("layout", ["ROWS", "FILE"])
def test_an_unedited_set_is_exported_byte_for_byte(tmp_path: Path, layout: str) -> None:
    load(layout_parts=layout)
    assert save(tmp_path) == SMALL.read_bytes()
    for other in ("FILE", "ROWS", "ROWS"):
        assert bpy.ops.sylpheed.lay_out(layout_parts=other) == {"FINISHED"}
        assert save(tmp_path) == SMALL.read_bytes()


def test_a_moved_part_is_moved_by_as_much_in_any_layout(tmp_path: Path) -> None:
    root = load()
    whole = {part.name for part in read_set(SMALL.read_bytes()) if len(np.unique(part.triangles)) == len(part.vertices)}
    part = next(obj for obj in root.children if obj.name in whole)
    before = part_of(SMALL.read_bytes(), part.name)
    part.location.x += 16.0
    saved = save(tmp_path)
    assert np.array_equal(part_of(saved, part.name), (before + np.float32([16, 0, 0])).astype(np.float32))
    bpy.ops.sylpheed.lay_out(layout_parts="FILE")
    assert part.location.x == 16.0 and save(tmp_path) == saved
    others = [other for other in read_set(SMALL.read_bytes()) if other.name != part.name]
    assert [np.array(other.vertices).tobytes() for other in others] == [
        np.array(other.vertices).tobytes() for other in read_set(saved) if other.name != part.name
    ]


@pytest.mark.parametrize("way", ["apply", "origin", "unparent", "clear the inverse"])
def test_blenders_own_ways_leave_a_part_on_its_shelf_where_it_is(tmp_path: Path, way: str) -> None:
    root = load()
    part = root.children[3]
    select(part)
    world = part.matrix_world.copy()
    if way == "apply":
        bpy.ops.object.transform_apply(location=True, rotation=True, scale=True)
    elif way == "origin":
        bpy.ops.object.origin_set(type="ORIGIN_GEOMETRY")
    elif way == "unparent":
        part.parent = None
        part.matrix_world = world
        part.parent = root
        part.matrix_parent_inverse = root.matrix_world.inverted()
    else:
        part.matrix_parent_inverse = Matrix()
        part.matrix_world = world
    bpy.context.view_layer.update()
    assert np.allclose(part_of(save(tmp_path), part.name), part_of(SMALL.read_bytes(), part.name), atol=1e-2)


def test_a_check_knows_that_nothing_is_edited(addon: ModuleType) -> None:
    results = importlib.import_module(f"{addon.__name__}.blender_addon.checks.results")
    root = load()
    bpy.ops.sylpheed.check()
    assert not results.of(root).checked.changed
    bpy.ops.sylpheed.lay_out(layout_parts="FILE")
    assert not results.run(bpy.context, root).changed


def test_a_part_is_reverted_to_its_shelf(tmp_path: Path) -> None:
    root = load()
    part = root.children[3]
    world = part.matrix_world.copy()
    part.location.x += 16.0
    select(part)
    assert bpy.ops.sylpheed.revert() == {"FINISHED"}
    bpy.context.view_layer.update()
    assert part.matrix_world == world and save(tmp_path) == SMALL.read_bytes()
    bpy.data.objects.remove(part)
    assert bpy.ops.sylpheed.revert(whole=True) == {"FINISHED"}
    assert save(tmp_path) == SMALL.read_bytes()


def test_only_ticked_names_are_imported(addon: ModuleType, tmp_path: Path) -> None:
    importing = importlib.import_module(f"{addon.__name__}.blender_addon.scene.importing")
    names = [part.name for part in read_set(SMALL.read_bytes())]
    options = importing.SetOptions(names=(names[1], names[4]))
    imported = importing.import_set(bpy.context.scene, str(SMALL), options, lambda part: None)
    assert {obj.name for obj in imported.root.children} == {names[1], names[4]}
    assert save(tmp_path) == SMALL.read_bytes()


# --- assets ---------------------------------------------------------------------------------------


def assets() -> list[bpy.types.Object]:
    return [obj for obj in bpy.data.objects if obj.asset_data is not None]


def test_parts_are_marked_as_assets_and_stay_as_they_are(tmp_path: Path) -> None:
    root = load(mark_assets=True)
    assert len(assets()) == len(root.children)
    assert all(obj.parent is None and obj not in root.children_recursive for obj in assets())
    assert save(tmp_path) == SMALL.read_bytes()
    assert bpy.ops.sylpheed.mark_assets() == {"FINISHED"} and len(assets()) == len(root.children)
    assert bpy.ops.sylpheed.mark_assets(clear=True) == {"FINISHED"} and assets() == []


@pytest.mark.parametrize("scale", [0.001, 0.01])
def test_an_asset_that_is_dropped_into_a_hulls_collection_is_part_of_the_hull(
    addon: ModuleType, tmp_path: Path, scale: float
) -> None:
    dropped_assets = importlib.import_module(f"{addon.__name__}.blender_addon.interface.dropped_assets")
    load(mark_assets=True)
    chosen = max(assets(), key=lambda obj: obj.name.startswith("S") and len(obj.data.polygons) > 0)
    name, count = chosen.name, len(chosen.data.polygons)
    size = np.ptp(np.array([vertex.co for vertex in chosen.data.vertices]), axis=0)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)

    root = import_hull(ONE_ASTEROID, scale=scale)
    before = len(judged(source(ONE_ASTEROID)).triangles)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), assets_only=True) as (_, here):
        here.objects = [name]
    rock = here.objects[0]
    place = np.array([14_000.0, 15_000.0, 16_000.0])
    rock.location = root.matrix_world @ Matrix.Translation(place.tolist()).translation
    root.users_collection[0].objects.link(rock)
    bpy.context.view_layer.update()
    dropped_assets.adopt_dropped()
    bpy.context.view_layer.update()
    assert rock.parent == root and rock.asset_data is None and not rock.name.endswith("asset")
    said = importlib.import_module(f"{addon.__name__}.blender_addon.interface.last_result").last()
    assert said.title == "Add to Hull" and rock.name in said.text
    exported = judged(export(tmp_path))
    assert len(exported.triangles) == before + count
    new = np.array(exported.vertices)[len(judged(source(ONE_ASTEROID)).vertices) :]
    assert np.allclose(np.ptp(new, axis=0), size, rtol=1e-3)


def test_what_is_no_asset_or_lies_elsewhere_is_left_alone(addon: ModuleType) -> None:
    dropped_assets = importlib.import_module(f"{addon.__name__}.blender_addon.interface.dropped_assets")
    load(mark_assets=True)
    root = import_hull(ONE_ASTEROID)
    cube = bpy.data.objects.new("cube", bpy.data.meshes.new("cube"))
    root.users_collection[0].objects.link(cube)
    copy = assets()[0].copy()
    bpy.context.scene.collection.objects.link(copy)
    dropped_assets.adopt_dropped()
    assert cube.parent is None and copy.parent is None
