"""What is wrong is named by its cause, and following the advice helps."""

from __future__ import annotations

from collections.abc import Callable
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
    coordinates,
    edit_faces,
    export,
    import_hull,
    judged,
    move,
    new_object,
    refusal,
    select,
    set_coordinates,
    surfaces,
    tetrahedron,
    volume,
)
from tests.oracle.readers import read_col

SMALL = DATA / "CollisionSet_small.bin"


@pytest.fixture
def check(addon) -> Callable:
    """The problems of a root by name."""

    def run(root: bpy.types.Object) -> dict:
        assert bpy.ops.sylpheed.check() == {"FINISHED"}
        return {problem.check: problem for problem in addon.blender_addon.checks.results.of(root).checked.problems}

    return run


# --- faces without area ---------------------------------------------------------------------------


def subdivide(obj: bpy.types.Object, faces: list[int]) -> None:
    def change(bm: bmesh.types.BMesh) -> None:
        edges = list({edge for number in faces for edge in bm.faces[number].edges})
        bmesh.ops.subdivide_edges(bm, edges=edges, cuts=1, use_grid_fill=True)

    edit_faces(obj.data, change)


@pytest.mark.parametrize("name", [ONE_ASTEROID, TWO_ASTEROIDS, MANY_ASTEROIDS])
@pytest.mark.parametrize("faces", [[0], [0, 1, 2], [0, 5, 9], [2, 3, 4]])
def test_triangulating_helps_with_subdivided_faces(name: str, faces: list[int], tmp_path: Path) -> None:
    root = import_hull(name)
    rock = surfaces(root)["asteroid_01"]
    subdivide(rock, faces)
    try:
        export(tmp_path)
    except RuntimeError as error:
        assert "triangulate" in str(error) and "merge" not in str(error)
    select(rock)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.quads_convert_to_tris()
    bpy.ops.object.mode_set(mode="OBJECT")
    judged(export(tmp_path))


def test_merging_helps_with_corners_in_one_place(tmp_path: Path) -> None:
    rock = surfaces(import_hull())["asteroid_01"]
    places = coordinates(rock.data)
    a, _, c = rock.data.polygons[3].vertices
    places[c] = places[a]
    set_coordinates(rock.data, places)
    message = refusal(tmp_path)
    assert "merge vertices by distance" in message and "triangulate" not in message
    edit_faces(rock.data, lambda bm: bmesh.ops.remove_doubles(bm, verts=bm.verts[:], dist=1e-3))
    judged(export(tmp_path))


def test_turning_the_longest_edge_helps_with_a_squeezed_triangle(tmp_path: Path) -> None:
    rock = surfaces(import_hull())["asteroid_01"]
    places = coordinates(rock.data)
    a, b, c = rock.data.polygons[3].vertices
    places[c] = (places[a] + places[b]) / 2
    set_coordinates(rock.data, places)
    message = refusal(tmp_path)
    assert "flip the longest edge" in message and "merge" not in message
    edit_faces(rock.data, lambda bm: bmesh.utils.edge_rotate(bm.edges.get((bm.verts[a], bm.verts[b]))))
    export(tmp_path)


# --- the order ------------------------------------------------------------------------------------


@pytest.mark.parametrize("surfaces_as", ["SEPARATE", "JOINED"])
def test_a_rock_beyond_the_box_is_outside_and_not_inside_out(surfaces_as: str, tmp_path: Path, check) -> None:
    root = import_hull(TWO_ASTEROIDS, surfaces=surfaces_as)
    vertices, faces = tetrahedron((100_000, 0, 0))
    far = new_object(root, "far", vertices, faces)
    message = refusal(tmp_path)
    assert message.startswith("bounding box") and '"far"' in message and "flip" not in message
    found = check(root)
    assert "bounding box" in found and not {"winding", "flipped triangles"} & set(found)
    for turn in (False, True):
        col = read_col(export(tmp_path, outside="GROW", turn=turn))
        beyond = (col.vertices[col.triangles.astype(int)] > 90_000).any(axis=(1, 2))
        assert beyond.sum() == 4 and volume(col.vertices - np.float32([100_000, 0, 0]), col.triangles[beyond]) > 0
    move(far, x=-110_000)
    judged(export(tmp_path))


def test_a_torn_rock_is_open_before_it_has_too_many_vertices(tmp_path: Path, check) -> None:
    root = import_hull()
    rock = surfaces(root)["asteroid_01"]
    for obj in (rock, surfaces(root)["wall"]):
        edit_faces(obj.data, lambda bm: bmesh.ops.split_edges(bm, edges=bm.edges[:]))
        places = coordinates(obj.data)
        middles = places[[list(face.vertices) for face in obj.data.polygons]].mean(axis=1)
        for face, middle in zip(obj.data.polygons, middles, strict=True):
            places[list(face.vertices)] = middle + (places[list(face.vertices)] - middle) * 0.9
        set_coordinates(obj.data, places)
    assert refusal(tmp_path).startswith("open edges")
    assert {"open edges", "vertex count"} <= set(check(root))


