"""Edits and other files, which the overlay follows. Its handlers are registered only while it is on."""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

from ...core.errors import SylpheedError
from ..scene import viewport
from . import state
from .settings import settings

DELAY = 0.15
"""Seconds of rest after an edit before the grid follows it."""


def start() -> None:
    """Registers the handlers."""
    for handlers, call in _handlers():
        handlers.append(call)


def stop() -> None:
    """Takes them away again."""
    for handlers, call in _handlers():
        if call in handlers:
            handlers.remove(call)
    if bpy.app.timers.is_registered(_follow):
        bpy.app.timers.unregister(_follow)


def later() -> None:
    """Reads the hull after a rest: neither handlers nor drawing may change data, and a drag makes many updates."""
    if bpy.app.timers.is_registered(_follow):
        bpy.app.timers.unregister(_follow)
    bpy.app.timers.register(_follow, first_interval=DELAY)


def _handlers() -> list[tuple[list, object]]:
    after = bpy.app.handlers
    return [
        (after.depsgraph_update_post, _scene_changed),
        (after.undo_post, _everything_changed),
        (after.redo_post, _everything_changed),
        (after.load_post, _everything_changed),
    ]


@persistent
def _scene_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    overlay = state.current()
    if overlay is None:
        return
    overlay.selection_changed = True
    if settings(bpy.context).follow and scene == bpy.context.scene and state.is_outdated(bpy.context, overlay):
        later()


@persistent
def _everything_changed(*_: object) -> None:
    if state.current() is not None:
        later()


def _follow() -> None:
    try:
        state.refresh(bpy.context)
    except SylpheedError:
        pass  # no hull any more: nothing is shown, and the panel says so
    viewport.redraw(bpy.context)
