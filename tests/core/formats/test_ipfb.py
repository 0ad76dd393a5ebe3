"""The bytes of an archive's table and of packed entries."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FormatError
from core.formats import ipfb
from core.formats.ipfb import Entry, Table

words = st.integers(0, 2**32 - 1)


def table_bytes(rows, *, magic=b"IPFB", count=None, alignment=0x800, limit=0x10000000, tail=b""):
    """A .pak made by hand, without the code under test."""
    head = magic + struct.pack(">III", len(rows) if count is None else count, alignment, limit)
    return head + b"".join(struct.pack(">III", *row) for row in rows) + tail


def packed_bytes(data, *, size=None, adler=None, stream=None):
    """A packed entry made by hand."""
    size = len(data) if size is None else size
    adler = zlib.adler32(data) if adler is None else adler
    return b"Z1" + struct.pack(">II", size, adler) + (zlib.compress(data) if stream is None else stream)


def test_sizes_of_the_records():
    assert (ipfb.HEADER.size, ipfb.ENTRY.size, ipfb.PACKED.size) == (16, 12, 10)


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


@given(st.binary(max_size=300))
def test_packed_round_trip(data):
    stored = ipfb.pack(data)
    assert ipfb.is_packed(stored)
    assert ipfb.unpacked_size(stored[:10], len(stored)) == len(data)
    assert ipfb.unpack(stored) == ipfb.unpack(packed_bytes(data)) == data


def test_raw_bytes_stay():
    assert ipfb.unpack(b"OTTO font") == b"OTTO font"
    assert ipfb.unpack(b"") == b""
    assert ipfb.unpacked_size(b"OTTO") is None


@pytest.mark.parametrize("stored", [b"Z1", b"Z1 font", b"Z1" + bytes(14)])
def test_fewer_than_17_bytes_that_begin_with_z1_are_raw(stored):
    assert not ipfb.is_packed(stored)
    assert ipfb.unpack(stored) == stored
    assert ipfb.unpacked_size(stored[:10], len(stored)) is None
    assert ipfb.is_packed(stored.ljust(17, b"x"))
    assert len(ipfb.pack(b"")) >= 17


def test_bytes_behind_the_stream_are_let_be():
    assert ipfb.unpack(packed_bytes(b"hull") + bytes(6)) == b"hull"


DATA = bytes(range(256)) * 40


@pytest.mark.parametrize(
    ("stored", "problem", "offset", "found"),
    [
        (packed_bytes(DATA, size=len(DATA) - 1), "length", 2, "more than 10,239"),
        (packed_bytes(DATA, size=len(DATA) + 1), "length", 2, "10,240"),
        (packed_bytes(DATA, size=0), "length", 2, "more than 0"),
        (packed_bytes(DATA, adler=1), "Adler-32", 6, f"{zlib.adler32(DATA):08x}"),
        (packed_bytes(DATA)[:-1], "length", 2, "10,240"),  # the stream's own checksum is cut
        (packed_bytes(DATA)[:60], "length", 2, None),
        (packed_bytes(DATA, stream=b"no stream at all"), "damaged", None, None),
        (packed_bytes(DATA, stream=zlib.compress(DATA)[:12]), "length", 2, None),
    ],
)
def test_damaged_data(stored, problem, offset, found):
    with pytest.raises(FormatError, match=problem) as caught:
        ipfb.unpack(stored)
    assert caught.value.offset == offset
    if found is not None:
        assert caught.value.found == found


def test_a_bomb_is_stopped_at_its_declared_length(monkeypatch):
    """64 MB of zeros behind a declared 1,000 bytes: no more than 1,001 of them are ever unpacked."""
    bomb = packed_bytes(b"", size=1000, stream=zlib.compress(bytes(64 << 20)))
    lengths = []
    make = zlib.decompressobj

    class Watched:
        def __init__(self):
            self.inner = make()

        def decompress(self, data, limit):
            result = self.inner.decompress(data, limit)
            lengths.append(len(result))
            return result

        @property
        def eof(self):
            return self.inner.eof

    monkeypatch.setattr(zlib, "decompressobj", Watched)
    with pytest.raises(FormatError, match="length"):
        ipfb.unpack(bomb)
    assert lengths == [1001]


def test_every_truncation_of_packed_data_is_refused():
    stored = packed_bytes(b"a hull of some length" * 3)
    for length in range(17, len(stored)):
        with pytest.raises(FormatError):
            ipfb.unpack(stored[:length])


def test_a_small_entry_cannot_claim_all_memory():
    """Zeros pack to a thousandth: without a limit a megabyte would unpack to a gigabyte."""
    data = bytes(80 << 20)
    stored = ipfb.pack(data)
    assert len(stored) < 100_000
    with pytest.raises(FormatError, match="impossible length") as caught:
        ipfb.unpack(stored)
    assert caught.value.offset == 2
    assert ipfb.unpack(ipfb.pack(data[: 40 << 20])) == data[: 40 << 20]
