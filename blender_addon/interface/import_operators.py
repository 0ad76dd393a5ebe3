"""The operators that import files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, CollectionProperty, StringProperty
from bpy_extras.io_utils import ImportHelper

from ...core.errors import SylpheedError
from .import_options import HullProperties, LayoutProperty, ViewProperties
from .part_names import PartNames
from .preferences import PATH_OPTIONS
from .reporting import Result, finish_import, report

if TYPE_CHECKING:
    from ..scene import importing


class ImportFiles(ImportHelper):
    """One or several files, each on its own: a broken one doesn't keep the others out."""

    filepath: StringProperty(
        name="File Path",
        description="File to import",
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
        from ...core.formats import kinds
        from ...core.game import loose_files

        try:
            found = loose_files.detect_file(path)
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
        finish_import(self, context, done)
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
        from ..scene import importing

        options = self.hull_options()
        return self.import_all(context, lambda path, _: importing.import_hull(context.scene, path, options))


class IMPORT_SCENE_OT_sylpheed_set(bpy.types.Operator, ImportFiles, ViewProperties, LayoutProperty, PartNames):
    """Import the collision parts of ships, machines and asteroids from a collision set of Project Sylpheed"""

    bl_idname = "import_scene.sylpheed_set"
    bl_label = "Import Sylpheed Collision Set"
    bl_options = {"PRESET", "UNDO"}

    kind = "COLLISION_SET"
    filename_ext = ".bin"
    filter_glob: StringProperty(default="*.bin", options={"HIDDEN"})
    mark_assets: BoolProperty(
        name="Mark as Assets",
        description="Make an asset of each part, to drag from the Asset Browser into a hull",
        default=False,
    )

    def check(self, context: bpy.types.Context) -> bool:
        """Blender asks this when another file or option is chosen in the dialog."""
        return self.list_parts(self.paths())

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        self.draw_names(self.layout)
        self.layout.prop(self, "layout_parts")
        self.layout.prop(self, "mark_assets")
        self.draw_view(self.layout)

    def execute(self, context: bpy.types.Context) -> Result:
        from ..scene import assets, importing

        options = importing.SetOptions(self.name_filter, self.view(), self.layout_parts, names=self.ticked())

        def import_one(path: str, progress: Callable) -> importing.Imported:
            imported = importing.import_set(context.scene, path, options, progress)
            if self.mark_assets:
                assets.make_assets(context.scene, imported.root, list(imported.root.children))
            return imported

        return self.import_all(context, import_one)
