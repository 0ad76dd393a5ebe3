"""The command line on archives and game folders, with a stand-in game folder of real scale."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from core.formats import chunk, collision_set, mcol, mcol_records
from core.game.archive import open_archive
from core.game.archive_write import make_archive, write_archive
from core.samples.folder import write_sample
from tests.support.hulls import DATA, without_entries

HULL, OTHER_HULL = "S14_p1_AsteroidVolume_wp.col", DATA / "S14_p1_AsteroidVolume_wp.col"
BOX, SET = DATA / "mapmesh_box_500km.col", DATA / "CollisionSet_small.bin"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A game folder that no test may change."""
    folder = tmp_path_factory.mktemp("made") / "game"
    write_sample(folder)
    return folder


@pytest.fixture
def pak(made):
    return made / "hidden" / "MiscBin.pak"


@pytest.fixture
def game(made, tmp_path):
    """A game folder of the test's own."""
    for part in ("dat", "hidden"):
        shutil.copytree(made / part, tmp_path / "game" / part)
    return tmp_path / "game"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def damage(archive: Path, name: str) -> None:
    """Another Adler-32 in the stored form of an entry."""
    entry = open_archive(archive).find(name)
    with open(archive.with_suffix(".p00"), "r+b") as stream:
        stream.seek(entry.offset + 6)
        stream.write(b"sum!")


# --- info, list -----------------------------------------------------------------------------------


def test_info_of_an_archive(run, pak):
    status, out, error = run("info", pak)
    assert (status, error) == (0, "")
    for line in ("kind: archive", "entries: 40", "entries with known names: 40", "data files: 1"):
        assert line in out.splitlines()
    endings = json.loads(run("info", pak, "--json")[1])["endings"]
    assert [(row["name"], row["entries"]) for row in endings] == [(".bin", 18), (".col", 11), (".rgn", 11)]


def test_list_resolves_every_name(run, pak):
    status, out, _ = run("list", pak)
    assert status == 0
    assert len(out.splitlines()) == 40
    assert "test.col " in out.splitlines()[0]
    rows = json.loads(run("list", pak, "--json")[1])["contents"]
    assert all(row["name"] for row in rows)
    assert {row["stored_as"] for row in rows} == {"packed"}
    (row,) = (row for row in rows if row["name"] == "CollisionSet_S14.bin")
    assert (row["hash"], row["bytes"]) == ("b68e2e56", 1_675_148)


def test_list_takes_names_from_the_game_around_the_archive(run, game, tmp_path):
    rows = json.loads(run("list", game / "dat" / "GP_MAIN_GAME_E.pak", "--json")[1])["contents"]
    named = [row["name"] for row in rows if row["name"]]
    assert (len(rows), len(named)) == (181, 29)
    assert all(name.startswith("Stage\\StageResource_") for name in named)
    make_archive(tmp_path / "alone" / "x.pak", {"test.rgn": (b"raw", False), "unheard.of": (b"", False)})
    _, out, _ = run("list", tmp_path / "alone" / "x.pak")
    lines = [line.split("  hash ")[0].strip() for line in out.splitlines()]
    assert sorted(lines) == ["?", "test.rgn"]
    assert "stored as raw" in out


def test_list_without_the_data_file(run, game):
    (game / "hidden" / "MiscBin.p00").unlink()
    status, out, _ = run("list", game / "hidden" / "MiscBin.pak")
    assert status == 0
    assert out.count("stored as unreadable") == 40


def test_info_and_list_of_a_volume_and_a_table(run, game, tmp_path, refused):
    run("extract", game / "hidden" / "MiscBin.pak", "-o", tmp_path, "test.rgn")
    run("extract", game / "dat" / "GP_MAIN_GAME_E.pak", "-o", tmp_path, "StageResource_S14.tbl")
    _, out, _ = run("info", tmp_path / "test.rgn")
    assert "cells along x y z: (10, 10, 10)" in out
    assert "regions: 1" in out.splitlines() and "order of the pairs: 01 02 03 12 13 23" in out.splitlines()
    refused("list", tmp_path / "test.rgn")
    assert "  Phase_1        3 rows" in run("info", tmp_path / "StageResource_S14.tbl")[1].splitlines()
    _, out, _ = run("list", tmp_path / "StageResource_S14.tbl")
    assert f"Phase_1.MapMesh          value {HULL}" in out.splitlines()
    status, out, _ = run("verify", tmp_path / "test.rgn", tmp_path / "StageResource_S14.tbl")
    assert status == 0
    assert "1 navigation volume" in out.splitlines()


