"""What the tests of hulls share: import and export as a user does, and an independent judge of the written file."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import bmesh
import bpy
import numpy as np
import pytest

from tests.oracle import exact
from tests.oracle import game_queries as game
from tests.oracle.readers import Col, read_col

DATA = Path(__file__).resolve().parents[1] / "data"
PLAIN = sorted(path.name for path in DATA.glob("*.col"))
QUIRKS = sorted(f"quirks/{path.name}" for path in (DATA / "quirks").glob("*.col"))
HULLS = PLAIN + QUIRKS

ONE_ASTEROID = "test.col"
TWO_ASTEROIDS = "S13_AsteroidVolume_wp.col"
MANY_ASTEROIDS = "S14_p1_AsteroidVolume_wp.col"
NO_WALL = "S01_AsteroidVolume_wp.col"
CAVERN = "S05_AsteroidVolume_wp.col"
WALL_ONLY = "mapmesh_box_500km.col"

OLD = b"what stood here before"
RAYS = 200


# --- in and out -----------------------------------------------------------------------------------


def source(name: str) -> bytes:
    """The bytes of a sample."""
    return (DATA / name).read_bytes()


def roots() -> list[bpy.types.Object]:
    """The roots of all hulls in the file, by name."""
    return sorted((obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "hull"), key=lambda obj: obj.name)


def import_hull(name: str | Path = ONE_ASTEROID, centred: bool = True, **options: object) -> bpy.types.Object:
    """Imports a sample, or the file at a path, without cells unless asked for, and returns the new root. `centred`
    False puts the surfaces' origins to the root's, see `about_the_root`."""
    before = set(roots())
    options.setdefault("cells", "NONE")
    assert bpy.ops.import_scene.sylpheed_col(filepath=str(DATA / name), **options) == {"FINISHED"}
    (root,) = set(roots()) - before
    if not centred:
        for obj in surfaces(root).values():
            about_the_root(obj)
    return root


def export(folder: Path, **options: object) -> bytes:
    """The bytes that the export wrote."""
    path = folder / "exported.col"
    path.unlink(missing_ok=True)
    assert bpy.ops.export_scene.sylpheed_col(filepath=str(path), **options) == {"FINISHED"}
    made = {entry.name for entry in folder.iterdir() if "exported" in entry.name}
    assert path.name in made <= {path.name, "exported.rgn"}
    return path.read_bytes()


def refusal(folder: Path, **options: object) -> str:
    """What a refused export says. The file that was there is still there, and no other."""
    path = folder / "refused.col"
    path.write_bytes(OLD)
    before = sorted(folder.iterdir())
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.export_scene.sylpheed_col(filepath=str(path), **options)
    assert path.read_bytes() == OLD and sorted(folder.iterdir()) == before
    message = str(caught.value)
    assert "Traceback" not in message
    return message.removeprefix("Error: ").strip()


# --- objects --------------------------------------------------------------------------------------


def surfaces(root: bpy.types.Object) -> dict[str, bpy.types.Object]:
    """The mesh objects below a root by what precedes the file's name: wall, asteroid_01, …"""
    stem = f".{root['sylpheed_stem']}"
    found = sorted((obj for obj in root.children if obj.type == "MESH"), key=lambda obj: obj.name)
    return {obj.name.replace(stem, "", 1): obj for obj in found}


def select(*objects: bpy.types.Object) -> None:
    """Selects these objects alone, a wall too; the last is active."""
    for obj in objects:
        obj.hide_select = False
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[-1]


def local_coordinates(mesh: bpy.types.Mesh) -> np.ndarray:
    """The vertices about the mesh's own origin, float32 (n, 3)."""
    values = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", values)
    return values.reshape(-1, 3)


def origin_of(mesh: bpy.types.Mesh) -> np.ndarray:
    """The point of the file about which an imported mesh has its coordinates, (3,)."""
    return np.array(mesh.get("sylpheed_origin", (0.0, 0.0, 0.0)), float)


def coordinates(mesh: bpy.types.Mesh) -> np.ndarray:
    """The vertices in the file's space while their object stays where the import put it, float32 (n, 3). Those that
    are as imported are the source's."""
    local, origin = local_coordinates(mesh), origin_of(mesh)
    if not origin.any():
        return local
    values = (local + origin).astype(np.float32)
    theirs = source_vertices(mesh)
    claims = np.zeros(len(values), np.int32)
    if theirs is not None and mesh.attributes["sylpheed_vertex"].domain == "POINT" and not mesh.is_editmode:
        mesh.attributes["sylpheed_vertex"].data.foreach_get("value", claims)
        known = (claims > 0) & (claims <= len(theirs))
        theirs = theirs[np.where(known, claims - 1, 0)]
        known &= ((theirs - origin).astype(np.float32) == local).all(axis=1)
        values[known] = theirs[known]
    return values


