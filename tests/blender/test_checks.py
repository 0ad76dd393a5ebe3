"""A hull broken in every way that the sidebar knows: the check names it, Select selects just that, Fix fixes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import bmesh
import bpy
import numpy as np
import pytest

from core.errors import Severity
from core.formats import mcol
from core.inspect.check_hull import check_hull
from tests.blender.helpers import (
    DATA,
    MANY_ASTEROIDS,
    PLAIN,
    TETRAHEDRON,
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
    source,
    surfaces,
)

Elements = dict[str, set[int]]


@pytest.fixture
def hull() -> dict[str, bpy.types.Object]:
    root = import_hull(TWO_ASTEROIDS)
    select(root)
    return {"root": root, **surfaces(root)}


@pytest.fixture
def check(addon: ModuleType) -> Callable:
    """Checks the scene's hulls as the button does; the result for a root."""

    def run(root: bpy.types.Object):
        assert bpy.ops.sylpheed.check() == {"FINISHED"}
        return addon.blender_addon.checks.results.of(root).checked

    return run


def found(checked, name: str):
    """The one problem of a check."""
    (problem,) = [problem for problem in checked.problems if problem.check == name]
    return problem


def named(problem) -> Elements:
    """A problem's elements by the objects' names."""
    names = {obj.session_uid: obj.name for obj in bpy.context.scene.objects}
    return {names[uid]: set(numbers.tolist()) for uid, numbers in problem.elements.items()}


def selected(kind: str) -> Elements:
    """What is selected in edit mode, by object."""
    result = {}
    for obj in bpy.context.objects_in_mode:
        mesh = bmesh.from_edit_mesh(obj.data)
        sequence = {"VERT": mesh.verts, "EDGE": mesh.edges, "FACE": mesh.faces}[kind]
        numbers = {element.index for element in sequence if element.select}
        if numbers:
            result[obj.name] = numbers
    return result


# --- twelve ways and more to break a hull ---------------------------------------------------------


def open_a_hole(hull: dict) -> Elements:
    rim: set[frozenset[int]] = set()

    def change(bm: bmesh.types.BMesh) -> None:
        rim.update(frozenset(v.index for v in edge.verts) for edge in bm.faces[5].edges)
        bmesh.ops.delete(bm, geom=[bm.faces[5]], context="FACES_ONLY")

    mesh = hull["asteroid_01"].data
    edit_faces(mesh, change)
    return {hull["asteroid_01"].name: {e.index for e in mesh.edges if frozenset(e.vertices) in rim}}


def add_a_fin(hull: dict) -> Elements:
    number = []

    def change(bm: bmesh.types.BMesh) -> None:
        edge = bm.edges[7]
        tip = bm.verts.new(np.array(edge.verts[0].co) * 1.1)
        bm.faces.new((*edge.verts, tip))
        number.append(7)

    edit_faces(hull["asteroid_01"].data, change)
    return {hull["asteroid_01"].name: set(number)}


def flatten_a_face(hull: dict) -> Elements:
    mesh = hull["asteroid_01"].data
    places = coordinates(mesh)
    a, _, c = mesh.polygons[3].vertices
    places[c] = places[a]
    set_coordinates(mesh, places)
    return {
        hull["asteroid_01"].name: {p.index for p in mesh.polygons if {a, c} <= set(p.vertices)},
    }


def squeeze_a_face(hull: dict) -> Elements:
    mesh = hull["asteroid_01"].data
    places = coordinates(mesh)
    a, b, c = mesh.polygons[3].vertices
    places[c] = (places[a] + places[b]) / 2
    set_coordinates(mesh, places)
    return {hull["asteroid_01"].name: {3}}


def double_a_face(hull: dict) -> Elements:
    mesh = hull["asteroid_02"].data
    edit_faces(mesh, lambda bm: bmesh.ops.duplicate(bm, geom=[*bm.faces[2].verts, *bm.faces[2].edges, bm.faces[2]]))
    return {hull["asteroid_02"].name: {len(mesh.polygons) - 1}}


def strew_vertices(hull: dict) -> Elements:
    mesh = hull["wall"].data
    count = len(mesh.vertices)
    edit_faces(mesh, lambda bm: [bm.verts.new((x, 0, 0)) for x in (1, 2)])
    return {hull["wall"].name: {count, count + 1}}


def tear_a_face_off(hull: dict) -> Elements:
    mesh = hull["asteroid_01"].data
    corners = set(mesh.polygons[4].vertices)
    count = len(mesh.vertices)
    edit_faces(mesh, lambda bm: bmesh.ops.split(bm, geom=[bm.faces[4]]))
    places = coordinates(mesh)
    assert len(mesh.vertices) == count + 3 and len(np.unique(places, axis=0)) == count
    _, inverse, counts = np.unique(places, axis=0, return_inverse=True, return_counts=True)
    assert len(corners) == 3
    return {hull["asteroid_01"].name: set(np.flatnonzero(counts[inverse.reshape(-1)] > 1).tolist())}


def turn_a_face(hull: dict) -> Elements:
    edit_faces(hull["asteroid_01"].data, lambda bm: bmesh.ops.reverse_faces(bm, faces=[bm.faces[6]]))
    return {hull["asteroid_01"].name: {6}}


def turn_a_surface(name: str) -> Callable[[dict], Elements]:
    def turn(hull: dict) -> Elements:
        edit_faces(hull[name].data, lambda bm: bmesh.ops.reverse_faces(bm, faces=bm.faces[:]))
        return {hull[name].name: set(range(len(hull[name].data.polygons)))}

    return turn


def leave_the_box(hull: dict) -> Elements:
    places = coordinates(hull["asteroid_02"].data)
    places[3] *= 10
    set_coordinates(hull["asteroid_02"].data, places)
    return {hull["asteroid_02"].name: {3}}


def join_two_faces(hull: dict) -> Elements:
    mesh = hull["asteroid_01"].data
    edit_faces(mesh, lambda bm: bmesh.ops.dissolve_edges(bm, edges=[bm.edges[4]], use_verts=False))
    return {hull["asteroid_01"].name: {p.index for p in mesh.polygons if len(p.vertices) == 4}}


FREE = (5_000, -15_000, -15_000)
"""The middle of a cell that holds nothing."""

BOX = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
BOX_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def add_box(hull: dict, name: str, centre: tuple, size: float) -> bpy.types.Object:
    obj = new_object(hull["root"], name, np.array(BOX) * size / 2 + np.array(centre), BOX_FACES)
    edit_faces(obj.data, lambda bm: bmesh.ops.triangulate(bm, faces=bm.faces[:]))
    return obj


def drive_a_nail(hull: dict) -> Elements:
    """A thin spike through one face of a box."""
    box = add_box(hull, "box", FREE, 1000)
    number = 0
    middle = coordinates(box.data)[list(box.data.polygons[number].vertices)].mean(axis=0)
    inward = -np.array(box.data.polygons[number].normal) * 500
    corners = middle - 0.1 * inward + [[0, 0, 0], [20, 10, -10], [-10, 20, 10], [0, 0, 0]]
    corners[3] = middle + 0.2 * inward
    spike = new_object(hull["root"], "spike", corners, TETRAHEDRON)
    edit_faces(spike.data, lambda bm: bmesh.ops.recalc_face_normals(bm, faces=bm.faces[:]))
    return {box.name: {number}, spike.name: {f.index for f in spike.data.polygons if 3 in f.vertices}}


