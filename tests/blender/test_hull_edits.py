"""What modders do to a hull's shape, and the exact file that must come of it, or the reason why none may."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Matrix

from tests.blender.helpers import (
    CAVERN,
    MANY_ASTEROIDS,
    NO_WALL,
    ONE_ASTEROID,
    TETRAHEDRON,
    TWO_ASTEROIDS,
    WALL_ONLY,
    assert_shape,
    coordinates,
    edit_faces,
    evaluated,
    export,
    geometry,
    import_hull,
    judged,
    listed,
    move,
    moved,
    new_object,
    overlapping,
    refusal,
    select,
    set_coordinates,
    source,
    surfaces,
    tetrahedron,
    volume,
)
from tests.oracle import exact
from tests.oracle import game_queries as game
from tests.oracle.readers import read_col

CELL = 10_000


@pytest.fixture
def hull() -> dict[str, bpy.types.Object]:
    """A wall and one asteroid, imported: root, wall, asteroid. Both have the root's origin; see test_origins.py."""
    root = import_hull(ONE_ASTEROID, centred=False)
    parts = surfaces(root)
    return {"root": root, "wall": parts["wall"], "asteroid": parts["asteroid_01"]}


def others(hull: dict[str, bpy.types.Object]) -> tuple[np.ndarray, np.ndarray]:
    return geometry(hull["wall"].data)


# --- one asteroid by one cell ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, by", [("asteroid_13", (-CELL, 0, 0)), ("asteroid_02", (0, -CELL, 0)), ("asteroid_01", (0, 0, CELL))]
)
def test_moving_one_asteroid_by_a_cell_changes_nothing_else(name: str, by: tuple, tmp_path: Path) -> None:
    before = read_col(source(MANY_ASTEROIDS))
    asteroid = surfaces(import_hull(MANY_ASTEROIDS))[name]
    places = set(map(tuple, coordinates(asteroid.data).tolist()))
    mine = np.array([tuple(v) in places for v in before.vertices.tolist()])
    move(asteroid, by)
    col = judged(export(tmp_path))

    expected = before.vertices.copy()
    expected[mine] = moved(before.vertices[mine], by)
    assert col.vertices.tobytes() == expected.tobytes()
    assert np.array_equal(col.triangles, before.triangles)
    changed = mine[before.triangles].all(axis=1)
    assert changed.sum() == len(asteroid.data.polygons)
    assert col.spheres[~changed].tobytes() == before.spheres[~changed].tobytes()
    np.testing.assert_allclose(col.spheres[changed, :3], moved(before.spheres[changed, :3], by), atol=0.01)
    np.testing.assert_allclose(col.spheres[changed, 3], before.spheres[changed, 3], rtol=1e-6)

    numbers = np.flatnonzero(changed)
    now = [set(numbers[found].tolist()) for found in overlapping(col, triangles=col.triangles[changed])]
    reached = 0
    for old, new, entered in zip(before.cells, col.cells, now, strict=True):
        left = listed(old) & set(numbers.tolist())
        if not left and not entered:
            assert (new.count, new.sphere.tobytes()) == (old.count, old.sphere.tobytes())
            assert [(r.indices, r.sphere.tobytes()) for r in new.lists] == [
                (r.indices, r.sphere.tobytes()) for r in old.lists
            ]
            assert new.state == old.state or not old.count
            continue
        reached += 1
        wanted = sorted(listed(old) - left | entered)
        assert [i for record in new.lists for i in record.indices] == wanted
        if wanted:
            centre, radius = exact.enclosing_sphere(col.vertices[col.triangles[wanted]].reshape(-1, 3))
            np.testing.assert_allclose(new.sphere, [*centre, radius * 1.001], rtol=1e-5, atol=0.05)
            assert new.lists[0].sphere.tobytes() == new.sphere.tobytes()
    assert 2 <= reached <= 24
    assert (col.dims, col.outside, col.bbox_min.tobytes()) == (before.dims, before.outside, before.bbox_min.tobytes())


def test_a_moved_rock_takes_its_solid_inside_along(tmp_path: Path) -> None:
    """Cells deep in a rock hold no triangle: solid where it is now, free where it was."""
    root = import_hull(WALL_ONLY)
    vertices, faces = np.array(list(itertools.product((-1, 1), repeat=3))) * 120_000, BOX_FACES
    rock = new_object(root, "rock", vertices + 50_000, faces)
    first = judged(export(tmp_path))
    assert sum(cell.state == 2 for cell in first.cells) == 4**3
    move(rock, (50_000, 0, -50_000))
    second = judged(export(tmp_path))
    solid = {(c.x, c.y, c.z) for c in first.cells if c.state == 2}
    assert {(c.x, c.y, c.z) for c in second.cells if c.state == 2} == {(x + 1, y, z - 1) for x, y, z in solid}


BOX_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
"""Outward, for the corners of itertools.product((-1, 1), repeat=3)."""


# --- transforms -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("angle", [90, -37])
def test_an_object_turns_about_the_files_axes(hull: dict, axis: int, angle: int, tmp_path: Path) -> None:
    vertices = coordinates(hull["asteroid"].data)
    hull["asteroid"].rotation_euler[axis] = math.radians(angle)
    turn = np.array(Matrix.Rotation(math.radians(angle), 3, "XYZ"[axis]), np.float64)
    centre = vertices.mean(axis=0)
    move(hull["asteroid"], centre - turn @ centre)
    col = judged(export(tmp_path))
    before = read_col(source(ONE_ASTEROID))
    mine = np.isin(before.vertices.view("V12").ravel(), np.ascontiguousarray(vertices).view("V12").ravel())
    expected = (vertices - centre) @ turn.T + centre
    np.testing.assert_allclose(col.vertices[mine], expected, atol=0.02)
    assert col.vertices[~mine].tobytes() == before.vertices[~mine].tobytes()
    assert np.array_equal(col.triangles, before.triangles)