def source_vertices(mesh: bpy.types.Mesh) -> np.ndarray | None:
    """The vertices of the hull that a mesh came with, float32 (n, 3)."""
    for obj in bpy.data.objects:
        if obj.type == "MESH" and obj.data.name == mesh.name.partition("\0")[0]:
            root = obj
            while root is not None and not isinstance(root.get("sylpheed_source"), bytes):
                root = root.parent
            if root is not None and root["sylpheed_kind"] == "hull":
                return np.array(read_col(root["sylpheed_source"]).vertices, np.float32)
    return None


def about_the_root(obj: bpy.types.Object) -> bpy.types.Object:
    """Puts an imported object's origin where its root is, so that its mesh holds the file's coordinates: as an earlier
    version imported it, and as scaling or turning about the map's centre needs it."""
    values = coordinates(obj.data)
    del obj.data["sylpheed_origin"]
    set_coordinates(obj.data, values)
    obj.location = (0, 0, 0)
    return obj


def move(obj: bpy.types.Object, by: Iterable[float] = (), **axes: float) -> None:
    """Puts an object so far from where the import put it, or so far along some axes."""
    start = np.zeros(3) if obj.data is None else origin_of(obj.data)
    if axes:
        for axis, value in axes.items():
            setattr(obj.location, axis, start["xyz".index(axis)] + value)
    else:
        obj.location = start + np.array(by, float)


def set_coordinates(mesh: bpy.types.Mesh, values: np.ndarray) -> None:
    """Puts the vertices there, which `coordinates` then returns up to rounding."""
    local = np.asarray(values, np.float64) - origin_of(mesh)
    mesh.vertices.foreach_set("co", local.astype(np.float32).ravel())
    mesh.update()


def shown_triangles(mesh: bpy.types.Mesh) -> np.ndarray:
    """Corner numbers of the triangles that Blender draws, (n, 3)."""
    mesh.calc_loop_triangles()
    values = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", values)
    return values.reshape(-1, 3)