def tie_a_knot(hull: dict) -> Elements:
    """A box of which one corner is pulled through the opposite faces."""
    box = add_box(hull, "knot", (0, 0, 0), 1000)
    places = coordinates(box.data)
    corner = np.flatnonzero((places == 500).all(axis=1))[0]
    places[corner] = (-900, -700, -800)
    set_coordinates(box.data, places)
    opposite = np.flatnonzero((places == -500).all(axis=1))[0]
    tip = {face.index for face in box.data.polygons if corner in face.vertices}
    pierced = {face.index for face in box.data.polygons if opposite in face.vertices}
    return {box.name: tip | pierced}


def crowd_a_cell(hull: dict) -> Elements:
    ball = new_object(hull["root"], "ball", [], [])
    edit_faces(ball.data, lambda bm: bmesh.ops.create_icosphere(bm, subdivisions=3, radius=400))
    places = coordinates(ball.data)
    set_coordinates(ball.data, places + np.float32(FREE))
    return {ball.name: set(range(len(ball.data.polygons)))}


@dataclass(frozen=True)
class Break:
    """How to break a hull, what the check calls it, and what fixes it: "same" if to the source's very bytes."""

    do: Callable[[dict], Elements]
    check: str
    kind: str
    severity: Severity
    fix: str = ""
    fixed: str = ""


BREAKS = [
    Break(open_a_hole, "open edges", "EDGE", Severity.ERROR, "fix_holes", "same"),
    Break(add_a_fin, "non-manifold edges", "EDGE", Severity.ERROR),
    Break(flatten_a_face, "zero-area triangles", "FACE", Severity.ERROR, "fix_flat", "sound"),
    Break(squeeze_a_face, "zero-area triangles", "FACE", Severity.ERROR, "fix_flat", "sound"),
    Break(double_a_face, "doubled triangles", "FACE", Severity.ERROR, "fix_doubled_faces", "same"),
    Break(strew_vertices, "loose vertices", "VERT", Severity.WARNING, "fix_loose_vertices", "same"),
    Break(tear_a_face_off, "doubled vertices", "VERT", Severity.INFO, "fix_doubled_vertices", "same"),
    Break(turn_a_face, "flipped triangles", "FACE", Severity.ERROR, "fix_facing", "same"),
    Break(turn_a_surface("asteroid_01"), "winding", "FACE", Severity.ERROR, "fix_facing", "same"),
    Break(turn_a_surface("wall"), "winding", "FACE", Severity.ERROR, "fix_facing", "same"),
    Break(leave_the_box, "bounding box", "VERT", Severity.ERROR),
    Break(join_two_faces, "large faces", "FACE", Severity.INFO, "fix_triangulate", "same"),
    Break(drive_a_nail, "intersecting surfaces", "FACE", Severity.WARNING),
    Break(tie_a_knot, "self-intersections", "FACE", Severity.WARNING),
    Break(crowd_a_cell, "long lists", "FACE", Severity.WARNING),
]
NAMES = [f"{case.check}-{number}" for number, case in enumerate(BREAKS)]


@pytest.mark.parametrize("case", BREAKS, ids=NAMES)
def test_the_check_names_it_and_select_selects_just_that(hull: dict, case: Break, check: Callable) -> None:
    elements = case.do(hull)
    problem = found(check(hull["root"]), case.check)
    assert problem.severity.value == case.severity.value
    assert problem.kind == case.kind and not problem.objects
    assert bpy.ops.sylpheed.select_problem(check=case.check) == {"FINISHED"}
    assert bpy.context.mode == "EDIT_MESH"
    assert tuple(bpy.context.tool_settings.mesh_select_mode) == tuple(case.kind == k for k in ("VERT", "EDGE", "FACE"))
    assert selected(case.kind) == elements


@pytest.mark.parametrize("case", BREAKS, ids=NAMES)
def test_what_the_check_refuses_the_export_refuses(hull: dict, case: Break, check: Callable, tmp_path: Path) -> None:
    case.do(hull)
    checked = check(hull["root"])
    if checked.sound:
        export(tmp_path)
    else:
        assert any(problem.message.split(";")[0] in refusal(tmp_path) for problem in checked.problems)


@pytest.mark.parametrize("case", [case for case in BREAKS if case.severity is Severity.WARNING], ids=lambda c: c.check)
def test_what_the_check_warns_of_the_export_warns_of(
    hull: dict, case: Break, check: Callable, addon: ModuleType
) -> None:
    case.do(hull)
    assert found(check(hull["root"]), case.check).severity.value == "warning"
    options = addon.core.editing.options.Options()
    warnings = addon.blender_addon.scene.exporting.export_hull(bpy.context, hull["root"], options, True).warnings
    assert any(case.check in warning for warning in warnings)


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
@pytest.mark.parametrize("case", [case for case in BREAKS if case.fix], ids=[c.check for c in BREAKS if c.fix])
def test_fix_mends_it_in_one_step(hull: dict, case: Break, mode: str, check: Callable, tmp_path: Path) -> None:
    (name,) = case.do(hull)
    select(bpy.data.objects[name])
    bpy.ops.object.mode_set(mode=mode)
    assert getattr(bpy.ops.sylpheed, case.fix)() == {"FINISHED"}
    assert case.check not in [problem.check for problem in check(hull["root"]).problems]
    data = export(tmp_path)
    assert all(c.passed or c.severity is not Severity.ERROR for c in check_hull(mcol.decode(data)))
    if case.fixed == "same":
        assert data == source(TWO_ASTEROIDS)
    else:
        judged(data)


def test_everything_at_once(hull: dict, check: Callable) -> None:
    broken = [open_a_hole, add_a_fin, double_a_face, strew_vertices, tie_a_knot, crowd_a_cell, drive_a_nail]
    for way in broken:
        way(hull)
    checks = {problem.check for problem in check(hull["root"]).problems}
    assert {
        "open edges",
        "open surfaces",
        "non-manifold edges",
        "doubled triangles",
        "loose vertices",
        "self-intersections",
        "intersecting surfaces",
        "long lists",
    } <= checks


def sides_crossed(hull: dict, shift: tuple, check: Callable) -> dict[str, set[tuple[int, float]]]:
    """Which sides of two boxes hold faces that the check says are crossed: axis and place."""
    boxes = {name: add_box(hull, name, centre, 1000) for name, centre in (("one", (0, 0, 0)), ("other", shift))}
    problems = [p for p in check(hull["root"]).problems if p.check == "intersecting surfaces"]
    crossed: dict[str, set[tuple[int, float]]] = {}
    for name, numbers in (named(problems[0]) if problems else {}).items():
        places, mesh = coordinates(boxes[name].data), boxes[name].data
        for number in numbers:
            corners = places[list(mesh.polygons[number].vertices)]
            (axis,) = (axis for axis in range(3) if (corners[:, axis] == corners[0, axis]).all())
            crossed.setdefault(name, set()).add((axis, float(corners[0, axis])))
    return crossed