@pytest.mark.parametrize("scale", [(1, 2, 3), (3, 1, 2), (2, 3, 1), (0.5, 1, 1), (1, 0.25, 1), (1, 1, 1.5)])
@pytest.mark.parametrize("up", ["Y", "Z"])
def test_each_axis_scales_on_its_own(scale: tuple, up: str, tmp_path: Path) -> None:
    parts = surfaces(import_hull(ONE_ASTEROID, centred=False, up=up))
    vertices, triangles = geometry(parts["asteroid_01"].data)
    vertices = moved(vertices, scale=(0.25, 0.25, 0.25))
    set_coordinates(parts["asteroid_01"].data, vertices)
    parts["asteroid_01"].scale = scale
    assert_shape(judged(export(tmp_path)), (moved(vertices, scale=scale), triangles), geometry(parts["wall"].data))


MIRRORS = [s for s in itertools.product((1, -1), repeat=3) if s != (1, 1, 1)]


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("scale", MIRRORS)
def test_a_mirrored_object_keeps_its_outside_outside(scale: tuple, mirror: bool, tmp_path: Path) -> None:
    parts = surfaces(import_hull(ONE_ASTEROID, centred=False, mirror=mirror))
    vertices, triangles = geometry(parts["asteroid_01"].data)
    parts["asteroid_01"].scale = scale
    if np.prod(scale) < 0:
        triangles = triangles[:, ::-1]
    mirrored = moved(vertices, scale=scale)
    assert volume(mirrored, triangles) == pytest.approx(volume(*geometry(parts["asteroid_01"].data)))
    col = judged(export(tmp_path))
    assert_shape(col, (mirrored, triangles), geometry(parts["wall"].data))
    assert game.inside(col, mirrored.mean(axis=0)) and not game.inside(col, -mirrored.mean(axis=0))


def test_the_wall_can_be_mirrored_too(hull: dict, tmp_path: Path) -> None:
    hull["wall"].scale.x = -1
    vertices, triangles = others(hull)
    assert_shape(
        judged(export(tmp_path)),
        (moved(vertices, scale=(-1, 1, 1)), triangles[:, ::-1]),
        geometry(hull["asteroid"].data),
    )


@pytest.mark.parametrize(
    "change",
    [
        {"location": (1, -2, 3)},
        {"rotation_euler": (0.3, -1.2, 4.0)},
        {"scale": (7.0, 7.0, 7.0)},
        {"scale": (-0.1, 0.2, 30.0)},
        {"location": (1e6, 0, 0), "rotation_euler": (1, 2, 3), "scale": (1e-5, 1e-5, 1e-5)},
        {"delta_location": (5, 5, 5), "delta_scale": (2, 2, 2)},
        {"scale": (0, 0, 0)},
    ],
)
def test_the_roots_own_transform_does_not_matter(hull: dict, change: dict, tmp_path: Path) -> None:
    for name, value in change.items():
        setattr(hull["root"], name, value)
    assert export(tmp_path) == source(ONE_ASTEROID)