def geometry(mesh: bpy.types.Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a mesh as Blender draws it."""
    return coordinates(mesh), shown_triangles(mesh)


def evaluated(obj: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    """The same with the object's modifiers and shape keys."""
    bpy.context.view_layer.update()
    return geometry(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)


def new_object(
    root: bpy.types.Object, name: str, vertices: Iterable[Iterable[float]], faces: Iterable[Iterable[int]]
) -> bpy.types.Object:
    """A mesh made in Blender, parented to the root."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(map(float, v)) for v in vertices], [], [tuple(map(int, f)) for f in faces])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.parent = root
    return obj


def edit_faces(mesh: bpy.types.Mesh, change) -> None:
    """Calls `change` with a bmesh of the mesh and writes it back."""
    bm = bmesh.new()
    bm.from_mesh(mesh)
    for elements in (bm.verts, bm.edges, bm.faces):
        elements.ensure_lookup_table()
    change(bm)
    bm.to_mesh(mesh)
    bm.free()


TETRAHEDRON = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


def tetrahedron(place: Iterable[float], size: float = 3000.0) -> tuple[np.ndarray, tuple]:
    """Corners and outward faces of a tetrahedron with its right angle at a place."""
    return np.vstack([np.zeros(3), size * np.eye(3)]) + np.asarray(place), TETRAHEDRON


# --- shapes ---------------------------------------------------------------------------------------


def moved(vertices: np.ndarray, by: Iterable[float] = (0, 0, 0), scale: Iterable[float] = (1, 1, 1)) -> np.ndarray:
    """float32 vertices scaled and moved, rounded once."""
    return (vertices.astype(np.float64) * np.asarray(scale) + np.asarray(by)).astype(np.float32)


def shape(*parts: tuple[np.ndarray, np.ndarray]) -> Counter:
    """The triangles of meshes as the bits of their corners in order of turning, however they are numbered."""
    found: Counter = Counter()
    for vertices, triangles in parts:
        corners = np.ascontiguousarray(vertices, np.float32)[np.asarray(triangles, int)]
        for a, b, c in corners.tolist():
            a, b, c = map(tuple, (a, b, c))
            found[min((a, b, c), (b, c, a), (c, a, b))] += 1
    return found


def assert_shape(col: Col, *parts: tuple[np.ndarray, np.ndarray]) -> None:
    """The file holds exactly the triangles of these meshes."""
    mine, theirs = shape((col.vertices, col.triangles)), shape(*parts)
    assert not (mine - theirs), f"{sum((mine - theirs).values())} of {col.nt} triangles should not be there"
    assert not (theirs - mine), f"{sum((theirs - mine).values())} triangles are missing"


def volume(vertices: np.ndarray, triangles: np.ndarray) -> float:
    """Signed: positive where the front faces outward."""
    a, b, c = np.moveaxis(np.asarray(vertices, float)[np.asarray(triangles, int)], 1, 0)
    return float((a * np.cross(b, c)).sum() / 6)


# --- the judge ------------------------------------------------------------------------------------


def judged(data: bytes, rays: int = RAYS, thorough: bool = True) -> Col:
    """The file, held against the rules of the format and the game's own queries. For hulls whose lists and fill
    states should be right everywhere: not for samples that have faults of their own. Not `thorough`: every 16th fill
    state and no list, for large hulls."""
    col = read_col(data)
    assert col.nv <= col.nt
    sides = np.stack((col.triangles, np.roll(col.triangles, -1, axis=1)), axis=2).reshape(-1, 2).astype(int)
    edges = Counter(map(tuple, sides.tolist()))
    assert set(edges.values()) == {1}, "two triangles run along an edge the same way"
    assert all((b, a) in edges for a, b in edges), "an edge is open"
    assert len(np.unique(col.triangles)) == col.nv, "a vertex belongs to no triangle"

    corners = col.vertices[col.triangles].astype(float)
    reach = np.linalg.norm(corners - col.spheres[:, None, :3], axis=2).max(axis=1)
    assert (reach <= col.spheres[:, 3]).all(), "a corner sticks out of its triangle's sphere"
    assert all(cell.state == 1 for cell in col.cells if cell.count), "fill states of cells with triangles"
    empty = [cell for cell in col.cells if not cell.count][:: 1 if thorough else 16]
    places = np.array([(cell.x, cell.y, cell.z) for cell in empty]).reshape(-1, 3)
    centres = col.bbox_min[:3] + (places + 0.5) * col.cell_size.astype(float)
    rock = game.solid(col.vertices, col.triangles, col.outside, centres)
    assert [cell.state for cell in empty] == (2 * rock).tolist(), "fill states of cells without triangles"
    for cell in col.cells:
        for record in cell.lists:
            away = col.vertices[col.triangles[record.indices]].reshape(-1, 3) - record.sphere[:3].astype(float)
            assert (np.linalg.norm(away, axis=1) <= record.sphere[3]).all(), "a corner sticks out of its list's sphere"
    if thorough:
        for cell, wanted in zip(col.cells, overlapping(col), strict=True):
            assert not set(wanted) - listed(cell), "a list misses a triangle"

    random = np.random.default_rng(1)
    low, high = col.bbox_min[:3].astype(float), col.bbox_max[:3].astype(float)
    starts, ends = random.uniform(low, high, (rays, 3)), random.uniform(low, high, (rays, 3))
    found = game.rays(col, starts, ends - starts)
    np.testing.assert_allclose(found, game.first_hits(col.vertices, col.triangles, starts, ends - starts), atol=1e-7)
    return col


def listed(cell) -> set[int]:
    """The triangles that a cell lists."""
    return {number for record in cell.lists for number in record.indices}


def overlapping(col: Col, vertices: np.ndarray | None = None, triangles: np.ndarray | None = None) -> list[list[int]]:
    """For every cell the triangles that touch it, exactly; of the file or of other geometry in its grid."""
    vertices = col.vertices if vertices is None else vertices
    triangles = col.triangles if triangles is None else triangles
    return exact.cell_lists(vertices, triangles, col.bbox_min[:3], col.cell_size, col.dims)


def run_command(addon: ModuleType, *words: object) -> int:
    """Runs `blender --command sylpheed` with words: its exit status."""
    command_line = importlib.import_module(f"{addon.__name__}.blender_addon.interface.command_line")
    return command_line.run([str(word) for word in words])
