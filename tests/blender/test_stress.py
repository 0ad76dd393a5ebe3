"""Blender under stress: files held open, undo, the largest hull, long sessions, several Blenders at once, odd names.

Most odd folders and file names are in test_files.py, and how much memory one large file takes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

from core.game.archive import open_archive
from core.text import printable
from tests.blender.helpers import (
    DATA,
    OLD,
    ONE_ASTEROID,
    TWO_ASTEROIDS,
    assert_shape,
    coordinates,
    export,
    geometry,
    import_hull,
    judged,
    move,
    moved,
    new_object,
    refusal,
    set_coordinates,
    source,
    surfaces,
    tetrahedron,
)
from tests.support.game_folder import make_game
from tests.support.tally import cases

ROOT = Path(__file__).resolve().parents[2]


# --- files in use ---------------------------------------------------------------------------------


if os.name == "posix":  # Windows lets nobody replace an open file, see the next test

    def test_who_has_the_file_open_keeps_reading_the_old_one(tmp_path: Path) -> None:
        root = import_hull(TWO_ASTEROIDS)
        export(tmp_path)
        with cases("exports over open files"), open(tmp_path / "exported.col", "rb") as held:
            half = held.read(5000)
            move(surfaces(root)["asteroid_01"], x=50)
            assert bpy.ops.export_scene.sylpheed_col(filepath=str(tmp_path / "exported.col")) == {"FINISHED"}
            assert half + held.read() == source(TWO_ASTEROIDS)
        col = judged((tmp_path / "exported.col").read_bytes())
        wanted = moved(geometry(surfaces(root)["asteroid_01"].data)[0], (50, 0, 0))
        assert {tuple(v) for v in wanted.tolist()} <= {tuple(v) for v in col.vertices.tolist()}


def test_a_file_that_another_program_locks_is_left_as_it_is(tmp_path: Path, addon, monkeypatch) -> None:
    """As Windows does it while another program has the file open."""
    import_hull(ONE_ASTEROID)
    real = os.replace

    def replace(old, new):
        if str(new).endswith("refused.col"):
            raise PermissionError(13, "The process cannot access the file because it is being used by another process")
        real(old, new)

    monkeypatch.setattr(os, "replace", replace)
    with cases("exports over open files"):
        (tmp_path / "refused.col").write_bytes(OLD)
        with pytest.raises(RuntimeError, match="it is being used by another process") as caught:
            bpy.ops.export_scene.sylpheed_col(filepath=str(tmp_path / "refused.col"))
        assert (tmp_path / "refused.col").read_bytes() == OLD
        (kept,) = [path for path in tmp_path.iterdir() if path.name != "refused.col"]
        assert kept.name in str(caught.value) and kept.read_bytes() == source(ONE_ASTEROID)


# --- undo -----------------------------------------------------------------------------------------


def test_undo_after_an_export_leaves_the_file_and_the_scene_as_before_the_edit(tmp_path: Path) -> None:
    bpy.ops.ed.undo_push(message="start")
    bpy.ops.import_scene.sylpheed_col("EXEC_DEFAULT", True, filepath=str(DATA / TWO_ASTEROIDS), cells="NONE")
    bpy.ops.ed.undo_push(message="imported")
    rock = "asteroid_01.S13_AsteroidVolume_wp"
    start = tuple(bpy.data.objects[rock].location)
    move(bpy.data.objects[rock], (100, 200, 300))
    place = tuple(bpy.data.objects[rock].location)
    bpy.ops.ed.undo_push(message="moved")
    edited = export(tmp_path)
    with cases("undo and redo around exports", 4):
        assert edited != source(TWO_ASTEROIDS)
        for _ in range(2):
            bpy.ops.ed.undo()
            assert tuple(bpy.data.objects[rock].location) == start
            assert (tmp_path / "exported.col").read_bytes() == edited, "undo takes back no file"
            assert export(tmp_path) == source(TWO_ASTEROIDS)
            bpy.ops.ed.redo()
            assert tuple(bpy.data.objects[rock].location) == place
            assert export(tmp_path) == edited


# --- the largest hull -----------------------------------------------------------------------------


@pytest.mark.heavy
def test_the_largest_hull_comes_in_is_edited_and_goes_out_again(tmp_path: Path) -> None:
    """65,534 triangles, made of the two that a wall and an asteroid need not share: a wall, and the rest one rock."""
    from core.editing.rebuild_hull import build
    from core.formats import mcol
    from core.geometry.grid import Grid
    from tests.support.hulls import box, rock

    ball, triangles = rock((0, 0, 0), 30_000, 127)  # 2 x 127 x 2 x 126 triangles
    wall, sides = box((-49_000,) * 3, (49_000,) * 3, inward=True)
    # One triangle cut in three has two more: up to the largest even number that fits.
    extra = (65_534 - len(triangles) - len(sides)) // 2
    middles = ball[triangles[:extra]].astype(np.float64).mean(axis=1).astype(np.float32)
    a, b, c = triangles[:extra].T
    m = len(ball) + np.arange(extra)
    cut = np.concatenate([np.stack(t, axis=1) for t in ((a, b, m), (b, c, m), (c, a, m))])
    vertices = np.concatenate([ball, middles, wall])
    triangles = np.concatenate([triangles[extra:], cut, sides + len(ball) + extra])
    assert len(triangles) == 65_534
    corner = np.full(3, 50_000, np.float32)
    data = mcol.encode(build(vertices, triangles, Grid(-corner, corner, corner / 5, (10, 10, 10)), True))
    (tmp_path / "largest.col").write_bytes(data)
    root = import_hull(tmp_path / "largest.col")
    out = tmp_path / "out"
    out.mkdir()
    with cases("largest hulls", 2):
        assert export(out) == data
        mesh = surfaces(root)["asteroid_01"].data
        places = coordinates(mesh)
        places[100] *= 1.01
        set_coordinates(mesh, places)
        col = judged(export(out), rays=20, thorough=False)
        assert_shape(col, geometry(mesh), geometry(surfaces(root)["wall"].data))


# --- a long session -------------------------------------------------------------------------------

if sys.platform == "linux":  # which tells a process its size

    def _size() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def _come_and_go(count: int) -> None:
        """Imports, and deletes what was imported, as a user does who looks at one map after the other."""
        for number in range(count):
            import_hull((ONE_ASTEROID, TWO_ASTEROIDS)[number % 2], cells="OBJECTS")
            bpy.data.batch_remove([*bpy.data.objects, *bpy.data.collections])
            bpy.data.orphans_purge(do_recursive=True)

    @pytest.mark.heavy
    def test_200_imports_in_one_session_take_no_more_memory_than_50() -> None:
        _come_and_go(50)
        before = _size()
        with cases("imports in one session", 200):
            _come_and_go(200)
            assert not bpy.data.meshes and not bpy.data.objects
            grown = _size() - before
            assert grown < 200 * 50_000, f"{grown:,} bytes"  # a leak of one import's objects would be more


# --- several Blenders -----------------------------------------------------------------------------

EXPORT_AGAIN_AND_AGAIN = """
import sys
import bpy
bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True)
game, mod, phase, place = sys.argv[2], sys.argv[3], sys.argv[4], float(sys.argv[5])
preferences = bpy.context.preferences.addons["bl_ext.user_default.sylpheed_collision"].preferences
preferences.game_folder, preferences.mod_folder = game, mod
bpy.ops.wm.read_homefile(use_empty=True)
bpy.ops.import_scene.sylpheed_stage(stage="S14", phase=phase, parts="NONE")
(root,) = [obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "hull"]
rock = bpy.data.objects["asteroid_01." + root["sylpheed_stem"]]
start = rock.location.x
for number in range(8):
    rock.location.x = start + place + number
    bpy.ops.export_scene.sylpheed_mod()
    bpy.ops.export_scene.sylpheed_col(filepath=mod + "/" + root["sylpheed_stem"] + ".col")
    bpy.ops.export_scene.sylpheed_col(filepath=mod + "/both.col")
