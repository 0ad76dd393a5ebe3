"""The operators that export files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty
from bpy_extras.io_utils import ExportHelper

from ...core.errors import RefusedError, SylpheedError
from ..scene import custom_properties
from ..scene.roots import find_all_roots, find_root, find_roots
from ..translations import CONTEXT, report_text
from . import last_result
from .preferences import PATH_OPTIONS, folders
from .reporting import Result, refuse_export, report

if TYPE_CHECKING:
    from ..scene import exporting


class ExportFile(ExportHelper):
    """One file, written whole or not at all."""

    filepath: StringProperty(
        name="File Path", description="File to write", subtype="FILE_PATH", options={"SKIP_PRESET"} | PATH_OPTIONS
    )
    collection: StringProperty(
        name="Collection",
        description="Where to look for the root, set by a collection's exporter. Empty: the scene",
        options={"HIDDEN", "SKIP_SAVE", "SKIP_PRESET"},
    )
    apply_modifiers: BoolProperty(
        name="Apply Modifiers",
        description="Export meshes with their modifiers and shape keys applied",
        default=True,
    )

    def export(self, context: bpy.types.Context, export_root: Callable[[], tuple[str, exporting.Exported]]) -> Result:
        """Makes the bytes, then writes them, then reports."""
        from ...core.disk import files, lock, same_file

        context.window_manager.progress_begin(0, 1)
        try:
            if not self.filepath:
                raise RefusedError("no file is named", remedy="choose the file to write")
            stem, exported = export_root()
            path = bpy.path.ensure_ext(bpy.path.abspath(self.filepath), self.filename_ext)
            if Path(path).name in ("", self.filename_ext):
                path = str(Path(path).with_name(stem + self.filename_ext))
            context.window_manager.progress_update(0.9)
            origins = {custom_properties.origin(root)[0] for root in find_all_roots(context.scene)}
            for game in {folders(context)[0], *origins}:
                same_file.refuse_inside(path, game)
            with lock.alone(Path(path)):  # what belongs beside it is made from what is there
                beside = self.beside(context, exported.data, path)
                files.write_files({path: exported.data} | beside)
        except SylpheedError as error:
            return refuse_export(self, context, error)
        finally:
            context.window_manager.progress_end()
        for warning in exported.warnings:
            report(self, "WARNING", warning)
        wrote = report_text("Wrote {count:,} bytes to {path}", count=len(exported.data), path=path)
        report(self, "INFO", f"{exported.summary}. {wrote}")
        last_result.note_path(self, path)
        for other, data in beside.items():
            report(self, "INFO", report_text("Wrote {count:,} bytes to {path}", count=len(data), path=other))
        return {"FINISHED"}

    def beside(self, context: bpy.types.Context, data: bytes, path: str) -> dict[str, bytes]:
        """The files that belong beside the one of these bytes, by their paths. Reports what can't be made."""
        return {}


class EXPORT_SCENE_OT_sylpheed_col(bpy.types.Operator, ExportFile):
    """Export a collision hull for Project Sylpheed: everything parented to its root, including hidden objects"""

    bl_idname = "export_scene.sylpheed_col"
    bl_label = "Export Sylpheed Hull"
    bl_options = {"PRESET"}

    filename_ext = ".col"
    filter_glob: StringProperty(default="*.col", options={"HIDDEN"})
    hull: StringProperty(
        name="Hull",
        description="Root object of the hull. Empty: the one of the active object, or the only one",
        default="",
    )
    rebuild: EnumProperty(
        name="Rebuild",
        description="How much of the source file to rebuild",
        items=[
            ("CHANGED", "Changed", "Preserve every cell, sphere and byte that the edit doesn't reach"),
            ("ALL", "All", "Rebuild every cell list, sphere and fill state"),
        ],
        default="CHANGED",
    )
    outside: EnumProperty(
        name="Outside",
        description="How to handle geometry outside the hull's bounding box",
        items=[
            ("ERROR", "Error", "Stop the export and name the objects"),
            ("GROW", "Grow", "Add whole cells to the grid. The matching .rgn no longer fits and must be regenerated"),
        ],
        default="ERROR",
        translation_context=CONTEXT,
    )
    turn: BoolProperty(
        name="Turn",
        description="Flip faces whose front doesn't face free space, instead of refusing them",
        default=False,
    )

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        if len(find_roots(context.scene, custom_properties.HULL)) > 1:
            self.layout.prop_search(self, "hull", context.scene, "objects")
        for name in ("rebuild", "outside", "turn", "apply_modifiers"):
            self.layout.prop(self, name)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        suggest_name(self, context, custom_properties.HULL, self.hull)
        return ExportHelper.invoke(self, context, event)

    def execute(self, context: bpy.types.Context) -> Result:
        from ...core.editing import options as editing_options
        from ..scene import exporting

        options = editing_options.Options(
            editing_options.Rebuild(self.rebuild), editing_options.Outside(self.outside), self.turn
        )

        def export_root() -> tuple[str, exporting.Exported]:
            root = find_root(context, custom_properties.HULL, self.hull, collection=self.collection)
            return custom_properties.stem(root), exporting.export_hull(context, root, options, self.apply_modifiers)

        return self.export(context, export_root)

    def beside(self, context: bpy.types.Context, data: bytes, path: str) -> dict[str, bytes]:
        """The navigation volume of the hull, where its source is known."""
        from ..scene import navigation

        try:
            root = find_root(context, custom_properties.HULL, self.hull, collection=self.collection)
            made = navigation.volume_beside(root, data, path, folders(context)[1])
        except SylpheedError as error:
            report(self, "WARNING", f"navigation: {error}")
            return {}
        if made is None:
            return {}
        for warning in made.warnings:
            report(self, "WARNING", f"navigation: {warning}")
        return {made.path: made.data}


class EXPORT_SCENE_OT_sylpheed_set(bpy.types.Operator, ExportFile):
    """Export a collision set for Project Sylpheed: edited parts are replaced, the others are preserved"""

    bl_idname = "export_scene.sylpheed_set"
    bl_label = "Export Sylpheed Collision Set"
    bl_options = {"PRESET"}

    filename_ext = ".bin"
    filter_glob: StringProperty(default="*.bin", options={"HIDDEN"})
    set: StringProperty(
        name="Set",
        description="Root object of the collision set. Empty: the one of the active object, or the only one",
        default="",
    )

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        if len(find_roots(context.scene, custom_properties.SET)) > 1:
            self.layout.prop_search(self, "set", context.scene, "objects")
        self.layout.prop(self, "apply_modifiers")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        suggest_name(self, context, custom_properties.SET, self.set)
        return ExportHelper.invoke(self, context, event)

    def execute(self, context: bpy.types.Context) -> Result:
        from ..scene import exporting

        def export_root() -> tuple[str, exporting.Exported]:
            root = find_root(context, custom_properties.SET, self.set, collection=self.collection)
            return custom_properties.stem(root), exporting.export_set(context, root, self.apply_modifiers)

        return self.export(context, export_root)


def suggest_name(operator: bpy.types.Operator, context: bpy.types.Context, kind: str, name: str = "") -> None:
    """Offers the source file's name in the file browser, beside the saved .blend."""
    if operator.filepath:
        return
    try:
        stem = custom_properties.stem(find_root(context, kind, name))
    except SylpheedError:
        return  # execute says so
    folder = os.path.dirname(bpy.data.filepath)
    operator.filepath = os.path.join(folder, stem + operator.filename_ext)
