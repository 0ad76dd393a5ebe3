"""A mod goes into the copy of the game that is played, and the originals come back byte for byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from core.disk import transaction
from core.errors import SylpheedError
from core.game.archive import open_archive
from core.game.game_folder import find_game
from core.game.mod_folder import write_mod
from core.game.play_folder import RECORD, deploy, is_deployed, restore
from tests.support.folder_digest import tree
from tests.support.game_folder import make_game
from tests.support.hulls import read

HULL = "S14_p1_AsteroidVolume_wp.col"


@pytest.fixture
def game(tmp_path: Path) -> Path:
    return make_game(tmp_path / "game")


@pytest.fixture
def play(game: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(game, tmp_path / "play"))


@pytest.fixture
def mod(game: Path, tmp_path: Path) -> Path:
    """A mod folder with another hull in one entry."""
    folder = tmp_path / "mod"
    folder.mkdir()
    write_mod(find_game(game), str(folder), {HULL: read("S13_AsteroidVolume_wp.col")})
    return folder


def hull(folder: Path) -> bytes:
    archive = open_archive(folder / "hidden" / "MiscBin.pak")
    return archive.read(archive.find(HULL))


def test_the_mod_is_in_the_play_folder_and_restore_brings_back_every_byte(game, mod, play):
    before = tree(play)
    done = deploy(str(mod), str(play), str(game))
    assert hull(play) == hull(mod) != hull(game)
    assert {path.name for path in done.files} >= {"MiscBin.pak", "MiscBin.p00"}
    assert {path.name for path in done.kept} == {f"{path.name}.orig" for path in done.files}
    assert is_deployed(str(play))
    restore(str(play), str(game))
    assert tree(play) == before and not is_deployed(str(play))


def test_the_first_originals_stay_however_often_a_mod_is_deployed(game, mod, play):
    before = tree(play)
    deploy(str(mod), str(play))
    write_mod(find_game(game), str(mod), {HULL: read("S01_AsteroidVolume_wp.col")})
    again = deploy(str(mod), str(play))
    assert again.kept == () and hull(play) == hull(mod)
    restore(str(play))
    assert tree(play) == before


def test_a_file_that_something_else_changed_is_no_original(mod, play):
    deploy(str(mod), str(play))
    changed = play / "hidden" / "MiscBin.p00"
    changed.write_bytes(b"an update of the game")
    before = tree(play)
    with pytest.raises(SylpheedError, match="changed by something else"):
        deploy(str(mod), str(play))
    assert tree(play) == before


def test_a_file_that_the_game_lacks_is_deleted_again(mod, play):
    (mod / "hidden" / "MiscBin.p01").write_bytes(b"more data")
    before = tree(play)
    deploy(str(mod), str(play))
    assert (play / "hidden" / "MiscBin.p01").read_bytes() == b"more data"
    restore(str(play))
    assert tree(play) == before


def test_originals_come_back_without_the_record(mod, play):
    before = tree(play)
    deploy(str(mod), str(play))
    (play / "hidden" / RECORD).unlink()
    restore(str(play))
    assert tree(play) == before


def test_names_keep_the_case_that_the_play_folder_has(mod, play):
    (play / "hidden").rename(play / "HIDDEN")
    (play / "HIDDEN" / "MiscBin.pak").rename(play / "HIDDEN" / "MISCBIN.PAK")
    deploy(str(mod), str(play))
    names = {path.name for path in (play / "HIDDEN").iterdir()}
    assert "MISCBIN.PAK" in names and "MiscBin.pak" not in names


def test_backups_and_journals_of_the_mod_stay_there(mod, play):
    for name in ("MiscBin.pak.bak", "MiscBin.p00.new~", ".hidden", "MiscBin.pak.orig"):
        (mod / "hidden" / name).write_bytes(b"left")
    deploy(str(mod), str(play))
    assert not {"MiscBin.pak.bak", "MiscBin.p00.new~", ".hidden"} & {p.name for p in (play / "hidden").iterdir()}


@pytest.mark.parametrize("wrong", ["game", "mod", "inside", "around", "no game", "missing", ""])
def test_other_folders_are_refused_and_stay_as_they_are(wrong, game, mod, play, tmp_path):
    (tmp_path / "empty").mkdir()
    inside = Path(shutil.copytree(play, mod / "copy"))
    places = {"game": game, "mod": mod, "inside": inside, "around": tmp_path, "no game": tmp_path / "empty"}
    chosen = str(places.get(wrong, tmp_path / "missing")) if wrong else ""
    before = tree(tmp_path)
    with pytest.raises(SylpheedError):
        deploy(str(mod), chosen, str(game))
    assert tree(tmp_path) == before


def test_nothing_to_deploy_or_to_restore_is_said(play, tmp_path):
    (tmp_path / "none").mkdir()
    with pytest.raises(SylpheedError, match="no mod yet"):
        deploy(str(tmp_path / "none"), str(play))
    with pytest.raises(SylpheedError, match="nothing was deployed"):
        restore(str(play))


@pytest.mark.parametrize("step", range(1, 12))
def test_a_failure_at_any_step_leaves_the_old_or_the_new_files(step, mod, play, monkeypatch):
    before = tree(play)
    calls = 0
    real = transaction.replace_patiently

    def fail(*arguments):
        nonlocal calls
        calls += 1
        if calls == step:
            raise OSError(28, "No space left on device")
        return real(*arguments)

    monkeypatch.setattr(transaction, "replace_patiently", fail)
    try:
        deploy(str(mod), str(play))
    except SylpheedError:
        monkeypatch.undo()
        assert tree(play) == before
    else:
        monkeypatch.undo()
        assert hull(play) == hull(mod)


def test_a_record_that_names_other_places_harms_nothing(mod, play):
    deploy(str(mod), str(play))
    (play / "hidden" / RECORD).write_text('{"../dat/GP_MAIN_GAME_J.pak": "x", "..": "y", "MiscBin.pak": 7}')
    restore(str(play))
    assert (play / "dat" / "GP_MAIN_GAME_J.pak").is_file()
