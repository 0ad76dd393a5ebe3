"""Parts of a collision set as assets: a rock of the game is dragged from the Asset Browser into a hull.

An asset is an object of its own. It has the part's shape and no claim to a place in any file, and is parented to
nothing, so no export reads it. Dropped into a hull's collection, its copy becomes part of the hull in the size that the
game's file gives it.
"""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix

from ..translations import report_text
from . import custom_properties, importing
from .mesh_arrays import TRIANGLE_ATTRIBUTE, VERTEX_ATTRIBUTE
from .roots import known_roots, root_of

COLLECTION = "Sylpheed Assets"


def make_assets(scene: bpy.types.Scene, root: bpy.types.Object, parts: list[bpy.types.Object]) -> int:
    """Makes an asset of each part of a set that has none of its name yet, in a collection that is excluded at first:
    how many were made."""
    collection = _collection(scene)
    known = {obj.name for obj in collection.objects}
    made = 0
    for part in parts:
        if part.type != "MESH" or part.name + SUFFIX in known:
            continue
        mesh = part.data.copy()
        mesh.name = part.name + SUFFIX
        for name in (VERTEX_ATTRIBUTE, TRIANGLE_ATTRIBUTE):
            if (attribute := mesh.attributes.get(name)) is not None:
                mesh.attributes.remove(attribute)
        mesh.pop(custom_properties.ORIGIN, None)
        asset = bpy.data.objects.new(part.name + SUFFIX, mesh)
        asset[custom_properties.ASSET] = True
        asset.color = part.color
        asset.matrix_world = root.matrix_world.to_3x3().to_4x4()
        collection.objects.link(asset)
        asset.asset_mark()
        asset.asset_data.description = f"{custom_properties.stem(root)}, {part.name}"
        asset.asset_data.tags.new("Sylpheed", skip_if_exists=True)
        made += 1
    return made


SUFFIX = " asset"
"""What the name of an asset ends in."""


def clear_assets(scene: bpy.types.Scene, parts: list[bpy.types.Object]) -> int:
    """Deletes the assets of parts: how many there were."""
    names = {part.name + SUFFIX for part in parts}
    gone = [obj for obj in _collection(scene).objects if obj.name in names]
    for obj in gone:
        mesh = bpy.data.meshes[obj.data.name]
        bpy.data.objects.remove(obj)
        if not mesh.users:
            bpy.data.meshes.remove(mesh)
    return len(gone)


def _collection(scene: bpy.types.Scene) -> bpy.types.Collection:
    found = next((child for child in scene.collection.children if child.name.startswith(COLLECTION)), None)
    if found is None:
        found = bpy.data.collections.new(COLLECTION)
        scene.collection.children.link(found)
        importing.exclude(scene, found)
    return found


def dropped(scene: bpy.types.Scene) -> list[tuple[bpy.types.Object, bpy.types.Object]]:
    """Copies of assets that lie in the collection of a hull and belong to none yet, each with the hull's root."""
    hulls = [root for root in known_roots(scene) if custom_properties.kind(root) == custom_properties.HULL]
    held = {
        obj: root
        for root in hulls
        for collection in root.users_collection
        if collection != scene.collection
        for obj in collection.all_objects
    }
    return [(obj, root) for obj, root in held.items() if obj.get(custom_properties.ASSET) and root_of(obj) is None]


def adopt(obj: bpy.types.Object, root: bpy.types.Object) -> str:
    """Makes the copy of an asset part of a hull where it lies, in the size of the game's file: "", or why it can't
    be."""
    if obj.library or obj.override_library:
        return report_text("is linked from a library: make it local first")
    place = np.linalg.solve(np.array(root.matrix_world, np.float64), [*obj.matrix_world.translation, 1.0])[:3]
    if obj.asset_data is not None:
        obj.asset_clear()
    del obj[custom_properties.ASSET]
    if obj.data.users > 1:
        obj.data = obj.data.copy()
    obj.parent, obj.parent_type = root, "OBJECT"
    obj.matrix_parent_inverse = Matrix()
    obj.matrix_basis = Matrix.Translation(place.tolist())
    obj.name = obj.name.replace(SUFFIX, "")
    return ""
