"""An edit changes only what it touches, and the game finds everything. docs/FORMATS.md, section 3."""

import dataclasses

import numpy as np
import pytest

from core.editing.assemble import assemble
from core.editing.faults import find_faults
from core.editing.options import Options, Outside, Rebuild
from core.editing.rebuild_hull import build, rebuild, sort_into_cells
from core.errors import RefusedError, Severity
from core.formats import mcol
from core.geometry.arrays import bits
from core.geometry.grid import Grid
from core.geometry.overlap import overlaps
from core.inspect.check_hull import check_hull
from tests.oracle import game_queries as game
from tests.oracle.readers import read_col
from tests.support.hulls import HULLS, LARGE, box, cubic_grid, edited, moved, new, pieces, read, rock

ALL = Options(rebuild=Rebuild.ALL)
GROW = Options(outside=Outside.GROW)
TURN = Options(turn=True)


@pytest.fixture(scope="module")
def hull() -> mcol.Hull:
    return mcol.decode(read(LARGE))


def piece(hull, name):
    return next(piece for piece in pieces(hull) if piece.name == name)


def lists(col, number):
    return [(list(record.indices), list(record.sphere), list(record.words8)) for record in col.cells[number].lists]


def check_by_the_game(hull: mcol.Hull, count: int = 300, seed: int = 1) -> None:
    """The game's query finds the same first hit as testing all triangles, and knows rock from free space."""
    col = read_col(mcol.encode(hull))
    random = np.random.default_rng(seed)
    low, high = hull.grid.minimum.astype(float), hull.grid.maximum.astype(float)
    starts = random.uniform(low - 0.2 * (high - low), high + 0.2 * (high - low), (count, 3))
    movements = random.normal(size=(count, 3)) * random.choice([0.02, 0.2, 1.0], (count, 1)) * (high - low)
    vertices, triangles = np.asarray(col.vertices, float), np.asarray(col.triangles)
    found, truth = game.rays(col, starts, movements), game.first_hits(vertices, triangles, starts, movements)
    np.testing.assert_allclose(found, truth, rtol=1e-9)
    inner = random.uniform(low, high, (count, 3))
    solid = game.solid(vertices, triangles, bool(hull.outside_solid), inner)
    assert np.array_equal(game.insides(col, inner), solid)


def check_lists(hull: mcol.Hull) -> None:
    """Nothing missing, spheres that enclose, fill states that say so."""
    rows, numbers, triangles = hull.entries()
    listed = set(zip(triangles.tolist(), hull.occupied[rows].tolist(), strict=True))
    truth = set(zip(*(a.tolist() for a in overlaps(hull.grid, hull.vertices, hull.triangles)), strict=True))
    assert not truth - listed
    points = hull.vertices[hull.triangles[triangles]].astype(np.float64)
    spheres = hull.list_spheres[numbers].astype(np.float64)
    assert (np.linalg.norm(points - spheres[:, None, :3], axis=2) <= spheres[:, None, 3]).all()
    assert (hull.states[hull.occupied] == mcol.LISTED).all()
    assert np.count_nonzero(hull.states == mcol.LISTED) == len(hull.occupied)


# --- nothing changed ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", HULLS, ids=lambda path: path.name)
def test_an_unedited_hull_comes_out_byte_for_byte(path):
    source = mcol.decode(path.read_bytes())
    rebuilt = rebuild(source, edited(source, {}))
    assert mcol.encode(rebuilt.hull) == path.read_bytes()
    assert (rebuilt.moved, rebuilt.added, rebuilt.removed, len(rebuilt.cells)) == (0, 0, 0, 0)
    assert rebuilt.findings == ()


@pytest.mark.parametrize("path", HULLS, ids=lambda path: path.name)
def test_all_built_again_satisfies_the_game_and_keeps_unread_words(path):
    source = mcol.decode(path.read_bytes())
    result = rebuild(source, edited(source, {}), ALL).hull
    check_lists(result)
    check_by_the_game(result)
    data, before = mcol.encode(result), path.read_bytes()
    for start, end in ((0x08, 0x10), (0x4C, 0x50), (0x60, 0x74), (0x78, 0x80)):
        assert data[start:end] == before[start:end]
    assert np.array_equal(result.vertices, source.vertices)
    assert np.array_equal(result.triangles, source.triangles)


