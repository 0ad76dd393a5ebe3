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


def test_a_deployed_file_never_becomes_an_original(mod, play):
    deploy(str(mod), str(play))
    (play / "hidden" / "MiscBin.pak.orig").unlink()
    before = tree(play)
    for act in (lambda: deploy(str(mod), str(play)), lambda: restore(str(play))):
        with pytest.raises(SylpheedError, match="the original is gone"):
            act()
        assert tree(play) == before


def test_restore_overwrites_nothing_that_something_else_wrote(mod, play):
    deploy(str(mod), str(play))
    (play / "hidden" / "MiscBin.p00").write_bytes(b"an update of the game")
    before = tree(play)
    with pytest.raises(SylpheedError, match="changed by something else"):
        restore(str(play))
    assert tree(play) == before


def test_a_newer_original_is_kept_once_the_old_one_is_deleted(mod, play):
    deploy(str(mod), str(play))
    for name in ("MiscBin.pak", "MiscBin.p00"):
        (play / "hidden" / name).write_bytes(f"newer {name}".encode())
        (play / "hidden" / f"{name}.orig").unlink()
    deploy(str(mod), str(play))
    assert hull(play) == hull(mod)
    restore(str(play))
    assert (play / "hidden" / "MiscBin.p00").read_bytes() == b"newer MiscBin.p00"


def test_a_changed_original_is_refused(mod, play):
    deploy(str(mod), str(play))
    (play / "hidden" / "MiscBin.pak.orig").write_bytes(b"damaged")
    before = tree(play)
    with pytest.raises(SylpheedError, match="isn't the original"):
        restore(str(play))
    assert tree(play) == before


def test_backups_of_the_users_own_are_no_originals(mod, play):
    own = play / "hidden" / "notes.txt.orig"
    own.write_bytes(b"mine")
    deploy(str(mod), str(play))
    restore(str(play))
    assert own.read_bytes() == b"mine" and not own.with_suffix("").exists()


def test_files_that_the_next_mod_lacks_are_as_the_game_had_them(mod, play):
    extra, replaced = mod / "hidden" / "MiscBin.p07", mod / "hidden" / "Other.bin"
    (play / "hidden" / "Other.bin").write_bytes(b"the game's")
    before = tree(play)
    extra.write_bytes(b"more data")
    replaced.write_bytes(b"the mod's")
    deploy(str(mod), str(play))
    extra.unlink()
    replaced.unlink()
    assert {path.name for path in deploy(str(mod), str(play)).put_back} == {"MiscBin.p07", "Other.bin"}
    assert (play / "hidden" / "Other.bin").read_bytes() == b"the game's"
    restore(str(play))
    assert tree(play) == before


def test_a_link_to_the_games_own_folder_is_refused(game, mod, play):
    shutil.rmtree(play / "hidden")
    (play / "hidden").symlink_to(game / "hidden", target_is_directory=True)
    before = tree(game)
    with pytest.raises(SylpheedError, match="own folder"):
        deploy(str(mod), str(play), str(game))
    assert tree(game) == before


def test_a_mod_whose_write_was_interrupted_is_refused(mod, play):
    (mod / "hidden" / "MiscBin.pak.journal~").write_bytes(b"{}")
    before = tree(play)
    with pytest.raises(SylpheedError, match="interrupted"):
        deploy(str(mod), str(play))
    assert tree(play) == before


def test_what_was_cancelled_leaves_the_old_files(mod, play):
    before = tree(play)

    def cancel(part: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        deploy(str(mod), str(play), progress=cancel)
    assert tree(play) == before


def test_progress_grows_to_one(mod, play):
    parts: list[float] = []
    deploy(str(mod), str(play), progress=parts.append)
    assert parts == sorted(parts) and parts[-1] == 1
