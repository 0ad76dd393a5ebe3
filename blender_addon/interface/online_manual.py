"""The manual: right-click > Online Manual leads to the section of an operator, and a button to the page."""

from __future__ import annotations

from pathlib import Path

import bpy

PAGE = Path(__file__).resolve().parents[2] / "docs" / "manual.html"
"""The page that came with the extension: it is that of the installed version, and needs no network."""

SECTIONS = (
    ("bpy.ops.import_scene.sylpheed_stage*", "import"),
    ("bpy.ops.import_scene.sylpheed_set*", "collision-sets"),
    ("bpy.ops.import_scene.sylpheed_*", "import"),
    ("bpy.ops.export_scene.sylpheed_mod*", "the-mod-folder"),
    ("bpy.ops.export_scene.sylpheed_*", "export"),
    ("bpy.ops.sylpheed.deploy*", "into-the-game"),
    ("bpy.ops.sylpheed.restore*", "into-the-game"),
    ("bpy.ops.sylpheed.list_changes*", "what-did-i-change"),
    ("bpy.ops.sylpheed.show_changes*", "what-did-i-change"),
    ("bpy.ops.sylpheed.revert*", "editing-a-hull"),
    ("bpy.ops.sylpheed.add_to_hull*", "editing-a-hull"),
    ("bpy.ops.sylpheed.subtract*", "editing-a-hull"),
    ("bpy.ops.sylpheed.add_asteroid*", "making-asteroids-hulls-and-grids"),
    ("bpy.ops.sylpheed.new_hull*", "making-asteroids-hulls-and-grids"),
    ("bpy.ops.sylpheed.fit_grid*", "making-asteroids-hulls-and-grids"),
    ("bpy.ops.sylpheed.lay_out*", "collision-sets"),
    ("bpy.ops.sylpheed.mark_assets*", "collision-sets"),
    ("bpy.ops.sylpheed.show_grid*", "seeing-the-grid"),
    ("bpy.ops.sylpheed.refresh_grid*", "seeing-the-grid"),
    ("bpy.ops.sylpheed.shoot*", "seeing-the-grid"),
    ("bpy.ops.sylpheed.route*", "navigation"),
    ("bpy.ops.sylpheed.*navigation*", "navigation"),
    ("bpy.ops.sylpheed.*", "check-and-fix"),
    ("bpy.types.sylpheedgridsettings*", "seeing-the-grid"),
    ("bpy.types.sylpheedpreferences*", "before-you-begin"),
)
"""Patterns of what Blender calls an operator, an option or a setting, in lower case, and the section that explains it.
The first that fits counts."""


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """As Blender asks for it: where the manual is, and the place of each section in it."""
    return PAGE.as_uri(), tuple((pattern, f"#{section}") for pattern, section in SECTIONS)


def register() -> None:
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    bpy.utils.unregister_manual_map(manual_map)
