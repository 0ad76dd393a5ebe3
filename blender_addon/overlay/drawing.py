"""The grid overlay of the 3D views. It makes no objects, and while it is off nothing of it is registered."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import blf
import bmesh
import bpy
import gpu
import numpy as np
from bpy.app.handlers import persistent
from gpu_extras.batch import batch_for_shader

from ...core.editing import rebuild_hull
from ...core.errors import FormatError
from ...core.formats import mcol
from ...core.geometry.spheres import triangle_spheres
from ...core.runtime import queries
from ..scene import custom_properties, exporting, mesh_arrays, sources, viewport
from ..scene.roots import by_uid, find_root
from ..translations import label_text
from . import grid_layers
from .settings import settings

MOST_SPHERES = 1_000
DELAY = 0.15
"""Seconds of rest after an edit before the grid follows it."""

ECHO = 1.0
"""Seconds within which Blender may report reading the scene as a change of it."""


@dataclass(eq=False)
class Overlay:
    """A hull as it would be exported, and the layers that show it. Its root is known by Blender's number for it:
    references to objects don't outlive an undo, and a library may have another object of that name."""

    root: str = ""
    root_uid: int = 0
    hull: mcol.Hull | None = None
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
_draw_handles: list = []


def current() -> Overlay | None:
    """The overlay, None while it is off."""
    return _overlay


def turn_on(context: bpy.types.Context) -> None:
    """Registers what the overlay needs, and shows the hull of the active object or the only one. If it is on, that
    hull is read only where another or none is shown.

    Raises `FormatError` if there is none, and stays off then, or on without a hull.
    """
    global _overlay
    if _overlay is not None:
        shown = root_shown(context, _overlay)
        if shown is None or shown != _root_to_show(context, _overlay):
            refresh(context)
        return
    overlay = Overlay()
    _rebuild(context, overlay)
    _overlay = overlay
    for draw, kind in ((_draw_view, "POST_VIEW"), (_draw_legend, "POST_PIXEL")):
        _draw_handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", kind))
    for handlers, call in _handlers():
        handlers.append(call)
    viewport.redraw(context)


def turn_off() -> None:
    """Takes all of it away again."""
    global _overlay
    if _overlay is None:
        return
    _overlay = None
    while _draw_handles:
        bpy.types.SpaceView3D.draw_handler_remove(_draw_handles.pop(), "WINDOW")
    for handlers, call in _handlers():
        if call in handlers:
            handlers.remove(call)
    if bpy.app.timers.is_registered(_follow):
        bpy.app.timers.unregister(_follow)
    viewport.redraw(bpy.context)


def refresh(context: bpy.types.Context) -> None:
    """Shows the hull as the scene has it now. Does nothing while the overlay is off."""
    if _overlay is not None:
        _rebuild(context, _overlay)
        viewport.redraw(context)


def root_shown(context: bpy.types.Context, overlay: Overlay) -> bpy.types.Object | None:
    """The root of the hull that is shown, None if none is or the root is no longer in the scene."""
    if overlay.hull is None:
        return None
    return by_uid(context.scene, overlay.root_uid)


def show_shot(shot: queries.Shot | None) -> None:
    """Shows a shot through the hull, or none."""
    if _overlay is not None and _overlay.hull is not None:
        _overlay.shot = shot
        _overlay.layers["shot"] = grid_layers.shot_layers(_overlay.hull, shot) if shot else []


def place_at_cursor(context: bpy.types.Context, overlay: Overlay) -> queries.Place | None:
    """What the game knows of the 3D cursor's place, worked out anew when it or the root moved."""
    root = root_shown(context, overlay)
    if root is None:
        return None
    key = (overlay.rebuilds, context.scene.cursor.location[:], *(row[:] for row in root.matrix_world))
    if key != overlay.place_key:
        overlay.place_key = key
        try:
            point = np.array(viewport.in_root(root, context.scene.cursor.location))
        except FormatError:
            overlay.place = None
        else:
            overlay.place = queries.place(overlay.hull, point)
        overlay.layers.pop("cursor", None)
    return overlay.place


# --- what is shown --------------------------------------------------------------------------------


