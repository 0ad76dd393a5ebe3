"""A hull among other things in a scene: what import makes, what export takes, and what it leaves alone."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from tests.blender.helpers import (
    CAVERN,
    DATA,
    MANY_ASTEROIDS,
    NO_WALL,
    ONE_ASTEROID,
    TWO_ASTEROIDS,
    assert_shape,
    coordinates,
    export,
    geometry,
    import_hull,
    judged,
    move,
    moved,
    new_object,
    refusal,
    roots,
    select,
    source,
    surfaces,
    tetrahedron,
)
from tests.oracle import game_queries as game
from tests.oracle.readers import read_col

CELL = 10_000


def stem(name: str) -> str:
    return name.removesuffix(".col")


def layer_of(collection: bpy.types.Collection) -> bpy.types.LayerCollection:
    """The collection's place in the view layer."""
    waiting = [bpy.context.view_layer.layer_collection]
    while waiting:
        layer = waiting.pop()
        if layer.collection == collection:
            return layer
        waiting += layer.children
    raise AssertionError(f"{collection.name} is not in the view layer")


def name_tree(collection: bpy.types.Collection) -> dict:
    return {"objects": sorted(o.name for o in collection.objects), "children": [c.name for c in collection.children]}


# --- what import makes ----------------------------------------------------------------------------


def test_names_and_collections_are_as_documented() -> None:
    root = import_hull(MANY_ASTEROIDS, cells="OBJECTS")
    name = stem(MANY_ASTEROIDS)
    assert (root.name, root.type, root.parent) == (name, "EMPTY", None)
    (collection,) = bpy.context.scene.collection.children
    parts = [f"asteroid_{number:02}.{name}" for number in range(1, 20)] + [f"wall.{name}"]
    assert name_tree(collection) == {"objects": sorted([name, *parts]), "children": [f"{name} cells"]}
    assert collection.name == name
    assert all(bpy.data.objects[part].parent == root and bpy.data.objects[part].data.name == part for part in parts)
    wall = geometry(bpy.data.objects[f"wall.{name}"].data)
    assert np.array_equal(np.abs(wall[0]), np.full((8, 3), 25_000)) and len(wall[1]) == 12


@pytest.mark.parametrize(
    "name, expected",
    [
        (TWO_ASTEROIDS, ["asteroid_01", "asteroid_02", "wall"]),
        (NO_WALL, ["asteroid_01"]),
        (CAVERN, ["wall"]),
        ("mapmesh_box_500km.col", ["wall"]),
    ],
)
def test_surfaces_that_face_inward_are_walls(name: str, expected: list[str]) -> None:
    root = import_hull(name)
    assert sorted(obj.name for obj in root.children) == [f"{part}.{stem(name)}" for part in expected]


def test_a_joined_hull_is_one_object() -> None:
    root = import_hull(MANY_ASTEROIDS, surfaces="JOINED")
    assert [(obj.name, obj.data.name) for obj in root.children] == [(f"hull.{stem(MANY_ASTEROIDS)}",) * 2]


@pytest.mark.parametrize("name", [MANY_ASTEROIDS, NO_WALL])
def test_cells_are_one_shared_box_at_each_listed_cell_and_excluded(name: str) -> None:
    col = read_col(source(name))
    root = import_hull(name, cells="OBJECTS")
    cells = bpy.data.collections[f"{stem(name)} cells"]
    wanted = {f"cell_{c.x:02}_{c.y:02}_{c.z:02}.{stem(name)}": (c.x, c.y, c.z) for c in col.cells if c.count}
    assert {obj.name for obj in cells.objects} == set(wanted)
    (mesh,) = {obj.data for obj in cells.objects}
    assert (len(mesh.vertices), len(mesh.edges), len(mesh.polygons)) == (8, 12, 0)
    corners = {tuple(v) for v in coordinates(mesh).tolist()}
    assert corners == {tuple(np.array(c) * col.cell_size) for c in itertools.product((0, 1), repeat=3)}
    for obj in cells.objects:
        assert tuple(obj.location) == tuple(col.bbox_min[:3] + wanted[obj.name] * col.cell_size)
        assert obj.parent == root and tuple(obj.scale) == (1, 1, 1)
    assert layer_of(cells).exclude and not layer_of(cells).hide_viewport
    assert not set(cells.objects) & set(bpy.context.view_layer.objects)
    assert all(obj.visible_get() for obj in root.children if obj.name not in cells.objects)


