"""What is dropped from the Asset Browser into a hull's collection becomes part of the hull."""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

from ..scene import custom_properties, viewport
from ..scene.roots import has_root
from ..translations import label_text, report_text
from . import last_result

_count = 0
"""How many objects the file had: a look at all of them is worth it only after one was added."""


@persistent
def _look(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Never changes data itself: Blender may be in the middle of an operator."""
    global _count
    if not depsgraph.id_type_updated("SCENE"):
        return
    count, before = len(bpy.data.objects), _count
    _count = count
    if count > before and has_root(scene, custom_properties.HULL) and not bpy.app.timers.is_registered(adopt_dropped):
        bpy.app.timers.register(adopt_dropped, first_interval=0.0)


def adopt_dropped() -> None:
    """Adopts what lies in the collections of the scene's hulls, and says so in the last result."""
    from ..scene import assets

    context = bpy.context
    found = assets.dropped(context.scene)
    if not found:
        return
    lines = []
    for obj, root in found:
        why = assets.adopt(obj, root)
        if why:
            lines.append(("WARNING", f'"{obj.name}" {why}'))
        else:
            lines.append(("INFO", report_text('Added "{name}" to "{hull}"', name=obj.name, hull=root.name)))
    last_result.say(label_text("Add to Hull"), lines)
    viewport.redraw(context)
    if any(kind == "INFO" for kind, _ in lines) and context.window is not None:
        bpy.ops.ed.undo_push(message="Add to Hull")


def register() -> None:
    bpy.app.handlers.depsgraph_update_post.append(_look)


def unregister() -> None:
    bpy.app.handlers.depsgraph_update_post.remove(_look)
    if bpy.app.timers.is_registered(adopt_dropped):
        bpy.app.timers.unregister(adopt_dropped)