def _rebuild(context: bpy.types.Context, overlay: Overlay) -> None:
    """The hull as it would be exported; where that is refused, the last one that was not, and the reason."""
    try:
        root = _root_to_show(context, overlay)
    except FormatError:
        _show_nothing(overlay)
        raise
    if root.session_uid != overlay.root_uid:
        overlay.root_uid, overlay.hull, overlay.shot = root.session_uid, None, None
    overlay.root = root.name
    overlay.objects = len(context.scene.objects)
    try:
        exported = exporting.export_hull(context, root, rebuild_hull.Options(), True)
        overlay.hull, overlay.refusal = mcol.decode(exported.data), ""
    except FormatError as error:
        overlay.refusal = str(error)
        if overlay.hull is None:
            try:
                overlay.hull = sources.hull_source(root)
            except FormatError:
                _show_nothing(overlay)
                raise
    overlay.rebuilds += 1
    overlay.rebuilt_at = time.monotonic()
    overlay.layers = {}
    overlay.legend = grid_layers.legend(grid_layers.list_lengths(overlay.hull))
    overlay.selection_changed = True
    overlay.shot = None


def _show_nothing(overlay: Overlay) -> None:
    overlay.root, overlay.root_uid, overlay.hull = "", 0, None
    overlay.layers, overlay.legend, overlay.shot = {}, [], None


def _root_to_show(context: bpy.types.Context, overlay: Overlay) -> bpy.types.Object:
    """The active object's root or the only one; where neither tells, the one that is shown."""
    try:
        return find_root(context, custom_properties.HULL)
    except FormatError:
        root = by_uid(context.scene, overlay.root_uid)
        if root is None:
            raise
        return root


def visible_layers(context: bpy.types.Context, overlay: Overlay) -> list[grid_layers.Layer]:
    """The layers that the settings ask for, each made when it is first needed."""
    shown, hull = settings(context), overlay.hull
    if root_shown(context, overlay) is None:
        return []
    found = place_at_cursor(context, overlay) if shown.cursor else None
    if overlay.selection_changed:
        overlay.layers.pop("spheres", None)
        overlay.selection_changed = False
    makers = {
        "cells": (shown.cells, lambda: grid_layers.cell_layers(hull)),
        "rock": (shown.rock, lambda: grid_layers.rock_layers(hull)),
        "cursor": (found is not None, lambda: grid_layers.place_layers(hull, found)),
        "spheres": (shown.spheres, lambda: grid_layers.sphere_layers(_selected_spheres(context, overlay))),
        "shot": (overlay.shot is not None, lambda: grid_layers.shot_layers(hull, overlay.shot)),
    }
    layers = []
    for name, (wanted, make) in makers.items():
        if wanted:
            if name not in overlay.layers:
                overlay.layers[name] = make()
            layers += overlay.layers[name]
    return layers


def _selected_spheres(context: bpy.types.Context, overlay: Overlay) -> np.ndarray:
    """Spheres around the triangles of the faces selected in edit mode, or of the selected objects, (n, 4)."""
    root = root_shown(context, overlay)
    editing = context.mode == "EDIT_MESH"
    objects = context.objects_in_mode_unique_data if editing else context.selected_objects
    spheres, room = [np.zeros((0, 4), np.float32)], MOST_SPHERES
    for obj in objects or ():
        if obj.type != "MESH" or custom_properties.kind(obj) == custom_properties.SHOWN or not _is_below(obj, root):
            continue
        corners = _selected_corners(obj) if editing else _all_corners(obj)
        if not len(corners):
            continue
        to_root = np.linalg.solve(np.array(root.matrix_world, np.float64), np.array(obj.matrix_world, np.float64))
        points = (corners[:room].reshape(-1, 3) @ to_root[:3, :3].T + to_root[:3, 3]).astype(np.float32)
        spheres.append(triangle_spheres(points, np.arange(len(points)).reshape(-1, 3)))
        room -= len(points) // 3
    return np.concatenate(spheres)


def _selected_corners(obj: bpy.types.Object) -> np.ndarray:
    """Corners of the selected triangles, (n, 3, 3). A mesh in edit mode has no arrays to read, hence the loop."""
    mesh = bmesh.from_edit_mesh(obj.data)
    triangles = [loops for loops in mesh.calc_loop_triangles() if loops[0].face.select][:MOST_SPHERES]
    return np.array([[loop.vert.co for loop in loops] for loops in triangles], np.float64).reshape(-1, 3, 3)


def _all_corners(obj: bpy.types.Object) -> np.ndarray:
    arrays = mesh_arrays.read_mesh(obj.data)
    return arrays.vertices.astype(np.float64)[arrays.triangles[:MOST_SPHERES]]


def _is_below(obj: bpy.types.Object, root: bpy.types.Object | None) -> bool:
    while obj is not None and obj != root:
        obj = obj.parent
    return obj is not None


