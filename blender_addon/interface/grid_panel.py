"""The sidebar's panels of the grid, of Shoot and of Route, and the switches that they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ...core.errors import SylpheedError
from ..overlay import following, state, switch
from ..overlay.settings import settings
from ..scene.custom_properties import HULL
from ..scene.roots import has_root
from ..translations import label_text
from .layouts import draw_message
from .reporting import Result, refuse
from .route import VIEW3D_OT_sylpheed_route, VIEW3D_OT_sylpheed_route_to_active, route_lines
from .shoot import VIEW3D_OT_sylpheed_shoot, lines

if TYPE_CHECKING:
    from ...core.runtime import queries


class VIEW3D_OT_sylpheed_grid(bpy.types.Operator):
    """Show or hide the grid of the active hull in the 3D views: the cells in which the game looks for triangles"""

    bl_idname = "sylpheed.show_grid"
    bl_label = "Show Sylpheed Grid"

    def execute(self, context: bpy.types.Context) -> Result:
        if state.current() is not None:
            switch.turn_off()
            return {"FINISHED"}
        try:
            switch.turn_on(context)
        except SylpheedError as error:
            return refuse(self, error)
        return {"FINISHED"}


class VIEW3D_OT_sylpheed_refresh_grid(bpy.types.Operator):
    """Show the grid as the hull would be exported now"""

    bl_idname = "sylpheed.refresh_grid"
    bl_label = "Refresh Sylpheed Grid"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        cls.poll_message_set("The grid isn't shown")
        return state.current() is not None

    def execute(self, context: bpy.types.Context) -> Result:
        try:
            state.refresh(context)
        except SylpheedError as error:
            return refuse(self, error)
        return {"FINISHED"}


class SylpheedPanel:
    """A panel of the tab that is about the hull in the scene."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Sylpheed"
    bl_order = 4

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_root(context.scene, HULL)


class SYLPHEED_PT_grid(SylpheedPanel, bpy.types.Panel):
    bl_label = "Grid"

    def draw(self, context: bpy.types.Context) -> None:
        from ..overlay.legend import NOTES

        layout, shown, overlay = self.layout, settings(context), state.current()
        row = layout.row(align=True)
        row.operator(
            VIEW3D_OT_sylpheed_grid.bl_idname,
            text="Hide Grid" if overlay else "Show Grid",
            icon="HIDE_OFF" if overlay else "HIDE_ON",
            depress=overlay is not None,
        )
        row.operator(VIEW3D_OT_sylpheed_refresh_grid.bl_idname, text="", icon="FILE_REFRESH")
        if overlay is None:
            return
        _draw_age(layout, context, overlay)
        wanted = state.wanted_layers(context, overlay)
        column = layout.column(align=True)
        for name in ("cells", "rock", "cursor", "spheres", "changes"):
            column.prop(shown, name)
            if name in wanted and not state.layers_of(context, overlay, name):
                column.label(text=NOTES[name], icon="BLANK1")
        column.prop(shown, "follow")
        if state.root_shown(context, overlay) is None:
            layout.label(text="No hull is in the scene", icon="INFO")
            return
        column = layout.column(align=True)
        for text in _dimension_lines(overlay):
            column.label(text=text, translate=False)


def _draw_age(layout: bpy.types.UILayout, context: bpy.types.Context, overlay: state.Overlay) -> None:
    """Says where another hull is shown than the scene holds, and why."""
    from ..overlay.legend import NOTES

    if state.is_outdated(context, overlay):
        layout.label(text=NOTES["outdated"], icon="ERROR")
        layout.operator(VIEW3D_OT_sylpheed_refresh_grid.bl_idname, text="Refresh", icon="FILE_REFRESH")
    elif overlay.refusal and state.root_shown(context, overlay) is not None:
        box = layout.box().column(align=True)
        box.label(text="Shown as it last was, because now:", icon="ERROR")
        draw_message(box, overlay.refusal)


def _dimension_lines(overlay: state.Overlay) -> list[str]:
    grid = overlay.hull.grid
    dimensions = " x ".join(map(str, grid.dimensions))
    sides = " x ".join(f"{side:,.7g}" for side in sorted({*grid.cell_size.tolist()}))
    return [
        label_text("{name}: {dimensions} cells", name=overlay.root, dimensions=dimensions),
        label_text("of {sides} units", sides=sides),
    ]


