"""Objects to geometry in the file's space, in the shape and place that the user's view layer evaluates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import bpy
import numpy as np

from . import carry
from .core.assemble import NEW, Mesh, Piece, identify
from .core.placement import EXACT, Placement, place, rounded
from .evaluation import View, evaluated, is_edited
from .mesh_bridge import MeshArrays, read_mesh

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


@dataclass(slots=True)
class Reading:
    """Pieces, where each comes from, and what was left out and why."""

    pieces: list[Piece] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def below(scene: bpy.types.Scene, root: bpy.types.Object) -> list[bpy.types.Object]:
    """Everything in the scene that is parented to a root, up to other roots, less what only shows something."""
    children: dict[bpy.types.Object, list[bpy.types.Object]] = {}
    for obj in bpy.data.objects:  # Object.children looks through all of them each time
        if (parent := obj.parent) is not None:
            children.setdefault(parent, []).append(obj)
    found: list[bpy.types.Object] = []
    waiting = list(children.get(root, ()))
    while waiting:
        obj = waiting.pop()
        kind = carry.kind(obj)
        if kind in (carry.HULL, carry.SET):
            continue
        waiting += children.get(obj, ())
        if kind != carry.SHOWN and _is_in(scene, obj):
            found.append(obj)
    return sorted(found, key=lambda obj: obj.name)


def _is_in(scene: bpy.types.Scene, obj: bpy.types.Object) -> bool:
    named = scene.objects.get(obj.name)
    # One that is linked from a library may have the same name.
    return named == obj or (named is not None and bool(scene.user_of_id(obj)))


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
    context: bpy.types.Context,
    root: bpy.types.Object,
    objects: list[bpy.types.Object],
    apply_modifiers: bool,
    source_of: SourceOf,
) -> list[Reading]:
    """A reading of each object: a piece if it has faces, in the space below the root. A vertex that claims one of the
    source and lies within rounding of it has its coordinates. An object that brings no claims to the source's numbers
    gets none here, see `claim_by_position`."""
    every = [*objects, *(member for obj in objects for member in _members(obj))]
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
        arrays = _read_geometry(view, obj, reading)
        if arrays is not None:
            origin = Origin(obj.session_uid, arrays.faces, _is_own(obj, arrays))
            _add(reading, obj.name, arrays, view.placement(obj), origin, source)
    elif kind == "EMPTY":
        _read_instances(view, obj, source, reading)
    elif kind == "META":
        reading.warnings.append(f"`{obj.name}` is a metaball and isn't exported: convert it to a mesh")
    if kind != "EMPTY" and obj.instance_type in {"VERTS", "FACES"} and obj.children:
        reading.warnings.append(f"`{obj.name}` repeats its children; only the originals are exported")


def _add(
    reading: Reading, name: str, arrays: MeshArrays, placement: Placement, origin: Origin, source: np.ndarray | None
) -> None:
    vertices, slack = place(arrays.vertices, arrays.vertex_ids, placement, source)
    triangles = arrays.triangles
    if placement is not EXACT:
        if np.linalg.det(placement.matrix[:3, :3]) < 0:
            triangles = triangles[:, [0, 2, 1]]
        if _flattens(placement.matrix) and len(triangles) and not np.array_equal(vertices, arrays.vertices):
            reading.warnings.append(f"`{name}` is scaled to 0, which makes it flat")
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


def _read_geometry(view: View, obj: bpy.types.Object, reading: Reading) -> MeshArrays | None:
    with view.mesh(obj) as mesh:
        arrays = read_mesh(mesh)
    instances = view.count_instances(obj) if view.evaluates_shape(obj) else 0
    if instances:
        reading.warnings.append(
            f"`{obj.name}` makes {instances:,} instances that aren't exported: add a Realize Instances node"
        )
    return arrays if len(arrays.triangles) or len(arrays.vertices) else None


def _members(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects that a collection instance shows."""
    if obj.type != "EMPTY" or obj.instance_type != "COLLECTION" or not obj.instance_collection:
        return []
    return list(obj.instance_collection.all_objects)


def _read_instances(view: View, empty: bpy.types.Object, source: np.ndarray | None, reading: Reading) -> None:
    """The geometry of a collection instance."""
    for obj in _members(empty):
        if obj.type in GEOMETRY_TYPES:
            arrays = _read_geometry(view, obj, reading)
            if arrays is not None:
                offset = np.eye(4)
                offset[:3, 3] = -np.array(empty.instance_collection.instance_offset, np.float64)
                placement = view.placement(empty).after(rounded(offset)).after(view.placement(obj))
                origin = Origin(empty.session_uid, arrays.faces, False)
                _add(reading, f"{empty.name}: {obj.name}", arrays, placement, origin, source)
        elif obj.instance_type == "COLLECTION" and obj.instance_collection:
            reading.warnings.append(
                f"`{empty.name}` holds the instance `{obj.name}`, which isn't exported: make it real"
            )