# --- following edits ------------------------------------------------------------------------------


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
    overlay = _overlay
    if overlay is None:
        return
    overlay.selection_changed = True
    if not settings(bpy.context).follow or scene != bpy.context.scene:
        return
    root = by_uid(bpy.context.scene, overlay.root_uid)
    # To read an edited or modified mesh, copies come and go, and Blender then reports every object with the scene.
    if depsgraph.id_type_updated("SCENE"):
        since, overlay.rebuilt_at = time.monotonic() - overlay.rebuilt_at, -ECHO
        if since < ECHO and len(scene.objects) == overlay.objects:
            return
    edited = any(
        (update.is_updated_geometry or update.is_updated_transform)
        and isinstance(update.id, bpy.types.Object)
        and update.id.original != root
        and _is_below(update.id.original, root)
        for update in depsgraph.updates
    )
    if edited or len(scene.objects) != overlay.objects:
        _later()


@persistent
def _everything_changed(*_: object) -> None:
    if _overlay is not None:
        _later()


def _later() -> None:
    """Follows after a rest: neither handlers nor drawing may change data, and a drag makes many updates."""
    if bpy.app.timers.is_registered(_follow):
        bpy.app.timers.unregister(_follow)
    bpy.app.timers.register(_follow, first_interval=DELAY)


def _follow() -> None:
    try:
        refresh(bpy.context)
    except FormatError:
        pass  # no hull any more: nothing is shown, and the panel says so
    viewport.redraw(bpy.context)


# --- drawing --------------------------------------------------------------------------------------


def _draw_view() -> None:
    context, overlay = bpy.context, _overlay
    if overlay is None or not context.space_data.overlay.show_overlays:
        return
    active = context.view_layer.objects.active
    while active is not None and custom_properties.kind(active) != custom_properties.HULL:
        active = active.parent
    if active is not None and active.session_uid != overlay.root_uid:
        _later()
    root = root_shown(context, overlay)
    if root is None:
        return
    with gpu.matrix.push_pop():
        gpu.matrix.multiply_matrix(root.matrix_world)
        gpu.state.blend_set("ALPHA")
        for layer in visible_layers(context, overlay):
            gpu.state.depth_test_set("NONE" if layer.in_front else "LESS_EQUAL")
            _draw_layer(layer)
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("NONE")


def _draw_layer(layer: grid_layers.Layer) -> None:
    wide = layer.kind == "LINES" and layer.width > 1
    uniform = isinstance(layer.color, tuple)
    name = "POLYLINE_UNIFORM_COLOR" if wide else "UNIFORM_COLOR" if uniform else "FLAT_COLOR"
    shader = gpu.shader.from_builtin(name)
    if layer.batch is None:
        content = {"pos": layer.points} if uniform else {"pos": layer.points, "color": layer.color}
        layer.batch = batch_for_shader(shader, layer.kind, content)
    shader.bind()
    if uniform:
        shader.uniform_float("color", layer.color)
    if wide:
        shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
        shader.uniform_float("lineWidth", layer.width)
    layer.batch.draw(shader)


def _draw_legend() -> None:
    context, overlay = bpy.context, _overlay
    if overlay is None or not context.space_data.overlay.show_overlays:
        return
    if not settings(context).cells or root_shown(context, overlay) is None:
        return
    scale = context.preferences.system.ui_scale
    line, font = 18 * scale, 0
    sidebar = sum(region.width for region in context.area.regions if region.type == "UI" and region.width > 1)
    x = context.region.width - sidebar - 170 * scale
    y = 20 * scale
    blf.size(font, 12 * scale)
    blf.enable(font, blf.SHADOW)
    blf.shadow(font, 3, 0.0, 0.0, 0.0, 0.8)
    rows = [*reversed(overlay.legend), ((1.0, 1.0, 1.0, 1.0), label_text("Triangles in a cell"))]
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    for number, (color, text) in enumerate(rows):
        bottom = y + number * line
        if number < len(overlay.legend):
            square = [(x - 18 * scale, bottom), (x - 6 * scale, bottom), (x - 18 * scale, bottom + 11 * scale)]
            square += [square[2], square[1], (x - 6 * scale, bottom + 11 * scale)]
            shader.bind()
            shader.uniform_float("color", (*color[:3], 1.0))
            batch_for_shader(shader, "TRIS", {"pos": square}).draw(shader)
        blf.color(font, 1.0, 1.0, 1.0, 1.0)
        blf.position(font, x if number < len(overlay.legend) else x - 18 * scale, bottom, 0)
        blf.draw(font, text)
    blf.disable(font, blf.SHADOW)
