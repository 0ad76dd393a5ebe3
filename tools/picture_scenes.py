"""The scenes of `tools/pictures.py`, which run inside a windowed Blender. Each takes one picture.

A scene is a generator: it yields the seconds that Blender needs to draw, and returns the rectangle to keep, or None for
the whole window. The user's hands are `window.event_simulate`.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Generator

import bpy
import numpy as np
from mathutils import Vector
from picture_stage import (
    GAME,
    MOD,
    PACKAGE,
    WORK,
    Rectangle,
    activate,
    asteroids,
    centre,
    click,
    damage,
    dialog,
    empty_scene,
    fold_first_panels,
    hull_root,
    import_stage,
    in_view,
    move_asteroid,
    pixels,
    plain_view,
    rectangle,
    save,
    show_tab,
    top,
    view_area,
    window,
    zoom,
)

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
    view_area().tag_redraw()
    yield 1.0
    return edge - 284, high - 342, edge - 28, high - 56  # without the paths of the last result


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


@picture("changes")
def changes() -> Scene:
    yield from show_tab()
    import_stage(parts="NONE")
    rocks = asteroids()
    rocks[18].location.x += 8_000
    bpy.data.objects.remove(rocks[4])
    in_view(lambda: bpy.ops.sylpheed.add_asteroid(location=(3_000.0, 9_000.0, 12_000.0)))
    zoom(2)
    in_view(bpy.ops.sylpheed.show_changes)
    settings = bpy.context.window_manager.sylpheed_grid
    settings.cells = settings.cursor = False
    in_view(bpy.ops.sylpheed.list_changes)
    yield 1.5
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


@picture("navigation")
def navigation() -> Scene:
    yield from show_tab()
    import_stage(parts="NONE")
    asteroids()[18].location.x += 8_000
    zoom(2)
    in_view(bpy.ops.sylpheed.show_navigation)
    in_view(bpy.ops.sylpheed.check)
    settings = bpy.context.window_manager.sylpheed_grid
    settings.cells = settings.cursor = False
    yield from fold_first_panels()
    yield 1.0
    return rectangle(view_area())


@picture("set-rows")
def set_rows() -> Scene:
    yield from show_tab()
    empty_scene()
    library = WORK / GAME[2:] / "loose" / "CollisionSet_S01.bin"
    in_view(lambda: bpy.ops.import_scene.sylpheed_set(filepath=str(library)))
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