# --- extract --------------------------------------------------------------------------------------


def test_extract_everything(run, made, pak, tmp_path):
    status, out, error = run("extract", pak, "-o", tmp_path / "out")
    assert (status, error) == (0, "")
    assert out.splitlines()[-1] == f"{tmp_path / 'out'}: 40 files from 40 entries"
    extracted = contents(tmp_path / "out")
    assert len(extracted) == 40
    for path in (made / "loose").iterdir():
        assert extracted[path.name] == path.read_bytes()


@pytest.mark.parametrize("arguments", [("-o", "DIR", "TEST.col", "d84a95fb"), ("TEST.col", "d84a95fb", "-o", "DIR")])
def test_extract_some_wherever_the_option_stands(run, pak, tmp_path, arguments):
    target = tmp_path / "out"
    status, out, _ = run("extract", pak, *(target if word == "DIR" else word for word in arguments))
    assert status == 0
    assert out.splitlines()[-1].endswith("2 files from 40 entries")
    assert set(contents(target)) == {"test.col", "S01_AsteroidVolume_wp.col"}


def test_extract_a_name_that_is_not_there(refused, pak, tmp_path):
    assert "did you mean test.col" in refused("extract", pak, "-o", tmp_path / "out", "tset.col")
    assert not (tmp_path / "out").exists()


def test_extract_leaves_out_damaged_entries(run, game, tmp_path):
    pak = game / "hidden" / "MiscBin.pak"
    damage(pak, "test.col")
    damage(pak, "test.rgn")
    status, out, error = run("extract", pak, "-o", tmp_path / "out")
    assert status == 2
    assert out.splitlines()[-1].endswith("38 files from 40 entries")
    assert error.startswith(f"error: {pak}: test.col: ")
    assert error.endswith("(and 1 more entry can't be read)\n")
    assert len(contents(tmp_path / "out")) == 38


def test_only_archives_are_extracted_and_replaced(refused, tmp_path):
    assert "expected an archive, found a map hull" in refused("extract", BOX, "-o", tmp_path)
    assert "expected an archive, found a map hull" in refused("replace", BOX, f"a={BOX}", "-o", tmp_path)


# --- replace --------------------------------------------------------------------------------------


def test_replace_one_hull(run, made, pak, tmp_path):
    before = contents(made)
    status, out, error = run("replace", pak, f"{HULL}={OTHER_HULL}", "-o", tmp_path / "mod")
    assert (status, error) == (0, "")
    assert out.splitlines()[0].startswith(f"warning: {HULL[:-4]}.rgn knows nothing of the changed rock in {HULL}")
    assert out.splitlines()[-1] == f"{tmp_path / 'mod' / 'MiscBin.pak'}: 1 of 40 entries replaced"
    assert contents(made) == before
    one, other = open_archive(pak), open_archive(tmp_path / "mod" / "MiscBin.pak")
    assert [entry.hash for entry in one.entries] == [entry.hash for entry in other.entries]
    same = [one.stored(a) == other.stored(b) for a, b in zip(one.entries, other.entries, strict=True)]
    assert same.count(True) == 39
    assert other.read(other.find(HULL)) == OTHER_HULL.read_bytes()
    assert run("verify", tmp_path / "mod")[0] == 0


def test_replace_warns_of_a_volume_that_no_longer_fits(run, pak, made, tmp_path):
    status, out, _ = run("replace", "-o", tmp_path / "mod", pak, f"test.col={BOX}")
    assert status == 0
    assert out.startswith("warning: test.rgn no longer fits test.col: its box is ")
    run("extract", pak, "-o", tmp_path, "mapmesh_box_500km.rgn")
    volume = f"test.rgn={tmp_path / 'mapmesh_box_500km.rgn'}"
    _, out, _ = run("replace", pak, f"test.col={BOX}", volume, "-o", tmp_path / "both")
    assert "warning" not in out
    _, out, _ = run("replace", pak, volume, "-o", tmp_path / "volume")
    assert out.count("warning: ") == 1
    assert "test.rgn no longer fits test.col" in out


