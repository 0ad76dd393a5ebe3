"""Whole files: what can't be read says why, and a failed write leaves the old file and nothing else."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from pathlib import Path

import pytest

from core.disk import files
from core.disk.files import make_folder, read_file, write_file, write_files
from core.errors import FormatError
from tests.support.foreign_systems import Blocked, NamesWithoutCase, NoNewFiles, nested

OLD, NEW = b"what stood here before", b"new bytes" * 1000
posix = os.name == "posix"


def refusal(call, *arguments) -> str:
    with pytest.raises(FormatError) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# --- reading --------------------------------------------------------------------------------------


def test_a_file_is_read_whole(tmp_path):
    (tmp_path / "a.bin").write_bytes(NEW)
    assert read_file(tmp_path / "a.bin") == read_file(str(tmp_path / "a.bin")) == NEW


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.col", "No such file or directory"),
        ("folder", "Is a directory"),
        ("file/below.col", "Not a directory"),
        ("n" * 300 + ".col", "File name too long"),
    ],
)
def test_what_cannot_be_read_names_path_and_reason(tmp_path, name, reason):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(OLD)
    assert refusal(read_file, tmp_path / name) == f"{tmp_path / name}: can't be read ({reason})"


# --- writing --------------------------------------------------------------------------------------

NAMES = [
    "plain.col",
    "日本 語é ü.bin",
    " blank in front and behind .col ",
    "n" * 240 + ".col",
    "日" * 80 + ".col",
    "-o.col",
    "per%cent $HOME `x` 'quote'.col",
    ".hidden",
    "no extension",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_written_and_nothing_else(tmp_path, name):
    write_file(tmp_path / name, NEW)
    assert contents(tmp_path) == {name: NEW}
    write_file(tmp_path / name, OLD)
    assert contents(tmp_path) == {name: OLD}


@pytest.mark.parametrize("folder", ["日本 語é", "trailing blank ", "f" * 240])
def test_any_folder_is_written_to(tmp_path, folder):
    (tmp_path / folder).mkdir()
    write_file(tmp_path / folder / "a.col", NEW)
    assert contents(tmp_path / folder) == {"a.col": NEW}


def test_no_bytes_make_an_empty_file(tmp_path):
    write_file(tmp_path / "a.col", b"")
    assert contents(tmp_path) == {"a.col": b""}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("folder", "a folder has this name"),
        ("missing/a.col", "No such file or directory"),
        ("old.col/a.col", "Not a directory"),
        ("n" * 300 + ".col", "File name too long"),
        ("日" * 90 + ".col", "File name too long"),
    ],
)
def test_what_cannot_be_written_names_path_and_reason(tmp_path, name, reason):
    (tmp_path / "folder").mkdir()
    (tmp_path / "old.col").write_bytes(OLD)
    assert refusal(write_file, tmp_path / name, NEW) == f"{tmp_path / name}: can't be written ({reason})"
    assert contents(tmp_path) == {"old.col": OLD} and contents(tmp_path / "folder") == {}


def test_a_read_only_file_is_refused(tmp_path, monkeypatch):
    """The permission itself doesn't bind the super-user, so the answer to the question is set."""
    target = tmp_path / "old.col"
    target.write_bytes(OLD)
    monkeypatch.setattr(files.os, "access", lambda path, mode: Path(path) != target)
    assert "the file is read-only" in refusal(write_file, target, NEW)
    assert contents(tmp_path) == {"old.col": OLD}


