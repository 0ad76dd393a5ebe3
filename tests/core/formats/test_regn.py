"""Navigation volumes: every byte survives, what a broken file says, which hull one fits. docs/FORMATS.md, section 5."""

import dataclasses
import struct

import numpy as np
import pytest

from core.errors import FormatError, Severity
from core.formats import mcol_records, regn
from core.formats.regn import Sections
from core.geometry.grid import Grid
from tests.support.hulls import read
from tests.support.navigation_file import make_navigation


def make_grid(low=-100, high=(100, 200, 300), size=100, dimensions=(2, 3, 4)) -> Grid:
    corners = (np.full(3, low, np.float32), np.broadcast_to(np.float32(high), 3).copy())
    return Grid(*corners, np.full(3, size, np.float32), dimensions)


GRID = make_grid()
DATA = make_navigation(GRID)
PAYLOAD_END = 0x10 + int.from_bytes(DATA[4:8], "big")
VERTICES, TETRAHEDRA, FACES, CELLS, ITEMS, REFERENCES = (
    0x10 + int.from_bytes(DATA[at : at + 4], "big") for at in range(0x70, 0x88, 4)
)
CODED = PAYLOAD_END + 0x10


def change(offset: int, value: bytes, data: bytes = DATA) -> bytes:
    return data[:offset] + value + data[offset + len(value) :]


def word(value: int) -> bytes:
    return struct.pack(">I", value)


def findings(data: bytes) -> list[tuple[Severity, str]]:
    return [(finding.severity, finding.message) for finding in regn.check(regn.decode(data))]


def test_the_header_has_the_offsets_of_the_notes():
    offsets = {name: 0x10 + regn.HEADER.fields[name][1] for name in regn.HEADER.names}
    assert regn.HEADER_END == 0x88
    assert (offsets["minimum"], offsets["cell_size"], offsets["unknown_4c"]) == (0x10, 0x40, 0x4C)
    assert (offsets["dimensions"], offsets["counts"], offsets["pointers"]) == (0x50, 0x60, 0x70)
    shared = mcol_records.HEADER.names[:7]
    assert [regn.HEADER.fields[name] for name in shared] == [mcol_records.HEADER.fields[name] for name in shared]


def test_decode_says_what_was_written():
    navigation = regn.decode(DATA)
    assert navigation.counts == Sections(4, 1, 4, 24, 1, 1)
    assert navigation.offsets == Sections(VERTICES, TETRAHEDRA, FACES, CELLS, ITEMS, REFERENCES)
    assert navigation.minimum.tolist() == [-100, -100, -100]
    assert navigation.maximum.tolist() == [100, 200, 300]
    assert navigation.cell_size.tolist() == [100, 100, 100]
    assert navigation.dimensions == navigation.grid.dimensions == (2, 3, 4)
    assert regn.check(navigation) == []


@pytest.mark.parametrize(
    "data",
    [
        DATA,
        change(0x4C, b"\1\2\3\4"),
        change(0x50, b"\2\3\4\0" + bytes(12)),
        change(0x6C, b"word"),
        change(0x88, b"contents"),
        change(0x80, bytes(8)),
        change(0x08, b"\0\2\0\5own!"),
        change(0x1C, bytes(4)),
        change(0x30, b"\x7f\xc0\0\1"),
        change(FACES, bytes(range(200))),
        DATA + b"more behind",
    ],
)
def test_decoding_and_encoding_gives_the_same_bytes(data):
    assert regn.encode(regn.decode(data)) == data


def test_a_changed_box_brings_its_extent():
    navigation = regn.decode(change(0x30, bytes(12)))
    grid = make_grid(-200, 200, 200, (2, 2, 2))
    counts = navigation.counts._replace(cells=8)
    edited = dataclasses.replace(
        navigation,
        minimum=grid.minimum,
        maximum=grid.maximum,
        cell_size=grid.cell_size,
        dimensions=grid.dimensions,
        counts=counts,
    )
    data = regn.encode(edited)
    assert struct.unpack_from(">3f", data, 0x30) == (400, 400, 400)
    assert struct.unpack_from(">3I", data, 0x50) == (2, 2, 2)
    assert data[0x70:] == DATA[0x70:]
    assert regn.fits(regn.decode(data), grid) == []
    assert regn.encode(regn.decode(data)) == data


