"""Puts objects back to what their source file says: shape, place, and what would change either."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix

from ...core.editing.pieces import NEW
from ...core.errors import RefusedError
from ...core.formats.mcol import Hull
from ...core.geometry import surfaces
from ...core.geometry.triangles import repeated
from . import custom_properties, object_names, sources
from .importing import about_its_centre, add_object, new_mesh, new_parts, show_as_wall
from .mesh_arrays import NewMesh, make_meshes, read_mesh
from .reading import family
from .set_layout import lay_out


def revert_object(root: bpy.types.Object, obj: bpy.types.Object) -> None:
    """Puts one object back. Raises `RefusedError` where it has no source or can't be changed."""
    _require_own(obj)
    if custom_properties.kind(root) == custom_properties.SET:
        _revert_part(root, obj)
        return
    hull = sources.hull_source(root)
    surface = _surface_of_triangles(hull)
    mine = _claimed_surfaces(obj, surface)
    if not len(mine):
        raise RefusedError(f'"{obj.name}" is new and has no source', remedy="undo its edit or delete it")
    _revert_surfaces(root, obj, hull, np.flatnonzero(np.isin(surface, mine)))


def revert_all(scene: bpy.types.Scene, root: bpy.types.Object) -> tuple[int, int, int]:
    """Puts everything that is parented to a root back: how many objects were put back, made again, and deleted because
    they have no source. Raises `RefusedError` where one can't be changed; nothing is changed then."""
    objects = family(scene, root).exported
    for obj in objects:
        _require_own(obj)
    if custom_properties.kind(root) == custom_properties.SET:
        return _revert_set(root, objects)
    hull = sources.hull_source(root)
    surface = _surface_of_triangles(hull)
    claims = {obj: _claimed_surfaces(obj, surface) for obj in objects}
    taken: set[int] = set()
    reverted = 0
    for obj in sorted(objects, key=lambda obj: (-len(claims[obj]), obj.name)):
        free = [number for number in claims[obj].tolist() if number not in taken]
        if not free:
            bpy.data.objects.remove(obj)
            continue
        taken.update(free)
        _revert_surfaces(root, obj, hull, np.flatnonzero(np.isin(surface, free)))
        reverted += 1
    return reverted, _make_missing(root, hull, surface, taken), len(objects) - reverted


def _surface_of_triangles(hull: Hull) -> np.ndarray:
    """The surface of each triangle, int64 (nt,), -1 for those that Blender can't hold."""
    surface = np.full(len(hull.triangles), -1)
    kept = np.flatnonzero(~repeated(hull.triangles))
    surface[kept] = surfaces.split(hull.triangles[kept].astype(np.int64))
    return surface


def _claimed_surfaces(obj: bpy.types.Object, surface: np.ndarray) -> np.ndarray:
    """The surfaces of the source that an object shows most of, or the one that it shows most of, ascending."""
    if obj.type != "MESH":
        return np.zeros(0, np.int64)
    claims = read_mesh(obj.data).triangle_ids
    claims = np.unique(claims[(claims > NEW) & (claims < len(surface))])
    claims = claims[surface[claims] >= 0]
    if not len(claims):
        return np.zeros(0, np.int64)
    sizes = np.bincount(surface[surface >= 0])
    shown = np.bincount(surface[claims], minlength=len(sizes))
    most = np.flatnonzero(2 * shown > sizes)
    return most if len(most) else np.array([int(np.argmax(shown))])


def _revert_surfaces(root: bpy.types.Object, obj: bpy.types.Object, hull: Hull, numbers: np.ndarray) -> None:
    new, origin = about_its_centre(new_mesh(obj.data.name, hull.vertices, hull.triangles.astype(np.int64), numbers))
    mesh = _replace_mesh(obj, new)
    custom_properties.set_mesh_origin(mesh, origin)
    _put(root, obj, origin)


