"""The bytes of an archive's table and of packed entries."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FormatError
from core.formats import compression, ipfb
from core.formats.ipfb import Entry, Table

words = st.integers(0, 2**32 - 1)


def table_bytes(rows, *, magic=b"IPFB", count=None, alignment=0x800, limit=0x10000000, tail=b""):
    """A .pak made by hand, without the code under test."""
    head = magic + struct.pack(">III", len(rows) if count is None else count, alignment, limit)
    return head + b"".join(struct.pack(">III", *row) for row in rows) + tail


def test_sizes_of_the_records():
    assert (ipfb.HEADER.size, ipfb.ENTRY.size, compression.PACKED.size) == (16, 12, 10)


def test_reads_a_table_made_by_hand():
    data = table_bytes([(0x2CF7EB47, 0, 5), (0xCBB99D34, 0x10000800, 7)], alignment=16, limit=64, tail=b"more")
    table = ipfb.decode(data)
    assert table == Table((Entry(0x2CF7EB47, 0, 5), Entry(0xCBB99D34, 0x10000800, 7)), 16, 64, b"more")
    assert (table.entries[1].part, table.entries[1].offset) == (1, 0x800)
    assert ipfb.encode(table) == data


hashes = st.integers(1, 2**32 - 1)


@given(st.lists(st.tuples(hashes, words, words), max_size=5), words, words, st.binary(max_size=9))
def test_round_trip(rows, alignment, limit, tail):
    table = Table(tuple(Entry(*row) for row in rows), alignment, limit, tail)
    assert ipfb.decode(ipfb.encode(table)) == table
    assert ipfb.encode(table) == table_bytes(rows, alignment=alignment, limit=limit, tail=tail)


def test_a_truncated_table_gives_the_rows_that_are_there():
    data = table_bytes([(1, 0, 5), (2, 0x800, 7)])
    for length in range(len(data)):
        if length < 16:
            with pytest.raises(FormatError):
                ipfb.decode(data[:length])
        else:
            table = ipfb.decode(data[:length])
            assert len(table.entries) == (length - 16) // 12
            assert ipfb.encode(table) == data[:length]


@pytest.mark.parametrize(
    ("data", "problem"), [(b"", "not an archive table"), (b"IPFX" + bytes(12), "not an archive table")]
)
def test_what_is_no_table_is_refused(data, problem):
    with pytest.raises(FormatError, match=problem) as caught:
        ipfb.decode(data)
    assert caught.value.offset == 0
    assert "\n" not in str(caught.value)


ROWS = [(1, 0, 5), (2, 0x800, 7)]


@pytest.mark.parametrize(
    ("rows", "count", "tail", "kept"),
    [
        (ROWS, 3, b"", b""),  # a count beyond the table
        (ROWS, 0xFFFFFFFF, b"half", b"half"),
        ([*ROWS, (0, 0, 0)], None, b"", bytes(12)),  # a row with hash 0
        ([*ROWS, (0, 7, 9), (5, 6, 7)], None, b"more", struct.pack(">6I", 0, 7, 9, 5, 6, 7) + b"more"),
        ([*ROWS, (0, 0, 0)], 2, b"", bytes(12)),
        (ROWS, 1, b"", struct.pack(">3I", 2, 0x800, 7)),  # a count below the table
    ],
)
def test_a_table_ends_at_its_count_at_hash_0_or_with_the_file(rows, count, tail, kept):
    data = table_bytes(rows, count=count, tail=tail)
    table = ipfb.decode(data)
    assert [tuple(entry) for entry in table.entries] == (ROWS[:1] if count == 1 else ROWS)
    assert table.tail == kept
    assert ipfb.encode(table) == data
