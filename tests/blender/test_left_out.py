"""What the view shows of a hull or set is in the file, or a warning of the export and of the check names it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import bmesh
import bpy
import numpy as np
import pytest

from tests.blender.helpers import (
    DATA,
    ONE_ASTEROID,
    TETRAHEDRON,
    TWO_ASTEROIDS,
    edit_faces,
    evaluated,
    export,
    import_hull,
    move,
    new_object,
    select,
    source,
    surfaces,
    tetrahedron,
)
from tests.oracle.readers import read_col

SMALL = DATA / "CollisionSet_small.bin"
PLACE = (-10_000, 10_000, -10_000)


@pytest.fixture(params=["hull", "joined", "set"])
def root(request) -> bpy.types.Object:
    """A hull in both ways of import, and a set."""
    if request.param == "set":
        assert bpy.ops.import_scene.sylpheed_set(filepath=str(SMALL)) == {"FINISHED"}
        return next(obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "set")
    return import_hull(TWO_ASTEROIDS, surfaces="JOINED" if request.param == "joined" else "SEPARATE")


@pytest.fixture
def said(addon, tmp_path: Path, capfd) -> Callable:
    """The warnings of an export, which are those of a check too, that name an object; Select selects it."""

    def run(root: bpy.types.Object, name: str, selects: str | None = "") -> str:
        capfd.readouterr()
        if root["sylpheed_kind"] == "set":
            bpy.ops.export_scene.sylpheed_set(filepath=str(tmp_path / "out.bin"), set=root.name)
        else:
            export(tmp_path, hull=root.name)
        lines = capfd.readouterr().out.splitlines()
        found = [
            line.removeprefix("Warning: ") for line in lines if line.startswith("Warning: ") and f'"{name}"' in line
        ]
        assert bpy.ops.sylpheed.check() == {"FINISHED"}
        problems = addon.blender_addon.checks.results.of(root).checked.problems
        left = [problem for problem in problems if problem.check in ("left out", "cutters", "edited cells")]
        mine = [problem for problem in left if f'"{name}"' in problem.message]
        assert {problem.message for problem in mine} <= set(found)
        if mine and selects is not None:
            if bpy.context.mode == "OBJECT":
                select(root)
            assert bpy.ops.sylpheed.select_problem(root=root.name, check=mine[0].check) == {"FINISHED"}
            assert bpy.context.mode == "OBJECT" and bpy.data.objects[selects or name].select_get()
        return "\n".join(found)

    return run


def child(root: bpy.types.Object, name: str, data: bpy.types.ID | None) -> bpy.types.Object:
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    obj.parent = root
    move(obj, PLACE)
    bpy.context.view_layer.update()
    return obj


def rock(root: bpy.types.Object | None, name: str = "rock") -> bpy.types.Object:
    obj = new_object(root, name, *tetrahedron((0, 0, 0), 2000))
    move(obj, PLACE)
    return obj


def nodes(obj: bpy.types.Object, kind: str) -> None:
    """A Geometry Nodes modifier of one node that makes something from the object's geometry or from nothing."""
    tree = bpy.data.node_groups.new("nodes", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    begin, node, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new(kind), tree.nodes.new("NodeGroupOutput")
    if node.inputs and node.inputs[0].type == "GEOMETRY":
        tree.links.new(begin.outputs[0], node.inputs[0])
    tree.links.new(node.outputs[0], end.inputs[0])
    obj.modifiers.new("nodes", "NODES").node_group = tree


# --- types of objects -----------------------------------------------------------------------------


def metaball() -> bpy.types.ID:
    ball = bpy.data.metaballs.new("ball")
    ball.resolution = 0.5
    ball.elements.new().radius = 2
    return ball


def hair_curves() -> bpy.types.ID:
    curves = bpy.data.hair_curves.new("hair")
    curves.add_curves([3])
    return curves


def point_cloud() -> bpy.types.ID:
    return bpy.data.pointclouds.new("points")


def volume() -> bpy.types.ID:
    return bpy.data.volumes.new("smoke")


def grease_pencil() -> bpy.types.ID:
    kind = "grease_pencils_v3" if (4, 3) <= bpy.app.version < (5, 0) else "grease_pencils"
    return getattr(bpy.data, kind).new("strokes")


UNREADABLE = {
    "a metaball": metaball,
    "hair curves": hair_curves,
    "a point cloud": point_cloud,
    "a volume": volume,
    "a Grease Pencil object": grease_pencil,
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_an_object_that_is_not_exported_is_named(what: str, root, said) -> None:
    data = UNREADABLE[what]()
    child(root, "thing", data)
    assert f'"thing" is {what} and isn\'t exported: convert it to a mesh' in said(root, "thing")


@pytest.mark.parametrize("make", [hair_curves, point_cloud])
def test_nodes_that_make_a_mesh_of_it_do_not_silence_the_warning(make, root, said) -> None:
    nodes(child(root, "thing", make()), "GeometryNodeMeshCube")
    assert "isn't exported" in said(root, "thing")


@pytest.mark.parametrize("make", [metaball, hair_curves])
def test_converting_it_to_a_mesh_helps(make, tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS)
    obj = child(root, "thing", make())
    obj.scale = (500, 500, 500)
    bpy.context.view_layer.update()
    if make is hair_curves:
        nodes(obj, "GeometryNodeMeshCube")
    select(obj)
    assert bpy.ops.object.convert(target="MESH") == {"FINISHED"}
    assert len(read_col(export(tmp_path, hull=root.name)).triangles) > len(read_col(source(TWO_ASTEROIDS)).triangles)


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_a_collection_instance_leaves_out_is_named(what: str, root, said) -> None:
    data = UNREADABLE[what]()
    collection = bpy.data.collections.new("props")
    collection.objects.link(bpy.data.objects.new("thing", data))
    empty = child(root, "instance", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    assert f'"instance" holds "thing", which is {what}' in said(root, "instance")


@pytest.mark.parametrize("kind", ["LIGHT", "CAMERA", "ARMATURE", "LATTICE", "SPEAKER", "EMPTY"])
def test_what_has_no_surface_needs_no_warning(kind: str, root, said) -> None:
    bpy.ops.object.add(type=kind)
    obj = bpy.context.object
    obj.name, obj.parent = "thing", root
    root.users_collection[0].objects.link(obj)
    assert said(root, "thing") == ""


# --- nodes, particles, repeats --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["GeometryNodeMeshToPoints", "GeometryNodeMeshToCurve", "GeometryNodeVolumeCube"])
def test_what_nodes_make_besides_a_mesh_is_named(kind: str, root, said) -> None:
    nodes(rock(root), kind)
    assert "aren't exported" in said(root, "rock", None) or "has vertices but no faces" in said(root, "rock", None)


def test_instances_are_named_and_realizing_them_helps(root, said, tmp_path: Path) -> None:
    obj = rock(root)
    nodes(obj, "GeometryNodeGeometryToInstance")
    assert "makes 1 instance," in said(root, "rock", None)
    tree = obj.modifiers[0].node_group
    middle = next(node for node in tree.nodes if node.type == "GEOMETRY_TO_INSTANCE")
    end = next(node for node in tree.nodes if node.type == "GROUP_OUTPUT")
    real = tree.nodes.new("GeometryNodeRealizeInstances")
    tree.links.new(middle.outputs[0], real.inputs[0])
    tree.links.new(real.outputs[0], end.inputs[0])
    assert said(root, "rock") == ""


@pytest.mark.parametrize("kind", ["bevelled curve", "text", "surface"])
def test_the_mesh_of_a_curve_is_no_instance(kind: str, root, said) -> None:
    if kind == "text":
        data = bpy.data.curves.new("text", "FONT")
        data.body, data.extrude, data.size = "A", 20, 2000
    elif kind == "surface":
        bpy.ops.surface.primitive_nurbs_surface_torus_add(radius=500)
        data = bpy.context.object.data
        bpy.data.objects.remove(bpy.context.object)
    else:
        data = bpy.data.curves.new("curve", "CURVE")
        data.dimensions, data.bevel_depth, data.use_fill_caps = "3D", 100, True
        points = data.splines.new("POLY").points
        points.add(1)
        points[0].co, points[1].co = (0, 0, 0, 1), (2000, 0, 0, 1)
    obj = child(root, "thing", data)
    select(obj)
    bpy.ops.object.convert(target="MESH", keep_original=True)
    mesh = bpy.context.object
    assert len(mesh.data.polygons)
    bpy.data.objects.remove(mesh)
    assert "instance" not in said(root, "thing")


def test_particles_are_named(root, said) -> None:
    obj = rock(root)
    obj.modifiers.new("particles", "PARTICLE_SYSTEM")
    assert "particles" in said(root, "rock")


def test_repeated_children_are_named(root, said) -> None:
    obj = rock(root)
    obj.instance_type = "VERTS"
    small = new_object(obj, "small", *tetrahedron((0, 0, 0), 100))
    move(small, (3000, 3000, 3000))
    assert "repeats its children" in said(root, "rock")


# --- not parented ---------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [False, True])
def test_a_mesh_in_the_roots_collection_that_is_not_parented_is_named(hidden: bool, root, said) -> None:
    obj = rock(None)
    bpy.context.scene.collection.objects.unlink(obj)
    root.users_collection[0].objects.link(obj)
    bpy.context.view_layer.update()
    obj.hide_set(hidden)
    text = said(root, "rock")
    assert "not parented" in text and root.name in text
    obj.parent = root
    assert "not parented" not in said(root, "rock")


def test_a_mesh_elsewhere_is_no_concern(root, said) -> None:
    rock(None)
    assert said(root, "rock") == ""


def test_an_instance_and_a_curve_beside_the_root_are_named(root, said) -> None:
    collection = bpy.data.collections.new("props")
    collection.objects.link(bpy.data.objects.new("inner", rock(root, "other").data))
    empty = bpy.data.objects.new("instance", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    text = bpy.data.objects.new("text", bpy.data.curves.new("text", "FONT"))
    for obj in (empty, text):
        root.users_collection[0].objects.link(obj)
    assert "not parented" in said(root, "instance") and "not parented" in said(root, "text")


def test_objects_of_another_hull_in_the_collection_are_that_ones(said) -> None:
    first, second = import_hull(ONE_ASTEROID), import_hull(TWO_ASTEROIDS)
    for obj in surfaces(second).values():
        first.users_collection[0].objects.link(obj)
    assert said(first, surfaces(second)["wall"].name) == ""


def test_a_part_that_lost_its_parent_is_named_once(root, said) -> None:
    obj = next(obj for obj in root.children if obj.type == "MESH")
    if root["sylpheed_kind"] == "hull":
        obj = rock(root)
        obj["sylpheed_root"] = root["sylpheed_root"]
        bpy.context.scene.collection.objects.unlink(obj)
        root.users_collection[0].objects.link(obj)
    obj.parent = None
    lines = [line for line in said(root, obj.name).splitlines() if "parented" in line]
    assert len(lines) == 1 and "no longer parented" in lines[0]


def test_a_child_in_another_scene_alone_is_named(root, said) -> None:
    obj = rock(root)
    there = bpy.data.scenes.new("there")
    there.collection.objects.link(obj)
    bpy.context.scene.collection.objects.unlink(obj)
    assert "another scene" in said(root, "rock", None)


# --- cell boxes -----------------------------------------------------------------------------------


def cells(root: bpy.types.Object) -> list[bpy.types.Object]:
    return sorted((obj for obj in root.children if "cell_" in obj.name), key=lambda obj: obj.name)


def fill(mesh: bpy.types.Mesh) -> None:
    edit_faces(mesh, lambda bm: bmesh.ops.convex_hull(bm, input=bm.verts[:]))


def test_a_copied_cell_box_with_faces_is_named_and_the_fix_exports_it(said, tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS, cells="OBJECTS")
    box = cells(root)[0]
    copy = box.copy()
    copy.data, copy.name = box.data.copy(), "copy"
    copy.scale, copy.location = (0.1, 0.1, 0.1), PLACE
    bpy.context.scene.collection.objects.link(copy)
    assert said(root, "copy") == ""
    fill(copy.data)
    assert "with faces" in said(root, "copy") and f'"{box.name}"' not in said(root, "copy")
    assert bpy.ops.sylpheed.fix_cells() == {"FINISHED"}
    assert said(root, "copy") == ""
    assert len(read_col(export(tmp_path)).triangles) == len(read_col(source(TWO_ASTEROIDS)).triangles) + 12


def test_a_copied_cell_box_in_edit_mode_is_named(said) -> None:
    root = import_hull(TWO_ASTEROIDS, cells="OBJECTS")
    box = cells(root)[0]
    copy = box.copy()
    copy.data, copy.name = box.data.copy(), "copy"
    bpy.context.scene.collection.objects.link(copy)
    select(copy)
    bpy.ops.object.mode_set(mode="EDIT")
    mesh = bmesh.from_edit_mesh(copy.data)
    bmesh.ops.convex_hull(mesh, input=mesh.verts[:])
    bmesh.update_edit_mesh(copy.data)
    assert "with faces" in said(root, "copy", None)
    assert bpy.ops.sylpheed.fix_cells() == {"FINISHED"}
    assert "with faces" not in said(root, "copy")


def test_rocks_joined_into_a_cell_box_are_named(said) -> None:
    root = import_hull(TWO_ASTEROIDS, cells="OBJECTS")
    box, part = cells(root)[0], surfaces(root)["asteroid_02"]
    for layer in bpy.context.view_layer.layer_collection.children[root.name].children:
        layer.exclude = False
    select(part, box)
    assert bpy.ops.object.join() == {"FINISHED"}
    name = box.name
    assert "with faces" in said(root, name)
    box.data = box.data.copy()
    for other in cells(root):
        if other != box:
            bpy.data.objects.remove(other)
    assert bpy.ops.sylpheed.fix_cells() == {"FINISHED"}
    assert said(root, name) == ""


# --- cutters --------------------------------------------------------------------------------------


def cut(root: bpy.types.Object, how: str) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A rock with a Boolean modifier, and the object below the root that it cuts with."""
    target = rock(root, "target")
    cutter = rock(root, "cutter")
    move(cutter, np.add(PLACE, 400))
    cutter.scale = (0.6, 0.6, 0.6)
    cutter.rotation_euler = (0.1, 0.2, 0.3)
    modifier = target.modifiers.new("cut", "BOOLEAN")
    modifier.operation, modifier.solver = "DIFFERENCE", "EXACT"
    if how == "collection":
        held = bpy.data.collections.new("cutters")
        held.objects.link(cutter)
        modifier.operand_type, modifier.collection = "COLLECTION", held
    else:
        modifier.object = cutter
    cutter.display_type = "BOUNDS" if how == "bounds" else "WIRE"
    cutter.hide_render = True
    bpy.context.view_layer.update()
    return target, cutter


@pytest.mark.parametrize("hidden", [None, "eye", "monitor"])
@pytest.mark.parametrize("how", ["bounds", "wire", "collection"])
def test_a_cutter_is_named_and_the_fix_moves_it_out(how: str, hidden: str | None, root, said, tmp_path: Path) -> None:
    target, cutter = cut(root, how)
    before = evaluated(target)[0]
    place = np.array(cutter.matrix_world)
    if hidden == "eye":
        cutter.hide_set(True)
    cutter.hide_viewport = hidden == "monitor"
    assert "only used by a modifier" in said(root, "cutter")
    if hidden == "eye":
        cutter.hide_set(True)
    cutter.hide_viewport = hidden == "monitor"
    assert bpy.ops.sylpheed.fix_cutters(root=root.name) == {"FINISHED"}
    assert cutter.parent is None and said(root, "cutter") == ""
    cutter.hide_viewport = False
    bpy.context.view_layer.update()
    np.testing.assert_allclose(np.array(cutter.matrix_world), place, atol=1e-3)
    np.testing.assert_allclose(evaluated(target)[0], before, atol=0.5)


def test_an_input_of_nodes_is_named_where_it_is_neither_solid_nor_rendered(root, said) -> None:
    target, helper = rock(root, "target"), rock(root, "helper")
    move(helper, (8_000, 8_000, 8_000))
    nodes(target, "GeometryNodeSetPosition")
    tree = target.modifiers[0].node_group
    tree.interface.new_socket("Object", in_out="INPUT", socket_type="NodeSocketObject")
    name = next(item.identifier for item in tree.interface.items_tree if item.name == "Object")
    modifier = target.modifiers[0]
    if hasattr(modifier, "properties"):  # Blender 5.3
        getattr(modifier.properties.inputs, name).value = helper
    else:
        modifier[name] = helper
    assert "modifier" not in said(root, "helper")
    helper.display_type, helper.hide_render = "WIRE", True
    assert "only used by a modifier" in said(root, "helper")


def test_a_cutter_in_the_roots_collection_that_is_not_parented_is_no_concern(root, said) -> None:
    _, cutter = cut(root, "wire")
    root.users_collection[0].objects.link(cutter)
    cutter["sylpheed_root"] = root["sylpheed_root"]
    assert bpy.ops.sylpheed.fix_cutters(root=root.name) == {"FINISHED"}
    assert said(root, "cutter") == ""


def test_a_wall_that_a_modifier_uses_is_no_cutter(said) -> None:
    root = import_hull(TWO_ASTEROIDS)
    parts = surfaces(root)
    assert parts["wall"].display_type == "WIRE"
    modifier = rock(root).modifiers.new("shrink", "SHRINKWRAP")
    modifier.target, modifier.wrap_method, modifier.offset = parts["asteroid_01"], "NEAREST_SURFACEPOINT", 50
    modifier.show_viewport = modifier.show_render = False
    rock(root, "other").modifiers.new("shrink", "SHRINKWRAP").target = None
    assert "modifier" not in said(root, parts["wall"].name) + said(root, parts["asteroid_01"].name)


# --- no faces -------------------------------------------------------------------------------------


def test_vertices_without_faces_are_named(root, said) -> None:
    new_object(root, "dots", [(0, 0, 0), (1, 0, 0)], [])
    assert "has vertices but no faces" in said(root, "dots")


def test_a_thin_curve_is_named(root, said) -> None:
    curve = bpy.data.curves.new("curve", "CURVE")
    curve.dimensions = "3D"
    points = curve.splines.new("POLY").points
    points.add(1)
    points[1].co = (2000, 0, 0, 1)
    child(root, "curve", curve)
    assert "has vertices but no faces" in said(root, "curve")


def test_faces_that_are_all_deleted_leave_a_named_object(root, said) -> None:
    obj = rock(root)
    edit_faces(obj.data, lambda bm: bmesh.ops.delete(bm, geom=bm.faces[:], context="FACES_ONLY"))
    assert len(obj.data.vertices) == 4 and len(TETRAHEDRON) == 4
    assert "has vertices but no faces" in said(root, "rock")
