"""The hull that the overlay shows: as it would be exported, with the layers that show it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import bpy
import numpy as np

from ...core.editing.rebuild_hull import Options
from ...core.errors import SylpheedError
from ...core.formats.mcol import Hull
from ...core.runtime import queries
from ..scene import custom_properties, exporting, sources, viewport
from ..scene.roots import by_uid, find_root
from . import grid_layers
from .selection import selected_spheres
from .settings import settings

ECHO = 1.0
"""Seconds within which Blender may report reading the scene as a change of it."""


@dataclass(eq=False)
class Overlay:
    """A hull as it would be exported, and the layers that show it. Its root is known by Blender's number for it:
    references to objects don't outlive an undo, and a library may have another object of that name."""

    root: str = ""
    root_uid: int = 0
    hull: Hull | None = None
    refusal: str = ""
    objects: int = 0
    rebuilds: int = 0
    rebuilt_at: float = -ECHO
    legend: list[tuple[grid_layers.Color, str]] = field(default_factory=list)
    shot: queries.Shot | None = None
    layers: dict[str, list[grid_layers.Layer]] = field(default_factory=dict)
    place: queries.Place | None = None
    place_key: tuple = ()
    selection_changed: bool = True


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


def rebuild(context: bpy.types.Context, overlay: Overlay) -> None:
    """Shows the hull as it would be exported; where that is refused, the last one that wasn't, and the reason.

    Raises `SylpheedError` if there is no hull.
    """
    try:
        root = root_to_show(context, overlay)
    except SylpheedError:
        _show_nothing(overlay)
        raise
    if root.session_uid != overlay.root_uid:
        overlay.root_uid, overlay.hull, overlay.shot = root.session_uid, None, None
    overlay.root = root.name
    overlay.objects = len(context.scene.objects)
    try:
        _, rebuilt = exporting.rebuild_root(context, root, Options(), True)
        overlay.hull, overlay.refusal = rebuilt.hull, ""
    except SylpheedError as error:
        overlay.refusal = str(error)
        if overlay.hull is None:
            try:
                overlay.hull = sources.hull_source(root)
            except SylpheedError:
                _show_nothing(overlay)
                raise
    overlay.rebuilds += 1
    overlay.rebuilt_at = time.monotonic()
    overlay.layers = {}
    overlay.legend = grid_layers.legend(grid_layers.list_lengths(overlay.hull))
    overlay.selection_changed = True
    overlay.shot = None


def refresh(context: bpy.types.Context) -> None:
    """Shows the hull as the scene has it now. Does nothing while the overlay is off. Raises as `rebuild` does."""
    if _overlay is not None:
        rebuild(context, _overlay)
        viewport.redraw(context)


def _show_nothing(overlay: Overlay) -> None:
    overlay.root, overlay.root_uid, overlay.hull = "", 0, None
    overlay.layers, overlay.legend, overlay.shot = {}, [], None


# --- layers ---------------------------------------------------------------------------------------


def visible_layers(context: bpy.types.Context, overlay: Overlay) -> list[grid_layers.Layer]:
    """The layers that the settings ask for, each made when it is first needed."""
    shown, hull = settings(context), overlay.hull
    root = root_shown(context, overlay)
    if root is None:
        return []
    found = place_at_cursor(context, overlay) if shown.cursor else None
    if overlay.selection_changed:
        overlay.layers.pop("spheres", None)
        overlay.selection_changed = False
    makers = {
        "cells": (shown.cells, lambda: grid_layers.cell_layers(hull)),
        "rock": (shown.rock, lambda: grid_layers.rock_layers(hull)),
        "cursor": (found is not None, lambda: grid_layers.place_layers(hull, found)),
        "spheres": (shown.spheres, lambda: grid_layers.sphere_layers(selected_spheres(context, root))),
        "shot": (overlay.shot is not None, lambda: grid_layers.shot_layers(hull, overlay.shot)),
    }
    layers = []
    for name, (wanted, make) in makers.items():
        if wanted:
            if name not in overlay.layers:
                overlay.layers[name] = make()
            layers += overlay.layers[name]
    return layers


def show_shot(shot: queries.Shot | None) -> None:
    """Shows a shot through the hull, or none."""
    if _overlay is not None and _overlay.hull is not None:
        _overlay.shot = shot
        _overlay.layers.pop("shot", None)


def place_at_cursor(context: bpy.types.Context, overlay: Overlay) -> queries.Place | None:
    """What the game knows of the 3D cursor's place, looked up again when it or the root moved."""
    root = root_shown(context, overlay)
    if root is None:
        return None
    key = (overlay.rebuilds, context.scene.cursor.location[:], *(row[:] for row in root.matrix_world))
    if key != overlay.place_key:
        overlay.place_key = key
        try:
            point = np.array(viewport.in_root(root, context.scene.cursor.location))
        except SylpheedError:
            overlay.place = None
        else:
            overlay.place = queries.place(overlay.hull, point)
        overlay.layers.pop("cursor", None)
    return overlay.place
