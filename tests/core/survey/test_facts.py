"""The survey of game files: a line a fact, each deviation in its own line and in no other, and no file stops it."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct

import pytest

from core.formats import idxd, mcol
from core.formats.hashes import file_id
from core.game.archive_write import make_archive
from core.game.game_folder import SETS
from core.samples import hulls
from core.survey import runner
from tests.support import deviations as to
from tests.support.game_folder import make_game
from tests.support.hulls import DATA, read
from tests.support.navigation_file import make_navigation

NAME = "S13_AsteroidVolume_wp"
LINE = re.compile(r"F\d{2,3} \[[MCDPAI]\] [^:]+: \S.*")
NOT_OURS = {"F80"}
"""What made-up hulls have otherwise than the game's of the same names."""


@pytest.fixture(scope="module")
def hull() -> bytes:
    """A hull with nothing odd in it, all of it as our own builder makes it."""
    return mcol.encode(hulls.sample_hull(next(row for row in hulls.MAPS if row.name == NAME), 1))


def answers(path) -> dict[str, str]:
    return {line.fact.number: line.answer.text for line in runner.survey(path).lines}


def differing(path) -> set[str]:
    return {line.fact.number for line in runner.survey(path).differing}


def changed(tmp_path, name: str, before: bytes, after: bytes) -> set[str]:
    """Which facts have another answer, and that the new one stands at the end if it differs from docs/FORMATS.md."""
    path = tmp_path / name
    path.write_bytes(before)
    old = answers(path)
    path.write_bytes(bytes(after))
    new = runner.survey(path)
    numbers = {line.fact.number for line in new.lines if line.answer.text != old[line.fact.number]}
    ends = runner.report(new).partition("facts differ from the notes")[2]
    assert numbers & {line.fact.number for line in new.differing} <= set(re.findall(r"  (F\d+) notes", ends))
    return numbers


# --- the report -----------------------------------------------------------------------------------


def test_each_fact_has_one_line_in_ascending_order(run, tmp_path):
    status, out, error = run("survey", make_game(tmp_path / "game"))
    assert (status, error) == (0, "")
    lines = [line for line in out.splitlines() if line.startswith("F")]
    assert all(LINE.fullmatch(line) for line in lines)
    numbers = [int(line.split()[0][1:]) for line in lines]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == len(runner.FACTS)
    assert "F07 [P] zero bytes behind POF0: 16 in 6 of 6" in lines
    assert "F02 [M] stages and phases: 2 stages with 4 phases in 1 of 1" in lines
    assert out.count("\n") <= 300


def test_the_report_ends_with_what_differs(run, tmp_path, hull):
    path = tmp_path / f"{NAME}.col"
    path.write_bytes(to.word(0x4C, 5)(bytearray(hull)))
    _, out, _ = run("survey", path)
    lines = out.splitlines()
    end = lines.index(f"2 of {len(runner.FACTS)} facts differ from the notes")
    assert [line.split()[0] for line in lines[end + 1 :]] == ["F57", "F80"]
    assert lines[end + 1] == "  F57 notes: unread, 0 so far; here: 1 of 1 words (00000005) in 1 of 1: db61c506"


def test_json_is_one_document(run, tmp_path):
    status, out, _ = run("survey", make_game(tmp_path / "game"), "--json")
    document = json.loads(out)
    assert status == 0
    assert [fact["fact"] for fact in document["facts"]] == [fact.number for fact in runner.FACTS]
    assert document["differing"] == [fact["fact"] for fact in document["facts"] if fact["differs"]]


def test_the_game_folder_is_found_and_nothing_else_in_it_is_read(tmp_path, run):
    game = make_game(tmp_path / "disc" / "game")
    (game / "odd.col").write_bytes(b"MCOL")
    for path in (game, game.parent):
        _, out, _ = run("survey", path)
        assert "\nRead: 2 tables, 3 map hulls, 3 navigation volumes, 18 collision sets, 2 archives\n" in out
    _, out, _ = run("survey", game, "--all")
    assert "3 map hulls" in out