@pytest.mark.parametrize("shift", [(500, 500, 500), (400, 300, 200), (999, 999, 999)])
def test_boxes_in_each_other(hull: dict, shift: tuple, check: Callable) -> None:
    """By half their size every edge goes through the very middle of a side, where its two triangles meet."""
    assert sides_crossed(hull, shift, check) == {
        "one": {(axis, 500.0) for axis in range(3)},
        "other": {(axis, shift[axis] - 500.0) for axis in range(3)},
    }


@pytest.mark.parametrize("shift", [(1000, 0, 0), (1000, 300, -200), (1000, 1000, 0), (1000, 1000, 1000), (1001, 0, 0)])
def test_boxes_that_touch_do_not_cross(hull: dict, shift: tuple, check: Callable) -> None:
    assert sides_crossed(hull, shift, check) == {}


def test_everything_is_fixed(hull: dict, check: Callable, tmp_path: Path) -> None:
    for way in (open_a_hole, join_two_faces, double_a_face, strew_vertices, turn_a_surface("wall")):
        way(hull)
    edit_faces(hull["asteroid_02"].data, lambda bm: bmesh.ops.split(bm, geom=[bm.faces[7]]))
    assert not check(hull["root"]).sound
    select(hull["root"])
    for fix in ("triangulate", "doubled_faces", "doubled_vertices", "holes", "facing", "loose_vertices"):
        assert getattr(bpy.ops.sylpheed, f"fix_{fix}")() == {"FINISHED"}, fix
    assert not check(hull["root"]).problems
    assert export(tmp_path) == source(TWO_ASTEROIDS)


@pytest.mark.parametrize("name", PLAIN)
def test_the_samples_are_sound(name: str, check: Callable) -> None:
    checked = check(import_hull(name))
    assert checked.sound
    assert [p.check for p in checked.problems if p.severity.value != "info"] == []
    assert bpy.context.mode == "OBJECT"


# --- where, and what is left alone ----------------------------------------------------------------


def test_select_works_over_several_objects_and_hidden_ones(hull: dict, check: Callable) -> None:
    elements = turn_a_face(hull)
    edit_faces(hull["wall"].data, lambda bm: bmesh.ops.reverse_faces(bm, faces=[bm.faces[1]]))
    elements[hull["wall"].name] = {1}
    hull["wall"].hide_set(True)
    assert bpy.ops.sylpheed.select_problem(check="flipped triangles") == {"FINISHED"}
    assert selected("FACE") == elements


def test_select_again_from_edit_mode(hull: dict, check: Callable) -> None:
    flipped, loose = turn_a_face(hull), strew_vertices(hull)
    bpy.ops.sylpheed.select_problem(check="flipped triangles")
    assert bpy.ops.sylpheed.select_problem(check="loose vertices") == {"FINISHED"}
    assert selected("VERT") == loose
    assert bpy.ops.sylpheed.select_problem(check="flipped triangles") == {"FINISHED"}
    assert selected("FACE") == flipped


def test_inherited_and_new_faults_are_told_apart(hull: dict, check: Callable, tmp_path: Path) -> None:
    """A hole that the source has is a warning, one that the edit made an error."""
    source_hull = mcol.decode(source(TWO_ASTEROIDS))
    file = tmp_path / "holed.col"
    triangles = source_hull.triangles.copy()
    file.write_bytes(mcol.encode(build_without(source_hull, triangles, 3)))
    root = import_hull(file)
    parts = surfaces(root)
    edit_faces(parts["asteroid_02"].data, lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[0]], context="FACES"))
    select(root)
    problems = [problem for problem in check(root).problems if problem.check == "open edges"]
    assert [(p.severity.value, p.count) for p in problems] == [("error", 3), ("warning", 3)]
    for problem in problems:
        bpy.ops.sylpheed.select_problem(check="open edges", severity=problem.severity.value)
        assert selected("EDGE") == named(problem)


def build_without(hull: mcol.Hull, triangles: np.ndarray, number: int) -> mcol.Hull:
    """The hull with one triangle gone, as a careless tool would write it."""
    indices = hull.indices.astype(int)
    indices = np.maximum(np.where(indices >= number, indices - 1, indices), 0).astype(np.uint16)
    return replace(
        hull,
        triangles=np.delete(triangles, number, axis=0),
        spheres=np.delete(hull.spheres, number, axis=0),
        indices=indices,
    )


def test_a_fix_is_one_undo_step(hull: dict, tmp_path: Path) -> None:
    (name,) = open_a_hole(hull)
    bpy.context.view_layer.update()
    count = len(bpy.data.objects[name].data.polygons)
    bpy.ops.ed.undo_push()
    assert bpy.ops.sylpheed.fix_holes("EXEC_DEFAULT", True) == {"FINISHED"}
    assert len(bpy.data.objects[name].data.polygons) == count + 1
    bpy.ops.ed.undo()
    assert len(bpy.data.objects[name].data.polygons) == count


def test_a_larger_hole_is_filled_with_new_faces(hull: dict, check: Callable, tmp_path: Path) -> None:
    def change(bm: bmesh.types.BMesh) -> None:
        bmesh.ops.delete(bm, geom=[bm.verts[4]], context="VERTS")

    edit_faces(hull["asteroid_01"].data, change)
    assert bpy.ops.sylpheed.fix_holes() == {"FINISHED"}
    assert check(hull["root"]).sound
    judged(export(tmp_path))


def test_a_crack_is_merged_and_not_filled(hull: dict, check: Callable, tmp_path: Path) -> None:
    tear_a_face_off(hull)
    places = coordinates(hull["asteroid_01"].data)
    places[-3:, 0] += 0.005
    set_coordinates(hull["asteroid_01"].data, places)
    checked = check(hull["root"])
    assert found(checked, "doubled vertices").severity.value == "warning" and not checked.sound
    assert bpy.ops.sylpheed.fix_holes() == {"CANCELLED"}
    assert bpy.ops.sylpheed.fix_doubled_vertices() == {"FINISHED"}
    assert export(tmp_path) == source(TWO_ASTEROIDS)


def test_what_the_source_has_is_not_fixed_along(hull: dict, check: Callable, tmp_path: Path) -> None:
    source_hull = mcol.decode(source(TWO_ASTEROIDS))
    file = tmp_path / "holed.col"
    file.write_bytes(mcol.encode(build_without(source_hull, source_hull.triangles, 3)))
    root = import_hull(file)
    edit_faces(surfaces(root)["wall"].data, lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[0]], context="FACES"))
    select(root)
    assert bpy.ops.sylpheed.fix_holes(severity="error") == {"FINISHED"}
    problem = found(check(root), "open edges")
    assert problem.severity.value == "warning" and problem.count == 3
    assert export(tmp_path) == file.read_bytes()


