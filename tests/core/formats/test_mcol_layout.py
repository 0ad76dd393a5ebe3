"""Where the arrays of an edited hull stand: read again, aligned for the game, with every spare byte between them.

docs/FORMATS.md, section 3.
"""

import dataclasses
import itertools
from functools import cache

import numpy as np
import pytest

from core.editing.assemble import assemble
from core.editing.build import build_like
from core.editing.rebuild_hull import build, rebuild
from core.errors import FormatError
from core.formats import mcol, mcol_records
from core.formats.chunk import decode_slots, encode_slots
from core.formats.mcol_layout import Block, gaps, natural_alignment, place
from core.formats.obj import decode as decode_obj
from core.inspect.diff_hull import diff_hulls
from tests.oracle.readers import read_col
from tests.support.hulls import box, cubic_grid, edited, moved, new, pieces, read, rock
from tests.trust.irregular_hulls import BLOCKS, rearranged

ORDERS = list(itertools.permutations(BLOCKS))
MODEL = [field.name for field in dataclasses.fields(mcol.Hull) if field.name not in ("grid", "carried")]


@cache
def plain() -> mcol.Hull:
    wall, stone = box((-9, -9, -9), (9, 9, 9), inward=True), box((-1, -1, -1), (1, 2, 3))
    triangles = np.concatenate((wall[1], stone[1] + 8))
    return mcol.decode(mcol.encode(build(np.concatenate((wall[0], stone[0])), triangles, cubic_grid(10, 3), True)))


@cache
def edits() -> dict[str, mcol.Hull]:
    """Every array longer and shorter than the source's, each by itself where it can be, and none at all."""
    hull = plain()
    stone = next(piece for piece in pieces(hull) if piece.name == "asteroid_01")
    added = [new("new", *rock((4, 4, 4), 1.5, count)) for count in (3, 4)]
    models = {
        "moved": rebuild(hull, edited(hull, {stone.name: moved(stone, (5, 5, 5))})).hull,
        "removed": rebuild(hull, edited(hull, {stone.name: None})).hull,
        "an odd number added": rebuild(hull, edited(hull, {}, (added[0],))).hull,
        "more added": rebuild(hull, edited(hull, {}, tuple(added))).hull,
        "one index more": dataclasses.replace(
            hull, indices=np.append(hull.indices, hull.indices[:1]), list_sizes=hull.list_sizes + _last(hull, 1)
        ),
        "one index less": dataclasses.replace(
            hull, indices=hull.indices[:-1], list_sizes=hull.list_sizes + _last(hull, -1)
        ),
        "one vertex more": dataclasses.replace(hull, vertices=np.append(hull.vertices, hull.vertices[:1], axis=0)),
        "no lists": dataclasses.replace(
            hull,
            **{name: getattr(hull, name)[:0] for name in MODEL if name.startswith(("list_", "first", "cell_", "occ"))},
            indices=hull.indices[:0],
            states=np.zeros_like(hull.states),
        ),
    }
    assert not set(models) & {"as it was"}
    return models | {"as it was": hull}


def _last(hull: mcol.Hull, by: int) -> np.ndarray:
    return np.where(np.arange(len(hull.list_sizes)) == len(hull.list_sizes) - 1, by, 0)


def check_written(model: mcol.Hull, source: bytes) -> mcol.Hull:
    """Writes a hull and reads it again: the same model, aligned arrays, every byte between them."""
    data = mcol.encode(model)
    again = mcol.decode(data)
    for name in MODEL:
        assert np.array_equal(getattr(again, name), getattr(model, name)), name
    assert mcol.encode(again) == data
    before, after = mcol.decode(source).carried, again.carried
    resized = {block.name: block.size for block in before.blocks} != {block.name: block.size for block in after.blocks}
    if resized and len(model.list_starts):  # otherwise the arrays stand where the source has them, right or not
        col = read_col(data, strict=False)  # insists on the relocation table, and on words
        assert np.array_equal(col.vertices, model.vertices) and col.at["spheres"] % 4 == 0
    kept = b"".join((after.lead, *(block.spare for block in after.blocks)))
    for spare in (before.lead, *(block.spare for block in before.blocks)):
        assert spare.strip(b"\0") in kept
    return again


@pytest.mark.parametrize("first", BLOCKS)
def test_every_order_of_the_arrays_with_odd_gaps_and_every_edit_is_read_again(first):
    random = np.random.default_rng(BLOCKS.index(first))
    data = mcol.encode(plain())
    for order in (order for order in ORDERS if order[0] == first):
        spare = {name: random.bytes(random.integers(0, 7)) for name in ("", *BLOCKS)}
        source = rearranged(data, list(order), spare)
        odd = mcol.decode(source)
        assert [block.name for block in odd.carried.blocks] == list(order)
        assert mcol.encode(odd) == source
        assert mcol.encode(rebuild(odd, assemble(pieces(odd), odd)).hull) == source
        for name, model in edits().items():
            written = check_written(dataclasses.replace(model, carried=odd.carried), source)
            if name == "as it was":
                assert mcol.encode(written) == source


