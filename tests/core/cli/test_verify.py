"""`verify` with an original, with and without the rest of a game folder, and where nothing can be read."""

from dataclasses import replace

import numpy as np
import pytest

from core.formats import collision_set, mcol
from core.game.archive import open_archive
from core.game.archive_write import make_archive, write_archive
from core.text import plural
from tests.support.game_folder import make_game
from tests.support.hulls import read, without_entries

HULL = mcol.decode(read("S13_AsteroidVolume_wp.col"))


@pytest.fixture
def write(tmp_path):
    def write(name: str, data: bytes):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return path

    return write


# --- missing entries ------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "status"), [(1, 0), (3, 0), (4, 1), (40, 1)])
def test_up_to_three_missing_entries_are_a_warning_with_their_depth(run, write, count, status):
    found, out, _ = run("verify", write("a.col", without_entries(HULL, count)))
    assert found == status
    assert f"{plural(count, 'triangle')} absent from the list of a touched cell" in out
    assert out.splitlines()[0].count(" units deep") == min(count, 4)


def test_an_entry_that_the_original_lists_is_an_error_even_alone(run, write):
    lost, original = write("a.col", without_entries(HULL, 1)), write("b.col", mcol.encode(HULL))
    status, out, _ = run("verify", lost, "--like", original)
    assert status == 1
    assert "1 triangle absent from the list of a touched cell, 1 of which the original lists" in out


def test_entries_that_the_original_lacks_too_are_a_warning(run, write):
    original = write("b.col", without_entries(HULL, 40))
    assert run("verify", original)[0] == 1
    assert run("verify", write("a.col", without_entries(HULL, 40)), "--like", original)[0] == 0
    status, out, _ = run("verify", write("c.col", without_entries(HULL, 41)), "--like", original)
    assert status == 1
    assert "41 triangles absent" in out and "1 of which the original lists" in out


def test_entries_are_compared_by_place_where_numbers_changed(run, write):
    """The same hull with its triangles in the opposite order lacks the same entries."""
    turned = replace(HULL, triangles=HULL.triangles[::-1], spheres=HULL.spheres[::-1])
    turned = replace(turned, indices=(len(HULL.triangles) - 1 - HULL.indices.astype(np.int64)).astype(np.uint16))
    original = write("b.col", without_entries(HULL, 40))
    assert run("verify", write("a.col", without_entries(turned, 40)), "--like", original)[0] == 0
    assert run("verify", write("c.col", without_entries(turned, 41)), "--like", original)[0] == 1


# --- other faults ---------------------------------------------------------------------------------


def with_states(hull: mcol.Hull, rows: list[int]) -> bytes:
    states = hull.states.copy()
    states[hull.occupied[rows]] = mcol.FREE
    return mcol.encode(replace(hull, states=states))


def test_a_fault_that_the_original_has_too_is_a_warning(run, write):
    original = write("b.col", with_states(HULL, [3, 5]))
    assert run("verify", original)[0] == 1
    status, out, _ = run("verify", write("a.col", with_states(HULL, [3, 5])), "--like", original)
    assert status == 0 and "warning: 2 cells with a list that a swept ship skips" in out
    assert "as in the original" in out
    assert run("verify", write("a.col", with_states(HULL, [3])), "--like", original)[0] == 0
    assert run("verify", write("a.col", with_states(HULL, [3, 7])), "--like", original)[0] == 1


def test_a_fault_that_an_original_without_any_lacks_is_an_error(run, write):
    original, faulty = write("b.col", mcol.encode(HULL)), write("a.col", with_states(HULL, [3]))
    assert run("verify", faulty, "--like", original)[0] == 1
    assert run("verify", original, "--like", faulty)[0] == 0


def test_why_a_mesh_is_unusable_is_said_and_the_others_are_written_as_obj(run, write, tmp_path):
    library = collision_set.decode(read("CollisionSet_small.bin"))
    triangles = library.parts[0].triangles.copy()
    triangles[0, 0] = 99_999
    parts = (replace(library.parts[0], triangles=triangles), *library.parts[1:])
    path = write("a.bin", collision_set.encode(replace(library, parts=parts)))
    status, out, _ = run("verify", path)
    assert status == 1 and "mesh mob_n040: triangle 0 uses a vertex that doesn't exist" in out
    status, out, _ = run("obj", path, "-o", tmp_path / "a.obj")
    assert status == 0 and "warning: mob_n040 is left out: triangle 0 uses a vertex" in out
    assert f"{len(parts) - 1} objects" in out
    assert run("obj", path, "-o", tmp_path / "b.obj", "--mesh", "mob_n040")[0] == 2


def test_faults_of_a_set_are_compared_by_mesh(run, write):
    library = collision_set.decode(read("CollisionSet_small.bin"))
    first, second, *others = library.parts
    original = write(
        "b.bin", collision_set.encode(replace(library, parts=(replace(first, size_excess=1), second, *others)))
    )
    assert run("verify", original)[0] == 1
    assert run("verify", write("a.bin", original.read_bytes()), "--like", original)[0] == 0
    swapped = replace(library, parts=(second, *others, replace(first, size_excess=9)))
    assert run("verify", write("a.bin", collision_set.encode(swapped)), "--like", original)[0] == 0
    another = replace(library, parts=(first, replace(second, size_excess=1), *others))
    assert run("verify", write("a.bin", collision_set.encode(another)), "--like", original)[0] == 1


