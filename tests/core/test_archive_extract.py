"""Extraction stays in its folder, whatever the names."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.archive import open_archive
from core.archive_extract import extract, safe_name
from core.archive_write import make_archive
from core.errors import FormatError
from core.hashes import file_id

EVIL = {
    "../up.col": ".._up.col",
    "..\\up.col": ".._up.col",
    "/etc/passwd": "_etc_passwd",
    "C:\\game\\x.col": "C__game_x.col",
    "c:x.col": "c_x.col",
    "x.col:stream": "x.col_stream",
    "..": "0000002a.bin",
    ".": "0000002a.bin",
    "": "0000002a.bin",
    "///": "0000002a.bin",
    "con": "_con",
    "NUL.col": "_NUL.col",
    "nul .col": "_nul .col",
    "COM1.a.b": "_COM1.a.b",
    "LPT³": "_LPT³",
    "console.col": "console.col",
    "x.col. . ": "x.col",
    " x.col": "x.col",
    ".hidden": "_.hidden",
    "a\0b\nc": "a_b_c",
    'x?*<>|".col': "x______.col",
    "x" * 300: "0000002a.bin",
    "岩" * 80: "0000002a.bin",
    "岩.col": "岩.col",
    "a\u202eloc.exe": "a_loc.exe",
    "S14_p1_AsteroidVolume_wp.col": "S14_p1_AsteroidVolume_wp.col",
}


@pytest.mark.parametrize("name", EVIL)
def test_safe_names(name):
    expected = EVIL[name]
    assert safe_name(name, 42) == ("_" + expected if expected.startswith("..") else expected)


@given(st.text(max_size=260) | st.text("./\\: CONULcomnul19\0", max_size=12))
def test_any_name_becomes_one_plain_file(name):
    safe = safe_name(name, 42)
    assert safe == safe_name(safe, 42)
    assert not set(safe) & set('<>:"/\\|?*\0')
    assert safe.strip(". ") and safe[-1] not in ". " and safe[0] not in ". "
    assert len(safe.encode()) <= 201
    assert not re.match(r"(?i)(con|prn|aux|nul|com\d|lpt\d) *(\.|$)", safe)


@pytest.fixture
def mixed(tmp_path):
    (tmp_path / "in").mkdir()
    entries = {
        "test.col": (b"hull" * 9, True),
        "CON.col": (b"raw", False),
        "../../out.col": (b"out", True),
        7: (b"?", False),
    }
    return make_archive(tmp_path / "in" / "A.pak", entries)


def test_extracts_all(mixed, tmp_path):
    target = tmp_path / "deep" / "er"
    calls = []
    results = extract(mixed, target, progress=lambda done, total: calls.append((done, total)))
    files = {path.name: path.read_bytes() for path in target.iterdir()}
    assert files == {"test.col": b"hull" * 9, "_CON.col": b"raw", "_.._.._out.col": b"out", "00000007.bin": b"?"}
    assert {result.path for result in results} == set(target.iterdir())
    assert {path.name for path in tmp_path.iterdir()} == {"in", "deep"}
    assert calls[-1][0] == calls[-1][1] > 0


def test_extracts_by_names_that_only_the_caller_knows(mixed, tmp_path):
    nameless = open_archive(mixed.path)
    results = extract(nameless, tmp_path / "o", ["Test.col", "TEST.COL", "00000007", f"{file_id('CON.col'):08x}.bin"])
    assert [result.path.name for result in results] == ["Test.col", "00000007.bin", f"{file_id('CON.col'):08x}.bin"]


def test_a_name_the_archive_lacks_writes_nothing(mixed, tmp_path):
    with pytest.raises(FormatError, match=r"did you mean test\.col"):
        extract(mixed, tmp_path / "o", ["CON.col", "tset.col"])
    assert not (tmp_path / "o").exists()


def test_a_damaged_entry_is_left_out(mixed, tmp_path):
    entry = mixed.find("test.col")
    with open(mixed.path.with_suffix(".p00"), "r+b") as stream:
        stream.seek(entry.offset + 6)
        stream.write(b"\0\0\0\0")
    results = {result.entry.hash: result for result in extract(mixed, tmp_path / "o")}
    assert results[entry.hash].path is None
    assert "A.pak: test.col" in str(results[entry.hash].error)
    assert sum(result.path is not None for result in results.values()) == 3


def test_names_that_become_one_are_kept_apart(tmp_path):
    made = make_archive(tmp_path / "A.pak", {"a/b": (b"1", True), "a:b": (b"2", True), "A_B": (b"3", True)})
    results = extract(made, tmp_path / "o")
    assert sorted(result.path.read_bytes() for result in results) == [b"1", b"2", b"3"]
    assert len({result.path.name.lower() for result in results}) == 3


def test_a_link_in_the_folder_is_not_followed(mixed, tmp_path):
    (tmp_path / "o").mkdir()
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    (tmp_path / "o" / "test.col").symlink_to(outside)
    extract(mixed, tmp_path / "o", ["test.col"])
    assert outside.read_bytes() == b"mine"
    assert (tmp_path / "o" / "test.col").read_bytes() == b"hull" * 9


def test_a_folder_that_cannot_be_made(mixed, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FormatError, match="can't be made"):
        extract(mixed, tmp_path / "file")


OWN_NAMES = [
    "A.pak",
    "A.p00",
    "a.P00",
    "A.p07",
    "A.pak.journal~",
    "A.pak.journal~~",
    "A.p00.new~",
    "A.pak.bak",
    "A.p00.old~",
]


@pytest.mark.parametrize("name", OWN_NAMES)
@pytest.mark.parametrize("linked", [False, True])
def test_the_archive_itself_is_never_written_over(tmp_path, name, linked):
    made = make_archive(tmp_path / "game" / "A.pak", {"x.col": (b"first", False), name: (b"not an archive", False)})
    before = {path.name: path.read_bytes() for path in (tmp_path / "game").iterdir()}
    folder = tmp_path / "game"
    if linked:
        folder = tmp_path / "link"
        folder.symlink_to(tmp_path / "game")
    with pytest.raises(FormatError, match="would overwrite the archive that it comes from; extract into another"):
        extract(made, folder)
    assert {path.name: path.read_bytes() for path in (tmp_path / "game").iterdir()} == before
    assert [result.path.read_bytes() for result in extract(made, folder, ["x.col"])] == [b"first"]
    assert len(extract(made, tmp_path / "elsewhere")) == 2


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_an_archive_that_was_opened_through_links_is_never_written_over(tmp_path, link):
    make_archive(tmp_path / "game" / "A.pak", {"A.p00": (b"not an archive", False), "data.bin": (b"x", False)})
    (tmp_path / "links").mkdir()
    for name in ("A.pak", "A.p00"):
        getattr(tmp_path / "links" / name, link)(tmp_path / "game" / name)
    opened = open_archive(tmp_path / "links" / "A.pak", {file_id("A.p00"): "A.p00"})
    before = (tmp_path / "game" / "A.p00").read_bytes()
    for folder in ("game", "links"):
        with pytest.raises(FormatError, match="would overwrite the archive"):
            extract(opened, tmp_path / folder)
    assert (tmp_path / "game" / "A.p00").read_bytes() == before


def test_names_beside_an_archive_that_only_look_like_its_own(tmp_path):
    names = ["A.p0", "A.p100", "A.pakx", "B.p00", "A.p00.backup", "AA.pak"]
    made = make_archive(tmp_path / "A.pak", {name: (name.encode(), False) for name in names})
    assert len(extract(made, tmp_path)) == len(names)
    assert [made.read(made.find(name)) for name in names] == [name.encode() for name in names]
