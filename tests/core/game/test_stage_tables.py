"""Stage tables are found by what they hold, whatever their entries are named; a name only labels one."""

from pathlib import Path

import numpy as np
import pytest

from core.errors import FormatError
from core.formats import idxd
from core.formats.hashes import file_id, string_id
from core.game.archive import open_archive
from core.game.archive_write import make_archive
from core.game.game_folder import find_game, known_names, stages
from core.game.stage_tables import Phase, asteroid_prefix, find_stage, is_stage_table, phases_of
from core.inspect.check_game import check
from core.samples import game
from tests.core.formats.test_idxd import table_bytes

LAYOUTS = ["Stage\\", "", "nobody knows\\"]
PLAIN = [("MapPath", "a.rgn"), ("MapMesh", "a.col"), ("CollisionMeshes", "a.bin")]
PHASE = Phase("Phase_1", "a.col", "a.rgn", "a.bin")


def table(*sections, wide=False):
    return idxd.encode(idxd.build([("StageResource", []), *sections], wide=wide))


def archive_of(folder: Path, entries, language="E"):
    (folder / "dat").mkdir(parents=True, exist_ok=True)
    packed = {name: (data, True) for name, data in entries.items()}
    return make_archive(folder / "dat" / f"GP_MAIN_GAME_{language}.pak", packed)


def found_in(folder):
    return stages(find_game(folder))