def test_a_file_cut_anywhere_is_refused():
    for length in range(len(DATA) - 16):
        with pytest.raises(FormatError):
            regn.decode(DATA[:length])


def test_a_file_cut_behind_its_last_table_is_read_and_kept():
    for length in range(len(DATA) - 16, len(DATA)):
        assert regn.encode(regn.decode(DATA[:length])) == DATA[:length]
        assert bool(regn.check(regn.decode(DATA[:length]))) == (length < len(DATA) - 12)


@pytest.mark.parametrize("more", [1, 2, 3])
def test_a_payload_of_any_size_is_read_and_kept(more):
    data = change(0x04, word(PAYLOAD_END - 0x10 + more), DATA[:PAYLOAD_END] + bytes(more) + DATA[PAYLOAD_END:])
    assert regn.encode(regn.decode(data)) == data
    assert regn.check(regn.decode(data)) == []


@pytest.mark.parametrize("payload", [0, 4, 0x40, regn.HEADER.itemsize - 4])
def test_a_payload_shorter_than_the_header_is_refused(payload):
    data = struct.pack(">4s3I", b"REGN", payload, 0, 0) + DATA[0x10 : 0x10 + payload]
    with pytest.raises(FormatError, match="header's bytes") as caught:
        regn.decode(data + b"POF0" + bytes(28))
    assert caught.value.offset == 0x10


NAN = b"\x7f\xc0\0\0"


@pytest.mark.parametrize(
    ("data", "problem", "offset"),
    [
        (b"", "not a REGN file", 0),
        (read("test.col"), "not a REGN file", 0),
        (change(0x08, b"\1"), "already relocated", 0x08),
        (change(0x04, word(PAYLOAD_END - 0x20)), "no POF0 chunk", PAYLOAD_END - 0x10),
        (change(0x18, NAN), "bounding box minimum is impossible along z", 0x18),
        (change(0x20, struct.pack(">f", -101)), "bounding box maximum is impossible along x", 0x20),
        (change(0x44, bytes(4)), "cell size is impossible along y", 0x44),
        (change(0x70, bytes(4)), "pointer to the vertices leads nowhere", 0x70),
        (change(0x74, word(4)), "pointer to the tetrahedra leads nowhere", 0x74),
        (change(0x78, word(PAYLOAD_END)), "pointer to the faces leads nowhere", 0x78),
        (change(0x7C, b"\xff\xff\xff\xff"), "pointer to the cells leads nowhere", 0x7C),
        (change(0x64, b"\xff\xff"), "faces and the two records that a search writes to reach beyond", FACES),
        (change(CODED, bytes(4)), "lacks the pointer to the vertices", 0x70),
        (change(CODED + 4, b"\x80\2\x80\1\x80\1"), "lacks the pointer to the faces", 0x78),
        (change(CODED + 14, b"\x80\0"), "names a pointer twice", CELLS + 8 * 23 + 4),
        (change(CODED + 18, b"\xbf\xff"), "lies outside the payload", REFERENCES + 4 * 0x3FFF),
        (change(REFERENCES, word(PAYLOAD_END)), "a pointer leads outside the file", REFERENCES),
        (change(0x80, word(PAYLOAD_END)), "a pointer leads outside the file", 0x80),
        (change(CODED + 18, b"\1"), "hangs the game", CODED + 18),
        (change(len(DATA) - 16, b"\1"), "no zero word behind POF0", len(DATA) - 16),
    ],
)
def test_a_broken_file_is_refused_with_the_place(data, problem, offset):
    with pytest.raises(FormatError, match=problem) as caught:
        regn.decode(data)
    assert caught.value.offset == offset


def test_room_for_exactly_the_two_spare_faces():
    count = (PAYLOAD_END - FACES) // 48 - 2
    assert regn.decode(change(0x64, struct.pack(">H", count))).counts.faces == count
    with pytest.raises(FormatError, match="two records"):
        regn.decode(change(0x64, struct.pack(">H", count + 1)))


