"""Objects to geometry in the file's space, without changing the scene.

Blender evaluates neither hidden nor excluded objects, and keeps edits in progress apart from the mesh. So
whatever needs evaluation is copied into a scene of its own, evaluated there, and removed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import bpy
import numpy as np
from mathutils import Matrix

from . import carry
from .core.assemble import NEW, Mesh, Piece, identify
from .core.errors import FormatError
from .mesh_bridge import MeshArrays, read_mesh

GEOMETRY_TYPES = {"MESH", "CURVE", "SURFACE", "FONT"}

IDENTITY = np.eye(4)
IDENTITY.flags.writeable = False


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where a piece comes from: the object's session number, and the face of its mesh that each triangle is cut from,
    int32 (m,). `own` tells whether the piece's vertices and faces are those of the object's own mesh; modifiers and
    instances make others."""

    session_uid: int
    faces: np.ndarray
    own: bool


@dataclass(slots=True)
class Reading:
    """Pieces, where each comes from, and what was left out and why."""

    pieces: list[Piece] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def below(scene: bpy.types.Scene, root: bpy.types.Object) -> list[bpy.types.Object]:
    """Everything in the scene that hangs below a root, up to other roots, less what only shows something."""
    in_scene = set(scene.objects)
    children: dict[bpy.types.Object, list[bpy.types.Object]] = {}
    for obj in bpy.data.objects:  # Object.children looks through all of them each time
        if obj.parent is not None:
            children.setdefault(obj.parent, []).append(obj)
    found: list[bpy.types.Object] = []
    waiting = list(children.get(root, ()))
    while waiting:
        obj = waiting.pop()
        if carry.kind(obj) in (carry.HULL, carry.SET):
            continue
        waiting += children.get(obj, ())
        if obj in in_scene and carry.kind(obj) != carry.SHOWN:
            found.append(obj)
    return sorted(found, key=lambda obj: obj.name)


def strays(scene: bpy.types.Scene, root: bpy.types.Object) -> list[str]:
    """Names of objects that were imported with a root and no longer hang below it."""
    family = {carry.HULL, carry.SET}
    return sorted(
        obj.name
        for obj in scene.objects
        if obj.type == "MESH"
        and carry.came_with(obj, root)
        and carry.kind(obj) != carry.SHOWN
        and not any(carry.kind(parent) in family for parent in _parents(obj))
    )


def read_objects(
    context: bpy.types.Context, root: bpy.types.Object, objects: list[bpy.types.Object], apply_modifiers: bool
) -> Reading:
    """A piece for each object with faces, in the space below the root. An object that brings no claims to the
    source's numbers gets none here, see `claim_by_position`."""
    reading = Reading()
    context.view_layer.update()
    for obj in objects:
        read_object(context, root, obj, apply_modifiers, reading)
    return reading


def read_object(
    context: bpy.types.Context, root: bpy.types.Object, obj: bpy.types.Object, apply_modifiers: bool, reading: Reading
) -> None:
    """Adds one object to a reading, see `read_objects`. The view layer must be up to date."""
    kind = obj.type
    relative = _relative_matrix(context, root, obj)
    if kind in GEOMETRY_TYPES:
        arrays = _read_geometry(context, obj, apply_modifiers, reading)
        if arrays is not None:
            origin = Origin(obj.session_uid, arrays.faces, _is_own(obj, arrays))
            _add(reading, obj.name, arrays, relative, origin)
    elif kind == "EMPTY" and obj.instance_type == "COLLECTION" and obj.instance_collection:
        for name, arrays, matrix in _read_instances(context, obj, apply_modifiers, reading):
            _add(reading, name, arrays, relative @ matrix, Origin(obj.session_uid, arrays.faces, False))
    elif kind == "META":
        reading.warnings.append(f"`{obj.name}` is a metaball and isn't exported: convert it to a mesh")
    if kind != "EMPTY" and obj.instance_type in {"VERTS", "FACES"} and obj.children:
        reading.warnings.append(f"`{obj.name}` repeats its children; only the originals are exported")