def test_replace_refuses(refused, made, pak, tmp_path):
    before = contents(made)
    target = ("-o", tmp_path / "mod")
    broken = tmp_path / "broken.col"
    broken.write_bytes(OTHER_HULL.read_bytes()[:1000])
    assert "folder of the source" in refused("replace", pak, f"test.col={BOX}", "-o", made / "loose" / ".." / "hidden")
    assert "expected a map hull, found a collision set" in refused("replace", pak, f"test.col={SET}", *target)
    assert f"{broken}: " in refused("replace", pak, f"test.col={broken}", *target)
    assert "did you mean" in refused("replace", pak, f"tesd.col={BOX}", *target)
    assert "twice" in refused("replace", pak, f"test.col={BOX}", f"TEST.COL={BOX}", *target)
    assert "can't be read" in refused("replace", pak, f"test.col={tmp_path / 'none.col'}", *target)
    for text in ("test.col", "=x", "test.col="):
        assert "NAME=FILE" in refused("replace", pak, text, *target)
    assert "the folder can't be created" in refused("replace", pak, f"test.col={BOX}", "-o", broken)
    assert not (tmp_path / "mod").exists()
    assert contents(made) == before


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_replace_never_writes_a_source_that_was_opened_through_links(refused, game, tmp_path, link):
    before = contents(game)
    (tmp_path / "links").mkdir()
    for path in (game / "hidden").iterdir():
        getattr(tmp_path / "links" / path.name, link)(path)
    for target in (game / "hidden", tmp_path / "links"):
        error = refused("replace", tmp_path / "links" / "MiscBin.pak", f"test.col={BOX}", "-o", target)
        assert "is the folder of the source itself" in error
    assert contents(game) == before


def test_replace_never_writes_over_the_files_that_it_takes(refused, pak, tmp_path):
    (tmp_path / "mod").mkdir()
    hull = tmp_path / "mod" / "MiscBin.p00"
    hull.write_bytes(BOX.read_bytes())
    assert "is the source file itself" in refused("replace", pak, f"test.col={hull}", "-o", tmp_path / "mod")
    assert hull.read_bytes() == BOX.read_bytes()


def skipped_everywhere() -> bytes:
    """test.col with every cell declared free: a swept ship looks into none of their lists."""
    data = bytearray((DATA / "test.col").read_bytes())
    hull = mcol.decode(bytes(data))
    start = int(hull.carried.header["cells"]) + chunk.POINTER_BASE
    cells = np.frombuffer(data, mcol_records.CELL, hull.grid.cell_count, start)
    cells["state"][hull.occupied] = mcol.FREE
    return bytes(data)


HULL_OF_S13 = (DATA / "S13_AsteroidVolume_wp.col").read_bytes()
FAULTY = {
    "test.col": (skipped_everywhere, "cells with a list that a swept ship skips or takes for solid"),
    "S13_AsteroidVolume_wp.col": (lambda: without_entries(mcol.decode(HULL_OF_S13), 40), "absent from the list"),
    "CollisionSet_S01.bin": (
        lambda: b"\0" + SET.read_bytes()[1:3] + b"\1" + SET.read_bytes()[4:],
        "size word other than the counts give",
    ),
}


@pytest.mark.parametrize("name", FAULTY)
def test_replace_refuses_what_verify_fails_without_force(run, refused, pak, tmp_path, name):
    make, fault = FAULTY[name]
    faulty, target = tmp_path / "faulty", tmp_path / "mod"
    faulty.write_bytes(make())
    assert run("verify", faulty)[0] == 1
    error = refused("replace", pak, f"{name}={faulty}", "-o", target)
    assert error.startswith(f"error: {faulty}: `verify` finds errors: ") and fault in error
    assert error.endswith("; fix it, or accept it with --force\n")
    assert not target.exists()
    status, out, _ = run("replace", pak, f"{name}={faulty}", "-o", target, "--force")
    assert status == 0
    assert any(line.startswith(f"warning: {faulty}: ") and fault in line for line in out.splitlines())
    written = open_archive(target / "MiscBin.pak")
    assert written.read(written.find(name)) == faulty.read_bytes()