def test_all_reads_other_archives_and_tables(tmp_path, run):
    game = make_game(tmp_path / "game")
    other = idxd.encode(idxd.build([("Weapon", [("Name", "x")])]))
    make_archive(game / "dat" / "OTHER.pak", {"weapon.tbl": (other, True), "picture": (b"T8aD" * 40, True)})
    _, out, _ = run("survey", game)
    assert "2 tables" in out and "2 archives" in out
    _, out, _ = run("survey", game, "--all")
    assert "3 tables" in out and "3 archives" in out and "F142 [P] form of tables: as in the notes in 3 of 3" in out


@pytest.mark.parametrize("language", ["", "Stage\\", "Other\\"])
def test_stage_tables_are_found_by_content(tmp_path, language):
    table = idxd.encode(idxd.build([("StageResource", []), ("Phase_1", [("MapMesh", "test.col")])]))
    entries = {f"{language}StageResource_S{number:02d}.tbl": (table, True) for number in range(1, 6)}
    entries["Stage\\Weapons.tbl"] = (idxd.encode(idxd.build([("Weapon", [("a", "b")])])), True)
    (tmp_path / "dat").mkdir()
    make_archive(tmp_path / "dat" / "GP_MAIN_GAME_J.pak", entries)
    found = answers(tmp_path)
    assert found["F02"] == "5 stages with 5 phases in 1 of 1"
    name = {"": "no folder", "Other\\": "unknown name"}.get(language, language)
    assert found["F01"].startswith(f"{name} 5 in 1 of 1")


def test_values_without_a_file_are_counted(tmp_path):
    game = make_game(tmp_path)
    text = answers(game)["F06"]
    assert text.startswith("MapPath absent 1, MapMesh absent 1, CollisionMeshes without entry 1 in 1 of 1")
    rows = [("MapMesh", "hidden\\MiscBin.pak+test.col"), ("MapPath", "")]
    table = idxd.encode(idxd.build([("StageResource", []), ("Phase_1", rows)]))
    make_archive(game / "dat" / "GP_MAIN_GAME_J.pak", {"Stage\\StageResource_S01.tbl": (table, True)})
    text = answers(game)["F06"]
    assert text.startswith("MapPath empty 1, MapMesh without entry 1, CollisionMeshes absent 1 in 1 of 1")


def test_no_content_of_the_game_is_shown(tmp_path, run):
    game = make_game(tmp_path)
    table = idxd.encode(
        idxd.build([("StageResource", [("Title", "secret words")]), ("se cret", [("\u30ad\u30fc", "v")])])
    )
    make_archive(game / "dat" / "GP_MAIN_GAME_J.pak", {"Stage\\StageResource_S01.tbl": (table, True)})
    for arguments in ((), ("--json",)):
        _, out, _ = run("survey", game, *arguments)
        assert "Title 1" in out
        assert "secret" not in out and "se cret" not in out and str(tmp_path) not in out


# --- output ---------------------------------------------------------------------------------------


def test_a_report_is_written_and_may_be_replaced(tmp_path, run):
    game = make_game(tmp_path / "game")
    for place in (tmp_path / "report.txt", game / "report.txt"):
        for _ in range(2):
            assert run("survey", game, "-o", place) == (0, f"{place}\n", "")
        assert place.read_text().startswith(runner.TITLE)
        assert sorted(path.name for path in place.parent.glob(".sylpheed*")) == []


def test_an_input_is_never_overwritten(tmp_path, refused):
    game = make_game(tmp_path / "game")
    (game / "notes.txt").write_text("not a report")
    (game / "dat" / "OTHER.pak").write_bytes(b"IPFB")
    (tmp_path / "linked").hardlink_to(game / "hidden" / "MiscBin.p00")
    os.symlink(game / "dat" / "GP_MAIN_GAME_J.pak", tmp_path / "symbolic")
    names = ("hidden/MiscBin.pak", "hidden/MiscBin.p00", "notes.txt", "dat/OTHER.pak", "../linked", "../symbolic")
    before = {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}
    for name in names:
        refused("survey", game, "-o", game / name)
    refused("survey", game / "hidden" / "MiscBin.pak", "-o", game / "hidden" / "MiscBin.p00")
    refused("survey", DATA / "test.col", "-o", DATA / "test.col")
    assert before == {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}


def test_only_nothing_at_all_is_refused(tmp_path, run, refused):
    assert "nothing is there" in refused("survey", tmp_path)
    refused("survey", tmp_path / "missing")
    (tmp_path / "empty").write_bytes(b"")
    for path in (tmp_path, tmp_path / "empty"):
        status, out, error = run("survey", path)
        assert (status, error) == (0, "")
        assert "1 file of no known kind" in out


