"""What the grid overlay shows, as the user sets it. It belongs to the session and is in no file."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, FloatProperty, PointerProperty

from ..scene import viewport


def _redraw(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    viewport.redraw(context)


class SylpheedGridSettings(bpy.types.PropertyGroup):
    cells: BoolProperty(
        name="Cells",
        description="The cells that hold triangles, colored by how many they list",
        default=True,
        update=_redraw,
    )
    rock: BoolProperty(name="Rock", description="The cells that lie wholly in rock", default=False, update=_redraw)
    cursor: BoolProperty(
        name="Cell under the 3D Cursor",
        description="The cell that the game looks up for the 3D cursor's place, and the triangles that it lists",
        default=True,
        update=_redraw,
    )
    spheres: BoolProperty(
        name="Bounding Spheres",
        description="The spheres that the game tests before the triangles: those of the faces selected in edit mode, "
        "or of the selected objects",
        default=False,
        update=_redraw,
    )
    changes: BoolProperty(
        name="Changes",
        description="The triangles that moved, are new or were cut away since the import, and the source's surface "
        "where it was",
        default=False,
        update=_redraw,
    )
    follow: BoolProperty(
        name="Follow Edits",
        description="Show the grid as it would be exported after each edit. Off: as it was when last refreshed",
        default=False,
    )
    radius: FloatProperty(
        name="Radius",
        description="Radius of the sphere that Shoot sends, in game units. 0 sends a ray",
        default=0.0,
        min=0.0,
        soft_max=10_000.0,
        step=1_000,
        precision=1,
    )
    ship_radius: FloatProperty(
        name="Ship Radius",
        description="Radius of the ship whose way Route shows, in game units. The game flies with 1",
        default=1.0,
        min=0.0,
        soft_max=10_000.0,
        step=1_000,
        precision=1,
    )


def settings(context: bpy.types.Context) -> SylpheedGridSettings:
    """The session's settings."""
    return context.window_manager.sylpheed_grid


def register() -> None:
    bpy.utils.register_class(SylpheedGridSettings)
    bpy.types.WindowManager.sylpheed_grid = PointerProperty(type=SylpheedGridSettings)


def unregister() -> None:
    del bpy.types.WindowManager.sylpheed_grid
    bpy.utils.unregister_class(SylpheedGridSettings)