def test_replace_takes_faults_that_the_original_has_too(run, refused, tmp_path):
    """An edit of a hull whose lists miss triangles goes through; another kind of fault doesn't."""
    old = without_entries(mcol.decode(HULL_OF_S13), 40)
    source = make_archive(tmp_path / "x.pak", {"S13.col": (old, True)}).path
    changed = bytearray(old)
    start = int(mcol.decode(old).carried.header["cells"]) + chunk.POINTER_BASE
    changed[start + 12 : start + 16] = b"mine"  # a word of a cell that nobody reads
    (tmp_path / "changed.col").write_bytes(changed)
    assert run("verify", tmp_path / "changed.col")[0] == 1
    status, out, _ = run("replace", source, f"S13.col={tmp_path / 'changed.col'}", "-o", tmp_path / "mod")
    assert (status, "verify" in out) == (0, False)
    changed[0x80:0x90] = np.array([0, 0, 0, 1], ">f4").tobytes()  # a sphere that lies nowhere near its triangle
    (tmp_path / "worse.col").write_bytes(changed)
    error = refused("replace", source, f"S13.col={tmp_path / 'worse.col'}", "-o", tmp_path / "mod")
    assert "sphere" in error and "swept ship skips" not in error


def test_replace_of_what_nobody_can_verify_takes_the_whole_file(run, tmp_path):
    source = make_archive(tmp_path / "x.pak", {"a.txt": (b"old text", True)}).path
    (tmp_path / "a.txt").write_bytes(b"a longer text " * 1000)
    assert run("replace", source, f"a.txt={tmp_path / 'a.txt'}", "-o", tmp_path / "mod")[0] == 0
    written = open_archive(tmp_path / "mod" / "x.pak")
    assert written.read(written.find("a.txt")) == b"a longer text " * 1000


def test_replace_a_damaged_entry(run, game, tmp_path):
    pak = game / "hidden" / "MiscBin.pak"
    damage(pak, HULL)
    status, out, _ = run("replace", pak, f"{HULL}={OTHER_HULL}", "-o", tmp_path / "mod")
    assert status == 0
    assert out.startswith("warning: ")
    assert "replaced without knowing what it was" in out
    assert run("verify", tmp_path / "mod" / "MiscBin.pak")[0] == 0


# --- stages ---------------------------------------------------------------------------------------


def test_stages(run, made):
    status, out, error = run("stages", made)
    assert (status, error) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert f"S14 Phase_1 {HULL} {HULL[:-4]}.rgn CollisionSet_S14.bin" in lines
    assert "S20 Phase_1 - - CollisionSet_S01.bin" in lines
    assert "29 stages, 87 phases" in lines
    assert any(line.startswith("mapmesh_box_500km.col 70 phases: ") for line in lines)
    assert f"{HULL} 1 phase: S14 Phase_1" in lines
    assert lines[-2:] == ["warning: S20 Phase_1 names no MapMesh", "warning: S20 Phase_1 names no MapPath"]


def test_stages_as_json(run, made):
    document = json.loads(run("stages", made / "hidden", "--json")[1])
    assert document["game"] == str(made)
    assert (len(document["stages"]), sum(len(one["phases"]) for one in document["stages"])) == (29, 87)
    assert document["stages"][0]["phases"][0] == {
        "name": "Phase_1",
        "hull": "S01_AsteroidVolume_wp.col",
        "navigation": "S01_AsteroidVolume_wp.rgn",
        "set": "CollisionSet_S01.bin",
    }
    assert {row["name"]: len(row["phases"]) for row in document["hulls"]}["test.col"] == 3
    assert [row["severity"] for row in document["findings"]] == ["warning", "warning"]


