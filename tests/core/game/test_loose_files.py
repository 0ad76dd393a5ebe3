"""Files outside archives: their kind, and no more bytes than their kind has."""

import pytest

from core.errors import FormatError
from core.formats.kinds import ENOUGH, Kind
from core.game import loose_files
from core.game.loose_files import MOST, detect_file, read_known
from tests.support.hulls import DATA, read


def test_every_kind_has_a_limit():
    assert set(MOST) == set(Kind)


def test_a_known_file_is_read_as_a_whole():
    assert read_known(DATA / "test.col") == (Kind.HULL, read("test.col"))
    assert detect_file(DATA / "test.col") is Kind.HULL


def test_of_an_unknown_file_only_the_beginning_is_read(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(bytes(10 * ENOUGH))
    assert read_known(path) == (None, bytes(ENOUGH)) and detect_file(path) is None


def test_more_bytes_than_the_kind_has_are_refused(monkeypatch):
    monkeypatch.setitem(loose_files.MOST, Kind.HULL, 100)
    with pytest.raises(FormatError, match="at most 100 bytes") as caught:
        read_known(DATA / "test.col")
    assert caught.value.file == str(DATA / "test.col")


@pytest.mark.parametrize("read_it", [read_known, detect_file])
def test_a_missing_file_has_the_system_s_reason(tmp_path, read_it):
    with pytest.raises(FormatError, match="can't be read") as caught:
        read_it(tmp_path / "missing")
    assert caught.value.file == str(tmp_path / "missing")