print("EXPORTED")
"""


@pytest.mark.heavy
def test_two_blenders_write_the_same_folder_and_lose_nothing(tmp_path: Path, extension_zip: Path) -> None:
    game, mod = make_game(tmp_path / "game"), tmp_path / "mod"
    mod.mkdir()
    running = []
    for phase, place in (("Phase_1", "20"), ("Phase_2", "-30")):
        arguments = [str(extension_zip), str(game), str(mod), phase, place]
        environment = os.environ | {"BLENDER_USER_RESOURCES": str(tmp_path / phase)}
        command = [sys.executable, "-W", "ignore", "-c", EXPORT_AGAIN_AND_AGAIN, *arguments]
        running.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    with cases("exports of two Blenders at once", 48):
        said = [process.communicate()[0].decode(errors="replace") for process in running]
        assert all("EXPORTED" in text for text in said), said
        archive = open_archive(mod / "hidden" / "MiscBin.pak")
        names = [f"S14_p{number}_AsteroidVolume_wp.col" for number in (1, 2)]
        files = {name: (mod / name).read_bytes() for name in names}
        assert {name: archive.read(archive.find(name)) for name in names} == files
        assert all(files[name] != source(name) for name in names)
        assert (mod / "both.col").read_bytes() in files.values()
        pairs = {Path(name).with_suffix(ending).name for name in ("both.col", *names) for ending in (".col", ".rgn")}
        assert {path.name for path in mod.iterdir()} == {"hidden", *pairs}
        assert not [path for path in (mod / "hidden").iterdir() if path.name.endswith("~")]


# --- names and paths ------------------------------------------------------------------------------

NAMES = ["小惑星" * 20, "日本語の岩", "ü" * 60, "n" * 60, "rock with spaces and (brackets)", "S14_p1.wall", "岩\t%s\\n"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_objects_don_t_matter(name: str, tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS)
    with cases("odd names and paths", 2):
        for obj in surfaces(root).values():
            obj.name = obj.data.name = name
        assert export(tmp_path) == source(TWO_ASTEROIDS)
        new_object(root, name, *tetrahedron((0, 0, 15_000)))
        judged(export(tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_a_refusal_names_the_object_whatever_it_is_called(name: str, tmp_path: Path) -> None:
    root = import_hull(TWO_ASTEROIDS)
    obj = new_object(root, name, [(0, 0, 0), (900, 0, 0), (0, 900, 0)], [(0, 1, 2)])
    with cases("odd names and paths"):
        assert f'"{printable(obj.name)}"' in refusal(tmp_path)


def test_a_path_with_spaces_and_umlauts_of_over_260_characters(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["Größe der Äste, übrig und öde " + "x" * 60] * 4)
    folder.mkdir(parents=True)
    path = folder / "Hülle 日本.col"
    path.write_bytes(source(TWO_ASTEROIDS))
    assert len(str(path)) > 360
    with cases("odd names and paths", 3):
        root = import_hull(path)
        assert export(folder) == source(TWO_ASTEROIDS)
        (folder / "exported.col").unlink()
        move(surfaces(root)["asteroid_01"], x=77)
        edited = export(folder)
        judged(edited)
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / "Mappe ü.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(folder / "Mappe ü.blend"))
        assert export(folder) == edited
