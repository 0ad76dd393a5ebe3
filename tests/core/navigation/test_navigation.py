"""Navigation volumes: rebuilt from a hull, searched as the game does, patched after an edit."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.cli.main import main
from core.editing.rebuild_hull import build as build_hull
from core.errors import FormatError
from core.formats import mcol, regn, regn_contents
from core.formats.mcol import Hull
from core.geometry.clearance import clearances
from core.geometry.surfaces import split
from core.navigation.build import build
from core.navigation.patch import Patched, patch
from core.runtime.route import find_route
from tests.oracle import game_queries as game
from tests.oracle.navigation_search import cheapest, locate, read_navigation
from tests.support.edited_hulls import EDITS, edited
from tests.support.hulls import DATA, box, cubic_grid
from tests.support.routes import RADIUS, blocked, free_points, routes, same_region
from tests.support.volumes import NO_WALL, ROCKS, decoded, hull, volume

# --- the file -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [ROCKS, NO_WALL])
def test_every_record_of_a_rebuilt_volume_says_what_it_should(name: str) -> None:
    one, data = hull(name), volume(name)
    read = read_navigation(data)
    spots = np.array(read["vertices"])
    assert regn.check(regn.decode(data)) == [] and regn.fits(regn.decode(data), one.grid) == []
    for number, face in enumerate(read["faces"]):
        points, plane = spots[list(face["vertices"])], np.array(face["plane"])
        assert face["number"] == number and face["tetrahedra"][0] != 0xFFFF
        assert np.abs(points @ plane[:3] + plane[3]).max() < 0.05
        assert np.allclose(points.mean(axis=0), face["centre"], atol=0.01)
        assert all(number in read["tetrahedra"][t]["faces"] for t in face["tetrahedra"] if t != 0xFFFF)
    for number, one_of in enumerate(read["tetrahedra"]):
        assert one_of["number"] == number
        corners = spots[sorted({v for face in one_of["faces"] for v in read["faces"][face]["vertices"]})]
        assert (
            len(corners) == 4 and (np.linalg.norm(corners - one_of["sphere"][:3], axis=1) <= one_of["sphere"][3]).all()
        )
        assert locate(read, corners.mean(axis=0)) is not None
        centres = [read["faces"][face]["centre"] for face in one_of["faces"]]
        costs = [math.dist(centres[a], centres[b]) for a in range(4) for b in range(a + 1, 4)]
        assert [price for price, _ in one_of["pairs"]] == pytest.approx(costs, rel=1e-5)


def test_the_contents_encode_to_the_bytes_that_they_were_decoded_from() -> None:
    navigation = regn.decode(volume())
    graph = regn_contents.decode(navigation)
    assert regn_contents.encode(graph, hull().grid, navigation.carried) == volume()
    assert regn_contents.write_back(graph, navigation, np.zeros(len(graph.tetrahedra), bool)) == volume()


@pytest.mark.parametrize(
    ("offset", "value", "problem"),
    [
        (regn.TETRAHEDRON.fields["faces"][1], 0xFFFF, "faces"),  # type: ignore[index]
        (regn.FACE.fields["vertices"][1], 0xFFF0, "vertices"),  # type: ignore[index]
        (regn.FACE.fields["tetrahedra"][1], 0xFFF0, "tetrahedra"),  # type: ignore[index]
    ],
)
def test_a_number_that_leads_nowhere_is_named(offset: int, value: int, problem: str) -> None:
    navigation = regn.decode(volume(NO_WALL))
    start = navigation.offsets.tetrahedra if problem == "faces" else navigation.offsets.faces
    contents = bytearray(navigation.carried.contents)
    at = start + offset - regn.HEADER_END
    contents[at : at + 2] = value.to_bytes(2, "big")
    broken = replace(navigation, carried=replace(navigation.carried, contents=bytes(contents)))
    with pytest.raises(FormatError, match=f"one of the {problem} that doesn't exist") as caught:
        regn_contents.decode(broken)
    assert caught.value.offset == start + offset


# --- the search -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [ROCKS, NO_WALL])
def test_a_rebuilt_volume_has_a_way_between_any_two_free_points(name: str) -> None:
    found = routes(hull(name), volume(name), 60)
    assert all(route.found for *_, route in found)
    assert blocked(hull(name), found) == []


def test_the_way_is_as_cheap_as_any() -> None:
    read = read_navigation(volume(NO_WALL))
    for start, goal, route in routes(hull(NO_WALL), volume(NO_WALL), 12, seed=3):
        if route.straight:
            continue
        centres = np.array([read["faces"][face]["centre"] for face in route.faces])
        whole = np.concatenate((start[None], centres, goal[None]))
        length = np.linalg.norm(np.diff(whole, axis=0), axis=1).sum()
        steps = np.linalg.norm(np.diff(centres, axis=0), axis=1).sum()  # what a rebuilt pair costs is its length
        assert length + steps == pytest.approx(cheapest(read, start, goal, RADIUS), rel=1e-5)


def test_nothing_is_found_from_or_to_rock_and_a_fat_ship_is_told_which_step_refuses_it() -> None:
    one, graph = hull(NO_WALL), decoded(volume(NO_WALL))
    (start, goal, _), *_ = [row for row in routes(one, volume(NO_WALL), 20) if not row[2].straight]
    refused = find_route(one, graph, start, goal, 1e6).refused
    assert refused and refused.step is not None and refused.clearance < 1e6
    outside = find_route(one, graph, np.full(3, 1e6), goal).refused
    assert outside and outside.reason == "the start lies in no tetrahedron"


# --- patches --------------------------------------------------------------------------------------


decoded_once = functools.cache(decoded)


@functools.cache
def patched(name: str) -> tuple[Hull, Patched]:
    new = edited(name)
    return new, patch(regn.decode(volume()), hull(), new)


def test_an_unedited_hull_leaves_its_volume_byte_for_byte() -> None:
    assert patch(regn.decode(volume()), hull(), hull()).data == volume()


@pytest.mark.parametrize("name", EDITS)
def test_no_way_through_a_patched_volume_touches_rock(name: str) -> None:
    new, result = patched(name)
    found = routes(new, result.data, 150)
    assert sum(route.found for *_, route in found) > 75
    assert blocked(new, found) == []


@pytest.mark.parametrize("name", EDITS)
def test_a_clearance_is_never_more_than_the_distance_to_rock(name: str) -> None:
    new, result = patched(name)
    graph = decoded(result.data)
    segments = graph.pair_segments()
    exact = clearances(segments, new.vertices, new.triangles)
    stored = graph.tetrahedra["pairs"]["clearance"]
    assert (stored <= exact + 1e-3).all()


def test_before_the_patch_the_search_flies_through_the_new_rock() -> None:
    new, result = patched("added")
    start, goal = np.array([-32_000.0, -20_300, -20_200]), np.array([-8000.0, -19_800, -19_900])
    old = find_route(new, decoded(volume()), start, goal, RADIUS)
    fixed = find_route(new, decoded(result.data), start, goal, RADIUS)
    assert not old.straight and not fixed.straight
    legs = np.diff(old.points, axis=0) if old.found else np.zeros((0, 3))
    through = game.first_sweep_hits(new.vertices, new.triangles, old.points[:-1], legs, RADIUS)
    assert old.found and (through <= 1).any()
    assert blocked(new, [(start, goal, fixed)]) == []


def test_removed_rock_gives_clearances_back() -> None:
    _, result = patched("removed")
    assert result.raised and not result.lowered and not result.dropped


def test_a_grown_grid_answers_in_the_old_box_as_before() -> None:
    _, result = patched("grown")
    before, after = read_navigation(volume()), read_navigation(result.data)
    assert result.new_table and result.dropped == 0
    for spot in np.random.default_rng(9).uniform(-49_000, 49_000, (300, 3)):
        assert locate(before, spot) == locate(after, spot)


def test_a_grown_grid_gives_the_same_routes_in_the_old_box() -> None:
    new, result = patched("grown")
    spots = free_points(hull(), 200)
    bent = 0
    for start, goal in zip(spots[::2], spots[1::2], strict=True):
        before = find_route(hull(), decoded_once(volume()), start, goal, RADIUS)
        after = find_route(new, decoded_once(result.data), start, goal, RADIUS)
        assert (before.found, before.straight, before.faces) == (after.found, after.straight, after.faces)
        assert np.array_equal(before.points, after.points)
        bent += not before.straight
    assert bent > 5


@pytest.mark.parametrize("edit", ["moved", "tunnelled"])
def test_a_rebuilt_volume_of_many_rocks_has_a_way_exactly_within_a_region(edit: str) -> None:
    new = edited(edit, "S14_p2_AsteroidVolume_wp")
    data = regn_contents.encode(build(new), new.grid)
    found = routes(new, data, 40)
    assert [route.found for *_, route in found] == same_region(data, found).tolist()
    assert blocked(new, found) == []


@pytest.mark.parametrize("outside_solid", [True, False])
def test_rooms_without_a_passage_have_no_way_between_them(outside_solid: bool) -> None:
    """A room in rock with a closed hollow rock in it: three surfaces, two parts of free space."""
    parts = [box((-40, -40, -40), (40, 40, 40), inward=True)] if outside_solid else []
    parts += [box((-25, -25, -25), (25, 25, 25)), box((-20, -20, -20), (20, 20, 20), inward=True)]
    places = np.concatenate([vertices for vertices, _ in parts])
    triangles = np.concatenate([corners + 8 * number for number, (_, corners) in enumerate(parts)])
    one = build_hull(places, triangles, cubic_grid(50, 5), outside_solid)
    data = regn_contents.encode(build(one), one.grid)
    found = routes(one, data, 300)
    together = same_region(data, found)
    assert [route.found for *_, route in found] == together.tolist()
    assert together.any() and not together.all() and blocked(one, found) == []


def test_ways_through_an_empty_map_are_straight() -> None:
    name = "mapmesh_box_500km"
    for start, goal, route in routes(hull(name), volume(name), 100):
        assert route.straight and route.length == pytest.approx(math.dist(start, goal))


def test_costs_below_zero_end_a_search_too() -> None:
    graph = decoded(volume(NO_WALL))
    graph.tetrahedra["pairs"]["cost"] = -1e6
    for start, goal, _ in routes(hull(NO_WALL), volume(NO_WALL), 20):
        assert find_route(hull(NO_WALL), graph, start, goal, RADIUS).points is not None


# --- the command line -----------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main([str(argument) for argument in arguments])
    output = capsys.readouterr()
    return status, output.out, output.err


def test_commands_write_a_volume_patch_it_and_find_a_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.col", tmp_path / "new.col"
    old.write_bytes(mcol.encode(hull(NO_WALL)))
    new.write_bytes(mcol.encode(hull(NO_WALL)))
    status, out, _ = run(capsys, "navigation", old, "-o", tmp_path / "old.rgn")
    assert status == 0 and "rebuilt" in out and (tmp_path / "old.rgn").read_bytes() == volume(NO_WALL)
    status, out, _ = run(
        capsys, "navigation", new, "-o", tmp_path / "new.rgn", "--from", tmp_path / "old.rgn", "--old", old
    )
    assert status == 0 and "nothing to change" in out
    assert (tmp_path / "new.rgn").read_bytes() == volume(NO_WALL)
    (start, goal, route), *_ = [row for row in routes(hull(NO_WALL), volume(NO_WALL), 20) if not row[2].straight]
    ends = [",".join(map(str, end.tolist())) for end in (start, goal)]
    status, out, _ = run(capsys, "route", new, "--from", ends[0], "--to", ends[1], "--json")
    about = json.loads(out)
    assert status == 0 and about["found"] and not about["straight"] and "refused" not in about
    assert about["length"] == pytest.approx(route.length)
    surface = split(hull(NO_WALL).triangles)
    inside = ",".join(
        map(str, hull(NO_WALL).vertices[hull(NO_WALL).triangles[surface == 0]].mean(axis=(0, 1)).tolist())
    )
    status, out, _ = run(capsys, "route", new, "--from", ends[0], "--to", inside, "--radius", "5", "--json")
    assert status == 1 and json.loads(out)["refused"]["reason"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["navigation", "{hull}", "-o", "{hull}"], "is the source file itself"),
        (["navigation", "{hull}", "-o", "{out}", "--from", "{rgn}"], "needs the old volume and the hull"),
        (["navigation", "{hull}", "-o", "{out}", "--from", "{rgn}", "--old", "{other}"], "doesn't fit"),
        (["route", "{other}", "--from", "0,0,0", "--to", "1,1,1", "--navigation", "{rgn}"], "doesn't fit"),
        (["route", "{hull}", "--from", "0,0", "--to", "1,1,1"], "X,Y,Z"),
    ],
)
def test_wrong_files_are_refused_and_nothing_is_written(
    arguments: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"hull": tmp_path / "a.col", "rgn": tmp_path / "a.rgn", "other": tmp_path / "b.col", "out": tmp_path / "c"}
    places["hull"].write_bytes(mcol.encode(hull(NO_WALL)))
    places["rgn"].write_bytes(volume(NO_WALL))
    places["other"].write_bytes((DATA / "S14_p1_AsteroidVolume_wp.col").read_bytes())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    try:
        status, out, err = run(capsys, *(argument.format(**places) for argument in arguments))
    except SystemExit as stop:
        status, out, err = int(stop.code or 0), "", capsys.readouterr().err
    assert status == 2 and out == "" and problem in err and err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