def test_a_fix_leaves_other_hulls_and_shared_meshes_alone(hull: dict, check: Callable, tmp_path: Path) -> None:
    second = import_hull(MANY_ASTEROIDS)
    other = surfaces(second)["asteroid_01"]
    for obj in (hull["asteroid_01"], other):
        edit_faces(obj.data, lambda bm: bmesh.ops.reverse_faces(bm, faces=[bm.faces[6]]))
    select(hull["asteroid_01"])
    before = coordinates(other.data), [tuple(face.vertices) for face in other.data.polygons]
    assert bpy.ops.sylpheed.fix_facing() == {"FINISHED"}
    assert [tuple(face.vertices) for face in other.data.polygons] == before[1]
    assert export(tmp_path) == source(TWO_ASTEROIDS)

    shared = bpy.data.objects.new("shared", other.data)
    bpy.context.scene.collection.objects.link(shared)
    select(other)
    assert bpy.ops.sylpheed.fix_facing() == {"CANCELLED"}
    assert [tuple(face.vertices) for face in other.data.polygons] == before[1]
    assert [problem.check for problem in check(second).problems] == ["flipped triangles"]


def test_faces_that_modifiers_make_are_named_by_object(hull: dict, check: Callable) -> None:
    hull["asteroid_01"].modifiers.new("cut", "EDGE_SPLIT").split_angle = 0
    hull["asteroid_01"].modifiers.new("shift", "DISPLACE").strength = 1000
    problem = found(check(hull["root"]), "open edges")
    assert problem.objects == (hull["asteroid_01"].session_uid,) and not problem.elements
    assert bpy.ops.sylpheed.select_problem(check="open edges") == {"CANCELLED"}
    assert bpy.ops.sylpheed.fix_holes() == {"CANCELLED"}
    assert bpy.context.mode == "OBJECT"


def linked_into_a_new_file(folder: Path) -> bpy.types.Object:
    """The root of the scene's hull, linked from a library that is the scene as it is now."""
    file = folder / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(file), link=True) as (theirs, ours):
        ours.collections = [name for name in theirs.collections if name == Path(TWO_ASTEROIDS).stem]
    bpy.context.scene.collection.children.link(ours.collections[0])
    (root,) = [obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "hull"]
    return root


def test_a_linked_library_is_checked_and_left_alone(hull: dict, check: Callable, tmp_path: Path) -> None:
    turn_a_face(hull)
    root = linked_into_a_new_file(tmp_path)
    assert found(check(root), "flipped triangles").count == 1
    assert bpy.ops.sylpheed.select_problem(check="flipped triangles") == {"CANCELLED"}
    assert bpy.ops.sylpheed.fix_facing() == {"CANCELLED"}


def test_a_face_on_which_edit_mode_hangs_is_not_entered(hull: dict, check: Callable) -> None:
    obj = new_object(hull["root"], "trap", [(0, 0, 0), (100, 0, 0), (0, 100, 0)], [(0, 1, 2), (0, 0, 1)])
    assert "open edges" in [problem.check for problem in check(hull["root"]).problems]
    assert bpy.ops.sylpheed.select_problem(check="open edges") == {"CANCELLED"}
    assert bpy.context.mode == "OBJECT" and obj.name in bpy.data.objects


def test_too_many_triangles(hull: dict, check: Callable) -> None:
    ball = new_object(hull["root"], "ball", [], [])
    edit_faces(ball.data, lambda bm: bmesh.ops.create_icosphere(bm, subdivisions=7, radius=400))
    problem = found(check(hull["root"]), "counts")
    assert problem.severity.value == "error" and "65,535" in problem.message and '"ball"' in problem.message


def test_touching_no_scene(hull: dict, check: Callable) -> None:
    """A check changes neither objects, nor selection, nor mode, nor data."""
    hull["asteroid_01"].modifiers.new("shift", "DISPLACE").strength = 10
    select(hull["asteroid_01"], hull["wall"])
    bpy.ops.object.mode_set(mode="EDIT")
    before = [len(getattr(bpy.data, name)) for name in ("objects", "meshes", "scenes", "collections")]
    check(hull["root"])
    assert [len(getattr(bpy.data, name)) for name in ("objects", "meshes", "scenes", "collections")] == before
    assert bpy.context.mode == "EDIT_MESH" and set(bpy.context.objects_in_mode) == {hull["asteroid_01"], hull["wall"]}


# --- objects with the same name -------------------------------------------------------------------


@pytest.fixture
def namesakes(hull: dict, tmp_path: Path) -> Callable:
    """Links the hull as it is now into a new file and imports the same sample there: the linked root, and the local
    one with its surfaces."""

    def link() -> tuple[bpy.types.Object, dict[str, bpy.types.Object]]:
        linked = linked_into_a_new_file(tmp_path)
        root = import_hull(TWO_ASTEROIDS)
        assert root.name == linked.name
        return linked, {"root": root, **surfaces(root)}

    return link


def test_a_fix_leaves_the_local_namesake_of_a_linked_hull_alone(
    hull: dict, namesakes: Callable, check: Callable, tmp_path: Path
) -> None:
    turn_a_face(hull)
    linked, local = namesakes()
    select(linked)
    assert found(check(linked), "flipped triangles").count == 1
    assert bpy.ops.sylpheed.fix_facing() == {"CANCELLED"}
    assert bpy.ops.sylpheed.select_problem(check="flipped triangles") == {"CANCELLED"}
    assert not check(local["root"]).problems
    select(local["root"])
    assert export(tmp_path) == source(TWO_ASTEROIDS)


def test_a_hull_beside_its_linked_namesake_is_selected_and_fixed(
    hull: dict, namesakes: Callable, check: Callable, tmp_path: Path
) -> None:
    linked, local = namesakes()
    elements = turn_a_face(local)
    select(linked)  # the sidebar's buttons don't depend on what is active
    uid = local["root"].session_uid
    assert bpy.ops.sylpheed.select_problem(check="flipped triangles", root_uid=uid) == {"FINISHED"}
    assert set(bpy.context.objects_in_mode) == {local["asteroid_01"]} and selected("FACE") == elements
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.sylpheed.fix_facing(root_uid=uid) == {"FINISHED"}
    select(local["root"])
    assert export(tmp_path) == source(TWO_ASTEROIDS)


# --- what a fix makes -----------------------------------------------------------------------------


def triangles_of(data: bytes) -> set:
    """The corners of each triangle, in order of turning."""
    col = mcol.decode(data)
    corners = [tuple(map(tuple, three)) for three in col.vertices[col.triangles.astype(int)].tolist()]
    return {min(three[at:] + three[:at] for at in range(3)) for three in corners}


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
@pytest.mark.parametrize("seed", range(4))
def test_large_faces_are_cut_as_they_are_exported(seed: int, mode: str, check: Callable, tmp_path: Path) -> None:
    root = import_hull(MANY_ASTEROIDS)
    random = np.random.default_rng(seed)

    def join(bm: bmesh.types.BMesh) -> None:
        edges = [bm.edges[number] for number in random.choice(len(bm.edges), 4, replace=False)]
        bmesh.ops.dissolve_edges(bm, edges=edges, use_verts=False)

    for obj in surfaces(root).values():
        edit_faces(obj.data, join)
    obj = surfaces(root)["asteroid_01"]
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="stretched").value = 1
    obj.data.shape_keys.key_blocks[1].data[0].co *= 1.1
    select(obj)
    bpy.ops.object.mode_set(mode=mode)
    before = triangles_of(export(tmp_path))
    assert found(check(root), "large faces").count > 10
    assert bpy.ops.sylpheed.fix_triangulate() == {"FINISHED"}
    assert "large faces" not in [problem.check for problem in check(root).problems]
    assert triangles_of(export(tmp_path)) == before


