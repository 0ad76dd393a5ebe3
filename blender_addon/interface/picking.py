"""From a place in a 3D view to a line through a hull."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
from bpy_extras.view3d_utils import region_2d_to_origin_3d, region_2d_to_vector_3d

from ..scene import viewport

if TYPE_CHECKING:
    from ...core.formats.mcol import Hull

Place = tuple[int, int]
"""A place in a region, in pixels."""


def view_below(
    context: bpy.types.Context, x: int, y: int
) -> tuple[bpy.types.Region | None, bpy.types.RegionView3D | None]:
    """The 3D view's region at a place of the window, unless another region lies over it there."""
    for area in context.screen.areas:
        if area.type != "VIEW_3D":
            continue
        at = [r for r in area.regions if r.x <= x < r.x + r.width and r.y <= y < r.y + r.height]
        over = [region for region in at if region.type != "WINDOW" and region.width > 1]
        windows = [region for region in at if region.type == "WINDOW"]
        if windows and not over:
            return windows[0], windows[0].data or area.spaces.active.region_3d
    return None, None


def line_through(
    root: bpy.types.Object,
    hull: Hull,
    region: bpy.types.Region,
    view: bpy.types.RegionView3D,
    place: Place,
    radius: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Start and movement, in the root's space, of a shot from the eye to beyond the far side of the grid.

    It begins where a ship could be: in free space, behind the wall that the eye looks through, and no more than a
    cell before the grid, for the box of cells around the whole path is what the game visits.
    """
    from ...core.runtime import queries

    eye = region_2d_to_origin_3d(region, view, place)
    toward = np.array(viewport.in_root(root, eye + region_2d_to_vector_3d(region, view, place)))
    start = np.array(viewport.in_root(root, eye))
    direction = (toward - start) / np.linalg.norm(toward - start)
    room = hull.grid.cell_size.astype(np.float64) + radius
    low, high = hull.grid.minimum - room, hull.grid.maximum + room
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.sort(np.stack(((low - start) / direction, (high - start) / direction)), axis=0)
    enter, leave = np.nanmax(times[0]), np.nanmin(times[1])
    if leave <= max(enter, 0):  # beside the box: as far as its middle
        return start, direction * float(np.linalg.norm((low + high) / 2 - start))
    begin = max(enter, 0.0)
    start, movement = start + begin * direction, (leave - begin) * direction
    free = queries.free_time(hull, start, movement, radius)
    return start + free * movement, (1 - free) * movement


def point_before(hull: Hull, start: np.ndarray, movement: np.ndarray, radius: float) -> np.ndarray:
    """A point on a line where a sphere is free: just before what the line meets, or halfway where it meets nothing."""
    from ...core.runtime import queries

    shot = queries.shoot(hull, start, movement, radius or None)
    if shot.triangle is None:
        return start + movement / 2
    length = float(np.linalg.norm(movement))
    aside = radius + float(hull.grid.cell_size.min()) / 100
    return start + max(shot.time - aside / length, 0.0) * movement
