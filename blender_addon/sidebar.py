"""The sidebar tab."""

from __future__ import annotations

import bpy


class SYLPHEED_PT_hull(bpy.types.Panel):
    bl_label = "Hull"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Sylpheed"

    def draw(self, context: bpy.types.Context) -> None:
        pass


def register() -> None:
    bpy.utils.register_class(SYLPHEED_PT_hull)


def unregister() -> None:
    bpy.utils.unregister_class(SYLPHEED_PT_hull)