def test_bounding_spheres_show_what_the_game_reads() -> None:
    col = read_col(source(ONE_ASTEROID))
    import_hull(ONE_ASTEROID, spheres=True)
    for cell in col.cells:
        name = f"sphere_{cell.x:02}_{cell.y:02}_{cell.z:02}.{stem(ONE_ASTEROID)}"
        if not cell.count:
            assert name not in bpy.data.objects
            continue
        shown = bpy.data.objects[name]
        assert shown.empty_display_type == "SPHERE"
        radius = shown.empty_display_size * np.array(shown.scale)
        assert (*shown.location, *radius) == tuple(cell.lists[0].sphere[[0, 1, 2, 3, 3, 3]].tolist())


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("up", ["Y", "Z"])
@pytest.mark.parametrize("scale", [0.001, 1.0])
def test_the_root_alone_carries_axes_scale_and_mirror(scale: float, up: str, mirror: bool) -> None:
    root = import_hull(ONE_ASTEROID, scale=scale, up=up, mirror=mirror)
    bpy.context.view_layer.update()
    x = -scale if mirror else scale
    shown = root.matrix_world @ Matrix.Translation((1000, 2000, 3000)).translation
    expected = (1000 * x, -3000 * scale, 2000 * scale) if up == "Y" else (1000 * x, 2000 * scale, 3000 * scale)
    np.testing.assert_allclose(shown, expected, rtol=1e-6, atol=scale * 1e-3)
    assert tuple(root.location) == (0, 0, 0)
    for obj in root.children:
        assert obj.matrix_parent_inverse == Matrix() and obj.matrix_basis == Matrix.Translation(obj.location)


def test_the_new_root_is_active_and_alone_selected() -> None:
    bpy.ops.mesh.primitive_cube_add()
    root = import_hull(cells="OBJECTS", spheres=True)
    assert bpy.context.selected_objects == [root] and bpy.context.object == root


def test_it_is_selected_in_a_scene_that_no_window_shows_too() -> None:
    scene = bpy.data.scenes.new("beside")
    layer = scene.view_layers[0]
    with bpy.context.temp_override(scene=scene, view_layer=layer):
        root = import_hull()
    assert layer.objects.active == root and len(root.children) > 1
    assert [obj for obj in layer.objects if obj.select_get(view_layer=layer)] == [root]


# --- where import works ---------------------------------------------------------------------------


def empty_scene() -> None:
    assert bpy.context.object is None


def hidden_active_object() -> None:
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.hide_set(True)


def edit_mode() -> None:
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.object.mode_set(mode="EDIT")


def pose_mode() -> None:
    bpy.ops.object.armature_add()
    bpy.ops.object.mode_set(mode="POSE")


def excluded_active_collection() -> None:
    collection = bpy.data.collections.new("excluded")
    bpy.context.scene.collection.children.link(collection)
    layer = layer_of(collection)
    bpy.context.view_layer.active_layer_collection = layer
    layer.exclude = True


def hidden_active_collection() -> None:
    collection = bpy.data.collections.new("hidden")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.view_layer.active_layer_collection = layer_of(collection)
    collection.hide_viewport = layer_of(collection).hide_viewport = True


def several_view_layers() -> None:
    bpy.context.scene.view_layers.new("second")


@pytest.mark.parametrize(
    "prepare",
    [
        empty_scene,
        hidden_active_object,
        edit_mode,
        pose_mode,
        excluded_active_collection,
        hidden_active_collection,
        several_view_layers,
    ],
)
def test_import_works_whatever_the_scene_is_in(prepare, tmp_path: Path) -> None:
    prepare()
    mode, active = bpy.context.mode, bpy.context.object
    root = import_hull(TWO_ASTEROIDS, cells="OBJECTS")
    assert bpy.context.mode == mode
    assert mode == "OBJECT" or bpy.context.object == active
    assert len([obj for obj in root.children if "cell_" not in obj.name]) == 3
    assert all(obj.visible_get() for obj in root.children if "cell_" not in obj.name)
    assert export(tmp_path) == source(TWO_ASTEROIDS)