def _add(reading: Reading, name: str, arrays: MeshArrays, matrix: np.ndarray, origin: Origin) -> None:
    piece = _transformed(name, arrays, matrix)
    if _flattens(matrix) and len(piece.triangles) and not np.array_equal(piece.vertices, arrays.vertices):
        reading.warnings.append(f"`{name}` is scaled to 0, which makes it flat")
    reading.pieces.append(piece)
    reading.origins.append(origin)


def claim_by_position(pieces: list[Piece], source: Mesh) -> list[Piece]:
    """Gives pieces that lost every claim to the source's numbers new ones by exact position."""
    return [identify(piece, source) if piece.vertex_ids.max(initial=NEW) == NEW else piece for piece in pieces]


# --- places ---------------------------------------------------------------------------------------


def _parents(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    while obj.parent is not None:
        obj = obj.parent
        yield obj


def _relative_matrix(context: bpy.types.Context, root: bpy.types.Object | None, obj: bpy.types.Object) -> np.ndarray:
    """From an object's space to the root's, or to the world's for None, float64 (4, 4).

    Composed from what each object says of itself: world matrices are rounded, and stale where Blender doesn't
    evaluate. Only a chain with constraints or bones needs them.
    """
    chain = [obj, *_parents(obj)]
    if root is not None:
        chain = chain[: chain.index(root)]
    if any(link.constraints or link.parent_type != "OBJECT" for link in chain):
        return _evaluated_matrix(context, root, obj)
    matrix = IDENTITY
    for link in chain:
        matrix = _times(link.matrix_basis, matrix)
        if link.parent is not None:  # without one, an inverse may be left over that doesn't count
            matrix = _times(link.matrix_parent_inverse, matrix)
    return matrix


def _times(left: Matrix, right: np.ndarray) -> np.ndarray:
    return right if left.is_identity else np.array(left, np.float64) @ right


def _evaluated_matrix(context: bpy.types.Context, root: bpy.types.Object | None, obj: bpy.types.Object) -> np.ndarray:
    """The same from the world matrices that constraints and bones give, of hidden objects too."""
    copy = obj.copy()
    try:
        with _evaluation(context, copy) as depsgraph:
            of_object = np.array(copy.evaluated_get(depsgraph).matrix_world, np.float64)
            of_root = np.array(root.evaluated_get(depsgraph).matrix_world, np.float64) if root else np.eye(4)
    finally:
        bpy.data.objects.remove(copy)
    try:
        return np.linalg.solve(of_root, of_object)
    except np.linalg.LinAlgError:
        raise FormatError(
            f"`{obj.name}` has constraints, which can't be followed while its root is scaled to nothing",
            remedy="give the root a scale other than 0",
        ) from None


@contextmanager
def _evaluation(context: bpy.types.Context, copy: bpy.types.Object) -> Iterator[bpy.types.Depsgraph]:
    """A scene of its own in which a copy of an object is seen and evaluated, gone afterwards."""
    scene = bpy.data.scenes.new("sylpheed export")
    try:
        copy.hide_viewport = False
        scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)
        scene.collection.objects.link(copy)
        view_layer = scene.view_layers[0]
        view_layer.update()
        yield view_layer.depsgraph
    finally:
        bpy.data.scenes.remove(scene)


def _transformed(name: str, arrays: MeshArrays, matrix: np.ndarray) -> Piece:
    """Geometry moved by a matrix in float64 and rounded once; left alone by the identity."""
    vertices, triangles = arrays.vertices, arrays.triangles
    if matrix is not IDENTITY and not np.array_equal(matrix, IDENTITY):
        with np.errstate(over="ignore", invalid="ignore"):
            vertices = (vertices.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)
        if np.linalg.det(matrix[:3, :3]) < 0:
            triangles = triangles[:, [0, 2, 1]]
    return Piece(name, vertices, triangles, arrays.vertex_ids, arrays.triangle_ids)