def errors(checked) -> dict[str, int]:
    return {problem.check: problem.count for problem in checked.problems if problem.severity.value == "error"}


@pytest.mark.parametrize("number", range(0, 64, 7))
def test_a_vertex_on_the_opposite_side_is_fixed(hull: dict, number: int, check: Callable, tmp_path: Path) -> None:
    mesh = hull["asteroid_01"].data
    a, b, c = mesh.polygons[number].vertices
    places = coordinates(mesh)
    places[a] = (places[b] + places[c]) / 2
    set_coordinates(mesh, places)
    assert set(errors(check(hull["root"]))) == {"zero-area triangles"}
    assert bpy.ops.sylpheed.fix_flat() == {"FINISHED"}
    assert not errors(check(hull["root"]))
    judged(export(tmp_path))


@pytest.mark.parametrize("number", [0, 30, 50])
def test_a_subdivided_edge_is_fixed(hull: dict, number: int, check: Callable, tmp_path: Path) -> None:
    mesh = hull["asteroid_01"].data
    edit_faces(mesh, lambda bm: bmesh.ops.subdivide_edges(bm, edges=[bm.edges[number]], cuts=1))
    if errors(check(hull["root"])):
        assert bpy.ops.sylpheed.fix_flat() == {"FINISHED"}
    assert not errors(check(hull["root"]))
    judged(export(tmp_path))


@pytest.mark.parametrize("seed", range(8))
def test_subdivided_edges_are_fixed_or_left_alone(hull: dict, seed: int, check: Callable) -> None:
    mesh = hull["asteroid_01"].data
    random = np.random.default_rng(seed)

    def subdivide(bm: bmesh.types.BMesh) -> None:
        edges = [bm.edges[number] for number in random.choice(len(bm.edges), 3, replace=False)]
        bmesh.ops.subdivide_edges(bm, edges=edges, cuts=1 + seed % 2)

    edit_faces(mesh, subdivide)
    before, faces = errors(check(hull["root"])), [tuple(face.vertices) for face in mesh.polygons]
    result = bpy.ops.sylpheed.fix_flat()
    after = errors(check(hull["root"]))
    if result == {"FINISHED"}:
        assert after.get("zero-area triangles", 0) < before["zero-area triangles"]
        assert sum(after.values()) < sum(before.values())
    else:
        assert [tuple(face.vertices) for face in mesh.polygons] == faces


def test_far_quads_stay_when_flat_faces_are_fixed(hull: dict, check: Callable) -> None:
    mesh = hull["asteroid_01"].data
    (flat,) = squeeze_a_face(hull)[hull["asteroid_01"].name]
    corners = set(mesh.polygons[flat].vertices)
    near = {corner for face in mesh.polygons if corners & set(face.vertices) for corner in face.vertices}

    def join(bm: bmesh.types.BMesh) -> None:
        far = [edge for edge in bm.edges if not any(v.index in near for face in edge.link_faces for v in face.verts)]
        bmesh.ops.dissolve_edges(bm, edges=far[:1], use_verts=False)

    edit_faces(mesh, join)
    quads = [tuple(face.vertices) for face in mesh.polygons if len(face.vertices) == 4]
    assert len(quads) == 1 and set(errors(check(hull["root"]))) == {"zero-area triangles"}
    assert bpy.ops.sylpheed.fix_flat() == {"FINISHED"}
    assert [tuple(face.vertices) for face in mesh.polygons if len(face.vertices) == 4] == quads


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_flat_faces_among_quads_are_fixed(hull: dict, mode: str, check: Callable, tmp_path: Path) -> None:
    mesh = hull["asteroid_01"].data
    flatten_a_face(hull)
    corners = set(mesh.polygons[3].vertices)

    def join(bm: bmesh.types.BMesh) -> None:
        near = [e for e in bm.edges if e.calc_length() and len(corners & {v.index for v in e.verts}) == 1]
        bmesh.ops.dissolve_edges(bm, edges=near[::3], use_verts=False)

    edit_faces(mesh, join)
    select(hull["asteroid_01"])
    bpy.ops.object.mode_set(mode=mode)
    assert "zero-area triangles" in errors(check(hull["root"]))
    assert bpy.ops.sylpheed.fix_flat() == {"FINISHED"}
    assert not errors(check(hull["root"]))
    judged(export(tmp_path))


def test_a_face_flattened_by_a_shape_key_is_fixed(hull: dict, check: Callable, tmp_path: Path) -> None:
    obj = hull["asteroid_01"]
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="flat")
    key.value = 1
    a, _, c = obj.data.polygons[3].vertices
    key.data[c].co = key.data[a].co
    assert errors(check(hull["root"])) == {"zero-area triangles": 2}
    assert bpy.ops.sylpheed.fix_flat() == {"FINISHED"}
    assert not errors(check(hull["root"]))
    judged(export(tmp_path))


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_what_a_fix_cannot_mend_stays_as_it_was(hull: dict, mode: str, check: Callable) -> None:
    """A lone triangle is no hole, its back would be a doubled face."""
    obj = new_object(hull["root"], "lone", [(0, 0, 0), (1000, 0, 0), (0, 1000, 0)], [(0, 1, 2)])
    select(obj)
    bpy.ops.object.mode_set(mode=mode)
    before = errors(check(hull["root"]))
    assert before["open edges"] == 3
    assert bpy.ops.sylpheed.fix_holes() == {"CANCELLED"}
    assert errors(check(hull["root"])) == before
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [tuple(face.vertices) for face in obj.data.polygons] == [(0, 1, 2)]


def test_a_face_that_uses_a_vertex_twice_is_not_called_fixed(hull: dict, check: Callable) -> None:
    places, faces = [(0, 0, 0), (100, 0, 0), (0, 100, 0)], [(0, 1, 1), (0, 1, 2)]
    obj = new_object(hull["root"], "trap", places, faces)
    assert errors(check(hull["root"]))["zero-area triangles"] == 1
    assert bpy.ops.sylpheed.fix_flat() == {"CANCELLED"}
    assert [tuple(face.vertices) for face in obj.data.polygons] == faces


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_a_mesh_that_a_fix_would_spoil_is_given_back(hull: dict, mode: str, check: Callable, tmp_path: Path) -> None:
    """Two boxes of one object side to side: merged, their common sides would have four faces."""
    box = hull["asteroid_01"]
    vertices, faces = len(box.data.vertices), len(box.data.polygons)
    boxes = [add_box(hull, "box", (FREE[0] + x, *FREE[1:]), 1000) for x in (0, 1000.001)]
    select(*boxes, box)
    bpy.ops.object.join()
    data = export(tmp_path)
    bpy.ops.object.mode_set(mode=mode)
    before = check(hull["root"])
    assert found(before, "doubled vertices").severity.value == "warning"
    assert bpy.ops.sylpheed.fix_doubled_vertices() == {"CANCELLED"}
    assert errors(check(hull["root"])) == errors(before)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(box.data.vertices) == vertices + 16 and len(box.data.polygons) == faces + 24
    assert export(tmp_path) == data


