"""Surfaces have their origins at their own centres, and the file's coordinates all the same."""

from __future__ import annotations

import math
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.blender.helpers import (
    HULLS,
    MANY_ASTEROIDS,
    ONE_ASTEROID,
    coordinates,
    export,
    import_hull,
    local_coordinates,
    select,
    set_coordinates,
    source,
    surfaces,
)
from tests.oracle.readers import read_col


@pytest.mark.parametrize("options", [{}, {"surfaces": "JOINED"}])
@pytest.mark.parametrize("name", HULLS)
def test_each_surface_turns_about_the_centre_of_its_own_box(name: str, options: dict) -> None:
    for obj in surfaces(import_hull(name, **options)).values():
        values = coordinates(obj.data)
        low, high = values.min(axis=0).astype(float), values.max(axis=0).astype(float)
        assert np.abs(np.array(obj.location) - (low + high) / 2).max() <= (high - low).max() / 1000
        assert np.abs(local_coordinates(obj.data)).max() <= (high - low).max() * 0.51


def set_origin(obj: bpy.types.Object, kind: str) -> None:
    select(obj)
    assert bpy.ops.object.origin_set(type=kind) == {"FINISHED"}


def apply(obj: bpy.types.Object, **what: bool) -> None:
    select(obj)
    options = {"location": False, "rotation": False, "scale": False} | what
    assert bpy.ops.object.transform_apply(**options) == {"FINISHED"}


LEAVES_ALL = {
    "origin to geometry": lambda obj: set_origin(obj, "ORIGIN_GEOMETRY"),
    "origin to centre of mass": lambda obj: set_origin(obj, "ORIGIN_CENTER_OF_VOLUME"),
    "origin to cursor": lambda obj: set_origin(obj, "ORIGIN_CURSOR"),
    "location applied": lambda obj: apply(obj, location=True),
    "all applied": lambda obj: apply(obj, location=True, rotation=True, scale=True),
    "data made local": lambda obj: setattr(obj, "data", obj.data.copy()),
}


@pytest.mark.parametrize("change", LEAVES_ALL)
@pytest.mark.parametrize("name", [ONE_ASTEROID, MANY_ASTEROIDS, "mapmesh_box_500km.col"])
def test_what_leaves_every_vertex_in_its_place_leaves_the_file(name: str, change: str, tmp_path: Path) -> None:
    root = import_hull(name)
    bpy.context.scene.cursor.location = (77.7, -31.3, 5.1)
    for obj in surfaces(root).values():
        LEAVES_ALL[change](obj)
    assert export(tmp_path) == source(name)


def test_joined_by_hand_it_is_the_same_hull(tmp_path: Path) -> None:
    root = import_hull(MANY_ASTEROIDS)
    select(*surfaces(root).values())
    assert bpy.ops.object.join() == {"FINISHED"}
    before, after = read_col(source(MANY_ASTEROIDS)), read_col(export(tmp_path))
    assert after.vertices.tobytes() == before.vertices.tobytes()
    assert np.array_equal(after.triangles, before.triangles)


def exported_rock(root: bpy.types.Object, tmp_path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of `asteroid_01` in the source, and those that the export wrote in their places."""
    before, after = read_col(source(ONE_ASTEROID)), read_col(export(tmp_path))
    mine = np.unique(before.triangles[np.all(np.isin(before.triangles, wall_of(before), invert=True), axis=1)])
    return before.vertices[mine].astype(float), after.vertices[mine]


def wall_of(col) -> np.ndarray:
    return np.flatnonzero((np.abs(col.vertices) == 50_000).all(axis=1))


def test_an_object_turns_and_grows_in_place_in_float64(tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    rock = surfaces(root)["asteroid_01"]
    centre = np.array(rock.location, float)
    rock.rotation_euler.z, rock.scale = math.pi / 2, (1.5, 1.5, 1.5)
    before, after = exported_rock(root, tmp_path)
    turned = (before - centre)[:, [1, 0, 2]] * (-1, 1, 1) * 1.5 + centre
    np.testing.assert_allclose(after, turned, atol=0.02)


def test_a_move_by_whole_units_is_exact(tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    surfaces(root)["asteroid_01"].location.y -= 3_000
    before, after = exported_rock(root, tmp_path)
    assert after.tobytes() == np.add(before, (0, -3_000, 0)).astype(np.float32).tobytes()


def test_one_vertex_is_dragged_and_no_other_moves(tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    rock = surfaces(root)["asteroid_01"]
    values = coordinates(rock.data)
    values[5, 1] += 0.25
    set_coordinates(rock.data, values)
    before, after = exported_rock(root, tmp_path)
    changed = np.flatnonzero((before.astype(np.float32) != after).any(axis=1))
    assert len(changed) == 1 and np.abs(after - before).max() == pytest.approx(0.25, abs=0.01)


def test_an_instance_and_a_linked_copy_have_the_files_shape(tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    rock = surfaces(root)["asteroid_01"]
    copy = rock.copy()
    root.users_collection[0].objects.link(copy)
    copy.location.x += 12_000
    before, after = read_col(source(ONE_ASTEROID)), read_col(export(tmp_path))
    new = after.vertices[before.nv :]
    wanted = np.unique(before.vertices[np.setdiff1d(np.arange(before.nv), wall_of(before))], axis=0).astype(float)
    expected = np.add(wanted, (12_000, 0, 0)).astype(np.float32)
    assert np.unique(new, axis=0).tobytes() == np.unique(expected, axis=0).tobytes()


def test_a_file_of_an_earlier_version_still_exports(tmp_path: Path) -> None:
    """Its meshes hold the file's coordinates, and their objects lie in the root's place."""
    import_hull(MANY_ASTEROIDS, centred=False)
    assert export(tmp_path) == source(MANY_ASTEROIDS)
