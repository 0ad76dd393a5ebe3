"""The hull that the overlay shows: as it would be exported, with the layers that show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...core.errors import SylpheedError
from ..scene import custom_properties, viewport
from ..scene.roots import by_uid, find_root
from .settings import settings

if TYPE_CHECKING:
    from ...core.editing.changes import Changes
    from ...core.formats.mcol import Hull
    from ...core.runtime import queries
    from ..scene import exporting
    from ..scene.navigation_object import Links
    from ..scene.snapshot import Snapshot
    from .legend import Row
    from .route_layers import Ways
    from .shapes import Layer

OF_THE_SCENE = "spheres"
"""The layer that is read from the scene, and so is never older than an edit."""


@dataclass(eq=False)
class Overlay:
    """A hull as it would be exported, and the layers that show it. Its root is known by Blender's number for it:
    references to objects don't outlive an undo, and a library may have another object of that name.

    `edit` is what the scene held then, also where an export of it is refused, and `changes` what differs in it from
    the source, found when it is first needed.

    `snapshot` is of the scene when the hull was read. `refusal` says why it is an earlier one. `refresh_wanted` is set
    where something asks for the hull as it is now, and drawing must not read it.
    """

    root: str = ""
    root_uid: int = 0
    hull: Hull | None = None
    refusal: str = ""
    snapshot: Snapshot | None = None
    rebuilds: int = 0
    refresh_wanted: bool = False
    cell_rows: list[Row] = field(default_factory=list)
    shot: queries.Shot | None = None
    ways: Ways | None = None
    links: Links | None = None
    edit: exporting.HullEdit | None = None
    changes: Changes | None = None
    layers: dict[str, list[Layer]] = field(default_factory=dict)
    dimmed: dict[str, list[Layer]] = field(default_factory=dict)
    place: queries.Place | None = None
    place_key: tuple = ()
    selection_changed: bool = True

    def drop_layer(self, name: str) -> None:
        """Has a layer made again when it is next needed."""
        self.layers.pop(name, None)
        self.dimmed.pop(name, None)


_overlay: Overlay | None = None


def current() -> Overlay | None:
    """The overlay, None while it is off."""
    return _overlay


def set_current(overlay: Overlay | None) -> None:
    """Makes this the overlay."""
    global _overlay
    _overlay = overlay


def root_shown(context: bpy.types.Context, overlay: Overlay) -> bpy.types.Object | None:
    """The root of the hull that is shown, None if none is or the root is no longer in the scene."""
    if overlay.hull is None:
        return None
    return by_uid(context.scene, overlay.root_uid)


def root_to_show(context: bpy.types.Context, overlay: Overlay) -> bpy.types.Object:
    """The active object's root or the only one; where neither decides, the one that is shown.

    Raises `SylpheedError` if there is none.
    """
    try:
        return find_root(context, custom_properties.HULL)
    except SylpheedError:
        root = by_uid(context.scene, overlay.root_uid)
        if root is None:
            raise
        return root


def is_outdated(context: bpy.types.Context, overlay: Overlay) -> bool:
    """Whether the hull was edited since it was read."""
    root = root_shown(context, overlay)
    return root is not None and overlay.snapshot is not None and overlay.snapshot.differs(context, root)


def rebuild(context: bpy.types.Context, overlay: Overlay) -> None:
    """Shows the hull as it would be exported; where that is refused, the last one that wasn't, and the reason.

    Raises `SylpheedError` if there is no hull.
    """
    from ...core.editing.options import Options
    from ..scene import exporting, sources
    from ..scene.snapshot import Snapshot
    from . import legend

    try:
        root = root_to_show(context, overlay)
    except SylpheedError:
        _show_nothing(overlay)
        raise
    if root.session_uid != overlay.root_uid:
        overlay.root_uid, overlay.hull = root.session_uid, None
    overlay.root, overlay.edit, overlay.changes = root.name, None, None
    try:
        overlay.edit = exporting.read_hull(context, root, True)
        overlay.hull, overlay.refusal = exporting.rebuild_edit(overlay.edit, Options()).hull, ""
    except SylpheedError as error:
        overlay.refusal = str(error)
        if overlay.hull is None:
            try:
                overlay.hull = sources.hull_source(root)
            except SylpheedError:
                _show_nothing(overlay)
                raise
    overlay.snapshot = Snapshot.take(context, root)
    overlay.rebuilds += 1
    overlay.cell_rows = legend.cell_rows(overlay.hull)
    overlay.layers, overlay.dimmed, overlay.shot, overlay.ways = {}, {}, None, None
    overlay.links = None
    overlay.selection_changed, overlay.refresh_wanted = True, False


def refresh(context: bpy.types.Context) -> None:
    """Shows the hull as the scene has it now. Does nothing while the overlay is off. Raises as `rebuild` does."""
    if _overlay is not None:
        rebuild(context, _overlay)
        viewport.redraw(context)


def bring_up_to_date(context: bpy.types.Context) -> None:
    """Reads the hull again if it was edited since. Raises as `rebuild` does."""
    if _overlay is not None and is_outdated(context, _overlay):
        refresh(context)


def _show_nothing(overlay: Overlay) -> None:
    overlay.root, overlay.root_uid, overlay.hull, overlay.snapshot = "", 0, None, None
    overlay.layers, overlay.dimmed, overlay.cell_rows, overlay.shot, overlay.ways = {}, {}, [], None, None
    overlay.edit, overlay.changes = None, None
    overlay.refresh_wanted = False


# --- layers ---------------------------------------------------------------------------------------


def visible_layers(context: bpy.types.Context, overlay: Overlay) -> list[Layer]:
    """The layers that the settings ask for, dimmed where they are older than the last edit."""
    from .shapes import dimmed

    old, edited = is_old(context, overlay), is_outdated(context, overlay)
    found = []
    for name in wanted_layers(context, overlay):
        layers = layers_of(context, overlay, name)
        if name != OF_THE_SCENE and (edited if name == "changes" else old):
            layers = overlay.dimmed.setdefault(name, [dimmed(layer) for layer in layers])
        found += layers
    return found


def is_old(context: bpy.types.Context, overlay: Overlay) -> bool:
    """Whether what is shown is another hull than what an export would write now, if it weren't refused."""
    return root_shown(context, overlay) is not None and (bool(overlay.refusal) or is_outdated(context, overlay))


