"""Everything that writes files, to be stopped at any of its steps.

`python -m tests.trust.stoppable_writers NAME PREPARED TARGET` runs one in TARGET/1, TARGET/2, …, each time killed in
front of another step, as by a crash or a power cut; the last goes through. A step is a call that changes something in
the folder: making, opening for writing, syncing, renaming, deleting.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from core.disk.files import write_file
from core.formats.hashes import file_id
from core.game import archive_extract, mod_folder, play_folder
from core.game.archive import open_archive
from core.game.archive_write import make_archive, write_archive
from core.game.game_folder import find_game
from tests.support.game_folder import make_game

OLD, NEW = b"what stood here before", b"new bytes " * 20_000
ENTRIES = {name: (name.encode() * 40, False) for name in ("a", "b", "c")}
HULL = "mapmesh_box_500km.col"
WRITING = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod")


class Steps:
    """Calls `at_step` with a number in front of everything that changes a file below the folder, while it is on."""

    def __init__(self) -> None:
        self.folder, self.count, self.at_step = "", 0, lambda number: None
        sync = os.fsync

        def fsync(handle: int) -> None:
            self.step()
            sync(handle)

        os.fsync = fsync
        sys.addaudithook(self._see)

    def start(self, folder: Path, at_step: Callable[[int], None]) -> None:
        self.folder, self.count, self.at_step = str(folder), 0, at_step

    def stop(self) -> None:
        self.folder = ""

    def step(self) -> None:
        if self.folder:
            self.count += 1
            self.at_step(self.count)

    def _see(self, event: str, arguments: tuple) -> None:
        if not self.folder or not (event in WRITING or event == "open"):
            return
        path = arguments[0]
        if not isinstance(path, (str, os.PathLike)) or not os.fspath(path).startswith(self.folder):
            return
        if event != "open" or arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            self.step()


# --- the writers: what is there before, and what is done ------------------------------------------


def _nothing(folder: Path) -> None:
    pass


def _old_file(folder: Path) -> None:
    (folder / "a.col").write_bytes(OLD)


def _write_file(folder: Path) -> None:
    write_file(folder / "a.col", NEW)


def _old_archive(folder: Path) -> None:
    make_archive(folder / "A.pak", ENTRIES, alignment=16, limit=128)


def _write_onto(folder: Path) -> None:
    write_archive(open_archive(folder / "A.pak"), {"b": b"B" * 64, "c": b""}, folder, overwrite_source=True)


def _write_beside(folder: Path) -> None:
    write_archive(open_archive(folder / "A.pak"), {"b": b"B" * 64}, folder / "mod")


def _make(folder: Path) -> None:
    make_archive(folder / "A.pak", {"a": (b"tiny", True)}, alignment=16, limit=128)


def _game_and_mod(folder: Path) -> None:
    make_game(folder / "game")
    mod_folder.write_mod(find_game(folder / "game"), str(folder / "mod"), {"CollisionSet_S01.bin": b"first session"})


def _write_mod(folder: Path) -> None:
    game = find_game(folder / "game")
    data = open_archive(game.require_collision()).read(open_archive(game.require_collision()).find(HULL))
    mod_folder.write_mod(game, str(folder / "mod"), {"CollisionSet_S02.bin": b"second session", HULL: data})


def _mod_and_play(folder: Path) -> None:
    _game_and_mod(folder)
    shutil.copytree(folder / "game", folder / "play")
    (folder / "mod" / "hidden" / "Extra.bin").write_bytes(NEW)


def _deploy(folder: Path) -> None:
    play_folder.deploy(str(folder / "mod"), str(folder / "play"), str(folder / "game"))


def _deployed(folder: Path) -> None:
    _mod_and_play(folder)
    _deploy(folder)


def _restore(folder: Path) -> None:
    if play_folder.is_deployed(str(folder / "play")):
        play_folder.restore(str(folder / "play"), str(folder / "game"))


def _archive_and_files(folder: Path) -> None:
    _old_archive(folder)
    (folder / "out").mkdir()
    for name in ("a", "b"):
        (folder / "out" / name).write_bytes(OLD)


def _extract(folder: Path) -> None:
    archive_extract.extract(open_archive(folder / "A.pak", {file_id(name): name for name in ENTRIES}), folder / "out")


WRITERS: dict[str, tuple[Callable[[Path], None], Callable[[Path], None]]] = {
    "a new file": (_nothing, _write_file),
    "a file over another": (_old_file, _write_file),
    "an archive onto itself": (_old_archive, _write_onto),
    "an archive into another folder": (_old_archive, _write_beside),
    "an archive over a larger one": (_old_archive, _make),
    "a mod's second session": (_game_and_mod, _write_mod),
    "a mod into the play folder": (_mod_and_play, _deploy),
    "originals into the play folder": (_deployed, _restore),
    "extracted entries": (_archive_and_files, _extract),
}


def _run_and_die(name: str, folder: Path, wanted: int) -> None:
    def die(number: int) -> None:
        if number == wanted:
            os.kill(os.getpid(), 9) if os.name == "posix" else os._exit(9)

    Steps().start(folder, die)
    WRITERS[name][1](folder)


def main() -> None:
    """Copies the prepared folder for each step, and runs the writer there in a process that dies at that step."""
    name, prepared, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if len(sys.argv) == 5:
        _run_and_die(name, target, int(sys.argv[4]))
        return
    for step in itertools.count(1):
        folder = target / str(step)
        shutil.copytree(prepared, folder)
        if hasattr(os, "fork"):  # quicker than an interpreter a step
            child = os.fork()
            if not child:
                _run_and_die(name, folder, step)
                os._exit(0)
            died = os.waitpid(child, 0)[1] != 0
        else:
            command = [
                sys.executable,
                "-m",
                "tests.trust.stoppable_writers",
                name,
                str(prepared),
                str(folder),
                str(step),
            ]
            died = subprocess.run(command, check=False).returncode != 0
        if not died:
            break


if __name__ == "__main__":
    main()
