"""Journals that aren't what they should be; the steps of a switch are in test_archive_write.py."""

import json

import pytest

from core.errors import FormatError
from core.file_switch import pending, recover, replace_files


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