# --- deviations -----------------------------------------------------------------------------------

HULL_DEVIATIONS = {
    "zero bytes": (lambda data: data[:-4], {"F07"}),
    "no end": (lambda data: data[:-16], {"F07"}),
    "further chunk": (lambda data: data[:-16] + struct.pack(">4s3I", b"NOTE", 16, 0, 0) + bytes(32), {"F08"}),
    "more bytes": (lambda data: data + b"\1", {"F08"}),
    "flags": (to.word(0x08, 0x00020307), {"F11"}),
    "word 0x0C": (to.word(0x0C, 1), {"F12"}),
    "POF0 flags": (to.word(lambda data: to.table(data) + 8, 0), {"F13"}),
    "POF0 word": (to.word(lambda data: to.table(data) + 12, 9), {"F14"}),
    "one reversed face": (to.swapped(lambda data: to.at(data, "triangles") + 2, 2), {"F21", "F48"}),
    "byte 0x73": (to.byte(0x73, 0), {"F22"}),
    "state with triangles": (to.byte(lambda data: to.cell(data, True, 2) + 3, 0), {"F25"}),
    "state without": (to.byte(lambda data: to.cell(data, False, 5) + 3, 2), {"F26"}),
    "order of a list": (to.swapped(to.indices_of(1), 2), {"F30"}),
    "missing entry": (to.without_an_entry, {"F33", "F40"}),
    "triangle sphere by a step": (to.step(lambda data: to.at(data, "spheres") + 12), {"F42"}),
    "triangle sphere too small": (to.step(lambda data: to.at(data, "spheres") + 12, -(1 << 22)), {"F42"}),
    "list sphere by a step": (to.step(lambda data: to.record(data, 3) + 0x1C), {"F44"}),
    "list sphere too small": (to.step(lambda data: to.record(data, 3) + 0x1C, -(1 << 22)), {"F44"}),
    "cell sphere by a step": (to.step(lambda data: to.cell(data, True, 3) + 0x1C), {"F45"}),
    "word 0x4C": (to.word(0x4C, 5), {"F57"}),
    "word 0x64": (to.word(0x64, 5), {"F58"}),
    "word 0x7C": (to.word(0x7C, 5), {"F59"}),
    "fourth word": (to.word(0x1C, 0), {"F60"}),
    "cell position": (to.byte(lambda data: to.cell(data, True, 3), 77), {"F61"}),
    "cell word": (to.word(lambda data: to.cell(data, True, 3) + 0x0C, 7), {"F62"}),
    "pointer of an empty cell": (to.word(lambda data: to.cell(data, False, 1) + 8, 0x80), {"F63"}),
    "sphere of an empty cell": (to.word(lambda data: to.cell(data, False, 1) + 0x14, 9), {"F64"}),
    "list word": (to.word(lambda data: to.record(data, 4) + 8, 1), {"F65"}),
    "extent": (to.word(0x34, 0x47000000), {"F74"}),
    "letters": (lambda data: b"XXXX" + data[4:], {"F09", "F162", "F163", "F164"}),
    "payload size": (to.word(4, 0x100), {"F10", "F162", "F163", "F164"}),
}


@pytest.mark.parametrize("name", HULL_DEVIATIONS)
def test_a_deviation_of_a_hull_shows_in_its_own_line_alone(tmp_path, hull, name):
    change, expected = HULL_DEVIATIONS[name]
    assert changed(tmp_path, f"{NAME}.col", hull, change(bytearray(hull))) == expected


def test_a_sound_hull_has_nothing_odd(tmp_path, hull):
    path = tmp_path / f"{NAME}.col"
    path.write_bytes(hull)
    assert differing(path) == NOT_OURS


QUIRKS = {
    "test_words_sharedgap": {"F11", "F12", "F57", "F58", "F59", "F64", "F65", "F72", "F73"},
    "S13_missing": {"F33"},
    "S13_ulps": {"F42", "F44"},
    "S01_firstempty_words": {"F11", "F12", "F57", "F58", "F59", "F64", "F65", "F72", "F84"},
    "test_descending_multilist": {"F30", "F32"},
    "S14_p1_plain": set(),
}
COMPARED = {f"F{number}" for number in range(7, 85)} - {"F34", "F38", "F52", "F77", "F80", "F81"}
"""Facts of a hull, but for those of shapes and of numbers that made-up hulls have otherwise."""