def test_a_root_parented_to_something_does_not_matter(hull: dict, tmp_path: Path) -> None:
    empty = bpy.data.objects.new("rig", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.location, empty.scale = (3, 4, 5), (2, 2, -2)
    hull["root"].parent = empty
    assert export(tmp_path) == source(ONE_ASTEROID)


def between(hull: dict, name: str = "between") -> bpy.types.Object:
    """An empty below the root."""
    empty = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(empty)
    empty.parent = hull["root"]
    return empty


def test_an_empty_between_root_and_object_moves_it(hull: dict, tmp_path: Path) -> None:
    vertices, triangles = geometry(hull["asteroid"].data)
    hull["asteroid"].parent = between(hull)
    assert export(tmp_path) == source(ONE_ASTEROID)
    hull["asteroid"].parent.location = (2 * CELL, CELL, CELL / 4)
    hull["asteroid"].parent.scale = (0.5, 0.5, 0.5)
    move(hull["asteroid"], (1000, 0, 0))
    expected = moved(vertices, (2 * CELL + 500, CELL, CELL / 4), (0.5, 0.5, 0.5))
    assert_shape(judged(export(tmp_path)), (expected, triangles), others(hull))


def test_a_parent_inverse_counts(hull: dict, tmp_path: Path) -> None:
    vertices, triangles = geometry(hull["asteroid"].data)
    empty = between(hull)
    empty.location = (CELL, 0, 0)
    hull["asteroid"].parent = empty
    hull["asteroid"].matrix_parent_inverse = Matrix.Translation((-CELL, 0, 0))
    assert export(tmp_path) == source(ONE_ASTEROID)
    hull["asteroid"].matrix_parent_inverse = Matrix.Translation((0, CELL, 0))
    assert_shape(judged(export(tmp_path)), (moved(vertices, (CELL, CELL, 0)), triangles), others(hull))


@pytest.mark.parametrize("keep_transform", [False, True])
def test_parenting_by_operator_leaves_the_object_in_place(hull: dict, keep_transform: bool, tmp_path: Path) -> None:
    """Blender's float32 inverse of the parent is not exact: in place means within its rounding."""
    before = read_col(source(ONE_ASTEROID))
    empty = between(hull)
    empty.location, empty.rotation_euler, empty.scale = (3000, -2000, 500), (0.4, 0.5, 0.6), (2, 3, 2)
    bpy.context.view_layer.update()
    if not keep_transform:
        world = hull["asteroid"].matrix_world.copy()
        hull["asteroid"].parent = None
        hull["asteroid"].matrix_world = world
    select(hull["asteroid"], empty)
    assert bpy.ops.object.parent_set(type="OBJECT", keep_transform=keep_transform) == {"FINISHED"}
    assert hull["asteroid"].parent == empty and hull["asteroid"].matrix_parent_inverse != Matrix()
    col = judged(export(tmp_path))
    np.testing.assert_allclose(col.vertices, before.vertices, atol=0.03)
    assert np.array_equal(col.triangles, before.triangles)


def test_clearing_the_parent_and_setting_it_again_leaves_the_hull_in_place(hull: dict, tmp_path: Path) -> None:
    before = read_col(source(ONE_ASTEROID))
    select(hull["asteroid"])
    bpy.ops.object.parent_clear(type="CLEAR_KEEP_TRANSFORM")
    select(hull["asteroid"], hull["root"])
    bpy.ops.object.parent_set(type="OBJECT", keep_transform=True)
    col = judged(export(tmp_path))
    np.testing.assert_allclose(col.vertices, before.vertices, atol=0.03)
    assert np.array_equal(col.triangles, before.triangles)


def test_deltas_count(hull: dict, tmp_path: Path) -> None:
    vertices, triangles = geometry(hull["asteroid"].data)
    move(hull["asteroid"], (500, 0, 0))
    hull["asteroid"].delta_location = (CELL, 0, CELL)
    hull["asteroid"].delta_scale = (0.5, -0.5, 0.5)
    expected = moved(vertices, (CELL + 500, 0, CELL), (0.5, -0.5, 0.5))
    assert_shape(judged(export(tmp_path)), (expected, triangles[:, ::-1]), others(hull))


@pytest.mark.parametrize("hide", ["visible", "hide_viewport", "hide_set", "excluded"])
def test_constraints_count(hull: dict, hide: str, tmp_path: Path) -> None:
    target = between(hull, "target")
    target.location = (CELL, CELL / 2, 0)
    hull["asteroid"].constraints.new("COPY_LOCATION").target = target
    hide_object(hull["asteroid"], hide)
    col = judged(export(tmp_path))
    before = read_col(source(ONE_ASTEROID))
    asteroid = ~(np.abs(before.vertices) == 50_000).all(axis=1)
    np.testing.assert_allclose(col.vertices[asteroid], before.vertices[asteroid] + (CELL, CELL / 2, 0), atol=0.03)
    assert col.vertices[~asteroid].tobytes() == before.vertices[~asteroid].tobytes()


def test_constraints_below_a_root_scaled_to_nothing_are_refused(hull: dict, tmp_path: Path) -> None:
    hull["asteroid"].constraints.new("COPY_LOCATION").target = between(hull, "target")
    hull["root"].scale = (0, 0, 0)
    message = refusal(tmp_path)
    assert hull["asteroid"].name in message and "scale" in message


def hide_object(obj: bpy.types.Object, how: str) -> None:
    """One of the ways to keep an object out of sight."""
    if how in ("hide_viewport", "hide_render"):
        setattr(obj, how, True)
    elif how == "hide_set":
        obj.hide_set(True)
    elif how in ("excluded", "closed eye", "disabled collection"):
        collection = bpy.data.collections.new("out of sight")
        bpy.context.scene.collection.children.link(collection)
        for owner in list(obj.users_collection):
            owner.objects.unlink(obj)
        collection.objects.link(obj)
        layer = bpy.context.view_layer.layer_collection.children[collection.name]
        layer.exclude = how == "excluded"
        layer.hide_viewport = how == "closed eye"
        collection.hide_viewport = how == "disabled collection"
    else:
        assert how == "visible"
    bpy.context.view_layer.update()


# --- faces of more than three corners -------------------------------------------------------------

# A triangular prism with its two ends as triangles and its three sides as quads, outward.
PRISM = [(0, 0, 0), (4000, 0, 0), (0, 4000, 0), (0, 0, 4000), (4000, 0, 4000), (0, 4000, 4000)]
ENDS, SIDES = [(0, 2, 1), (3, 4, 5)], [(0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)]
ORDERS = {
    "quads first": SIDES + ENDS,
    "quads last": ENDS + SIDES,
    "quads in the middle": [ENDS[0], *SIDES, ENDS[1]],
    "in turn": [SIDES[0], ENDS[0], SIDES[1], ENDS[1], SIDES[2]],
}


@pytest.mark.parametrize("order", ORDERS)
def test_quads_among_triangles_are_cut_as_blender_shows_them(hull: dict, order: str, tmp_path: Path) -> None:
    faces = ORDERS[order]
    vertices = np.array(PRISM) + 5000
    prism = new_object(hull["root"], "prism", vertices, faces)
    expected = [t for f in faces for t in ([f] if len(f) == 3 else [(f[0], f[1], f[2]), (f[0], f[2], f[3])])]
    assert np.array_equal(shown_sets(prism.data), [set(t) for t in expected])
    before, col = read_col(source(ONE_ASTEROID)), judged(export(tmp_path))
    assert_shape(col, (before.vertices, before.triangles), (vertices, expected))
    assert np.array_equal(col.triangles[before.nt :].astype(int) - before.nv, expected), "new triangles in face order"


def shown_sets(mesh: bpy.types.Mesh) -> list[set[int]]:
    return [set(t) for t in geometry(mesh)[1].tolist()]


def test_a_concave_ngon_is_cut_within_its_outline(hull: dict, tmp_path: Path) -> None:
    outline = [(0, 0), (6000, 0), (6000, 2000), (2000, 2000), (2000, 6000), (0, 6000)]
    vertices = [(x + 5000, y + 5000, z) for z in (5000, 8000) for x, y in outline]
    n = len(outline)
    faces = [tuple(range(n))[::-1], tuple(range(n, 2 * n))]
    faces += [(i, (i + 1) % n, (i + 1) % n + n, i + n) for i in range(n)]
    part = new_object(hull["root"], "corner", vertices, faces)
    before, col = read_col(source(ONE_ASTEROID)), judged(export(tmp_path))
    assert col.nt == before.nt + 2 * (n - 2) + 2 * n
    assert_shape(col, (before.vertices, before.triangles), geometry(part.data))
    assert volume(col.vertices, col.triangles[before.nt :]) == pytest.approx((6000 * 2000 + 2000 * 4000) * 3000)
    ends = col.vertices[col.triangles[before.nt :]]
    ends = ends[(ends[:, :, 2] == ends[:, :1, 2]).all(axis=1)]
    area = np.linalg.norm(np.cross(ends[:, 1] - ends[:, 0], ends[:, 2] - ends[:, 0]), axis=1).sum() / 2
    assert area == pytest.approx(2 * (6000 * 2000 + 2000 * 4000)), "triangles overlap or leave the outline"


def test_dissolved_edges_come_back_as_blender_shows_them(hull: dict, tmp_path: Path) -> None:
    """The diagonals of the wall dissolved: six quads, twelve triangles in the file."""

    def dissolve(bm: bmesh.types.BMesh) -> None:
        flat = [edge for edge in bm.edges if edge.calc_face_angle() < 1e-6]
        assert len(flat) == 6
        bmesh.ops.dissolve_edges(bm, edges=flat)

    edit_faces(hull["wall"].data, dissolve)
    assert [len(face.vertices) for face in hull["wall"].data.polygons] == [4] * 6
    before, col = read_col(source(ONE_ASTEROID)), judged(export(tmp_path))
    assert_shape(col, others(hull), geometry(hull["asteroid"].data))
    assert col.vertices.tobytes() == before.vertices.tobytes()
    asteroid = ~(np.abs(before.vertices) == 50_000).all(axis=1)[before.triangles].all(axis=1)
    assert np.array_equal(col.triangles[: asteroid.sum()], before.triangles[asteroid])


def test_a_dissolved_edge_of_an_asteroid_changes_two_triangles_at_most(hull: dict, tmp_path: Path) -> None:
    edit_faces(hull["asteroid"].data, lambda bm: bmesh.ops.dissolve_edges(bm, edges=bm.edges[5:6]))
    before, col = read_col(source(ONE_ASTEROID)), judged(export(tmp_path))
    assert_shape(col, geometry(hull["asteroid"].data), others(hull))
    same = {frozenset(t) for t in before.triangles.tolist()} & {frozenset(t) for t in col.triangles.tolist()}
    assert col.nt == before.nt and len(same) >= before.nt - 2


# --- modifiers and shape keys ---------------------------------------------------------------------

MODIFIERS = {
    "DECIMATE": {"ratio": 0.5},
    "MIRROR": {"use_axis": (True, False, False), "use_mirror_merge": False},
    "TRIANGULATE": {},
    "SUBSURF": {"levels": 1, "subdivision_type": "SIMPLE"},
    "DISPLACE": {"strength": 250.0},
}


def modify(obj: bpy.types.Object, kind: str) -> bpy.types.Modifier:
    modifier = obj.modifiers.new(kind.lower(), kind)
    for name, value in MODIFIERS[kind].items():
        setattr(modifier, name, value)
    return modifier


@pytest.mark.parametrize("kind", MODIFIERS)
def test_modifiers_count_unless_switched_off(hull: dict, kind: str, tmp_path: Path) -> None:
    modify(hull["asteroid"], kind)
    shown = evaluated(hull["asteroid"])
    data = export(tmp_path)
    assert_shape(judged(data), shown, others(hull))
    assert export(tmp_path, apply_modifiers=False) == source(ONE_ASTEROID)
    if kind == "TRIANGULATE":
        assert data == source(ONE_ASTEROID)
    else:
        assert data != source(ONE_ASTEROID)

    select(hull["asteroid"])
    bpy.ops.object.modifier_apply(modifier=kind.lower())
    assert export(tmp_path) == data, "applied by hand it is the same file"


def test_a_modifier_hidden_in_the_viewport_does_not_count(hull: dict, tmp_path: Path) -> None:
    modify(hull["asteroid"], "DECIMATE").show_viewport = False
    assert export(tmp_path) == source(ONE_ASTEROID)


def test_subdivision_numbers_new_triangles_after_old_ones(hull: dict, tmp_path: Path) -> None:
    modify(hull["asteroid"], "SUBSURF")
    before, col = read_col(source(ONE_ASTEROID)), judged(export(tmp_path))
    assert col.nt == 12 + 6 * (before.nt - 12), "each triangle becomes three quads"
    assert col.vertices[: before.nv].tobytes() == before.vertices.tobytes()
    wall = (np.abs(before.vertices) == 50_000).all(axis=1)[before.triangles].all(axis=1)
    kept = {tuple(t) for t in col.triangles.tolist()}
    assert {tuple(t) for t in before.triangles[wall].tolist()} <= kept


def add_key(obj: bpy.types.Object, by: tuple, value: float) -> None:
    """A basis and a shape key that moves every vertex."""
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="moved")
    points = moved(coordinates(obj.data), by)
    key.data.foreach_set("co", points.ravel())
    key.value = value


