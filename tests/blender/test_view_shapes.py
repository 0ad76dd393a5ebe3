"""Shapes and places that only Blender's evaluation knows: sculpting, curves in edit mode, parents of all types,
animation, drivers, physics and scene settings. Hidden objects too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bmesh
import bpy
import numpy as np
import pytest

from tests.blender.helpers import TWO_ASTEROIDS, about_the_root, export, import_hull, move, select, surfaces
from tests.blender.shown import assert_file_shows, difference, shown
from tests.blender.test_view import HIDING, assert_shown, export_set, hide, import_set, link
from tests.oracle.readers import read_col, read_set

FRAME = 7


@pytest.fixture
def root() -> bpy.types.Object:
    """A hull of a wall and two asteroids, at a later frame than the first."""
    bpy.context.scene.frame_set(FRAME)
    return import_hull(TWO_ASTEROIDS)


def rock(root: bpy.types.Object) -> bpy.types.Object:
    """An asteroid made small enough for any change to stay in the box."""
    found = surfaces(root)["asteroid_01"]
    vertices = np.array([vertex.co[:] for vertex in found.data.vertices])
    found.data.vertices.foreach_set("co", (0.3 * vertices).astype(np.float32).ravel())
    found.data.update()
    return found


# --- edits in progress ----------------------------------------------------------------------------


@contextmanager
def sculpting(obj: bpy.types.Object, dyntopo: bool) -> Iterator[None]:
    """Sculpt mode, in which what is done has to be undoable."""
    select(obj)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.mode_set(mode="SCULPT")
    bpy.ops.ed.undo_push(message="sculpt")
    area = next(area for area in bpy.context.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(area=area, region=region):
        if dyntopo:
            bpy.ops.sculpt.dynamic_topology_toggle()
        yield


def sculpt(obj: bpy.types.Object, kind: str) -> None:
    """Changes an object in sculpt mode, and stays in it."""
    name = obj.name
    if kind == "multires":
        modifier = obj.modifiers.new("levels", "MULTIRES")
        select(obj)
        bpy.ops.object.multires_subdivide(modifier=modifier.name, mode="SIMPLE")
    with sculpting(obj, dyntopo=kind.startswith("dyntopo")):
        if kind == "dyntopo new faces":
            bpy.ops.sculpt.symmetrize()
        bpy.ops.sculpt.mesh_filter(type="SCALE", strength=0.1)
    assert bpy.data.objects[name].mode == "SCULPT"


SCULPTING = ["plain", "dyntopo", "dyntopo new faces", "multires"]


@pytest.mark.parametrize("kind", SCULPTING)
@pytest.mark.parametrize("subdivided", [False, True])
def test_what_is_sculpted_is_exported_and_checked_as_it_is(root, kind: str, subdivided: bool, tmp_path: Path) -> None:
    obj = rock(root)
    before = shown(root)
    if subdivided:
        modifier = obj.modifiers.new("more", "SUBSURF")
        modifier.subdivision_type, modifier.levels = "SIMPLE", 1
    sculpt(obj, kind)
    col = read_col(export(tmp_path))
    assert bpy.context.mode == "SCULPT" and obj.mode == "SCULPT"
    assert bpy.ops.sylpheed.check() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_file_shows((col.vertices, col.triangles), root)
    assert difference((col.vertices, col.triangles), before) != (0, 0)
    assert export(tmp_path) == export(tmp_path)


@pytest.mark.parametrize("kind", SCULPTING)
def test_a_sets_part_is_exported_as_it_is_sculpted(kind: str, tmp_path: Path) -> None:
    root = import_set()
    obj = root.children_recursive[0]
    sculpt(obj, kind)
    parts = {part.name: (part.vertices, part.triangles) for part in read_set(export_set(tmp_path))}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert difference(parts[obj.name], shown(root, [obj])) == (0, 0)


def add_curve(root: bpy.types.Object, kind: str) -> bpy.types.Object:
    """A curve with a mesh of its own below the root."""
    if kind == "curve":
        bpy.ops.curve.primitive_bezier_circle_add()
        bpy.context.object.data.bevel_depth = 0.2
    elif kind == "surface":
        bpy.ops.surface.primitive_nurbs_surface_torus_add()
    else:
        bpy.ops.object.text_add()
        bpy.context.object.data.extrude = 0.2
    obj = bpy.context.object
    obj.name = kind
    obj.parent, obj.scale = root, (900, 900, 900)
    bpy.context.view_layer.update()
    return obj


def edit_curve(kind: str) -> None:
    if kind == "text":
        bpy.ops.font.delete(type="PREVIOUS_CHARACTER")
    else:
        bpy.ops.curve.select_all(action="SELECT")
        bpy.ops.transform.resize(value=(1.5, 1.5, 1.5))


@pytest.mark.parametrize("kind", ["curve", "surface", "text"])
def test_a_curve_in_edit_mode_is_exported_as_it_is(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    root = import_set()
    obj = add_curve(root, kind)
    bpy.ops.object.mode_set(mode="EDIT")
    before = shown(root, [obj])
    edit_curve(kind)
    parts = {part.name: (part.vertices, part.triangles) for part in read_set(export_set(tmp_path))}
    assert obj.mode == "EDIT" and "instance" not in capfd.readouterr().out
    file = parts[obj.name]
    assert difference(file, shown(root, [obj])) == (0, 0) and difference(file, before) != (0, 0)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert difference(file, shown(root, [obj])) == (0, 0)


@pytest.mark.parametrize("in_edit_mode", [True, False])
@pytest.mark.parametrize("hidden", HIDING)
def test_a_mesh_in_edit_mode_is_exported_as_the_view_shows_it(
    root, in_edit_mode: bool, hidden: str, tmp_path: Path
) -> None:
    obj = rock(root)
    modifier = obj.modifiers.new("more", "SUBSURF")
    modifier.subdivision_type, modifier.levels, modifier.show_in_editmode = "SIMPLE", 1, in_edit_mode
    select(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    mesh = bmesh.from_edit_mesh(obj.data)
    bmesh.ops.translate(mesh, verts=list(mesh.verts), vec=(100, 0, 0))
    bmesh.update_edit_mesh(obj.data)
    hide(obj, hidden)
    assert_shown(tmp_path, root)


# --- places ---------------------------------------------------------------------------------------


def add_parent(root: bpy.types.Object, kind: str) -> bpy.types.Object:
    """Something of a kind that an asteroid can be parented to, in a place of its own."""
    if kind == "path":
        bpy.ops.curve.primitive_nurbs_path_add()
        data = bpy.context.object.data
        data.use_path, data.path_duration = True, 20
        data.eval_time = 0
        data.keyframe_insert("eval_time", frame=1)
        data.eval_time = 20
        data.keyframe_insert("eval_time", frame=21)
        bpy.context.object.scale = (1500, 1500, 1500)
    elif kind in ("armature", "bone"):
        bpy.ops.object.armature_add()
        bone = bpy.context.object.pose.bones[0]
        bone.location, bone.rotation_mode, bone.rotation_euler = (0.5, 0.2, 0.1), "XYZ", (0.2, 0.3, 0.4)
        bpy.context.object.scale = (1000, 1000, 1000)
    elif kind == "lattice":
        bpy.ops.object.add(type="LATTICE")
        lattice = bpy.context.object
        lattice.scale = (20_000, 20_000, 20_000)
        lattice.data.points[0].co_deform.x += 0.1
        lattice.data.points[7].co_deform.z += 0.2
        lattice.data.update_tag()
    elif kind in ("vertex", "vertices"):
        bpy.ops.object.add(type="MESH")
        bpy.context.object.data.from_pydata([(500, 0, 0), (0, 600, 0), (0, 0, 700), (50, 60, 70)], [], [])
    parent = bpy.context.object
    parent.parent = root
    return parent


PARENTS = {
    "path": "OBJECT",
    "armature": "ARMATURE",
    "bone": "BONE",
    "lattice": "LATTICE",
    "vertex": "VERTEX",
    "vertices": "VERTEX_3",
}


def put_below(obj: bpy.types.Object, parent: bpy.types.Object, kind: str) -> None:
    if kind == "armature":
        obj.vertex_groups.new(name=parent.pose.bones[0].name).add(range(0, len(obj.data.vertices), 2), 0.5, "ADD")
    if kind == "bone":
        obj.parent_bone = parent.pose.bones[0].name
    obj.parent, obj.parent_type = parent, PARENTS[kind]
    if kind == "bone":
        obj.parent_bone = parent.pose.bones[0].name
    obj.scale = (0.001, 0.001, 0.001) if kind == "vertex" else [1 / size for size in parent.scale]
    if kind == "vertices":
        obj.parent_vertices = (0, 1, 2)
    obj.location = (0, 0, 0)
    obj.data.update_tag()  # else the view shows the shape from before


@pytest.mark.parametrize("hidden", HIDING)
@pytest.mark.parametrize("kind", PARENTS)
def test_an_asteroid_follows_its_parent_as_the_view_shows_it(root, kind: str, hidden: str, tmp_path: Path) -> None:
    obj = about_the_root(rock(root))
    plain = shown(root)
    parent = add_parent(root, kind)
    put_below(obj, parent, kind)
    bpy.context.scene.frame_set(FRAME)
    hide(obj, hidden)
    assert_shown(tmp_path, root)
    col = read_col(export(tmp_path))
    assert difference((col.vertices, col.triangles), plain) != (0, 0)
    hide(parent, hidden)
    assert_shown(tmp_path, root)


@pytest.mark.parametrize("kind", ["armature", "lattice"])
def test_a_deforming_parent_is_left_out_with_the_modifiers(root, kind: str, tmp_path: Path) -> None:
    obj = about_the_root(rock(root))
    plain = shown(root)
    parent = add_parent(root, kind)
    put_below(obj, parent, kind)
    col = read_col(export(tmp_path, apply_modifiers=False))
    assert difference((col.vertices, col.triangles), plain) == (0, 0)


def animate(obj: bpy.types.Object, what: str) -> None:
    """Makes an object move with the frame."""
    if what == "driver":
        obj.driver_add("location", 0).driver.expression = "frame * 100"
    elif what == "action":
        for frame, place in ((1, 0), (21, 2000)):
            move(obj, x=place)
            obj.keyframe_insert("location", frame=frame)
    elif what == "shape key":
        obj.shape_key_add(name="Basis")
        key = obj.shape_key_add(name="larger")
        for point in key.data:
            point.co *= 1.3
        for frame, value in ((1, 0.0), (21, 1.0)):
            key.value = value
            key.keyframe_insert("value", frame=frame)
    else:
        empty = link(bpy.data.objects.new("target", None))
        empty.parent = obj.parent
        animate(empty, "action")
        constraint = obj.constraints.new("COPY_LOCATION")
        constraint.target = empty


@pytest.mark.parametrize("hidden", HIDING)
@pytest.mark.parametrize("what", ["driver", "action", "shape key", "constraint"])
@pytest.mark.parametrize("mover", ["asteroid", "its parent"])
def test_animation_counts_at_the_frame_that_is_shown(root, what: str, mover: str, hidden: str, tmp_path: Path) -> None:
    obj = rock(root)
    moving = obj
    if mover == "its parent" and what != "shape key":
        moving = link(bpy.data.objects.new("between", None))
        moving.parent = obj.parent
        obj.parent = moving
    animate(moving, what)
    bpy.context.scene.frame_set(3)
    hide(moving, hidden)
    hide(obj, hidden)
    for frame in (FRAME, 15):
        bpy.context.scene.frame_set(frame)
        assert_shown(tmp_path, root)


@pytest.mark.parametrize("hidden", HIDING)
def test_a_root_that_moves_moves_nothing_in_the_file(root, hidden: str, tmp_path: Path) -> None:
    before = export(tmp_path)
    animate(root, "action")
    root.constraints.new("LIMIT_SCALE")
    obj = surfaces(root)["asteroid_01"]
    obj.modifiers.new("none", "WELD").merge_threshold = 0
    hide(obj, hidden)
    bpy.context.scene.frame_set(15)
    assert export(tmp_path) == before


# --- what the scene says --------------------------------------------------------------------------


def subdivide(obj: bpy.types.Object) -> None:
    modifier = obj.modifiers.new("more", "SUBSURF")
    modifier.subdivision_type, modifier.levels = "SIMPLE", 2


@pytest.mark.parametrize("hidden", HIDING)
def test_simplify_counts(root, hidden: str, tmp_path: Path) -> None:
    obj = rock(root)
    subdivide(obj)
    render = bpy.context.scene.render
    render.use_simplify, render.simplify_subdivision = True, 1
    hide(obj, hidden)
    assert_shown(tmp_path, root)
    faces = len(read_col(export(tmp_path)).triangles)
    render.simplify_subdivision = 0
    assert len(read_col(export(tmp_path)).triangles) < faces
    assert_shown(tmp_path, root)


@pytest.mark.parametrize("hidden", HIDING)
def test_the_active_camera_node_counts(root, hidden: str, tmp_path: Path) -> None:
    obj = rock(root)
    camera = link(bpy.data.objects.new("camera", bpy.data.cameras.new("camera")))
    camera.parent, camera.location = root, (3000, 0, 0)
    bpy.context.scene.camera = camera
    nodes = bpy.data.node_groups.new("to the camera", "GeometryNodeTree")
    nodes.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    nodes.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    kinds = ("NodeGroupInput", "GeometryNodeInputActiveCamera", "GeometryNodeObjectInfo", "GeometryNodeSetPosition")
    start, active, info, move = map(nodes.nodes.new, kinds)
    info.transform_space = "RELATIVE"
    end = nodes.nodes.new("NodeGroupOutput")
    nodes.links.new(active.outputs[0], info.inputs["Object"])
    nodes.links.new(info.outputs["Location"], move.inputs["Offset"])
    nodes.links.new(start.outputs[0], move.inputs["Geometry"])
    nodes.links.new(move.outputs[0], end.inputs[0])
    plain = shown(root)
    obj.modifiers.new("nodes", "NODES").node_group = nodes
    hide(obj, hidden)
    assert_shown(tmp_path, root)
    col = read_col(export(tmp_path))
    assert difference((col.vertices, col.triangles), plain) != (0, 0)


@pytest.mark.parametrize("hidden", HIDING)
def test_a_rigid_body_is_where_it_fell(root, hidden: str, tmp_path: Path) -> None:
    obj = rock(root)
    plain = shown(root)
    bpy.ops.rigidbody.world_add()
    select(obj)
    bpy.ops.rigidbody.object_add()
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
    if not hidden:  # what is hidden later falls no further
        assert difference((read_col(export(tmp_path)).vertices, read_col(export(tmp_path)).triangles), plain) != (0, 0)
    assert_shown(tmp_path, root)
    hide(obj, hidden)
    assert_shown(tmp_path, root)


@pytest.mark.parametrize("hidden", HIDING)
def test_cloth_is_exported_as_it_hangs(root, hidden: str, tmp_path: Path) -> None:
    obj = rock(root)
    obj.modifiers.new("cloth", "CLOTH")
    plain = shown(root)
    for frame in range(1, 6):
        bpy.context.scene.frame_set(frame)
    assert difference((lambda col: (col.vertices, col.triangles))(read_col(export(tmp_path))), plain) != (0, 0)
    hide(obj, hidden)
    assert_shown(tmp_path, root)


# --- nothing else happens -------------------------------------------------------------------------


@pytest.fixture
def calls() -> Iterator[list]:
    """What the handlers of a user are called for."""
    found: list = []
    handlers = bpy.app.handlers
    names = ("frame_change_pre", "frame_change_post", "depsgraph_update_pre", "depsgraph_update_post")
    own = {name: (lambda *_, name=name: found.append(name)) for name in names}
    for name, call in own.items():
        getattr(handlers, name).append(call)
    yield found
    for name, call in own.items():
        assert call in getattr(handlers, name), "the handler is gone"
        getattr(handlers, name).remove(call)


@pytest.mark.parametrize("hidden", HIDING)
@pytest.mark.parametrize("what", ["constraint", "driver", "modifier", "sculpt", "dyntopo", "edit mode"])
def test_no_handler_runs_and_nothing_stays(root, what: str, hidden: str, calls: list, tmp_path: Path) -> None:
    obj = rock(root)
    if what in ("constraint", "driver"):
        animate(obj, what)
    else:
        subdivide(obj)
    bpy.context.scene.frame_set(FRAME)
    if what == "edit mode":
        select(obj)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.transform.translate(value=(0.1, 0, 0))
    elif what in ("sculpt", "dyntopo"):
        sculpt(obj, "plain" if what == "sculpt" else what)
    hide(obj, hidden)
    bpy.context.view_layer.update()
    held = {
        name: len(getattr(bpy.data, name)) for name in ("objects", "meshes", "scenes", "node_groups", "collections")
    }
    layers, active = len(bpy.context.scene.view_layers), bpy.context.view_layer.objects.active
    selected = {each for each in bpy.context.view_layer.objects if each.select_get()}
    mode = bpy.context.mode, obj.mode
    calls.clear()
    export(tmp_path)
    bpy.ops.sylpheed.check()
    bpy.context.view_layer.update()
    assert not calls
    assert held == {name: len(getattr(bpy.data, name)) for name in held}
    assert layers == len(bpy.context.scene.view_layers) and active == bpy.context.view_layer.objects.active
    assert selected == {each for each in bpy.context.view_layer.objects if each.select_get()}
    assert bpy.context.scene.frame_current == FRAME and mode == (bpy.context.mode, obj.mode)
    # What the graph is left with follows further edits.
    root.location.x += 1
    bpy.context.view_layer.update()
    assert calls.count("depsgraph_update_post") == 1 and not any("frame" in call for call in calls)


@pytest.mark.parametrize("hidden", [hidden for hidden in HIDING if hidden not in ("", "eye")])
def test_levels_hidden_while_they_are_sculpted_are_refused(root, hidden: str, tmp_path: Path) -> None:
    """Blender would crash. Once the object is shown again, the export goes on."""
    obj = rock(root)
    sculpt(obj, "multires")
    hide(obj, hidden)
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="Sculpt Mode"):
        export(tmp_path)
    assert bpy.ops.sylpheed.check() == {"FINISHED"}
    if hidden == "monitor":
        obj.hide_viewport = False
        bpy.context.view_layer.update()
        export(tmp_path)


def test_a_failure_while_hidden_objects_are_read_leaves_nothing_behind(root, tmp_path: Path) -> None:
    obj = rock(root)
    animate(obj, "constraint")
    hide(obj, "monitor")
    root.scale = (0, 0, 0)
    held = len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.node_groups)
    handlers = list(bpy.app.handlers.depsgraph_update_post)
    with pytest.raises(RuntimeError, match="scale"):
        export(tmp_path)
    assert held == (len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.node_groups))
    assert handlers == list(bpy.app.handlers.depsgraph_update_post)


@pytest.mark.parametrize("hidden", HIDING)
def test_instances_of_modifiers_are_named_where_hidden_too(
    root, hidden: str, tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    nodes = bpy.data.node_groups.new("points", "GeometryNodeTree")
    nodes.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    nodes.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    kinds = ("NodeGroupInput", "GeometryNodeInstanceOnPoints", "GeometryNodeMeshCube", "GeometryNodeJoinGeometry")
    start, instances, cube, join = map(nodes.nodes.new, kinds)
    end = nodes.nodes.new("NodeGroupOutput")
    nodes.links.new(start.outputs[0], instances.inputs["Points"])
    nodes.links.new(cube.outputs["Mesh"], instances.inputs["Instance"])
    nodes.links.new(start.outputs[0], join.inputs[0])
    nodes.links.new(instances.outputs[0], join.inputs[0])
    nodes.links.new(join.outputs[0], end.inputs[0])
    obj = rock(root)
    obj.modifiers.new("nodes", "NODES").node_group = nodes
    hide(obj, hidden)
    export(tmp_path)
    said = capfd.readouterr().out
    assert obj.name in said and f"makes {len(obj.data.vertices):,} instances" in said
