"""The stored form of archive entries: raw bytes stay, packed ones are unpacked within bounds."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FormatError
from core.formats import compression


def packed_bytes(data, *, size=None, adler=None, stream=None):
    """A packed entry made by hand."""
    size = len(data) if size is None else size
    adler = zlib.adler32(data) if adler is None else adler
    return b"Z1" + struct.pack(">II", size, adler) + (zlib.compress(data) if stream is None else stream)


@given(st.binary(max_size=300))
def test_packed_round_trip(data):
    stored = compression.pack(data)
    assert compression.is_packed(stored)
    assert compression.unpacked_size(stored[:10], len(stored)) == len(data)
    assert compression.unpack(stored) == compression.unpack(packed_bytes(data)) == data


def test_raw_bytes_stay():
    assert compression.unpack(b"OTTO font") == b"OTTO font"
    assert compression.unpack(b"") == b""
    assert compression.unpacked_size(b"OTTO") is None


@pytest.mark.parametrize("stored", [b"Z1", b"Z1 font", b"Z1" + bytes(14)])
def test_fewer_than_17_bytes_that_begin_with_z1_are_raw(stored):
    assert not compression.is_packed(stored)
    assert compression.unpack(stored) == stored
    assert compression.unpacked_size(stored[:10], len(stored)) is None
    assert compression.is_packed(stored.ljust(17, b"x"))
    assert len(compression.pack(b"")) >= 17


def test_bytes_behind_the_stream_are_let_be():
    assert compression.unpack(packed_bytes(b"hull") + bytes(6)) == b"hull"


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
        compression.unpack(stored)
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
        compression.unpack(bomb)
    assert lengths == [1001]


def test_every_truncation_of_packed_data_is_refused():
    stored = packed_bytes(b"a hull of some length" * 3)
    for length in range(17, len(stored)):
        with pytest.raises(FormatError):
            compression.unpack(stored[:length])


def test_a_small_entry_cannot_claim_all_memory():
    """Zeros pack to a thousandth: without a limit a megabyte would unpack to a gigabyte."""
    data = bytes(80 << 20)
    stored = compression.pack(data)
    assert len(stored) < 100_000
    with pytest.raises(FormatError, match="impossible length") as caught:
        compression.unpack(stored)
    assert caught.value.offset == 2
    assert compression.unpack(compression.pack(data[: 40 << 20])) == data[: 40 << 20]