@pytest.mark.parametrize("value", [1.0, 0.5])
@pytest.mark.parametrize("triangulate", [False, True])
def test_shape_keys_count_and_stay(hull: dict, value: float, triangulate: bool, tmp_path: Path) -> None:
    add_key(hull["asteroid"], (2 * CELL, 0, 0), value)
    if triangulate:
        modify(hull["asteroid"], "TRIANGULATE")
    blocks = hull["asteroid"].data.shape_keys.key_blocks
    keys = [(key.name, key.value) for key in blocks]
    state = (hull["asteroid"].data.users, len(hull["asteroid"].modifiers), len(bpy.data.shape_keys))
    col = judged(export(tmp_path))
    before = read_col(source(ONE_ASTEROID))
    expected = before.vertices.copy()
    asteroid = ~(np.abs(before.vertices) == 50_000).all(axis=1)
    expected[asteroid] += np.float32((2 * CELL * value, 0, 0))
    np.testing.assert_allclose(col.vertices, expected, atol=0.01)
    assert np.array_equal(col.triangles, before.triangles)
    assert [(key.name, key.value) for key in blocks] == keys and keys[1] == ("moved", value)
    assert state == (hull["asteroid"].data.users, len(hull["asteroid"].modifiers), len(bpy.data.shape_keys))
    assert export(tmp_path, apply_modifiers=False) == source(ONE_ASTEROID)