@pytest.mark.parametrize("faces", [(0, 1), (0, 2), (1, 3), (2, 3)])
def test_half_a_tetrahedron_is_closed_without_crowding_an_edge(hull: dict, faces: tuple, check: Callable) -> None:
    size = 1000.0
    obj = new_object(hull["root"], "half", np.vstack([np.zeros(3), size * np.eye(3)]) + FREE, TETRAHEDRON)
    gone = {tuple(sorted(TETRAHEDRON[number])) for number in faces}
    edit_faces(obj.data, lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[n] for n in faces], context="FACES"))
    assert errors(check(hull["root"]))["open edges"] == 4
    assert bpy.ops.sylpheed.fix_holes() == {"FINISHED"}
    assert not errors(check(hull["root"]))
    assert {tuple(sorted(face.vertices)) for face in obj.data.polygons} >= gone


@pytest.mark.parametrize("context", ["FACES", "FACES_ONLY"])
@pytest.mark.parametrize("seed", range(6))
def test_holes_of_a_wall_are_filled(hull: dict, seed: int, context: str, check: Callable, tmp_path: Path) -> None:
    mesh = hull["wall"].data
    gone = np.random.default_rng(seed).choice(len(mesh.polygons), 2, replace=False).tolist()
    edit_faces(mesh, lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[n] for n in gone], context=context))
    assert errors(check(hull["root"]))["open edges"] in (4, 6)
    assert bpy.ops.sylpheed.fix_holes() == {"FINISHED"}
    assert not errors(check(hull["root"]))
    judged(export(tmp_path))


def test_a_ring_is_filled_with_the_least_area(addon: ModuleType) -> None:
    """An L of five units: six corners, four triangles, none across the notch. Barred edges are kept out of."""
    points = np.array([(0, 0, 0), (3, 0, 0), (3, 1, 0), (1, 1, 0), (1, 3, 0), (0, 3, 0)], float)
    fill_ring = addon.blender_addon.checks.ring_fill.fill_ring

    def areas(triangles: np.ndarray) -> np.ndarray:
        a, b, c = np.moveaxis(points[triangles], 1, 0)
        return np.cross(b - a, c - a)[:, 2] / 2

    triangles = fill_ring(points, np.zeros((6, 6), bool))
    assert triangles.shape == (4, 3) and (areas(triangles) > 0).all() and areas(triangles).sum() == 5
    barred = np.zeros((6, 6), bool)
    barred[0, 3] = barred[3, 0] = True
    sides = {
        tuple(sorted((t[a], t[b]))) for t in fill_ring(points, barred).tolist() for a, b in ((0, 1), (1, 2), (2, 0))
    }
    assert (0, 3) not in sides
    assert fill_ring(points, np.ones((6, 6), bool)) is None
    many = addon.blender_addon.checks.ring_fill.MOST + 1
    assert fill_ring(np.zeros((many, 3)), np.zeros((many, many), bool)) is None


# --- what can't be selected or fixed -------------------------------------------------------------


def reported(operator: Callable, capfd: pytest.CaptureFixture, **options: object) -> tuple[set[str], str]:
    """What an operator returns and reports."""
    capfd.readouterr()
    result = operator(**options)
    return result, capfd.readouterr().out


def test_select_names_what_is_not_selectable(hull: dict, check: Callable, capfd: pytest.CaptureFixture) -> None:
    elements = turn_a_face(hull)
    edit_faces(hull["wall"].data, lambda bm: bmesh.ops.reverse_faces(bm, faces=[bm.faces[1]]))
    hidden = bpy.data.collections.new("hidden")
    hull["root"].users_collection[0].children.link(hidden)
    hidden.objects.link(hull["wall"])
    hull["root"].users_collection[0].objects.unlink(hull["wall"])
    hidden.hide_viewport = True
    result, said = reported(bpy.ops.sylpheed.select_problem, capfd, check="flipped triangles")
    assert result == {"FINISHED"} and selected("FACE") == elements
    assert hull["wall"].name in said and hull["asteroid_01"].name not in said and "not selectable" in said


def test_select_makes_a_wall_selectable(hull: dict, check: Callable) -> None:
    assert hull["wall"].hide_select, "as on import, so that a click goes through it"
    edit_faces(hull["wall"].data, lambda bm: bmesh.ops.reverse_faces(bm, faces=[bm.faces[1]]))
    assert bpy.ops.sylpheed.select_problem(check="flipped triangles") == {"FINISHED"}
    assert selected("FACE") == {hull["wall"].name: {1}}


def test_a_curve_and_an_instance_are_told_what_to_do(hull: dict, check: Callable, capfd: pytest.CaptureFixture) -> None:
    curve = bpy.data.curves.new("curve", "CURVE")
    curve.dimensions, curve.fill_mode = "2D", "BOTH"
    spline = curve.splines.new("POLY")
    spline.points.add(2)
    spline.use_cyclic_u = True
    for point, place in zip(spline.points, [(0, 0, 0, 1), (500, 0, 0, 1), (0, 500, 0, 1)], strict=True):
        point.co = place
    kept = bpy.data.collections.new("kept")
    kept.objects.link(new_object(hull["root"], "open", [(0, 0, 0), (900, 0, 0), (0, 900, 0)], [(0, 1, 2)]))
    objects = bpy.data.objects.new("a curve", curve), bpy.data.objects.new("an instance", None)
    objects[1].instance_type, objects[1].instance_collection = "COLLECTION", kept
    bpy.context.scene.collection.objects.unlink(kept.objects[0])
    for obj in objects:
        bpy.context.scene.collection.objects.link(obj)
        obj.parent, obj.location = hull["root"], (0, 0, 7000 if obj.data else 3000)
    problem = found(check(hull["root"]), "open edges")
    assert set(problem.objects) == {obj.session_uid for obj in objects}
    result, said = reported(bpy.ops.sylpheed.fix_holes, capfd)
    assert result == {"CANCELLED"} and "modifiers" not in said
    assert '"a curve" isn\'t a mesh: convert it' in said and '"an instance" is an instance of a collection' in said


def test_doubled_vertices_that_the_export_joins_ask_for_nothing(hull: dict, check: Callable) -> None:
    tear_a_face_off(hull)
    problem = found(check(hull["root"]), "doubled vertices")
    assert problem.severity.value == "info" and problem.message.endswith("; the export joins them")


def test_select_shows_the_object_in_local_view(hull: dict, check: Callable) -> None:
    (name,) = turn_a_face(hull)
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    select(hull["wall"])
    with bpy.context.temp_override(window=window, area=area, region=region):
        assert bpy.ops.view3d.localview() == {"FINISHED"}
        view = area.spaces.active
        assert view.local_view and not hull["asteroid_01"].visible_get(viewport=view)
        assert bpy.ops.sylpheed.select_problem(check="flipped triangles") == {"FINISHED"}
        assert bpy.data.objects[name].visible_get(viewport=view) and bpy.data.objects[name].mode == "EDIT"


