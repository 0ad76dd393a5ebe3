"""Journals that aren't what they should be; the steps of a switch are in test_archive_write.py."""

import errno
import json
import os

import pytest

from core.disk import files, lock
from core.disk.transaction import pending, recover, replace_files
from core.errors import FormatError
from tests.support.foreign_systems import Blocked


def journal(folder, sizes, *, switching=True, backup=False):
    content = {"switching": switching, "backup": backup, "sizes": sizes}
    (folder / "A.journal~").write_text(json.dumps(content), encoding="utf-8")


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_replaces_adds_and_deletes(tmp_path):
    (tmp_path / "old").write_bytes(b"1")
    (tmp_path / "gone").write_bytes(b"2")
    writers = {"gone": None, "old": lambda stream: stream.write(b"3"), "new": lambda stream: stream.write(b"4")}
    replace_files(tmp_path, "A", writers, backup=True)
    assert files_of(tmp_path) == {"old": b"3", "new": b"4", "old.bak": b"1", "gone.bak": b"2"}


def test_nothing_to_recover(tmp_path):
    (tmp_path / "A.journal~~").write_bytes(b"half")
    assert not recover(tmp_path, "A")
    assert pending(tmp_path, "A") == {}
    assert files_of(tmp_path) == {}


def test_before_the_switch_the_old_files_count(tmp_path):
    journal(tmp_path, {"a": None}, switching=False)
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a.new~").write_bytes(b"ne")
    assert pending(tmp_path, "A") == {}
    assert recover(tmp_path, "A")
    assert files_of(tmp_path) == {"a": b"old"}


def test_from_the_switch_on_the_new_files_count(tmp_path):
    journal(tmp_path, {"a": 3, "b": 3, "c": None}, backup=True)
    for name, data in {"a": b"NEW", "a.old~": b"old", "b": b"old", "b.new~": b"NEW", "c": b"old"}.items():
        (tmp_path / name).write_bytes(data)
    assert pending(tmp_path, "A") == {"a": tmp_path / "a", "b": tmp_path / "b.new~", "c": None}
    assert recover(tmp_path, "A")
    assert files_of(tmp_path) == {"a": b"NEW", "b": b"NEW", "a.bak": b"old", "b.bak": b"old", "c.bak": b"old"}


@pytest.mark.parametrize("there", [None, b"of another length"])
def test_a_missing_new_file_is_told(tmp_path, there):
    journal(tmp_path, {"a": 3})
    if there:
        (tmp_path / "a").write_bytes(there)
    with pytest.raises(FormatError, match="can't be finished") as caught:
        recover(tmp_path, "A")
    assert caught.value.expected == "a.new~ of 3 bytes"
    assert (tmp_path / "A.journal~").exists()


NO_JOURNALS = [
    b"",
    b"[]",
    b'{"sizes": 1}',
    b'{"sizes": {}}',
    b"\xff",
    b'{"sizes": {"a": "x"}}',
    b'{"sizes": {"a": 1e999}}',
]


@pytest.mark.parametrize("content", [*NO_JOURNALS, b"[" * 100_000, b'{"sizes":' * 100_000], ids=lambda text: text[:24])
def test_a_file_that_is_no_journal(tmp_path, content):
    (tmp_path / "A.journal~").write_bytes(content)
    for function in (recover, pending):
        with pytest.raises(FormatError, match="not a journal") as caught:
            function(tmp_path, "A")
        assert caught.value.file == str(tmp_path / "A.journal~")


@pytest.mark.parametrize("name", ["../a", "/a", "..", ".", "", "b\\a", "c:a"])
def test_a_journal_cannot_lead_out_of_its_folder(tmp_path, name):
    journal(tmp_path, {name: None})
    with pytest.raises(FormatError, match="other folders"):
        recover(tmp_path, "A")


def test_a_folder_in_the_place_of_a_file(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(FormatError, match="a folder has this name"):
        replace_files(tmp_path, "A", {"a": lambda stream: None}, backup=False)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FormatError, match="can't be written") as caught:
        replace_files(tmp_path / "none", "A", {"a": lambda stream: None}, backup=False)
    assert caught.value.remedy == "nothing was changed"


