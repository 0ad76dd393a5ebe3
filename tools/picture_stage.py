"""What the scenes of `picture_scenes` are played with: hands, a stage to play on, and a camera. Runs inside Blender."""

from __future__ import annotations

import importlib
import os
import shlex
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable, Generator
from pathlib import Path

import bmesh
import bpy
import numpy as np
from mathutils import Vector

WORK = Path(__file__).resolve().parent
PACKAGE = "bl_ext.user_default.sylpheed_collision"

Rectangle = tuple[int, int, int, int]
"""Left, bottom, right, top, in pixels of the window."""


# --- hands ----------------------------------------------------------------------------------------


def window() -> bpy.types.Window:
    return bpy.context.window_manager.windows[0]


def right() -> int:
    return window().width


def top() -> int:
    return window().height


def move(x: int, y: int) -> None:
    """Moves the mouse."""
    window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=int(x), y=int(y))


def click(x: int, y: int) -> None:
    """Clicks with the left button."""
    move(x, y)
    window().event_simulate(type="LEFTMOUSE", value="PRESS", x=int(x), y=int(y))
    window().event_simulate(type="LEFTMOUSE", value="RELEASE", x=int(x), y=int(y))


def fold_first_panels() -> Generator[float, None, None]:
    """Folds the sidebar's first two panels, which leaves more room for the others."""
    area = view_area()
    for line in (70, 97):
        click(area.x + area.width - 220, area.y + area.height - line)
        yield 1.0


# --- the scene ------------------------------------------------------------------------------------

GAME, MOD, PLAY = "//Project Sylpheed", "//My Mod", "//Emulator"
"""Beside the saved .blend: no path of a machine is in a picture."""

TOWARD_USER = Vector((0.65, -0.6, 0.45))
"""From the scene to the eye, in a new file's view."""


def view_area() -> bpy.types.Area:
    """The 3D view."""
    return next(area for area in window().screen.areas if area.type == "VIEW_3D")


def rectangle(area: bpy.types.Area) -> Rectangle:
    """Where an area is in the window."""
    return area.x, area.y, area.x + area.width, area.y + area.height


def in_view(run: Callable[[], object]) -> object:
    """Runs an operator as if the mouse were in the 3D view."""
    area = view_area()
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window(), area=area, region=region):
        return run()


def empty_scene() -> None:
    """A saved file without objects, beside a stand-in game folder that the preferences name."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    if not (WORK / GAME[2:]).exists():
        importlib.import_module(f"{PACKAGE}.core.samples.folder").write_sample(WORK / GAME[2:])
        shutil.copytree(WORK / GAME[2:], WORK / PLAY[2:])
        bpy.ops.wm.save_as_mainfile(filepath=str(WORK / "mod.blend"))
    preferences = bpy.context.preferences.addons[PACKAGE].preferences
    preferences.game_folder, preferences.mod_folder, preferences.play_folder = GAME, MOD, PLAY


def import_stage(**options: object) -> None:
    """Imports the first phase of S14, the map of all these pictures."""
    empty_scene()
    options = {"stage": "S14", "phase": "Phase_1", "parts": "STAGE"} | options
    in_view(lambda: bpy.ops.import_scene.sylpheed_stage(**options))


def hull_root() -> bpy.types.Object:
    """The root of the map."""
    return next(obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "hull")


def asteroids() -> list[bpy.types.Object]:
    """The asteroids of the map, by name."""
    return sorted((obj for obj in bpy.data.objects if "asteroid_" in obj.name), key=lambda obj: obj.name)


def centre(obj: bpy.types.Object) -> Vector:
    """The middle of an object, in the scene."""
    bpy.context.view_layer.update()
    return obj.matrix_world @ (sum((Vector(corner) for corner in obj.bound_box), Vector()) / 8)


def move_asteroid() -> None:
    """Moves an asteroid by one cell, and shows it as selected."""
    rock = asteroids()[4]
    rock.location.y += 10_000
    activate(rock)


def damage() -> None:
    """Faults for a check to find: a hole, and two asteroids that pass through each other."""
    *_, second, third, first = sorted(asteroids(), key=lambda rock: centre(rock).dot(TOWARD_USER))
    second.location += first.parent.matrix_world.inverted().to_3x3() @ (centre(third) - centre(second)) * 0.8
    mesh = bmesh.new()
    mesh.from_mesh(first.data)
    toward_user = first.matrix_world.to_3x3().inverted() @ TOWARD_USER
    face = max(mesh.faces, key=lambda face: face.normal.dot(toward_user))
    gone = {face, face.edges[0].link_faces[0], face.edges[0].link_faces[1]}
    bmesh.ops.delete(mesh, geom=list(gone), context="FACES_ONLY")
    mesh.to_mesh(first.data)
    mesh.free()
    activate(first)


def activate(obj: bpy.types.Object) -> None:
    """Makes an object the active and only selected one."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj


