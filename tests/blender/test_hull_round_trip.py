"""A hull that nobody edited comes out byte for byte as it went in, whatever happened to the scene around it."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.blender.helpers import (
    DATA,
    HULLS,
    MANY_ASTEROIDS,
    ONE_ASTEROID,
    PLAIN,
    QUIRKS,
    TWO_ASTEROIDS,
    export,
    geometry,
    import_hull,
    judged,
    local_coordinates,
    move,
    roots,
    select,
    shape,
    shown_triangles,
    source,
    surfaces,
)
from tests.oracle.readers import read_col


@pytest.mark.parametrize("mode", ["SEPARATE", "JOINED"])
@pytest.mark.parametrize("name", HULLS)
def test_unedited_bytes(name: str, mode: str, tmp_path: Path) -> None:
    import_hull(name, surfaces=mode)
    assert export(tmp_path) == source(name)


@pytest.mark.parametrize("spheres", [False, True])
@pytest.mark.parametrize("name", [ONE_ASTEROID, "S05_AsteroidVolume_wp.col", "quirks/S01_firstempty_words.col"])
def test_cells_and_spheres_are_not_read_back(name: str, spheres: bool, tmp_path: Path) -> None:
    root = import_hull(name, cells="OBJECTS", spheres=spheres)
    for obj in root.children:
        if "cell_" in obj.name or "sphere_" in obj.name:
            obj.location.x += 1234.5
            obj.scale = (2, 2, 2)
    assert export(tmp_path) == source(name)


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("up", ["Y", "Z"])
@pytest.mark.parametrize("scale", [0.001, 1 / 1024, 0.0254, 1.0, 1e-6, 3.7])
def test_the_view_does_not_reach_the_file(scale: float, up: str, mirror: bool, tmp_path: Path) -> None:
    import_hull(MANY_ASTEROIDS, scale=scale, up=up, mirror=mirror)
    assert export(tmp_path) == source(MANY_ASTEROIDS)


@pytest.mark.parametrize("name", HULLS)
def test_mesh_data_are_the_files_float32_in_order(name: str) -> None:
    col = read_col(source(name), strict=False)
    root = import_hull(name, surfaces="JOINED")
    (obj,) = root.children
    origin = np.array(obj.location, float)
    assert local_coordinates(obj.data).tobytes() == (col.vertices - origin).astype(np.float32).tobytes()
    assert np.array_equal(shown_triangles(obj.data), col.triangles)
    turned = [tuple(row[:3]) for row in obj.matrix_local]
    assert turned == [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)]


@pytest.mark.parametrize("name", HULLS)
def test_separate_surfaces_are_the_whole_hull_in_closed_parts(name: str) -> None:
    col = read_col(source(name), strict=False)
    root = import_hull(name)
    parts = [geometry(obj.data) for obj in root.children]
    assert shape(*parts) == shape((col.vertices, col.triangles))
    for _, triangles in parts:
        sides = {(int(t[i]), int(t[i - 2])) for t in triangles for i in range(3)}
        assert all((b, a) in sides for a, b in sides)
    assert all(not obj.data.validate() for obj in root.children)


def with_first_vertex(data: bytes, values: tuple[float, float, float]) -> bytes:
    """The file with other coordinates for vertex 0, and all else as it was."""
    at = 16 + struct.unpack_from(">I", data, 0x54)[0]
    return data[:at] + struct.pack(">3f", *values) + data[at + 12 :]


@pytest.mark.parametrize("values", [(-0.0, 0.0, -0.0), (1e-45, -1e-39, 1e-38), (16777217.0, 0.1, 249999.98)])
def test_bits_that_arithmetic_would_lose_survive(values: tuple[float, float, float], tmp_path: Path) -> None:
    data = with_first_vertex(source(ONE_ASTEROID), values)
    (tmp_path / "odd.col").write_bytes(data)
    import_hull(tmp_path / "odd.col", scale=0.0254)
    assert export(tmp_path) == data


@pytest.mark.parametrize("name", PLAIN)
def test_rebuilding_all_keeps_the_geometry_and_makes_right_lists(name: str, tmp_path: Path) -> None:
    import_hull(name)
    col, before = judged(export(tmp_path, rebuild="ALL"), rays=60, thorough=False), read_col(source(name))
    assert col.vertices.tobytes() == before.vertices.tobytes()
    assert np.array_equal(col.triangles, before.triangles)
    assert (col.dims, col.outside) == (before.dims, before.outside)


@pytest.mark.parametrize("name", [MANY_ASTEROIDS, "mapmesh_box_500km.col", *QUIRKS])
def test_a_blend_reopened_elsewhere_needs_no_source_file(name: str, tmp_path: Path) -> None:
    copy = tmp_path / Path(name).name
    shutil.copy(DATA / name, copy)
    import_hull(copy, cells="OBJECTS")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hull.blend"), compress=name in QUIRKS)
    copy.unlink()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "hull.blend").rename(tmp_path / "elsewhere" / "other name.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "elsewhere" / "other name.blend"))
    assert export(tmp_path) == source(name)


def test_a_hull_appended_to_another_blend_exports(tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS, cells="OBJECTS")
    blend = str(tmp_path / "hull.blend")
    bpy.ops.wm.save_as_mainfile(filepath=blend)
    name = root.users_collection[0].name
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(blend) as (_, wanted):
        wanted.collections = [name]
    bpy.context.scene.collection.children.link(wanted.collections[0])
    assert export(tmp_path) == source(TWO_ASTEROIDS)


def test_a_copied_scene_exports_on_its_own(tmp_path: Path) -> None:
    import_hull(TWO_ASTEROIDS)
    bpy.ops.scene.new(type="FULL_COPY")
    assert len(roots()) == 2
    assert export(tmp_path) == source(TWO_ASTEROIDS)


@pytest.mark.parametrize("mode", ["SEPARATE", "JOINED"])
@pytest.mark.parametrize("name", [MANY_ASTEROIDS, "quirks/test_descending_multilist.col"])
def test_edit_mode_in_and_out_changes_nothing(name: str, mode: str, tmp_path: Path) -> None:
    root = import_hull(name, surfaces=mode)
    for obj in root.children:
        select(obj)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.object.mode_set(mode="OBJECT")
    assert export(tmp_path) == source(name)
    select(*root.children)
    bpy.ops.object.mode_set(mode="EDIT")
    assert export(tmp_path) == source(name)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert export(tmp_path) == source(name)


def test_an_edit_taken_back_by_hand_leaves_no_trace(tmp_path: Path) -> None:
    asteroid = surfaces(import_hull(TWO_ASTEROIDS))["asteroid_01"]
    move(asteroid, (10_000, 0, 5_000))
    assert export(tmp_path) != source(TWO_ASTEROIDS)
    move(asteroid, (0, 0, 0))
    assert export(tmp_path) == source(TWO_ASTEROIDS)


def test_undo_takes_an_import_back_and_redo_brings_it_again(tmp_path: Path) -> None:
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.import_scene.sylpheed_col("EXEC_DEFAULT", True, filepath=str(DATA / TWO_ASTEROIDS))
    assert len(roots()) == 1
    bpy.ops.ed.undo()
    assert not roots() and not bpy.context.scene.objects
    bpy.ops.ed.redo()
    assert len(roots()) == 1
    assert export(tmp_path) == source(TWO_ASTEROIDS)


def test_undo_of_an_edit_exports_the_hull_from_before(tmp_path: Path) -> None:
    import_hull(TWO_ASTEROIDS)
    bpy.ops.ed.undo_push(message="imported")
    move(surfaces(roots()[0])["asteroid_01"], x=10_000)
    bpy.ops.ed.undo_push(message="moved")
    edited = export(tmp_path)
    assert edited != source(TWO_ASTEROIDS)
    bpy.ops.ed.undo()
    assert export(tmp_path) == source(TWO_ASTEROIDS)
    bpy.ops.ed.redo()
    assert export(tmp_path) == edited
