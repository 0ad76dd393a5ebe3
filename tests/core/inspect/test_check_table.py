"""What is odd about a table is reported and no error; work and memory are bounded however sections share rows."""

import json
import struct
import tracemalloc

import pytest

from core.errors import Severity
from core.formats import idxd
from core.formats.hashes import string_id
from core.inspect import check_table, describe
from tests.core.formats.test_idxd import SHARED, table_bytes

PHASE, KEY = string_id("Phase_1"), string_id("K")


def kinds(data):
    findings = check_table.check(idxd.decode(data))
    assert all(finding.severity is not Severity.ERROR and "\n" not in finding.message for finding in findings)
    return [finding.check for finding in findings]


def test_nothing_is_odd_about_a_plain_table():
    assert kinds(SHARED) == []


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (table_bytes([(PHASE, -1, 0, 2)], [(KEY, -1, 0)], b"x\0"), "table rows"),
        (table_bytes([(PHASE, -1, 1, 0)], [(KEY, -1, 0)], b"x\0"), "table rows"),
        (table_bytes([(PHASE, 2, 0, 0)], [], b"x\0"), "table strings"),
        (table_bytes([], [(KEY, 2, 0)], b"x\0"), "table strings"),
        (table_bytes([], [(KEY, -1, 2)], b"x\0"), "table strings"),
        (table_bytes([], [(KEY, -1, 0)], b"x\0", size=7), "table size"),
        (table_bytes([], [(KEY, -1, 0)], b"x"), "table end"),
        (table_bytes([(1, 0, 0, 0)], [], b"x\0"), "table hash"),
        (table_bytes([], [(1, 0, -1)], b"x\0"), "table hash"),
        (table_bytes([(PHASE, -1, 0, 0), (PHASE, -1, 0, 0)], [], b""), "table sections"),
        (table_bytes([(PHASE, -1, 0, 2)], [(KEY, -1, 0), (KEY, -1, 0)], b"x\0"), "table keys"),
        (table_bytes([(PHASE, 0, 0, 0)], [], b"x" * 300 + b"\0"), "table names"),
    ],
)
def test_one_deviation_is_one_finding(data, kind):
    assert kinds(data) == [kind]
    assert idxd.encode(idxd.decode(data)) == data


@pytest.mark.parametrize("value", [-1, -2, -(2**31)])
def test_a_negative_pointer_is_no_string_and_nothing_odd(value):
    data = table_bytes([(PHASE, value, 0, 1)], [(KEY, value, value)], b"x\0")
    assert kinds(data) == []
    assert list(check_table.contents(idxd.decode(data))) == [(f"{PHASE:08x}.{KEY:08x}", None)]


def test_a_key_in_two_sections_is_not_twice_in_one():
    rows = [(KEY, -1, 0), (2, -1, 0), (KEY, -1, 0)]
    assert kinds(table_bytes([(PHASE, -1, 0, 2), (3, -1, 1, 3)], rows, b"x\0")) == []
    assert kinds(table_bytes([(PHASE, -1, 0, 2), (3, -1, 0, 3)], rows, b"x\0")) == ["table keys"]


@pytest.mark.parametrize(
    "ranges", [[(0, 5)], [(0, 2), (2, 5)], [(1, 4), (0, 5), (3, 9)], [(4, 5), (4, 4), (0, 3), (0, 5)]]
)
def test_each_row_is_listed_once_in_the_first_section_that_has_it(ranges):
    sections = [(number, -1, first, end) for number, (first, end) in enumerate(ranges)]
    table = idxd.decode(table_bytes(sections, [(100 + row, -1, -1) for row in range(5)], b""))
    expected, listed = [], set()
    for number, (first, end) in enumerate(ranges):
        own = [row for row in range(first, min(end, 5)) if row not in listed]
        listed |= set(own)
        expected += [(f"{number:08x}.{100 + row:08x}", None) for row in own]
        shared = min(end, 5) - first - len(own)
        expected += [(f"{number:08x}", f"{shared:,} rows that are listed above")] if shared else []
    assert list(check_table.contents(table)) == expected


def test_a_long_string_is_cut_where_it_is_shown():
    table = idxd.decode(table_bytes([(PHASE, -1, 0, 1)], [(KEY, -1, 0)], b"v" * 300 + b"\0"))
    assert table.rows[0].value == "v" * 300
    ((_, value),) = check_table.contents(table)
    assert value == "v" * 128 + "…"


def shared_rows(count):
    """As many sections as rows, each of all rows."""
    sections = b"".join(struct.pack(">IIII", 0, 0, 0, count) for _ in range(count))
    rows = b"".join(struct.pack(">Iii", row, 0, 0) for row in range(count))
    return (
        b"IDXD" + struct.pack(">I", count) + sections + struct.pack(">I", count) + rows + struct.pack(">I", 2) + b"a\0"
    )


def long_strings(count):
    """Rows that all use one long string, each from another place on."""
    rows = b"".join(struct.pack(">Iii", 1, at, at) for at in range(count))
    pool = b"a" * 20 * count + b"\0"
    sections = struct.pack(">IiII", 1, 0, 0, count)
    return (
        b"IDXD"
        + struct.pack(">I", 1)
        + sections
        + struct.pack(">I", count)
        + rows
        + struct.pack(">I", len(pool))
        + pool
    )


@pytest.mark.parametrize("make", [shared_rows, long_strings])
@pytest.mark.parametrize("count", [300, 1500, 20_000])
def test_memory_is_bounded_by_the_file(make, count):
    data = make(count)
    tracemalloc.start()
    try:
        table = idxd.decode(data)
        assert idxd.encode(table) == data
        check_table.check(table)
        for document in (describe.describe_table(table), describe.list_table(table)):
            assert sum(map(len, json.JSONEncoder(indent=1).iterencode(document)))
        table.value(table.sections[0], "MapMesh")
        assert tracemalloc.get_traced_memory()[1] < (2 << 20) + 50 * len(data)
    finally:
        tracemalloc.stop()
