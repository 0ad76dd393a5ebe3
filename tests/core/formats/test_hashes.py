"""Both name hashes against the values in docs/FORMATS.md."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FormatError
from core.formats.hashes import file_id, string_id, wide_string_id

MAPS = {
    "test.col": 0x2CF7EB47,
    "mapmesh_box_500km.col": 0xCBB99D34,
    "S01_AsteroidVolume_wp.col": 0xD84A95FB,
    "S04_AsteroidVolume_wp.col": 0xDB066592,
    "S05_AsteroidVolume_wp.col": 0xDC44FE0C,
    "S08_p1_AsteroidVolume_wp.col": 0xDF4628C2,
    "S08_p2_AsteroidVolume_wp.col": 0xE084C13C,
    "S13_AsteroidVolume_wp.col": 0xDB61C506,
    "S14_p1_AsteroidVolume_wp.col": 0xDC4B0896,
    "S14_p2_AsteroidVolume_wp.col": 0xDD89A110,
    "S28_p1_AsteroidVolume_wp.col": 0xE16460CF,
}


@pytest.mark.parametrize("name", MAPS)
def test_map_ids(name):
    assert file_id(name) == MAPS[name]
    assert file_id(name.upper()) == MAPS[name]


def test_table_keys():
    assert string_id("StageResource") == 0x3C9AE32E
    assert string_id("stageresource") != 0x3C9AE32E


def test_keys_of_wide_tables():
    """Worked by hand from the rule: 0x41 * 65536 + 0x100 is above neither modulus, its units add up to 0x141."""
    assert wide_string_id("A\u0100") == 0x41 << 24 | 0x410100
    assert wide_string_id("A\u0100") == wide_string_id(b"\0A\1\0")
    three = ((0x410042 % 0xFFFFFF67) * 65536 + 0x43) % 0xFFFFFF67 % 0xFFFFDF
    assert wide_string_id("ABC") == (0x41 + 0x42 + 0x43) % 256 << 24 | three
    assert wide_string_id("") == 0
    assert wide_string_id("StageResource") != string_id("StageResource")


def test_empty_names():
    assert file_id("") == string_id("") == 0


def test_the_two_differ():
    assert file_id("MapMesh") != string_id("MapMesh")


def test_cp932_bytes_are_hashed():
    text = "岩.col"
    assert file_id(text) == file_id(text.encode("cp932"))
    # worked by hand from the rule: one byte 0x80, taken as -128
    assert string_id(b"\x80") == 0x80 << 24 | (2**32 - 128) % 0xFFFFDF


@pytest.mark.parametrize("hashed", [file_id, string_id])
def test_characters_the_game_lacks(hashed):
    with pytest.raises(FormatError, match="CP932") as caught:
        hashed("caf\N{LATIN SMALL LETTER E WITH ACUTE}.col")
    assert caught.value.found == r"'\xe9'"


@given(st.binary(max_size=60))
def test_both_fit_32_bits(name):
    assert 0 <= file_id(name) < 2**32
    assert 0 <= string_id(name) < 2**32
    assert file_id(name) == file_id(name.upper())
