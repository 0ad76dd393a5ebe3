"""What changed between two files: nothing exactly where the bytes are the same, else in a modder's terms."""

import json
from dataclasses import asdict, replace
from itertools import pairwise

import numpy as np
import pytest

from core.editing.options import Options, Outside
from core.editing.rebuild_hull import build, rebuild
from core.formats import collision_set, mcol
from core.formats.collision_set import CollisionSet, encode_name
from core.inspect.diff_hull import diff_hulls, diff_sets
from tests.support.hulls import DATA, HULLS, LARGE, box, cubic_grid, edited, moved, new, pieces, read, rock


def hull(name=LARGE):
    return mcol.decode(read(name))


def said(differences):
    return [str(difference) for difference in differences]


def changed(source, changes, extra=(), **options):
    return rebuild(source, edited(source, changes, extra), Options(**options)).hull


# --- nothing to tell ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", HULLS, ids=lambda path: path.name)
def test_a_hull_and_itself(path):
    assert diff_hulls(mcol.decode(path.read_bytes()), mcol.decode(path.read_bytes())) == []


def test_a_hull_and_its_unedited_export():
    assert diff_hulls(hull(), changed(hull(), {})) == []


def test_any_two_different_files_have_a_difference():
    for one, other in pairwise(HULLS):
        assert diff_hulls(mcol.decode(one.read_bytes()), mcol.decode(other.read_bytes()))


def test_any_single_changed_byte_has_a_difference():
    data = bytearray(read("test.col"))
    source = mcol.decode(bytes(data))
    random = np.random.default_rng(7)
    readable = 0
    for offset in random.integers(0, len(data), 1500):
        damaged = data.copy()
        damaged[offset] ^= 1 << random.integers(8)
        try:
            other = mcol.decode(bytes(damaged))
        except mcol.FormatError:
            continue
        readable += 1
        assert diff_hulls(source, other), f"0x{offset:X}"
    assert readable > 500


def test_bytes_that_nothing_else_accounts_for():
    # The same slots in another spelling: the first two codes of the table are one byte each.
    source = hull("test.col")
    coded = source.carried.shell.relocation.coded
    assert coded[0] == 0x51
    longer = b"\x80\x11" + coded[1:-1] if coded[-1] == 0 else b"\x80\x11" + coded[1:]
    relocation = replace(source.carried.shell.relocation, coded=longer)
    other = replace(source, carried=replace(source.carried, shell=replace(source.carried.shell, relocation=relocation)))
    (only,) = diff_hulls(source, other)
    assert only.where == "bytes"
    assert "0x" in only.message


# --- geometry -------------------------------------------------------------------------------------


def test_an_asteroid_moved_by_a_cell():
    source = hull()
    chosen = next(piece for piece in pieces(source) if piece.vertices[:, 0].max() < 15000)
    result = changed(source, {chosen.name: moved(chosen, (10000, 0, 0))})
    lines = said(diff_hulls(source, result))
    assert lines[0] == f"surface {chosen.name}: {len(chosen.vertices)} vertices moved by (10000, 0, 0)"
    assert sum(line.startswith("surface") for line in lines) == 1
    assert lines[1] == f"triangle spheres: {len(chosen.triangles)} changed with their triangles"
    assert not any("unread" in line or "behind" in line for line in lines)
    assert any(line.startswith("cells: ") for line in lines)


def test_a_move_that_float32_rounds_is_still_one_move():
    source = hull()
    first = pieces(source)[0]
    result = changed(source, {first.name: moved(first, (0.1, 0, 0))})
    line = said(diff_hulls(source, result))[0]
    assert line == f"surface {first.name}: {len(first.vertices)} vertices moved by (0.1, 0, 0)"


def test_a_move_by_the_last_bit_is_not_told_as_none():
    source = hull("test.col")
    vertices = source.vertices.copy()
    vertices[0, 0] = np.nextafter(vertices[0, 0], np.float32(1e9))
    line = said(diff_hulls(source, replace(source, vertices=vertices)))[0]
    assert line.startswith("surface asteroid_01: 1 of 26 vertices moved, by up to 0.000")


def test_one_vertex_moved():
    source = hull()
    first = pieces(source)[0]
    vertices = first.vertices.copy()
    vertices[4] *= 1.01
    result = changed(source, {first.name: replace(first, vertices=vertices)})
    line = said(diff_hulls(source, result))[0]
    assert line.startswith(f"surface {first.name}: 1 of {len(first.vertices)} vertices moved by (")