def test_what_a_writer_raises_comes_through(tmp_path):
    def writer(stream):
        stream.write(b"half")
        raise FormatError("the source is damaged")

    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(FormatError, match="the source is damaged"):
        replace_files(tmp_path, "A", {"a": writer}, backup=True)
    assert files_of(tmp_path) == {"a": b"old"}


@pytest.mark.parametrize("name", ["n" * 300, "日" * 90])
def test_a_journal_with_a_name_that_no_file_can_have(tmp_path, name):
    journal(tmp_path, {name: 3})
    with pytest.raises(FormatError, match="File name too long"):
        pending(tmp_path, "A")
    with pytest.raises(FormatError, match="File name too long"):
        recover(tmp_path, "A")


# --- as other systems answer ----------------------------------------------------------------------

WRITERS = {"A": lambda stream: stream.write(b"new A"), "B": lambda stream: stream.write(b"new B"), "C": None}
OLD = {"A": b"old A", "B": b"old B", "C": b"old C"}


@pytest.fixture
def folder(tmp_path):
    for name, data in OLD.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


@pytest.mark.parametrize("name", ["A", "B", "C", "A.journal~"])
def test_a_file_that_is_blocked_for_a_while(folder, monkeypatch, name):
    blocked = Blocked(folder / name, seconds=0.2).install(monkeypatch)
    replace_files(folder, "A", WRITERS, backup=False)
    assert files_of(folder) == {"A": b"new A", "B": b"new B"}
    assert blocked.answers


@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_a_file_that_stays_blocked_leaves_the_old_ones_and_keeps_the_new(folder, monkeypatch, name):
    monkeypatch.setattr(files, "PATIENCE", 0.05)
    Blocked(folder / name).install(monkeypatch)
    for kept in ("A.new", "A.new2"):
        with pytest.raises(FormatError, match="close the game or the program that uses the file, then write") as caught:
            replace_files(folder, "A", WRITERS, backup=True)
        assert caught.value.remedy.endswith(f"nothing was changed, and the new files are kept in {folder / kept}")
        assert files_of(folder / kept) == {"A": b"new A", "B": b"new B"}
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == OLD


def test_a_blocked_journal_changes_nothing(folder, monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", 0.05)
    Blocked(folder / "A.journal~").install(monkeypatch)
    with pytest.raises(FormatError, match="nothing was changed"):
        replace_files(folder, "A", WRITERS, backup=True)
    monkeypatch.undo()
    recover(folder, "A")
    assert files_of(folder) == OLD


def test_links_in_the_place_of_temporaries_are_not_followed(folder):
    outside = folder / "outside"
    outside.write_bytes(b"mine")
    for name in ("A.new~", "A.journal~~"):
        (folder / name).symlink_to(outside)
    replace_files(folder, "A", WRITERS, backup=False)
    assert files_of(folder) == {"A": b"new A", "B": b"new B", "outside": b"mine"}


if os.name == "posix":
    import fcntl

    @pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS, errno.EBADF])
    def test_a_file_system_without_locks_is_no_other_writer(folder, monkeypatch, code):
        def flock(*arguments):
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(lock, "WAITS", 0.1)
        monkeypatch.setattr(fcntl, "flock", flock)
        replace_files(folder, "A", WRITERS, backup=False)
        assert files_of(folder) == {"A": b"new A", "B": b"new B"}

    @pytest.mark.parametrize("code", [errno.EAGAIN, errno.EACCES, errno.EDEADLK])
    def test_a_lock_that_another_program_has_is_one(folder, monkeypatch, code):
        def flock(*arguments):
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(lock, "WAITS", 0.1)
        monkeypatch.setattr(fcntl, "flock", flock)
        with pytest.raises(FormatError, match="another program is writing an archive"):
            replace_files(folder, "A", WRITERS, backup=False)
        assert files_of(folder) == OLD
