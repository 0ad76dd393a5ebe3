"""The 3D views and the scene: what is selected, how far they reach, where a point of the scene lies in a map."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector

from ...core.errors import RefusedError
from . import custom_properties

REACH = 4.0
"""How many diagonals of a map a view has to reach: as far as View All steps back, and across it."""

PRECISION = 1e6
"""At most so many times nearer than its end a view begins, or what lies behind each other flickers."""


def select(context: bpy.types.Context, roots: list[bpy.types.Object]) -> None:
    """Selects new roots with what hangs below them, so that View Selected shows it, unless that would disturb an
    edit in progress. The last root is active."""
    context.view_layer.update()  # else it doesn't know of new objects, and of a scene that no window shows of none
    if context.mode != "OBJECT":
        return
    wanted = {obj for root in roots for obj in (*_shapes(root), root)}
    for obj in context.view_layer.objects:
        obj.select_set(obj in wanted)
    for root in roots:
        if root.name in context.view_layer.objects:
            context.view_layer.objects.active = root


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
        x, y, z, _ = np.linalg.solve(np.array(root.matrix_world, np.float64), np.append(point, 1.0))
    except np.linalg.LinAlgError:
        raise RefusedError(f"`{root.name}` is scaled to nothing", remedy="give it a scale other than 0") from None
    return float(x), float(y), float(z)


def reach(context: bpy.types.Context, roots: list[bpy.types.Object]) -> float | None:
    """Lets the 3D views of all windows see as far as these roots' maps are large. Never lowers a distance.

    Returns the new distance in Blender units if a view had a smaller one.
    """
    boxes = [box for root in roots if (box := _box(root)) is not None]
    if not boxes:
        return None
    points = np.concatenate(boxes)
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


def _box(root: bpy.types.Object) -> np.ndarray | None:
    """The corners in the scene of the box around what hangs below a root, float64 (8, 3); None if that is nothing."""
    boxes = [obj.bound_box for obj in _shapes(root)]
    if not boxes:
        return None
    low = np.array([box[0][:] for box in boxes]).min(axis=0)
    high = np.array([box[6][:] for box in boxes]).max(axis=0)
    corners = np.where(np.arange(8)[:, None] >> np.arange(3) & 1, high, low)
    matrix = np.array(root.matrix_world)
    return corners @ matrix[:3, :3].T + matrix[:3, 3]


def _shapes(root: bpy.types.Object) -> list[bpy.types.Object]:
    return [
        obj for obj in root.children if obj.type == "MESH" and custom_properties.kind(obj) != custom_properties.SHOWN
    ]