def test_an_asteroid_removed_shows_just_that():
    source = hull()
    gone = pieces(source)[4]
    lines = said(diff_hulls(source, changed(source, {gone.name: None})))
    surfaces = [line for line in lines if line.startswith("surface")]
    assert surfaces == [f"surface {gone.name}: removed, {len(gone.triangles)} triangles"]
    assert not any(line.startswith(("triangle spheres", "triangles", "vertices")) for line in lines)
    back = said(diff_hulls(changed(source, {gone.name: None}), source))
    assert any(line.endswith(f"added, {len(gone.triangles)} triangles") for line in back)


def test_an_asteroid_added():
    source = hull("test.col")
    ball = new("ball", *rock((9000, 9000, 9000), 2000, 4))
    lines = said(diff_hulls(source, changed(source, {}, (ball,))))
    assert lines[0] == f"surface asteroid_02: added, {len(ball.triangles)} triangles"


def test_triangles_of_a_surface_changed():
    source = hull("test.col")
    first = pieces(source)[0]
    # The first triangle's middle pulled out: three triangles in its place.
    middle = first.vertices[first.triangles[0]].mean(axis=0) * np.float32(1.01)
    a, b, c = first.triangles[0]
    number = len(first.vertices)
    fan = [[a, b, number], [b, c, number], [c, a, number]]
    result = changed(
        source,
        {
            first.name: replace(
                first,
                vertices=np.concatenate((first.vertices, [middle])),
                triangles=np.concatenate((first.triangles[1:], fan)),
                vertex_ids=np.append(first.vertex_ids, -1),
                triangle_ids=np.append(first.triangle_ids[1:], [-1] * 3),
            )
        },
    )
    line = said(diff_hulls(source, result))[0]
    assert line == f"surface {first.name}: 3 triangles added, 1 triangles removed, vertices 26 -> 27"


def test_a_surface_turned_around():
    source = hull("test.col")
    triangles = source.triangles.copy()
    triangles[3] = triangles[3][::-1]
    lines = said(diff_hulls(source, replace(source, triangles=triangles)))
    assert lines[0] == "surface asteroid_01: 1 triangles turned around"


def test_a_triangle_that_starts_at_another_corner():
    source = hull("test.col")
    triangles = source.triangles.copy()
    triangles[3] = np.roll(triangles[3], 1)
    lines = said(diff_hulls(source, replace(source, triangles=triangles)))
    assert lines == ["surface asteroid_01: the same triangles, numbered in another order"]


def test_a_grid_that_grew():
    source = hull("S01_AsteroidVolume_wp.col")
    only = pieces(source)[0]
    result = changed(source, {only.name: moved(only, (10000, 0, 0))}, outside=Outside.GROW)
    lines = said(diff_hulls(source, result))
    assert "grid: box maximum: (50000, 50000, 50000) -> (60000, 50000, 50000)" in lines
    assert "grid: cells along x, y, z: (10, 10, 10) -> (11, 10, 10)" in lines
    assert any(".rgn" in line for line in lines)


def test_the_flag_for_the_outside():
    source = hull("test.col")
    assert said(diff_hulls(source, replace(source, outside_solid=0))) == ["header: byte 0x73, outside is solid: 1 -> 0"]


def test_hulls_from_nothing():
    grid = cubic_grid(25000, 5)
    one = build(*box([-25000] * 3, [25000] * 3, inward=True), grid, True)
    other = build(*box([-24000] * 3, [24000] * 3, inward=True), grid, True)
    assert diff_hulls(one, one) == []
    assert said(diff_hulls(one, other))[0].startswith("surface wall: 8 vertices moved")


# --- cells, spheres, words ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        (
            "S13_AsteroidVolume_wp.col",
            "quirks/S13_missing.col",
            "cells: 3 with other triangles in their lists, 0 entries more and 3 fewer "
            "(cell (6, 5, 3), (7, 5, 3), (8, 5, 3))",
        ),
        (
            "S13_AsteroidVolume_wp.col",
            "quirks/S13_ulps.col",
            "triangle spheres: 45 changed though their triangles didn't (triangle 1, 4, 7, 10, …)",
        ),
        (
            "test.col",
            "quirks/test_descending_multilist.col",
            "cells: 23 with their lists cut into records in another way "
            "(cell (4, 0, 0), (9, 5, 0), (0, 7, 0), (2, 9, 0), …)",
        ),
        ("test.col", "quirks/test_words_sharedgap.col", "header, 0x60: 4 unread words changed"),
        ("test.col", "quirks/test_words_sharedgap.col", "chunk shell: flags and version changed"),
        ("test.col", "quirks/test_words_sharedgap.col", "arrays: other bytes behind the indices"),
        ("test.col", "quirks/test_words_sharedgap.col", "list records, +8 to +0xF: 1,044 unread words changed"),
    ],
)
def test_what_two_files_differ_in(before, after, line):
    assert line in said(diff_hulls(hull(before), hull(after)))


