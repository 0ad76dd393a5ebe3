"""The box at the beginning of a header."""

import numpy as np
import pytest

from core.errors import FormatError
from core.formats.box import BOX_FIELDS, decode_box, encode_box

HEADER = np.dtype([*BOX_FIELDS])


def header(minimum=(-1, -2, -3), maximum=(1, 2, 3), cell_size=(1, 1, 1)):
    record = np.zeros(1, HEADER)[0]
    record["minimum"], record["maximum"], record["cell_size"] = minimum, maximum, cell_size
    return record


def test_a_box_is_read_as_it_stands():
    assert [values.tolist() for values in decode_box(header(), 0x10)] == [[-1, -2, -3], [1, 2, 3], [1, 1, 1]]


@pytest.mark.parametrize(
    ("fields", "offset"),
    [
        ({"minimum": (0, np.nan, 0)}, 0x14),
        ({"maximum": (1, 2, -4)}, 0x28),
        ({"cell_size": (0, 1, 1)}, 0x40),
        ({"cell_size": (1, 1, np.inf)}, 0x48),
    ],
)
def test_an_impossible_box_is_refused_at_its_word(fields, offset):
    with pytest.raises(FormatError) as caught:
        decode_box(header(**fields), 0x10)
    assert caught.value.offset == offset


def test_an_unchanged_box_keeps_an_odd_extent():
    record = header()
    record["extent"] = 99
    encode_box(record, record["minimum"].copy(), record["maximum"].copy(), np.float32([2, 2, 2]))
    assert record["extent"].tolist() == [99, 99, 99]
    encode_box(record, record["minimum"].copy(), np.float32([5, 5, 5]), np.float32([2, 2, 2]))
    assert record["extent"].tolist() == [6, 7, 8]
