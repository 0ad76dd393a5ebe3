"""A mod folder grows beside a game that is only read, and says which navigation volume no longer fits."""

import dataclasses
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from core.disk import transaction
from core.editing.options import Options, Outside
from core.editing.rebuild_hull import rebuild
from core.errors import FormatError
from core.formats import mcol
from core.game.archive import open_archive
from core.game.game_folder import find_game
from core.game.mod_folder import open_collision, write_mod
from tests.support.game_folder import make_game
from tests.support.hulls import edited, moved, pieces, read

NAME = "S14_p1_AsteroidVolume_wp.col"


@pytest.fixture(scope="module")
def game(tmp_path_factory):
    return find_game(make_game(tmp_path_factory.mktemp("game")))


def with_a_moved_rock(step, options=Options()) -> bytes:  # noqa: B008 - frozen
    hull = mcol.decode(read(NAME))
    rock = next(piece for piece in pieces(hull) if piece.name == "asteroid_03")
    return mcol.encode(rebuild(hull, edited(hull, {"asteroid_03": moved(rock, step)}), options).hull)


def test_only_what_changed_is_replaced_and_the_mod_counts_first(game, tmp_path):
    data = with_a_moved_rock((-100, 0, 0))
    written = write_mod(
        game, str(tmp_path), {NAME: data, "S14_p2_AsteroidVolume_wp.col": read("S14_p2_AsteroidVolume_wp.col")}
    )
    assert written.replaced == (NAME,)
    assert len(written.warnings) == 1
    assert "S14_p1_AsteroidVolume_wp.rgn knows nothing of the changed rock" in written.warnings[0]
    archive = open_collision(game, str(tmp_path))
    assert archive.path == tmp_path / "hidden" / "MiscBin.pak"
    assert archive.read(archive.find(NAME)) == data
    assert open_collision(game).path == game.collision


def test_a_grown_grid_is_said_not_to_fit(game, tmp_path):
    data = with_a_moved_rock((10_000, 0, 0), Options(outside=Outside.GROW))
    (warning,) = write_mod(game, str(tmp_path), {NAME: data}).warnings
    assert "S14_p1_AsteroidVolume_wp.rgn no longer fits" in warning


def test_a_fill_state_alone_warns_of_nothing(game, tmp_path):
    hull = mcol.decode(read(NAME))
    states = hull.states.copy()
    states[np.flatnonzero(states == mcol.FREE)[0]] = mcol.SOLID
    assert write_mod(game, str(tmp_path), {NAME: mcol.encode(dataclasses.replace(hull, states=states))}).warnings == ()


def test_writing_the_same_again_leaves_the_files_alone(game, tmp_path):
    data = with_a_moved_rock((-100, 0, 0))
    write_mod(game, str(tmp_path), {NAME: data})
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "hidden").iterdir()}
    assert write_mod(game, str(tmp_path), {NAME: data}).replaced == ()
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "hidden").iterdir()} == before


def test_a_second_session_adds_to_the_first(game, tmp_path):
    write_mod(game, str(tmp_path), {NAME: with_a_moved_rock((-100, 0, 0))})
    library = open_collision(game).read(open_collision(game).find("CollisionSet_S14.bin"))
    write_mod(game, str(tmp_path), {"CollisionSet_S14.bin": library + bytes(16)})
    old, new = open_archive(game.collision), open_archive(tmp_path / "hidden" / "MiscBin.pak")
    assert sum(old.stored(entry) != new.stored(new.find(entry.hash)) for entry in old.entries) == 2


