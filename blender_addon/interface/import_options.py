"""Options of imports: how a hull becomes objects, and how they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

if TYPE_CHECKING:
    from ..scene import importing


class ViewProperties:
    """How imported objects are shown; nothing of it reaches a file."""

    scale: FloatProperty(
        name="Scale",
        description="Blender units per game unit. It is set on the root object and doesn't change the "
        "exported coordinates",
        default=0.001,
        min=1e-6,
        soft_max=1.0,
        precision=4,
    )
    up: EnumProperty(
        name="Up",
        description="Axis of the file that points up in Blender",
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
        description="Extend the 3D views' clip distance to cover the imported map. It is never shortened",
        default=True,
    )

    def view(self) -> importing.View:
        from ..scene import importing

        return importing.View(self.scale, self.up, self.mirror)

    def draw_view(self, layout: bpy.types.UILayout) -> None:
        header, body = layout.panel("sylpheed_import_view", default_closed=True)
        header.label(text="View")
        if body:
            for name in ("scale", "up", "mirror", "reach"):
                body.prop(self, name)


class LayoutProperty:
    """How the parts of a collision set are shown."""

    layout_parts: EnumProperty(
        name="Layout",
        description="Where the parts of a collision set are shown. The exported coordinates stay the same",
        items=[
            ("ROWS", "Rows", "In rows by family, apart from each other"),
            ("FILE", "As in the File", "Where the file has them: nearly all at one point"),
        ],
        default="ROWS",
    )


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
        description="Show the grid cells that hold triangles. They are never exported",
        items=[
            ("OBJECTS", "Objects", "A wire box for each cell, in a collection that is excluded at first"),
            ("NONE", "None", "No cells"),
        ],
        default="OBJECTS",
    )
    spheres: BoolProperty(
        name="Bounding Spheres",
        description="Show the sphere that the game tests before each cell's triangles. It is never exported",
        default=False,
    )

    def hull_options(self) -> importing.HullOptions:
        from ..scene import importing

        return importing.HullOptions(self.surfaces, self.cells, self.spheres, self.view())

    def draw_hull(self, layout: bpy.types.UILayout) -> None:
        header, body = layout.panel("sylpheed_import_hull", default_closed=False)
        header.label(text="Hull")
        if body:
            for name in ("surfaces", "cells", "spheres"):
                body.prop(self, name)
        self.draw_view(layout)
