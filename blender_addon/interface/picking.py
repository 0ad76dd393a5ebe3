"""Operators that take clicks into a 3D view, and the line through a hull that a click stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
from bpy_extras.view3d_utils import region_2d_to_origin_3d, region_2d_to_vector_3d

from ...core.errors import SylpheedError
from ..overlay import state, switch
from ..scene import viewport
from .reporting import Result, refuse

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


class PickInView:
    """An operator that shows the overlay and takes clicks into a 3D view until Esc or a right click."""

    def prompt(self) -> str:
        """What the status bar says meanwhile."""
        raise NotImplementedError

    def wanted_radius(self, context: bpy.types.Context) -> float:
        """The radius of what flies along the line, in game units."""
        raise NotImplementedError

    def picked(self, context: bpy.types.Context, line: tuple[np.ndarray, np.ndarray]) -> Result:
        """Takes a click: start and movement of its line, float64 (3,) each, in game units. Returns RUNNING_MODAL to
        take more."""
        raise NotImplementedError

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        running = [operator for window in context.window_manager.windows for operator in window.modal_operators]
        if any(operator.bl_idname == self.bl_idname for operator in running):
            return {"CANCELLED"}
        try:
            switch.turn_on(context)
        except SylpheedError as error:
            return refuse(self, error)
        context.window.cursor_modal_set("CROSSHAIR")
        context.workspace.status_text_set(self.prompt())
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        overlay = state.current()
        if overlay is None or state.root_shown(context, overlay) is None or event.type in {"ESC", "RIGHTMOUSE"}:
            self.cancel(context)
            return {"CANCELLED"}
        region, view = view_below(context, event.mouse_x, event.mouse_y)
        if event.type != "LEFTMOUSE" or event.value != "PRESS" or view is None:
            return {"PASS_THROUGH"}
        place = (event.mouse_x - region.x, event.mouse_y - region.y)
        self.radius = self.wanted_radius(context)
        try:
            state.bring_up_to_date(context)
            line = line_through(state.root_shown(context, overlay), overlay.hull, region, view, place, self.radius)
        except SylpheedError as error:
            self.cancel(context)
            return refuse(self, error)
        done = self.picked(context, line)
        if done != {"RUNNING_MODAL"}:
            self.cancel(context)
        return done

    def cancel(self, context: bpy.types.Context) -> None:
        context.window.cursor_modal_restore()
        context.workspace.status_text_set(None)