def _flattens(matrix: np.ndarray) -> bool:
    """Whether nothing is left of some axis, as far as float32 can tell."""
    if matrix is IDENTITY or not np.isfinite(matrix).all():
        return False
    sizes = np.linalg.svd(matrix[:3, :3], compute_uv=False)
    return bool(sizes[-1] <= np.finfo(np.float32).eps * sizes[0])


# --- geometry -------------------------------------------------------------------------------------


def _is_own(obj: bpy.types.Object, arrays: MeshArrays) -> bool:
    """Whether modifiers left the mesh its vertices and faces, though perhaps in other places."""
    if obj.type != "MESH":
        return False
    return len(arrays.vertices) == len(obj.data.vertices) and arrays.face_count == len(obj.data.polygons)


def _read_geometry(
    context: bpy.types.Context, obj: bpy.types.Object, apply_modifiers: bool, reading: Reading
) -> MeshArrays | None:
    editing = is_edited(obj) and obj.type == "MESH"
    if editing:
        obj.update_from_editmode()
    evaluates = obj.type != "MESH" or (apply_modifiers and (obj.modifiers or obj.data.shape_keys))
    if evaluates:
        arrays, instances = _evaluate(context, obj)
        if instances:
            reading.warnings.append(
                f"`{obj.name}` makes {instances:,} instances that aren't exported: add a Realize Instances node"
            )
    elif editing:
        # The attributes of a mesh in edit mode can't be read, those of its copy can.
        copy = obj.data.copy()
        try:
            arrays = read_mesh(copy)
        finally:
            bpy.data.meshes.remove(copy)
    else:
        arrays = read_mesh(obj.data)
    return arrays if len(arrays.triangles) or len(arrays.vertices) else None


def _evaluate(context: bpy.types.Context, obj: bpy.types.Object) -> tuple[MeshArrays, int]:
    """An object's shape with modifiers and shape keys, and how many instances it makes besides."""
    copy = obj.copy()
    data = obj.data.copy() if is_edited(obj) else None
    try:
        if data is not None:
            copy.data = data
        with _evaluation(context, copy) as depsgraph:
            evaluated = copy.evaluated_get(depsgraph)
            arrays = read_mesh(evaluated.to_mesh())
            evaluated.to_mesh_clear()
            instances = sum(
                1
                for instance in depsgraph.object_instances
                if instance.is_instance and instance.parent and instance.parent.original == copy
            )
        return arrays, instances
    finally:
        bpy.data.objects.remove(copy)
        if data is not None:
            _remove_data(data)


def is_edited(obj: bpy.types.Object) -> bool:
    """Whether the object's data are in edit mode, perhaps through another object that shares them."""
    return getattr(obj.data, "is_editmode", obj.mode == "EDIT")


def _remove_data(data: bpy.types.ID) -> None:
    (bpy.data.meshes if isinstance(data, bpy.types.Mesh) else bpy.data.curves).remove(data)


def _read_instances(
    context: bpy.types.Context, empty: bpy.types.Object, apply_modifiers: bool, reading: Reading
) -> Iterator[tuple[str, MeshArrays, np.ndarray]]:
    """The geometry of a collection instance: names, arrays, and matrices in the empty's space."""
    collection = empty.instance_collection
    offset = np.eye(4)
    offset[:3, 3] = -np.array(collection.instance_offset, np.float64)
    # A list, because evaluating objects frees what `all_objects` walks along.
    for obj in list(collection.all_objects):
        matrix = offset @ _relative_matrix(context, None, obj)
        if obj.type in GEOMETRY_TYPES:
            arrays = _read_geometry(context, obj, apply_modifiers, reading)
            if arrays is not None:
                yield f"{empty.name}: {obj.name}", arrays, matrix
        elif obj.instance_type == "COLLECTION" and obj.instance_collection:
            reading.warnings.append(
                f"`{empty.name}` holds the instance `{obj.name}`, which isn't exported: make it real"
            )