@pytest.mark.parametrize("name", ["", *BLOCKS])
@pytest.mark.parametrize("gap", [1, 2, 3, 4, 6, 15, 16, 17, 33])
@pytest.mark.parametrize("filled", [False, True])
def test_a_gap_of_any_size_behind_any_array_stays_however_often_the_hull_is_edited(name, gap, filled):
    spare = {other: b"" for other in ("", *BLOCKS)} | {name: bytes(range(1, gap + 1)) if filled else bytes(gap)}
    source = rearranged(mcol.encode(plain()), list(BLOCKS), spare)
    carried = mcol.decode(source).carried
    lengths = []
    for _ in range(3):
        for model in edits().values():
            if len(model.list_starts):
                carried = check_written(dataclasses.replace(model, carried=carried), source).carried
        lengths.append(sum(len(block.spare) for block in carried.blocks) + len(carried.lead))
    assert lengths[1] == lengths[2], "padding never piles up"


@pytest.mark.parametrize("name", ["index_gap", "block_order"])
def test_the_files_of_another_writer_can_be_edited(name):
    source = mcol.decode(read(f"edges/{name}.col"))
    hull, _ = build_like(decode_obj(read(f"edges/{name}_edit.obj")), source)
    again = check_written(hull, read(f"edges/{name}.col"))
    assert np.array_equal(again.vertices, hull.vertices)
    assert not any("bytes behind" in str(one) or "order" in str(one) for one in diff_hulls(source, again))


def test_an_empty_hull_takes_its_first_list_wherever_its_cells_stand():
    """Without lists no pointer leads to the cells' words, so they may stand anywhere; with one they may not."""
    empty = dataclasses.replace(edits()["no lists"], carried=None)
    for shift in range(1, 5):
        carried = dataclasses.replace(mcol.decode(mcol.encode(empty)).carried, lead=bytes(shift))
        blocks = (*carried.blocks[:-1], dataclasses.replace(carried.blocks[-1], spare=bytes(-shift % 4)))
        source = mcol.encode(dataclasses.replace(empty, carried=dataclasses.replace(carried, blocks=blocks)))
        odd = mcol.decode(source)
        assert mcol.encode(odd) == source
        check_written(dataclasses.replace(edits()["moved"], carried=odd.carried), source)


def test_a_usual_file_is_padded_to_rows():
    hull = plain()
    ends = {block.name: len(block.spare) for block in hull.carried.blocks}
    assert ends["triangles"] == -6 * len(hull.triangles) % 16
    assert all(gap.alignment == 16 and not gap.kept for gap in gaps(b"", hull.carried.blocks, mcol_records.HEADER_END))
    col = read_col(mcol.encode(edits()["more added"]))  # insists on the rows
    assert all(col.at[name] % 16 == 0 for name in ("spheres", "vertices", "triangles", "cells", "lists"))


def test_arrays_keep_their_own_alignment_and_get_what_the_game_needs():
    blocks = (Block("indices", 6, b"\1"), Block("cells", 32, b"\0\0\0"), Block("vertices", 12, b""))
    assert place(b"", blocks, {"indices": 6, "cells": 32, "vertices": 12}, 0x80)[0] == {
        "indices": 0x80,
        "cells": 0x87,
        "vertices": 0xAA,
    }
    at, spares, end = place(b"", blocks, {"indices": 8, "cells": 32, "vertices": 24}, 0x80)
    assert at["cells"] % 4 == 0 and at["vertices"] % 4 == 0 and end % 4 == 0
    assert [spare.strip(b"\0") for _, spare in spares] == [b"", b"\1", b"", b""]


@pytest.mark.parametrize(
    "offset, alignment", [(0x80, 16), (0, 16), (0x82, 2), (0x87, 1), (0x84, 4), (0x88, 8), (0x100, 16)]
)
def test_an_alignment_is_the_largest_power_of_two_up_to_a_row(offset, alignment):
    assert natural_alignment(offset) == alignment


@pytest.mark.parametrize("slots", [[0x55], [0x54, 0x5A], [0x12]])
def test_a_slot_between_two_words_is_refused(slots):
    with pytest.raises(FormatError, match="a pointer stands between two words") as caught:
        encode_slots(np.array(slots))
    assert caught.value.offset == slots[-1]


def test_slots_on_words_come_back():
    slots = np.array([0x54, 0x58, 0x200, 0x100000])
    assert np.array_equal(decode_slots(encode_slots(slots)), slots)
