"""Options of imports: how a hull becomes objects, and how they are shown."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..scene import importing


class ViewProperties:
    """How imported objects are shown; nothing of it reaches a file."""

    scale: FloatProperty(
        name="Scale",
        description="Blender units for one game unit. Set on the root object, exported coordinates don't depend on it",
        default=0.001,
        min=1e-6,
        soft_max=1.0,
        precision=4,
    )
    up: EnumProperty(
        name="Up",
        description="Which axis of the file points up in Blender",
        items=[
            ("Y", "Y", "The file's Y axis points up, as in the games of this engine"),
            ("Z", "Z", "The file's axes are Blender's axes"),
        ],
        default="Y",
    )
    mirror: BoolProperty(
        name="Mirror",
        description="Show a mirror image along X, for comparing with a left-handed view",
        default=False,
    )

    reach: BoolProperty(
        name="Clip Distance",
        description="Let the 3D views see as far as what is imported is large. Never shortens a view's clip distance",
        default=True,
    )

    def view(self) -> importing.View:
        return importing.View(self.scale, self.up, self.mirror)

    def draw_view(self, layout: bpy.types.UILayout) -> None:
        header, body = layout.panel("sylpheed_import_view", default_closed=True)
        header.label(text="View")
        if body:
            for name in ("scale", "up", "mirror", "reach"):
                body.prop(self, name)


class HullProperties(ViewProperties):
    """How a hull becomes objects."""

    surfaces: EnumProperty(
        name="Surfaces",
        description="How the hull's closed surfaces become objects",
        items=[
            ("SEPARATE", "Separate", "One object for the wall and for each asteroid"),
            ("JOINED", "Joined", "One object for the whole hull"),
        ],
        default="SEPARATE",
    )
    cells: EnumProperty(
        name="Cells",
        description="Whether to show the grid cells that hold triangles. They are never read back",
        items=[
            ("OBJECTS", "Objects", "A wire box for each, in a collection of their own that is hidden at first"),
            ("NONE", "None", "No cells"),
        ],
        default="OBJECTS",
    )
    spheres: BoolProperty(
        name="Bounding Spheres",
        description="Show the sphere that the game tests in front of each cell's triangles. Never read back",
        default=False,
    )

    def hull_options(self) -> importing.HullOptions:
        return importing.HullOptions(self.surfaces, self.cells, self.spheres, self.view())

    def draw_hull(self, layout: bpy.types.UILayout) -> None:
        header, body = layout.panel("sylpheed_import_hull", default_closed=False)
        header.label(text="Hull")
        if body:
            for name in ("surfaces", "cells", "spheres"):
                body.prop(self, name)
        self.draw_view(layout)
