"""The operators in Blender's menus: they gather options, call one function, and report."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, FloatProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ...core.disk import files, same_file
from ...core.editing import rebuild_hull
from ...core.errors import RefusedError, SylpheedError
from ...core.formats import kinds
from ...core.game import known_files
from ..scene import custom_properties, exporting, importing, mod_export, object_names, stage_import, viewport
from ..scene.roots import find_all_roots, find_root, find_roots
from ..translations import CONTEXT, report_text
from .preferences import PATH_OPTIONS, SylpheedPreferences, folders

if TYPE_CHECKING:
    pass

Result = set[str]


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
        for name in ("scale", "up", "mirror", "reach"):
            layout.prop(self, name)


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
        for name in ("surfaces", "cells", "spheres"):
            layout.prop(self, name)
        self.draw_view(layout)


class ImportFiles(ImportHelper):
    """One or several files, each on its own: a broken one doesn't keep the others out."""

    filepath: StringProperty(
        name="File Path",
        description="The file to import",
        subtype="FILE_PATH",
        options={"HIDDEN", "SKIP_PRESET"} | PATH_OPTIONS,
    )
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})
    directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"} | PATH_OPTIONS)

    kind = "HULL"
    """A member of `detect.Kind`."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        """Asks for the files, or for the options alone where files were dropped that can be imported."""
        if self.properties.is_property_set("filepath"):
            foreign = [text for path in self.paths() if (text := self.foreign(path))]
            if foreign:
                report(self, "ERROR", "\n".join(foreign))
                return {"CANCELLED"}
        return self.invoke_popup(context)

    def foreign(self, path: str, detail: str = "") -> str:
        """What to say of a file that isn't of this operator's kind, "" of one that is."""
        try:
            found = known_files.detect_file(path)
        except SylpheedError as error:
            return str(error)
        wanted = kinds.Kind[self.kind]
        if found is wanted:
            return ""
        what = f"it is a {found.value}" if found else detail or "nothing that this extension knows"
        return f"{path}: not a {wanted.value} of Project Sylpheed ({what})"

    def paths(self) -> list[str]:
        names = [file.name for file in self.files if file.name]
        if names:
            return [os.path.join(bpy.path.abspath(self.directory), name) for name in names]
        return [bpy.path.abspath(self.filepath)]

    def import_all(
        self, context: bpy.types.Context, import_one: Callable[[str, Callable], importing.Imported]
    ) -> Result:
        """Imports every file, selects what came in, reports."""
        paths, done, failed = self.paths(), [], []
        window = context.window_manager
        window.progress_begin(0, 1)
        try:
            for number, path in enumerate(paths):

                def progress(part: float, number: int = number) -> None:
                    window.progress_update((number + part) / len(paths))

                try:
                    done.append(import_one(path, progress))
                except SylpheedError as error:
                    failed.append(self.foreign(path, str(replace(error, file=""))) or str(error))
        finally:
            window.progress_end()
        if not done:
            report(self, "ERROR", "\n".join(failed))
            return {"CANCELLED"}
        _finish_import(self, context, done)
        for failure in failed:
            report(self, "WARNING", failure)
        return {"FINISHED"}


class IMPORT_SCENE_OT_sylpheed_col(bpy.types.Operator, ImportFiles, HullProperties):
    """Import collision hulls of Project Sylpheed, with their grid cells"""

    bl_idname = "import_scene.sylpheed_col"
    bl_label = "Import Sylpheed Hull"
    bl_options = {"PRESET", "UNDO"}

    filename_ext = ".col"
    filter_glob: StringProperty(default="*.col", options={"HIDDEN"})

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        self.draw_hull(self.layout)

    def execute(self, context: bpy.types.Context) -> Result:
        options = self.hull_options()
        return self.import_all(context, lambda path, _: importing.import_hull(context.scene, path, options))


class IMPORT_SCENE_OT_sylpheed_set(bpy.types.Operator, ImportFiles, ViewProperties):
    """Import the collision meshes of ships, machines and asteroids from a CollisionSet of Project Sylpheed"""

    bl_idname = "import_scene.sylpheed_set"
    bl_label = "Import Sylpheed Collision Set"
    bl_options = {"PRESET", "UNDO"}

    kind = "COLLISION_SET"
    filename_ext = ".bin"
    filter_glob: StringProperty(default="*.bin", options={"HIDDEN"})
    name_filter: StringProperty(
        name="Names",
        description="Which parts to import: names with * and ?, separated by commas. The others stay in the file",
        default="*",
    )

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        self.layout.prop(self, "name_filter")
        self.draw_view(self.layout)

    def execute(self, context: bpy.types.Context) -> Result:
        options = importing.SetOptions(self.name_filter, self.view())
        return self.import_all(
            context, lambda path, progress: importing.import_set(context.scene, path, options, progress)
        )


class ExportFile(ExportHelper):
    """One file, written whole or not at all."""

    filepath: StringProperty(
        name="File Path", description="The file to write", subtype="FILE_PATH", options={"SKIP_PRESET"} | PATH_OPTIONS
    )
    collection: StringProperty(
        name="Collection",
        description="Where the root is looked for, set by a collection's exporter. Empty: the scene",
        options={"HIDDEN", "SKIP_SAVE", "SKIP_PRESET"},
    )
    apply_modifiers: BoolProperty(
        name="Apply Modifiers",
        description="Export meshes as their modifiers and shape keys show them",
        default=True,
    )

    def export(self, context: bpy.types.Context, export_root: Callable[[], tuple[str, exporting.Exported]]) -> Result:
        """Makes the bytes, then writes them, then reports."""
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
            files.write_file(path, exported.data)
        except SylpheedError as error:
            return refuse(self, error)
        finally:
            context.window_manager.progress_end()
        for warning in exported.warnings:
            report(self, "WARNING", warning)
        wrote = report_text("wrote {count:,} bytes to {path}", count=len(exported.data), path=path)
        report(self, "INFO", f"{exported.summary}; {wrote}")
        return {"FINISHED"}


class EXPORT_SCENE_OT_sylpheed_col(bpy.types.Operator, ExportFile):
    """Export a collision hull for Project Sylpheed: what hangs below its root object, hidden or not"""

    bl_idname = "export_scene.sylpheed_col"
    bl_label = "Export Sylpheed Hull"
    bl_options = {"PRESET"}

    filename_ext = ".col"
    filter_glob: StringProperty(default="*.col", options={"HIDDEN"})
    hull: StringProperty(
        name="Hull",
        description="Name of the hull's root object. Empty: that of the active object, or the only one",
        default="",
    )
    rebuild: EnumProperty(
        name="Rebuild",
        description="How much of the source file to make anew",
        items=[
            ("CHANGED", "Changed", "Keep every cell, sphere and byte that the edit doesn't reach"),
            ("ALL", "All", "Make every cell list, sphere and fill state anew"),
        ],
        default="CHANGED",
    )
    outside: EnumProperty(
        name="Outside",
        description="What to do with geometry outside the hull's bounding box",
        items=[
            ("ERROR", "Error", "Refuse to export, naming the objects"),
            ("GROW", "Grow", "Add whole cells to the grid. The hull's .rgn no longer fits then"),
        ],
        default="ERROR",
        translation_context=CONTEXT,
    )
    turn: BoolProperty(
        name="Turn",
        description="Turn faces whose front doesn't face free space, instead of refusing them",
        default=False,
    )

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        if len(find_roots(context.scene, custom_properties.HULL)) > 1:
            self.layout.prop_search(self, "hull", context.scene, "objects")
        for name in ("rebuild", "outside", "turn", "apply_modifiers"):
            self.layout.prop(self, name)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        _suggest_name(self, context, custom_properties.HULL, self.hull)
        return ExportHelper.invoke(self, context, event)

    def execute(self, context: bpy.types.Context) -> Result:
        options = rebuild_hull.Options(
            rebuild_hull.Rebuild(self.rebuild), rebuild_hull.Outside(self.outside), self.turn
        )

        def export_root() -> tuple[str, exporting.Exported]:
            root = find_root(context, custom_properties.HULL, self.hull, self.collection)
            return custom_properties.stem(root), exporting.export_hull(context, root, options, self.apply_modifiers)

        return self.export(context, export_root)


class EXPORT_SCENE_OT_sylpheed_set(bpy.types.Operator, ExportFile):
    """Export a CollisionSet for Project Sylpheed: edited parts are replaced, the others stay"""

    bl_idname = "export_scene.sylpheed_set"
    bl_label = "Export Sylpheed Collision Set"
    bl_options = {"PRESET"}

    filename_ext = ".bin"
    filter_glob: StringProperty(default="*.bin", options={"HIDDEN"})
    set: StringProperty(
        name="Set",
        description="Name of the collision set's root object. Empty: that of the active object, or the only one",
        default="",
    )

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        if len(find_roots(context.scene, custom_properties.SET)) > 1:
            self.layout.prop_search(self, "set", context.scene, "objects")
        self.layout.prop(self, "apply_modifiers")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        _suggest_name(self, context, custom_properties.SET, self.set)
        return ExportHelper.invoke(self, context, event)

    def execute(self, context: bpy.types.Context) -> Result:
        def export_root() -> tuple[str, exporting.Exported]:
            root = find_root(context, custom_properties.SET, self.set, self.collection)
            return custom_properties.stem(root), exporting.export_set(context, root, self.apply_modifiers)

        return self.export(context, export_root)


def suggest_stages(options: bpy.types.OperatorProperties, context: bpy.types.Context, text: str) -> list[str]:
    """The stages of the game folder, for the dialog. Blender passes the operator's options, not the operator."""
    try:
        return [stage.name for stage in stage_import.list_stages(_game_folder(options, context))]
    except SylpheedError:
        return []  # the dialog and execute say why