@pytest.mark.parametrize("renamed", ["MiscBin.pak", "MiscBin.p00"])
def test_a_mod_that_was_interrupted_between_two_renames_is_still_a_mod(game, tmp_path, monkeypatch, renamed):
    """Its archive has no file of its own name then. Taken for an empty folder, it would lose the first session."""
    first = with_a_moved_rock((-100, 0, 0))
    write_mod(game, str(tmp_path), {NAME: first})

    def die(old, new):
        if new.name == renamed:
            raise SystemError("the process is killed")
        return real(old, new)

    with monkeypatch.context() as patch:
        real = os.replace
        patch.setattr(os, "replace", die)
        patch.setattr(transaction, "_back", lambda plan, *kept, **options: die(renamed, tmp_path / renamed))
        with pytest.raises(SystemError):
            write_mod(game, str(tmp_path), {"CollisionSet_S01.bin": b"second"})
    assert not (tmp_path / "hidden" / renamed).exists()
    archive = open_collision(game, str(tmp_path))
    assert archive.read(archive.find(NAME)) == first
    write_mod(game, str(tmp_path), {"CollisionSet_S02.bin": b"third"})
    archive = open_collision(game, str(tmp_path))
    assert archive.read(archive.find(NAME)) == first
    assert [archive.read(archive.find(f"CollisionSet_S0{n}.bin")) for n in (1, 2)] == [b"second", b"third"]


@pytest.mark.parametrize("around", [False, True])
def test_the_game_is_never_the_target(game, around):
    target = game.root.parent if around else game.root
    with pytest.raises(FormatError, match="onto the game"):
        write_mod(game, str(target), {NAME: b""})


def test_no_folder_and_unknown_names_are_refused(game, tmp_path):
    with pytest.raises(FormatError, match="onto the game"):
        write_mod(game, "", {NAME: b""})
    with pytest.raises(FormatError, match="S14_p1_Asteroid"):
        write_mod(game, str(tmp_path), {"S14_p1_AsteroidVolume.col": b""})
    assert not list(tmp_path.iterdir())


def all_bytes(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def link_folder(mod: Path, game: Path) -> None:
    mod.symlink_to(game)


def link_hidden(mod: Path, game: Path) -> None:
    mod.mkdir()
    (mod / "hidden").symlink_to(game / "hidden")


def link_hidden_in_another_spelling(mod: Path, game: Path) -> None:
    mod.mkdir()
    (mod / "HIDDEN").symlink_to(game / "hidden")


def link_files(mod: Path, game: Path) -> None:
    (mod / "hidden").mkdir(parents=True)
    for path in (game / "hidden").iterdir():
        (mod / "hidden" / path.name).symlink_to(path)


def hard_link_files(mod: Path, game: Path) -> None:
    (mod / "hidden").mkdir(parents=True)
    for path in (game / "hidden").iterdir():
        os.link(path, mod / "hidden" / path.name)


def link_a_data_file(mod: Path, game: Path) -> None:
    (mod / "hidden").mkdir(parents=True)
    shutil.copy(game / "hidden" / "MiscBin.pak", mod / "hidden")
    (mod / "hidden" / "MiscBin.p00").symlink_to(game / "hidden" / "MiscBin.p00")


WAYS = (link_folder, link_hidden, link_hidden_in_another_spelling, link_files, hard_link_files, link_a_data_file)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_mod_that_leads_into_the_game_is_refused(game, tmp_path, way):
    before = all_bytes(game.root)
    way(tmp_path / "mod", game.root)
    with pytest.raises(FormatError, match="onto the game"):
        write_mod(game, str(tmp_path / "mod"), {NAME: b""})
    assert all_bytes(game.root) == before


@pytest.mark.parametrize("place", ["mod", "hidden/mod", "hidden"])
def test_a_mod_inside_the_game_is_refused(game, place):
    with pytest.raises(FormatError, match="onto the game"):
        write_mod(game, str(game.root / place), {NAME: b""})


def test_a_game_that_is_reached_through_links_is_the_game(game, tmp_path):
    (tmp_path / "view").mkdir()
    for name in ("hidden", "dat"):
        (tmp_path / "view" / name).symlink_to(game.root / name)
    seen = find_game(tmp_path / "view")
    with pytest.raises(FormatError, match="onto the game"):
        write_mod(seen, str(game.root), {NAME: b""})
    assert write_mod(seen, str(tmp_path / "mod"), {"CollisionSet_S01.bin": b"new"}).replaced
