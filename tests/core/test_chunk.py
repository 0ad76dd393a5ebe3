"""The relocation table and the shell. Format notes, sections 1 and 2."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import chunk
from core.errors import FormatError
from tests.oracle.reader import decode_pof0
from tests.shapes import read


def slots(*words):
    return 0x10 + 4 * np.array(words, np.int64)


def test_first_slot_of_a_hull_is_coded_51():
    assert chunk.encode_slots(np.array([0x54])) == b"\x51"


@pytest.mark.parametrize(
    "delta, coded",
    [
        (1, "41"),
        (0x3F, "7f"),
        (0x40, "8040"),
        (0x3FFF, "bfff"),
        (0x4000, "c04000"),
        (0x3FFFFF, "ffffff"),
    ],
)
def test_width_of_a_code_follows_from_the_delta(delta, coded):
    assert chunk.encode_slots(slots(delta)).hex() == coded
    assert chunk.decode_slots(bytes.fromhex(coded)).tolist() == slots(delta).tolist()


@given(st.lists(st.integers(1, 0x3FFFFF), max_size=60))
def test_decoding_undoes_encoding_and_no_byte_hangs_the_game(deltas):
    wanted = slots(*np.cumsum(deltas)) if deltas else np.zeros(0, np.int64)
    coded = chunk.encode_slots(wanted)
    assert chunk.decode_slots(coded).tolist() == wanted.tolist()
    assert chunk.decode_slots(coded + bytes(7)).tolist() == wanted.tolist()
    assert list(decode_pof0(coded)) == wanted.tolist()


@pytest.mark.parametrize("code", [0x01, 0x20, 0x3F])
def test_a_code_that_hangs_the_game_is_refused_with_its_place(code):
    with pytest.raises(FormatError, match="hangs the game") as caught:
        chunk.decode_slots(bytes([0x51, 0x41, code]), offset=0x100)
    assert caught.value.offset == 0x102
    assert "slot number 2" in str(caught.value)


@pytest.mark.parametrize("coded", ["80", "c0", "c001"])
def test_a_cut_code_is_refused(coded):
    with pytest.raises(FormatError, match="within a code"):
        chunk.decode_slots(bytes.fromhex("51" + coded))


def test_what_follows_the_end_mark_is_not_read():
    assert chunk.decode_slots(b"\x51\x00\x01\x02").tolist() == [0x54]


def test_a_gap_that_no_code_spans_is_refused():
    with pytest.raises(FormatError, match="larger cells"):
        chunk.encode_slots(slots(1, 2 + 0x3FFFFF))


def test_another_spelling_of_the_same_slots_is_kept():
    # 14-bit codes where 6 bits would do, and bytes behind the end mark.
    spelled = chunk.Relocation(coded=bytes.fromhex("8011 8001 00 99 99 99".replace(" ", "")))
    data = chunk.encode(chunk.Chunk(b"MCOL", memoryview(bytes(0x60)), slots(0x11, 0x12), relocation=spelled))
    assert data[0x10 + 0x60 + 0x10 :].startswith(spelled.coded)
    assert chunk.encode(chunk.decode(data, b"MCOL")) == data


def change(data, offset, value):
    return data[:offset] + value + data[offset + len(value) :]


HULL = read("test.col")
POF0_AT = 0x10 + int.from_bytes(HULL[4:8], "big")


@pytest.mark.parametrize(
    "data, words, offset",
    [
        (b"", "an empty file", 0),
        (b"RIFF" + HULL[4:], "the letters MCOL", 0),
        (change(HULL, 8, b"\x01"), "already relocated", 8),
        (change(HULL, 4, b"\x7f\xff\xff\xfc"), "reach beyond the end", 0x10),
        (change(HULL, 6, b"\x26\x41"), "multiple of 4", 4),
        (change(HULL, POF0_AT, b"POF1"), "no POF0", POF0_AT),
        (change(HULL, POF0_AT + 4, b"\x00\x00\x7f\xff"), "reach beyond the end", POF0_AT + 16),
        (HULL[:-1], "end of the file is missing", len(HULL) - 16),
        (change(HULL, len(HULL) - 16, b"MCOL"), "no zero word behind POF0", len(HULL) - 16),
    ],
)
def test_a_broken_shell_is_refused_with_its_place(data, words, offset):
    with pytest.raises(FormatError, match=words) as caught:
        chunk.decode(data, b"MCOL")
    assert caught.value.offset == offset


def test_an_unterminated_row_is_never_written():
    with pytest.raises(FormatError, match="zero word"):
        chunk.encode(chunk.Chunk(b"MCOL", memoryview(b""), slots(1), tail=b"MCOL"))
