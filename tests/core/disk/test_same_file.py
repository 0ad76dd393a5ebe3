"""Two paths of one file are known as such through links, hard links and spellings, and nothing else is."""

import os
from pathlib import Path

import pytest

from core.disk.same_file import is_inside, refuse_inside, refuse_same, same_file
from core.errors import FormatError
from tests.support.foreign_systems import NamesWithoutCase


@pytest.fixture
def folder(tmp_path) -> Path:
    place = tmp_path / "Place"
    place.mkdir()
    (place / "Foo.col").write_bytes(b"hull")
    return place


def test_one_path_and_its_detours(folder, monkeypatch):
    assert same_file(folder / "Foo.col", folder / ".." / "Place" / "Foo.col")
    monkeypatch.chdir(folder)
    assert same_file("Foo.col", folder / "Foo.col")
    assert not same_file(folder / "Foo.col", folder)


def test_links_and_hard_links(folder, tmp_path):
    (tmp_path / "soft").symlink_to(folder / "Foo.col")
    (tmp_path / "around").symlink_to(folder)
    os.link(folder / "Foo.col", tmp_path / "hard")
    (tmp_path / "copy").write_bytes(b"hull")
    for name in ("soft", "hard", "around/Foo.col"):
        assert same_file(tmp_path / name, folder / "Foo.col"), name
    assert not same_file(tmp_path / "copy", folder / "Foo.col")


def test_what_does_not_exist_yet_is_judged_by_its_folder(folder, tmp_path):
    (tmp_path / "around").symlink_to(folder)
    (tmp_path / "dangling").symlink_to(folder / "new.col")
    assert same_file(tmp_path / "around" / "new.col", folder / "new.col")
    assert same_file(tmp_path / "around" / "deep" / "new.col", folder / "deep" / "new.col")
    assert same_file(tmp_path / "dangling", folder / "new.col")
    assert not same_file(folder / "new.col", folder / "other.col")
    assert not same_file(folder / "new.col", tmp_path / "new.col")
    assert not same_file(folder / "new.col", folder / "NEW.col"), "this file system distinguishes case"


def test_a_link_to_itself_is_nothing_else(folder):
    (folder / "loop").symlink_to(folder / "loop")
    assert not same_file(folder / "loop", folder / "Foo.col")
    assert not is_inside(folder / "Foo.col", folder / "loop")


def test_case_where_the_file_system_has_none(folder, tmp_path, monkeypatch):
    NamesWithoutCase(tmp_path).install(monkeypatch)
    assert same_file(folder / "Foo.col", folder / "foo.COL")
    assert same_file(folder / "new.col", tmp_path / "pLACE" / "NEW.col")
    assert same_file(folder / "deep" / "é.col", folder / "DEEP" / "E\u0301.col")
    assert not same_file(folder / "new.col", folder / "newer.col")
    assert is_inside(tmp_path / "PLACE" / "deep" / "new.col", folder)
    with pytest.raises(FormatError, match="is the source file itself"):
        refuse_same(tmp_path / "place" / "FOO.COL", folder / "Foo.col")


def test_a_drive_that_numbers_no_files(folder, monkeypatch):
    """Some network drives on Windows give every file the number 0."""
    (folder / "Other.col").write_bytes(b"another")
    real = os.stat

    def stat(*arguments, **options):
        return os.stat_result((real(*arguments, **options)[0], 0, *real(*arguments, **options)[2:10]))

    monkeypatch.setattr(os, "stat", stat)
    assert same_file(folder / "Foo.col", folder / "Foo.col")
    assert not same_file(folder / "Foo.col", folder / "Other.col")


def test_inside(folder, tmp_path):
    (tmp_path / "into").symlink_to(folder / "deep")
    assert is_inside(folder, folder)
    assert is_inside(folder / "deep" / "er" / "x.col", folder)
    assert is_inside(tmp_path / "into" / "x.col", folder)
    assert not is_inside(tmp_path, folder)
    assert not is_inside(tmp_path / "Place2", folder)


def test_refusals(folder, tmp_path):
    refuse_same(folder / "Foo.col", None, "", tmp_path / "Foo.col")
    refuse_inside(folder / "Foo.col", None)
    refuse_inside(folder / "Foo.col", "")
    refuse_inside(tmp_path / "Foo.col", folder)
    with pytest.raises(FormatError, match=r"Foo\.col: is the source file itself; choose another name"):
        refuse_same(folder / "Foo.col", tmp_path, folder / "Foo.col")
    with pytest.raises(FormatError, match=r"Foo\.col: lies in the game folder; choose a folder outside the game"):
        refuse_inside(folder / "Foo.col", folder)
