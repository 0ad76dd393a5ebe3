"""What decodes encodes to itself: tables, libraries, relocation tables and archives that no tool ever wrote.

Whole files damaged at random are in test_fuzz.py, hulls with any mixture of oddities in test_oddities.py.
"""

from __future__ import annotations

import struct

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import FormatError
from core.formats import chunk, collision_set, compression, idxd, ipfb
from core.game.archive import open_archive
from core.game.archive_write import write_archive
from tests.oracle.readers import OracleError, decode_pof0
from tests.support.tally import cases

WORDS = st.integers(0, 2**32 - 1)
DELTAS = st.one_of(st.integers(1, 0x41), st.integers(0x3FFE, 0x4002), st.integers(1, 0x3FFFFF))


@settings(max_examples=1500)
@given(st.lists(DELTAS, max_size=40), st.integers(0, 20))
def test_any_ascending_slots_are_coded_and_decoded_and_no_byte_hangs_the_game(deltas, spare):
    slots = chunk.POINTER_BASE + 4 * np.cumsum(np.array(deltas, np.int64))
    with cases("relocation tables"):
        coded = chunk.encode_slots(slots)
        assert decode_pof0(coded) == slots.tolist()  # an OracleError at a byte that hangs the game
        assert np.array_equal(chunk.decode_slots(coded + bytes(spare)), slots)


@settings(max_examples=1500)
@given(st.lists(st.one_of(st.integers(0, 255), st.sampled_from([0x40, 0x41, 0x7F, 0x80, 0xC0, 0xFF])), max_size=30))
def test_any_coded_bytes_are_refused_or_read_as_the_game_reads_them(coded):
    try:
        truth = decode_pof0(bytes(coded))
    except OracleError as error:
        truth = None
        zero_step = "never needed" in str(error)  # which the game takes, and this package where it does no harm
    with cases("relocation tables") as figure:
        try:
            found = chunk.decode_slots(bytes(coded)).tolist()
        except FormatError:
            figure.refused += 1
            assert truth is None
        else:
            assert found == truth if truth is not None else zero_step


PART = st.tuples(st.binary(min_size=1, max_size=40), st.integers(0, 5), st.integers(0, 6), WORDS)


@settings(max_examples=400)
@given(st.lists(PART, min_size=1, max_size=5), st.sampled_from([b"", bytes(4), bytes(60), b"\xcd" * 17]))
def test_any_library_is_written_back_as_it_was(parts, trailing):
    """Names of any bytes and length, parts without vertices or triangles, any coordinate that is a number."""
    data = b""
    for name, vertex_count, triangle_count, seed in parts:
        random = np.random.default_rng(seed)
        vertices = random.integers(0, 2**32, (vertex_count, 3), np.uint32).view(np.float32)
        vertices = np.where(np.isfinite(vertices), vertices, np.float32(-0.0))
        triangles = random.integers(0, max(vertex_count, 1), (triangle_count if vertex_count else 0, 3))
        body = struct.pack(">II", len(vertices), len(triangles))
        body += vertices.astype(">f4").tobytes() + triangles.astype(">u4").tobytes()
        data += struct.pack(">II", len(name) + len(body), len(name)) + name + body
    data += trailing
    with cases("libraries"):
        library = collision_set.decode(data)
        assert [part.name_field for part in library.parts] == [name for name, *_ in parts]
        assert library.trailing == trailing
        assert collision_set.encode(library) == data


TEXT = st.text("abcXYZ019_./-日本あア", max_size=12)
SECTIONS = st.lists(st.tuples(TEXT, st.lists(st.tuples(TEXT, TEXT), max_size=4)), max_size=4)


@settings(max_examples=400)
@given(SECTIONS, st.booleans(), TEXT, st.data())
def test_a_table_is_written_back_and_a_new_value_changes_no_other(sections, wide, value, data):
    with cases("tables"):
        table = idxd.build(sections, wide=wide)
        again = idxd.decode(idxd.encode(table))
        assert [(s.name, s.first, s.end) for s in again.sections] == [(s.name, s.first, s.end) for s in table.sections]
        assert [(row.key, row.value) for row in again.rows] == [pair for _, pairs in sections for pair in pairs]
        assert idxd.encode(again) == idxd.encode(table)
    named = [(name, key) for name, pairs in sections for key, _ in pairs]
    if named:
        name, key = data.draw(st.sampled_from(named))
        section = again.section(name)
        if again.value(section, key) is None:  # an earlier section of that name lacks the key
            return
        with cases("tables"):
            changed = idxd.decode(idxd.encode(idxd.set_value(again, name, key, value)))
            target = next(i for i in range(section.first, section.end) if again.rows[i].key == key)
            expected = [value if i == target else row.value for i, row in enumerate(again.rows)]
            assert [row.value for row in changed.rows] == expected
            assert [row.key for row in changed.rows] == [row.key for row in again.rows]


@settings(max_examples=400)
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=8), WORDS, WORDS, st.binary(max_size=40))
def test_any_archive_table_is_written_back_as_it_was(rows, alignment, limit, tail):
    data = struct.pack(">4sIII", b"IPFB", len(rows), alignment, limit)
    data += b"".join(struct.pack(">III", *row) for row in rows) + tail
    with cases("archives"):
        assert ipfb.encode(ipfb.decode(data)) == data


@settings(max_examples=400)
@given(st.binary(max_size=3000))
def test_packed_bytes_come_out_again(data):
    with cases("archives"):
        assert compression.unpack(compression.pack(data)) == data
        assert compression.unpacked_size(compression.pack(data)) == len(data)


ENTRIES = st.lists(st.tuples(st.binary(max_size=40), st.booleans(), st.integers(0, 3)), max_size=6)


@settings(max_examples=150)
@given(ENTRIES, st.sampled_from([1, 4, 16, 2048]), st.binary(max_size=9), st.integers(0, 255))
def test_any_archive_on_the_disk_is_copied_byte_for_byte(tmp_path_factory, entries, alignment, tail, gap):
    """Gaps that aren't empty, any alignment, bytes behind the table: all of it is kept."""
    folder = tmp_path_factory.mktemp("archive")
    data, rows = bytearray(), []
    for number, (contents, packed, spare) in enumerate(entries):
        stored = compression.pack(contents) if packed else contents
        data += bytes([gap]) * (spare * alignment + -len(data) % alignment)
        rows.append((1000 * number, len(data), len(stored)))
        data += stored
    table = struct.pack(">4sIII", b"IPFB", len(rows), alignment, 0x10000000)
    (folder / "A.pak").write_bytes(table + b"".join(struct.pack(">III", *row) for row in rows) + tail)
    (folder / "A.p00").write_bytes(data)
    with cases("archives"):
        write_archive(open_archive(folder / "A.pak"), {}, folder / "copy")
        for name in ("A.pak", "A.p00"):
            assert (folder / "copy" / name).read_bytes() == (folder / name).read_bytes()