# --- hidden things --------------------------------------------------------------------------------

HIDING = {
    "hide_set": lambda obj: obj.hide_set(True),
    "hide_viewport": lambda obj: setattr(obj, "hide_viewport", True),
    "hide_render": lambda obj: setattr(obj, "hide_render", True),
    "excluded collection": lambda obj: setattr(layer_of(obj.users_collection[0]), "exclude", True),
    "hidden layer collection": lambda obj: setattr(layer_of(obj.users_collection[0]), "hide_viewport", True),
    "hidden collection": lambda obj: setattr(obj.users_collection[0], "hide_viewport", True),
    "bounds only": lambda obj: setattr(obj, "display_type", "BOUNDS"),
}
SHOWING = {
    "hide_set": lambda obj: obj.hide_set(False),
    "hide_viewport": lambda obj: setattr(obj, "hide_viewport", False),
    "hide_render": lambda obj: setattr(obj, "hide_render", False),
    "excluded collection": lambda obj: setattr(layer_of(obj.users_collection[0]), "exclude", False),
    "hidden layer collection": lambda obj: setattr(layer_of(obj.users_collection[0]), "hide_viewport", False),
    "hidden collection": lambda obj: setattr(obj.users_collection[0], "hide_viewport", False),
}


@pytest.mark.parametrize("hide", HIDING)
@pytest.mark.parametrize("edit", ["none", "moved", "decimated", "keyed"])
def test_hidden_objects_are_exported_like_visible_ones(hide: str, edit: str, tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS, centred=False)
    asteroid = surfaces(root)["asteroid_01"]
    if edit == "moved":
        move(asteroid, (-5000, 10_000, 0))
    elif edit == "decimated":
        asteroid.modifiers.new("less", "DECIMATE").ratio = 0.5
    elif edit == "keyed":
        asteroid.shape_key_add(name="Basis")
        key = asteroid.shape_key_add(name="moved")
        key.data.foreach_set("co", moved(coordinates(asteroid.data), (0, 0, CELL)).ravel())
        key.value = 1.0
    visible = export(tmp_path)
    assert (visible == source(TWO_ASTEROIDS)) == (edit == "none")
    for obj in root.children if hide in ("hide_set", "hide_viewport", "hide_render") else [asteroid]:
        HIDING[hide](obj)
    bpy.context.view_layer.update()
    assert export(tmp_path) == visible


def test_objects_in_another_collection_or_none_of_the_roots_are_exported(tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS)
    for number, obj in enumerate(root.children):
        collection = bpy.data.collections.new(f"sorted {number}")
        bpy.context.scene.collection.children.link(collection)
        obj.users_collection[0].objects.unlink(obj)
        collection.objects.link(obj)
    layer_of(bpy.data.collections["sorted 1"]).exclude = True
    assert export(tmp_path) == source(TWO_ASTEROIDS)


# --- several hulls --------------------------------------------------------------------------------


def test_of_two_hulls_the_active_object_decides(tmp_path: Path) -> None:
    first, second = import_hull(ONE_ASTEROID), import_hull(TWO_ASTEROIDS)
    for root, name in ((first, ONE_ASTEROID), (second, TWO_ASTEROIDS)):
        select(root)
        assert export(tmp_path) == source(name)
        for child in root.children:
            select(child)
            assert export(tmp_path) == source(name)


def test_of_two_hulls_the_named_one_is_exported(tmp_path: Path) -> None:
    first, second = import_hull(ONE_ASTEROID), import_hull(TWO_ASTEROIDS)
    select(first)
    assert export(tmp_path, hull=second.name) == source(TWO_ASTEROIDS)
    bpy.context.view_layer.objects.active = None
    assert export(tmp_path, hull=first.name) == source(ONE_ASTEROID)


