"""What Blender calls to draw the overlay into each 3D view. It changes no data."""

from __future__ import annotations

import blf
import bpy
import gpu
from gpu_extras.batch import batch_for_shader

from ..scene import custom_properties
from ..scene.roots import root_of
from ..translations import label_text
from . import following, state
from .grid_layers import Layer
from .settings import settings

_handles: list = []


def start() -> None:
    """Has the overlay drawn."""
    for draw, kind in ((_draw_view, "POST_VIEW"), (_draw_legend, "POST_PIXEL")):
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", kind))


def stop() -> None:
    """Has it drawn no longer."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")


def _draw_view() -> None:
    context, overlay = bpy.context, state.current()
    if overlay is None or not context.space_data.overlay.show_overlays:
        return
    active = root_of(context.view_layer.objects.active)
    is_hull = active is not None and custom_properties.kind(active) == custom_properties.HULL
    if is_hull and active.session_uid != overlay.root_uid:
        following.later()
    root = state.root_shown(context, overlay)
    if root is None:
        return
    with gpu.matrix.push_pop():
        gpu.matrix.multiply_matrix(root.matrix_world)
        gpu.state.blend_set("ALPHA")
        for layer in state.visible_layers(context, overlay):
            gpu.state.depth_test_set("NONE" if layer.in_front else "LESS_EQUAL")
            _draw_layer(layer)
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("NONE")


def _draw_layer(layer: Layer) -> None:
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
    context, overlay = bpy.context, state.current()
    if overlay is None or not context.space_data.overlay.show_overlays:
        return
    if not settings(context).cells or state.root_shown(context, overlay) is None:
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