def test_stages_tells_a_pair_that_does_not_fit(run, game, tmp_path):
    archive = open_archive(game / "hidden" / "MiscBin.pak")
    write_archive(archive, {"test.col": BOX.read_bytes()}, game / "hidden", overwrite_source=True)
    for command in (("stages", game), ("verify", game)):
        status, out, _ = run(*command)
        assert status == 1
        assert "error: test.rgn doesn't fit test.col (used by Test Phase_1, Test Phase_2, Test Phase_3)" in out


def test_stages_of_no_game(refused, tmp_path, game):
    assert "no such folder" in refused("stages", tmp_path / "nowhere")
    shutil.rmtree(game / "dat")
    assert "GP_MAIN_GAME_*.pak is missing" in refused("stages", game)


# --- verify ---------------------------------------------------------------------------------------


def test_verify_a_game_folder(run, game):
    status, out, error = run("verify", game)
    assert (status, error) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[:3] == [
        f"OK {game / 'dat' / 'GP_MAIN_GAME_E.pak'}: archive",
        f"OK {game / 'hidden' / 'MiscBin.pak'}: archive",
        f"OK {game}: warning: S20 Phase_1 names no MapMesh; warning: S20 Phase_1 names no MapPath "
        "(152 other entries left out, `--all` reads them)",
    ]
    for line in ("2 archives", "29 tables", "11 map hulls", "11 navigation volumes", "18 collision sets"):
        assert line in lines
    assert "entries that can be read and unpacked 69 / 69 100.00 %" in lines
    assert "edges shared by exactly two triangles 7,152 / 7,152 100.00 %" in lines
    assert "games where each .rgn fits its .col 1 / 1 100.00 %" in lines


def test_verify_looks_into_the_entries_of_an_archive(run, pak, tmp_path):
    wrong = bytearray(BOX.read_bytes())
    wrong[0x80:0x90] = np.array([0, 0, 0, 1], ">f4").tobytes()  # a sphere that lies nowhere near its triangle
    cut = BOX.read_bytes()[:500]
    entries = {"test.col": (bytes(wrong), True), "a.col": (cut, True), "sound.col": (BOX.read_bytes(), True)}
    target = make_archive(tmp_path / "x.pak", entries).path
    status, out, error = run("verify", target)
    assert (status, error) == (1, "")
    lines = out.splitlines()
    assert lines[0] == f"OK   {target}: archive"
    failed = [line for line in lines if line.startswith("FAIL ")]
    assert len(failed) == 2
    assert any(line.startswith(f"FAIL {target}: test.col: error: 1 ") for line in failed)
    assert "3 map hulls" in lines
    document = json.loads(run("verify", target, "--json")[1])
    assert [(row["entry"] is None, row["passed"]) for row in document["files"]].count((False, False)) == 2
    assert document["passed"] is False


def test_verify_tells_damage_and_goes_on(run, game):
    damage(game / "hidden" / "MiscBin.pak", "CollisionSet_S05.bin")
    status, out, error = run("verify", game / "hidden" / "MiscBin.pak")
    assert (status, error) == (1, "")
    assert out.startswith("FAIL ")
    assert "error: CollisionSet_S05.bin: its unpacked data don't have the Adler-32 they declare" in out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "entries that can be read and unpacked 39 / 40 97.50 % error" in lines
    assert "17 collision sets" in lines


def test_verify_needs_no_tables_in_a_mod_folder(run, game):
    shutil.rmtree(game / "dat")
    status, out, _ = run("verify", game)
    assert status == 0
    assert f"OK   {game}: game folder" in out.splitlines()


def test_verify_leaves_out_data_files_and_backups(run, tmp_path):
    archive = make_archive(tmp_path / "x.pak", {"test.col": (BOX.read_bytes(), False)})
    write_archive(archive, {"test.col": OTHER_HULL.read_bytes()}, tmp_path, overwrite_source=True)
    assert (tmp_path / "x.p00").read_bytes()[:4] == b"MCOL"
    assert (tmp_path / "x.pak.bak").exists()
    status, out, _ = run("verify", tmp_path)
    assert status == 0
    assert out.splitlines()[0] == f"OK   {tmp_path / 'x.pak'}: archive"
    assert "1 map hull" in out.splitlines()