def suggest_phases(
    options: bpy.types.OperatorProperties, context: bpy.types.Context, text: str
) -> list[tuple[str, str]]:
    """The phases of the chosen stage that have a hull, with its name."""
    return _phases(options, context)


def _phases(options: bpy.types.OperatorProperties, context: bpy.types.Context) -> list[tuple[str, str]]:
    try:
        return stage_import.phases(_game_folder(options, context), options.stage)
    except SylpheedError:
        return []  # the dialog and execute say why


def _game_folder(options: bpy.types.OperatorProperties, context: bpy.types.Context) -> str:
    return bpy.path.abspath(options.directory) if options.directory else folders(context)[0]


class IMPORT_SCENE_OT_sylpheed_stage(bpy.types.Operator, HullProperties):
    """Import the hull of a stage's phase from the extracted game, with the stage's own asteroid meshes"""

    bl_idname = "import_scene.sylpheed_stage"
    bl_label = "Import Sylpheed Stage"
    bl_options = {"PRESET", "UNDO"}

    directory: StringProperty(
        name="Game Folder",
        description="The folder of the extracted game disc. Empty: that of the preferences. It is only ever read",
        subtype="DIR_PATH",
        options={"SKIP_PRESET"} | PATH_OPTIONS,
    )
    stage: StringProperty(
        name="Stage",
        description="Which stage, such as S14; the id of its table where no name is known",
        default="S01",
        search=suggest_stages,
    )
    phase: StringProperty(
        name="Phase",
        description="Which phase of the stage, such as Phase_1. Those without a hull are not listed",
        default="Phase_1",
        search=suggest_phases,
        translation_context=CONTEXT,
    )
    parts: EnumProperty(
        name="Parts",
        description="Which meshes of the stage's collision set to import as well",
        items=[
            ("NONE", "None", "The hull alone"),
            ("STAGE", "Stage", "The stage's own asteroids"),
            ("ALL", "All", "Every mesh of the library"),
        ],
        default="STAGE",
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        self.directory = self.directory or folders(context)[0]
        return context.window_manager.invoke_props_dialog(self, width=440)

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        for name in ("directory", "stage", "phase"):
            self.layout.prop(self, name)
        listed = self.layout.box().column(align=True)
        phases = _phases(self, context)
        for name, hull in phases:
            icon = "RIGHTARROW" if name == self.phase else "BLANK1"
            listed.label(text=f"{name}: {hull}", icon=icon, translate=False)
        if not phases:
            problem = stage_import.why_no_phase(_game_folder(self, context), self.stage)
            listed.label(text=problem, icon="ERROR", translate=False)
        self.layout.prop(self, "parts")
        self.draw_hull(self.layout)

    def execute(self, context: bpy.types.Context) -> Result:
        options = stage_import.StageOptions(self.stage, self.phase, self.parts, self.hull_options())
        window = context.window_manager
        window.progress_begin(0, 1)
        try:
            folder = _game_folder(self, context)
            if not folder:
                raise RefusedError("no game folder is named", remedy="choose it here or in the extension's preferences")
            done = stage_import.import_stage(
                context.scene, folder, folders(context)[1], options, window.progress_update
            )
        except SylpheedError as error:
            return refuse(self, error)
        finally:
            window.progress_end()
        _finish_import(self, context, done)
        return {"FINISHED"}


class EXPORT_SCENE_OT_sylpheed_mod(bpy.types.Operator):
    """Write hidden/MiscBin.pak with the edited hulls and meshes of this scene into the mod folder"""

    bl_idname = "export_scene.sylpheed_mod"
    bl_label = "Export Sylpheed Mod"
    bl_options = {"PRESET"}

    directory: StringProperty(
        name="Mod Folder",
        description="Where the modded archive goes, in the layout of the disc. Empty: that of the preferences",
        subtype="DIR_PATH",
        options={"SKIP_PRESET"} | PATH_OPTIONS,
    )
    game: StringProperty(
        name="Game Folder",
        description="The game to take everything else from. Empty: where the import came from, or that of the "
        "preferences. It is only ever read",
        subtype="DIR_PATH",
        options={"SKIP_PRESET"} | PATH_OPTIONS,
    )
    sets: EnumProperty(
        name="Collision Sets",
        description="The game holds its collision set 18 times. Which copies an edited set replaces",
        items=[
            ("ALL", "All", "Every copy, as in the game"),
            ("STAGE", "Stage", "The copy that was imported alone"),
        ],
        default="ALL",
    )
    overwrite: BoolProperty(
        name="Overwrite",
        description="Replace what another session put into the mod where it was edited here, too",
        default=False,
        options={"SKIP_PRESET", "SKIP_SAVE"},
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        self.directory = self.directory or folders(context)[1]
        return context.window_manager.invoke_props_dialog(self, width=440)

    def execute(self, context: bpy.types.Context) -> Result:
        window = context.window_manager
        window.progress_begin(0, 1)
        try:
            usual_game, usual_mod = folders(context)
            options = mod_export.ModOptions(
                bpy.path.abspath(self.directory) if self.directory else usual_mod,
                bpy.path.abspath(self.game) if self.game else "",
                usual_game,
                self.sets == "ALL",
                self.overwrite,
            )
            exported = mod_export.export_mod(context, options, window.progress_update)
        except SylpheedError as error:
            return refuse(self, error)
        finally:
            window.progress_end()
        for warning in exported.warnings:
            report(self, "WARNING", warning)
        for note in exported.notes:
            report(self, "INFO", note)
        written = exported.written
        if written.replaced:
            text = report_text("wrote {path}, replaced {names}", path=written.path, names=", ".join(written.replaced))
        else:
            text = report_text("replaced nothing: {path} holds every edit already", path=written.path)
        report(self, "INFO", text)
        return {"FINISHED"}


def _finish_import(operator: bpy.types.Operator, context: bpy.types.Context, done: list[importing.Imported]) -> None:
    """Selects what came in, and reports."""
    roots = [imported.root for imported in done]
    viewport.select(context, roots)
    viewport.frame(context, roots)
    distance = viewport.reach(context, roots) if operator.reach else None
    if distance:
        raised = report_text(
            "raised the clip end of the 3D views to {distance:,.4g}, so that the map is seen", distance=distance
        )
        report(operator, "INFO", raised)
    for imported in done:
        if imported.summary:
            report(operator, "INFO", imported.summary)
        for warning in imported.warnings:
            report(operator, "WARNING", warning)


def report(operator: bpy.types.Operator, kind: str, text: str) -> None:
    """Reports a text that may hold a path which isn't text to Blender."""
    operator.report({kind}, object_names.printable(text))


def refuse(operator: bpy.types.Operator, error: SylpheedError) -> Result:
    """Reports why an operator can't do it: its result."""
    report(operator, "ERROR", str(error))
    return {"CANCELLED"}


def _suggest_name(operator: bpy.types.Operator, context: bpy.types.Context, kind: str, name: str = "") -> None:
    """Offers the source file's name in the file browser, beside the saved .blend."""
    if operator.filepath:
        return
    try:
        stem = custom_properties.stem(find_root(context, kind, name))
    except SylpheedError:
        return  # execute says so
    folder = os.path.dirname(bpy.data.filepath)
    operator.filepath = os.path.join(folder, stem + operator.filename_ext)


IMPORTS = {
    IMPORT_SCENE_OT_sylpheed_stage: "Sylpheed stage (game folder)",
    IMPORT_SCENE_OT_sylpheed_col: "Sylpheed hull (.col)",
    IMPORT_SCENE_OT_sylpheed_set: "Sylpheed collision set (.bin)",
}
EXPORTS = {
    EXPORT_SCENE_OT_sylpheed_mod: "Sylpheed mod (MiscBin.pak)",
    EXPORT_SCENE_OT_sylpheed_col: "Sylpheed hull (.col)",
    EXPORT_SCENE_OT_sylpheed_set: "Sylpheed collision set (.bin)",
}
CLASSES = (SylpheedPreferences, *IMPORTS, *EXPORTS)


def _draw_imports(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    for operator, label in IMPORTS.items():
        self.layout.operator(operator.bl_idname, text=label)


def _draw_exports(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    for operator, label in EXPORTS.items():
        self.layout.operator(operator.bl_idname, text=label)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.TOPBAR_MT_file_import.append(_draw_imports)
    bpy.types.TOPBAR_MT_file_export.append(_draw_exports)


def unregister() -> None:
    bpy.types.TOPBAR_MT_file_export.remove(_draw_exports)
    bpy.types.TOPBAR_MT_file_import.remove(_draw_imports)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