def test_extra_entries_of_lists_built_again_are_fewer_than_the_game_s_own():
    for path in HULLS:
        source = mcol.decode(path.read_bytes())
        again = rebuild(source, edited(source, {}), ALL).hull
        assert len(again.indices) <= max(
            len(source.indices), len(overlaps(source.grid, source.vertices, source.triangles)[0])
        )


def test_the_box_of_500_km_built_from_nothing_is_the_file():
    source = mcol.decode(read("mapmesh_box_500km.col"))
    made = build(source.vertices, source.triangles, source.grid, True)
    assert len(made.occupied) == 488
    assert mcol.encode(made) == read("mapmesh_box_500km.col")


# --- one asteroid moved ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, step", [("asteroid_02", (10_000, 0, 0)), ("asteroid_04", (0, 0, 10_000)), ("asteroid_09", (0, -10_000, 0))]
)
def test_moving_an_asteroid_by_a_cell_changes_only_what_it_left_or_entered(hull, name, step):
    asteroid = piece(hull, name)
    result = rebuild(hull, edited(hull, {name: moved(asteroid, step)}))
    after, before = read_col(mcol.encode(result.hull)), read_col(read(LARGE))

    mine = np.zeros(len(hull.triangles), bool)
    mine[asteroid.triangle_ids] = True
    assert np.array_equal(
        bits(result.hull.vertices) != bits(hull.vertices), np.isin(np.arange(502), asteroid.vertex_ids)
    )
    assert np.array_equal(result.hull.triangles, hull.triangles)
    assert np.array_equal(result.hull.spheres[~mine], hull.spheres[~mine])
    assert (result.hull.spheres[mine] != hull.spheres[mine]).any(axis=1).all()

    old = overlaps(hull.grid, hull.vertices, hull.triangles[mine])[1]
    new_ = overlaps(hull.grid, result.hull.vertices, hull.triangles[mine])[1]
    reached = np.union1d(old, new_)
    assert np.isin(result.cells, reached).all()
    for number in range(125):
        if number not in reached:
            assert lists(before, number) == lists(after, number)
            assert before.cells[number].state == after.cells[number].state
            assert list(before.cells[number].sphere) == list(after.cells[number].sphere)
    assert (result.moved, result.added, result.removed) == (len(asteroid.triangles), 0, 0)
    check_lists(result.hull)
    check_by_the_game(result.hull)


def test_moving_there_and_back_is_byte_for_byte_but_for_what_was_written_again(hull):
    asteroid = piece(hull, "asteroid_02")
    there = rebuild(hull, edited(hull, {"asteroid_02": moved(asteroid, (8192, 0, 0))})).hull
    again = mcol.decode(mcol.encode(there))
    back = rebuild(again, edited(again, {"asteroid_02": moved(piece(again, "asteroid_02"), (-8192, 0, 0))})).hull
    same = (hull.vertices[asteroid.vertex_ids] == back.vertices[asteroid.vertex_ids]).all(axis=1)
    assert same.sum() > 0
    assert np.array_equal(back.occupied, hull.occupied)
    assert back.list_sizes.tolist() == hull.list_sizes.tolist()
    assert back.indices.tolist() == hull.indices.tolist()
    assert back.list_spheres == pytest.approx(hull.list_spheres, rel=1e-6, abs=0.02)


