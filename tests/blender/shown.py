"""What a view layer shows below a root, evaluated and placed here in float64, and whether a file holds just that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np
from mathutils.kdtree import KDTree

TOLERANCE = 4e-6
"""A few steps of float32, as a part of the largest coordinate: world matrices are rounded."""

SOLID = {"MESH", "CURVE", "SURFACE", "FONT"}

Triangles = tuple[np.ndarray, np.ndarray]


def family(root: bpy.types.Object) -> list[bpy.types.Object]:
    """What is parented to a root at any depth and has a shape."""
    found = [obj for obj in bpy.context.scene.objects if obj.type in SOLID and _is_below(obj, root)]
    return [obj for obj in found if obj.data.get("sylpheed_kind") != "shown"]


def _is_below(obj: bpy.types.Object, root: bpy.types.Object) -> bool:
    while obj is not None and obj != root:
        obj = obj.parent
    return obj is not None


@contextmanager
def everything_enabled(root: bpy.types.Object) -> Iterator[None]:
    """A root's objects are evaluated, whatever hides them."""
    layers = list(_layers(bpy.context.view_layer.layer_collection))
    flags = [(obj, "hide_viewport", obj.hide_viewport) for obj in (root, *family(root))]
    flags += [(layer.collection, "hide_viewport", layer.collection.hide_viewport) for layer in layers]
    excluded = [layer for layer in layers if layer.exclude]
    for layer in excluded:
        layer.exclude = False
    for owner, name, _ in flags:
        setattr(owner, name, False)
    bpy.context.view_layer.update()
    try:
        yield
    finally:
        for owner, name, value in flags:
            setattr(owner, name, value)
        for layer in excluded:
            layer.exclude = True
        bpy.context.view_layer.update()


def _layers(layer: bpy.types.LayerCollection) -> Iterator[bpy.types.LayerCollection]:
    for child in layer.children:
        yield child
        yield from _layers(child)


def shown(root: bpy.types.Object, objects: list[bpy.types.Object] | None = None) -> list[Triangles]:
    """Vertices float64 (n, 3) in the root's space and triangles (m, 3) of each object below it, as the view layer
    evaluates them. Objects in sculpt mode have to leave it first."""
    with everything_enabled(root):
        graph = bpy.context.evaluated_depsgraph_get()
        return [_evaluate(obj, root, graph) for obj in (family(root) if objects is None else objects)]


def _evaluate(obj: bpy.types.Object, root: bpy.types.Object, graph: bpy.types.Depsgraph) -> Triangles:
    evaluated = obj.evaluated_get(graph)
    mesh = evaluated.to_mesh()
    mesh.calc_loop_triangles()
    vertices = np.array([vertex.co[:] for vertex in mesh.vertices], np.float64).reshape(-1, 3)
    triangles = np.array([triangle.vertices[:] for triangle in mesh.loop_triangles], np.int64).reshape(-1, 3)
    evaluated.to_mesh_clear()
    world, home = (np.array(each.evaluated_get(graph).matrix_world, np.float64) for each in (obj, root))
    place = np.linalg.solve(home, world)
    if np.linalg.det(place[:3, :3]) < 0:
        triangles = triangles[:, ::-1]
    return vertices @ place[:3, :3].T + place[:3, 3], triangles


def difference(file: Triangles, parts: list[Triangles]) -> tuple[int, int]:
    """How many triangles a file has that the parts don't, and the other way around. Vertices in one place are one."""
    vertices = np.concatenate([np.asarray(file[0], np.float64), *(vertices for vertices, _ in parts)])
    reach = TOLERANCE * max(1.0, np.abs(vertices).max(initial=0))
    place = _places(vertices, reach)
    first = len(file[0])
    mine = _turned(place[:first][_with_area(*file)])
    theirs: Counter = Counter()
    for part_vertices, triangles in parts:
        theirs += _turned(place[first : first + len(part_vertices)][_with_area(part_vertices, triangles)])
        first += len(part_vertices)
    return sum((mine - theirs).values()), sum((theirs - mine).values())


def _with_area(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Triangles less those without area, which sets leave out."""
    triangles, vertices = np.asarray(triangles, np.int64), np.asarray(vertices, np.float64)
    a, b, c = (vertices[triangles[:, corner]] for corner in range(3))
    longest = np.max([np.linalg.norm(side, axis=1) for side in (b - a, c - b, a - c)], axis=0)
    return triangles[np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-7 * longest**2]


def _places(vertices: np.ndarray, reach: float) -> np.ndarray:
    """A number for each place: vertices within reach of each other have one."""
    tree = KDTree(len(vertices))
    for number, vertex in enumerate(vertices):
        tree.insert(vertex, number)
    tree.balance()
    place = np.full(len(vertices), -1)
    for number in range(len(vertices)):
        if place[number] < 0:
            waiting = [number]
            place[number] = number
            while waiting:
                for _, near, _ in tree.find_range(vertices[waiting.pop()], reach):
                    if place[near] < 0:
                        place[near] = number
                        waiting.append(near)
    return place


def _turned(triangles: np.ndarray) -> Counter:
    """Triangles by their corners in order of turning, but those that reach nowhere."""
    found: Counter = Counter()
    for a, b, c in triangles.tolist():
        if len({a, b, c}) == 3:
            found[min((a, b, c), (b, c, a), (c, a, b))] += 1
    return found


def assert_file_shows(file: Triangles, root: bpy.types.Object) -> None:
    """The file holds just the triangles that the view layer shows below the root."""
    extra, missing = difference(file, shown(root))
    assert (extra, missing) == (0, 0), f"{extra} triangles should not be there, {missing} are missing"
