"""What an export would change in the file that a root came from, in words, kept for the sidebar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
from bpy.app.handlers import persistent

from ..scene import custom_properties

if TYPE_CHECKING:
    from ...core.inspect.diff_hull import Difference
    from ..scene.snapshot import Snapshot

OF_GEOMETRY = ("surface ", "mesh ", "vertices", "triangles")
"""How differences begin that are the user's; the others follow from them."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The differences from the source, surfaces first, and what the scene held then."""

    lines: tuple[str, ...]
    snapshot: Snapshot


_listed: dict[int, Listed] = {}
"""By the root's session number, which survives undo and renaming."""


def find(context: bpy.types.Context, root: bpy.types.Object) -> Listed:
    """Compares what an export would write with the source, and keeps the result. Raises `SylpheedError` where an
    export is refused."""
    from ..scene.snapshot import Snapshot

    _listed.pop(root.session_uid, None)
    found = sorted(_differences(context, root), key=lambda difference: not difference.where.startswith(OF_GEOMETRY))
    _listed[root.session_uid] = Listed(tuple(map(str, found)), Snapshot.take(context, root))
    return _listed[root.session_uid]


def of(root: bpy.types.Object) -> Listed | None:
    """The last list of a root."""
    return _listed.get(root.session_uid)


def _differences(context: bpy.types.Context, root: bpy.types.Object) -> list[Difference]:
    from ...core.editing.options import Options
    from ...core.editing.rebuild_set import rebuild_set
    from ...core.inspect.diff_hull import diff_hulls, diff_sets
    from ..scene import exporting
    from ..scene.blender_remedies import blender_remedies

    if custom_properties.kind(root) == custom_properties.HULL:
        hull, rebuilt = exporting.rebuild_root(context, root, Options(), True)
        return diff_hulls(hull.source, rebuilt.hull)
    edited = exporting.read_set(context, root, True)
    with blender_remedies():
        return diff_sets(edited.source, rebuild_set(edited.source, edited.edits, edited.removed).library)


@persistent
def forget(*_: object) -> None:
    """Drops every list."""
    _listed.clear()


def register() -> None:
    bpy.app.handlers.load_post.append(forget)


def unregister() -> None:
    bpy.app.handlers.load_post.remove(forget)
    forget()
