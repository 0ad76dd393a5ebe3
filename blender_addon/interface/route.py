"""The way that a computer-flown ship takes, between points that are given, picked in the view, or in the scene."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
from bpy.props import FloatProperty, FloatVectorProperty

from ...core.errors import RefusedError, SylpheedError
from ..overlay import state, switch
from ..overlay.settings import settings
from ..scene import viewport
from ..translations import label_text, report_text
from .picking import PickInView, point_before
from .preferences import folders
from .reporting import Result, refuse, report

if TYPE_CHECKING:
    from ...core.runtime.route import Route
    from ..overlay.route_layers import Ways


def show_route(
    operator: bpy.types.Operator, context: bpy.types.Context, ends: tuple[np.ndarray, np.ndarray], radius: float
) -> None:
    """Finds the ways between two points of the hull that the overlay shows, draws and reports them.

    Raises `SylpheedError` where that can't be done.
    """
    from ..overlay.route_layers import Ways
    from ..scene.ship_route import find_ways

    overlay = state.current()
    root = state.root_shown(context, overlay)
    before, after = find_ways(root, overlay.hull, ends, radius, folders(context)[1])
    state.show_ways(Ways(*ends, radius, before, after))
    viewport.redraw(context)
    if overlay.refusal:
        warning = report_text("The way is through the hull as it last was: {reason}", reason=overlay.refusal)
        report(operator, "WARNING", warning)
    report(operator, "INFO", "; ".join(route_lines(overlay.ways)))


def route_lines(ways: Ways) -> list[str]:
    """What to report about a ship's ways."""
    return [
        label_text("Before the edit: {way}", way=_describe(ways.before)),
        label_text("After the edit: {way}", way=_describe(ways.after)),
    ]


def _describe(route: Route) -> str:
    if route.refused is not None:
        return label_text("no way, {reason}", reason=route.refused.reason)
    if route.straight:
        return label_text("a straight line of {length:,.0f} units", length=route.length)
    return label_text("length {length:,.0f} units, legs: {legs:,}", legs=len(route.points) - 1, length=route.length)


class VIEW3D_OT_sylpheed_route(PickInView, bpy.types.Operator):
    bl_idname = "sylpheed.route"
    bl_label = "Route through Sylpheed Hull"
    bl_description = (
        "Click two points in the view for the way that a computer-flown ship takes between them, before and after the "
        "edit, by the game's own search"
    )

    start: FloatVectorProperty(
        name="Start",
        description="Where the ship is, in the file's axes and game units",
        size=3,
        subtype="XYZ",
        options={"SKIP_SAVE"},
    )
    goal: FloatVectorProperty(
        name="Goal",
        description="Where it flies to, in the file's axes and game units",
        size=3,
        subtype="XYZ",
        options={"SKIP_SAVE"},
    )
    radius: FloatProperty(
        name="Radius",
        description="Radius of the ship, in game units. The game flies with 1",
        default=1.0,
        min=0.0,
        options={"SKIP_SAVE"},
    )

    _first = None

    def prompt(self) -> str:
        return label_text("Left click: start, then goal. Esc or right click: end")

    def wanted_radius(self, context: bpy.types.Context) -> float:
        return settings(context).ship_radius

    def picked(self, context: bpy.types.Context, line: tuple[np.ndarray, np.ndarray]) -> Result:
        point = point_before(state.current().hull, *line, self.radius)
        if self._first is None:
            self._first = point
            return {"RUNNING_MODAL"}
        self.start, self.goal = self._first, point
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> Result:
        from ..scene import creating

        try:
            switch.turn_on(context)
            state.bring_up_to_date(context)
            creating.check_numbers("the route", *self.start, *self.goal, self.radius)
            show_route(self, context, (np.array(self.start), np.array(self.goal)), self.radius)
        except SylpheedError as error:
            return refuse(self, error)
        return {"FINISHED"}


class VIEW3D_OT_sylpheed_route_to_active(bpy.types.Operator):
    """Show the way that a computer-flown ship takes from the 3D cursor to the origin of the active object"""

    bl_idname = "sylpheed.route_to_active"
    bl_label = "Route from 3D Cursor to Active Object"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        cls.poll_message_set("No object is active")
        return context.view_layer.objects.active is not None

    def execute(self, context: bpy.types.Context) -> Result:
        try:
            switch.turn_on(context)
            state.bring_up_to_date(context)
            root, active = state.root_shown(context, state.current()), context.view_layer.objects.active
            if active == root:
                raise RefusedError("the root is no goal", remedy="make an object active where the ship flies to")
            places = (context.scene.cursor.location, active.matrix_world.translation)
            start, goal = (np.array(viewport.in_root(root, place)) for place in places)
            show_route(self, context, (start, goal), settings(context).ship_radius)
        except SylpheedError as error:
            return refuse(self, error)
        return {"FINISHED"}
