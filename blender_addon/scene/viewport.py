"""The 3D views and the scene: what is selected, how far they reach, where a point of the scene lies in a map."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np
from mathutils import Vector

from ...core.errors import RefusedError
from . import custom_properties

REACH = 4.0
"""How many diagonals of a map a view has to reach: as far as View All steps back, and across it."""

ROOM, HALF_SENSOR = 2.3, 36.0
"""How many radii of a sphere are seen across a view, and how far from its middle a view's edge lies for each lens
length that it is away."""

PRECISION = 1e6
"""At most so many times nearer than its end a view begins, or what lies behind each other flickers."""


def select(context: bpy.types.Context, roots: list[bpy.types.Object]) -> None:
    """Selects new roots alone, unless that would disturb an edit in progress. The last one that isn't excluded from the
    view layer is active."""
    context.view_layer.update()  # else it doesn't know of new objects, and of a scene that no window shows of none
    if context.mode != "OBJECT":
        return
    for obj in context.view_layer.objects:
        obj.select_set(obj in roots)
    for root in roots:
        if root.name in context.view_layer.objects:
            context.view_layer.objects.active = root


def frame(context: bpy.types.Context, roots: list[bpy.types.Object]) -> None:
    """Turns to what is parented to roots in all 3D views, as View Selected does, but not in views through a camera."""
    points = _corners(context, roots)
    if points is None:
        return
    low, high = points.min(axis=0), points.max(axis=0)
    radius = float(np.linalg.norm(high - low)) / 2
    if not radius > 0:
        return
    for space, region in _regions(context):
        if region.view_perspective != "CAMERA":
            region.view_location = (low + high) / 2
            region.view_distance = radius * ROOM * space.lens / HALF_SENSOR


def _regions(context: bpy.types.Context) -> Iterator[tuple[bpy.types.SpaceView3D, bpy.types.RegionView3D]]:
    """The 3D views of all windows with their regions, each quarter of a quad view too."""
    for space in _views(context):
        for region in dict.fromkeys((space.region_3d, *(space.region_quadviews or ()))):
            if region is not None:
                yield space, region


def select_only(context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Selects a new object alone, unless that would disturb an edit in progress."""
    context.view_layer.update()
    if context.mode != "OBJECT" or obj.name not in context.view_layer.objects:
        return
    for other in context.view_layer.objects:
        other.select_set(other == obj)
    context.view_layer.objects.active = obj


def in_root(root: bpy.types.Object, point: Vector | np.ndarray) -> tuple[float, float, float]:
    """A point of the scene in a root's space: the file's axes and game units. Raises `SylpheedError` where the root
    is scaled to nothing."""
    try:
        x, y, z, _ = np.linalg.solve(np.array(root.matrix_world, np.float64), np.array([*point, 1.0]))
    except np.linalg.LinAlgError:
        raise RefusedError(f'"{root.name}" is scaled to nothing', remedy="give it a scale other than 0") from None
    return float(x), float(y), float(z)


def reach(context: bpy.types.Context, roots: list[bpy.types.Object]) -> float | None:
    """Lets the 3D views of all windows see as far as these roots' maps are large. Never lowers a distance.

    Returns the new distance in Blender units if a view had a smaller one.
    """
    points = _corners(context, roots)
    if points is None:
        return None
    needed = REACH * float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
    raised = False
    for space in _views(context):
        if space.clip_end < needed:
            space.clip_end, raised = needed, True
            space.clip_start = max(space.clip_start, needed / PRECISION)
    return needed if raised else None


def redraw(context: bpy.types.Context) -> None:
    """Has all 3D views drawn again."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def _views(context: bpy.types.Context) -> list[bpy.types.SpaceView3D]:
    return [
        space
        for window in context.window_manager.windows
        for area in window.screen.areas
        for space in area.spaces
        if space.type == "VIEW_3D"
    ]


def _corners(context: bpy.types.Context, roots: list[bpy.types.Object]) -> np.ndarray | None:
    """The corners in the scene, float64 (n, 3), of the boxes around what is parented to roots, as far as the view layer
    knows where that is; None if there is nothing."""
    known = {obj for obj in context.view_layer.objects if obj.parent in roots}
    shapes = [obj for root in roots for obj in _shapes(root) if obj in known]
    if not shapes:
        return None
    boxes = np.array([[corner[:] for corner in obj.bound_box] for obj in shapes])
    matrices = np.array([obj.matrix_world for obj in shapes], np.float64)
    return (np.einsum("nij,nkj->nki", matrices[:, :3, :3], boxes) + matrices[:, None, :3, 3]).reshape(-1, 3)


def _shapes(root: bpy.types.Object) -> list[bpy.types.Object]:
    return [
        obj for obj in root.children if obj.type == "MESH" and custom_properties.kind(obj) != custom_properties.SHOWN
    ]