# --- edit mode ------------------------------------------------------------------------------------


def nearest_corner(mesh: bpy.types.Mesh) -> int:
    return int(np.linalg.norm(coordinates(mesh), axis=1).argmin())


@pytest.mark.parametrize("modifier", [None, "TRIANGULATE"])
def test_an_edit_in_progress_is_exported(hull: dict, modifier: str | None, tmp_path: Path) -> None:
    mesh = hull["asteroid"].data
    vertices, triangles = geometry(mesh)
    number = nearest_corner(mesh)
    if modifier:
        modify(hull["asteroid"], modifier)
    select(hull["asteroid"])
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bm = bmesh.from_edit_mesh(mesh)
    bm.verts.ensure_lookup_table()
    bm.verts[number].co.x += 1500
    bm.verts[number].select = True
    bm.select_flush(True)
    bmesh.update_edit_mesh(mesh)
    vertices[number, 0] += np.float32(1500)
    data = export(tmp_path)
    assert_shape(judged(data), (vertices, triangles), others(hull))

    assert bpy.context.mode == "EDIT_MESH" and bpy.context.object == hull["asteroid"]
    bm = bmesh.from_edit_mesh(mesh)
    assert [v.index for v in bm.verts if v.select] == [number]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert export(tmp_path) == data


def test_two_objects_in_edit_mode_are_both_exported_as_edited(tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS, centred=False)
    parts = surfaces(root)
    pair = [parts["asteroid_01"], parts["asteroid_02"]]
    select(*pair)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    expected = [geometry(parts["wall"].data)]
    for obj in pair:
        bm = bmesh.from_edit_mesh(obj.data)
        bm.verts.ensure_lookup_table()
        bm.verts[3].co *= 0.9
        bm.verts[3].select = True
        bmesh.update_edit_mesh(obj.data)
        expected.append((np.float32([v.co for v in bm.verts]), [[v.index for v in f.verts] for f in bm.faces]))
    assert_shape(judged(export(tmp_path)), *expected)
    assert bpy.context.mode == "EDIT_MESH" and set(bpy.context.objects_in_mode) == set(pair)
    for obj in pair:
        assert [v.index for v in bmesh.from_edit_mesh(obj.data).verts if v.select] == [3]
    assert bpy.context.selected_objects and set(bpy.context.selected_objects) == set(pair)


def test_geometry_added_in_edit_mode_is_exported(hull: dict, tmp_path: Path) -> None:
    select(hull["asteroid"])
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=1)
    before, col = read_col(source(ONE_ASTEROID)), judged(export(tmp_path))
    assert bpy.context.mode == "EDIT_MESH"
    assert col.nt == 12 + 4 * (before.nt - 12)
    assert col.vertices[: before.nv].tobytes() == before.vertices.tobytes()


# --- joined, split, copied ------------------------------------------------------------------------


def test_asteroids_split_by_selection_are_one_surface_in_the_file(tmp_path: Path) -> None:
    asteroid = surfaces(import_hull(TWO_ASTEROIDS))["asteroid_02"]
    select(asteroid)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_mode(type="FACE")
    bpy.ops.mesh.select_all(action="DESELECT")
    bm = bmesh.from_edit_mesh(asteroid.data)
    for face in bm.faces:
        face.select = face.index % 3 == 0
    bmesh.update_edit_mesh(asteroid.data)
    bpy.ops.mesh.separate(type="SELECTED")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(bpy.context.scene.objects) == 5
    assert export(tmp_path) == source(TWO_ASTEROIDS)


@pytest.mark.parametrize("name", [MANY_ASTEROIDS, "quirks/test_descending_multilist.col"])
def test_a_joined_hull_separated_by_loose_parts_is_the_same_hull(name: str, tmp_path: Path) -> None:
    root = import_hull(name, surfaces="JOINED")
    select(*root.children)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.separate(type="LOOSE")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(root.children) > 1
    assert export(tmp_path) == source(name)


@pytest.mark.parametrize("name", [MANY_ASTEROIDS, "quirks/test_descending_multilist.col", WALL_ONLY])
@pytest.mark.parametrize("scale", [0.001, 1.0])
def test_objects_joined_into_one_are_the_same_hull(name: str, scale: float, tmp_path: Path) -> None:
    root = import_hull(name, scale=scale)
    bpy.context.view_layer.update()
    select(*root.children)
    if len(root.children) > 1:
        bpy.ops.object.join()
    assert len(root.children) == 1
    assert export(tmp_path) == source(name)