def test_a_rock_deep_inside_fills_cells_and_a_moved_one_frees_them():
    grid = cubic_grid(16, 16)
    wall = box((-16, -16, -16), (16, 16, 16), inward=True)
    shape = rock((-6, 0, 0), 6)
    vertices = np.concatenate((wall[0], shape[0]))
    triangles = np.concatenate((wall[1], shape[1] + 8))
    source = mcol.decode(mcol.encode(build(vertices, triangles, grid, True)))
    solid = np.count_nonzero(source.states == mcol.SOLID)
    assert solid > 30
    check_by_the_game(source)
    asteroid = piece(source, "asteroid_01")
    for step in ((12, 0, 0), (4, 1, 1), (0.25, 0, 0)):
        result = rebuild(source, edited(source, {"asteroid_01": moved(asteroid, step)})).hull
        again = rebuild(source, edited(source, {"asteroid_01": moved(asteroid, step)}), ALL).hull
        assert np.array_equal(result.states, again.states)
        check_lists(result)
        check_by_the_game(result)
    assert np.count_nonzero(result.states == mcol.SOLID) > 30


def test_a_fill_state_that_the_source_has_wrong_stays_where_the_edit_is_not(hull):
    number = int(np.flatnonzero(hull.states == mcol.FREE)[0])
    states = hull.states.copy()
    states[number] = mcol.SOLID
    odd = dataclasses.replace(hull, states=states)
    result = rebuild(odd, edited(odd, {"asteroid_02": moved(piece(odd, "asteroid_02"), (500, 0, 0))})).hull
    assert result.states[number] == mcol.SOLID
    assert rebuild(odd, edited(odd, {}), ALL).hull.states[number] == mcol.FREE


# --- lists as the source has them -----------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["quirks/test_descending_multilist.col", "quirks/S13_missing.col", "quirks/test_words_sharedgap.col"]
)
def test_odd_lists_stay_odd_where_the_edit_is_not_and_lack_nothing_where_it_is(name):
    source = mcol.decode(read(name))
    result = rebuild(source, edited(source, {"asteroid_01": moved(piece(source, "asteroid_01"), (0, 300, 0))}))
    before, after = read_col(read(name)), read_col(mcol.encode(result.hull))
    touched = set(result.cells.tolist())
    assert 0 < len(touched) < len(source.occupied)
    truth = overlaps(source.grid, result.hull.vertices, source.triangles)
    for number in range(source.grid.cell_count):
        if number not in touched:
            assert lists(before, number) == lists(after, number)
        else:
            listed = {index for listing in after.cells[number].lists for index in listing.indices}
            assert set(truth[0][truth[1] == number].tolist()) <= listed


def test_a_descending_list_stays_descending_when_it_is_rebuilt():
    source = mcol.decode(read("quirks/test_descending_multilist.col"))
    result = rebuild(source, edited(source, {"asteroid_01": moved(piece(source, "asteroid_01"), (0, 3000, 0))}))
    before, after = read_col(read("quirks/test_descending_multilist.col")), read_col(mcol.encode(result.hull))
    for number in result.cells:
        # A list of one triangle has no order of its own.
        sizes = [len(listing.indices) for listing in before.cells[number].lists]
        if sizes and min(sizes) > 1:
            for listing in after.cells[number].lists:
                assert listing.indices == sorted(listing.indices, reverse=True)


def test_an_extra_entry_survives_in_a_cell_that_another_triangle_left(hull):
    row = int(
        np.searchsorted(
            hull.occupied,
            overlaps(hull.grid, hull.vertices, hull.triangles[piece(hull, "asteroid_02").triangle_ids])[1][0],
        )
    )
    cell = int(hull.occupied[row])
    foreign = int(piece(hull, "asteroid_15").triangle_ids[0])
    assert foreign not in hull.cell_triangles(cell)
    end = int(hull.list_starts[row] + hull.list_sizes[row])
    extra = dataclasses.replace(
        hull,
        indices=np.insert(hull.indices, end, foreign),
        list_sizes=hull.list_sizes + (np.arange(len(hull.list_sizes)) == row),
        list_starts=hull.list_starts + (np.arange(len(hull.list_sizes)) > row),
    )
    result = rebuild(extra, edited(extra, {"asteroid_02": moved(piece(extra, "asteroid_02"), (200, 0, 0))})).hull
    assert cell in result.occupied
    assert foreign in result.cell_triangles(cell)


