"""Entries that are stored alike are unpacked once."""

import pytest

from core.errors import FormatError
from core.formats import compression
from core.game.archive import open_archive
from core.game.archive_write import make_archive
from core.game.entry_cache import Contents


@pytest.fixture
def contents(tmp_path):
    entries = {name: (bytes(1000), True) for name in ("a.bin", "b.bin", "c.bin")} | {"d.bin": (b"other", False)}
    make_archive(tmp_path / "X.pak", entries)
    return Contents(open_archive(tmp_path / "X.pak"))


def test_alike_entries_are_one_object_unpacked_once(contents, monkeypatch):
    calls = []
    unpack = compression.unpack
    monkeypatch.setattr(compression, "unpack", lambda stored: calls.append(1) or unpack(stored))
    found = [contents.read(name) for name in ("a.bin", "b.bin", "c.bin", "a.bin")]
    assert found[0] == bytes(1000) and all(data is found[0] for data in found) and len(calls) == 1


def test_it_knows_what_it_holds(contents):
    assert contents.holds("d.bin", b"other") and not contents.holds("a.bin", b"other")
    with pytest.raises(FormatError):
        contents.holds("missing.bin", b"")
