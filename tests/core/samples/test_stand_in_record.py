"""How a folder is known as a stand-in."""

import pytest

from core.errors import FormatError
from core.samples.stand_in_record import RECORD, digest, digests, record, require_stand_in

NAMES = ("loose/a.col", "hidden/b.pak")


@pytest.fixture
def folder(tmp_path):
    for name in NAMES:
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(name.encode())
    record(tmp_path, digests(tmp_path, NAMES))
    return tmp_path


def test_an_empty_and_a_missing_folder_are_free(tmp_path):
    assert require_stand_in(tmp_path, NAMES) == require_stand_in(tmp_path / "missing", NAMES) == set()


def test_a_folder_as_it_was_written_is_known(folder):
    assert require_stand_in(folder, NAMES) == {digest(name.encode()) for name in NAMES}


def test_another_file_is_refused(folder):
    (folder / "mine.txt").touch()
    with pytest.raises(FormatError, match=r"the folder holds mine\.txt"):
        require_stand_in(folder, NAMES)


def test_a_changed_file_is_refused(folder):
    (folder / NAMES[1]).write_bytes(b"the game's own")
    with pytest.raises(FormatError, match=r"hidden/b\.pak"):
        require_stand_in(folder, NAMES)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"sha256": 7}', b"\xff", b"[" * 5000])
def test_a_damaged_record_proves_nothing(folder, content):
    (folder / RECORD).write_bytes(content)
    with pytest.raises(FormatError):
        require_stand_in(folder, NAMES)
