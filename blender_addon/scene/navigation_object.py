"""The navigation volume of a hull as one object of edges, to look at: it is never exported.

A vertex is the centre of a face of the volume, where ships change from one tetrahedron to the next. An edge is a link:
a way through one tetrahedron from a face to another. Faces at the border of free space have none.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...core.formats.regn import NO_TETRAHEDRON
from ...core.formats.regn_contents import Graph
from ...core.formats.regn_pairs import PAIRS
from . import colors, custom_properties
from .importing import add_object, exclude

CLEARANCE = "clearance"
"""The attribute of an edge: the radius of the largest ship that the game lets through, in game units."""


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The links of a volume: the centres of its faces, float32 (k, 3), the two faces of each link, int64 (e, 2), its
    clearance, float32 (e,), the lowest where several tetrahedra have it, and the link of each pair, int64 (m, 6), -1
    where one of its faces is the border of free space, which leads nowhere."""

    places: np.ndarray
    faces: np.ndarray
    clearance: np.ndarray
    of_pair: np.ndarray


def links_of(graph: Graph) -> Links:
    """The links of a volume."""
    pairs = np.sort(graph.tetrahedra["faces"].astype(np.int64)[:, PAIRS], axis=2).reshape(-1, 2)
    inner = (graph.faces["tetrahedra"] != NO_TETRAHEDRON).all(axis=1)[pairs].all(axis=1)
    faces, found = np.unique(pairs[inner], axis=0, return_inverse=True)
    of_pair = np.full(len(pairs), -1)
    of_pair[inner] = found.reshape(-1)
    clearance = np.full(len(faces), np.inf)
    np.minimum.at(clearance, of_pair[inner], graph.pair_clearances().ravel()[inner])
    places = graph.faces["centre"].astype(np.float32)
    return Links(places, faces, clearance.astype(np.float32), of_pair.reshape(-1, len(PAIRS)))


def find(root: bpy.types.Object) -> bpy.types.Object | None:
    """The object that shows a hull's navigation, None if there is none."""
    for obj in root.children:
        if obj.data is not None and obj.data.get(custom_properties.NAVIGATION):
            return obj
    return None


def show(scene: bpy.types.Scene, root: bpy.types.Object, links: Links) -> bpy.types.Object:
    """Makes the object that shows links, or gives it the new ones, in a collection that is excluded at first."""
    obj = find(root)
    mesh = bpy.data.meshes.new(f"{custom_properties.stem(root)} navigation")
    mesh.from_pydata(links.places.tolist(), links.faces.tolist(), [])
    mesh[custom_properties.KIND] = custom_properties.SHOWN
    mesh[custom_properties.NAVIGATION] = True
    attribute = mesh.attributes.new(CLEARANCE, "FLOAT", "EDGE")
    attribute.data.foreach_set("value", links.clearance)
    if obj is None:
        collection = bpy.data.collections.new(f"{custom_properties.stem(root)} navigation")
        collection.color_tag = colors.CELLS_TAG
        root.users_collection[0].children.link(collection)
        obj = add_object(f"navigation.{custom_properties.stem(root)}", mesh, root, collection)
        obj.display_type = "WIRE"
        exclude(scene, collection)
        return obj
    old = bpy.data.meshes[obj.data.name]
    obj.data = mesh
    bpy.data.meshes.remove(old)
    return obj


def hide(root: bpy.types.Object) -> bool:
    """Deletes the object that shows the navigation: whether there was one."""
    obj = find(root)
    if obj is None:
        return False
    mesh, collections = bpy.data.meshes[obj.data.name], obj.users_collection
    bpy.data.batch_remove([obj, mesh, *(collection for collection in collections if len(collection.objects) == 1)])
    return True