def test_archives_are_compared_entry_by_entry(run, tmp_path):
    faulty, worse = with_states(HULL, [3]), with_states(HULL, [3, 7])
    for name, data in (("one", faulty), ("two", faulty), ("three", worse)):
        (tmp_path / name).mkdir()
        make_archive(tmp_path / name / "A.pak", {"test.col": (data, True), "S13_AsteroidVolume_wp.col": (faulty, True)})
    one, two, three = (tmp_path / name / "A.pak" for name in ("one", "two", "three"))
    assert run("verify", one)[0] == 1
    assert run("verify", two, "--like", one)[0] == 0
    assert run("verify", tmp_path / "two", "--like", tmp_path / "one")[0] == 0
    status, out, _ = run("verify", three, "--like", one)
    assert status == 1
    assert [line.split(": ")[1] for line in out.splitlines() if line.startswith("FAIL ")] == ["test.col"]


def test_a_file_is_compared_with_the_entry_of_its_name(run, write, tmp_path):
    archive = make_archive(tmp_path / "A.pak", {"test.col": (with_states(HULL, [3]), True)}).path
    assert run("verify", write("test.col", with_states(HULL, [3])), "--like", archive)[0] == 0
    assert run("verify", write("other.col", with_states(HULL, [3])), "--like", archive)[0] == 1


def test_an_original_that_is_not_there_or_cannot_be_read_is_refused(refused, write, tmp_path):
    path = write("a.col", mcol.encode(HULL))
    assert "no such file" in refused("verify", path, "--like", tmp_path / "none.col")
    assert "b.col" in refused("verify", path, "--like", write("b.col", mcol.encode(HULL)[:500]))


# --- game folders ---------------------------------------------------------------------------------


def whole_game(folder):
    """The stand-in game, with the set that its stage 20 names."""
    root = make_game(folder)
    opened = open_archive(root / "hidden" / "MiscBin.pak")
    entries: dict[int | str, tuple[bytes, bool]] = {entry.hash: (opened.read(entry), True) for entry in opened.entries}
    entries["CollisionSet_S20.bin"] = (opened.read(opened.find("CollisionSet_S01.bin")), True)
    make_archive(root / "hidden" / "MiscBin.pak", entries)
    return root


@pytest.fixture
def game(tmp_path):
    """A game folder with another archive, and a table beside the stage tables that nobody can read."""
    root = whole_game(tmp_path / "game")
    stages = open_archive(root / "dat" / "GP_MAIN_GAME_J.pak")
    entries: dict[int | str, tuple[bytes, bool]] = {entry.hash: (stages.read(entry), True) for entry in stages.entries}
    entries["other.tbl"] = (b"IDXD" + b"\0\0\0\x09" + bytes(4), True)
    entries["font"] = (b"something else" * 99, False)
    make_archive(root / "dat" / "GP_MAIN_GAME_J.pak", entries)
    make_archive(root / "dat" / "SOUND.pak", {"a.tbl": (b"IDXD\xff\xff\xff\xff", True), "b.col": (b"MCOL", True)})
    return root


def test_a_game_folder_is_its_collision_files_and_stage_tables(run, game):
    status, out, error = run("verify", game)
    assert (status, error) == (0, "")
    assert "(1 other archive and 2 other entries left out, `--all` reads them)" in out
    assert "SOUND" not in out and "2 tables" in out.splitlines()


def test_everything_is_read_when_asked_and_other_tables_are_information(run, game):
    status, out, _ = run("verify", game, "--all")
    assert status == 1
    failed = [line for line in out.splitlines() if line.startswith("FAIL ")]
    assert len(failed) == 1 and "SOUND.pak: " in failed[0] and "MCOL" not in failed[0]
    assert "left out" not in out and "4 tables" in out.splitlines()
    make_archive(game / "dat" / "SOUND.pak", {"a.tbl": (b"IDXD\xff\xff\xff\xff", True)})
    assert run("verify", game, "--all")[0] == 0


def test_a_stage_table_that_cannot_be_read_is_an_error(run, game):
    path = game / "dat" / "GP_MAIN_GAME_J.pak"
    opened = open_archive(path)
    table = opened.find("StageResource_S14.tbl")
    write_archive(opened, {table.hash: opened.read(table)[:12]}, path.parent, overwrite_source=True)
    status, out, _ = run("verify", game)
    assert status == 1
    assert [line for line in out.splitlines() if line.startswith("FAIL ")]


def test_a_mod_folder_is_compared_with_its_game(run, game, tmp_path):
    mod = whole_game(tmp_path / "mod")
    for root in (game, mod):
        path = root / "hidden" / "MiscBin.pak"
        opened = open_archive(path)
        hull = opened.find("mapmesh_box_500km.col")
        broken = with_states(mcol.decode(opened.read(hull)), [3])
        write_archive(opened, {hull.hash: broken}, path.parent, overwrite_source=True)
    assert run("verify", mod)[0] == 1
    assert run("verify", mod, "--like", game)[0] == 0


# --- nothing to count -----------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["col", "rgn", "bin", "tbl"])
def test_an_archive_whose_entries_of_a_kind_are_all_unreadable(run, tmp_path, ending):
    start = {"col": b"MCOL", "rgn": b"REGN", "bin": read("CollisionSet_small.bin")[:200], "tbl": b"IDXD"}[ending]
    name = f"CollisionSet_S01.{ending}" if ending == "bin" else f"test.{ending}"
    path = make_archive(tmp_path / "A.pak", {name: (start, True)}).path
    for options in ([], ["--json"]):
        status, out, error = run("verify", path, *options)
        assert (status, error) == (0 if ending == "tbl" else 1, "")
        assert out