@pytest.mark.parametrize("name", QUIRKS)
def test_what_was_planted_shows_and_nothing_else(tmp_path, hull, name):
    shutil.copy(DATA / "quirks" / f"{name}.col", tmp_path / f"{NAME}.col")
    (tmp_path / "sound").mkdir()
    (tmp_path / "sound" / f"{NAME}.col").write_bytes(hull)
    found = runner.survey(tmp_path / f"{NAME}.col")
    odd = {line.fact.number for line in found.differing} & COMPARED
    if name.startswith("S01_firstempty"):
        assert answers(tmp_path / f"{NAME}.col")["F84"].startswith("1 of 1")
        odd.add("F84")
    # the samples' builder rounds spheres otherwise than ours by a step: planted steps are said by their number
    assert odd - {"F42", "F44", "F78", "F79"} == QUIRKS[name] - {"F42", "F44"}


def test_planted_steps_of_radii_are_counted(tmp_path):
    found = []
    for name in (f"{NAME}.col", "quirks/S13_ulps.col"):
        shutil.copy(DATA / name, tmp_path / "x.col")
        found.append(answers(tmp_path / "x.col"))
    assert {number for number in found[0] if found[0][number] != found[1][number]} == {"F42", "F44"}


def test_a_known_hull_is_compared_with_the_notes(tmp_path, hull):
    path = tmp_path / f"{NAME}.col"
    assert changed(tmp_path, path.name, hull, to.word(0x40, 0x461C4400)(bytearray(hull))) >= {"F75", "F77"}
    found = answers(path)
    assert found["F78"] == found["F79"] == "as in the notes in 1 of 1"
    assert found["F77"] == f"another number in 1 of 1: {file_id(path.name):08x}"


# --- other files ----------------------------------------------------------------------------------


@pytest.fixture
def pair(tmp_path, hull):
    """A hull with its navigation volume in a folder."""
    (tmp_path / f"{NAME}.col").write_bytes(hull)
    (tmp_path / f"{NAME}.rgn").write_bytes(make_navigation(mcol.decode(hull).grid))
    return tmp_path


def faces(data: bytearray) -> int:
    return 0x10 + struct.unpack_from(">I", data, 0x78)[0]


def tetrahedra(data: bytearray) -> int:
    return 0x10 + struct.unpack_from(">I", data, 0x74)[0]


NAVIGATION_DEVIATIONS = {
    "box": (to.step(lambda data: 0x10), {"F85", "F118"}),
    "dimensions": (to.word(0x50, 4), {"F86"}),
    "word 0x4C": (to.word(0x4C, 1), {"F87"}),
    "word 0x5C": (to.word(0x5C, 1), {"F88"}),
    "word 0x6C": (to.word(0x6C, 1), {"F89"}),
    "spare face": (to.word(lambda data: faces(data) + 4 * 48, 1), {"F94"}),
    "face word": (to.word(lambda data: faces(data) + 0x2C, 1), {"F106"}),
    "tetrahedron's number": (to.word(lambda data: tetrahedra(data) + 0x50, 5), {"F107"}),
    "unread word": (to.word(lambda data: tetrahedra(data) + 0x10, 5), {"F117"}),
}


@pytest.mark.parametrize("name", NAVIGATION_DEVIATIONS)
def test_a_deviation_of_a_navigation_volume_shows_in_its_own_line_alone(pair, name):
    change, expected = NAVIGATION_DEVIATIONS[name]
    before, path = answers(pair), pair / f"{NAME}.rgn"
    path.write_bytes(change(bytearray(path.read_bytes())))
    after = answers(pair)
    assert {number for number in before if before[number] != after[number]} <= expected
    assert before != after


def second_part(data: bytes) -> int:
    return 8 + struct.unpack_from(">I", data)[0]


SET_DEVIATIONS = {
    "size word": (to.word(lambda data: second_part(data), 5), {"F125", "F166"}),
    "behind the last": (lambda data: data + b"\0\0\0\0", {"F122", "F124"}),
    "behind the name": (to.byte(0x17, 5), {"F128"}),
    "case of a name": (to.byte(8, ord("M")), set()),
    "not a number": (to.word(0x20, 0x7FC00000), {"F139"}),
}