def test_a_linked_duplicate_is_a_rock_of_its_own(hull: dict, tmp_path: Path) -> None:
    copy = hull["asteroid"].copy()
    bpy.context.scene.collection.objects.link(copy)
    move(copy, (2 * CELL, 2 * CELL, 2 * CELL))
    assert copy.data == hull["asteroid"].data
    vertices, triangles = geometry(copy.data)
    before, col = read_col(source(ONE_ASTEROID)), judged(export(tmp_path))
    assert_shape(col, (vertices, triangles), (moved(vertices, copy.location), triangles), others(hull))
    assert col.vertices[: before.nv].tobytes() == before.vertices.tobytes()
    assert np.array_equal(col.triangles[: before.nt], before.triangles)


@pytest.mark.parametrize("moves", ["copy", "original"])
def test_of_a_duplicate_and_its_original_the_unmoved_one_keeps_the_numbers(
    hull: dict, moves: str, tmp_path: Path
) -> None:
    select(hull["asteroid"])
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    assert copy.parent == hull["root"] and copy.data != hull["asteroid"].data
    (copy if moves == "copy" else hull["asteroid"]).location = (2 * CELL, 2 * CELL, 2 * CELL)
    before, col = read_col(source(ONE_ASTEROID)), judged(export(tmp_path))
    vertices, triangles = geometry(copy.data)
    assert_shape(col, (vertices, triangles), (moved(vertices, (2 * CELL,) * 3), triangles), others(hull))
    assert col.vertices[: before.nv].tobytes() == before.vertices.tobytes()
    assert np.array_equal(col.triangles[: before.nt], before.triangles)


@pytest.mark.parametrize("linked", [False, True])
def test_a_duplicate_left_in_place_is_refused_and_both_are_named(hull: dict, linked: bool, tmp_path: Path) -> None:
    select(hull["asteroid"])
    bpy.ops.object.duplicate(linked=linked)
    bpy.context.object.name = "forgotten copy"
    message = refusal(tmp_path)
    assert "forgotten copy" in message and hull["asteroid"].name in message
    assert hull["wall"].name not in message


def test_a_deleted_asteroid_is_gone(tmp_path: Path) -> None:
    before = read_col(source(MANY_ASTEROIDS))
    asteroid = surfaces(import_hull(MANY_ASTEROIDS))["asteroid_05"]
    places = set(map(tuple, coordinates(asteroid.data).tolist()))
    bpy.data.objects.remove(asteroid)
    gone = np.array([tuple(v) in places for v in before.vertices.tolist()])
    col = judged(export(tmp_path))
    assert col.vertices.tobytes() == before.vertices[~gone].tobytes()
    number = np.cumsum(~gone) - 1
    kept = ~gone[before.triangles].any(axis=1)
    assert np.array_equal(col.triangles, number[before.triangles[kept]])
    assert col.spheres.tobytes() == before.spheres[kept].tobytes()


def test_a_hull_without_objects_is_refused(hull: dict, tmp_path: Path) -> None:
    for name in ("asteroid", "wall"):
        bpy.data.objects.remove(hull[name])
    assert "no triangles" in refusal(tmp_path)


# --- new objects ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [ONE_ASTEROID, CAVERN, NO_WALL])
def test_a_sphere_made_in_blender_becomes_a_rock(name: str, tmp_path: Path) -> None:
    root = import_hull(name)
    place = {ONE_ASTEROID: (8000, 8000, 8000), CAVERN: (0, 0, 0), NO_WALL: (48_500, 48_500, 48_500)}[name]
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=1300)
    sphere = bpy.context.object
    sphere.parent = root
    move(sphere, place)
    before, col = read_col(source(name)), judged(export(tmp_path))
    assert (col.nv, col.nt) == (before.nv + 42, before.nt + 80)
    assert col.vertices[: before.nv].tobytes() == before.vertices.tobytes()
    assert np.array_equal(col.triangles[: before.nt], before.triangles)
    vertices, triangles = geometry(sphere.data)
    assert col.vertices[before.nv :].tobytes() == moved(vertices, place).tobytes()
    assert np.array_equal(col.triangles[before.nt :].astype(int) - before.nv, triangles)
    assert game.inside(col, np.array(place) + 100)


def test_a_new_object_inside_out_is_refused_or_turned(hull: dict, tmp_path: Path) -> None:
    vertices, faces = tetrahedron((5000, 5000, 5000))
    new_object(hull["root"], "spike", vertices, [f[::-1] for f in faces])
    message = refusal(tmp_path)
    assert "spike" in message and hull["asteroid"].name not in message and hull["wall"].name not in message
    before = read_col(source(ONE_ASTEROID))
    col = judged(export(tmp_path, turn=True))
    assert_shape(col, (before.vertices, before.triangles), (vertices, faces))


@pytest.mark.parametrize("name", ["asteroid_01", "wall", "hull"])
def test_flipped_normals_are_refused_and_turning_restores_the_file(name: str, tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID, surfaces="JOINED" if name == "hull" else "SEPARATE")
    obj = surfaces(root)[name]
    obj.data.flip_normals()
    assert obj.name in refusal(tmp_path)
    assert export(tmp_path, turn=True) == source(ONE_ASTEROID)


@pytest.mark.parametrize("name", ["asteroid_01", "wall"])
@pytest.mark.parametrize("share", ["one", "most"])
def test_faces_wound_against_their_surface_are_refused_and_turned(name: str, share: str, tmp_path: Path) -> None:
    obj = surfaces(import_hull(ONE_ASTEROID))[name]

    def flip(bm: bmesh.types.BMesh) -> None:
        count = len(bm.faces)
        bmesh.ops.reverse_faces(bm, faces=bm.faces[2:3] if share == "one" else bm.faces[: count - 3])

    edit_faces(obj.data, flip)
    message = refusal(tmp_path)
    assert obj.name in message and message.count('"') == 2, "one object is named"
    assert (" 1 flipped triangle " in message) == (share == "one")
    assert export(tmp_path, turn=True) == source(ONE_ASTEROID)


