"""Views of a file's bytes are checked before anything is trusted."""

import numpy as np
import pytest

from core.errors import FormatError
from core.formats import binary

RECORD = np.dtype([("a", ">u4"), ("b", ">f4", 3), ("c", "u1")])


@pytest.mark.parametrize(("count", "offset"), [(-1, 0), (2, 1), (1, -1), (1 << 60, 0), (0, 35)])
def test_records_outside_the_data_are_refused(count, offset):
    with pytest.raises(FormatError):
        binary.view(bytes(34), RECORD, count, offset, "records")


def test_a_view_shares_the_data():
    data = bytes(range(34))
    assert binary.view(data, RECORD, 2, 0, "records").tobytes() == data
    assert len(binary.view(data, RECORD, 0, 34, "records")) == 0


def test_native_and_big_endian_keep_every_bit():
    data = np.array([0x7F800001, 0x80000000, 1], ">u4").tobytes()  # a signalling NaN, minus zero
    values = binary.native(np.frombuffer(data, ">f4"), np.float32)
    assert not values.flags.writeable and binary.big_endian(values, ">f4") == data


def test_offsets_are_those_of_the_layout():
    assert [binary.offset_of(RECORD, name) for name in "abc"] == [0, 4, 16]
    with pytest.raises(KeyError):
        binary.offset_of(RECORD, "d")


def test_padding_reaches_the_next_multiple():
    assert [binary.padding(size, 4) for size in range(6)] == [0, 3, 2, 1, 0, 3]


def test_only_vertices_in_use_must_be_numbers():
    vertices = np.float32([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, np.nan, 0)])
    binary.check_finite(vertices, np.array([(0, 1, 2)]))
    with pytest.raises(FormatError, match="vertex 3 has no usable y coordinate at 0x12C"):
        binary.check_finite(vertices, np.array([(0, 1, 3)]), 0x104)


def test_a_triangle_names_vertices_that_are_there():
    binary.check_indices(np.array([(0, 1, 2)]), 3)
    with pytest.raises(FormatError, match="triangle 1 uses a vertex that doesn't exist at 0x10A"):
        binary.check_indices(np.array([(0, 1, 2), (0, 1, 3)]), 3, 0x100, 6)