@pytest.fixture(scope="module", params=LAYOUTS)
def layout(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("game")
    (folder / "dat").mkdir()
    game.write_tables(folder, request.param)
    return folder, request.param


def test_each_layout_has_29_stages_and_87_phases(layout):
    folder, tables_in = layout
    found = found_in(folder)
    assert (len(found), sum(len(stage.phases) for stage in found)) == (29, 87)
    if tables_in in ("Stage\\", ""):
        assert [stage.name for stage in (*found[:3], found[-1])] == ["S01", "S02", "S03", "Test"]
        assert found[0].table == f"{tables_in}StageResource_S01.tbl"
    else:
        assert [stage.name for stage in found] == sorted(stage.id for stage in found)
        assert {stage.table for stage in found} == {stage.id for stage in found}
    assert all(int(stage.id, 16) in open_archive(find_game(folder).tables[0]).by_hash for stage in found)


def test_a_stage_is_found_by_name_by_id_and_by_its_table(layout):
    folder, tables_in = layout
    found = found_in(folder)
    number = f"{file_id(f'{tables_in}StageResource_S14.tbl'):08x}"
    (stage,) = (one for one in found if one.id == number)
    assert stage.phases[0].hull == "S14_p1_AsteroidVolume_wp.col"
    wanted = [number, number.upper(), f"0x{number}", f" {number}"]
    if tables_in != LAYOUTS[2]:
        wanted += ["S14", "s14", "StageResource_S14.tbl", "stage/stageresource_s14", "Stage\\StageResource_S14.tbl"]
    for text in wanted:
        assert find_stage(found, text) is stage
    assert asteroid_prefix(stage) == "S14"
    for text in ("S17", "", "8f7c013", "StageResource"):
        with pytest.raises(FormatError, match="no stage") as caught:
            find_stage(found, text)
        assert number in caught.value.expected or "S14" in caught.value.expected


@pytest.mark.parametrize("wide", [False, True])
def test_the_first_section_s_hash_decides(tmp_path, wide):
    """Also where it has no name; neither another section nor a name that fits does."""
    data = table(("Phase_1", PLAIN), wide=wide)
    model = idxd.decode(data)
    sections = model.section_records.copy()
    sections["name"][0] = -1
    nameless = idxd.encode(idxd.Table(wide, sections, model.row_records, model.pool, model.pool_size))
    later = idxd.encode(idxd.build([("Phase_1", PLAIN), ("StageResource", [])], wide=wide))
    archive_of(tmp_path, {"x\\one.tbl": data, "x\\two.tbl": nameless, "x\\three.tbl": later, "x\\four.bin": data[:11]})
    assert {stage.id for stage in found_in(tmp_path)} == {
        f"{file_id(f'x{b}{n}.tbl'):08x}" for b in "\\" for n in ("one", "two")
    }
    assert all(stage.phases == (PHASE,) for stage in found_in(tmp_path))


def test_an_ixud_with_the_other_hash_rule_is_found_too(tmp_path):
    model = idxd.decode(table(("Phase_1", PLAIN), wide=True))
    sections, rows = model.section_records.copy(), model.row_records.copy()
    sections["hash"] = [string_id(section.name) for section in model.sections]
    rows["hash"] = [string_id(row.key) for row in model.rows]
    archive_of(tmp_path, {"x.tbl": idxd.encode(idxd.Table(True, sections, rows, model.pool, model.pool_size))})
    assert found_in(tmp_path)[0].phases == (PHASE,)


def test_few_bytes_of_each_entry_are_looked_at(tmp_path, monkeypatch):
    noise = np.random.default_rng(1).integers(0, 256, 1 << 20, np.uint8).tobytes()
    entries = {f"x\\{n}.bin": noise for n in range(4)}
    opened = archive_of(tmp_path, {**entries, "Stage\\StageResource_S01.tbl": table(("Phase_1", PLAIN))})
    taken = []
    kept = type(opened).stored
    monkeypatch.setattr(type(opened), "stored", lambda self, entry: taken.append(entry.size) or kept(self, entry))
    assert [stage.name for stage in found_in(tmp_path)] == ["S01"]
    assert max(taken) <= 4096


def test_an_entry_that_cannot_be_read_stops_no_other(tmp_path):
    opened = archive_of(tmp_path, {"Stage\\StageResource_S01.tbl": table(("Phase_1", PLAIN)), "b": bytes(4000)})
    with open(opened.path, "r+b") as stream:  # the other one lies in a data file that isn't there
        stream.seek(16 + 12 * [entry.hash for entry in opened.entries].index(file_id("b")) + 4)
        stream.write(b"\x70\0\0\0")
    assert [stage.name for stage in found_in(tmp_path)] == ["S01"]


def test_a_damaged_table_of_a_known_name_is_reported(tmp_path):
    entries = {"Stage\\StageResource_S01.tbl": table(("Phase_1", PLAIN)), "Stage\\StageResource_S02.tbl": b"IDXD"}
    archive_of(tmp_path, entries)
    one, two = found_in(tmp_path)
    assert (one.problem, two.name, two.phases) == ("", "S02", ())
    assert "StageResource_S02.tbl" in two.problem


def test_of_two_tables_with_known_names_the_likelier_has_the_stage_s_name(tmp_path):
    first, second = table(("Phase_1", PLAIN)), table(("Phase_1", [("MapMesh", "b.col")]))
    archive_of(tmp_path, {"StageResource_S01.tbl": second, "Stage\\StageResource_S01.tbl": first})
    one, other = found_in(tmp_path)
    assert (one.name, one.phases) == ("S01", (PHASE,))
    assert (other.name, other.id) == ("1f5b522a", "1f5b522a")
    assert find_stage([one, other], "1f5b522a") is other


def test_all_archives_are_looked_at_until_one_has_tables(tmp_path):
    archive_of(tmp_path, {"a.bin": b"no table"}, "D")
    archive_of(tmp_path, {"x.tbl": table(("Phase_1", PLAIN))}, "E")
    archive_of(tmp_path, {"y.tbl": table(("Phase_1", PLAIN))}, "F")
    (tmp_path / "dat" / "GP_MAIN_GAME_A.pak").write_bytes(b"damaged")
    assert [stage.id for stage in found_in(tmp_path)] == [f"{file_id('x.tbl'):08x}"]


def test_no_archive_has_tables(tmp_path):
    archive_of(tmp_path, {"a.bin": b"no table", "b.bin": b"none"})
    with pytest.raises(FormatError, match="a game folder, but it holds no stage tables") as caught:
        found_in(tmp_path)
    assert caught.value.found == "none in 2 entries of GP_MAIN_GAME_E.pak"
    assert "extract" not in str(caught.value)
    (tmp_path / "dat" / "GP_MAIN_GAME_E.p00").unlink()
    with pytest.raises(FormatError, match=r"GP_MAIN_GAME_E\.p00 is missing"):
        found_in(tmp_path)


def test_tables_are_read_once_until_they_change(tmp_path, monkeypatch):
    calls = []
    decode = idxd.decode
    monkeypatch.setattr(idxd, "decode", lambda data: calls.append(1) or decode(data))
    archive_of(tmp_path, {"Stage\\StageResource_S01.tbl": table(("Phase_1", PLAIN))})
    game = find_game(tmp_path)
    stages(game), known_names(game), check(game), stages(find_game(tmp_path))
    assert len(calls) == 1
    archive_of(tmp_path, {"Stage\\StageResource_S01.tbl": table(("Phase_1", PLAIN), ("Phase_2", PLAIN))})
    assert len(stages(game)[0].phases) == 2 and len(calls) == 2


def test_a_set_in_the_first_section_is_that_of_phases_without_one(tmp_path):
    sections = [
        ("StageResource", [("Name", "x"), ("CollisionMeshes", "all.bin")]),
        ("Phase_1", [("MapMesh", "a.col")]),
        ("Phase_2", [("MapMesh", "b.col"), ("CollisionMeshes", "own.bin")]),
        ("Phase_3", [("CollisionMeshes", "")]),
    ]
    warnings = []
    assert phases_of(idxd.build(sections), warnings) == (
        Phase("Phase_1", "a.col", None, "all.bin"),
        Phase("Phase_2", "b.col", None, "own.bin"),
        Phase("Phase_3", None, None, "all.bin"),
    )
    assert warnings == []


@pytest.mark.parametrize("pack", ["hidden\\MiscBin.pak+", "HIDDEN/miscbin.PAK+", ""])
def test_a_value_with_an_archive_s_path_means_the_entry(pack):
    rows = [(key, pack + value) for key, value in PLAIN]
    assert phases_of(idxd.build([("StageResource", []), ("Phase_1", rows)]), []) == (PHASE,)


def test_a_dangling_value_is_unknown_and_reported_and_spoils_no_other():
    data = table_bytes(
        [(0x3C9AE32E, -1, 0, 0), (string_id("Phase_1"), -1, 0, 9)],
        [(string_id("MapMesh"), -1, 900), (string_id("MapPath"), -1, 0), (string_id("CollisionMeshes"), -1, -5)],
        b"a.rgn",
    )
    warnings = []
    assert phases_of(idxd.decode(data), warnings) == (Phase("Phase_1", None, "a.rgn", None),)
    assert warnings == ["Phase_1: its MapMesh points to no string and is unknown"]


def test_a_value_too_long_for_a_name_and_too_many_phases_are_reported():
    many = [(f"Phase_{n}", [("MapMesh", "a.col")]) for n in range(400)]
    warnings = []
    phases = phases_of(idxd.build([("StageResource", []), ("Phase_x", [("MapMesh", "y" * 256)]), *many]), warnings)
    assert len(phases) == 256 and phases[0].hull is None
    assert warnings == [
        "it has 401 phases, of which the first 256 are read",
        "Phase_x: its MapMesh is longer than a file name and is unknown",
    ]


@pytest.mark.parametrize("head", [b"", b"IDXD", b"IDXD\0\0\0\1\x3c\x9a\xe3", b"IDXD\0\0\0\0\x3c\x9a\xe3\x2e"])
def test_a_head_that_is_none(head):
    assert not is_stage_table(head)
    assert is_stage_table(b"IDXD\0\0\0\1\x3c\x9a\xe3\x2e")


def test_three_messages_for_three_cases(refused, run, tmp_path):
    archive_of(tmp_path / "game", {"Stage\\StageResource_S01.tbl": table(("Phase_1", PLAIN))})
    (tmp_path / "empty").mkdir()
    assert "there is no such folder" in refused("stages", tmp_path / "nowhere")
    assert "not a game folder" in refused("stages", tmp_path / "empty")
    with pytest.raises(FormatError, match="the game has no stage 'S02'"):
        find_stage(found_in(tmp_path / "game"), "S02")
    assert "1 stage, 1 phase" in run("stages", tmp_path / "game")[1]


# --- paths of entries -----------------------------------------------------------------------------


SPELLINGS = ["StageResource_S01.tbl", "Stage\\StageResource_S01.tbl", "stage/stageresource_s01.tbl"]


@pytest.mark.parametrize("tables_in", LAYOUTS[:2])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(
    "wanted", [*SPELLINGS, "dat\\GP_MAIN_GAME_E.pak+Stage\\StageResource_S01.tbl", "./StageResource_S01.tbl"]
)
def test_an_entry_is_found_by_bare_name_and_by_path(tmp_path, tables_in, named, wanted):
    name = f"{tables_in}StageResource_S01.tbl"
    made = make_archive(tmp_path / "x.pak", {name: (b"x", False), "Stage\\other.tbl": (b"", False)})
    opened = open_archive(made.path, {file_id(name): name} if named else None)
    assert opened.find(wanted).hash == file_id(name)


def test_a_bare_name_in_several_folders_is_refused_with_the_choice(tmp_path):
    entries = {"eng\\GP_TITLE.tbl": (b"e", False), "jpn\\GP_TITLE.tbl": (b"j", False)}
    made = make_archive(tmp_path / "x.pak", entries)
    assert made.read(made.find("jpn/gp_title.tbl")) == b"j"
    with pytest.raises(FormatError, match=r"several entries are named GP_TITLE\.tbl") as caught:
        made.find("GP_TITLE.tbl")
    assert "eng\\GP_TITLE.tbl or jpn\\GP_TITLE.tbl" in caught.value.remedy
    with pytest.raises(FormatError, match="has no rus"):
        made.find("rus\\GP_TITLE.tbl")


def test_extract_and_replace_take_both(run, tmp_path):
    path = archive_of(tmp_path, {"Stage\\StageResource_S01.tbl": table(("Phase_1", PLAIN))}).path
    new = tmp_path / "new.tbl"
    new.write_bytes(table(("Phase_1", PLAIN), ("Phase_2", PLAIN)))
    for number, name in enumerate(SPELLINGS):
        assert run("extract", path, "-o", tmp_path / f"out{number}", name)[0] == 0
        (file,) = (tmp_path / f"out{number}").iterdir()
        assert file.name.lower() == ("" if number == 0 else "stage_") + "stageresource_s01.tbl"
        assert run("replace", path, f"{name}={new}", "-o", tmp_path / f"mod{number}")[0] == 0
        written = open_archive(tmp_path / f"mod{number}" / path.name)
        assert written.read(written.find(name)) == new.read_bytes()
    assert "Stage\\StageResource_S01.tbl" in run("list", path)[1]


def test_an_extracted_path_leads_nowhere_else(run, tmp_path):
    names = ["..\\..\\up.tbl", "Stage\\..\\..\\up.tbl", "C:\\up.tbl", "\\up.tbl", "eng/../../up.tbl"]
    made = make_archive(tmp_path / "in" / "x.pak", {name: (name.encode(), False) for name in names})
    assert run("extract", made.path, "-o", tmp_path / "in" / "a" / "b", *names)[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == {"in"}
    assert {path.name for path in (tmp_path / "in").iterdir()} == {"a", "x.pak", "x.p00"}
    assert len(list((tmp_path / "in" / "a" / "b").iterdir())) == len(names)
