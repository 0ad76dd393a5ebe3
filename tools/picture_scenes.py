"""The scenes of `tools/pictures.py`: this runs inside a windowed Blender, which takes one picture and quits.

A scene is a generator: it yields the seconds that Blender needs to draw, and returns the rectangle to keep, or None for
the whole window. The user's hands are `window.event_simulate`.
"""

from __future__ import annotations

import importlib
import os
import shlex
import shutil
import struct
import subprocess
import sys
import traceback
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
Scene = Generator[float, None, Rectangle | None]

SCENES: dict[str, Callable[[], Scene]] = {}


def picture(name: str) -> Callable[[Callable[[], Scene]], Callable[[], Scene]]:
    """Names a scene as its file."""

    def add(scene: Callable[[], Scene]) -> Callable[[], Scene]:
        SCENES[name] = scene
        return scene

    return add


# --- the scenes -----------------------------------------------------------------------------------


@picture("import-menu")
def import_menu() -> Scene:
    import_stage()
    yield 1.0
    click(46, top() - 14)
    yield 0.5
    click(80, top() - 311)
    yield 1.0
    return None


@picture("stage-dialog")
def stage_dialog() -> Scene:
    empty_scene()
    return (
        yield from dialog(
            lambda: bpy.ops.import_scene.sylpheed_stage("INVOKE_DEFAULT", directory=GAME, stage="S14", phase="Phase_1")
        )
    )


@picture("first-view")
def first_view() -> Scene:
    yield from show_tab()
    import_stage()
    yield 1.0
    return None


@picture("sidebar")
def sidebar() -> Scene:
    yield from show_tab()
    import_stage(parts="NONE")
    damage()
    in_view(bpy.ops.sylpheed.check)
    yield 0.5
    in_view(lambda: bpy.ops.sylpheed.select_problem(check="open edges"))
    zoom(-3)
    yield from fold_first_panels()
    yield 1.0
    return rectangle(view_area())


@picture("deploy")
def deploy() -> Scene:
    yield from show_tab()
    import_stage(parts="NONE")
    move_asteroid()
    bpy.ops.export_scene.sylpheed_mod()
    yield 1.0
    bpy.ops.sylpheed.deploy()
    yield 4.0  # what is known of a folder counts for a while
    _, _, edge, high = rectangle(view_area())
    move(edge - 100, high - 200)
    yield 1.0
    return edge - 284, high - 290, edge - 28, high - 56  # without the paths of the last result


@picture("mod-dialog")
def mod_dialog() -> Scene:
    import_stage()
    move_asteroid()
    return (yield from dialog(lambda: bpy.ops.export_scene.sylpheed_mod("INVOKE_DEFAULT", directory=MOD, game=GAME)))


@picture("before-after")
def before_after() -> Scene:
    import_stage(parts="NONE")
    yield from plain_view()
    before = pixels()
    move_asteroid()
    yield 1.0
    after = pixels()
    left, low, edge, high = rectangle(view_area())
    margin = max(edge - left - (high - low), 0) // 2  # of squares
    parts = [values[low + 8 : high - 32, left + margin : edge - margin] for values in (before, after)]
    save("before-after", np.concatenate(parts, axis=1))
    return None


@picture("grid-overlay")
def grid_overlay() -> Scene:
    yield from show_tab()
    import_stage(parts="NONE")
    zoom(1)
    bpy.context.scene.cursor.location = hull_root().matrix_world @ Vector((8_000.0, -3_000.0, 8_000.0))
    in_view(bpy.ops.sylpheed.show_grid)
    yield from fold_first_panels()
    yield 1.0
    return rectangle(view_area())


@picture("shoot")
def shoot() -> Scene:
    yield from show_tab()
    import_stage(parts="NONE")
    zoom(1)
    target = np.array(hull_root().matrix_world.inverted() @ centre(asteroids()[3]))
    step = np.array((9_000.0, 2_500.0, 7_000.0))
    in_view(lambda: bpy.ops.sylpheed.shoot(start=tuple(target + step), movement=tuple(-1.6 * step), radius=150.0))
    settings = bpy.context.window_manager.sylpheed_grid
    settings.cells = settings.cursor = False
    yield from fold_first_panels()
    yield 1.0
    return rectangle(view_area())


@picture("route")
def route() -> Scene:
    yield from show_tab()
    empty_scene()
    hull = WORK / GAME[2:] / "loose" / "S14_p1_AsteroidVolume_wp.col"
    navigation = importlib.import_module(f"{PACKAGE}.core.cli.navigation")
    navigation.write_navigation(navigation.Sources(hull), hull.with_suffix(".rgn"), lambda part: None)
    in_view(lambda: bpy.ops.import_scene.sylpheed_col(filepath=str(hull)))
    rock = asteroids()[18]
    rock.location.x += 8_000  # into the way
    activate(rock)
    zoom(3)
    target = np.array(hull_root().matrix_world.inverted() @ centre(rock))
    step = 7_600 * np.array((0.63, 0.32, -0.71))
    in_view(lambda: bpy.ops.sylpheed.route(start=tuple(target - step), goal=tuple(target + step)))
    settings = bpy.context.window_manager.sylpheed_grid
    settings.cells = settings.cursor = False
    yield from fold_first_panels()
    yield 1.0
    return rectangle(view_area())


@picture("japanese")
def japanese() -> Scene:
    bpy.context.preferences.view.language = "ja_JP"
    yield from show_tab()
    import_stage(parts="NONE")
    damage()
    in_view(bpy.ops.sylpheed.check)
    yield 1.0
    return rectangle(view_area())


@picture("preferences")
def preferences() -> Scene:
    empty_scene()
    bpy.context.preferences.active_section = "ADDONS"
    bpy.context.window_manager.addon_search = "Sylpheed"
    view_area().ui_type = "PREFERENCES"
    yield 0.5
    area = next(area for area in window().screen.areas if area.type == "PREFERENCES")
    click(area.x + 188, area.y + area.height - 82)  # unfolds the only row
    yield 1.0
    left, _, edge, high = rectangle(area)
    return left + 170, high - 386, edge, high - 248  # without the path of the file


def dialog(open_it: Callable[[], object]) -> Generator[float, None, Rectangle]:
    """Opens a dialog in the middle of the window: the rectangle that it covers."""
    move(right() // 2, top() // 2)
    yield 1.0
    before = pixels()
    in_view(open_it)
    yield 1.0
    return covered(before, pixels())


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


def run(name: str, language: str) -> None:
    """Installs the extension, plays the scene, takes the picture, quits."""
    preferences = bpy.context.preferences
    preferences.view.show_splash = False
    preferences.view.smooth_view = 0
    preferences.view.language = language
    bpy.ops.extensions.package_install_files(
        filepath=str(WORK / "extension.zip"), repo="user_default", enable_on_install=True
    )
    scene = SCENES[name]()

    def step() -> float | None:
        try:
            return next(scene)
        except StopIteration as end:
            if not (WORK / f"{name}.png").exists():
                values = pixels()
                left, low, edge, high = end.value or (0, 0, values.shape[1], values.shape[0])
                save(name, values[low:high, left:edge])
        except Exception:
            traceback.print_exc()
            sys.stdout.flush()
        os._exit(0)  # Blender would ask about unsaved changes

    bpy.app.timers.register(step, first_interval=1.5, persistent=True)


if __name__ == "__main__":
    run(*sys.argv[sys.argv.index("--") + 1 :])
