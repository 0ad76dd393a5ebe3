"""Extraction stays in its folder, whatever the names."""

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cli import verify
from core.errors import FormatError
from core.formats import compression, ipfb
from core.formats.hashes import file_id
from core.game import archive, archive_extract
from core.game.archive import open_archive
from core.game.archive_extract import extract, safe_name
from core.game.archive_write import make_archive
from core.inspect import check_archive, describe

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
    with pytest.raises(FormatError, match="can't be created"):
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


# --- rows that share what they lead to ------------------------------------------------------------


def shared_rows(folder, count: int, raw: bytes, longer: int = 0):
    """An archive of `count` rows over one packed blob, each by `longer` bytes longer than the one before."""
    stored = compression.pack(raw)
    rows = [ipfb.Entry(number + 1, 0, len(stored) + longer * number) for number in range(count)]
    folder.mkdir(exist_ok=True)
    (folder / "X.pak").write_bytes(ipfb.encode(ipfb.Table(tuple(rows))))
    (folder / "X.p00").write_bytes(stored + bytes(longer * count))
    return folder / "X.pak"


@pytest.fixture
def unpacked(monkeypatch):
    """The sizes of the stored bytes that were unpacked."""
    sizes: list[int] = []
    real = compression.unpack
    monkeypatch.setattr(compression, "unpack", lambda stored: (sizes.append(len(stored)), real(stored))[1])
    return sizes


@pytest.mark.parametrize("longer", [0, 3])
def test_what_rows_share_is_unpacked_once(tmp_path, unpacked, longer):
    pak = shared_rows(tmp_path / "a", 300, bytes(10_000), longer)
    opened = open_archive(pak)
    assert len(unpacked) == 0
    assert {row["bytes"] for row in describe.list_archive(opened)} == {10_000}
    assert len(unpacked) == 0
    seen: list[int] = []
    check_archive.check(opened, visit=lambda rows, data: seen.extend(rows) or (data == bytes(10_000)) or pytest.fail())
    assert (len(unpacked), seen) == (1, list(range(300)))
    results = extract(opened, tmp_path / "out")
    assert (len(unpacked), len(results)) == (2, 300)
    assert {result.path.read_bytes() for result in results} == {bytes(10_000)}
    assert [result.entry for result in results] == list(opened.entries)
    assert len(list(verify.verify([str(pak)], lambda *step: None))) == 1
    assert len(unpacked) == 3


def test_of_rows_at_one_place_a_damaged_one_is_told_by_its_name(tmp_path):
    pak = shared_rows(tmp_path / "a", 3, bytes(10_000))
    table = ipfb.decode(pak.read_bytes())
    short = table.entries[1]._replace(size=table.entries[1].size - 3)
    pak.write_bytes(ipfb.encode(dataclasses.replace(table, entries=(table.entries[0], short, table.entries[2]))))
    results = extract(open_archive(pak), tmp_path / "out")
    assert [result.path is not None for result in results] == [True, False, True]
    assert "X.pak: 00000002: " in str(results[1].error)
    found = check_archive.check(open_archive(pak))
    assert [finding.elements for finding in found if finding.check == "archive data"] == [(1,)]


def test_more_than_any_archive_of_the_game_needs_force(tmp_path, monkeypatch, unpacked):
    monkeypatch.setattr(archive_extract, "LARGEST_IN_ALL", 99_999)
    opened = open_archive(shared_rows(tmp_path / "a", 10, bytes(10_000)))
    expected = "expected at most 99,999 bytes, found 100,000; name those that you need, or take them all with --force"
    with pytest.raises(FormatError, match=expected):
        extract(opened, tmp_path / "out")
    assert not (tmp_path / "out").exists() and not unpacked
    assert len(extract(opened, tmp_path / "out", [1, 2, 3])) == 3
    assert len(extract(opened, tmp_path / "out", force=True)) == 10


def test_a_damaged_length_is_no_reason_to_ask(tmp_path):
    pak = shared_rows(tmp_path / "a", 2, bytes(10_000))
    stored = bytearray(pak.with_suffix(".p00").read_bytes())
    stored[2:6] = b"\xff\xff\xff\xff"
    pak.with_suffix(".p00").write_bytes(stored)
    assert [result.path for result in extract(open_archive(pak), tmp_path / "out")] == [None, None]


def test_entries_that_overlap_are_read_within_bounds(tmp_path, monkeypatch):
    """Hundreds of raw entries over nearly all of one data file, each beginning elsewhere."""
    size, count = 100_000, 500
    rows = [ipfb.Entry(number + 1, number, size - number) for number in range(count)]
    (tmp_path / "X.pak").write_bytes(ipfb.encode(ipfb.Table(tuple(rows))))
    (tmp_path / "X.p00").write_bytes(bytes(size))
    monkeypatch.setattr(archive, "LARGEST_IN_ALL", 0)
    read: list[int] = []
    found = check_archive.check(open_archive(tmp_path / "X.pak"), visit=lambda rows, data: read.append(len(data)))
    assert sum(read) <= compression.MOST_TIMES * size
    assert sum("unpack to too much" in finding.message for finding in found) == count - len(read) > 400
