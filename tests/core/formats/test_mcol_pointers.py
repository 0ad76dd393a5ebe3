"""How a relocation table may differ from the layout, and how that goes into an edited file."""

import numpy as np
import pytest

from core.errors import FormatError
from core.formats.mcol_pointers import OddSlots, Place, compare

LAYOUT = np.array([0x54, 0x58, 0x104, 0x124])
EMPTY = np.array([-1, 0x124])
PLACES = {"spare": Place(0x40, 0x10)}


def test_the_usual_table_has_nothing_odd():
    assert compare(LAYOUT, LAYOUT, EMPTY, PLACES).count == 0
    assert OddSlots().apply(LAYOUT, EMPTY, PLACES) is LAYOUT


def test_what_is_odd_comes_back():
    found = np.array([0x44, 0x54, 0x58, 0x104])
    odd = compare(found, LAYOUT, EMPTY, PLACES)
    assert odd.count == 2 and np.array_equal(odd.apply(LAYOUT, EMPTY, PLACES), found)


def test_it_moves_with_its_place_and_goes_where_there_is_no_room():
    odd = compare(np.array([0x44, 0x54, 0x58, 0x104, 0x124]), LAYOUT, EMPTY, PLACES)
    assert 0x84 in odd.apply(LAYOUT, EMPTY, {"spare": Place(0x80, 0x10)})
    assert np.array_equal(odd.apply(LAYOUT, EMPTY, {"spare": Place(0x80, 4)}), LAYOUT)


@pytest.mark.parametrize("found", [[0x54, 0x58, 0x124], [0x54, 0x58, 0x60, 0x104, 0x124], [0x54, 0x54, 0x58, 0x104]])
def test_a_missing_a_foreign_and_a_double_word_are_refused(found):
    with pytest.raises(FormatError):
        compare(np.array(found), LAYOUT, EMPTY, PLACES)


def test_words_and_records_limit_a_place():
    place = Place(0x100, 64, (12,), 32, np.array([True, False]))
    assert place.holds(np.array([0x10C, 0x110, 0x12C, 0x14C, 0xFC])).tolist() == [True, *[False] * 4]