def test_a_table_cut_short_gives_the_rows_that_are_there_with_a_warning(run, refused, game, tmp_path):
    pak = game / "hidden" / "MiscBin.pak"
    pak.write_bytes(pak.read_bytes()[:100])
    words = "the header counts 40 entries, the table has 7"
    for command in (("info", pak), ("list", pak), ("verify", pak), ("extract", pak, "-o", tmp_path / "out")):
        status, out, _ = run(*command)
        assert (status, words in out) == (0, True), command
    for command in ("info", "list"):
        assert words in json.loads(run(command, pak, "--json")[1])["warning"]
    assert len(contents(tmp_path / "out")) == 7
    pak.write_bytes(pak.read_bytes()[:15])
    assert str(pak) in refused("list", pak)


# --- diff -----------------------------------------------------------------------------------------


def test_diff_of_equal_archives(run, pak):
    assert run("diff", pak, pak) == (0, "no difference, the same entries\n", "")


def test_diff_of_a_mod(run, made, pak, tmp_path):
    library = collision_set.decode((made / "loose" / "CollisionSet_S01.bin").read_bytes())
    shorter = collision_set.CollisionSet(library.parts[1:])
    (tmp_path / "a.bin").write_bytes(collision_set.encode(shorter))
    sets = [f"CollisionSet_S{number:02}.bin={tmp_path / 'a.bin'}" for number in range(1, 17)]
    run("replace", pak, f"test.col={DATA / 'S13_AsteroidVolume_wp.col'}", *sets, "-o", tmp_path / "mod")
    status, out, _ = run("diff", pak, tmp_path / "mod" / "MiscBin.pak")
    assert status == 1
    assert "test.col: surface " in out
    (line,) = (line for line in out.splitlines() if "CollisionSet" in line)
    where = "CollisionSet_S01.bin and 15 more, changed in the same way"
    assert line == f"{where}: mesh mob_n040: removed, {len(library.parts[0].triangles):,} triangles"
    document = json.loads(run("diff", pak, tmp_path / "mod" / "MiscBin.pak", "--json")[1])
    assert (document["kind"], len(document["differences"])) == ("archive", len(out.splitlines()))


def test_diff_of_entries_that_came_went_and_are_stored_otherwise(run, tmp_path):
    box = BOX.read_bytes()
    one = {"test.col": (box, True), "a.txt": (b"one", False), "old": (b"x", False), "cut.col": (box, False)}
    other = {"test.col": (box, False), "a.txt": (b"two!", False), "new": (b"y", False), "cut.col": (box[:99], False)}
    a = make_archive(tmp_path / "a" / "x.pak", one).path
    b = make_archive(tmp_path / "b" / "x.pak", other).path
    status, out, _ = run("diff", a, b)
    assert status == 1
    assert "test.col: the same contents, stored otherwise: packed -> raw" in out.splitlines()
    assert ": first difference at 0x0; 3 -> 4 bytes" in out
    assert ": removed, 1 stored bytes" in out
    assert ": added, 1 stored bytes" in out
    assert ": can't be read: " in out


def test_diff_goes_on_behind_a_damaged_entry(run, game, pak):
    damage(game / "hidden" / "MiscBin.pak", "test.col")
    status, out, _ = run("diff", pak, game / "hidden" / "MiscBin.pak")
    assert status == 1
    (line,) = out.splitlines()
    assert line.startswith("test.col: can't be compared, in the second archive: its unpacked data")


# --- progress -------------------------------------------------------------------------------------


def test_progress_of_a_long_job(run, pak, tmp_path, monkeypatch):
    monkeypatch.setattr("core.cli.progress.time.monotonic", iter(range(0, 1000, 2)).__next__)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    error = run("extract", pak, "-o", tmp_path / "out")[2]
    assert "\r\x1b[Kextracting 100 %" in error
    assert error.endswith("\r\x1b[K")
    assert "verifying 1 of 1: MiscBin.pak: test.col" in run("verify", pak)[2]
    assert "\r\x1b[Kwriting 100 %" in run("replace", pak, f"test.col={BOX}", "-o", tmp_path / "mod")[2]
    assert "\r\x1b[Kcomparing 100 %" in run("diff", pak, pak)[2]
