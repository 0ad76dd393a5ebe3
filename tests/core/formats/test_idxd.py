"""Tables: bytes kept, shared strings safe, every lie of a count or pointer refused."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FormatError
from core.formats import idxd
from core.formats.hashes import string_id, wide_string_id
from core.inspect import check_table


def table_bytes(sections, rows, pool, *, magic=b"IDXD", size=None, tail=b""):
    """A table made by hand: sections (hash, name, first, end), rows (hash, key, value)."""
    return b"".join(
        (
            magic,
            struct.pack(">I", len(sections)),
            *(struct.pack(">IiII", *section) for section in sections),
            struct.pack(">I", len(rows)),
            *(struct.pack(">Iii", *row) for row in rows),
            struct.pack(">I", len(pool) if size is None else size),
            pool,
            tail,
        )
    )


POOL = b"lost\0Phase_1\0MapMesh\0a.col\0Phase_2\0end\0"
PHASE_1, MAP_MESH, A_COL, PHASE_2 = 5, 13, 21, 27
SHARED = table_bytes(
    [(string_id("Phase_1"), PHASE_1, 0, 1), (string_id("Phase_2"), PHASE_2, 1, 2)],
    [(string_id("MapMesh"), MAP_MESH, A_COL), (string_id("MapMesh"), MAP_MESH, A_COL)],
    POOL,
)


def test_reads_by_hand_made_bytes():
    table = idxd.decode(SHARED)
    assert [section.name for section in table.sections] == ["Phase_1", "Phase_2"]
    assert [(row.key, row.value) for row in table.rows] == [("MapMesh", "a.col")] * 2
    assert table.value(table.section("Phase_2"), "MapMesh") == "a.col"
    assert table.value(table.section("Phase_2"), "MapPath") is None
    assert table.section("Phase_3") is None


@pytest.mark.parametrize(
    "data",
    [
        SHARED,
        SHARED + b"\0\0\0",
        table_bytes([], [], b""),
        table_bytes([], [], b"nobody points here"),
        table_bytes([(1, -1, 0, 1)], [(2, -1, -1)], b""),
        table_bytes([(1, 0, 0, 1), (1, 0, 0, 1)], [(2, 3, 4)], b"\x81\x82x\0y\0"),
        table_bytes([(1, 0, 0, 1)], [(2, 2, -1)], "ab\0\0".encode("utf-16-be"), magic=b"IXUD", size=4),
        table_bytes([(1, 0, 0, 1)], [(2, 2, -1)], "ab\0\0".encode("utf-16-be"), magic=b"IXUD", size=8),
    ],
    ids=["plain", "tail", "empty", "unreferenced", "no strings", "undecodable", "wide, units", "wide, bytes"],
)
def test_same_bytes(data):
    assert idxd.encode(idxd.decode(data)) == data


def test_nameless_rows_are_found_by_hash():
    data = table_bytes([(string_id("Phase_1"), -1, 0, 1)], [(string_id("MapMesh"), -1, 0)], b"a.col\0")
    table = idxd.decode(data)
    assert table.sections[0].name is table.rows[0].key is None
    assert table.value(table.section("Phase_1"), "MapMesh") == "a.col"


def test_a_shared_string_changes_for_one_row_only():
    table = idxd.set_value(idxd.decode(SHARED), "Phase_2", "MapMesh", "b.col")
    again = idxd.decode(idxd.encode(table))
    assert again == table
    assert [row.value for row in again.rows] == ["a.col", "b.col"]
    assert again.pool == POOL + b"b.col\0"
    assert again.pool_size == len(again.pool)


def test_a_known_string_is_pointed_to():
    changed = idxd.set_value(idxd.decode(SHARED), "Phase_2", "MapMesh", "b.col")
    back = idxd.set_value(changed, "Phase_2", "MapMesh", "a.col")
    assert list(back.rows) == list(idxd.decode(SHARED).rows)
    assert back.pool == changed.pool


def test_setting_the_same_value_changes_nothing():
    table = idxd.decode(SHARED)
    assert idxd.set_value(table, "Phase_1", "MapMesh", "a.col") is table


@pytest.mark.parametrize("size", [6, 12], ids=["units", "bytes"])
def test_set_value_in_a_wide_table(size):
    pool = "K\0V\0é\0".encode("utf-16-be")
    data = table_bytes([(string_id("K"), 0, 0, 1)], [(string_id("K"), 0, 2)], pool, magic=b"IXUD", size=size)
    table = idxd.set_value(idxd.decode(data), "K", "K", "long é")
    again = idxd.decode(idxd.encode(table))
    assert again.rows[0].value == "long é"
    assert again.pool_size == len(again.pool) * size // 12


def test_wide_strings_end_at_a_whole_zero_unit():
    text = "\u0100\u0001"  # 01 00 00 01: the zero bytes in the middle belong to two letters
    data = table_bytes([(1, 0, 0, 0)], [], (text + "\0").encode("utf-16-be"), magic=b"IXUD", size=3)
    assert idxd.decode(data).sections[0].name == text


@pytest.mark.parametrize(
    ("section", "key", "choice"), [("Phase_9", "MapMesh", "Phase_1, Phase_2"), ("Phase_1", "MapPath", "MapMesh")]
)
def test_set_value_names_the_choices(section, key, choice):
    with pytest.raises(FormatError) as caught:
        idxd.set_value(idxd.decode(SHARED), section, key, "x")
    assert choice in caught.value.expected


@pytest.mark.parametrize("value", ["a\0b", "é"])
def test_set_value_refuses_what_cannot_be_stored(value):
    with pytest.raises(FormatError, match="can't be stored"):
        idxd.set_value(idxd.decode(SHARED), "Phase_1", "MapMesh", value)


@pytest.mark.parametrize(
    ("data", "offset", "problem"),
    [
        (b"", 0, "not a table"),
        (b"XXXX" + SHARED[4:], 0, "not a table"),
        (b"IDXD" + struct.pack(">I", 0xFFFFFFFF) + SHARED[8:], 8, "sections"),
        (b"IDXD" + struct.pack(">II", 0, 4) + bytes(47), 12, "rows"),
    ],
)
def test_counts_beyond_the_file_are_refused(data, offset, problem):
    with pytest.raises(FormatError, match=problem) as caught:
        idxd.decode(data)
    assert caught.value.offset == offset
    assert "\n" not in str(caught.value)


NARROW = idxd.encode(idxd.set_value(idxd.decode(SHARED), "Phase_2", "MapMesh", "b.col"))
WIDE = idxd.encode(idxd.build([("Phase_1", [("MapMesh", "a.col"), ("MapPath", "long.rgn")])], wide=True))


@pytest.mark.parametrize("data", [NARROW, WIDE], ids=["narrow", "wide"])
def test_a_truncation_is_refused_within_the_records_and_read_within_the_strings(data):
    table = idxd.decode(data)
    records = 12 + table.section_records.nbytes + table.row_records.nbytes
    for length in range(len(data)):
        if length < records:
            with pytest.raises(FormatError):
                idxd.decode(data[:length])
        else:
            assert idxd.encode(idxd.decode(data[:length])) == data[:length]


PHASE = string_id("Phase_1")


@pytest.mark.parametrize(
    ("section", "rows", "pool", "values"),
    [
        ((PHASE, 0, 0, 9), [(1, -1, 2)], b"x\0y\0", ["y"]),  # an end beyond the rows
        ((PHASE, 0, 0, 0xFFFFFFFF), [(1, -1, 2)], b"x\0y\0", ["y"]),
        ((PHASE, 0, 1, 0), [(1, -1, 2)], b"x\0y\0", []),  # a first row behind the end
        ((PHASE, 0, 7, 9), [(1, -1, 2)], b"x\0y\0", []),
        ((PHASE, 99, 0, 1), [(1, -1, 2)], b"x\0y\0", ["y"]),  # a name outside the strings
        ((PHASE, 0, 0, 2), [(1, -1, 2), (2, -1, 4)], b"x\0y\0", ["y", None]),  # a value outside the strings
        ((PHASE, 0, 0, 2), [(1, -1, -7), (2, -1, 0x7FFFFFFF)], b"x\0y\0", [None, None]),
        ((PHASE, 0, 0, 2), [(1, 77, 0), (2, -1, 2)], b"x\0y\0", ["x", "y"]),  # a key outside the strings
        ((PHASE, 0, 0, 2), [(1, -1, 0), (2, -1, 2)], b"x\0y", ["x", "y"]),  # no zero behind the last string
        ((PHASE, 0, 0, 1), [(1, -1, 0)], b"", [None]),
    ],
)
def test_an_odd_row_makes_its_own_value_unknown(section, rows, pool, values):
    data = table_bytes([section], rows, pool)
    table = idxd.decode(data)
    assert [row.value for row in table.rows_of(table.section("Phase_1"))] == values
    assert idxd.encode(table) == data


@pytest.mark.parametrize("size", [0, 3, 0xFFFFFFFF])
def test_the_strings_are_the_rest_of_the_file_whatever_the_size_word_says(size):
    data = table_bytes([(PHASE, -1, 0, 1)], [(1, -1, 2)], b"x\0y\0", size=size)
    table = idxd.decode(data)
    assert table.rows[0].value == "y"
    assert (table.pool, table.pool_size) == (b"x\0y\0", size)
    assert idxd.encode(table) == data


def test_a_new_value_does_not_join_a_last_string_without_end():
    keyed = table_bytes([(PHASE, -1, 0, 2)], [(string_id("K"), -1, 0), (2, -1, 2)], b"x\0y", size=3)
    changed = idxd.decode(idxd.encode(idxd.set_value(idxd.decode(keyed), "Phase_1", "K", "new")))
    assert [row.value for row in changed.rows] == ["new", "y"]
    assert changed.pool == b"x\0y\0new\0" and changed.pool_size == len(changed.pool)


def test_keys_of_a_wide_table_are_found_by_its_own_hash():
    data = table_bytes(
        [(wide_string_id("Phase_1"), -1, 0, 1)],
        [(wide_string_id("MapMesh"), -1, 0)],
        "a.col\0".encode("utf-16-be"),
        magic=b"IXUD",
    )
    table = idxd.decode(data)
    assert table.value(table.section("Phase_1"), "MapMesh") == "a.col"
    assert check_table.check(table) == []


@pytest.mark.parametrize(
    ("head", "hashed"),
    [
        (SHARED[:12], string_id("Phase_1")),
        (SHARED[:11], None),
        (b"IXUD" + SHARED[4:12], string_id("Phase_1")),
        (table_bytes([], [(0x3C9AE32E, 0, 0)], b""), None),
        (b"IDXX" + SHARED[4:12], None),
    ],
)
def test_the_first_section_is_known_from_the_first_bytes(head, hashed):
    assert idxd.first_section(head) == hashed


def test_build_stores_equal_strings_once():
    table = idxd.build([("Phase_1", [("MapMesh", "a.col")]), ("Phase_2", [("MapMesh", "a.col")])])
    assert table.pool == b"Phase_1\0MapMesh\0a.col\0Phase_2\0"
    assert idxd.decode(idxd.encode(table)) == table
    assert check_table.check(table) == []


narrow_text = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)
wide_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


def sections_of(values):
    pairs = st.lists(st.tuples(narrow_text, values), max_size=4)
    return st.lists(st.tuples(narrow_text, pairs), max_size=4)


@pytest.mark.parametrize(("wide", "values"), [(False, narrow_text), (True, wide_text)], ids=["narrow", "wide"])
def test_round_trip(wide, values):
    @given(sections_of(values))
    def run(sections):
        table = idxd.decode(idxd.encode(idxd.build(sections, wide=wide)))
        assert [(s.name, [(r.key, r.value) for r in table.rows_of(s)]) for s in table.sections] == sections

    run()


@given(st.binary(max_size=120))
def test_noise_raises_nothing_else(noise):
    for magic in (idxd.NARROW, idxd.WIDE):
        for data in (magic + noise, magic + bytes(3) + noise):
            try:
                table = idxd.decode(data)
            except FormatError:
                continue
            assert idxd.encode(table) == data
            check_table.check(table)
            list(check_table.contents(table))
