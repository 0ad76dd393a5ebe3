"""Cell lists: where they may lie, and how much they may share."""

import numpy as np
import pytest

from core.errors import FormatError
from core.formats import mcol
from core.formats.mcol_lists import MOST_SHARED, check_shared
from core.formats.mcol_records import CELL, HEADER_END
from tests.support.hulls import LARGE, read


def test_lists_may_be_shared_within_measure():
    first, counts, sizes = np.zeros(100, np.int64), np.ones(100, np.int64), np.array([1000])
    check_shared(first, counts, sizes, 0)
    with pytest.raises(FormatError, match="impossibly many triangles"):
        check_shared(first, counts, sizes * (MOST_SHARED // 50_000 + 3000), 0)


def test_a_list_outside_the_file_is_refused_where_the_cell_names_it():
    data = bytearray(read(LARGE))
    hull = mcol.decode(bytes(data))
    cells_at = 0x10 + int.from_bytes(data[0x74:0x78], "big")
    assert cells_at >= HEADER_END
    place = cells_at + int(hull.occupied[0]) * CELL.itemsize + 8
    data[place : place + 4] = (len(data) & ~3).to_bytes(4, "big")
    with pytest.raises(FormatError) as caught:
        mcol.decode(bytes(data))
    assert caught.value.offset == place
