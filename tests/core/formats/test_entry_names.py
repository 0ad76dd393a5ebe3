"""Names of archive entries: paths with either slash, bare names, and names with their archive."""

import pytest

from core.formats.entry_names import FOLDERS, base_name, has_id, ids, inner_path, without_pack
from core.formats.hashes import file_id


def test_what_stands_in_front_of_a_path_is_no_part_of_it():
    assert without_pack("hidden\\MiscBin.pak+test.col") == "test.col"
    assert without_pack("a.PAK+b.pak+c.col") == "c.col"
    assert without_pack("test.col") == "test.col"
    assert inner_path("./a/b.tbl") == inner_path("\\a\\b.tbl") == "a\\b.tbl"
    assert base_name("a\\b\\c.tbl") == "c.tbl"


def test_a_bare_name_may_be_in_any_known_folder():
    found = ids("X.tbl")
    assert found[0] == file_id("X.tbl") and {file_id(folder + "X.tbl") for folder in FOLDERS} <= set(found)


def test_a_path_may_be_stored_without_its_folder():
    assert ids("Stage/X.tbl") == list(dict.fromkeys(map(file_id, ("Stage/X.tbl", "Stage\\X.tbl", "X.tbl"))))


@pytest.mark.parametrize("name", ["x.TBL", "STAGE/x.tbl"])
def test_case_does_not_matter(name):
    assert has_id(name, file_id("x.tbl"))


def test_text_that_no_archive_holds_has_no_id():
    assert not has_id("\U0001f680", file_id("x.tbl"))
