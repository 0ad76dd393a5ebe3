"""Numbers for meshes and places, which are the same as long as these are. They only read, in edit mode too."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import bmesh
import bpy
import numpy as np

from .evaluation import is_edited
from .mesh_arrays import TRIANGLE_ATTRIBUTE, VERTEX_ATTRIBUTE

Digests = tuple[int | None, ...]

MATRICES = ("matrix_basis", "matrix_parent_inverse")


def mesh_digests(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> Digests:
    """A number each for the faces, the claims and the places, and the places of each shape key, of an object's mesh or
    of one that is evaluated for it. In edit mode the faces, no claims, and the places that are edited."""
    if is_edited(obj) and mesh == obj.data:
        return _edited_digests(obj)
    faces = (_attribute(mesh, ".corner_vert"), _read(mesh.polygons, "loop_start", 1, np.int32))
    claims = [_attribute(mesh, name) for name in (VERTEX_ATTRIBUTE, TRIANGLE_ATTRIBUTE)]
    places = [_attribute(mesh, "position")]
    if mesh == obj.data and mesh.shape_keys:
        places += [_read(key.data, "co", 3, np.float32) for key in mesh.shape_keys.key_blocks]
    return _crc(faces), _crc(claims), *(_crc([place]) for place in places)


FIELDS = {"INT": ("value", 1, np.int32), "FLOAT_VECTOR": ("vector", 3, np.float32)}


def _attribute(mesh: bpy.types.Mesh, name: str) -> np.ndarray:
    """The values of an attribute, which is by far the fastest way in; empty where the mesh lacks it."""
    attribute = mesh.attributes.get(name)
    if attribute is None or attribute.data_type not in FIELDS:
        return np.zeros(0, np.int32)
    return _read(attribute.data, *FIELDS[attribute.data_type])


def _read(elements: Any, name: str, width: int, kind: type) -> np.ndarray:
    values = np.empty(width * len(elements), kind)
    elements.foreach_get(name, values)
    return values


def _edited_digests(obj: bpy.types.Object) -> Digests:
    """The same of a mesh in edit mode, None for what can't be known. It has no arrays to read, hence the loops."""
    mesh, keys = bmesh.from_edit_mesh(obj.data), obj.data.shape_keys
    count = 1 + (len(keys.key_blocks) if keys else 0)
    edited = 0 if not keys else 1 + obj.active_shape_key_index
    mesh.verts.index_update()
    corners = [loop.vert.index for face in mesh.faces for loop in face.loops]
    sizes = [len(face.verts) for face in mesh.faces]
    starts = np.cumsum([0, *sizes[:-1]]) if sizes else []
    found: list[int | None] = [_crc([np.array(corners, np.int32), np.array(starts, np.int32)]), None]
    places = _crc([np.array([vertex.co for vertex in mesh.verts], np.float32)])
    return (*found, *(places if number == edited else None for number in range(count)))


def _crc(arrays: Iterable[np.ndarray]) -> int:
    number = 0
    for array in arrays:
        number = zlib.crc32(np.ascontiguousarray(array).tobytes(), number)
    return number


def place_digest(obj: bpy.types.Object) -> int:
    """A number for what an object says of its own place."""
    parent = f"{obj.parent.session_uid} {obj.parent_type} {obj.parent_bone}" if obj.parent else ""
    return zlib.crc32(parent.encode(), _crc(np.array(getattr(obj, name), np.float32) for name in MATRICES))
