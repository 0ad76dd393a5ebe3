"""Game folders: found one level off, in any case and language; gaps are said, not tripped over."""

from dataclasses import replace

import pytest

from core.errors import FormatError, Severity
from core.formats import idxd, mcol
from core.formats.hashes import file_id
from core.game.archive import open_archive
from core.game.archive_write import make_archive
from core.game.game_folder import find_game, hull_users, known_names, stages
from core.game.stage_tables import Phase, table_name
from core.inspect.check_game import check
from tests.support.hulls import read
from tests.support.navigation_file import make_navigation

CONTENTS = {".col": read("test.col"), ".rgn": make_navigation(mcol.decode(read("test.col")).grid), ".bin": b"data"}
OTHER_VOLUME = make_navigation(mcol.decode(read("mapmesh_box_500km.col")).grid)


def table(*phases):
    """A stage table; a phase's rows that are None are left out."""
    keys = ("MapPath", "MapMesh", "CollisionMeshes")
    sections = [("StageResource", [("Name", "Stage"), ("Setup", "3DSetup.tbl")])]
    for number, values in enumerate(phases, 1):
        pairs = [(key, value) for key, value in zip(keys, values, strict=True) if value is not None]
        sections.append((f"Phase_{number}", pairs))
    return idxd.encode(idxd.build(sections))


TABLES = {
    "S01": table(("a.rgn", "a.col", "CollisionSet_S01.bin"), ("a.rgn", None, "CollisionSet_S01.bin")),
    "S14": table(("b.rgn", "", "CollisionSet_S14.bin")),
    "Test": table(("gone.rgn", "b.col", None)),
}


NAMES = ("a.col", "a.rgn", "b.col", "b.rgn", "CollisionSet_S01.bin")


