"""What the add-on costs in a scene that holds much else, against the same in a scene that holds the hull alone."""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

OTHERS = 2_000
ROUNDS = 5

Measured = tuple[str, float, float]
"""What was measured, what the ratio should reach, and the ratio."""


def scene_ratios(bpy: ModuleType, folder: Path, hull: Path) -> list[Measured]:
    """The ratios, from files of both kinds that are opened in turns."""
    empty, full = folder / "alone.blend", folder / "others.blend"
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.sylpheed_col(filepath=str(hull), cells="NONE")
    bpy.ops.wm.save_as_mainfile(filepath=str(empty))
    mesh = bpy.data.meshes.new("other")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    for number in range(OTHERS):
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(f"other {number}", mesh))
    bpy.ops.wm.save_as_mainfile(filepath=str(full))
    out = str(folder / "scene.col")

    def export() -> None:
        bpy.ops.export_scene.sylpheed_col(filepath=out)

    def with_modifier() -> None:
        _rock(bpy).modifiers.new("bevel", "TRIANGULATE")
        bpy.context.view_layer.update()

    def poll() -> None:
        for _ in range(1_000):
            bpy.ops.sylpheed.add_asteroid.poll()
            bpy.ops.sylpheed.fit_grid.poll()

    addon = "bl_ext.user_default.sylpheed_collision.blender_addon"
    last_check, revision = sys.modules[f"{addon}.checks.results"], sys.modules[f"{addon}.scene.revision"]
    results = []

    def check() -> None:
        bpy.ops.sylpheed.check()
        results[:] = [last_check.of(_rock(bpy).parent)]

    def panel() -> None:
        for _ in range(100):
            revision._note_change()  # so that each look compares again
            _ = results[0].edited

    def handler() -> None:
        graph = bpy.context.evaluated_depsgraph_get()
        ours = [call for call in bpy.app.handlers.depsgraph_update_post if call.__module__.startswith(addon)]
        assert ours
        for _ in range(1_000):
            for call in ours:
                call(bpy.context.scene, graph)

    nothing = lambda: None  # noqa: E731
    cases: list[tuple[str, float, Callable, Callable]] = [
        ("export a hull", 1.3, nothing, export),
        ("export a hull with a modifier", 1.3, with_modifier, export),
        ("poll of Add Asteroid and Fit Grid", 1.3, nothing, poll),
        ("the sidebar's look at a check", 1.3, check, panel),
        ("our handlers after a check", 1.3, check, handler),
    ]
    return [(what, bound, _ratio(bpy, (full, empty), prepare, work)) for what, bound, prepare, work in cases]


def _ratio(bpy: ModuleType, files: tuple[Path, Path], prepare: Callable, work: Callable) -> float:
    ratios = []
    for _ in range(ROUNDS):
        taken = []
        for file in files:
            bpy.ops.wm.open_mainfile(filepath=str(file))
            bpy.context.view_layer.objects.active = _rock(bpy)
            prepare()
            work()
            gc.collect()
            best = min(_seconds(work) for _ in range(3))
            taken.append(best)
        ratios.append(taken[0] / taken[1])
    return statistics.median(ratios)


def _seconds(work: Callable) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _rock(bpy: ModuleType):
    return next(obj for obj in bpy.data.objects if "asteroid" in obj.name)
