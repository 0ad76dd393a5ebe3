"""Hulls: every byte survives, known figures, and what a broken file says. docs/FORMATS.md, section 3."""

import dataclasses

import numpy as np
import pytest

from core.errors import FormatError
from core.formats import mcol, mcol_records
from tests.oracle.readers import read_col
from tests.support.hulls import HULLS, LARGE, read

HULL = read("test.col")
NAMES = [path.name for path in HULLS]


@pytest.fixture(params=HULLS, ids=NAMES)
def data(request) -> bytes:
    return request.param.read_bytes()


def test_decoding_and_encoding_gives_the_same_bytes(data):
    assert mcol.encode(mcol.decode(data)) == data


def test_the_model_says_what_an_independent_reader_says(data):
    hull, judge = mcol.decode(data), read_col(data)
    assert np.array_equal(hull.vertices, judge.vertices)
    assert np.array_equal(hull.triangles, judge.triangles)
    assert np.array_equal(hull.spheres, judge.spheres)
    assert hull.outside_solid == data[0x73]
    assert hull.states.tolist() == [cell.state for cell in judge.cells]
    for number, cell in enumerate(judge.cells):
        listed = [index for listing in cell.lists for index in listing.indices]
        assert hull.cell_triangles(number).tolist() == listed


def test_arrays_are_native_and_read_only(data):
    hull = mcol.decode(data)
    for field in dataclasses.fields(hull):
        value = getattr(hull, field.name)
        if isinstance(value, np.ndarray):
            assert value.dtype.isnative, field.name
    with pytest.raises(ValueError):
        hull.vertices[0] = 0


def test_block_addresses_of_s14_p1_are_those_of_the_notes():
    header = mcol.decode(read(LARGE)).carried.header
    assert int(header["spheres"]) + 0x10 == 0x80
    assert int(header["cells"]) + 0x10 == 0x6780
    lists_at = 0x6780 + 125 * 32
    assert lists_at == 0x7720
    assert int.from_bytes(read(LARGE)[0x6788:0x678C], "big") + 0x10 == lists_at


def test_records_have_the_sizes_of_the_notes():
    assert (mcol_records.HEADER.itemsize, mcol_records.CELL.itemsize, mcol_records.LIST.itemsize) == (0x70, 32, 32)
    offsets = {name: 0x10 + mcol_records.HEADER.fields[name][1] for name in mcol_records.HEADER.names}
    assert offsets["cell_size"] == 0x40
    assert offsets["vertex_count"] == 0x50
    assert offsets["vertices"] == 0x54
    assert offsets["dimensions"] == 0x70
    assert offsets["cells"] == 0x74


def test_a_file_cut_anywhere_is_refused():
    for length in range(len(HULL) - 16):
        with pytest.raises(FormatError):
            mcol.decode(HULL[:length])


def test_a_file_cut_behind_its_last_table_is_read_and_kept():
    for length in range(len(HULL) - 16, len(HULL)):
        assert mcol.encode(mcol.decode(HULL[:length])) == HULL[:length]


def change(offset: int, value: bytes, data: bytes = HULL) -> bytes:
    return data[:offset] + value + data[offset + len(value) :]


def pointer(offset: int) -> int:
    return 0x10 + int.from_bytes(HULL[offset : offset + 4], "big")


VERTICES, TRIANGLES, CELLS = pointer(0x54), pointer(0x58), pointer(0x74)
LISTS = pointer(CELLS + 8)
INDICES = pointer(LISTS + 4)
NAN, INFINITY = b"\x7f\xc0\x00\x00", b"\xff\x80\x00\x00"


@pytest.mark.parametrize(
    "data, words, offset",
    [
        (change(VERTICES + 16, NAN), "vertex 1 has no usable y coordinate", VERTICES + 16),
        (change(VERTICES, INFINITY), "vertex 0 has no usable x coordinate", VERTICES),
        (change(TRIANGLES + 10, b"\x00\x22"), "triangle 1 uses a vertex that doesn't exist", TRIANGLES + 10),
        (change(INDICES, b"\x00\x3c"), "names a triangle that doesn't exist", INDICES),
        (change(0x50, b"\xff\xff"), "vertices reach beyond the end", VERTICES),
        (change(0x52, b"\xff\xff"), "triangles reach beyond the end", TRIANGLES),
        (change(0x70, b"\xff\xff\xff"), "cells reach beyond the end", CELLS),
        (change(0x70, b"\x00"), "the grid has no cells", 0x70),
        (change(0x54, bytes(4)), "pointer to the vertices leads nowhere", 0x54),
        (change(0x5C, b"\x7f\xff\xff\xff"), "pointer to the spheres leads nowhere", 0x5C),
        (change(0x44, bytes(4)), "cell size is impossible along y", 0x44),
        (change(0x40, NAN), "cell size is impossible along x", 0x40),
        (change(0x28, b"\xff\x7f\xff\xff"), "bounding box maximum is impossible along z", 0x28),
        (change(0x10, NAN), "bounding box minimum is impossible along x", 0x10),
        (change(CELLS + 4, b"\x00\xff\xff\xff"), "cell number 0 has 16,777,215 list records", CELLS + 8),
        (change(CELLS + 8, b"\x00\x00\x00\x00"), "cell number 0 has 1 list records", CELLS + 8),
        (change(LISTS, b"\x7f\xff\xff\xff"), "list record number 0 names 2,147,483,647 triangles", LISTS + 4),
        (
            change(0x5C, HULL[0x54:0x58]),
            "the vertices and the spheres overlap|the spheres and the vertices overlap",
            None,
        ),
    ],
)
def test_a_broken_hull_is_refused_with_its_place(data, words, offset):
    with pytest.raises(FormatError, match=words) as caught:
        mcol.decode(data)
    if offset is not None:
        assert caught.value.offset == offset
    assert "\n" not in str(caught.value)


