"""What Blender calls to draw the overlay into each 3D view. It changes no data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import blf
import bpy
import gpu
from gpu_extras.batch import batch_for_shader

from ..scene import custom_properties
from ..scene.roots import root_of
from . import following, state

if TYPE_CHECKING:
    from .shapes import Color, Layer

FONT = 0
LINE, SQUARE = 18, 11
"""Height of a row of the legend, and side of a colour's square, in pixels of an unscaled interface."""

BACKGROUND: Color = (0.0, 0.0, 0.0, 0.6)

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
    if overlay.refresh_wanted:
        following.later()


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
    rows = state.legend_rows(context, overlay)
    if not rows:
        return
    scale = context.preferences.system.ui_scale
    line, square = LINE * scale, SQUARE * scale
    blf.size(FONT, 12 * scale)
    blf.color(FONT, 1.0, 1.0, 1.0, 1.0)
    indents = [1.5 * square if row.color else 0.0 for row in rows]
    width = max(blf.dimensions(FONT, row.text)[0] + indent for row, indent in zip(rows, indents, strict=True))
    sidebar = sum(region.width for region in context.area.regions if region.type == "UI" and region.width > 1)
    left, bottom = context.region.width - sidebar - width - line, 1.2 * line
    gpu.state.blend_set("ALPHA")
    _fill(left - line / 2, bottom - line / 2, width + line, len(rows) * line + line / 2, BACKGROUND)
    for number, (row, indent) in enumerate(zip(reversed(rows), reversed(indents), strict=True)):
        y = bottom + number * line
        if row.color:
            _fill(left, y, square, square, (*row.color[:3], 1.0))
        blf.position(FONT, left + indent, y, 0)
        blf.draw(FONT, row.text)
    gpu.state.blend_set("NONE")


def _fill(x: float, y: float, width: float, height: float, color: Color) -> None:
    """Fills a rectangle of the region, in pixels."""
    corners = [(x, y), (x + width, y), (x, y + height), (x + width, y + height)]
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    shader.bind()
    shader.uniform_float("color", color)
    batch_for_shader(shader, "TRI_STRIP", {"pos": corners}).draw(shader)
