"""Archives on the disk: only what is asked for is read, a fault is named by entry and spoils no other."""

import os
import struct
import zlib

import pytest

from core.errors import FormatError, Severity
from core.formats import ipfb
from core.formats.hashes import file_id
from core.game import archive
from core.game.archive import open_archive
from core.inspect.check_archive import check

NAMES = {file_id(name): name for name in ("alpha.col", "beta.col", "gamma.rgn")}


def write_by_hand(folder, rows, parts, *, name="Test", alignment=0x800, limit=0x10000000, tail=b""):
    """An archive of (hash, position, size) rows and data files by number, without the code under test."""
    head = b"IPFB" + struct.pack(">III", len(rows), alignment, limit)
    (folder / f"{name}.pak").write_bytes(head + b"".join(struct.pack(">III", *row) for row in rows) + tail)
    for number, data in parts.items():
        (folder / f"{name}.p{number:02d}").write_bytes(data)
    return folder / f"{name}.pak"


def packed(data):
    return b"Z1" + struct.pack(">II", len(data), zlib.adler32(data)) + zlib.compress(data)


@pytest.fixture
def small(tmp_path):
    """alpha.col packed in .p00, beta.col raw behind it, gamma.rgn raw in .p01."""
    alpha = packed(b"first hull")
    rows = [(file_id("alpha.col"), 0, len(alpha)), (file_id("beta.col"), 0x800, 4), (file_id("gamma.rgn"), 1 << 28, 5)]
    parts = {0: alpha.ljust(0x800, b"\0") + b"beta".ljust(0x800, b"\0"), 1: b"gamma"}
    return write_by_hand(tmp_path, sorted(rows), parts)


def test_reads_by_hand_made_files(small):
    opened = open_archive(small, NAMES)
    assert opened.read(opened.find("alpha.col")) == b"first hull"
    assert opened.stored(opened.find("ALPHA.COL")) == packed(b"first hull")
    assert opened.read(opened.find(file_id("beta.col"))) == b"beta"
    assert opened.read(opened.find("gamma.rgn")) == b"gamma"
    assert opened.unpacked_size(opened.find("alpha.col")) == 10
    assert opened.unpacked_size(opened.find("beta.col")) is None
    assert check(opened) == []


def test_opening_reads_no_data_file(small, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a data file was read")

    monkeypatch.setattr(archive, "read_range", refuse)
    for part in small.parent.glob("*.p0?"):
        os.truncate(part, 1 << 30)  # sparse: a gigabyte that takes no room
    assert len(open_archive(small).entries) == 3


def test_entries_are_found_by_written_hash(small):
    opened = open_archive(small)
    assert (
        opened.find(f"{file_id('beta.col'):08X}.bin")
        == opened.find(f"{file_id('beta.col'):08x}")
        == opened.find("beta.col")
    )
    assert opened.label(opened.find("beta.col")) == f"{file_id('beta.col'):08x}"


def test_an_unknown_name_suggests_the_closest(small):
    with pytest.raises(FormatError) as caught:
        open_archive(small, NAMES).find("alhpa.col")
    assert caught.value.remedy.startswith("did you mean alpha.col")
    assert caught.value.file == str(small)
    assert "alhpa.col" in str(caught.value)
    with pytest.raises(FormatError, match="`list`"):
        open_archive(small, NAMES).find(7)


def test_names_without_an_entry_are_dropped(small):
    opened = open_archive(small, {**NAMES, 5: "nothing"})
    assert opened.names == NAMES
    assert open_archive(small).with_names(NAMES).names == NAMES


def test_part_names_are_found_in_any_case(small):
    small.with_suffix(".p00").rename(small.parent / "TEST.P00")
    opened = open_archive(small)
    assert opened.read(opened.find("beta.col")) == b"beta"


def errors_of(opened):
    return {opened.label(opened.entries[f.elements[0]]) for f in check(opened) if f.severity is Severity.ERROR}


def test_a_missing_part_is_named(small):
    small.with_suffix(".p01").unlink()
    opened = open_archive(small, NAMES)
    with pytest.raises(FormatError, match=r"Test\.p01 is missing") as caught:
        opened.read(opened.find("gamma.rgn"))
    assert caught.value.file == f"{small}: gamma.rgn"
    assert opened.read(opened.find("alpha.col")) == b"first hull"
    assert errors_of(opened) == {"gamma.rgn"}


def test_data_beyond_the_part_are_named(small):
    os.truncate(small.with_suffix(".p01"), 3)
    opened = open_archive(small, NAMES)
    with pytest.raises(FormatError, match=r"beyond the end of Test\.p01") as caught:
        opened.stored(opened.find("gamma.rgn"))
    assert (caught.value.offset, caught.value.expected, caught.value.found) == (0, "5 bytes", "3")
    assert "gamma.rgn" in str(caught.value)
    assert errors_of(opened) == {"gamma.rgn"}


@pytest.mark.parametrize("at", [6, 15])
def test_damaged_data_are_named_and_others_usable(small, at):
    part = small.with_suffix(".p00")
    data = bytearray(part.read_bytes())
    data[at] ^= 0x55
    part.write_bytes(data)
    opened = open_archive(small, NAMES)
    with pytest.raises(FormatError) as caught:
        opened.read(opened.find("alpha.col"))
    assert caught.value.file == f"{small}: alpha.col"
    assert opened.read(opened.find("beta.col")) == b"beta"
    assert errors_of(opened) == {"alpha.col"}


def test_a_changed_archive_is_noticed(small):
    opened = open_archive(small, NAMES)
    os.utime(small, ns=(1, 1))
    with pytest.raises(FormatError, match="changed since it was opened") as caught:
        opened.read(opened.find("beta.col"))
    assert "beta.col" in caught.value.file
    small.unlink()
    with pytest.raises(FormatError, match="can't be read"):
        opened.read(opened.find("beta.col"))


def test_a_vanished_part_is_named(small):
    opened = open_archive(small, NAMES)
    small.with_suffix(".p01").unlink()
    with pytest.raises(FormatError, match=r"Test\.p01 can't be read"):
        opened.read(opened.find("gamma.rgn"))
    small.with_suffix(".p01").write_bytes(b"ga")
    with pytest.raises(FormatError, match="ends too early"):
        opened.read(opened.find("gamma.rgn"))


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.pak", b"", "not an archive table"),
        ("a.pak", b"IPFB\0\0\0\1" + bytes(7), "header's words"),
        ("a.p00", b"MCOL", "not an archive table"),
        ("missing.pak", None, "can't be read"),
    ],
)
def test_what_cannot_be_opened(tmp_path, name, content, problem):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=problem) as caught:
        open_archive(tmp_path / name)
    assert caught.value.file == str(tmp_path / name)