def make_game(root, language="E", tables=TABLES, collision=NAMES, **changed):
    """`collision`: names of files that go together; `changed`: by name, `_` for the dot, other stored bytes."""
    for folder in ("dat", "hidden"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    if tables is not None:
        entries = {table_name(name): (data, True) for name, data in tables.items()}
        make_archive(root / "dat" / f"GP_MAIN_GAME_{language}.pak", {**entries, 1: (b"OTTO", False)})
    if collision is not None:
        entries = {name: (CONTENTS[name[-4:]], True) for name in collision}
        entries |= {".".join(name.rsplit("_", 1)): (data, False) for name, data in changed.items()}
        make_archive(root / "hidden" / "MiscBin.pak", entries)
    return root


def test_stages_and_phases(tmp_path):
    found = {stage.name: stage for stage in stages(find_game(make_game(tmp_path)))}
    assert list(found) == ["S01", "S14", "Test"]
    assert found["S01"].table == "StageResource_S01.tbl"
    assert found["S01"].phases == (
        Phase("Phase_1", "a.col", "a.rgn", "CollisionSet_S01.bin"),
        Phase("Phase_2", None, "a.rgn", "CollisionSet_S01.bin"),
    )
    assert found["S14"].phases == (Phase("Phase_1", None, "b.rgn", "CollisionSet_S14.bin"),)
    assert found["Test"].phases == (Phase("Phase_1", "b.col", "gone.rgn", None),)


@pytest.mark.parametrize("chosen", ["disc", "", "disc/hidden", "disc/dat", "disc/hidden/MiscBin.pak"])
def test_one_level_too_high_or_too_low(tmp_path, chosen):
    make_game(tmp_path / "disc")
    (tmp_path / "other").mkdir()
    assert find_game(tmp_path / chosen).root == tmp_path / "disc"


def test_several_games_inside(tmp_path):
    make_game(tmp_path / "one")
    make_game(tmp_path / "two")
    with pytest.raises(FormatError, match="several game folders") as caught:
        find_game(tmp_path)
    assert caught.value.found == "one, two"


def test_no_game(tmp_path):
    with pytest.raises(FormatError, match="not a game folder") as caught:
        find_game(tmp_path)
    assert caught.value.file == str(tmp_path)
    with pytest.raises(FormatError, match="no such folder"):
        find_game(tmp_path / "nowhere")


def test_names_in_any_case(tmp_path):
    make_game(tmp_path, "J")
    (tmp_path / "dat").rename(tmp_path / "DAT")
    for path in list((tmp_path / "hidden").iterdir()):
        path.rename(path.with_name(path.name.upper()))
    game = find_game(tmp_path)
    assert game.collision.name == "MISCBIN.PAK"
    assert [path.name for path in game.tables] == ["GP_MAIN_GAME_J.pak"]
    assert open_archive(game.collision).read(open_archive(game.collision).find("a.col")) == CONTENTS[".col"]
    assert len(stages(game)) == 3


def test_the_first_language_that_can_be_read(tmp_path):
    make_game(tmp_path, "J")
    make_game(tmp_path, "D", tables={})
    (tmp_path / "dat" / "GP_MAIN_GAME_E.pak").write_bytes(b"damaged")
    game = find_game(tmp_path)
    assert len(game.tables) == 3
    assert len(stages(game)) == 3


@pytest.mark.parametrize(
    ("tables", "problem"), [(None, r"GP_MAIN_GAME_\*.pak is missing"), ({}, "holds no stage tables")]
)
def test_without_tables(tmp_path, tables, problem):
    game = find_game(make_game(tmp_path, tables=tables))
    with pytest.raises(FormatError, match=problem) as caught:
        stages(game)
    assert str(tmp_path) in caught.value.file
    assert file_id("test.col") in known_names(game)
    assert [finding.check for finding in check(game)] == ["game archive"]


def test_without_the_collision_archive(tmp_path):
    game = find_game(make_game(tmp_path, collision=None))
    with pytest.raises(FormatError, match=r"MiscBin\.pak is missing") as caught:
        game.require_collision()
    assert caught.value.file == str(tmp_path)
    assert "game archive" in {finding.check for finding in check(game)}
    assert len(stages(game)) == 3


def test_a_damaged_table_spoils_no_other(tmp_path):
    game = find_game(make_game(tmp_path, tables={**TABLES, "S02": b"IDXD\0\0\0\x09"}))
    found = {stage.name: stage for stage in stages(game)}
    assert found["S02"].phases == ()
    assert "StageResource_S02.tbl" in found["S02"].problem
    assert len(found["S01"].phases) == 2
    assert "StageResource_S02.tbl" in next(str(f) for f in check(game) if f.check == "stage table")


def test_check_names_what_phases_lack(tmp_path):
    findings = check(find_game(make_game(tmp_path)))
    assert [(finding.severity, finding.message) for finding in findings] == [
        (Severity.WARNING, "S01 Phase_2 names no MapMesh"),
        (Severity.WARNING, "S14 Phase_1 names no MapMesh"),
        (Severity.ERROR, "S14 Phase_1: MiscBin.pak has no CollisionSet_S14.bin, its CollisionMeshes"),
        (Severity.ERROR, "Test Phase_1: MiscBin.pak has no gone.rgn, its MapPath"),
        (Severity.WARNING, "Test Phase_1 names no CollisionMeshes"),
    ]


PHASES = {"S01": table(("a.rgn", "a.col", "CollisionSet_S01.bin"))}


def said(root, **changed):
    """What `check` finds in a game with one phase, which names all that it should."""
    return [
        (finding.severity, finding.check, finding.message)
        for finding in check(find_game(make_game(root, tables=PHASES, **changed)))
    ]


def test_pairs_that_fit_and_sets_that_are_alike(tmp_path):
    assert said(tmp_path, collision=(*NAMES, "CollisionSet_S02.bin", "CollisionSet_S03.bin")) == []


def test_a_volume_of_another_grid_is_told_with_the_phases_that_use_it(tmp_path):
    ((severity, kind, message),) = said(tmp_path, a_rgn=OTHER_VOLUME)
    assert (severity, kind) == (Severity.ERROR, "pair grid")
    assert message.startswith("a.rgn doesn't fit a.col (used by S01 Phase_1): its box is (-250000, ")
    assert "its cells measure 50000, 50000, 50000, the hull's 10000, 10000, 10000" in message
    assert message.endswith("reads the cell table of this .rgn at wrong places")


def test_a_pair_that_no_phase_uses_is_found_by_the_shipped_names(tmp_path):
    ((_, kind, message),) = said(tmp_path, test_col=CONTENTS[".col"], test_rgn=OTHER_VOLUME)
    assert kind == "pair grid"
    assert message.startswith("test.rgn doesn't fit test.col: ")


def test_a_pair_that_only_a_phase_makes(tmp_path):
    tables = {"S01": table(("B.rgn", "a.col", "CollisionSet_S01.bin"), ("b.rgn", "A.COL", "CollisionSet_S01.bin"))}
    other = make_game(tmp_path, tables=tables, b_col=read("mapmesh_box_500km.col"), b_rgn=OTHER_VOLUME)
    (finding,) = check(find_game(other))
    assert finding.message.startswith("B.rgn doesn't fit a.col (used by S01 Phase_1, S01 Phase_2): ")


@pytest.mark.parametrize(("there", "missing"), [("test.col", "test.rgn"), ("test.rgn", "test.col")])
def test_half_of_a_pair(tmp_path, there, missing):
    message = f"{there} has no {missing} beside it: without both a stage has no map collision"
    assert said(tmp_path, collision=(*NAMES, there)) == [(Severity.ERROR, "pair files", message)]


def test_a_damaged_file_of_several_pairs_is_told_once(tmp_path):
    tables = {"S01": table(*[(name, "a.col", "CollisionSet_S01.bin") for name in ("a.rgn", "b.rgn")])}
    (finding,) = check(find_game(make_game(tmp_path, tables=tables, a_col=b"MCOL")))
    assert (finding.severity, finding.check) == (Severity.ERROR, "pair files")
    assert finding.message.startswith("a.col: ")


def test_a_set_that_differs(tmp_path):
    sets = ("CollisionSet_S02.bin", "CollisionSet_S03.bin")
    assert said(tmp_path, collision=(*NAMES, *sets), CollisionSet_S02_bin=b"other") == [
        (Severity.WARNING, "set contents", "CollisionSets that differ from the other 2: CollisionSet_S02.bin")
    ]


def test_sets_packed_in_another_way_are_alike(tmp_path):
    assert said(tmp_path, collision=(*NAMES, "CollisionSet_S02.bin"), CollisionSet_S03_bin=b"data") == []


@pytest.mark.parametrize(
    ("name", "kind"), [("a.col", "pair files"), ("a.rgn", "pair files"), ("CollisionSet_S01.bin", "set files")]
)
def test_an_entry_that_does_not_unpack(tmp_path, name, kind):
    game = find_game(make_game(tmp_path, tables=PHASES))
    entry = open_archive(game.collision).find(name)
    with open(tmp_path / "hidden" / "MiscBin.p00", "r+b") as stream:
        stream.seek(entry.offset + 8)
        stream.write(b"sum!")
    (finding,) = check(game)
    assert (finding.severity, finding.check) == (Severity.ERROR, kind)
    assert finding.message.startswith(f"{name}: ")
    assert str(tmp_path) not in finding.message


def test_which_phases_use_which_hull(tmp_path):
    tables = {**TABLES, "S02": table(("b.rgn", "B.col", None), ("a.rgn", "a.col", None))}
    assert hull_users(stages(find_game(make_game(tmp_path, tables=tables)))) == {
        "a.col": (("S01", "Phase_1"), ("S02", "Phase_2")),
        "B.col": (("S02", "Phase_1"), ("Test", "Phase_1")),
    }
    assert hull_users([]) == {}


def test_the_shipped_names_are_built_in():
    names = known_names()
    assert sum(name.endswith(".col") for name in names.values()) == 11
    assert sum(name.endswith(".rgn") for name in names.values()) == 11
    assert sum(name.startswith("CollisionSet_") for name in names.values()) == 18
    assert names[0x2CF7EB47] == "test.col"
    assert names[0xE16460CF] == "S28_p1_AsteroidVolume_wp.col"


def test_names_come_from_the_tables(tmp_path):
    make_game(tmp_path, tables={"S01": table(("new.rgn", "TEST.col", "caf\\xe9"))})
    names = known_names(find_game(tmp_path))
    assert names[file_id("new.rgn")] == "new.rgn"
    assert names[file_id("test.col")] == "TEST.col"
    assert names[file_id("StageResource_S01.tbl")] == "StageResource_S01.tbl"


def test_phases_without_names_of_their_own(tmp_path):
    """Section and key names may be left out of a table; their hashes say what they are."""
    full = idxd.decode(TABLES["S01"])
    sections, rows = full.section_records.copy(), full.row_records.copy()
    sections["name"] = rows["key"] = -1
    bare = replace(full, section_records=sections, row_records=rows)
    game = find_game(make_game(tmp_path, tables={"S01": idxd.encode(bare)}))
    assert stages(game)[0].phases[0] == Phase("Phase_1", "a.col", "a.rgn", "CollisionSet_S01.bin")
