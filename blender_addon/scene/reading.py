"""Objects to geometry in the file's space, in the shape and place that the user's view layer evaluates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import bpy
import numpy as np

from ...core.editing.claims import identify
from ...core.editing.pieces import NEW, Mesh, Piece
from ...core.editing.placement import EXACT, Placement, place, rounded
from ...core.text import some
from . import custom_properties, left_out
from .custom_properties import mesh_origin
from .evaluation import View, evaluated, is_edited
from .left_out import Family, LeftOut
from .mesh_arrays import MeshArrays, read_mesh

__all__ = ["is_edited"]

GEOMETRY_TYPES = {"MESH", "CURVE", "SURFACE", "FONT"}

SourceOf = Callable[[bpy.types.Object], Mesh | None]
"""The source's mesh that an object's claims are about, None for none."""


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where a piece comes from: the object's session number, and the face of its mesh that each triangle is cut from,
    int32 (m,). `own` tells whether the piece's vertices and faces are those of the object's own mesh; modifiers and
    instances make others."""

    session_uid: int
    faces: np.ndarray
    own: bool


@dataclass(frozen=True, slots=True, eq=False)
class _About:
    """What a mesh's claims are about: the source's vertices, float32 (n, 3), and the point that the import subtracted
    from them, float64 (3,); None for none."""

    source: np.ndarray | None
    origin: np.ndarray | None


@dataclass(slots=True)
class Reading:
    """Pieces, where each comes from, and what was left out and why."""

    pieces: list[Piece] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


def below(scene: bpy.types.Scene, root: bpy.types.Object) -> list[bpy.types.Object]:
    """Everything in the scene that is parented to a root, up to other roots, less what only shows something."""
    return family(scene, root).exported


def family(scene: bpy.types.Scene, root: bpy.types.Object) -> Family:
    """All that is parented to a root."""
    children: dict[bpy.types.Object, list[bpy.types.Object]] = {}
    for obj in bpy.data.objects:  # Object.children looks through all of them each time
        if (parent := obj.parent) is not None:
            children.setdefault(parent, []).append(obj)
    found = Family([], [], [])
    in_scene = set(scene.objects)  # a look-up by name goes through the scene each time
    waiting = list(children.get(root, ()))
    while waiting:
        obj = waiting.pop()
        kind = custom_properties.kind(obj)
        if kind in (custom_properties.HULL, custom_properties.SET):
            continue
        waiting += children.get(obj, ())
        if kind == custom_properties.SHOWN:
            found.shown.append(obj)
        elif obj in in_scene:
            found.exported.append(obj)
        elif any(other.user_of_id(obj) for other in bpy.data.scenes):
            found.elsewhere.append(obj)
    for objects in (found.exported, found.shown, found.elsewhere):
        objects.sort(key=lambda obj: obj.name)
    return found


def read_objects(
    context: bpy.types.Context,
    root: bpy.types.Object,
    objects: list[bpy.types.Object],
    apply_modifiers: bool,
    source_of: SourceOf,
) -> list[Reading]:
    """A reading of each object: a piece if it has faces, in the space of the root. A vertex that claims one of the
    source and lies within rounding of it has its coordinates. An object that brings no claims to the source's numbers
    gets none here, see `claim_by_position`."""
    every = [*objects, *(member for obj in objects for member in members(obj))]
    readings = []
    with evaluated(context, root, every, apply_modifiers) as view:
        for obj in objects:
            reading = Reading()
            source = source_of(obj)
            _read_object(view, obj, None if source is None else source.vertices, reading)
            readings.append(reading)
    return readings


def _read_object(view: View, obj: bpy.types.Object, source: np.ndarray | None, reading: Reading) -> None:
    kind = obj.type
    if kind in GEOMETRY_TYPES:
        arrays = _read_geometry(view, obj, obj, reading)
        if arrays is not None:
            origin = Origin(obj.session_uid, arrays.faces, _is_own(obj, arrays))
            _add(reading, obj.name, arrays, view.placement(obj), origin, _About(source, mesh_origin(obj.data)))
    elif kind == "EMPTY":
        _read_instances(view, obj, source, reading)
    reading.left_out += left_out.of_object(obj)