def wanted_layers(context: bpy.types.Context, overlay: Overlay) -> list[str]:
    """The names of the layers that the settings ask for."""
    if root_shown(context, overlay) is None:
        return []
    shown = settings(context)
    wanted = {
        "cells": shown.cells,
        "rock": shown.rock,
        "cursor": shown.cursor and place_at_cursor(context, overlay) is not None,
        "spheres": shown.spheres,
        "changes": shown.changes and overlay.edit is not None,
        "shot": overlay.shot is not None,
        "route": overlay.ways is not None,
        "links": overlay.links is not None,
    }
    return [name for name, asked in wanted.items() if asked]


def layers_of(context: bpy.types.Context, overlay: Overlay, name: str) -> list[Layer]:
    """The layers of a name, made when they are first needed; none where there is nothing to show."""
    from . import grid_layers
    from .change_layers import change_layers
    from .navigation_layers import link_layers
    from .route_layers import route_layers
    from .selection import selected_spheres
    from .shot_layers import shot_layers

    if name == "spheres" and overlay.selection_changed:
        overlay.drop_layer(name)
        overlay.selection_changed = False
    hull, root = overlay.hull, root_shown(context, overlay)
    makers: dict[str, Callable[[], list[Layer]]] = {
        "cells": lambda: grid_layers.cell_layers(hull),
        "rock": lambda: grid_layers.rock_layers(hull),
        "cursor": lambda: grid_layers.place_layers(hull, overlay.place),
        "spheres": lambda: grid_layers.sphere_layers(selected_spheres(context, root)),
        "shot": lambda: shot_layers(hull, overlay.shot),
        "changes": lambda: change_layers(_changes(overlay)),
        "route": lambda: route_layers(overlay.ways),
        "links": lambda: link_layers(overlay.links),
    }
    if name not in overlay.layers:
        overlay.layers[name] = makers[name]()
    return overlay.layers[name]


def legend_rows(context: bpy.types.Context, overlay: Overlay) -> list[Row]:
    """The legend of what is shown, from top to bottom."""
    from . import legend
    from .navigation_layers import classes_of

    wanted = wanted_layers(context, overlay)
    rows = [legend.note("outdated")] if is_old(context, overlay) else []
    empty = [name for name in wanted if name in legend.NOTES and not layers_of(context, overlay, name)]
    if "cells" in wanted:
        rows += overlay.cell_rows
    rows += [legend.color_row(name) for name in wanted if name in legend.COLORS and name not in empty]
    if "cursor" in wanted and len(overlay.place.triangles):
        rows.append(legend.color_row("listed"))
    if "changes" in wanted:
        rows += legend.change_rows(_changes(overlay))
    if overlay.shot is not None:
        rows += legend.shot_rows(overlay.shot)
    if overlay.ways is not None:
        rows += legend.route_rows(overlay.ways)
    if overlay.links is not None:
        rows += [legend.color_row(name) for name, there in classes_of(overlay.links).items() if there]
    return rows + [legend.note(name) for name in empty]


def _changes(overlay: Overlay) -> Changes:
    """What the edit that was read last changed."""
    from ...core.editing.changes import find_changes

    if overlay.changes is None:
        overlay.changes = find_changes(overlay.edit.comparison)
    return overlay.changes


def show_shot(shot: queries.Shot | None) -> None:
    """Shows a shot through the hull, or none."""
    if _overlay is not None and _overlay.hull is not None:
        _overlay.shot = shot
        _overlay.drop_layer("shot")


def show_ways(ways: Ways | None) -> None:
    """Shows the ways of a ship, or none."""
    if _overlay is not None and _overlay.hull is not None:
        _overlay.ways = ways
        _overlay.drop_layer("route")


def show_links(links: Links | None) -> None:
    """Shows the links of a navigation volume, or none."""
    if _overlay is not None and _overlay.hull is not None:
        _overlay.links = links
        _overlay.drop_layer("links")


def place_at_cursor(context: bpy.types.Context, overlay: Overlay) -> queries.Place | None:
    """What the game knows of the 3D cursor's place, looked up again when it or the root moved. None where that has to
    wait until the hull is read again, as `refresh_wanted` then asks for."""
    from ...core.runtime import queries

    root = root_shown(context, overlay)
    if root is None:
        return None
    key = (overlay.rebuilds, context.scene.cursor.location[:], *(row[:] for row in root.matrix_world.row))
    if key == overlay.place_key:
        return overlay.place
    overlay.drop_layer("cursor")
    if is_outdated(context, overlay):
        overlay.place, overlay.refresh_wanted = None, True
        return None
    overlay.place_key = key
    try:
        point = np.array(viewport.in_root(root, context.scene.cursor.location))
    except SylpheedError:
        overlay.place = None
    else:
        overlay.place = queries.place(overlay.hull, point)
    return overlay.place