FAILURES = ["open", "write", "fsync", "chmod", "replace"]


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("step", FAILURES)
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_a_failure_at_any_step_leaves_the_old_file_and_no_temporary(tmp_path, monkeypatch, step, code, exists):
    target = tmp_path / "a.col"
    before = {}
    if exists:
        target.write_bytes(OLD)
        before = {"a.col": OLD}

    def fail(*arguments, **options):
        raise OSError(code, os.strerror(code))

    class FullDisk:
        """Takes half of what it is given."""

        def __init__(self, handle, mode):
            self.stream = io.FileIO(handle, mode)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.stream.close()

        def write(self, data):
            self.stream.write(data[: len(data) // 2])
            fail()

    if step == "write":
        monkeypatch.setattr(files.os, "fdopen", FullDisk)
    else:
        monkeypatch.setattr(files.os, step, fail)
    monkeypatch.setattr(files, "PATIENCE", 0)
    if step == "chmod" and not exists:  # a new file is made with its permissions
        write_file(target, NEW)
        assert contents(tmp_path) == {"a.col": NEW}
        return
    message = refusal(write_file, target, NEW)
    monkeypatch.undo()
    assert message.startswith(f"{target}: can't be written ({os.strerror(code)})")
    kept = {"a.new.col": NEW} if (step, code) == ("replace", errno.EACCES) else {}
    assert contents(tmp_path) == before | kept


# --- as other systems answer ----------------------------------------------------------------------


def test_a_target_that_is_blocked_for_a_while_is_written(tmp_path, monkeypatch):
    (tmp_path / "a.col").write_bytes(OLD)
    blocked = Blocked(tmp_path / "a.col", seconds=0.3).install(monkeypatch)
    write_file(tmp_path / "a.col", NEW)
    assert contents(tmp_path) == {"a.col": NEW}
    assert 3 <= blocked.answers <= 20, "it neither gives up nor keeps the processor busy"


def test_a_target_that_stays_blocked_leaves_the_new_file_under_a_name_that_the_error_gives(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", 0.1)
    Blocked(tmp_path / "a.col").install(monkeypatch)
    (tmp_path / "a.col").write_bytes(OLD)
    for name, data in (("a.new.col", NEW), ("a.new2.col", b"another")):
        error = refusal(write_file, tmp_path / "a.col", data)
        assert error.endswith(
            "a.col: can't be written (Permission denied); close the game or the program that uses the file, "
            f"then write again; the new file is kept as {tmp_path / name}"
        )
    assert contents(tmp_path) == {"a.col": OLD, "a.new.col": NEW, "a.new2.col": b"another"}


def test_a_kept_file_that_can_get_no_better_name_is_told_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", 0)
    target = tmp_path / ("n" * 248 + ".col")
    Blocked(target).install(monkeypatch)
    error = refusal(write_file, target, NEW)
    ((name, data),) = contents(tmp_path).items()
    assert data == NEW and error.endswith(str(tmp_path / name))


def test_a_folder_without_new_files_is_tried_once(tmp_path, monkeypatch):
    (tmp_path / "a.col").write_bytes(OLD)
    folder = NoNewFiles(tmp_path).install(monkeypatch)
    error = refusal(write_file, tmp_path / "a.col", NEW)
    assert error == f"{tmp_path / 'a.col'}: can't be written (Permission denied)"
    assert folder.answers == 1
    assert contents(tmp_path) == {"a.col": OLD}


def test_names_that_are_taken_are_tried_a_few_times(tmp_path, monkeypatch):
    taken = tmp_path / ".sylpheed-a.tmp"
    taken.write_bytes(b"of another program")
    names = iter("aaab" + "a" * files.TRIES)
    monkeypatch.setattr(files.secrets, "token_hex", lambda size: next(names))
    write_file(tmp_path / "a.col", NEW)
    assert contents(tmp_path) == {"a.col": NEW, taken.name: b"of another program"}
    assert "File exists" in refusal(write_file, tmp_path / "a.col", OLD)
    assert contents(tmp_path) == {"a.col": NEW, taken.name: b"of another program"}


def test_a_name_in_another_case_is_the_same_file(tmp_path, monkeypatch):
    (tmp_path / "A.col").write_bytes(OLD)
    NamesWithoutCase(tmp_path).install(monkeypatch)
    write_file(tmp_path / "a.COL", NEW)
    assert contents(tmp_path) == {"A.col": NEW}


def test_an_interruption_leaves_the_old_file_and_no_temporary(tmp_path, monkeypatch):
    (tmp_path / "a.col").write_bytes(OLD)

    def interrupt(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path / "a.col", NEW)
    assert contents(tmp_path) == {"a.col": OLD}


def test_what_a_killed_program_left_is_removed_a_day_later_and_nothing_else(tmp_path):
    names = [".sylpheed-old.tmp", ".sylpheed-new.tmp", ".sylpheed-old.col", "sylpheed-old.tmp"]
    for name in names:
        (tmp_path / name).write_bytes(OLD)
        if "old" in name:
            os.utime(tmp_path / name, (0, 0))
    write_file(tmp_path / "a.col", NEW)
    assert contents(tmp_path).keys() == {"a.col", *names[1:]}


def test_the_temporary_stands_beside_the_target_on_the_same_disk(tmp_path, monkeypatch):
    seen = []
    real = os.replace
    monkeypatch.setattr(files.os, "replace", lambda old, new: (seen.append((Path(old), Path(new))), real(old, new)))
    write_file(tmp_path / "a.col", NEW)
    ((old, new),) = seen
    assert old.parent == new.parent == tmp_path


def test_the_bytes_are_on_the_disk_before_they_replace_the_old_ones(tmp_path, monkeypatch):
    steps = []
    real_sync, real_replace = os.fsync, os.replace
    monkeypatch.setattr(files.os, "fsync", lambda handle: (steps.append("fsync"), real_sync(handle)))
    monkeypatch.setattr(files.os, "replace", lambda *names: (steps.append("replace"), real_replace(*names)))
    write_file(tmp_path / "a.col", NEW)
    assert steps == ["fsync", "replace"]


if posix:

    @pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
    def test_the_permissions_of_a_replaced_file_stay(tmp_path, mode):
        target = tmp_path / "a.col"
        target.write_bytes(OLD)
        target.chmod(mode)
        write_file(target, NEW)
        assert stat.S_IMODE(target.stat().st_mode) == mode

    @pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
    def test_a_new_file_has_the_users_usual_permissions(tmp_path, mask):
        before = os.umask(mask)
        try:
            write_file(tmp_path / "a.col", NEW)
        finally:
            assert os.umask(before) == mask
        assert stat.S_IMODE((tmp_path / "a.col").stat().st_mode) == 0o666 & ~mask

    @pytest.mark.parametrize("dangling", [False, True])
    def test_a_link_stays_a_link_and_the_file_that_it_names_is_written(tmp_path, dangling):
        (tmp_path / "there").mkdir()
        real = tmp_path / "there" / "real.col"
        if not dangling:
            real.write_bytes(OLD)
        (tmp_path / "link.col").symlink_to(real)
        write_file(tmp_path / "link.col", NEW)
        assert (tmp_path / "link.col").is_symlink()
        assert contents(tmp_path / "there") == {"real.col": NEW}

    def test_a_link_to_itself_stays(tmp_path):
        (tmp_path / "loop.col").symlink_to(tmp_path / "loop.col")
        (tmp_path / "there.col").symlink_to(tmp_path / "back.col")
        (tmp_path / "back.col").symlink_to(tmp_path / "there.col")
        for name in ("loop.col", "there.col"):
            assert "a link that leads to itself" in refusal(write_file, tmp_path / name, NEW)
            assert "Too many levels of symbolic links" in refusal(read_file, tmp_path / name)
            assert (tmp_path / name).is_symlink()

    def test_what_is_no_regular_file_is_not_replaced(tmp_path):
        """As the super-user it would be: `-o /dev/null` would turn the device into a file."""
        os.mkfifo(tmp_path / "pipe")
        assert "it is no regular file" in refusal(write_file, tmp_path / "pipe", NEW)
        assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
        assert [path.name for path in tmp_path.iterdir()] == ["pipe"]

    def test_a_name_that_is_no_text_is_read_and_written(tmp_path):
        path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/S14\xe9.col"))
        write_file(path, NEW)
        assert read_file(path) == NEW
        refusal(read_file, path.with_name(path.name + "x"))


def test_the_reason_is_the_systems_own(tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError("no strerror here")

    monkeypatch.setattr(files.os, "replace", fail)
    assert refusal(write_file, tmp_path / "a.col", NEW).endswith("(no strerror here)")
    assert sys.exc_info() == (None, None, None)


# --- folders --------------------------------------------------------------------------------------


def test_a_folder_is_made_with_those_around_it(tmp_path):
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


def test_a_thousand_folders_are_made_at_once(tmp_path):
    with nested(tmp_path) as deepest:
        make_folder(deepest)
        assert deepest.is_dir()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("file", "Not a directory"),
        ("file/below", "Not a directory"),
        ("loop", "Too many levels"),
        ("n" * 300, "too long"),
    ],
)
def test_a_folder_that_cannot_be_made(tmp_path, name, reason):
    (tmp_path / "file").write_bytes(OLD)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    error = refusal(make_folder, tmp_path / name)
    assert error.startswith(f"{tmp_path / name}: the folder can't be created (") and reason in error


# --- files that belong together -------------------------------------------------------------------


def pair(folder: Path, data: bytes = NEW) -> dict[str, bytes]:
    return {str(folder / "a.col"): data, str(folder / "a.rgn"): data[::-1]}


@pytest.mark.parametrize("exists", [(), ("a.col",), ("a.rgn",), ("a.col", "a.rgn")])
def test_files_that_belong_together_are_all_written(tmp_path, exists):
    for name in exists:
        (tmp_path / name).write_bytes(OLD)
    write_files(pair(tmp_path))
    assert contents(tmp_path) == {"a.col": NEW, "a.rgn": NEW[::-1]}


@pytest.mark.parametrize("blocked", ["a.col", "a.rgn"])
@pytest.mark.parametrize("exists", [(), ("a.col",), ("a.rgn",), ("a.col", "a.rgn")])
def test_where_one_cannot_be_replaced_each_is_as_it_was(tmp_path, monkeypatch, exists, blocked):
    monkeypatch.setattr(files, "PATIENCE", 0)
    for name in exists:
        (tmp_path / name).write_bytes(OLD)
    before = contents(tmp_path)
    Blocked(tmp_path / blocked).install(monkeypatch)
    assert blocked in refusal(write_files, pair(tmp_path))
    kept = {"a.col": {"a.new.col": NEW}, "a.rgn": {"a.new.rgn": NEW[::-1]}}[blocked]
    assert contents(tmp_path) == before | kept


@pytest.mark.parametrize("fails_at", range(1, 3))
def test_where_one_finds_no_room_nothing_is_replaced(tmp_path, monkeypatch, fails_at):
    for name in ("a.col", "a.rgn"):
        (tmp_path / name).write_bytes(OLD)
    calls, real = [], os.fsync

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) == fails_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    monkeypatch.setattr(files.os, "fsync", full)
    refusal(write_files, pair(tmp_path))
    assert contents(tmp_path) == {"a.col": OLD, "a.rgn": OLD}
