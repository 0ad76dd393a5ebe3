"""The main job from end to end, in real Blender: `python build.py demo` runs this.

Writes stand-in game files, installs the built extension as a user would, imports a hull, moves one asteroid,
exports the hull, verifies it, and leaves a .blend and a picture of before and after. Nothing of the game is needed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HULL = "S14_p1_AsteroidVolume_wp"
ASTEROIDS = "asteroid_"
PICTURE = (640, 640)
SAMPLES = 16


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zip", type=Path, required=True, help="the built extension")
    parser.add_argument("--out", type=Path, required=True, help="the folder for the results, emptied first")
    options = parser.parse_args()
    started = time.monotonic()
    out = options.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as user_folder:
        os.environ["BLENDER_USER_RESOURCES"] = user_folder  # read by Blender while it is imported
        return run(options.zip.resolve(), out, started)


def run(zip_path: Path, out: Path, started: float) -> int:
    import bpy

    from core.samples.folder import write_sample

    game = out / "game"
    write_sample(game)
    say(f"stand-in game folder  {shown(game)}")
    quietly(
        bpy.ops.extensions.package_install_files, filepath=str(zip_path), repo="user_default", enable_on_install=True
    )
    say(f"extension             {zip_path.name} installed in Blender {bpy.app.version_string}")

    source = game / "loose" / f"{HULL}.col"
    bpy.ops.wm.read_homefile(use_empty=True)
    quietly(bpy.ops.import_scene.sylpheed_stage, directory=str(game), stage="S14", phase="Phase_1", parts="NONE")
    rocks = [obj for obj in bpy.data.objects if obj.name.startswith(ASTEROIDS)]
    say(f"imported              stage S14, Phase_1: {source.name}, {len(rocks)} asteroids and a wall")

    edited, mod = out / source.name, out / "mod"
    quietly(bpy.ops.export_scene.sylpheed_col, filepath=str(edited))
    same = edited.read_bytes() == source.read_bytes()
    say(f"exported unedited     {'every byte as it came' if same else 'DIFFERENT BYTES'}")

    before, after = out / "before.png", out / "after.png"
    rock = set_stage(bpy, rocks)
    render(bpy, before)
    by = move(rock, lambda: quietly(bpy.ops.export_scene.sylpheed_col, filepath=str(edited)))
    render(bpy, after)
    say(f"moved                 {rock.name} by {by} game units")
    quietly(bpy.ops.export_scene.sylpheed_mod, directory=str(mod))
    say(f"exported              {shown(edited)} and {shown(mod / 'hidden' / 'MiscBin.pak')}")
    checks = [command("verify", source), command("verify", edited)]
    say(f"verified              the source: {checks[0][1]}")
    say(f"                      the mod:    {checks[1][1]}")
    archived, others = compare_archives(game, mod, edited)
    say(f"                      the archive: {others} of 39 other entries as they were, and the edited hull in it")
    code, text = command("diff", source, edited, lines=4)
    say("changed               " + text.replace("\n", "\n                      "))
    join(bpy, before, after, out / "before-after.png")
    quietly(bpy.ops.wm.save_as_mainfile, filepath=str(out / "demo.blend"), check_existing=False)
    needed = ".".join(map(str, bpy.app.version[:2]))
    saved, picture = shown(out / "demo.blend"), shown(out / "before-after.png")
    say(f"to look at            {saved} (opens in Blender {needed} or newer), {picture}")
    say(f"done                  in {time.monotonic() - started:.0f} s")
    return 0 if same and archived and others == 39 and code == 1 and not any(check[0] for check in checks) else 1


def compare_archives(game: Path, mod: Path, edited: Path) -> tuple[bool, int]:
    """Whether the mod's archive holds the edited hull, and how many other entries are stored as in the game's."""
    from core.game.archive import open_archive

    before, after = (open_archive(folder / "hidden" / "MiscBin.pak") for folder in (game, mod))
    hull = after.find(edited.name)
    others = [entry for entry in after.entries if entry.hash != hull.hash]
    same = sum(after.stored(entry) == before.stored(before.find(entry.hash)) for entry in others)
    return after.read(hull) == edited.read_bytes(), same


def say(text: str) -> None:
    print(text, flush=True)


def shown(path: Path) -> str:
    return os.path.relpath(path)


def quietly(operator, **options) -> None:
    """Blender prints each report, some of them past Python; the demo tells its own story."""
    sys.stdout.flush()
    saved = os.dup(1)
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            operator(**options)
            sys.stdout.flush()
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def command(*words: object, lines: int = 1) -> tuple[int, str]:
    """Runs a command of the command line: its exit status and its first lines."""
    result = subprocess.run(
        [sys.executable, "-m", "core", *map(str, words)], capture_output=True, encoding="utf-8", errors="replace"
    )
    text = (result.stdout or result.stderr).strip().splitlines()
    return result.returncode, "\n".join(line.strip() for line in text[:lines])


def move(rock, export) -> tuple[int, int, int]:
    """Moves an asteroid by one cell to where the exporter takes it, not outside the bounding box: by how much."""
    start = rock.location.copy()
    for axis, step in ((axis, step) for step in (10_000, -10_000) for axis in (1, 0, 2)):
        by = [0, 0, 0]
        by[axis] = step
        rock.location = [place + move for place, move in zip(start, by, strict=True)]
        try:
            export()
        except RuntimeError:
            continue
        return tuple(by)
    raise SystemExit(f"{rock.name} can't be moved by a cell")


# --- the picture ----------------------------------------------------------------------------------


def set_stage(bpy, rocks):
    """A camera, a sun, the wall as a frame to look through; the asteroid nearest to the camera, which it colours."""
    from mathutils import Vector

    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples = SAMPLES
    scene.render.resolution_x, scene.render.resolution_y = PICTURE
    scene.view_settings.view_transform = "Standard"
    scene.world = with_nodes(bpy.data.worlds.new("space"))
    scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.09, 0.1, 0.13, 1)
    wall = bpy.data.objects[f"wall.{HULL}"]
    wall.hide_render = True
    frame = bpy.data.objects.new("frame", bpy.data.meshes.new("frame"))
    corners = [wall.matrix_world @ Vector(corner) for corner in wall.bound_box]
    faces = [(0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
    frame.data.from_pydata(corners, [], faces)
    frame.data.materials.append(material(bpy, "frame", (0.1, 0.5, 0.9)))
    frame.modifiers.new("wire", "WIREFRAME").thickness = 0.3
    frame.visible_shadow = False
    frame.display_type = "WIRE"
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy, sun.rotation_euler = 4, (0.7, 0.2, 0.6)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.location = (80, -95, 62)
    camera.rotation_euler = (-camera.location).to_track_quat("-Z", "Y").to_euler()
    for obj in (frame, sun, camera):
        scene.collection.objects.link(obj)
    scene.camera = camera

    def distance(rock) -> float:
        centre = sum((Vector(corner) for corner in rock.bound_box), Vector()) / 8
        return (rock.matrix_world @ centre - camera.location).length

    nearest = min(rocks, key=distance)
    for rock in rocks:
        colours = ("moved", (0.9, 0.3, 0.03)) if rock is nearest else ("rock", (0.35, 0.32, 0.3))
        rock.data.materials.append(material(bpy, *colours))
    return nearest


def with_nodes(block):
    """New materials and worlds have nodes from Blender 5.0 on; before, they are asked for."""
    if block.node_tree is None:
        block.use_nodes = True
    return block


def material(bpy, name: str, colour):
    found = bpy.data.materials.get(name)
    if found:
        return found
    made = with_nodes(bpy.data.materials.new(name))
    made.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*colour, 1)
    made.diffuse_color = (*colour, 1)
    return made


def render(bpy, path: Path) -> None:
    bpy.context.scene.render.filepath = str(path)
    quietly(bpy.ops.render.render, write_still=True)


def join(bpy, left: Path, right: Path, target: Path) -> None:
    """Puts two pictures side by side."""
    import numpy as np

    width, height = PICTURE
    halves = []
    for path in (left, right):
        image = bpy.data.images.load(str(path))
        pixels = np.empty(4 * width * height, np.float32)
        image.pixels.foreach_get(pixels)
        halves.append(pixels.reshape(height, width, 4))
        bpy.data.images.remove(image)
        path.unlink()
    both = bpy.data.images.new("before and after", 2 * width, height)
    both.pixels.foreach_set(np.concatenate(halves, axis=1).ravel())
    both.filepath_raw, both.file_format = str(target), "PNG"
    both.save()
    bpy.data.images.remove(both)


if __name__ == "__main__":
    sys.exit(main())