@pytest.mark.parametrize("active", [None, "cube"])
def test_two_hulls_and_no_choice_is_refused_with_both_names(active: str | None, tmp_path: Path) -> None:
    import_hull(ONE_ASTEROID), import_hull(TWO_ASTEROIDS)
    bpy.ops.mesh.primitive_cube_add()
    if active is None:
        bpy.context.view_layer.objects.active = None
    message = refusal(tmp_path)
    assert stem(ONE_ASTEROID) in message and stem(TWO_ASTEROIDS) in message


def test_a_hull_that_does_not_exist_is_refused_with_the_names_of_those_that_do(tmp_path: Path) -> None:
    import_hull(ONE_ASTEROID), import_hull(TWO_ASTEROIDS)
    message = refusal(tmp_path, hull="S99")
    assert "S99" in message and stem(ONE_ASTEROID) in message and stem(TWO_ASTEROIDS) in message


def test_a_scene_without_a_hull_is_refused(tmp_path: Path) -> None:
    bpy.ops.mesh.primitive_cube_add()
    assert "no hull" in refusal(tmp_path)


def test_the_only_hull_needs_no_selection(tmp_path: Path) -> None:
    import_hull(ONE_ASTEROID)
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None
    assert export(tmp_path) == source(ONE_ASTEROID)


def test_the_same_file_twice_is_two_hulls(tmp_path: Path) -> None:
    first, second = import_hull(TWO_ASTEROIDS, cells="OBJECTS"), import_hull(TWO_ASTEROIDS, cells="OBJECTS")
    assert second.name == f"{first.name}.001"
    asteroid = next(obj for obj in second.children if "asteroid_01" in obj.name)
    assert asteroid.name == f"asteroid_01.{first.name}.001"
    vertices, triangles = geometry(asteroid.data)
    move(asteroid, z=CELL)
    expected = [geometry(surfaces(first)[name].data) for name in ("asteroid_02", "wall")]
    assert export(tmp_path, hull=first.name) == source(TWO_ASTEROIDS)
    edited = export(tmp_path, hull=second.name)
    assert_shape(judged(edited), (moved(vertices, (0, 0, CELL)), triangles), *expected)
    bpy.data.objects.remove(first)
    assert export(tmp_path) == edited


def test_one_hull_parented_to_anothers_root_stays_apart(tmp_path: Path) -> None:
    first, second = import_hull(ONE_ASTEROID), import_hull(TWO_ASTEROIDS)
    second.parent = first
    assert export(tmp_path, hull=first.name) == source(ONE_ASTEROID)
    assert export(tmp_path, hull=second.name) == source(TWO_ASTEROIDS)


def test_an_object_moved_from_one_hull_to_another_is_part_of_the_other(tmp_path: Path) -> None:
    first, second = import_hull(ONE_ASTEROID), import_hull(TWO_ASTEROIDS)
    rock = surfaces(first)["asteroid_01"]
    rock.parent = second
    move(rock, (6000, 23_000, 25_000))
    vertices, triangles = geometry(rock.data)
    rest = read_col(source(TWO_ASTEROIDS))
    col = judged(export(tmp_path, hull=second.name))
    assert_shape(col, (rest.vertices, rest.triangles), (moved(vertices, (6000, 23_000, 25_000)), triangles))
    assert col.vertices[: rest.nv].tobytes() == rest.vertices.tobytes()
    assert np.array_equal(col.triangles[: rest.nt], rest.triangles)
    wall = surfaces(first)["wall"]
    assert_shape(judged(export(tmp_path, hull=first.name)), geometry(wall.data))


# --- names and parents ----------------------------------------------------------------------------


def test_names_do_not_matter(tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS)
    root.name = "my map"
    for number, obj in enumerate(reversed(root.children)):
        obj.name = obj.data.name = f"thing {number}"
    root.users_collection[0].name = "stuff"
    assert export(tmp_path) == source(TWO_ASTEROIDS)
    assert export(tmp_path, hull="my map") == source(TWO_ASTEROIDS)


def test_the_file_is_named_after_the_source_where_no_name_is_given(tmp_path: Path) -> None:
    import_hull(TWO_ASTEROIDS).name = "my map"
    bpy.ops.export_scene.sylpheed_col(filepath=f"{tmp_path}/")
    assert [path.name for path in tmp_path.iterdir()] == [TWO_ASTEROIDS]
    assert (tmp_path / TWO_ASTEROIDS).read_bytes() == source(TWO_ASTEROIDS)