def zoom(steps: int) -> None:
    """Zooms the 3D view in, or out by fewer than no steps."""
    for _ in range(abs(steps)):
        in_view(lambda: bpy.ops.view3d.zoom(delta=1 if steps > 0 else -1))


def plain_view() -> Generator[float, None, None]:
    """The map alone, without gizmos, grid lines and tools."""
    zoom(2)
    space = view_area().spaces.active
    space.show_gizmo = space.show_region_toolbar = space.show_region_header = space.show_region_tool_header = False
    overlay = space.overlay
    overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = overlay.show_cursor = overlay.show_text = False
    overlay.show_relationship_lines = overlay.show_object_origins = False
    yield 1.0


def show_tab() -> Generator[float, None, None]:
    """Opens the sidebar at the extension's tab."""
    area = view_area()
    area.spaces.active.show_region_ui = True
    yield 0.5  # until it is drawn it has no tabs
    sidebar = next(region for region in area.regions if region.type == "UI")
    sidebar.active_panel_category = "Sylpheed"


# --- the picture ----------------------------------------------------------------------------------


def pixels() -> np.ndarray:
    """What the window shows, float32 (height, width, 4), the lowest row first."""
    path = str(WORK / "window.png")
    if grab := os.environ.get("GRAB"):
        subprocess.run([*shlex.split(grab), path], check=True)
    else:
        with bpy.context.temp_override(window=window()):
            bpy.ops.screen.screenshot(filepath=path, check_existing=False)
    image = bpy.data.images.load(path)
    width, height = image.size
    values = np.empty(4 * width * height, np.float32)
    image.pixels.foreach_get(values)
    bpy.data.images.remove(image)
    return values.reshape(height, width, 4)


def covered(before: np.ndarray, after: np.ndarray) -> Rectangle:
    """The rectangle that something opened over most of its extent, less what flickers elsewhere."""
    changed = (np.abs(before - after) > 0.1).any(axis=2)
    columns, rows = changed.sum(axis=0), changed.sum(axis=1)
    wide, high = np.flatnonzero(columns > columns.max() / 2), np.flatnonzero(rows > rows.max() / 2)
    return int(wide[0]), int(high[0]), int(wide[-1]) + 1, int(high[-1]) + 1


def save(name: str, values: np.ndarray) -> None:
    """Writes a picture as a PNG of 256 colours, which is a third of Blender's own and looks the same.

    `values`: float32 (height, width, 3 or 4), 0 to 1, the lowest row first.
    """
    steps = (values[::-1, :, :3] * 31 + 0.5).astype(np.int64)  # 5 bits each
    numbers = (steps[..., 0] << 10) + (steps[..., 1] << 5) + steps[..., 2]
    colours, where, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    known = np.stack((colours >> 10, colours >> 5 & 31, colours & 31), axis=1)
    kept = np.sort(np.argsort(-counts, kind="stable")[:256])
    nearest = np.concatenate(
        [((part[:, None] - known[kept]) ** 2).sum(axis=2).argmin(axis=1) for part in np.array_split(known, 64)]
    )
    height, width = numbers.shape
    lines = np.zeros((height, width + 1), np.uint8)  # each line begins with its filter, none
    lines[:, 1:] = nearest[where.reshape(height, width)]
    mean = (
        np.stack([np.bincount(where.ravel(), values[::-1, :, c].ravel()) for c in range(3)], axis=1) / counts[:, None]
    )
    palette = (mean[kept] * 255 + 0.5).astype(np.uint8)
    chunks = [(b"IHDR", struct.pack(">2I5B", width, height, 8, 3, 0, 0, 0)), (b"PLTE", palette.tobytes())]
    chunks += [(b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")]
    with open(WORK / f"{name}.png", "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, data in chunks:
            file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))


def dialog(open_it: Callable[[], object]) -> Generator[float, None, Rectangle]:
    """Opens a dialog in the middle of the window: the rectangle that it covers."""
    move(right() // 2, top() // 2)
    yield 1.0
    before = pixels()
    in_view(open_it)
    yield 1.0
    return covered(before, pixels())
