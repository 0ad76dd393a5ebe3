"""The spheres that the game tests before the triangles which the user selected."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np

from ...core.geometry.spheres import triangle_spheres
from ..scene import custom_properties, mesh_arrays
from ..scene.roots import root_of

MOST_SPHERES = 1_000


def selected_spheres(context: bpy.types.Context, root: bpy.types.Object) -> np.ndarray:
    """Spheres around the triangles of the faces selected in edit mode, or of the selected objects, parented to a root:
    centre and radius, float32 (n, 4), in game units."""
    editing = context.mode == "EDIT_MESH"
    objects = context.objects_in_mode_unique_data if editing else context.selected_objects
    spheres, room = [np.zeros((0, 4), np.float32)], MOST_SPHERES
    for obj in objects or ():
        shows = custom_properties.kind(obj) == custom_properties.SHOWN
        if obj.type != "MESH" or shows or root_of(obj) != root:
            continue
        corners = (_selected_corners(obj) if editing else _all_corners(obj))[:room]
        if not len(corners):
            continue
        to_root = np.linalg.solve(np.array(root.matrix_world, np.float64), np.array(obj.matrix_world, np.float64))
        points = (corners.reshape(-1, 3) @ to_root[:3, :3].T + to_root[:3, 3]).astype(np.float32)
        spheres.append(triangle_spheres(points, np.arange(len(points)).reshape(-1, 3)))
        room -= len(corners)
    return np.concatenate(spheres)


def _selected_corners(obj: bpy.types.Object) -> np.ndarray:
    """Corners of the selected triangles, (n, 3, 3). A mesh in edit mode has no arrays to read, hence the loop."""
    mesh = bmesh.from_edit_mesh(obj.data)
    triangles = [loops for loops in mesh.calc_loop_triangles() if loops[0].face.select][:MOST_SPHERES]
    return np.array([[loop.vert.co for loop in loops] for loops in triangles], np.float64).reshape(-1, 3, 3)


def _all_corners(obj: bpy.types.Object) -> np.ndarray:
    arrays = mesh_arrays.read_mesh(obj.data)
    return arrays.vertices.astype(np.float64)[arrays.triangles[:MOST_SPHERES]]
