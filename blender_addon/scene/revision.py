"""A number that counts up with each change of anything that Blender reports."""

from __future__ import annotations

from collections.abc import Callable

import bpy
from bpy.app.handlers import persistent

_revision = 0


def current() -> int:
    """The number now: as long as it stays, Blender reported no change."""
    return _revision


@persistent
def _note_change(*_: object) -> None:
    global _revision
    _revision += 1


HANDLERS: tuple[tuple[str, Callable], ...] = (
    ("depsgraph_update_post", _note_change),
    ("undo_post", _note_change),
    ("redo_post", _note_change),
    ("load_post", _note_change),
)


def register() -> None:
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
