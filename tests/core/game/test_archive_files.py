"""Which files an archive consists of."""

import pytest

from core.errors import FormatError
from core.game.archive_files import archive_files, belongs_to_archive, part_names


def test_data_files_have_two_digits():
    names = ["A.p00", "A.p01", "A.p1", "A.pak", "A.p0x", "B.p00", "A.p00.bak"]
    assert part_names("A.pak", names) == {0: "A.p00", 1: "A.p01"}


def test_the_exact_spelling_comes_first():
    assert part_names("A.pak", ["a.P00", "A.p00"])[0] == "A.p00"
    assert part_names("A.pak", ["a.P00"])[0] == "a.P00"


@pytest.mark.parametrize("name", ["A.pak", "a.PAK", "A.p07", "A.pak.bak", "A.p00.bak", "A.pak.journal~", "A.p00.new~"])
def test_what_a_write_leaves_beside_belongs_to_it(name):
    assert belongs_to_archive("A.pak", name)


@pytest.mark.parametrize("name", ["AB.pak", "A.p7", "A.pak.txt", "xA.pak", "A.col"])
def test_other_files_do_not(name):
    assert not belongs_to_archive("A.pak", name)


def test_the_files_that_are_there(tmp_path):
    for name in ("A.pak", "A.p00", "B.p00"):
        (tmp_path / name).touch()
    assert [path.name for path in archive_files(tmp_path / "A.pak")] == ["A.p00", "A.pak"]
    with pytest.raises(FormatError):
        archive_files(tmp_path / "missing" / "A.pak")