@pytest.mark.parametrize(
    ("rows", "kind", "elements"),
    [
        ([(2, 0, 4), (1, 0x800, 4)], "archive order", (1,)),
        ([(1, 0, 4), (1, 0x800, 4)], "archive duplicates", (0, 1)),
        ([(1, 0, 0x801), (2, 0x800, 4)], "archive overlap", (0, 1)),
        ([(1, 0, 4), (2, 2, 4)], "archive overlap", (0, 1)),
        ([(1, 0, 4), (2, 0, 4)], "archive shared", (0, 1)),
        ([(1, 0, 4), (2, 0x804, 4)], "archive alignment", (1,)),
        ([(1, 0, 4), (2, 0x800, 4), (3, 0x1800, 4)], "archive gap", (2,)),
        ([(1, 0x800, 4)], "archive gap", (0,)),
    ],
)
def test_check_of_the_table(tmp_path, rows, kind, elements):
    data = bytearray(0x2000)
    if kind == "archive gap":
        data[elements[0] * 0x800] = 1
    opened = open_archive(write_by_hand(tmp_path, rows, {0: bytes(data)}))
    findings = [
        finding for finding in check(opened) if rows[1:2] != [(2, 2, 4)] or finding.check != "archive alignment"
    ]
    assert (findings[0].severity is Severity.ERROR) == (kind == "archive order"), (
        "only the order is known from the code"
    )
    assert [(finding.check, finding.elements) for finding in findings] == [(kind, elements)]
    assert "\n" not in findings[0].message


def test_check_tells_odd_header_words_and_tails(tmp_path):
    made = write_by_hand(tmp_path, [], {}, alignment=0, limit=5, tail=b"x")
    assert [finding.check for finding in check(open_archive(made))] == ["archive header", "archive table"]


@pytest.mark.parametrize(
    ("count", "tail", "words"),
    [
        (5, b"", "counts 5 entries, the table has 1: the file ends there"),
        (2, bytes(12), "the table has 1: a row with hash 0"),
    ],
)
def test_check_tells_another_count(tmp_path, count, tail, words):
    made = write_by_hand(tmp_path, [(1, 0, 4)], {0: b"data"}, tail=tail)
    data = bytearray(made.read_bytes())
    data[7] = count
    made.write_bytes(data)
    found = {finding.check: finding for finding in check(open_archive(made))}
    assert words in found["archive count"].message and found["archive count"].severity is Severity.WARNING


def test_an_empty_entry_needs_no_data_file(tmp_path):
    opened = open_archive(write_by_hand(tmp_path, [(1, 0, 0), (2, 0x7000, 0), (3, 9 << 28, 0)], {0: b""}))
    assert [opened.read(entry) for entry in opened.entries] == [b""] * 3
    assert check(opened) == []


def test_check_reports_progress(small):
    calls = []
    opened = open_archive(small)
    check(opened, lambda done, total: calls.append((done, total)))
    total = sum(entry.size for entry in opened.entries)
    assert len(calls) == 3
    assert calls[-1] == (total, total)


def test_of_two_equal_hashes_the_first_counts(tmp_path):
    made = write_by_hand(tmp_path, [(1, 0, 1), (1, 0x800, 1)], {0: b"a".ljust(0x800) + b"b"})
    opened = open_archive(made)
    assert opened.read(opened.find(1)) == b"a"


def test_open_says_what_a_folder_is_not(tmp_path):
    with pytest.raises(FormatError, match="can't be read"):
        open_archive(tmp_path)
    assert ipfb.PARTS == 16
