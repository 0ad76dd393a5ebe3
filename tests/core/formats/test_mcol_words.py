"""Pointers and unread words of a hull's file."""

import numpy as np

from core.formats import chunk, mcol
from core.formats.mcol_words import pointer_slots, spare_places, unfollowed_pointers
from tests.support.hulls import LARGE, read


def test_the_slots_of_a_game_file_are_its_relocation_table():
    data = read(LARGE)
    slots = chunk.decode(data, b"MCOL").slots
    hull = mcol.decode(data)
    words = np.frombuffer(data, ">u4", 4, 0x54)
    cells_at = 0x10 + int(np.frombuffer(data, ">u4", 1, 0x74)[0])
    lists = np.frombuffer(data, ">u4", hull.grid.cell_count * 8, cells_at).reshape(-1, 8)[hull.occupied, 2]
    assert len(words) and np.array_equal(
        slots, pointer_slots(cells_at, hull.occupied, 0x10 + int(lists.min()), len(hull.list_starts))
    )


def test_only_empty_lists_have_a_pointer_that_nobody_follows():
    assert unfollowed_pointers(0x100, np.array([3, 0, 1, 0])).tolist() == [-1, 0x124, -1, 0x164]


def test_spare_bytes_are_places_by_number():
    places = spare_places([(0x80, bytes(8)), (0x200, b"")])
    assert [(name, place.start, place.size) for name, place in places.items()] == [
        *(("spare 0", 0x80, 8), ("spare 1", 0x200, 0))
    ]