def test_fill_states_in_words():
    source = hull("test.col")
    states = source.states.copy()
    states[[0, 225]] = (0, 2)
    assert said(diff_hulls(source, replace(source, states=states))) == [
        "fill states: 1 cells from free to solid (cell (5, 2, 2))",
        "fill states: 1 cells from holding triangles to free (cell (0, 0, 0))",
    ]


def test_differences_are_json():
    source, other = hull("test.col"), hull("S13_AsteroidVolume_wp.col")
    text = json.dumps([asdict(difference) for difference in diff_hulls(source, other)])
    assert all(set(row) == {"where", "message"} for row in json.loads(text))


# --- libraries ------------------------------------------------------------------------------------


@pytest.fixture
def library():
    return collision_set.decode((DATA / "CollisionSet_small.bin").read_bytes())


def with_part(library, number, **values):
    parts = list(library.parts)
    parts[number] = replace(parts[number], **values)
    return replace(library, parts=tuple(parts))


def test_a_library_and_itself(library):
    assert diff_sets(library, library) == []


def test_a_mesh_moved(library):
    other = with_part(library, 0, vertices=library.parts[0].vertices + np.float32([0, 64, 0]))
    (line,) = said(diff_sets(library, other))
    assert line == "mesh mob_n040: 58 vertices moved by (0, 64, 0)"


def test_a_mesh_renamed(library):
    other = with_part(library, 1, name_field=encode_name("mob_n110_new"))
    assert said(diff_sets(library, other)) == ["mesh mob_n110_bdy: renamed to mob_n110_new"]


def test_a_mesh_whose_name_changes_case(library):
    other = with_part(library, 1, name_field=encode_name("MOB_n110_bdy"))
    assert said(diff_sets(library, other)) == ["mesh mob_n110_bdy: renamed to MOB_n110_bdy"]


def test_bytes_behind_a_name(library):
    other = with_part(library, 0, name_field=b"mob_n040\0\0\0\0\0\0\0x")
    assert said(diff_sets(library, other)) == ["mesh mob_n040: other bytes behind the name"]


def test_meshes_removed_added_and_reordered(library):
    parts = library.parts
    fewer = CollisionSet(parts[:2] + parts[3:])
    assert said(diff_sets(library, fewer)) == ["mesh mob_n310_part_03: removed, 371 triangles"]
    assert said(diff_sets(fewer, library)) == ["mesh mob_n310_part_03: added, 371 triangles"]
    assert said(diff_sets(library, CollisionSet(parts[::-1]))) == ["meshes: stand in another order"]


def test_triangles_of_a_mesh_removed(library):
    other = with_part(library, 0, triangles=library.parts[0].triangles[:-2])
    assert said(diff_sets(library, other)) == ["mesh mob_n040: 2 triangles removed"]


def test_of_two_meshes_of_one_name_the_changed_one_is_told(library):
    twice = CollisionSet((library.parts[0], library.parts[0]))
    other = with_part(twice, 1, vertices=library.parts[0].vertices + np.float32(1))
    (line,) = said(diff_sets(twice, other))
    assert line == "mesh mob_n040: 58 vertices moved by (1, 1, 1)"


def test_bytes_behind_the_last_mesh(library):
    (line,) = said(diff_sets(library, replace(library, trailing=bytes(16))))
    assert line.startswith("behind the last mesh: 0 -> 16 bytes")


def test_any_changed_byte_of_a_library_has_a_difference(library):
    data = bytearray(collision_set.encode(library))
    random = np.random.default_rng(8)
    readable = 0
    for offset in random.integers(0, len(data), 400):
        damaged = data.copy()
        damaged[offset] ^= 1 << random.integers(8)
        try:
            other = collision_set.decode(bytes(damaged))
        except mcol.FormatError:
            continue
        readable += 1
        assert diff_sets(library, other), f"0x{offset:X}"
    assert readable > 100