# --- more, fewer, elsewhere -----------------------------------------------------------------------


def test_a_deleted_asteroid_leaves_no_trace_and_the_others_as_they_were(hull):
    result = rebuild(hull, edited(hull, {"asteroid_07": None}))
    gone = piece(hull, "asteroid_07")
    kept = np.setdiff1d(np.arange(len(hull.triangles)), gone.triangle_ids)
    assert np.array_equal(result.hull.spheres, hull.spheres[kept])
    assert result.removed == len(gone.triangles)
    assert [str(finding) for finding in result.findings] == [
        "removed surfaces: asteroid_07 of the source file was deleted"
    ]
    check_lists(result.hull)
    check_by_the_game(result.hull)


def test_an_added_rock_is_found_and_filled(hull):
    shape = rock((1000, 1000, -2000), 2500)
    result = rebuild(hull, edited(hull, {}, (new("rock", *shape),)))
    assert result.added == len(shape[1])
    assert np.array_equal(result.hull.spheres[: len(hull.spheres)], hull.spheres)
    check_lists(result.hull)
    check_by_the_game(result.hull)


def test_a_copied_asteroid_is_added_and_the_original_stays(hull):
    asteroid = piece(hull, "asteroid_02")
    copy = moved(asteroid, (0, 0, 4000), "copy")
    result = rebuild(hull, edited(hull, {}, (copy,)))
    assert np.array_equal(result.hull.vertices[:502], hull.vertices)
    assert (result.moved, result.added) == (0, len(asteroid.triangles))


def test_growing_adds_whole_cells_and_keeps_the_rest(hull):
    name = "asteroid_03"
    asteroid = piece(hull, name)
    with pytest.raises(RefusedError, match='vertices of "asteroid_03" reach outside the bounding box'):
        rebuild(hull, edited(hull, {name: moved(asteroid, (10_000, 0, 0))}))
    result = rebuild(hull, edited(hull, {name: moved(asteroid, (10_000, 0, 0))}), GROW)
    grid = result.hull.grid
    assert grid.dimensions == (6, 5, 5)
    assert grid.maximum.tolist() == [35_000, 25_000, 25_000]
    assert grid.minimum.tolist() == [-25_000] * 3
    assert grid.cell_size.tolist() == [10_000] * 3
    assert any(".rgn" in finding.message for finding in result.findings)
    data = mcol.encode(result.hull)
    assert np.frombuffer(data, ">f4", 3, 0x30).tolist() == [60_000, 50_000, 50_000]
    check_lists(result.hull)
    untouched = [n for n in range(125) if grid.number(hull.grid.position([n]))[0] not in result.cells]
    before, after = read_col(read(LARGE)), read_col(data)
    for number in untouched:
        assert lists(before, number) == lists(after, int(grid.number(hull.grid.position([number]))[0]))
    assert len(untouched) > 90


def test_growing_below_the_minimum_moves_every_cell_s_number(hull):
    result = rebuild(hull, edited(hull, {"asteroid_14": moved(piece(hull, "asteroid_14"), (-10_000, 0, 0))}), GROW)
    assert result.hull.grid.minimum.tolist() == [-35_000, -25_000, -25_000]
    read_col(mcol.encode(result.hull))
    check_lists(result.hull)


@pytest.mark.parametrize("maximum", [28_000, 22_000])
def test_growing_counts_from_the_end_of_the_cells_whatever_the_box_says(maximum):
    corner = np.full(3, 25_000, np.float32)
    grid = Grid(-corner, np.full(3, maximum, np.float32), np.full(3, 10_000, np.float32), (5, 5, 5))
    source = mcol.decode(mcol.encode(build(*rock((0, 0, 0), 6000), grid, False)))
    edit = edited(source, {"asteroid_01": moved(piece(source, "asteroid_01"), (30_000, 0, 0))})
    result = rebuild(source, edit, GROW).hull
    assert result.grid.dimensions == (7, 5, 5)
    assert result.grid.maximum.tolist() == [45_000, maximum, maximum]
    check_lists(result)
    check_by_the_game(result)