@pytest.mark.parametrize("name", SET_DEVIATIONS)
def test_a_deviation_of_a_set_shows_in_its_own_line_alone(tmp_path, name):
    change, expected = SET_DEVIATIONS[name]
    before = read("CollisionSet_small.bin")
    found = changed(tmp_path, "CollisionSet_S01.bin", before, change(bytearray(before)))
    assert found - {"F121"} <= expected
    assert expected - {"F166"} <= found


def test_another_set_among_the_18_is_named(tmp_path):
    game = make_game(tmp_path)
    assert answers(game)["F121"].endswith(" in 18 of 18")
    data = read("CollisionSet_small.bin")
    other = bytearray(data)
    other[0x30] ^= 1
    entries = {name: (data, True) for name in SETS} | {SETS[3]: (bytes(other), True)}
    make_archive(game / "hidden" / "MiscBin.pak", entries)
    assert answers(game)["F121"].endswith(f"of 18: {file_id(SETS[3]):08x}")


def changed_archive(folder, change) -> set[str]:
    """Which facts have another answer after a change of the archive's table."""
    path = make_game(folder) / "hidden" / "MiscBin.pak"
    before = answers(folder)
    path.write_bytes(bytes(change(bytearray(path.read_bytes()))))
    after = answers(folder)
    return {number for number in before if before[number] != after[number]}


def shared(data: bytearray) -> bytearray:
    """Two sets' rows lead to one blob, as another packer writes equal entries."""
    rows = {struct.unpack_from(">I", data, at)[0]: at for at in range(0x10, len(data), 12)}
    one, two = (rows[file_id(name)] for name in SETS[:2])
    data[one + 4 : one + 12] = data[two + 4 : two + 12]
    return data


def test_deviations_of_an_archive(tmp_path):
    assert changed_archive(tmp_path / "a", to.word(8, 0x400)) == {"F145"}
    assert changed_archive(tmp_path / "b", lambda data: data + b"\0\0\0\0") == {"F147"}
    assert changed_archive(tmp_path / "c", shared) >= {"F151"}
    assert changed_archive(tmp_path / "d", to.word(4, 0xFFFFFFFF)) - {"F168"} == {"F146"}


def test_deviations_of_a_table(tmp_path):
    table = idxd.encode(idxd.build([("StageResource", []), ("Phase_1", [("MapMesh", "test.col")])]))
    for change, odd in (
        (to.word(20, 77), "ends beyond the rows"),
        (to.word(0x34, 0x7FFFFFFF), "pointers beyond the pool"),
        (to.word(0x2C, 5), "hashes of other names"),
    ):
        path = tmp_path / "StageResource_S01.tbl"
        path.write_bytes(change(bytearray(table)))
        assert odd in answers(path)["F142"]


# --- robustness -----------------------------------------------------------------------------------


def test_a_fact_that_fails_stops_no_other(tmp_path, monkeypatch, hull):
    path = tmp_path / f"{NAME}.col"
    path.write_bytes(hull)
    before = answers(path)
    monkeypatch.setattr("core.survey.surfaces.facing", lambda *_: 1 / 0)
    after = answers(path)
    assert {number for number in before if before[number] != after[number]} == {"F23", "F26"}
    assert after["F23"] == "not measured: ZeroDivisionError in 1 of 1: db61c506"


def test_equal_files_are_measured_once(tmp_path, monkeypatch):
    game = make_game(tmp_path)
    made = []
    original = runner.CollisionSet
    monkeypatch.setattr(runner, "CollisionSet", lambda *found: made.append(0) or original(*found))
    assert answers(game)["F122"].startswith("80,040 in 18 of 18")
    assert len(made) == 1


def test_devices_and_links_in_a_circle_are_left_alone(tmp_path, run, refused):
    os.mkfifo(tmp_path / "pipe.col")
    os.symlink(tmp_path, tmp_path / "circle")
    (tmp_path / "a.col").write_bytes(read("test.col"))
    status, out, _ = run("survey", tmp_path)
    assert status == 0 and "Read: 1 map hull\n" in out
    refused("survey", tmp_path / "pipe.col")
