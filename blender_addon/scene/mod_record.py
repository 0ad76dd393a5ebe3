"""What each root exported into a mod, so that a later export may replace it.

It is kept in the .blend, on the root. Undo takes it from there, so it is also kept while the file is open.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import bpy
from bpy.app.handlers import persistent

from . import custom_properties

if TYPE_CHECKING:
    from .snapshot import Snapshot

MOST = 1000
"""The newest marks are kept: each is 64 letters in the .blend."""

_open_file: dict[str, dict[str, None]] = {}
"""By the number of a root, its marks from the oldest to the newest, as far as they came with the file being open."""


def marks(root: bpy.types.Object) -> frozenset[str]:
    """The marks (`core.merge.mark`) of all hulls and records that a root exported."""
    return frozenset(_known(root))


_in_mod: dict[int, Snapshot] = {}
"""By a root's session number, what the scene was like when the mod last took it."""


def note_written(context: bpy.types.Context, root: bpy.types.Object) -> None:
    """Notes that the mod folder now holds what a root shows."""
    from .snapshot import Snapshot

    _in_mod[root.session_uid] = Snapshot.take(context, root)


def is_current(context: bpy.types.Context, root: bpy.types.Object) -> bool:
    """Whether the mod folder holds what a root shows, as far as this session knows."""
    written = _in_mod.get(root.session_uid)
    return written is not None and not written.differs(context, root)


def remember(root: bpy.types.Object, new: Iterable[str]) -> None:
    """Adds marks to those of a root. One that lost its number gets none."""
    if custom_properties.root_id(root):
        _open_file.setdefault(custom_properties.root_id(root), {}).update(dict.fromkeys(new))
        _store(root)


def _known(root: bpy.types.Object) -> list[str]:
    stored = root.get(custom_properties.EXPORTED, "")
    old = str(stored).split() if isinstance(stored, str) else []
    return list(dict.fromkeys((*old, *_open_file.get(custom_properties.root_id(root), ()))))


def _store(root: bpy.types.Object) -> None:
    known = _known(root)
    if known and root.library is None:  # a linked root is another file's to change
        root[custom_properties.EXPORTED] = "\n".join(known[-MOST:])


@persistent
def _store_all(*_: object) -> None:
    if not _open_file:
        return
    for obj in bpy.data.objects:
        if custom_properties.kind(obj) in (custom_properties.HULL, custom_properties.SET):
            _store(obj)


@persistent
def _forget(*_: object) -> None:
    _open_file.clear()
    _in_mod.clear()


def register() -> None:
    bpy.app.handlers.save_pre.append(_store_all)
    bpy.app.handlers.load_post.append(_forget)


def unregister() -> None:
    bpy.app.handlers.save_pre.remove(_store_all)
    bpy.app.handlers.load_post.remove(_forget)
    _open_file.clear()