def _make_missing(root: bpy.types.Object, hull: Hull, surface: np.ndarray, taken: set[int]) -> int:
    """Objects for the surfaces that none shows: how many."""
    kept = np.flatnonzero(surface >= 0)
    names = surfaces.names(hull.vertices, hull.triangles[kept].astype(np.int64), surface[kept])
    stem, made = custom_properties.stem(root), 0
    for number, name in enumerate(names):
        if number in taken:
            continue
        numbers = np.flatnonzero(surface == number)
        full = object_names.surface(stem, name)
        new, origin = about_its_centre(new_mesh(full, hull.vertices, hull.triangles.astype(np.int64), numbers))
        (mesh,) = make_meshes([new])
        custom_properties.set_mesh_origin(mesh, origin)
        obj = add_object(full, mesh, root, root.users_collection[0])
        obj.location = origin.tolist()
        if name.startswith("wall"):
            show_as_wall(obj)
        made += 1
    return made


def _revert_set(root: bpy.types.Object, objects: list[bpy.types.Object]) -> tuple[int, int, int]:
    library = sources.set_source(root)
    reverted, seen = 0, set()
    for obj in objects:
        record = obj.get(custom_properties.RECORD)
        if not _is_part(root, obj, len(library.parts)) or record in seen:
            bpy.data.objects.remove(obj)
            continue
        seen.add(record)
        _revert_part(root, obj)
        reverted += 1
    missing = sorted(custom_properties.imported_records(root) - seen)
    parts = [library.parts[number] for number in missing]
    for number, part, mesh in zip(missing, parts, make_meshes(new_parts([p.name for p in parts], parts)), strict=True):
        obj = add_object(part.name, mesh, root, root.users_collection[0])
        obj[custom_properties.RECORD], obj[custom_properties.GIVEN_NAME] = number, obj.name
    if layout := root.get(custom_properties.PARTS_LAYOUT):
        lay_out(root, library.parts, str(layout))
    return reverted, len(missing), len(objects) - reverted


def _revert_part(root: bpy.types.Object, obj: bpy.types.Object) -> None:
    library = sources.set_source(root)
    if not _is_part(root, obj, len(library.parts)):
        raise RefusedError(f'"{obj.name}" is new and has no source', remedy="undo its edit or delete it")
    part = library.parts[obj[custom_properties.RECORD]]
    (new,) = new_parts([obj.data.name], [part])
    _replace_mesh(obj, new)
    _put(root, obj, np.zeros(3))
    custom_properties.set_shelf(obj, custom_properties.shelf(obj))
    given = obj.get(custom_properties.GIVEN_NAME)
    if isinstance(given, str) and object_names.is_renamed(obj.name, given):
        obj.name = given


def _is_part(root: bpy.types.Object, obj: bpy.types.Object, count: int) -> bool:
    record = obj.get(custom_properties.RECORD)
    return (
        obj.type == "MESH"
        and isinstance(record, int)
        and 0 <= record < count
        and custom_properties.came_with(obj, root)
    )


def _replace_mesh(obj: bpy.types.Object, new: NewMesh) -> bpy.types.Mesh:
    """Gives an object a new mesh with the materials of the old one, which goes if nothing else uses it."""
    old = obj.data
    (mesh,) = make_meshes([new])
    for material in old.materials:
        mesh.materials.append(material)
    obj.data = mesh
    if not old.users:
        name = old.name
        bpy.data.meshes.remove(old)
        mesh.name = name
    return mesh


def _put(root: bpy.types.Object, obj: bpy.types.Object, place: np.ndarray) -> None:
    """Puts an object to a point of the file, unturned and unscaled, without what would move or reshape it."""
    obj.modifiers.clear()
    obj.constraints.clear()
    obj.animation_data_clear()
    obj.parent, obj.parent_type = root, "OBJECT"
    obj.matrix_parent_inverse = Matrix()
    obj.delta_location, obj.delta_scale = (0, 0, 0), (1, 1, 1)
    obj.delta_rotation_euler, obj.delta_rotation_quaternion = (0, 0, 0), (1, 0, 0, 0)
    obj.matrix_basis = Matrix()
    obj.location = place.tolist()


def _require_own(obj: bpy.types.Object) -> None:
    if obj.library or obj.override_library or (obj.data is not None and obj.data.library):
        raise RefusedError(f'"{obj.name}" is linked from a library', remedy="make it local first")
    if obj.mode != "OBJECT":
        raise RefusedError(f'"{obj.name}" is being edited', remedy="leave the mode first")
