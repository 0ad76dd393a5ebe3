"""A library after edits: what wasn't edited keeps its bytes, and no two parts get one name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.editing.pieces import NEW, Piece
from core.editing.preserved import aside
from core.editing.rebuild_set import PartEdit, rebuild_set
from core.errors import RefusedError, Severity
from core.formats.collision_set import CollisionSet, Part, decode, encode
from core.formats.hashes import file_id
from tests.oracle.readers import read_set

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], np.float32)
TETRAHEDRON = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], np.uint32)
ODD_CORNERS = np.vstack([[(7, 7, 7)], CORNERS + np.float32(5), [(8, 8, 8), (9, 9, 9)]]).astype(np.float32)
ODD_TRIANGLES = np.vstack(
    [TETRAHEDRON + 1, TETRAHEDRON[:, ::-1] + 1, TETRAHEDRON[:1] + 1, [(1, 2, 2), (6, 6, 6)]]
).astype(np.uint32)
"""Two-sided, one triangle doubled, two with a repeated index, vertices 0 and 5 without a triangle."""


def part(name: str, vertices=CORNERS, triangles=TETRAHEDRON) -> Part:
    field = name.encode("cp932").ljust(16, b"\0")
    return Part(field, np.asarray(vertices, np.float32), np.asarray(triangles, np.uint32))


def library(*names: str) -> CollisionSet:
    return CollisionSet(tuple(part(name) for name in names))


def shown(source: Part) -> Piece:
    """What an import puts into Blender: no repeated index, no vertex without a triangle."""
    kept, _ = aside(source)
    numbers = np.flatnonzero(~kept)
    used, corners = np.unique(source.triangles[numbers].astype(np.int64), return_inverse=True)
    return Piece("object", source.vertices[used], corners.reshape(-1, 3), used, numbers)


def edited(source: CollisionSet, record: int, name: str | None = None, label: str = "", **changes) -> PartEdit:
    original = source.parts[record]
    piece = replace(shown(original), **changes)
    return PartEdit(label or name or original.name, record, name, (piece,), original)


def made(name: str, vertices=CORNERS, triangles=TETRAHEDRON) -> PartEdit:
    vertices, triangles = np.asarray(vertices, np.float32), np.asarray(triangles, np.int64).reshape(-1, 3)
    piece = Piece(name, vertices, triangles, np.full(len(vertices), NEW), np.full(len(triangles), NEW))
    return PartEdit(name, None, name, (piece,), None)


def untouched(source: CollisionSet) -> list[PartEdit]:
    return [edited(source, record) for record in range(len(source.parts))]


def messages(rebuilt) -> list[str]:
    assert all(finding.severity is Severity.WARNING for finding in rebuilt.findings)
    return [finding.message for finding in rebuilt.findings]


def names(rebuilt) -> list[str]:
    return [mesh.name for mesh in read_set(encode(rebuilt.library))]


def refusal(*arguments) -> str:
    with pytest.raises(RefusedError) as caught:
        rebuild_set(*arguments)
    return str(caught.value)


# --- unedited -------------------------------------------------------------------------------------


def test_the_unedited_sample_is_the_same_bytes(samples):
    data = (samples / "CollisionSet_small.bin").read_bytes()
    source = decode(data)
    rebuilt = rebuild_set(source, untouched(source))
    assert encode(rebuilt.library) == data
    assert rebuilt.changed == () and rebuilt.findings == ()
    assert all(one is other for one, other in zip(rebuilt.library.parts, source.parts, strict=True))


def test_an_unedited_odd_part_is_the_same_bytes():
    source = CollisionSet((part("odd", ODD_CORNERS, ODD_TRIANGLES), part("none", CORNERS, TETRAHEDRON[:0])), bytes(8))
    rebuilt = rebuild_set(source, untouched(source))
    assert encode(rebuilt.library) == encode(source)
    assert rebuilt.changed == () and rebuilt.findings == ()


def test_parts_that_are_not_mentioned_stay():
    source = library("a", "b", "c")
    rebuilt = rebuild_set(source, [edited(source, 1, vertices=CORNERS * 2)])
    assert names(rebuilt) == ["a", "b", "c"]
    assert rebuilt.library.parts[0] is source.parts[0] and rebuilt.library.parts[2] is source.parts[2]
    assert rebuilt.changed == ("b",)


# --- geometry -------------------------------------------------------------------------------------


def test_an_edit_of_an_odd_part_keeps_what_was_kept_aside_and_every_order():
    source = CollisionSet((part("odd", ODD_CORNERS, ODD_TRIANGLES),))
    piece = shown(source.parts[0])
    vertices = piece.vertices.copy()
    vertices[3] = (50, 60, 70)
    (mesh,) = read_set(encode(rebuild_set(source, [edited(source, 0, vertices=vertices)]).library))
    expected = ODD_CORNERS.copy()
    expected[4] = (50, 60, 70)
    assert np.array_equal(mesh.vertices, expected)
    assert np.array_equal(mesh.triangles, ODD_TRIANGLES)


def test_a_triangle_that_an_edit_flattens_leaves_with_a_warning():
    """Its corners are the source's, its area isn't: the physics would get a triangle that it never had."""
    source = library("a")
    vertices = CORNERS.copy()
    vertices[3] = vertices[0]
    rebuilt = rebuild_set(source, [edited(source, 0, vertices=vertices)])
    (mesh,) = read_set(encode(rebuilt.library))
    assert mesh.triangles.tolist() == [[0, 2, 1], [1, 2, 3]]
    assert messages(rebuilt) == ['2 zero-area triangles of "a" left out']


def test_a_flat_triangle_of_the_source_stays():
    corners = np.vstack([CORNERS, [(2, 0, 0)]])
    source = CollisionSet((part("a", corners, [*TETRAHEDRON, (0, 1, 4)]),))
    vertices = corners.astype(np.float32)
    vertices[3] = (0, 0, 9)
    rebuilt = rebuild_set(source, [edited(source, 0, vertices=vertices)])
    (mesh,) = read_set(encode(rebuilt.library))
    assert mesh.triangles.tolist() == [*TETRAHEDRON.tolist(), [0, 1, 4]]
    assert messages(rebuilt) == []


def test_a_new_flat_triangle_is_left_out_with_a_warning():
    rebuilt = rebuild_set(library("a"), [made("new", [*CORNERS, (2, 0, 0)], [*TETRAHEDRON, (0, 1, 4), (0, 0, 1)])])
    assert read_set(encode(rebuilt.library))[1].triangles.tolist() == TETRAHEDRON.tolist()
    assert messages(rebuilt) == ['2 zero-area triangles of "new" left out']


@pytest.mark.parametrize("triangles", [np.zeros((0, 3), int), [(0, 0, 1)]], ids=["no faces", "flat faces"])
@pytest.mark.parametrize("corners", [CORNERS, ODD_CORNERS], ids=["plain", "odd"])
def test_a_part_without_usable_faces_stays_as_in_the_source(triangles, corners):
    odd = corners is ODD_CORNERS
    source = CollisionSet((part("a", corners, ODD_TRIANGLES if odd else TETRAHEDRON), part("b")))
    piece = shown(source.parts[0])
    triangles = np.asarray(triangles)
    edit = edited(source, 0, triangles=triangles, triangle_ids=np.full(len(triangles), NEW))
    vertices = piece.vertices * np.float32(1)
    assert len(vertices) == 4
    rebuilt = rebuild_set(source, [edit, edited(source, 1, vertices=CORNERS * 3)])
    assert rebuilt.library.parts[0] is source.parts[0]
    assert rebuilt.changed == ("b",)
    assert '"a" has no usable triangles and stays as in the source file' in messages(rebuilt)


def test_a_part_scaled_to_nothing_stays_as_in_the_source():
    source = library("a")
    rebuilt = rebuild_set(source, [edited(source, 0, vertices=CORNERS * 0)])
    assert rebuilt.library.parts[0] is source.parts[0]
    assert '"a" has no usable triangles and stays as in the source file' in messages(rebuilt)


def test_a_new_part_without_usable_faces_is_left_out():
    rebuilt = rebuild_set(library("a"), [made("new", CORNERS, [])])
    assert names(rebuilt) == ["a"]
    assert '"new" has no usable triangles and is left out' in messages(rebuilt)


def test_a_renamed_part_without_usable_faces_keeps_its_geometry_and_gets_its_name():
    source = library("a")
    edit = edited(source, 0, "b", triangles=np.zeros((0, 3), int), triangle_ids=np.zeros(0, int))
    rebuilt = rebuild_set(source, [edit])
    assert names(rebuilt) == ["b"]
    assert rebuilt.library.parts[0].triangles.tolist() == TETRAHEDRON.tolist()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_coordinate_that_is_no_number_names_the_object(value):
    source = library("a")
    vertices = CORNERS.copy()
    vertices[1, 2] = value
    text = refusal(source, [edited(source, 0, label="my object", vertices=vertices)])
    assert '"my object"' in text and "finite" in text


# --- names ----------------------------------------------------------------------------------------


def test_a_new_name_changes_the_name_alone():
    source = library("a", "b")
    rebuilt = rebuild_set(source, [edited(source, 0, "rock_of_17_letter")])
    assert rebuilt.library.parts[0].name_field == b"rock_of_17_letter".ljust(24, b"\0")
    assert rebuilt.library.parts[0].triangles.tolist() == TETRAHEDRON.tolist()
    assert rebuilt.library.parts[1] is source.parts[1]
    assert rebuilt.changed == ("rock_of_17_letter",)


def test_names_can_be_swapped():
    source = CollisionSet((part("a"), part("b", CORNERS * 2)))
    rebuilt = rebuild_set(source, [edited(source, 0, "b"), edited(source, 1, "a")])
    assert names(rebuilt) == ["b", "a"]


@pytest.mark.parametrize("name", ["x" * 32, "rock_é"])
def test_a_name_that_cannot_be_stored_names_the_object(name):
    source = library("a")
    assert '"my object"' in refusal(source, [edited(source, 0, name, label="my object")])
    assert f'"{name}"' in refusal(source, [made(name)])


@pytest.mark.parametrize("name", ["b", "B"])
def test_a_name_that_another_part_has_is_refused_whatever_its_case(name):
    source = library("a", "b")
    for edits in ([edited(source, 0, name, label="first")], [made(name)]):
        text = refusal(source, edits)
        assert f'"{edits[0].label}"' in text and '"b"' in text and "drops the second" in text


ONE_ID = ("rou_ysafbnuj", "rou_gksvduie")
"""Two names with one file id."""


@pytest.mark.parametrize("one, other", [ONE_ID, ONE_ID[::-1], (ONE_ID[0].upper(), ONE_ID[1]), ("Same", "sAME")])
def test_the_second_of_two_names_with_one_id_is_refused_new_or_renamed(one, other):
    source = library(one, "b")
    assert file_id(one) == file_id(other)
    for edits in ([edited(source, 1, other, label="second")], [made(other)], [made(other), edited(source, 1)]):
        text = refusal(source, edits)
        assert "drops the second" in text and other in text and f'"{one}"' in text and "rename one" in text
    assert "drops the second" in refusal(library("a"), [made(one), made(other)])
    assert "drops the second" in refusal(library("a", "b"), [edited(source, 0, other), edited(source, 1, one)])


@pytest.mark.parametrize("pair", [("same", "Same"), ONE_ID])
def test_a_pair_with_one_id_in_the_source_stays_and_is_reported(pair):
    source = library(*pair, "third")
    rebuilt = rebuild_set(source, untouched(source))
    assert encode(rebuilt.library) == encode(source) and not rebuilt.changed
    assert messages(rebuilt) == [
        f"{pair[0]} and {pair[1]} have one id, as in the source file: the game drops the second"
    ]
    moved = rebuild_set(source, [edited(source, 1, vertices=CORNERS * 2)])
    assert names(moved) == list(source_names(source)) and moved.library.parts[0] is source.parts[0]
    assert "drops the second" in refusal(source, [edited(source, 2, pair[1])])
    renamed = rebuild_set(source, [edited(source, 1, "fourth")])
    assert names(renamed) == [pair[0], "fourth", "third"] and not renamed.findings


def source_names(source: CollisionSet) -> list[str]:
    return [part.name for part in source.parts]


def test_equal_names_of_the_source_stay():
    source = library("same", "Same", "same")
    rebuilt = rebuild_set(source, [edited(source, 2, vertices=CORNERS * 2)])
    assert names(rebuilt) == ["same", "Same", "same"]
    assert len(rebuilt.findings) == 2


def test_a_third_of_equal_names_is_refused():
    assert "drops the second" in refusal(library("same", "same"), [made("SAME")])


def test_two_new_parts_of_one_name_are_refused():
    text = refusal(library("a"), [made("new"), made("NEW")])
    assert '"new"' in text and '"NEW"' in text


def test_the_name_of_a_part_that_leaves_is_free():
    source = library("a", "b")
    rebuilt = rebuild_set(source, [edited(source, 0, "B")], removed=[1])
    assert names(rebuilt) == ["B"]


# --- parts that come and go -----------------------------------------------------------------------


def test_new_parts_come_last_and_a_removed_part_leaves_with_a_warning():
    source = library("a", "b", "c")
    rebuilt = rebuild_set(source, [made("y"), edited(source, 2), made("x")], removed=[0])
    assert names(rebuilt) == ["b", "c", "y", "x"]
    assert messages(rebuilt) == ['"a" is missing and leaves the collision set']


def test_a_new_part_takes_the_place_of_a_removed_one_of_its_name():
    source = library("a", "b", "c")
    other = made("b", CORNERS * 2)
    rebuilt = rebuild_set(source, [edited(source, 0), other, edited(source, 2)], removed=[1])
    assert names(rebuilt) == ["a", "b", "c"]
    assert np.array_equal(rebuilt.library.parts[1].vertices, CORNERS * 2)
    assert (messages(rebuilt), rebuilt.changed) == (['"b" replaces the part b'], ("b",))


def test_the_same_part_made_again_is_the_old_one_with_all_that_was_kept_aside():
    source = CollisionSet((part("a"), part("odd", ODD_CORNERS, ODD_TRIANGLES)))
    piece = shown(source.parts[1])
    none = np.full(len(piece.vertices), NEW), np.full(len(piece.triangles), NEW)
    again = PartEdit("odd", None, "odd", (Piece("odd", piece.vertices, piece.triangles, *none),), None)
    assert encode(rebuild_set(source, [again], removed=[1]).library) == encode(source)


def test_a_part_in_other_case_takes_the_place_and_gets_the_new_name():
    source = library("a", "b")
    rebuilt = rebuild_set(source, [made("A")], removed=[0])
    assert names(rebuilt) == ["A", "b"]
    assert messages(rebuilt) == ['"A" replaces the part a']


def test_a_part_renamed_to_a_removed_one_takes_its_place_and_leaves_its_own():
    source = CollisionSet((part("a"), part("b", CORNERS * 2), part("c", CORNERS * 3), part("d")))
    rebuilt = rebuild_set(source, [edited(source, 2, "b"), edited(source, 1, "a"), edited(source, 3)], removed=[0])
    assert names(rebuilt) == ["a", "b", "d"]
    assert [rebuilt.library.parts[number].vertices.max() for number in (0, 1)] == [2, 3]
    assert messages(rebuilt) == [
        '"a" replaces the part a',
        '"b" replaces the part b',
        '"c" is missing and leaves the collision set',
    ]


def test_a_copy_renamed_to_a_removed_part_takes_its_place_and_the_original_stays():
    source = CollisionSet((part("a"), part("b", CORNERS * 2)))
    copy = replace(edited(source, 1), record=None, name="a", label="a")
    rebuilt = rebuild_set(source, [edited(source, 1), copy], removed=[0])
    assert [(one.name, one.vertices.max()) for one in rebuilt.library.parts] == [("a", 2), ("b", 2)]


@pytest.mark.parametrize("name", ["same", "SAME"])
def test_of_two_removed_parts_of_one_name_a_new_one_takes_the_first_place(name):
    source = library("same", "x", "same")
    assert names(rebuild_set(source, [made(name)], removed=[0, 2])) == [name, "x"]
    assert names(rebuild_set(source, [edited(source, 0), made(name)], removed=[2])) == ["same", "x", name]


def test_parts_that_swap_their_names_swap_nothing_else():
    source = library("a", "b")
    assert names(rebuild_set(source, [edited(source, 0, "b"), edited(source, 1, "a")])) == ["b", "a"]


def test_two_new_parts_of_a_removed_name_are_refused():
    assert "drops the second" in refusal(library("a", "b"), [made("a"), made("A")], [0])


def test_two_objects_that_are_one_part_are_refused_by_their_names():
    source = library("a")
    text = refusal(source, [edited(source, 0, label="one"), edited(source, 0, label="two")])
    assert '"one"' in text and '"two"' in text


def test_a_library_without_parts_is_refused():
    assert "no parts left" in refusal(library("a"), [], [0])


@pytest.mark.parametrize("padding", [b"", bytes(8)])
def test_bytes_behind_the_last_record_stay_and_are_never_added(padding):
    source = CollisionSet((part("a"), part("b")), padding)
    data = encode(rebuild_set(source, [made("new")], [1]).library)
    assert data.endswith(part("new").triangles.astype(">u4").tobytes() + padding)
    assert len(data) == len(encode(source))
