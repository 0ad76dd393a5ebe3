"""The library of object meshes: every byte comes back, names as the game stores them, and what is refused."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import FormatError
from core.formats.collision_set import CollisionSet, Part, decode, dropped, encode, encode_name, unusable
from tests.oracle.readers import read_set

TETRAHEDRON = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]


def record(name: bytes, vertices=CORNERS, triangles=TETRAHEDRON, field: int = 16) -> bytes:
    """One record, written from docs/FORMATS.md."""
    body = name.ljust(field, b"\0") + struct.pack(">II", len(vertices), len(triangles))
    body += b"".join(struct.pack(">3f", *vertex) for vertex in vertices)
    body += b"".join(struct.pack(">3I", *triangle) for triangle in triangles)
    return struct.pack(">II", len(body), field) + body


def refusal(data: bytes) -> FormatError:
    with pytest.raises(FormatError) as caught:
        decode(data)
    assert "\n" not in str(caught.value)
    return caught.value


# --- every byte comes back ------------------------------------------------------------------------

ODD = {
    "one part": record(b"mob_n040"),
    "two-sided and doubled triangles": record(b"a", triangles=[*TETRAHEDRON, (0, 1, 2), (1, 2, 0), (2, 1, 0)]),
    "a repeated index": record(b"a", triangles=[*TETRAHEDRON, (1, 2, 2), (3, 3, 3)]),
    "unused vertices": record(b"a", vertices=[(9, 9, 9), *CORNERS, (-0.0, 1e-45, 3e38)]),
    "a part without triangles": record(b"a", triangles=[]) + record(b"b"),
    "an empty part": record(b"a", [], []),
    "duplicate names": record(b"same") * 2,
    "names that differ only in case": record(b"Same") + record(b"sAME"),
    "garbage behind the name's NUL": record(b"a\0garbage\xff\xfe\x01...."),
    "a lone lead byte": record(b"abc\x83"),
    "an empty name": record(b""),
    "a name field of 8, 24, 32 and 64 bytes": b"".join(record(b"a%d" % n, field=n) for n in (8, 24, 32, 64)),
    "a name field of 9, 18, 27 and 36 bytes": b"".join(record(b"a%d" % n, field=n) for n in (9, 18, 27, 36)),
    "a name whose words are no numbers": record(b"\x7f\xc0\0\0" + 8 * b"\xff"),
    "four zero bytes behind the last record": record(b"a") + bytes(4),
    "2,048 zero bytes behind the last record": record(b"a") + bytes(2048),
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_every_byte_comes_back(data):
    assert encode(decode(data)) == data


def test_the_sample_comes_back_with_the_values_that_an_independent_reader_finds(samples):
    data = (samples / "CollisionSet_small.bin").read_bytes()
    library = decode(data)
    assert encode(library) == data
    assert library.trailing == b""
    for part, mesh in zip(library.parts, read_set(data), strict=True):
        assert part.name == mesh.name
        assert part.name_field == mesh.raw_name
        assert part.vertices.dtype == np.float32 and part.vertices.tobytes() == mesh.vertices.tobytes()
        assert part.triangles.dtype == np.uint32 and np.array_equal(part.triangles, mesh.triangles)


def test_a_part_is_made_once_and_cannot_be_changed():
    parts = decode(b"".join(record(b"a%d" % n, field=n) for n in (16, 9, 24))).parts
    assert parts[1] is parts[1] and [part.name for part in parts] == ["a16", "a9", "a24"]
    assert parts[-1] is parts[2] and parts[:2] == (parts[0], parts[1])
    for part in parts:
        assert part.vertices.tolist() == [list(corner) for corner in CORNERS]
        assert part.triangles.tolist() == [list(corners) for corners in TETRAHEDRON]
        assert not part.vertices.flags.writeable and not part.triangles.flags.writeable


fields = st.binary(min_size=0, max_size=30).map(lambda name: name.ljust(31, b"\0") + b"\0")
coordinates = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def parts(draw):
    vertices = np.array(draw(st.lists(st.tuples(*[coordinates] * 3), max_size=5)), np.float32).reshape(-1, 3)
    corner = st.integers(0, max(len(vertices) - 1, 0))
    triangles = draw(st.lists(st.tuples(*[corner] * 3), max_size=6)) if len(vertices) else []
    return Part(draw(fields), vertices, np.array(triangles, np.uint32).reshape(-1, 3))


@settings(max_examples=50, deadline=None)
@given(st.lists(parts(), min_size=1, max_size=4))
def test_any_parts_come_back(made):
    data = encode(CollisionSet(tuple(made)))
    found = decode(data)
    assert encode(found) == data
    for one, other in zip(found.parts, made, strict=True):
        assert one.name_field == other.name_field
        assert one.vertices.tobytes() == other.vertices.tobytes()
        assert np.array_equal(one.triangles, other.triangles)


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "name"),
    [
        (b"mob_n040\0\0\0\0\0\0\0\0", "mob_n040"),
        (b"a b\0rest of it...", "a b"),
        (b"\xb1\xb2\xb3\0", "ｱｲｳ"),
        ("小惑星".encode("cp932") + b"\0", "小惑星"),
        (b"abc\x83\0\0\0\0", "abc\\x83"),
        (b"\0" * 16, ""),
    ],
)
def test_a_name_ends_at_its_first_nul_and_bytes_outside_cp932_are_shown(field, name):
    assert Part(field, np.zeros((0, 3), np.float32), np.zeros((0, 3), np.uint32)).name == name


@pytest.mark.parametrize(
    ("letters", "size"), [(1, 16), (7, 16), (8, 16), (15, 16), (16, 24), (23, 24), (24, 32), (31, 32)]
)
@pytest.mark.parametrize("letter", ["a", "ｱ", " "])
def test_a_name_is_stored_in_16_24_or_32_bytes_with_a_nul(letters, size, letter):
    assert encode_name(letter * letters) == (letter * letters).encode("cp932").ljust(size, b"\0")


@pytest.mark.parametrize(("letters", "size"), [(7, 16), (8, 24), (11, 24), (12, 32), (15, 32)])
def test_a_kanji_takes_two_bytes(letters, size):
    assert encode_name("星" * letters) == ("星" * letters).encode("cp932").ljust(size, b"\0")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("a" * 32, "31 bytes at most, found 32"),
        ("星" * 16, "31 bytes at most, found 32"),
        ("rock_é", "'é' isn't in CP932"),
        ("rock_😀", "'😀' isn't in CP932"),
        ("", "empty"),
        ("a\0b", "NUL"),
    ],
)
def test_a_name_that_cannot_be_stored_is_refused(name, says):
    with pytest.raises(FormatError) as caught:
        encode_name(name)
    assert says in str(caught.value)


# --- bytes behind the last record -----------------------------------------------------------------


@pytest.mark.parametrize("fill", [b"\0", b"\xcd", b"\xff"])
@pytest.mark.parametrize("count", [4, 8, 12, 16, 2048])
def test_padding_behind_the_last_record_is_kept_apart(count, fill):
    data = record(b"a") * 2 + fill * count
    library = decode(data)
    assert len(library.parts) == 2
    assert library.trailing == fill * count
    assert encode(library) == data


@pytest.mark.parametrize("value", [0, 1, 0x7FFFFFFF, 0xFFFFFFFF])
@pytest.mark.parametrize("broken", [0, 1, 2])
def test_a_wrong_size_word_is_carried_because_the_game_only_logs_it(broken, value):
    data = bytearray(record(b"first") + record(b"second") + record(b"third"))
    struct.pack_into(">I", data, broken * len(record(b"first")), value)
    library = decode(bytes(data))
    assert [part.name for part in library.parts] == ["first", "second", "third"]
    assert [part.size_excess != 0 for part in library.parts] == [number == broken for number in range(3)]
    assert encode(library) == data


def test_a_wrong_size_word_is_named_when_the_rest_does_not_fit():
    """Whether the size or the counts are wrong shows by what follows."""
    data = bytearray(record(b"first") + record(b"second"))
    struct.pack_into(">I", data, 8 + 16, 3)
    error = refusal(bytes(data))
    assert "record 0" in error.problem and "size word disagrees" in error.problem and error.offset == 0


@pytest.mark.parametrize("value", [0, 1, 0x7FFFFFFF, 0xFFFFFFFF])
@pytest.mark.parametrize("broken", [0, 1, 2])
def test_a_damaged_name_length_is_an_error_and_never_the_end_of_the_library(broken, value):
    """Parts behind the damage would be missing from the scene and from what can be edited."""
    data = bytearray(record(b"first") + record(b"second") + record(b"third"))
    at = broken * len(record(b"first"))
    struct.pack_into(">I", data, at + 4, value)
    error = refusal(bytes(data))
    assert f"record {broken}" in error.problem
    assert at <= error.offset <= at + 8


# --- refused --------------------------------------------------------------------------------------


def test_an_empty_file_is_refused():
    assert "empty" in str(refusal(b""))


def test_a_cut_anywhere_but_between_records_is_refused():
    """Of a cut between two records the rest is a library of its own; nothing in the file tells."""
    pieces = [record(b"first"), record(b"second", field=24), record(b"third", triangles=[], field=32)]
    data = b"".join(pieces)
    ends = {len(pieces[0]), len(pieces[0]) + len(pieces[1]), len(data)}
    for length in sorted(set(range(1, len(data))) - ends):
        error = refusal(data[:length])
        assert error.offset is not None, length
        assert "cut short" in str(error) or "damaged" in str(error)


@pytest.mark.parametrize("text", [b"hello, this is text\n" * 20, b"MCOL" + bytes(200), b"\xff" * 300, bytes(300), b"x"])
def test_something_else_is_refused(text):
    refusal(text)


@pytest.mark.parametrize("corner", [0, 1, 2])
@pytest.mark.parametrize("value", [4, 0x10000, 0xFFFFFFFF])
def test_an_index_past_the_vertices_makes_its_part_unusable_and_no_other(corner, value):
    triangles = [list(t) for t in TETRAHEDRON]
    triangles[2][corner] = value
    data = record(b"first") + record(b"mob_n040", triangles=triangles)
    library = decode(data)
    assert encode(library) == data
    assert unusable(library.parts[0]) == ""
    assert "triangle 2 uses a vertex that doesn't exist" in unusable(library.parts[1])
    assert f"below 4, found {value:,}" in unusable(library.parts[1])


@pytest.mark.parametrize(("value", "shown"), [(float("nan"), "nan"), (float("inf"), "inf"), (-float("inf"), "-inf")])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_coordinate_that_is_no_number_makes_its_part_unusable_and_no_other(axis, value, shown):
    vertices = [list(v) for v in CORNERS]
    vertices[3][axis] = value
    data = record(b"first") + record(b"mob_n040", vertices=vertices)
    library = decode(data)
    assert encode(library) == data
    assert unusable(library.parts[0]) == ""
    assert f"vertex 3 has no usable {'xyz'[axis]}" in unusable(library.parts[1])
    assert unusable(library.parts[1]).endswith(f"found {shown}")


def test_a_coordinate_that_no_triangle_uses_may_be_anything():
    data = record(b"first", vertices=[*CORNERS, (float("nan"), float("inf"), 0)])
    library = decode(data)
    assert encode(library) == data
    assert unusable(library.parts[0]) == ""


def test_the_game_ignores_a_part_with_the_name_of_an_earlier_one():
    parts = decode(record(b"Same") + record(b"other") + record(b"sAME") + record(b"same\0behind")).parts
    assert dropped(parts) == [2, 3]


@pytest.mark.parametrize("value", [0x7FFFFFFF, 0xFFFFFFFF, 0x15555556])
@pytest.mark.parametrize("place", [24, 28])
def test_a_count_beyond_the_file_is_refused_before_anything_is_allocated(place, value):
    data = bytearray(record(b"mob_n040"))
    struct.pack_into(">I", data, 8 + place - 8, value)
    assert "record 0" in refusal(bytes(data)).problem


def test_a_name_with_a_line_feed_does_not_break_the_line():
    refusal(record(b"two\nlines")[:-1])


def test_random_bytes_raise_nothing_else():
    random = np.random.default_rng(1)
    good = record(b"mob_n040") * 3
    for _ in range(2000):
        data = bytearray(good)
        for at in random.integers(0, len(data), 3):
            data[at] = random.integers(256)
        try:
            library = decode(bytes(data))
        except FormatError:
            continue
        assert encode(library) == data