def test_a_negative_scale_that_was_applied_exports_once_it_faces_outward(hull: dict, tmp_path: Path) -> None:
    """`transform_apply` turns faces along since 5.3; before, the rock is inside out afterwards."""
    vertices, triangles = geometry(hull["asteroid"].data)
    hull["asteroid"].scale.y = -1
    select(hull["asteroid"])
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    assert tuple(hull["asteroid"].scale) == (1, 1, 1)
    if volume(*geometry(hull["asteroid"].data)) < 0:
        assert hull["asteroid"].name in refusal(tmp_path)
    col = judged(export(tmp_path, turn=True))
    assert_shape(col, (moved(vertices, scale=(1, -1, 1)), triangles[:, ::-1]), others(hull))


# --- what no file may hold ------------------------------------------------------------------------


def test_a_hole_is_refused(tmp_path: Path) -> None:
    parts = surfaces(import_hull(TWO_ASTEROIDS))

    def delete(bm: bmesh.types.BMesh) -> None:
        assert len(bm.verts[4].link_edges) >= 3
        bmesh.ops.delete(bm, geom=[bm.verts[4]], context="VERTS")

    edges = len({e for e in parts["asteroid_02"].data.edge_keys})
    edit_faces(parts["asteroid_02"].data, delete)
    rim = 2 * len(parts["asteroid_02"].data.edge_keys) - 3 * len(parts["asteroid_02"].data.polygons)
    assert rim >= 3 and len(parts["asteroid_02"].data.edge_keys) < edges
    message = refusal(tmp_path)
    assert "open edges" in message and f"{rim} open edges" in message
    assert parts["asteroid_02"].name in message
    assert parts["asteroid_01"].name not in message and parts["wall"].name not in message


def test_two_holes_name_both_objects(tmp_path: Path) -> None:
    parts = surfaces(import_hull(TWO_ASTEROIDS))
    for name in ("asteroid_01", "wall"):
        edit_faces(parts[name].data, lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[0]], context="FACES_ONLY"))
    message = refusal(tmp_path)
    assert "6 open edges" in message and parts["asteroid_01"].name in message and parts["wall"].name in message


def test_a_face_inside_a_rock_is_refused(hull: dict, tmp_path: Path) -> None:
    def fin(bm: bmesh.types.BMesh) -> None:
        edge = bm.edges[0]
        other = next(v for v in bm.verts if not any(e in v.link_edges for e in edge.verts[0].link_edges))
        bm.faces.new((*edge.verts, other))

    edit_faces(hull["asteroid"].data, fin)
    assert hull["asteroid"].name in refusal(tmp_path)


def test_a_triangle_without_area_is_refused(hull: dict, tmp_path: Path) -> None:
    vertices, triangles = geometry(hull["asteroid"].data)
    a, b, c = triangles[0]
    vertices[[a, b]] = 2 * np.rint(vertices[[a, b]] / 2)
    vertices[c] = (vertices[a] + vertices[b]) / 2  # whole numbers: exactly between
    set_coordinates(hull["asteroid"].data, vertices)
    message = refusal(tmp_path)
    assert "zero-area" in message and hull["asteroid"].name in message and "1 zero-area triangle " in message


def test_vertices_drawn_together_are_refused(hull: dict, tmp_path: Path) -> None:
    vertices, triangles = geometry(hull["asteroid"].data)
    vertices[triangles[0][1]] = vertices[triangles[0][0]]
    set_coordinates(hull["asteroid"].data, vertices)
    message = refusal(tmp_path)
    assert "zero-area" in message and hull["asteroid"].name in message and "2 zero-area triangles" in message


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_coordinate_that_is_no_number_is_refused(hull: dict, value: float, tmp_path: Path) -> None:
    vertices = coordinates(hull["asteroid"].data)
    vertices[3, 1] = value
    set_coordinates(hull["asteroid"].data, vertices)
    message = refusal(tmp_path)
    assert hull["asteroid"].name in message and "1 vert" in message


def test_a_scale_beyond_float32_is_refused(hull: dict, tmp_path: Path) -> None:
    hull["asteroid"].scale = (1e36, 1, 1)
    assert hull["asteroid"].name in refusal(tmp_path)


def test_a_coordinate_at_the_end_of_float32_is_refused(hull: dict, tmp_path: Path) -> None:
    hull["asteroid"].data.vertices[3].co.y = math.inf  # Blender makes it the largest finite number
    assert math.isfinite(hull["asteroid"].data.vertices[3].co.y)
    assert hull["asteroid"].name in refusal(tmp_path)