def _add(reading: Reading, name: str, arrays: MeshArrays, placement: Placement, origin: Origin, about: _About) -> None:
    vertices, slack = place(arrays.vertices, arrays.vertex_ids, placement, about.source, about.origin)
    triangles = arrays.triangles
    if placement is not EXACT:
        if np.linalg.det(placement.matrix[:3, :3]) < 0:
            triangles = triangles[:, [0, 2, 1]]
        if _flattens(placement.matrix) and len(triangles) and not np.array_equal(vertices, arrays.vertices):
            reading.left_out.append(LeftOut(f'"{name}" is scaled to 0, which makes it flat', (origin.session_uid,)))
    reading.pieces.append(Piece(name, vertices, triangles, arrays.vertex_ids, arrays.triangle_ids, slack))
    reading.origins.append(origin)


def claim_by_position(pieces: list[Piece], source: Mesh) -> list[Piece]:
    """Gives pieces that lost every claim to the source's numbers new ones by exact position."""
    return [identify(piece, source) if piece.vertex_ids.max(initial=NEW) == NEW else piece for piece in pieces]


def _flattens(matrix: np.ndarray) -> bool:
    """Whether nothing is left of some axis, as far as float32 can tell."""
    if not np.isfinite(matrix).all():
        return False
    sizes = np.linalg.svd(matrix[:3, :3], compute_uv=False)
    return bool(sizes[-1] <= np.finfo(np.float32).eps * sizes[0])


def _parents(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    while obj.parent is not None:
        obj = obj.parent
        yield obj


# --- geometry -------------------------------------------------------------------------------------


def _is_own(obj: bpy.types.Object, arrays: MeshArrays) -> bool:
    """Whether modifiers left the mesh its vertices and faces, though perhaps in other places."""
    if obj.type != "MESH":
        return False
    return len(arrays.vertices) == len(obj.data.vertices) and arrays.face_count == len(obj.data.polygons)


def _read_geometry(view: View, obj: bpy.types.Object, owner: bpy.types.Object, reading: Reading) -> MeshArrays | None:
    """The geometry of an object that shows by itself or in `owner`, a collection instance."""
    with view.mesh(obj) as mesh:
        arrays = read_mesh(mesh)
    name, uid = f'"{obj.name}"' if obj == owner else f'"{owner.name}": "{obj.name}"', (owner.session_uid,)
    extras = view.extras(obj) if view.evaluates_shape(obj) else []
    if extras:
        remedy = "add a Realize Instances node" if "instance" in extras[0] else "make a mesh of them in its nodes"
        reading.left_out.append(LeftOut(f"{name} makes {some(extras)}, which aren't exported: {remedy}", uid))
    if len(arrays.vertices) and not len(arrays.triangles):
        reading.left_out.append(LeftOut(f"{name} has vertices but no faces, and isn't exported", uid))
    return arrays if len(arrays.triangles) or len(arrays.vertices) else None


def members(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects that a collection instance shows."""
    if obj.type != "EMPTY" or obj.instance_type != "COLLECTION" or not obj.instance_collection:
        return []
    return list(obj.instance_collection.all_objects)


def _read_instances(view: View, empty: bpy.types.Object, source: np.ndarray | None, reading: Reading) -> None:
    """The geometry of a collection instance."""
    for obj in members(empty):
        reading.left_out += left_out.of_object(obj, empty)
        if obj.type in GEOMETRY_TYPES:
            arrays = _read_geometry(view, obj, empty, reading)
            if arrays is not None:
                offset = np.eye(4)
                offset[:3, 3] = -np.array(empty.instance_collection.instance_offset, np.float64)
                placement = view.placement(empty).after(rounded(offset)).after(view.placement(obj))
                origin = Origin(empty.session_uid, arrays.faces, False)
                about = _About(source, mesh_origin(obj.data))
                _add(reading, f"{empty.name}: {obj.name}", arrays, placement, origin, about)
        elif obj.instance_type == "COLLECTION" and obj.instance_collection:
            message = f'"{empty.name}" holds the instance "{obj.name}", which isn\'t exported: make it real'
            reading.left_out.append(LeftOut(message, (empty.session_uid,)))