def test_a_rock_too_far_away_is_refused_even_when_growing(hull):
    with pytest.raises(RefusedError, match="255 at most"):
        rebuild(hull, edited(hull, {"asteroid_02": moved(piece(hull, "asteroid_02"), (4e6, 0, 0))}), GROW)


def test_a_hull_over_14_bits_of_relocation_uses_the_long_form():
    grid = cubic_grid(100, 24)
    shape = rock((80, 80, 80), 15)  # far from the first cells: more than 65,532 bytes of empty records
    made = build(*shape, grid, False)
    data = mcol.encode(made)
    coded_at = 0x10 + int.from_bytes(data[4:8], "big") + 16
    assert max(data[coded_at : coded_at + 8]) >= 0xC0
    assert mcol.encode(mcol.decode(data)) == data
    read_col(data)
    check_by_the_game(made)


def test_the_largest_hull_builds():
    shape = rock((0, 0, 0), 80, 128)
    triangles = len(shape[1])
    assert 64_000 < triangles <= mcol.LIMIT
    made = build(*shape, cubic_grid(100, 20), False)
    read_col(mcol.encode(made))
    check_lists(made)


# --- refused --------------------------------------------------------------------------------------


CHANGED = Options()


def refused(hull, edit, options=CHANGED):
    with pytest.raises(RefusedError) as caught:
        rebuild(hull, edit, options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def without(part, *rows):
    kept = np.setdiff1d(np.arange(len(part.triangles)), rows)
    return dataclasses.replace(part, triangles=part.triangles[kept], triangle_ids=part.triangle_ids[kept])


def turned(part, rows=slice(None)):
    triangles = part.triangles.copy()
    triangles[rows] = triangles[rows][:, [0, 2, 1]]
    return dataclasses.replace(part, triangles=triangles)


def test_a_hole_is_refused_by_object_and_count(hull):
    message = refused(hull, edited(hull, {"asteroid_05": without(piece(hull, "asteroid_05"), 3)}))
    assert "open edges: 3 open edges in" in message
    assert '"asteroid_05"' in message
    assert "asteroid_04" not in message


def test_an_object_there_twice_is_refused_and_both_are_named(hull):
    copy = dataclasses.replace(piece(hull, "asteroid_05"), name="asteroid_05.001")
    message = refused(hull, edited(hull, {}, (copy,)))
    assert "non-manifold edges" in message
    assert '"asteroid_05", "asteroid_05.001"' in message


def test_a_triangle_without_area_is_refused(hull):
    asteroid = piece(hull, "asteroid_05")
    vertices = asteroid.vertices.copy()
    a, b, c = asteroid.triangles[0]
    vertices[c] = (vertices[a] + vertices[b]) / 2
    message = refused(hull, edited(hull, {"asteroid_05": dataclasses.replace(asteroid, vertices=vertices)}))
    assert '1 zero-area triangle in "asteroid_05"' in message


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_coordinate_that_is_no_number_is_refused(hull, value):
    asteroid = piece(hull, "asteroid_05")
    vertices = asteroid.vertices.copy()
    vertices[2, 1] = value
    message = refused(hull, edited(hull, {"asteroid_05": dataclasses.replace(asteroid, vertices=vertices)}))
    assert '1 vertex with no usable coordinates in "asteroid_05"' in message


@pytest.mark.parametrize("name", ["asteroid_05", "wall"])
def test_a_surface_inside_out_is_refused_or_turned(hull, name):
    edit = edited(hull, {name: turned(piece(hull, name))})
    assert f'1 inside-out surface: "{name}"' in refused(hull, edit)
    result = rebuild(hull, edit, TURN)
    assert np.array_equal(np.sort(result.hull.triangles, axis=1), np.sort(hull.triangles, axis=1))
    again = rebuild(result.hull, edited(result.hull, {}))
    assert again.findings == ()
    assert np.array_equal(result.hull.states, hull.states)
    assert np.array_equal(result.hull.spheres, hull.spheres)


def test_one_face_inside_out_is_refused_or_turned(hull):
    edit = edited(hull, {"asteroid_05": turned(piece(hull, "asteroid_05"), [4])})
    assert '1 flipped triangle in "asteroid_05"' in refused(hull, edit)
    check_by_the_game(rebuild(hull, edit, TURN).hull, 100)


def test_a_rock_within_a_rock_is_reported_and_stays_as_it_is():
    grid = cubic_grid(16, 8)
    wall, outer, inner = box((-16,) * 3, (16,) * 3, inward=True), rock((0, 0, 0), 8), rock((9, 9, 9), 2)
    vertices = np.concatenate((wall[0], outer[0], inner[0]))
    triangles = np.concatenate((wall[1], outer[1] + 8, inner[1] + 8 + len(outer[0])))
    source = mcol.decode(mcol.encode(build(vertices, triangles, grid, True)))
    edit = edited(source, {"asteroid_02": moved(piece(source, "asteroid_02"), (-9, -9, -9))})
    for options in (Options(), TURN):
        result = rebuild(source, edit, options)
        assert '1 surface of "asteroid_02" buried in rock' in str(result.findings[0])
        assert np.array_equal(result.hull.triangles, source.triangles)
    assert '"asteroid_02"' in refused(
        source, edited(source, {"asteroid_02": turned(moved(piece(source, "asteroid_02"), (1, 0, 0)))})
    )


def test_a_rock_moved_beyond_the_wall_is_warned_of_and_passes_every_check(hull):
    result = rebuild(hull, edited(hull, {"asteroid_02": moved(piece(hull, "asteroid_02"), (60_000, 0, 0))}), GROW)
    assert any('1 surface of "asteroid_02" buried in rock' in str(finding) for finding in result.findings)
    said = {check.name: check for check in check_hull(mcol.decode(mcol.encode(result.hull)))}
    assert said["surfaces whose front faces free space"].passed
    assert said["surfaces that touch free space"].labels == ("asteroid_02",)


@pytest.mark.parametrize("turn", [False, True])
def test_a_hull_whose_wall_is_deleted_is_refused_instead_of_being_all_rock(hull, turn):
    """What lies outside the grid is solid, so without the wall nothing is left that a ship could fly in."""
    with pytest.raises(
        RefusedError, match=r"no surface leaves free space around .*; the whole map would be rock; keep a wall"
    ):
        rebuild(hull, edited(hull, {"wall": None}), Options(turn=turn))


def test_no_triangles_are_refused(hull):
    assert "has no triangles" in refused(hull, edited(hull, {part.name: None for part in pieces(hull)}))


@pytest.mark.parametrize("solid", [False, True], ids=["in free space", "in rock"])
@pytest.mark.parametrize("options", [CHANGED, ALL, GROW, TURN], ids=["changed", "all", "grow", "turn"])
def test_an_empty_hull_takes_a_first_surface(options, solid):
    none = np.zeros((0, 3))
    spheres = np.zeros((0, 4), np.float32)
    empty = sort_into_cells(cubic_grid(8, 4), int(solid), np.float32(none), none.astype(np.int64), spheres)
    empty = mcol.decode(mcol.encode(empty))
    vertices, triangles = box((1, 1, 1), (3, 3, 9 if options is GROW else 3), inward=solid)
    rebuilt = rebuild(empty, assemble([new("surface", vertices, triangles)], empty), options)
    assert (rebuilt.moved, rebuilt.added, rebuilt.removed) == (0, 12, 0)
    expected = build(vertices, triangles, rebuilt.hull.grid, solid)
    assert mcol.encode(dataclasses.replace(rebuilt.hull, carried=None)) == mcol.encode(expected)
    assert '"surface"' in refused(empty, assemble([new("surface", vertices, triangles[1:])], empty), options)


def test_too_many_triangles_are_refused_and_the_largest_object_named(hull):
    message = refused(hull, edited(hull, {}, (new("big", *rock((0, 0, 0), 1000, 150)),)))
    assert "65,535 at most" in message
    assert '"big"' in message


def test_more_vertices_than_triangles_are_named_after_the_open_edges_that_cause_them():
    # Two tetrahedra that share nothing have as many vertices as triangles; a loose triangle tips the scale.
    corners = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    source = mcol.decode(mcol.encode(build(corners, faces, cubic_grid(4, 4), False)))
    loose = new("loose", np.float32([[2, 2, 2], [3, 2, 2], [2, 3, 2]]), [[0, 1, 2]])
    edit = edited(source, {}, (loose,))
    assert refused(source, edit).startswith("open edges: 3 open edges")
    errors = [fault for fault in find_faults(edit, source) if fault.severity is Severity.ERROR]
    assert [fault.check for fault in errors] == ["open edges", "open surfaces", "vertex count"]
    assert "more vertices (7) than triangles (5)" in errors[-1].problem


def test_a_fault_that_the_source_has_is_reported_and_kept(hull):
    """A hole, a doubled triangle and a rock inside out, as somebody's tool may have left them in a file."""
    rock_5, rock_6 = piece(hull, "asteroid_05"), piece(hull, "asteroid_06")
    triangles = np.delete(hull.triangles, rock_5.triangle_ids[0], axis=0)
    spheres = np.delete(hull.spheres, rock_5.triangle_ids[0], axis=0)
    mine = rock_6.triangle_ids - (rock_6.triangle_ids > rock_5.triangle_ids[0])
    triangles[mine] = triangles[mine][:, [0, 2, 1]]
    indices = hull.indices.astype(int)
    indices = np.where(indices >= rock_5.triangle_ids[0], np.maximum(indices - 1, 0), indices).astype(np.uint16)
    broken = mcol.decode(mcol.encode(dataclasses.replace(hull, triangles=triangles, spheres=spheres, indices=indices)))
    data = mcol.encode(broken)
    result = rebuild(broken, edited(broken, {}))
    assert mcol.encode(result.hull) == data
    checks = {finding.check for finding in result.findings}
    assert checks == {"open edges", "winding"}
    other = next(
        part.name
        for part in pieces(broken)
        if np.isin(hull.vertices[piece(hull, "asteroid_02").vertex_ids][0], part.vertices).all()
    )
    again = rebuild(broken, edited(broken, {other: moved(piece(broken, other), (100, 0, 0))}))
    assert {finding.check for finding in again.findings} == checks


def test_growing_to_planes_that_float32_rounds_leaves_no_triangle_out():
    size, low = 7.341761, np.full(3, 290.48389, np.float32)
    high = (low + 10 * np.float64(np.float32(size))).astype(np.float32)
    grid = Grid(low, high, np.full(3, size, np.float32), (10, 10, 10))
    vertices, triangles = rock(low + 36, 28, 12)
    # Corners as near to planes between cells as can be: the slightest shift takes their triangles to the next cell.
    planes = low[0] + np.arange(11) * np.float64(np.float32(size))
    near = np.abs(vertices[::5, :1] - planes).argmin(axis=1)
    vertices[::5, 0] = planes[near].astype(np.float32)
    source = build(vertices, triangles, grid, False)
    highest = int(vertices[:, 0].argmin())
    pulled = pieces(source)[0]
    vertices = pulled.vertices.copy()
    vertices[highest, 0] = low[0] - 1.5 * size
    pulled = dataclasses.replace(pulled, vertices=vertices)
    grown = rebuild(source, assemble([pulled], source), GROW).hull
    exact = low[0] - 2 * np.float64(np.float32(size))
    assert grown.grid.minimum[0] != exact, "float32 holds the new plane, so nothing is tried here"
    triangle, cell = overlaps(grown.grid, grown.vertices, grown.triangles)
    rows, _, listed = grown.entries()
    count = len(grown.triangles)
    assert np.isin(cell * count + triangle, grown.occupied[rows] * count + listed).all()