# --- what is shown --------------------------------------------------------------------------------


def edited(addon: ModuleType, root: bpy.types.Object) -> bool:
    bpy.context.view_layer.update()
    return bool(addon.blender_addon.checks.results.of(root).edited)


def test_a_result_is_stale_when_the_hull_was_edited_since(hull: dict, addon: ModuleType, check: Callable) -> None:
    check(hull["root"])
    assert not edited(addon, hull["root"])
    move(hull["asteroid_01"], x=100)
    assert edited(addon, hull["root"])
    move(hull["asteroid_01"], x=0)
    assert not edited(addon, hull["root"])
    move(hull["root"], x=100)  # what the file doesn't depend on
    assert not edited(addon, hull["root"])
    places = coordinates(hull["wall"].data)
    set_coordinates(hull["wall"].data, places * 0.5)
    assert edited(addon, hull["root"])
    check(hull["root"])
    assert not edited(addon, hull["root"])
    bpy.data.objects.remove(hull["asteroid_02"])
    assert edited(addon, hull["root"])
    check(hull["root"])
    new_object(hull["root"], "more", BOX, BOX_FACES)
    assert edited(addon, hull["root"])


def test_looking_in_edit_mode_is_no_edit(hull: dict, addon: ModuleType, check: Callable) -> None:
    turn_a_face(hull)
    check(hull["root"])
    for _ in range(2):
        bpy.ops.sylpheed.select_problem(check="flipped triangles")
        assert not edited(addon, hull["root"])
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not edited(addon, hull["root"])
    bpy.ops.object.mode_set(mode="EDIT")
    mesh = bmesh.from_edit_mesh(bpy.context.object.data)
    mesh.verts.ensure_lookup_table()
    mesh.verts[0].co.x += 10
    bmesh.update_edit_mesh(bpy.context.object.data)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert edited(addon, hull["root"])


def test_fitting_the_grid_makes_a_result_stale(hull: dict, addon: ModuleType, check: Callable) -> None:
    check(hull["root"])
    assert bpy.ops.sylpheed.fit_grid(cell_size=5000) == {"FINISHED"}
    assert edited(addon, hull["root"])
    check(hull["root"])
    assert not edited(addon, hull["root"])


def test_an_export_is_no_edit(hull: dict, addon: ModuleType, check: Callable, tmp_path: Path) -> None:
    hull["asteroid_01"].modifiers.new("wave", "TRIANGULATE")
    hull["asteroid_02"].location.x += 100
    check(hull["root"])
    bpy.ops.export_scene.sylpheed_col(filepath=str(tmp_path / "a.col"))
    assert not edited(addon, hull["root"])
    bpy.ops.sylpheed.show_grid()
    assert not edited(addon, hull["root"])
    bpy.ops.sylpheed.show_grid()


MODIFIERS = {
    "triangulate": lambda obj: obj.modifiers.new("m", "TRIANGULATE"),
    "subdivided": lambda obj: obj.modifiers.new("m", "SUBSURF"),
    "displaced": lambda obj: setattr(obj.modifiers.new("m", "DISPLACE"), "strength", 20),
    "shrunk": lambda obj: obj.shape_key_add(name="Basis"),
    "moved key": lambda obj: (obj.shape_key_add(name="Basis"), setattr(obj.shape_key_add(name="one"), "value", 0.5)),
    "limited": lambda obj: obj.constraints.new("LIMIT_LOCATION"),
}


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("name", MODIFIERS)
def test_nothing_that_only_looks_is_an_edit(
    hull: dict, addon: ModuleType, check: Callable, name: str, hidden: bool, tmp_path: Path
) -> None:
    """What has modifiers is followed by its result where Blender evaluates it, and by its settings where not."""
    rock, other = hull["asteroid_01"], hull["asteroid_02"]
    MODIFIERS[name](rock)
    rock.hide_viewport = hidden
    check(hull["root"])
    for _ in range(2):
        select(other)
        bpy.ops.object.mode_set(mode="EDIT")
        assert not edited(addon, hull["root"])
        bpy.ops.object.mode_set(mode="OBJECT")
        assert not edited(addon, hull["root"])
    bpy.ops.export_scene.sylpheed_col(filepath=str(tmp_path / "a.col"))
    assert not edited(addon, hull["root"])
    rock.hide_viewport = False
    assert not edited(addon, hull["root"])
    select(rock)
    bpy.ops.object.mode_set(mode="EDIT")
    assert not edited(addon, hull["root"])
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not edited(addon, hull["root"])
    rock.hide_viewport = hidden
    places = coordinates(rock.data)
    places[0] += 100
    set_coordinates(rock.data, places)
    if rock.data.shape_keys:
        for key in rock.data.shape_keys.key_blocks:
            key.data[0].co.x += 100
    assert edited(addon, hull["root"])


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize(
    "edit",
    [
        lambda rock, other: setattr(rock.modifiers[0], "strength", 30),
        lambda rock, other: setattr(other.location, "x", other.location.x + 500),
        lambda rock, other: rock.modifiers.remove(rock.modifiers[0]),
        lambda rock, other: setattr(rock.modifiers[0], "show_viewport", False),
    ],
    ids=["strength", "the object that it uses", "removed", "switched off"],
)
def test_a_changed_modifier_is_an_edit(hull: dict, addon: ModuleType, check: Callable, hidden: bool, edit) -> None:
    rock, empty = hull["asteroid_01"], bpy.data.objects.new("middle", None)
    bpy.context.scene.collection.objects.link(empty)
    made = rock.modifiers.new("m", "DISPLACE")
    made.strength, made.texture_coords, made.texture_coords_object = 20, "OBJECT", empty
    made.texture = bpy.data.textures.new("t", "CLOUDS")
    made.texture.noise_scale = 1000
    rock.hide_viewport = hidden
    check(hull["root"])
    assert not edited(addon, hull["root"])
    edit(rock, empty)
    assert edited(addon, hull["root"])


def test_a_modifier_that_changes_nothing_is_no_edit(hull: dict, addon: ModuleType, check: Callable) -> None:
    check(hull["root"])
    hull["asteroid_01"].modifiers.new("m", "TRIANGULATE")
    assert not edited(addon, hull["root"])
    hull["asteroid_01"].modifiers.new("n", "SUBSURF").show_viewport = False
    assert not edited(addon, hull["root"])


def test_what_is_edited_in_edit_mode_is_an_edit_until_it_is_back(
    hull: dict, addon: ModuleType, check: Callable
) -> None:
    rock = hull["asteroid_01"]
    rock.modifiers.new("m", "TRIANGULATE")
    check(hull["root"])
    select(rock)
    bpy.ops.object.mode_set(mode="EDIT")
    mesh = bmesh.from_edit_mesh(rock.data)
    mesh.verts.ensure_lookup_table()
    before = mesh.verts[0].co.copy()
    mesh.verts[0].co.x += 10
    bmesh.update_edit_mesh(rock.data)
    assert edited(addon, hull["root"])
    mesh.verts[0].co = before
    bmesh.update_edit_mesh(rock.data)
    assert not edited(addon, hull["root"])
    mesh.faces.ensure_lookup_table()
    mesh.faces[0].normal_flip()
    bmesh.update_edit_mesh(rock.data)
    assert edited(addon, hull["root"])
    bpy.ops.object.mode_set(mode="OBJECT")
    assert edited(addon, hull["root"])