@pytest.mark.parametrize(
    "words",
    [(0, 3, 8), (1, 1, 24 * 256), (256, 3, 4), (2, 3, 5), (0x02030400, 0, 0), (0xFFFFFFFF,) * 3, (1, 24, 0)],
)
def test_dimensions_of_another_form_are_kept_and_told(words):
    data = change(0x50, struct.pack(">3I", *words))
    navigation = regn.decode(data)
    assert navigation.dimensions is navigation.grid is None
    assert regn.encode(navigation) == data
    assert [severity for severity, _ in findings(data)] == [Severity.INFO]
    assert "at 0x50" in findings(data)[0][1] and "24 cells" in findings(data)[0][1]
    assert regn.fits(navigation, GRID) == []


@pytest.mark.parametrize(
    ("data", "severity", "message"),
    [
        (change(0x1C, bytes(4)), Severity.INFO, "the words behind the box's corners aren't 1.0, 1.0, 0.0"),
        (change(0x30, bytes(4)), Severity.INFO, "the extent isn't maximum - minimum"),
        (change(0x60, b"\0\6"), Severity.WARNING, f"the vertices and the tetrahedra overlap at 0x{TETRAHEDRA:X}"),
        (change(0x64, b"\0\5"), Severity.WARNING, f"the faces and the cells overlap at 0x{CELLS:X}"),
        (change(0x80, bytes(4)), Severity.WARNING, "the header counts 1 items, but has no pointer to them"),
        (
            change(0x6A, b"\0\5"),
            Severity.WARNING,
            f"5 references at 0x{REFERENCES:X} reach beyond the end of the payload at 0x{PAYLOAD_END:X}",
        ),
        (change(0x84, word(0x60)), Severity.WARNING, "the header and the references overlap at 0x70"),
        (
            change(CODED + 8, b"\xc0\0\2\xc0" + struct.pack(">H", (CELLS + 23 * 8 + 4 - 0x84) // 4)),
            Severity.WARNING,
            "the relocation table lacks the pointer to the items at 0x80",
        ),
        (
            change(0x78, word(FACES - 0x10 - 4)),
            Severity.ERROR,
            f"the faces begin at 0x{FACES - 4:X}: the game's vector loads need a multiple of 16",
        ),
    ],
)
def test_what_is_only_derived_is_told_and_not_refused(data, severity, message):
    assert (severity, message) in findings(data)
    assert regn.encode(regn.decode(data)) == data


def test_counts_of_arrays_without_a_pointer():
    data = change(0x68, bytes(4), change(0x80, bytes(8)))
    assert findings(data) == []
    assert regn.decode(data).offsets[4:] == (0x10, 0x10)


def test_a_volume_of_another_grid_does_not_fit():
    navigation = regn.decode(DATA)
    assert regn.fits(navigation, GRID) == []
    assert regn.fits(navigation, make_grid(-100.5)) == [
        "its box is (-100, -100, -100) to (100, 200, 300), the hull's (-100.5, -100.5, -100.5) to (100, 200, 300)"
    ]
    assert regn.fits(navigation, make_grid(high=(100, 200, 300.0001))) == [
        "its box is (-100, -100, -100) to (100, 200, 300), the hull's (-100, -100, -100) to (100, 200, 300.0001)"
    ]
    assert regn.fits(navigation, make_grid(size=200, dimensions=(1, 2, 2))) == [
        "its cells measure 100, 100, 100, the hull's 200, 200, 200",
    ]


def test_counts_and_dimensions_are_only_a_doubt_while_the_cell_table_has_room():
    navigation = regn.decode(DATA)
    assert regn.fits(navigation, make_grid(dimensions=(4, 3, 2))) == []
    assert regn.doubts(navigation, GRID) == []
    assert regn.doubts(navigation, make_grid(dimensions=(4, 3, 2))) == [
        "the words at 0x50 say 2 × 3 × 4 cells, the hull has 4 × 3 × 2"
    ]
    other_count = regn.decode(change(0x66, b"\0\1"))
    assert other_count.dimensions is None and regn.fits(other_count, GRID) == []
    assert regn.doubts(other_count, GRID) == ["the count at 0x66 says 1 cells, the hull has 24"]
    other_form = regn.decode(change(0x50, bytes(12)))
    assert regn.fits(other_form, make_grid(dimensions=(4, 3, 2))) == []
    room = (ITEMS - CELLS) // 8
    assert 24 <= room < 125
    assert regn.fits(other_form, make_grid(dimensions=(5, 5, 5))) == [
        f"its cell table has room for {room} cells, the hull has 125"
    ]