# --- bodies without volume ------------------------------------------------------------------------


def flatten(obj: bpy.types.Object, factors: tuple[float, float, float]) -> None:
    """S, X, 0 in edit mode."""
    select(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    mesh = bmesh.from_edit_mesh(obj.data)
    middle = np.mean([vertex.co[:] for vertex in mesh.verts], axis=0)
    for vertex in mesh.verts:
        vertex.co = middle + (np.array(vertex.co) - middle) * factors
    bmesh.update_edit_mesh(obj.data)


QUADS = [(0, 0, 0), (900, 0, 0), (900, 700, 0), (0, 700, 0)]
BACK_TO_BACK = {
    "along one diagonal": [(0, 1, 2), (0, 2, 3), (0, 2, 1), (0, 3, 2)],
    "along both diagonals": [(0, 1, 2), (0, 2, 3), (0, 3, 1), (3, 2, 1)],
    "quads": [(0, 1, 2, 3), (0, 3, 2, 1)],
}


def warned(capfd, folder: Path) -> str:
    """What an export says, whether it is refused or not."""
    capfd.readouterr()
    try:
        export(folder)
    except RuntimeError as error:
        return str(error)
    return capfd.readouterr().out


@pytest.mark.parametrize("factors", [(0, 1, 1), (1, 0, 1), (0.5, 1, 0), (1e-9, 1, 1)])
@pytest.mark.parametrize("in_edit_mode", [True, False])
def test_a_flattened_rock_is_named_and_selected(factors, in_edit_mode: bool, tmp_path: Path, check, capfd) -> None:
    root = import_hull(TWO_ASTEROIDS)
    rock = surfaces(root)["asteroid_01"]
    rock.rotation_euler = (0.3, 0.2, 0.1)
    flatten(rock, factors)
    if not in_edit_mode:
        bpy.ops.object.mode_set(mode="OBJECT")
    said = warned(capfd, tmp_path)
    assert "no volume" in said or "zero-area" in said
    assert f'"{rock.name}"' in said
    problem = check(root)["no volume"]
    assert len(problem.elements[rock.session_uid]) == len(rock.data.polygons)
    assert bpy.ops.sylpheed.select_problem(check="no volume") == {"FINISHED"}
    assert all(face.select for face in bmesh.from_edit_mesh(rock.data).faces)


@pytest.mark.parametrize("faces", BACK_TO_BACK.values(), ids=BACK_TO_BACK)
def test_sheets_back_to_back_are_named_and_selected(faces: list, tmp_path: Path, check, capfd) -> None:
    root = import_hull()
    sheet = new_object(root, "sheet", QUADS, faces)
    said = warned(capfd, tmp_path)
    assert "no volume" in said and '"sheet"' in said
    assert set(check(root)["no volume"].elements) == {sheet.session_uid}
    assert bpy.ops.sylpheed.select_problem(check="no volume") == {"FINISHED"}
    assert bpy.context.object == sheet


def test_a_flattened_rock_of_a_joined_hull_is_selected_alone(tmp_path: Path, check) -> None:
    root = import_hull(TWO_ASTEROIDS, surfaces="JOINED")
    mesh = surfaces(root)["hull"].data
    bm = bmesh.new()
    bm.from_mesh(mesh)
    bm.faces.ensure_lookup_table()
    rock, waiting = set(), [bm.faces[len(bm.faces) - 1]]
    while waiting:
        face = waiting.pop()
        rock.add(face)
        waiting += [other for edge in face.edges for other in edge.link_faces if other not in rock]
    numbers = {face.index for face in rock}
    for vertex in {vertex for face in rock for vertex in face.verts}:
        vertex.co.z = vertex.co.x * 0.5 + vertex.co.y * 0.25
    bm.to_mesh(mesh)
    bm.free()
    (elements,) = check(root)["no volume"].elements.values()
    assert set(elements.tolist()) == numbers


def test_a_flattened_part_of_a_set_is_named(tmp_path: Path, addon, capfd) -> None:
    assert bpy.ops.import_scene.sylpheed_set(filepath=str(SMALL)) == {"FINISHED"}
    (root,) = [obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "set"]
    path = tmp_path / "out.bin"
    assert bpy.ops.sylpheed.check() == {"FINISHED"}
    assert "no volume" not in {
        problem.check for problem in addon.blender_addon.checks.results.of(root).checked.problems
    }
    part = new_object(root, "plate", QUADS, BACK_TO_BACK["along both diagonals"])
    capfd.readouterr()
    assert bpy.ops.export_scene.sylpheed_set(filepath=str(path)) == {"FINISHED"}
    said = capfd.readouterr().out
    assert "no volume" in said and '"plate"' in said
    assert bpy.ops.sylpheed.check() == {"FINISHED"}
    problems = {problem.check: problem for problem in addon.blender_addon.checks.results.of(root).checked.problems}
    assert set(problems["no volume"].elements) == {part.session_uid}
    select(root)
    assert bpy.ops.sylpheed.select_problem(check="no volume") == {"FINISHED"}
    assert bpy.context.object == part
