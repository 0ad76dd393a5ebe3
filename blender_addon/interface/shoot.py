"""Rays, and spheres of a ship's radius, sent from the view through the game's own query."""

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
from .picking import PickInView
from .reporting import Result, refuse, report

if TYPE_CHECKING:
    from ...core.runtime import queries


class VIEW3D_OT_sylpheed_shoot(PickInView, bpy.types.Operator):
    bl_idname = "sylpheed.shoot"
    bl_label = "Shoot at Sylpheed Hull"
    bl_description = (
        "Click into the view to send a ray, or a sphere of a ship's radius, through the game's query: which cells it "
        "visits, which triangles it tests, what it hits"
    )

    start: FloatVectorProperty(
        name="Start",
        description="Where the shot begins, in the file's axes and game units",
        size=3,
        subtype="XYZ",
        options={"SKIP_SAVE"},
    )
    movement: FloatVectorProperty(
        name="Movement",
        description="From there to where it ends, in the file's axes and game units",
        size=3,
        subtype="XYZ",
        options={"SKIP_SAVE"},
    )
    radius: FloatProperty(
        name="Radius",
        description="Radius of the sphere, in game units. 0 sends a ray",
        default=0.0,
        min=0.0,
        options={"SKIP_SAVE"},
    )

    def prompt(self) -> str:
        return label_text("Left click: shoot. Esc or right click: end")

    def wanted_radius(self, context: bpy.types.Context) -> float:
        return settings(context).radius

    def picked(self, context: bpy.types.Context, line: tuple[np.ndarray, np.ndarray]) -> Result:
        self.start, self.movement = line
        self._shoot(state.current())
        viewport.redraw(context)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> Result:
        from ..scene import creating

        try:
            switch.turn_on(context)
            state.bring_up_to_date(context)
            if not any(self.movement):
                raise RefusedError("the shot goes nowhere", remedy="give a movement other than 0")
            creating.check_numbers("the shot", *self.start, *self.movement, self.radius)
        except SylpheedError as error:
            return refuse(self, error)
        self._shoot(state.current())
        viewport.redraw(context)
        return {"FINISHED"}

    def _shoot(self, overlay: state.Overlay) -> None:
        from ...core.runtime import queries

        if overlay.refusal:
            report(self, "WARNING", report_text("Shot at the hull as it last was: {reason}", reason=overlay.refusal))
        hull = overlay.hull
        shot = queries.shoot(hull, np.array(self.start), np.array(self.movement), self.radius or None)
        state.show_shot(shot)
        self.report({"INFO"}, ", ".join(lines(shot)))


def lines(shot: queries.Shot) -> list[str]:
    """What to report about a shot."""
    if shot.first is None:
        return [label_text("Misses the grid: no cell is visited")]
    sides = " x ".join(str(last - first + 1) for first, last in zip(shot.first, shot.last, strict=True))
    lines = [
        label_text("Cells visited: {count:,} ({sides})", count=shot.visited, sides=sides),
        label_text(
            "Holding triangles: {listed:,}, opened: {opened:,}", listed=len(shot.listed), opened=len(shot.opened)
        ),
        label_text(
            "Triangles listed: {listed:,}, tested: {tested:,}", listed=len(shot.looked_up), tested=len(shot.tested)
        ),
    ]
    if shot.triangle is None:
        return [*lines, label_text("Hits nothing")]
    x, y, z = shot.position
    distance = shot.time * float(np.linalg.norm(shot.movement))
    return [
        *lines,
        label_text(
            "Hits triangle {number:,} from its back" if shot.back else "Hits triangle {number:,} from its front",
            number=shot.triangle,
        ),
        label_text("at ({x:,.0f}, {y:,.0f}, {z:,.0f})", x=x, y=y, z=z),
        label_text("after {distance:,.0f} units (time {time:.4f})", distance=distance, time=shot.time),
    ]