class SYLPHEED_PT_grid_cursor(SylpheedPanel, bpy.types.Panel):
    bl_label = "At the 3D Cursor"
    bl_parent_id = "SYLPHEED_PT_grid"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        overlay = state.current()
        if overlay is None or state.root_shown(context, overlay) is None:
            return False
        return settings(context).cursor

    def draw(self, context: bpy.types.Context) -> None:
        overlay = state.current()
        for text in cursor_lines(context, overlay):
            draw_message(self.layout, text, "NONE")
        if overlay.refresh_wanted:
            following.later()


class SYLPHEED_PT_shoot(SylpheedPanel, bpy.types.Panel):
    bl_label = "Shoot"
    bl_order = 5
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, overlay = self.layout, state.current()
        layout.prop(settings(context), "radius")
        layout.operator(VIEW3D_OT_sylpheed_shoot.bl_idname, text="Shoot", icon="TRACKER")
        if overlay is None or overlay.shot is None:
            return
        column = layout.column(align=True)
        column.active = not state.is_outdated(context, overlay)
        for text in lines(overlay.shot):
            column.label(text=text, translate=False)


class SYLPHEED_PT_route(SylpheedPanel, bpy.types.Panel):
    bl_label = "Route"
    bl_order = 6
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, overlay = self.layout, state.current()
        layout.prop(settings(context), "ship_radius")
        layout.operator(VIEW3D_OT_sylpheed_route.bl_idname, text="Pick in View", icon="TRACKER")
        layout.operator(
            VIEW3D_OT_sylpheed_route_to_active.bl_idname, text="Cursor to Active Object", icon="PIVOT_CURSOR"
        )
        if overlay is None or overlay.ways is None:
            return
        column = layout.column(align=True)
        column.active = not state.is_outdated(context, overlay)
        for text in route_lines(overlay.ways):
            draw_message(column, text, "NONE")


def cursor_lines(context: bpy.types.Context, overlay: state.Overlay) -> list[str]:
    """What to report about the 3D cursor's place: nothing that an edit may have changed since."""
    from ..overlay.legend import NOTES

    place = state.place_at_cursor(context, overlay)
    if state.is_outdated(context, overlay):
        return [label_text(NOTES["outdated"])]
    return place_lines(place) if place else [label_text("The root is scaled to nothing")]


def place_lines(place: queries.Place) -> list[str]:
    """What to report about a point."""
    from ..overlay import grid_layers

    here = label_text("Solid here" if place.solid else "Free here")
    if place.position is None:
        return [here, label_text("Outside the grid")]
    x, y, z = place.position
    known = place.state in grid_layers.STATES
    content = label_text(grid_layers.STATES[place.state]) if known else place.state
    cell = label_text(
        "Cell ({x}, {y}, {z}), number {number:,}: {state}", x=x, y=y, z=z, number=place.number, state=content
    )
    count = len(place.triangles)
    return [here, cell, *([label_text("Triangles listed: {count:,}", count=count)] if count else [])]


def _draw_view_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.separator()
    operators = (
        VIEW3D_OT_sylpheed_grid,
        VIEW3D_OT_sylpheed_refresh_grid,
        VIEW3D_OT_sylpheed_shoot,
        VIEW3D_OT_sylpheed_route,
    )
    for operator in operators:
        self.layout.operator(operator.bl_idname)


CLASSES = (
    VIEW3D_OT_sylpheed_grid,
    VIEW3D_OT_sylpheed_refresh_grid,
    VIEW3D_OT_sylpheed_shoot,
    VIEW3D_OT_sylpheed_route,
    VIEW3D_OT_sylpheed_route_to_active,
    SYLPHEED_PT_grid,
    SYLPHEED_PT_grid_cursor,
    SYLPHEED_PT_shoot,
    SYLPHEED_PT_route,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.VIEW3D_MT_view.append(_draw_view_menu)


def unregister() -> None:
    switch.turn_off()
    bpy.types.VIEW3D_MT_view.remove(_draw_view_menu)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
