"""Writers stopped at every step: killed, out of room, locked out, cut off. Old or new files are there, whole."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.disk import files, lock, transaction
from core.errors import FormatError
from core.game.archive import open_archive
from core.game.archive_write import make_archive
from core.game.game_folder import find_game
from core.game.mod_folder import open_collision
from tests.support.game_folder import make_game
from tests.support.tally import cases
from tests.trust.stoppable_writers import WRITERS, Steps

ROOT = Path(__file__).resolve().parents[2]
STEPS = Steps()


@pytest.fixture(autouse=True)
def steps_off():
    yield
    STEPS.stop()


def state(folder: Path) -> dict[str, object]:
    """What a user has: every file, and of archives the entries."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".pak":
            opened = open_archive(path, recover=True)
            found[str(path.relative_to(folder))] = {entry.hash: opened.read(entry) for entry in opened.entries}
        elif path.is_file() and path.suffix not in (".bak", ".p00", ".p01", ".p02", ".p03"):
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def temporaries(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.name.endswith("~") or path.name.startswith(".sylpheed-")]


def recovered(folder: Path) -> dict[str, object]:
    """The state once a program that may write has looked at the archives."""
    for journal in list(folder.rglob("*.journal~*")):
        transaction.recover(journal.parent, journal.name.partition(".journal~")[0])
    return {name: data for name, data in state(folder).items() if Path(name).name not in temporaries(folder)}


@pytest.fixture(params=WRITERS)
def writer(request, tmp_path_factory):
    """Name, a folder as it is before, and what the user has before and after."""
    prepare, run = WRITERS[request.param]
    before, after = (tmp_path_factory.mktemp(word) for word in ("before", "after"))
    prepare(before)
    prepare(after)
    run(after)
    return request.param, before, state(before), state(after)


def assert_old_or_new(folder: Path, before: dict, after: dict) -> None:
    found = recovered(folder)
    for name in before.keys() | after.keys():
        assert found.get(name) in (before.get(name), after.get(name)), f"{name} is neither old nor new"
    assert found.keys() <= before.keys() | after.keys()


def assert_a_later_run_ends_it(run, folder: Path, after: dict) -> None:
    a_day_ago = time.time() - files.ABANDONED_AFTER - 60
    for path in folder.rglob(".sylpheed-*"):
        os.utime(path, (a_day_ago, a_day_ago))
    run(folder)
    assert state(folder) == after
    assert not temporaries(folder)


def test_killed_at_every_step(writer, tmp_path):
    name, prepared, before, after = writer
    command = [sys.executable, "-m", "tests.trust.stoppable_writers", name, str(prepared), str(tmp_path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    folders = sorted(tmp_path.iterdir(), key=lambda folder: int(folder.name))
    assert len(folders) > 3, "it took no steps"
    assert state(folders[-1]) == after, "the last one went through"
    for folder in folders:
        with cases("writers killed"):
            left = shutil.copytree(folder, tmp_path / "left")
            assert_old_or_new(left, before, after)
            shutil.rmtree(left)
            assert_a_later_run_ends_it(WRITERS[name][1], folder, after)


TROUBLE = {
    "disk full": (errno.ENOSPC, False),
    "file held open": (errno.EACCES, False),
    "folder read-only": (errno.EROFS, True),
    "network drive lost": (errno.EHOSTDOWN, True),
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_trouble_at_every_step(writer, trouble, tmp_path):
    """Once, and the system works again for the cleaning up; or from then on nothing works any more."""
    name, prepared, before, after = writer
    code, lasting = TROUBLE[trouble]
    for wanted in itertools.count(1):
        folder = tmp_path / str(wanted)
        shutil.copytree(prepared, folder)

        def fail(number: int, wanted: int = wanted) -> None:
            if number == wanted or (lasting and number > wanted):
                raise OSError(code, os.strerror(code))

        with cases(f"writers with trouble: {trouble}"):
            STEPS.start(folder, fail)
            try:
                WRITERS[name][1](folder)
                failed = False
            except FormatError as error:
                failed = True
                assert os.strerror(code) in str(error) and "\n" not in str(error)
            finally:
                taken = STEPS.count
                STEPS.stop()
            if not lasting:
                assert not temporaries(folder) or not failed
            left = shutil.copytree(folder, tmp_path / "left")
            assert_old_or_new(left, before, after)
            assert failed or state(left) == after
            shutil.rmtree(left)
            assert_a_later_run_ends_it(WRITERS[name][1], folder, after)
        if taken < wanted:
            break
    assert wanted > 3, "it took no steps"


WRITE_A_MOD = """
import sys
from core.game.mod_folder import open_collision, write_mod
from core.game.game_folder import find_game
game, name = find_game(sys.argv[1]), sys.argv[3]
for number in range(15):
    write_mod(game, sys.argv[2], {name: b"%d of " % number + name.encode()})
"""


def test_programs_that_write_one_mod_at_the_same_time_wait_for_each_other(tmp_path):
    game, mod = make_game(tmp_path / "game"), tmp_path / "mod"
    names = [f"CollisionSet_S{number:02d}.bin" for number in (1, 2, 3)]
    command = [sys.executable, "-c", WRITE_A_MOD, str(game), str(mod)]
    with cases("programs writing at once", 15 * len(names)):
        running = [subprocess.Popen([*command, name], cwd=ROOT, stderr=subprocess.PIPE, text=True) for name in names]
        errors = [process.communicate()[1] for process in running]
        assert [process.returncode for process in running] == [0, 0, 0], errors
        archive = open_collision(find_game(game), str(mod))
        assert [archive.read(archive.find(name)) for name in names] == [b"14 of " + name.encode() for name in names]
        assert not temporaries(mod)


def test_a_program_that_never_ends_its_write_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "WAITS", 0.1)
    monkeypatch.setattr(lock.tempfile, "tempdir", str(tmp_path))  # a lock of the test alone
    held = lock._open()
    assert held is not None
    with held:
        assert lock._locked(held)
        with pytest.raises(FormatError, match="another program is writing an archive"):
            make_archive(tmp_path / "A.pak", {"a": (b"", False)})
    make_archive(tmp_path / "A.pak", {"a": (b"", False)})
