"""The relocation table and the shell. docs/FORMATS.md, sections 1 and 2."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FormatError, Severity
from core.formats import chunk
from core.rules.rule import Rule
from tests.oracle.readers import decode_pof0
from tests.support.hulls import read


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
        (change(HULL, 4, (POF0_AT - 16 + 1).to_bytes(4, "big")), "no POF0", POF0_AT + 1),
        (change(HULL, POF0_AT, b"POF1"), "no POF0", POF0_AT),
        (change(HULL, POF0_AT + 4, b"\x00\x00\x7f\xff"), "reach beyond the end", POF0_AT + 16),
        (HULL[:-16] + b"\0\0\1", "no zero word behind POF0", len(HULL) - 16),
        (HULL[:-16] + b"MESH\0\0\0\1" + bytes(8), "no zero word behind POF0", len(HULL) - 16),
        (change(HULL, len(HULL) - 16, b"MCOL"), "no zero word behind POF0", len(HULL) - 16),
    ],
)
def test_a_broken_shell_is_refused_with_its_place(data, words, offset):
    with pytest.raises(FormatError, match=words) as caught:
        chunk.decode(data, b"MCOL")
    assert caught.value.offset == offset


def shell(magic: bytes, size: int) -> bytes:
    return magic + size.to_bytes(4, "big") + bytes(8)


FURTHER = shell(b"MESH", 5) + b"five!"
TABLE = shell(b"POF0", 2) + b"\x41\0"


@pytest.mark.parametrize(
    "tail, chunks, ended",
    [
        (b"", 0, False),
        (bytes(1), 0, False),
        (bytes(3), 0, False),
        (bytes(4), 0, True),
        (bytes(5), 0, True),
        (bytes(4) + b"whatever follows", 0, True),
        (FURTHER, 1, False),
        (FURTHER + bytes(4), 1, True),
        (FURTHER + TABLE + bytes(16), 1, True),
        (FURTHER + TABLE + FURTHER + FURTHER + TABLE + bytes(2), 3, False),
        (FURTHER + shell(b"POF0", 0) + bytes(4), 1, True),
    ],
)
def test_what_follows_the_relocation_table_is_carried_and_told(tail, chunks, ended):
    data = HULL[:-16] + tail
    read_chunk = chunk.decode(data, b"MCOL")
    assert chunk.survey_tail(read_chunk.tail) == (chunks, ended)
    assert chunk.encode(read_chunk) == data
    said = [(finding.severity, finding.check) for finding in chunk.check(read_chunk)]
    assert said == [(Severity.WARNING, Rule.CHUNK_END)] * (not ended) + [(Severity.INFO, Rule.CHUNK_ALONE)] * bool(
        chunks
    )


def test_a_further_relocation_table_that_hangs_the_game_is_refused():
    start = len(HULL) - 16
    with pytest.raises(FormatError, match="hangs the game") as caught:
        chunk.decode(HULL[:-16] + FURTHER + shell(b"POF0", 1) + b"\x3f" + bytes(4), b"MCOL")
    assert caught.value.offset == start + len(FURTHER) + 16


@pytest.mark.parametrize("more", [1, 2, 3])
def test_a_payload_of_any_size_is_read_and_kept(more):
    data = change(HULL[:POF0_AT] + bytes(more) + HULL[POF0_AT:], 4, (POF0_AT - 16 + more).to_bytes(4, "big"))
    assert chunk.encode(chunk.decode(data, b"MCOL")) == data


def test_an_unterminated_row_is_never_written():
    with pytest.raises(FormatError, match="zero word"):
        chunk.encode(chunk.Chunk(b"MCOL", memoryview(b""), slots(1), tail=b"MCOL"))