@pytest.mark.parametrize("turned", [0, 0.02])
def test_an_object_scaled_flat_is_told(turned: float, hull: dict, tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    hull["asteroid"].rotation_euler = (turned, 2 * turned, 0)
    export(tmp_path)
    assert "scaled to 0" not in capfd.readouterr().out
    hull["asteroid"].scale.x = 0
    export(tmp_path)
    assert f'"{hull["asteroid"].name}" is scaled to 0' in capfd.readouterr().out
    hull["asteroid"].scale.x, hull["asteroid"].parent = 1, between(hull)
    hull["asteroid"].parent.scale.y, hull["asteroid"].parent.rotation_euler.x = 0, turned
    export(tmp_path)
    assert f'"{hull["asteroid"].name}" is scaled to 0' in capfd.readouterr().out


def test_loose_vertices_and_edges_are_left_out(hull: dict, tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    edit_faces(hull["asteroid"].data, lambda bm: bm.edges.new((bm.verts.new((1, 2, 3)), bm.verts.new((4, 5, 6)))))
    assert export(tmp_path) == source(ONE_ASTEROID)
    assert "2 unused vertices left out" in capfd.readouterr().out


# --- size -----------------------------------------------------------------------------------------


@pytest.mark.heavy
def test_65534_triangles_export_and_four_more_do_not(tmp_path: Path) -> None:
    """A closed hull has an even number of triangles: 12 of the wall and 181 x 2 x 181 of the ball."""
    root = import_hull(WALL_ONLY)
    bpy.ops.mesh.primitive_uv_sphere_add(segments=181, ring_count=182, radius=200_000)
    ball, wall = bpy.context.object, surfaces(root)["wall"]
    ball.name, ball.parent = "ball", root
    data = export(tmp_path)
    col = judged(data, rays=40, thorough=False)
    assert (col.nt, col.nv) == (65_534, 8 + 2 + 181 * 181)
    assert_shape(col, geometry(ball.data), geometry(wall.data))

    new_object(root, "one too many", *tetrahedron((210_000, 210_000, 210_000)))
    message = refusal(tmp_path)
    assert "65,538 triangles" in message and "65,535" in message and '"ball"' in message


# --- the bounding box -----------------------------------------------------------------------------


def test_geometry_outside_the_box_is_refused_and_named(tmp_path: Path) -> None:
    parts = surfaces(import_hull(TWO_ASTEROIDS))
    move(parts["asteroid_02"], x=CELL)
    message = refusal(tmp_path)
    assert parts["asteroid_02"].name in message and "bounding box" in message
    assert parts["asteroid_01"].name not in message and parts["wall"].name not in message


GROWN = ((CELL, 0, 0), (0, 2.5 * CELL, 0), (0, 0, -6 * CELL), (-9 * CELL, 0, 6 * CELL))


@pytest.mark.parametrize("by", GROWN)
def test_the_grid_grows_by_whole_cells(by: tuple, tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    """Each added cell is one of the source's size, on the side where the rock went."""
    before = read_col(source(TWO_ASTEROIDS))
    parts = surfaces(import_hull(TWO_ASTEROIDS))
    vertices, triangles = geometry(parts["asteroid_02"].data)
    vertices = moved(vertices, by)
    below = np.maximum(0, np.ceil((before.bbox_min[:3] - vertices.min(axis=0)) / CELL)).astype(int)
    above = np.maximum(0, np.ceil((vertices.max(axis=0) - before.bbox_max[:3]) / CELL)).astype(int)
    move(parts["asteroid_02"], by)
    col = judged(export(tmp_path, outside="GROW"))
    assert col.cell_size.tobytes() == before.cell_size.tobytes()
    assert col.dims == tuple(np.array(before.dims) + below + above)
    assert np.array_equal(col.bbox_min[:3], before.bbox_min[:3] - CELL * below)
    assert np.array_equal(col.bbox_max[:3], before.bbox_max[:3] + CELL * above)
    assert_shape(col, (vertices, triangles), geometry(parts["asteroid_01"].data), geometry(parts["wall"].data))
    said = capfd.readouterr().out
    assert ".rgn" in said and parts["asteroid_02"].name in said


def test_growing_without_need_changes_nothing(hull: dict, tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    assert export(tmp_path, outside="GROW") == source(ONE_ASTEROID)
    assert ".rgn" not in capfd.readouterr().out


def test_a_grid_of_more_than_255_cells_is_refused(hull: dict, tmp_path: Path) -> None:
    move(hull["asteroid"], y=260 * CELL)
    message = refusal(tmp_path, outside="GROW")
    assert "255" in message and "along y" in message and hull["asteroid"].name in message


def test_a_rock_outside_a_hull_that_has_no_wall_grows_it(tmp_path: Path) -> None:
    root = import_hull(NO_WALL)
    vertices, faces = tetrahedron((55_000, 0, 0), 12_000)
    new_object(root, "far rock", vertices, faces)
    before, col = read_col(source(NO_WALL)), judged(export(tmp_path, outside="GROW"))
    assert col.dims == (12, 10, 10) and col.bbox_max[0] == 70_000
    assert col.vertices[: before.nv].tobytes() == before.vertices.tobytes()
    assert np.array_equal(col.triangles[before.nt :].astype(int) - before.nv, TETRAHEDRON)


def test_after_fit_grid_nothing_is_forgiven_outside_the_box(tmp_path):
    root = import_hull(MANY_ASTEROIDS, cells="NONE")
    for obj in surfaces(root).values():
        obj.scale = (0.5, 0.5, 0.5)
    bpy.ops.sylpheed.fit_grid()
    for obj in surfaces(root).values():
        obj.scale = (1, 1, 1)
    assert "reach outside the bounding box" in refusal(tmp_path)
    grown = judged(export(tmp_path, outside="GROW"))
    assert (grown.vertices >= grown.bbox_min[:3]).all() and (grown.vertices <= grown.bbox_max[:3]).all()


def test_a_mesh_in_edit_mode_through_an_object_elsewhere_is_exported_as_it_is_edited(tmp_path):
    root = import_hull()
    before = export(tmp_path)
    (rock,) = (obj for name, obj in surfaces(root).items() if "asteroid" in name)
    other = bpy.data.objects.new("other", rock.data)
    bpy.context.scene.collection.objects.link(other)
    select(other)
    bpy.ops.object.mode_set(mode="EDIT")
    assert export(tmp_path) == before
    cage = bmesh.from_edit_mesh(rock.data)
    cage.verts.ensure_lookup_table()
    cage.verts[0].co.x += 50
    bmesh.update_edit_mesh(rock.data)
    assert bpy.ops.sylpheed.check() == {"FINISHED"}
    edited = export(tmp_path)
    bpy.ops.object.mode_set(mode="OBJECT")
    select(rock)
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.sylpheed.check() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert edited != before and export(tmp_path) == edited
