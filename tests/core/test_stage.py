"""Game folders: found one level off, in any case and language; gaps are told, not tripped over."""

import pytest

from core import idxd
from core.archive import open_archive
from core.archive_write import make_archive
from core.errors import FormatError, Severity
from core.hashes import file_id
from core.stage import Phase, check, find_game, known_names, stages, table_name


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


def make_game(
    root, language="E", tables=TABLES, collision=("a.col", "a.rgn", "b.col", "b.rgn", "CollisionSet_S01.bin")
):
    for folder in ("dat", "hidden"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    if tables is not None:
        entries = {table_name(name): (data, True) for name, data in tables.items()}
        make_archive(root / "dat" / f"GP_MAIN_GAME_{language}.pak", {**entries, 1: (b"OTTO", False)})
    if collision is not None:
        make_archive(root / "hidden" / "MiscBin.pak", {name: (b"data", True) for name in collision})
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
    assert open_archive(game.collision).read(open_archive(game.collision).find("a.col")) == b"data"
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
    bare = idxd.Table(
        False,
        tuple(idxd.Section(s.hash, None, -1, s.first, s.end) for s in full.sections),
        tuple(idxd.Row(r.hash, None, r.value, -1, r.value_at) for r in full.rows),
        full.pool,
        full.pool_size,
    )
    game = find_game(make_game(tmp_path, tables={"S01": idxd.encode(bare)}))
    assert stages(game)[0].phases[0] == Phase("Phase_1", "a.col", "a.rgn", "CollisionSet_S01.bin")
