"""The operators that make things: asteroids, hulls, and a grid that fits."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty

from ...core.errors import SylpheedError
from ...core.geometry import asteroid
from ..overlay import state
from ..scene import custom_properties, viewport
from ..scene.roots import find_root, has_root
from ..translations import report_text
from .hull_operators import OBJECT_OT_sylpheed_add_to_hull, OBJECT_OT_sylpheed_subtract
from .import_options import ViewProperties
from .reporting import Result, refuse, report


class OBJECT_OT_sylpheed_add_asteroid(bpy.types.Operator):
    """Add a closed asteroid at the 3D cursor, to the hull of the active object or the only one"""

    bl_idname = "sylpheed.add_asteroid"
    bl_label = "Add Sylpheed Asteroid"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    seed: IntProperty(name="Seed", description="Random seed: each value gives a different asteroid", default=1, min=0)
    size: FloatProperty(
        name="Size",
        description="Largest diameter, in game units",
        default=5_000.0,
        min=1.0,
        soft_max=100_000.0,
        step=10_000,
        precision=1,
    )
    roughness: FloatProperty(
        name="Roughness", description="Depth of the valleys: 0 gives a ball", default=0.5, min=0.0, max=1.0
    )
    triangles: IntProperty(
        name="Triangles",
        description="Maximum number of triangles. The game's own asteroids have about 50",
        default=80,
        min=asteroid.FEWEST_TRIANGLES,
        soft_max=2_000,
        max=asteroid.MOST_TRIANGLES,
    )
    location: FloatVectorProperty(
        name="Location",
        description="Center in the file's axes, in game units. The default is the 3D cursor",
        size=3,
        subtype="XYZ",
        precision=1,
        options={"SKIP_SAVE", "SKIP_PRESET"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        cls.poll_message_set("The scene has no hull: import one, or create one with New Hull")
        return has_root(context.scene, custom_properties.HULL)

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        for name in ("seed", "size", "roughness", "triangles", "location"):
            self.layout.prop(self, name)

    def execute(self, context: bpy.types.Context) -> Result:
        from ..scene import creating

        try:
            root = find_root(context, custom_properties.HULL)
            if not self.properties.is_property_set("location"):
                self.location = viewport.in_root(root, context.scene.cursor.location)
            look = self.seed, self.size, self.roughness, self.triangles
            new = creating.Asteroid(*look, tuple(self.location))
            obj, warnings = creating.add_asteroid(context.scene, root, new)
        except SylpheedError as error:
            return refuse(self, error)
        viewport.select_only(context, obj)
        for warning in warnings:
            report(self, "WARNING", warning)
        self.report({"INFO"}, report_text("{name}: {count:,} triangles", name=obj.name, count=len(obj.data.polygons)))
        return {"FINISHED"}


class OBJECT_OT_sylpheed_new_hull(bpy.types.Operator, ViewProperties):
    """Create a collision hull from scratch. Add asteroids to it and export it like an imported one"""

    bl_idname = "sylpheed.new_hull"
    bl_label = "New Sylpheed Hull"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    name: StringProperty(name="Name", description="Name of the file, without .col", default="New_Hull")
    box: FloatVectorProperty(
        name="Box",
        description="Size of the map along the file's axes, in game units, around its origin. It is extended "
        "to whole cells",
        size=3,
        subtype="XYZ",
        default=(50_000.0, 50_000.0, 50_000.0),
        min=1.0,
        precision=1,
    )
    cell_size: FloatProperty(
        name="Cell Size",
        description="Side length of the cells that the game sorts triangles into, in game units. The game's "
        "own maps have 10,000 or 50,000",
        default=10_000.0,
        min=1.0,
        step=100_000,
        precision=1,
    )
    wall: EnumProperty(
        name="Wall",
        description="What surrounds the map",
        items=[
            ("BOX", "Box", "A wall along the box. Everything outside is solid"),
            ("NONE", "None", "Free space. A hull needs a surface, so it starts with an asteroid in the middle"),
        ],
        default="BOX",
    )
    cells: BoolProperty(
        name="Cells",
        description="Show a wire box for each grid cell that holds triangles, in a collection that is "
        "excluded at first",
        default=False,
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        return context.window_manager.invoke_props_dialog(self, width=360, confirm_text="Create")

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        for name in ("name", "box", "cell_size", "wall", "cells"):
            self.layout.prop(self, name)
        self.draw_view(self.layout)

    def execute(self, context: bpy.types.Context) -> Result:
        from ..scene import creating, importing

        new = creating.NewHull(self.name, tuple(self.box), self.cell_size, self.wall == "BOX")
        options = importing.HullOptions(cells="OBJECTS" if self.cells else "NONE", view=self.view())
        try:
            made = creating.make_new_hull(context.scene, new, options)
        except SylpheedError as error:
            return refuse(self, error)
        viewport.select(context, [made.root])
        viewport.frame(context, [made.root])
        if self.reach:
            viewport.reach(context, [made.root])
        for warning in made.warnings:
            report(self, "WARNING", warning)
        report(self, "INFO", made.summary)
        return {"FINISHED"}


class OBJECT_OT_sylpheed_fit_grid(bpy.types.Operator):
    bl_idname = "sylpheed.fit_grid"
    bl_label = "Fit Sylpheed Grid"
    bl_description = (
        "Fit the hull's box and grid to its geometry. Every cell list is rebuilt, and the matching .rgn no longer fits"
    )
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    cell_size: FloatProperty(
        name="Cell Size",
        description="Side length of the cells, in game units. 0 keeps the current one",
        default=0.0,
        min=0.0,
        step=100_000,
        precision=1,
    )
    margin: FloatProperty(
        name="Margin",
        description="Distance between the geometry and the box on each side, in game units",
        default=0.0,
        min=0.0,
        step=100_000,
        precision=1,
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        cls.poll_message_set("The scene has no hull")
        return has_root(context.scene, custom_properties.HULL)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        from ..scene import sources

        try:
            source = sources.hull_source(find_root(context, custom_properties.HULL))
        except SylpheedError as error:
            return refuse(self, error)
        sides = set(source.grid.cell_size.tolist())
        if not self.properties.is_property_set("cell_size") and len(sides) == 1:
            self.cell_size = sides.pop()
        return context.window_manager.invoke_props_dialog(self, width=360, confirm_text="Fit")

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        self.layout.prop(self, "cell_size")
        self.layout.prop(self, "margin")
        column = self.layout.column(align=True)
        column.label(text="Every cell list, sphere and fill state is rebuilt.", icon="INFO")
        column.label(text="The matching .rgn no longer fits and must be regenerated.", icon="ERROR")

    def execute(self, context: bpy.types.Context) -> Result:
        from ..scene import creating

        try:
            change = creating.fit_grid_of(
                context, find_root(context, custom_properties.HULL), self.cell_size, self.margin
            )
        except SylpheedError as error:
            return refuse(self, error)
        if not change:
            self.report({"INFO"}, "The grid already fits")
            return {"CANCELLED"}
        state.refresh(context)
        warning = report_text("Every cell list is rebuilt. The matching .rgn no longer fits and must be regenerated")
        report(self, "WARNING", f"{change}. {warning}")
        return {"FINISHED"}


class SYLPHEED_PT_making(bpy.types.Panel):
    bl_label = "Create"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Sylpheed"
    bl_order = 3

    def draw(self, context: bpy.types.Context) -> None:
        column = self.layout.column(align=True)
        column.operator(OBJECT_OT_sylpheed_add_asteroid.bl_idname, text="Add Asteroid", icon="META_BALL")
        column.operator(OBJECT_OT_sylpheed_new_hull.bl_idname, text="New Hull…", icon="MESH_CUBE")
        column.operator(OBJECT_OT_sylpheed_fit_grid.bl_idname, text="Fit Grid…", icon="MESH_GRID")
        column.operator(OBJECT_OT_sylpheed_add_to_hull.bl_idname, text="Add to Hull", icon="LINKED")
        column.operator(OBJECT_OT_sylpheed_subtract.bl_idname, text="Subtract from Rock", icon="MOD_BOOLEAN")


def _draw_add(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.operator(OBJECT_OT_sylpheed_new_hull.bl_idname, text="Sylpheed Hull…", icon="MESH_CUBE")


def _draw_add_mesh(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.operator(OBJECT_OT_sylpheed_add_asteroid.bl_idname, text="Sylpheed Asteroid", icon="META_BALL")


def _draw_object(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    self.layout.separator()
    self.layout.operator(OBJECT_OT_sylpheed_fit_grid.bl_idname, text="Fit Sylpheed Grid…")


CLASSES = (
    OBJECT_OT_sylpheed_add_asteroid,
    OBJECT_OT_sylpheed_new_hull,
    OBJECT_OT_sylpheed_fit_grid,
    SYLPHEED_PT_making,
)
MENUS = {"VIEW3D_MT_add": _draw_add, "VIEW3D_MT_mesh_add": _draw_add_mesh, "VIEW3D_MT_object": _draw_object}
"""What is in a menu is found by F3."""


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    for menu, draw in MENUS.items():
        getattr(bpy.types, menu).append(draw)


def unregister() -> None:
    for menu, draw in MENUS.items():
        getattr(bpy.types, menu).remove(draw)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
