"""Which parts of a collision set an import takes: a filter, and a list of names to search and tick."""

from __future__ import annotations

import os

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, StringProperty

from ...core.errors import SylpheedError

LISTED = 8
"""How many names the list shows at once."""


class SylpheedPartName(bpy.types.PropertyGroup):
    """A part of the file: `name`, and whether to import it."""

    ticked: BoolProperty(name="Import", description="Import this part", default=True)


class SYLPHEED_UL_part_names(bpy.types.UIList):
    """The names, with Blender's own search below."""

    def draw_item(  # noqa: PLR0913 - Blender counts them
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: object,
        item: SylpheedPartName,
        icon: int,
        active_data: object,
        active_property: str,
    ) -> None:
        layout.prop(item, "ticked", text=item.name, translate=False)


class PartNames:
    """The options of an import that choose parts by name."""

    name_filter: StringProperty(
        name="Names",
        description="Parts to import: names with * and ?, separated by commas. The other parts stay in the file",
        default="*",
    )
    part_names: CollectionProperty(type=SylpheedPartName, options={"HIDDEN", "SKIP_SAVE", "SKIP_PRESET"})
    part_names_of: StringProperty(options={"HIDDEN", "SKIP_SAVE", "SKIP_PRESET"})
    shown_part: IntProperty(options={"HIDDEN", "SKIP_SAVE", "SKIP_PRESET"})
    tick_all: BoolProperty(
        name="All Parts",
        description="Tick every name in the list, or none",
        default=True,
        options={"SKIP_SAVE", "SKIP_PRESET"},
        update=lambda self, context: _tick(self, self.tick_all),
    )

    def list_parts(self, paths: list[str]) -> bool:
        """Lists the parts of the only file that is chosen: whether the list is another than before."""
        path = paths[0] if len(paths) == 1 and os.path.isfile(paths[0]) else ""
        if path == self.part_names_of:
            return False
        self.part_names_of = path
        self.part_names.clear()
        for name in _names_in(path):
            self.part_names.add().name = name
        return True

    def draw_names(self, layout: bpy.types.UILayout) -> None:
        layout.prop(self, "name_filter")
        if not len(self.part_names):
            return
        layout.prop(self, "tick_all")
        layout.template_list(
            SYLPHEED_UL_part_names.__name__, "", self, "part_names", self, "shown_part", rows=LISTED, maxrows=LISTED
        )

    def ticked(self) -> tuple[str, ...] | None:
        """The names that are ticked, None where all are or none is listed."""
        names = tuple(item.name for item in self.part_names if item.ticked)
        return names if len(names) < len(self.part_names) else None


def _tick(names: PartNames, ticked: bool) -> None:
    for item in names.part_names:
        item.ticked = ticked


def _names_in(path: str) -> list[str]:
    """The names of a set's parts, none where the file is no set: the import says why."""
    from ...core.disk import files
    from ...core.formats import collision_set
    from ...core.formats.kinds import Kind
    from ...core.game import loose_files

    if not path:
        return []
    try:
        return [
            part.name
            for part in collision_set.decode(files.read_file(path, loose_files.MOST[Kind.COLLISION_SET])).parts
        ]
    except SylpheedError:
        return []


CLASSES = (SylpheedPartName, SYLPHEED_UL_part_names)