def test_an_unparented_object_is_left_out_with_a_warning(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    parts = surfaces(import_hull(TWO_ASTEROIDS))
    parts["asteroid_02"].parent = None
    col = judged(export(tmp_path))
    assert_shape(col, geometry(parts["asteroid_01"].data), geometry(parts["wall"].data))
    warning = next(line for line in capfd.readouterr().out.splitlines() if line.startswith("Warning"))
    assert parts["asteroid_02"].name in warning and parts["asteroid_01"].name not in warning


def test_what_does_not_hang_below_the_root_is_not_exported(tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS)
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    root.users_collection[0].objects.link(cube)  # the collection doesn't decide
    select(root)
    assert export(tmp_path) == source(TWO_ASTEROIDS)


@pytest.mark.parametrize("kind", ["camera", "light", "lattice", "armature", "empty mesh", "lone edge"])
def test_things_below_the_root_that_have_no_faces_are_not_exported(kind: str, tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS)
    if kind in ("empty mesh", "lone edge"):
        obj = new_object(root, kind, [], [])
        if kind == "lone edge":
            obj.data.from_pydata([(0, 0, 0), (1, 1, 1)], [(0, 1)], [])
    else:
        {
            "camera": bpy.ops.object.camera_add,
            "light": bpy.ops.object.light_add,
            "lattice": lambda: bpy.ops.object.add(type="LATTICE"),
            "armature": bpy.ops.object.armature_add,
        }[kind]()
        bpy.context.object.parent = root
    assert export(tmp_path, hull=root.name) == source(TWO_ASTEROIDS)


def test_a_child_of_a_surface_is_part_of_the_hull(tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS)
    parts = surfaces(root)
    vertices, faces = tetrahedron((0, 0, 0), 2000)
    spike = new_object(root, "spike", vertices, faces)
    spike.parent = parts["wall"]
    move(spike, (-10_000, 10_000, 10_000))
    before = read_col(source(TWO_ASTEROIDS))
    assert_shape(
        judged(export(tmp_path)), (before.vertices, before.triangles), (moved(vertices, spike.location), faces)
    )


# --- collection instances -------------------------------------------------------------------------


def rocks_to_instance() -> tuple[bpy.types.Collection, list[tuple[np.ndarray, tuple]]]:
    """A collection of two objects with transforms of their own and an offset, and their geometry in its space."""
    collection = bpy.data.collections.new("rocks")
    collection.instance_offset = (100, 200, 300)
    parts = []
    for number, place in enumerate([(1000, 0, 0), (-4000, 500, 0)]):
        vertices, faces = tetrahedron((0, 0, 0), 2000)
        mesh = bpy.data.meshes.new(f"rock {number}")
        mesh.from_pydata(vertices.tolist(), [], faces)
        obj = bpy.data.objects.new(f"rock {number}", mesh)
        move(obj, place)
        obj.matrix_parent_inverse = Matrix.Translation((9, 9, 9))  # of no meaning without a parent
        collection.objects.link(obj)
        parts.append((vertices + place - np.array(collection.instance_offset), faces))
    return collection, parts


TRANSFORMS = {
    "in place": ((0, 0, 0), (0, 0, 0), (1, 1, 1)),
    "moved": ((-10_000, 8000, 9000), (0, 0, 0), (1, 1, 1)),
    "turned": ((-10_000, 8000, 9000), (math.pi / 2, 0, math.pi), (1, 1, 1)),
    "mirrored": ((-10_000, 8000, 9000), (0, 0, 0), (-1, 1, 1)),
    "mirrored and scaled": ((-10_000, 8000, 9000), (0.3, 0, 0), (1, -2, 0.5)),
}


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("change", TRANSFORMS)
def test_a_collection_instance_is_exported_where_it_stands(change: str, linked: bool, tmp_path: Path) -> None:
    """`linked`: the collection is in the scene as well, which adds nothing to the hull."""
    root = import_hull(ONE_ASTEROID)
    collection, parts = rocks_to_instance()
    if linked:
        bpy.context.scene.collection.children.link(collection)
    instance = bpy.data.objects.new("instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", collection
    bpy.context.scene.collection.objects.link(instance)
    instance.parent = root
    location, rotation, scale = TRANSFORMS[change]
    instance.location, instance.rotation_euler, instance.scale = location, rotation, scale
    turn = np.array(Euler(rotation).to_matrix(), np.float64) * np.array(scale)
    flip = -1 if np.linalg.det(turn) < 0 else 1

    before, col = read_col(source(ONE_ASTEROID)), judged(export(tmp_path, hull=root.name))
    assert col.nt == before.nt + 8
    assert col.vertices[: before.nv].tobytes() == before.vertices.tobytes()
    expected = np.vstack([vertices @ turn.T + location for vertices, _ in parts])
    np.testing.assert_allclose(col.vertices[before.nv :], expected, atol=0.01)
    faces = [np.array(f)[:, ::flip] + 4 * number for number, (_, f) in enumerate(parts)]
    found = col.triangles[before.nt :].astype(int) - before.nv
    lowest_first = [tuple(np.roll(t, -int(np.argmin(t)))) for t in found]
    assert sorted(lowest_first) == sorted(tuple(np.roll(t, -int(np.argmin(t)))) for f in faces for t in f)
    assert game.inside(col, expected[:4].mean(axis=0))


@pytest.mark.parametrize("edit", ["none", "decimated", "constrained"])
@pytest.mark.parametrize("hide", [hide for hide in HIDING if "hid" in hide or "exclude" in hide])
@pytest.mark.parametrize("what", ["instance", "rocks"])
def test_hidden_instances_are_exported_like_visible_ones(what: str, hide: str, edit: str, tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    collection, parts = rocks_to_instance()
    bpy.context.scene.collection.children.link(collection)
    instance = bpy.data.objects.new("instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", collection
    home = bpy.data.collections.new("home")
    bpy.context.scene.collection.children.link(home)
    home.objects.link(instance)
    instance.parent = root
    move(instance, (5000, 10_000, 10_000))
    if edit == "decimated":
        subdivide = collection.objects[0].modifiers.new("more", "SUBSURF")
        subdivide.subdivision_type, subdivide.levels = "SIMPLE", 1
    elif edit == "constrained":
        limit = collection.objects[0].constraints.new("LIMIT_LOCATION")
        limit.use_min_y, limit.min_y = True, 700
        parts[0] = (parts[0][0] + (0, 700 - collection.objects[0].location.y, 0), parts[0][1])
    visible = export(tmp_path)
    if edit != "decimated":
        before = read_col(source(ONE_ASTEROID))
        expected = [(moved(vertices, instance.location), faces) for vertices, faces in parts]
        assert_shape(judged(visible), (before.vertices, before.triangles), *expected)
    for obj in [instance] if what == "instance" else collection.objects:
        HIDING[hide](obj)
    bpy.context.view_layer.update()
    assert export(tmp_path) == visible
    collection.objects[0].location.x += 50  # what is hidden isn't evaluated again
    after = export(tmp_path)
    for obj in [instance] if what == "instance" else collection.objects:
        SHOWING[hide](obj)
    bpy.context.view_layer.update()
    assert export(tmp_path) == after != visible


# --- export changes nothing -----------------------------------------------------------------------


def state() -> dict[str, object]:
    """What a user could notice."""
    view_layer = bpy.context.view_layer
    kinds = ("objects", "meshes", "scenes", "collections", "shape_keys", "worlds", "materials", "cameras", "actions")
    return {
        "data": {kind: sorted((item.name, item.users) for item in getattr(bpy.data, kind)) for kind in kinds},
        "selected": sorted(obj.name for obj in view_layer.objects if obj.select_get()),
        "active": view_layer.objects.active and view_layer.objects.active.name,
        "mode": bpy.context.mode,
        "scene": bpy.context.scene.name,
        "frame": bpy.context.scene.frame_current,
        "hidden": sorted((o.name, o.hide_get(), o.hide_viewport, o.hide_render) for o in view_layer.objects),
        "places": sorted((o.name, str(o.matrix_basis), str(o.matrix_parent_inverse)) for o in bpy.data.objects),
        "modifiers": sorted((o.name, m.name, m.show_viewport) for o in bpy.data.objects for m in o.modifiers),
        "meshes": sorted((m.name, len(m.vertices), len(m.polygons), m.is_editmode) for m in bpy.data.meshes),
        "collection": view_layer.active_layer_collection.name,
    }


@pytest.mark.parametrize("outcome", ["written", "refused"])
@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_export_leaves_the_scene_as_it_was(outcome: str, mode: str, tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS, cells="OBJECTS")
    rocks = [obj for obj in root.children if "asteroid" in obj.name]
    modifier = rocks[0].modifiers.new("less", "DECIMATE")
    modifier.ratio = 0.6
    rocks[1].shape_key_add(name="Basis")
    rocks[1].shape_key_add(name="key").value = 0.5
    rocks[1].constraints.new("LIMIT_SCALE")
    collection, _ = rocks_to_instance()
    instance = bpy.data.objects.new("instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", collection
    bpy.context.scene.collection.objects.link(instance)
    instance.parent, instance.location = root, (5000, -12_000, 10_000)
    bpy.context.scene.frame_set(7)
    if outcome == "refused":
        copy = rocks[0].copy()
        bpy.context.scene.collection.objects.link(copy)
    rocks[1].hide_set(True)
    select(root, rocks[0])
    if mode == "EDIT":
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="DESELECT")
        bmesh.from_edit_mesh(rocks[0].data).faces.ensure_lookup_table()
        bmesh.from_edit_mesh(rocks[0].data).faces[2].select_set(True)
    bpy.context.view_layer.update()
    before = state()
    if outcome == "refused":
        assert rocks[0].name in refusal(tmp_path)
    else:
        judged(export(tmp_path))
    assert state() == before
    if mode == "EDIT":
        assert [f.index for f in bmesh.from_edit_mesh(rocks[0].data).faces if f.select] == [2]


def test_export_marks_nothing_for_undo(tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS)
    bpy.ops.ed.undo_push(message="imported")
    root.location.x = 5
    bpy.ops.ed.undo_push(message="moved the root")
    bpy.ops.export_scene.sylpheed_col("EXEC_DEFAULT", True, filepath=str(tmp_path / "a.col"))
    bpy.ops.ed.undo()
    assert roots()[0].location.x == 0


def test_a_failed_import_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "cut.col").write_bytes(source(MANY_ASTEROIDS)[:-200])
    before = state()
    with pytest.raises(RuntimeError, match=r"cut\.col"):
        bpy.ops.import_scene.sylpheed_col(filepath=str(tmp_path / "cut.col"))
    assert state() == before


def test_several_exports_in_a_row_are_the_same(tmp_path: Path) -> None:
    root = import_hull(str(DATA / MANY_ASTEROIDS))
    move(surfaces(root)["asteroid_02"], y=-CELL)
    first = export(tmp_path)
    assert all(export(tmp_path) == first for _ in range(3))


@pytest.mark.parametrize("how", ["unlinked", "other scene", "deleted", "emptied", "other root"])
def test_a_rock_that_is_gone_by_whatever_way_is_warned_of(samples, tmp_path, capfd, how):
    bpy.ops.import_scene.sylpheed_col(filepath=str(samples / "S13_AsteroidVolume_wp.col"), cells="NONE")
    rock = bpy.data.objects["asteroid_02.S13_AsteroidVolume_wp"]
    if how == "deleted":
        bpy.data.objects.remove(rock)
    elif how == "emptied":
        rock.data.clear_geometry()
    elif how == "other root":
        bpy.ops.import_scene.sylpheed_col(filepath=str(samples / "test.col"), cells="NONE")
        rock.parent = bpy.data.objects["test"]
    else:
        rock.users_collection[0].objects.unlink(rock)
        if how == "other scene":
            bpy.data.scenes.new("elsewhere").collection.objects.link(rock)
    bpy.ops.export_scene.sylpheed_col(filepath=str(tmp_path / "o.col"), hull="S13_AsteroidVolume_wp")
    assert "asteroid_02 of the source file was deleted" in capfd.readouterr().out
