"""The overlay on and off. It makes no objects, and while it is off nothing of it is registered."""

from __future__ import annotations

import bpy

from ..scene import viewport
from . import drawing, following, state


def turn_on(context: bpy.types.Context) -> None:
    """Registers what the overlay needs, and shows the hull of the active object or the only one. If it is on, that
    hull is read only where another or none is shown.

    Raises `SylpheedError` if there is none, and stays off then, or on without a hull.
    """
    overlay = state.current()
    if overlay is not None:
        shown = state.root_shown(context, overlay)
        if shown is None or shown != state.root_to_show(context, overlay):
            state.refresh(context)
        return
    overlay = state.Overlay()
    state.rebuild(context, overlay)
    state.set_current(overlay)
    drawing.start()
    following.start()
    viewport.redraw(context)


def turn_off() -> None:
    """Takes all of it away again."""
    if state.current() is None:
        return
    state.set_current(None)
    drawing.stop()
    following.stop()
    viewport.redraw(bpy.context)
