"""No command changes a file outside what it was asked to write: a digest of all else before and after.

The output is new, old, a link, a hard link, another spelling, or leads back to what is read; it is written or refused.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from core.cli.main import main
from core.game.archive import open_archive
from core.game.archive_write import make_archive
from core.game.mod_folder import COLLISION_ARCHIVE
from tests.support.folder_digest import changed, tree
from tests.support.foreign_systems import NamesWithoutCase
from tests.support.game_folder import make_game
from tests.support.hulls import DATA
from tests.support.tally import cases

HULL = "S14_p1_AsteroidVolume_wp"
PROMISE = "commands that change nothing else"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> Path:
    """A user's folders: a game, a mod, loose files, notes, and links between them."""
    home = tmp_path_factory.mktemp("prepared") / "home"
    make_game(home / "game")
    (home / "work").mkdir()
    shutil.copy(DATA / f"{HULL}.col", home / "work" / "Hull.col")
    shutil.copy(DATA / "CollisionSet_small.bin", home / "work" / "set.bin")
    assert main(["obj", str(home / "work" / "Hull.col"), "-o", str(home / "work" / "hull.obj")]) == 0
    (home / "work" / "notes.txt").write_text("mine")
    names = {name: (b"of the archive", False) for name in ("own.pak", "own.p00", "own.p01", "notes.txt")}
    make_archive(home / "work" / "own.pak", names)
    (home / "links").mkdir()
    (home / "links" / "game").symlink_to(home / "game")
    (home / "links" / "hidden").symlink_to(home / "game" / "hidden")
    for path in (home / "game" / "hidden").iterdir():
        (home / "links" / path.name).symlink_to(path)
    (home / "hard").mkdir()
    for path in (home / "game" / "hidden").iterdir():
        os.link(path, home / "hard" / path.name)
    (home / "links" / "Hull.col").symlink_to(home / "work" / "Hull.col")
    os.link(home / "work" / "Hull.col", home / "hard" / "Hull.col")
    return home


@pytest.fixture
def home(prepared, tmp_path) -> Path:
    """A copy, with its links and hard links."""
    folder = tmp_path / "home"
    shutil.copytree(prepared, folder, symlinks=True)
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            target = os.readlink(path).replace(str(prepared), str(folder))
            path.unlink()
            path.symlink_to(target)
    for path in (folder / "hard").iterdir():
        path.unlink()
        os.link(folder / ("work" if path.name == "Hull.col" else "game/hidden") / path.name, path)
    return folder


READING = [
    ("info", "work/Hull.col"),
    ("list", "game/hidden/MiscBin.pak"),
    ("verify", "game"),
    ("verify", "links"),
    ("stages", "links/game"),
    ("diff", "game/hidden/MiscBin.pak", "links/MiscBin.pak"),
    ("survey", "game"),
]
# A command with its paths, and what it may change; nothing where it must refuse.
WRITING = [
    (("obj", "work/Hull.col", "-o", "out.obj"), {"out.obj"}),
    (("obj", "work/Hull.col", "-o", "work/notes.txt"), {"work/notes.txt"}),
    (("obj", "work/Hull.col", "-o", "work/Hull.col"), set()),
    (("obj", "work/Hull.col", "-o", "links/Hull.col"), set()),
    (("obj", "links/Hull.col", "-o", "work/Hull.col"), set()),
    (("obj", "work/Hull.col", "-o", "hard/Hull.col"), set()),
    (("build", "work/hull.obj", "-o", "out.col", "--like", "work/Hull.col"), {"out.col"}),
    (("build", "work/hull.obj", "-o", "hard/Hull.col", "--like", "work/Hull.col"), set()),
    (("build", "work/hull.obj", "-o", "work/hull.obj", "--cell", "10000"), set()),
    (("survey", "game", "-o", "out.txt"), {"out.txt"}),
    (("extract", "game/hidden/MiscBin.pak", "-o", "out", "test.col", HULL + ".col"), set()),
    (("extract", "game/hidden/MiscBin.pak", "-o", "out", HULL + ".col"), {"out", f"out/{HULL}.col"}),
    (("extract", "work/own.pak", "-o", "work", "own.p00"), set()),
    (("extract", "work/own.pak", "-o", "work", "own.p01"), set()),
    (("extract", "work/own.pak", "-o", "work", "notes.txt"), {"work/notes.txt"}),
    (
        ("replace", "game/hidden/MiscBin.pak", f"{HULL}.col=work/Hull.col", "-o", "out"),
        {"out", "out/MiscBin.p00", "out/MiscBin.pak"},
    ),
    (
        ("replace", "links/MiscBin.pak", f"{HULL}.col=work/Hull.col", "-o", "out"),
        {"out", "out/MiscBin.p00", "out/MiscBin.pak"},
    ),
    (("replace", "game/hidden/MiscBin.pak", f"{HULL}.col=work/Hull.col", "-o", "links/hidden"), set()),
    (("replace", "links/MiscBin.pak", f"{HULL}.col=work/Hull.col", "-o", "game/hidden"), set()),
    (("replace", "game/hidden/MiscBin.pak", f"{HULL}.col=work/Hull.col", "-o", "links"), set()),
    (("replace", "game/hidden/MiscBin.pak", f"{HULL}.col=work/Hull.col", "-o", "hard"), set()),
    (("replace", "hard/MiscBin.pak", f"{HULL}.col=work/Hull.col", "-o", "game/hidden"), set()),
    (("sample", "game"), set()),
    (("sample", "links/game"), set()),
    (("sample", "links"), set()),
    (("sample", "hard"), set()),
    (("sample", "work"), set()),
    (("sample", "."), set()),
]


def run(home: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.chdir(home)
    try:
        return main(list(arguments))
    except SystemExit as stop:
        return int(str(stop.code))


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_what_only_reads_changes_nothing(home, arguments, monkeypatch):
    with cases(PROMISE):
        before = tree(home)
        run(home, arguments, monkeypatch)
        assert tree(home) == before


@pytest.mark.parametrize(("arguments", "may"), WRITING, ids=lambda value: " ".join(value) if value else "nothing")
def test_what_writes_changes_what_it_was_asked_to(home, arguments, may, monkeypatch):
    with cases(PROMISE):
        before = tree(home)
        status = run(home, arguments, monkeypatch)
        assert changed(before, tree(home)) == may
        assert (status == 2) == (not may), "it is refused where nothing may change"


@pytest.mark.parametrize("output", ["work/HULL.COL", "WORK/hull.col", "Links/hull.COL"])
def test_names_in_another_case_are_the_same_files(home, output, monkeypatch):
    with cases(PROMISE):
        before = tree(home)
        NamesWithoutCase(home).install(monkeypatch)
        assert run(home, ("obj", str(home / "work" / "Hull.col"), "-o", str(home / output)), monkeypatch) == 2
        monkeypatch.undo()
        assert tree(home) == before


def test_the_source_of_a_mod_is_as_it_was(home, monkeypatch):
    with cases(PROMISE):
        run(home, ("replace", "game/hidden/MiscBin.pak", f"{HULL}.col=work/Hull.col", "-o", "out"), monkeypatch)
        written = open_archive(home / "out" / COLLISION_ARCHIVE)
        assert written.read(written.find(f"{HULL}.col")) == (home / "work" / "Hull.col").read_bytes()
