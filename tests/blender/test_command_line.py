"""`blender --command sylpheed …`, by the function that Blender calls."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import bmesh
import bpy
import pytest

from core.game.archive import open_archive
from core.game.game_folder import find_game
from core.game.mod_folder import write_mod
from tests.blender.helpers import DATA, TWO_ASTEROIDS, edit_faces, move, run_command, source
from tests.support.folder_digest import tree
from tests.support.game_folder import make_game

STEM = Path(TWO_ASTEROIDS).stem
SET = "CollisionSet_small.bin"


@pytest.fixture
def run(addon: ModuleType, capfd: pytest.CaptureFixture) -> Callable:
    """Runs a command: its exit status, and what it printed to each stream."""

    def call(*arguments: object) -> tuple[int, str, str]:
        status = run_command(addon, *arguments)
        printed = capfd.readouterr()
        assert "Traceback" not in printed.err
        return status, printed.out, printed.err

    return call


def edit(blend: Path, change: Callable[[bpy.types.Object], None]) -> None:
    """Changes an asteroid of a saved hull."""
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    change(bpy.data.objects[f"asteroid_01.{STEM}"])
    bpy.ops.wm.save_mainfile()


def turn(obj: bpy.types.Object) -> None:
    edit_faces(obj.data, lambda bm: bmesh.ops.reverse_faces(bm, faces=[bm.faces[3]]))


def test_a_hull_goes_in_and_out_unchanged(run: Callable, tmp_path: Path) -> None:
    blend, out = tmp_path / "a.blend", tmp_path / "out.col"
    status, printed, _ = run("import", DATA / TWO_ASTEROIDS, "-o", blend)
    assert status == 0 and f"Wrote {blend}" in printed and STEM in printed
    status, printed, _ = run("export", blend, "-o", out)
    assert status == 0 and "unchanged" in printed
    assert out.read_bytes() == source(TWO_ASTEROIDS)


def test_several_files_in_one_scene_are_exported_by_name(run: Callable, tmp_path: Path) -> None:
    blend, out = tmp_path / "a.blend", tmp_path / "out.bin"
    assert run("import", DATA / TWO_ASTEROIDS, DATA / SET, DATA / SET, "-o", blend)[0] == 0
    status, _, error = run("export", blend, "-o", out)
    assert status == 2 and "--root" in error and STEM in error and not out.exists()
    assert run("export", blend, "--root", "CollisionSet_small", "-o", out)[0] == 0
    assert out.read_bytes() == (DATA / SET).read_bytes()


def test_the_output_says_which_kind_is_exported(run: Callable, tmp_path: Path) -> None:
    blend, hull, parts = tmp_path / "a.blend", tmp_path / "out.col", tmp_path / "OUT.BIN"
    assert run("import", DATA / TWO_ASTEROIDS, DATA / SET, "-o", blend)[0] == 0
    assert run("export", blend, "-o", hull)[0] == 0
    assert run("export", blend, "-o", parts)[0] == 0
    assert (hull.read_bytes(), parts.read_bytes()) == (source(TWO_ASTEROIDS), (DATA / SET).read_bytes())
    status, _, error = run("export", blend, "-o", tmp_path / "out.obj")
    assert status == 2 and "--root" in error


def test_check_prints_one_document(run: Callable, tmp_path: Path) -> None:
    blend = tmp_path / "a.blend"
    run("import", DATA / TWO_ASTEROIDS, "-o", blend)
    edit(blend, turn)
    missing = str(tmp_path / "missing.col")
    for arguments in (("--json", "check"), ("check", "--json")):
        status, printed, _ = run(*arguments, blend, DATA / SET, missing)
        document = json.loads(printed[printed.index("{\n") :])  # with --command Blender itself prints nothing
        assert (status, document["passed"]) == (2, False)
        assert [row["passed"] for row in document["files"]] == [False, True, False]
        broken, fine, absent = document["files"]
        assert broken["roots"][0]["root"] == STEM
        assert "flipped triangles" in [row["check"] for row in broken["roots"][0]["problems"]]
        assert fine["roots"][0]["passed"] and missing in absent["error"]
    assert run("--json", "export", blend, "-o", tmp_path / "out.col")[0] == 2


def test_check_tells_sound_from_broken(run: Callable, tmp_path: Path) -> None:
    blend = tmp_path / "a.blend"
    status, printed, _ = run("check", DATA / TWO_ASTEROIDS, DATA / SET)
    assert status == 0 and printed.count(": no problems") == 2
    run("import", DATA / TWO_ASTEROIDS, "-o", blend)
    edit(blend, turn)
    status, printed, _ = run("check", blend)
    assert (
        status == 1
        and "error: flipped triangles: 1 flipped triangle in" in printed
        and f"asteroid_01.{STEM}" in printed
    )


def test_a_refused_export_writes_nothing(run: Callable, tmp_path: Path) -> None:
    blend, out = tmp_path / "a.blend", tmp_path / "out.col"
    run("import", DATA / TWO_ASTEROIDS, "-o", blend)
    edit(blend, turn)
    status, _, error = run("export", blend, "-o", out)
    assert status == 2 and error.startswith("error: flipped triangles") and not out.exists()
    assert run("export", blend, "-o", out, "--turn")[0] == 0
    assert out.read_bytes() == source(TWO_ASTEROIDS)


def test_from_a_game_folder_to_a_mod_folder(run: Callable, tmp_path: Path) -> None:
    game, blend, mod = make_game(tmp_path / "game"), tmp_path / "a.blend", tmp_path / "mod"
    assert run("stage", game, "--stage", "S14", "-o", blend)[0] == 0
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    rock = next(obj for obj in bpy.data.objects if obj.name.startswith("asteroid_01."))
    move(rock, x=500)
    name, before = rock.parent.name + ".col", bytes(rock.parent["sylpheed_source"])
    bpy.ops.wm.save_mainfile()
    mod.mkdir()
    status, printed, _ = run("mod", blend, "-o", mod)
    assert status == 0 and "Replaced" in printed
    archive = open_archive(mod / "hidden" / "MiscBin.pak")
    assert archive.read(archive.find(name)) != before


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "nothere.col"),
        ("check", "nothere.blend"),
        ("check", DATA / "README.md"),
        ("check", "broken.blend"),
        ("export", "broken.blend", "-o", "x.col"),
        ("export", DATA / TWO_ASTEROIDS, "-o", "x.col"),
        ("import", DATA / TWO_ASTEROIDS, "-o", "no/such/folder/a.blend"),
        ("stage", DATA, "-o", "a.blend"),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_one_line(run: Callable, arguments: tuple, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    broken = tmp_path / "broken.blend"
    broken.write_bytes(b"BLENDER-v500 and no more")
    status, printed, error = run(*arguments)
    assert status == 2 and error.startswith("error: ") and error.count("\n") == 1
    assert "Error" not in printed and list(tmp_path.iterdir()) == [broken]


def test_a_second_mod_of_an_edited_hull_is_refused_unless_overwritten(run: Callable, tmp_path: Path) -> None:
    game, blend, mod = make_game(tmp_path / "game"), tmp_path / "a.blend", tmp_path / "mod"
    run("stage", game, "--stage", "S14", "--phase", "Phase_1", "--parts", "NONE", "-o", blend)
    for place, options, status in ((500, (), 0), (500, (), 0), (600, (), 2), (600, ("--overwrite",), 0)):
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        move(bpy.data.objects["asteroid_01.S14_p1_AsteroidVolume_wp"], x=place)
        bpy.ops.wm.save_mainfile()
        found, printed, error = run("mod", blend, "-o", mod, *options)
        assert found == status and ("overwrite" in error) == (status == 2)
    assert "Replaced S14_p1_AsteroidVolume_wp.col" in printed
    assert "Wrote nothing" in run("mod", blend, "-o", mod)[1]


@pytest.mark.parametrize("name", ["folder.blend", "a" * 300 + ".blend"], ids=["folder", "long"])
def test_a_failed_write_is_one_line(run: Callable, name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.blend").mkdir()
    status, printed, error = run("import", DATA / TWO_ASTEROIDS, "-o", tmp_path / name)
    assert status == 2 and error.startswith("error: ") and error.count("\n") == 1 and "Error" not in printed
    assert [path.is_dir() for path in tmp_path.iterdir()] == [True]


def test_check_goes_on_after_a_file_that_cannot_be_read(run: Callable, tmp_path: Path) -> None:
    blend = tmp_path / "a.blend"
    run("import", DATA / TWO_ASTEROIDS, "-o", blend)
    edit(blend, turn)
    files = ("nothere.col", DATA / TWO_ASTEROIDS, DATA / "README.md", blend, DATA / SET)
    status, printed, error = run("check", *files)
    assert status == 2 and error.count("error: ") == 2 and "nothere.col" in error and "README.md" in error
    assert printed.count(": no problems") == 2 and "error: flipped triangles: 1 flipped triangle in" in printed


# --- outputs that would be a mistake --------------------------------------------------------------


@pytest.fixture
def inputs(run: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in: a hull, a set, the scene of each, and links to the hull and its scene."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hull.col").write_bytes(source(TWO_ASTEROIDS))
    (tmp_path / "set.bin").write_bytes((DATA / SET).read_bytes())
    for name in ("hull.col", "set.bin"):
        assert run("import", name, "-o", f"{Path(name).stem}.blend")[0] == 0
    (tmp_path / "link.blend").hardlink_to(tmp_path / "hull.col")
    (tmp_path / "link.col").hardlink_to(tmp_path / "hull.blend")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import", "hull.col", "-o", "hull.col"), "must be a .blend file"),
        (("import", "hull.col", "-o", "new.txt"), "must be a .blend file"),
        (("import", "hull.col", "-o", "new"), "must be a .blend file"),
        (("import", "set.bin", "hull.col", "-o", "link.blend"), "would replace the input"),
        (("stage", ".", "-o", "hull.col"), "must be a .blend file"),
        (("export", "hull.blend", "-o", "hull.blend"), "must be a .col file"),
        (("export", "hull.blend", "-o", "new.bin"), "must be a .col file"),
        (("export", "hull.blend", "-o", "link.col"), "would replace the input"),
        (("export", "set.blend", "-o", "set.blend"), "must be a .bin file"),
        (("export", "set.blend", "-o", "new.col"), "must be a .bin file"),
    ],
    ids=str,
)
def test_an_output_that_is_an_input_or_of_another_kind_is_refused(
    run: Callable, inputs: Path, arguments: tuple, message: str
) -> None:
    before = {path.name: path.read_bytes() for path in inputs.iterdir()}
    status, _, error = run(*arguments)
    assert status == 2 and message in error
    assert {path.name: path.read_bytes() for path in inputs.iterdir()} == before


def test_an_output_may_replace_an_older_one(run: Callable, inputs: Path) -> None:
    assert run("import", "hull.col", "-o", "hull.blend")[0] == 0
    assert run("export", "hull.blend", "-o", "hull.COL")[0] == 0
    assert run("export", "hull.blend", "-o", "hull.col")[0] == 0
    assert Path("hull.col").read_bytes() == Path("hull.COL").read_bytes() == source(TWO_ASTEROIDS)


@pytest.mark.parametrize("arguments", [(), ("bogus",), ("export",), ("import", "x.col")])
def test_wrong_usage(run: Callable, arguments: tuple) -> None:
    status, _, error = run(*arguments)
    assert status == 2 and error.startswith("usage: blender --command sylpheed")


def test_help(run: Callable) -> None:
    status, printed, _ = run("--help")
    assert status == 0 and all(f"    {name} " in printed for name in ("import", "stage", "check", "export", "mod"))


def test_a_mod_is_deployed_and_the_originals_come_back(run: Callable, tmp_path: Path) -> None:
    game = make_game(tmp_path / "game")
    play, mod = Path(shutil.copytree(game, tmp_path / "play")), tmp_path / "mod"
    write_mod(find_game(game), str(mod), {"CollisionSet_S01.bin": b"another set"})
    before = tree(play)
    status, printed, _ = run("deploy", play, "--mod", mod)
    assert status == 0 and "deployed" in printed and tree(play) != before
    status, printed, _ = run("restore", play)
    assert status == 0 and "restored" in printed and tree(play) == before
    status, _, error = run("restore", play)
    assert status == 2 and "nothing was deployed" in error
    assert run("deploy", "--mod", mod)[0] == 2 and tree(play) == before