def test_a_flat_map_is_read_without_dividing_by_nothing():
    flat = change(0x24, HULL[0x14:0x18])  # maximum y = minimum y
    assert mcol.encode(mcol.decode(flat)) == flat


def test_a_relocation_table_that_disagrees_names_the_slots():
    coded_at = 0x10 + int.from_bytes(HULL[4:8], "big") + 16
    assert HULL[coded_at : coded_at + 3] == b"\x51\x41\x41"
    # 0x54, then 0x60 instead of 0x58; the codes behind it move along.
    with pytest.raises(FormatError, match=r"lacks .*0x58.* and has beyond them .*0x60"):
        mcol.decode(change(coded_at + 1, b"\x43"))


def test_random_damage_raises_nothing_but_a_format_error():
    random = np.random.default_rng(7)
    survived = 0
    for _ in range(3000):
        data = bytearray(HULL)
        for _ in range(random.integers(1, 4)):
            data[random.integers(len(data))] = random.integers(256)
        try:
            hull = mcol.decode(bytes(data))
        except FormatError:
            continue
        survived += 1
        assert mcol.encode(hull) == bytes(data)
    assert survived > 100


def test_unread_words_and_spare_bytes_are_carried():
    data = read("quirks/test_words_sharedgap.col")
    carried = mcol.decode(data).carried
    assert carried.header["unknown_4c"] == 0x11223344
    assert carried.shell.flags == 0x00020307
    assert carried.blocks[-1].name == "indices"
    assert carried.blocks[-1].spare == b"\xcd" * 10 + bytes(range(0xA0, 0xB0))


def test_padding_follows_a_changed_size_and_spare_bytes_stay():
    hull = mcol.decode(read("quirks/test_words_sharedgap.col"))
    shorter = dataclasses.replace(
        hull, indices=hull.indices[:-1], list_sizes=np.append(hull.list_sizes[:-1], hull.list_sizes[-1] - 1)
    )
    data = mcol.encode(shorter)
    again = mcol.decode(data)
    assert (len(data) - len(mcol.encode(hull))) % 16 == 0
    assert again.carried.blocks[-1].spare.endswith(bytes(range(0xA0, 0xB0)))


def test_cells_that_share_a_list_and_gaps_between_lists_survive():
    """Nothing in docs/FORMATS.md forbids either; the reader must not insist on what the builder happens to do."""
    hull = mcol.decode(HULL)
    shared = dataclasses.replace(
        hull,
        first_list=np.append(hull.first_list[:-1], hull.first_list[0]),
        list_starts=hull.list_starts[:-1],
        list_sizes=hull.list_sizes[:-1],
        list_spheres=hull.list_spheres[:-1],
    )
    starts = hull.list_starts.copy()
    starts[5:] += 3
    indices = np.insert(hull.indices, starts[5] - 3, np.zeros(3, np.uint16))
    gapped = dataclasses.replace(hull, list_starts=starts, indices=indices)
    for odd in (shared, gapped):
        data = mcol.encode(odd)
        assert mcol.encode(mcol.decode(data)) == data
    assert mcol.decode(mcol.encode(shared)).cell_triangles(hull.occupied[-1]).tolist() == (
        hull.cell_triangles(hull.occupied[0]).tolist()
    )


def test_cells_that_share_lists_without_measure_cannot_claim_all_memory():
    """Fifty kilobytes that say: 100 cells of 400 lists of 2,000 triangles, always the same ones."""
    hull = mcol.decode(read("test.col"))
    shared = dataclasses.replace(
        hull,
        occupied=np.arange(100),
        states=np.ones(1000, np.uint8),
        cell_spheres=np.zeros((100, 4), np.float32),
        first_list=np.zeros(100, np.int64),
        list_counts=np.full(100, 400),
        list_starts=np.zeros(400, np.int64),
        list_sizes=np.full(400, 2000),
        list_spheres=np.zeros((400, 4), np.float32),
        indices=np.zeros(2000, np.uint16),
        carried=None,
    )
    data = mcol.encode(shared)
    assert len(data) < 52_000
    with pytest.raises(FormatError, match="impossibly many triangles, the same ones over and over") as caught:
        mcol.decode(data)
    assert caught.value.found == "80,000,000"