def test_an_object_that_is_moved_while_it_is_hidden_is_an_edit(hull: dict, addon: ModuleType, check: Callable) -> None:
    rock = hull["asteroid_01"]
    layer = bpy.context.view_layer.layer_collection.children[0]
    layer.exclude = True
    check(hull["root"])
    assert not edited(addon, hull["root"])
    rock.location.x += 100
    assert edited(addon, hull["root"])
    rock.location.x -= 100
    assert not edited(addon, hull["root"])
    places = coordinates(rock.data)
    set_coordinates(rock.data, places * 0.5)
    assert edited(addon, hull["root"])
    set_coordinates(rock.data, places)
    layer.exclude = False
    assert not edited(addon, hull["root"])


def test_a_mesh_that_is_edited_through_another_object_is_an_edit(
    hull: dict, addon: ModuleType, check: Callable
) -> None:
    rock, twin = hull["asteroid_01"], bpy.data.objects.new("twin", hull["asteroid_01"].data)
    bpy.context.scene.collection.objects.link(twin)
    check(hull["root"])
    select(twin)
    bpy.ops.object.mode_set(mode="EDIT")
    assert not edited(addon, hull["root"])
    mesh = bmesh.from_edit_mesh(rock.data)
    mesh.verts.ensure_lookup_table()
    mesh.verts[0].co.x += 10
    bmesh.update_edit_mesh(rock.data)
    assert edited(addon, hull["root"])
    bpy.ops.object.mode_set(mode="OBJECT")
    assert edited(addon, hull["root"])


def test_what_the_file_does_not_depend_on_is_no_edit(hull: dict, addon: ModuleType, check: Callable) -> None:
    rock = hull["asteroid_01"]
    new = new_object(hull["root"], "new", BOX, BOX_FACES)
    check(hull["root"])
    rock.name = "my rock"
    rock.data.materials.append(bpy.data.materials.new("grey"))
    rock.data.shade_smooth()
    rock.hide_render = rock.show_wire = True
    rock.hide_set(True)
    lamp = bpy.data.objects.new("lamp", bpy.data.lights.new("lamp", "POINT"))
    bpy.context.scene.collection.objects.link(lamp)
    lamp.parent = hull["root"]
    hull["root"].scale *= 2
    assert not edited(addon, hull["root"])
    between = bpy.data.objects.new("between", None)
    bpy.context.scene.collection.objects.link(between)
    between.parent, rock.parent = hull["root"], between
    assert not edited(addon, hull["root"])
    between.location.x += 100
    assert edited(addon, hull["root"])
    between.location.x -= 100
    assert not edited(addon, hull["root"])
    new.name = "a new piece's place in the file is by its name"
    assert edited(addon, hull["root"])


@pytest.mark.parametrize("hidden", [False, True])
def test_a_moved_bone_is_an_edit_of_what_follows_it(
    hull: dict, addon: ModuleType, check: Callable, hidden: bool
) -> None:
    rig = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
    bpy.context.scene.collection.objects.link(rig)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("bone")
    bone.tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.parent, rock = hull["root"], hull["asteroid_01"]
    rock.parent, rock.parent_type, rock.parent_bone = rig, "BONE", "bone"
    rock.hide_viewport = hidden
    check(hull["root"])
    assert not edited(addon, hull["root"])
    rig.pose.bones["bone"].location.x = 50
    assert edited(addon, hull["root"])


def test_undo_takes_an_edit_back(hull: dict, addon: ModuleType, check: Callable) -> None:
    name, rock = hull["root"].name, hull["asteroid_01"].name
    check(hull["root"])
    bpy.ops.ed.undo_push(message="before")
    bpy.data.objects[rock].location.x += 100
    assert edited(addon, bpy.data.objects[name])
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    assert not edited(addon, bpy.data.objects[name])
    bpy.ops.ed.redo()
    assert edited(addon, bpy.data.objects[name])


def test_a_collection_instance_is_followed(hull: dict, addon: ModuleType, check: Callable) -> None:
    held = new_object(None, "held", BOX, BOX_FACES)
    group = bpy.data.collections.new("group")
    group.objects.link(held)
    empty = bpy.data.objects.new("shown", None)
    empty.instance_type, empty.instance_collection, empty.parent = "COLLECTION", group, hull["root"]
    bpy.context.scene.collection.objects.link(empty)
    check(hull["root"])
    assert not edited(addon, hull["root"])
    held.location.x += 5
    assert edited(addon, hull["root"])
    check(hull["root"])
    group.instance_offset.x += 5
    assert edited(addon, hull["root"])


def test_the_facts(hull: dict, check: Callable) -> None:
    move(hull["asteroid_01"], x=1000)
    facts = {fact.label: fact for fact in check(hull["root"]).facts}
    col = mcol.decode(source(TWO_ASTEROIDS))
    assert facts["Vertices"].value == str(len(col.vertices)) and facts["Vertices"].limit == "65,535"
    assert facts["Triangles"].value == str(len(col.triangles))
    assert facts["Cells"].value == "10 x 10 x 10" and facts["Cell Size"].value == "10,000"
    assert facts["Moved"].value == str(len(hull["asteroid_01"].data.polygons))
    assert facts["Added"].value == facts["Removed"].value == "0"
    assert int(facts["Rebuilt Cells"].value) > 0


def test_a_collision_set_is_checked_too(addon: ModuleType, check: Callable) -> None:
    bpy.ops.import_scene.sylpheed_set(filepath=str(DATA / "CollisionSet_small.bin"))
    (root,) = [obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "set"]
    assert not [p for p in check(root).problems if p.severity.value != "info"]
    part = next(obj for obj in root.children_recursive if obj.type == "MESH")
    count = len(part.data.vertices)
    edit_faces(part.data, lambda bm: [bm.verts.new((x, 0, 0)) for x in (1, 2)])
    places = coordinates(part.data)
    a, b, c = part.data.polygons[0].vertices
    places[c] = (places[a] + places[b]) / 2
    set_coordinates(part.data, places)
    checked = check(root)
    assert checked.sound and {problem.check for problem in checked.problems} == {
        "loose vertices",
        "zero-area triangles",
    }
    select(root)
    bpy.ops.sylpheed.select_problem(check="loose vertices")
    assert selected("VERT") == {part.name: {count, count + 1}}
    assert bpy.ops.sylpheed.fix_loose_vertices() == {"FINISHED"}
    assert [problem.check for problem in check(root).problems] == ["zero-area triangles"]


def test_nothing_to_check() -> None:
    assert bpy.ops.sylpheed.check() == {"CANCELLED"}
    assert bpy.ops.sylpheed.select_problem(check="open edges") == {"CANCELLED"}
    assert bpy.ops.sylpheed.fix_holes() == {"CANCELLED"}
