"""The list of faults is what the rebuild refuses, and an edit knows where each of its elements comes from."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.editing.assemble import assemble
from core.editing.compare import Comparison
from core.editing.faults import LONG_LIST, find_faults, long_list_faults
from core.editing.options import Options, Outside, Rebuild
from core.editing.pieces import Edit, Piece
from core.editing.rebuild_hull import build, count_changes, rebuild
from core.errors import RefusedError, Severity
from core.formats import mcol
from core.geometry.arrays import bits
from core.geometry.triangles import close_pairs
from tests.support.hulls import HULLS, LARGE, box, cubic_grid, edited, moved, new, pieces, read, rock


@pytest.fixture(scope="module")
def hull() -> mcol.Hull:
    return mcol.decode(read(LARGE))


def piece(hull: mcol.Hull, name: str) -> Piece:
    (found,) = [part for part in pieces(hull) if part.name == name]
    return found


def changed(part: Piece, **arrays: np.ndarray) -> Piece:
    return dataclasses.replace(part, **arrays)


def holed(hull: mcol.Hull) -> Edit:
    part = piece(hull, "asteroid_05")
    return edited(hull, {part.name: changed(part, triangles=part.triangles[1:], triangle_ids=part.triangle_ids[1:])})


def turned(hull: mcol.Hull, rows: slice | list) -> Edit:
    part = piece(hull, "asteroid_05")
    triangles = part.triangles.copy()
    triangles[rows] = triangles[rows][:, [0, 2, 1]]
    return edited(hull, {part.name: changed(part, triangles=triangles)})


def flattened(hull: mcol.Hull) -> Edit:
    part = piece(hull, "asteroid_05")
    vertices = part.vertices.copy()
    vertices[part.triangles[0, 2]] = vertices[part.triangles[0, 0]]
    return edited(hull, {part.name: changed(part, vertices=vertices)})


def twice(hull: mcol.Hull) -> Edit:
    return edited(hull, {}, (changed(piece(hull, "asteroid_05"), name="copy"),))


def pillow(hull: mcol.Hull) -> Edit:
    """Two triangles back to back: closed, and no body."""
    corners = np.float32([[0, 0, 0], [900, 0, 0], [0, 900, 0]])
    return edited(hull, {}, (new("pillow", corners, [[0, 1, 2], [0, 2, 1]]),))


def two_quads(hull: mcol.Hull) -> Edit:
    """Back to back, cut along one diagonal."""
    corners = np.float32([[0, 0, 0], [900, 0, 0], [900, 900, 0], [0, 900, 0]])
    return edited(hull, {}, (new("quads", corners, [[0, 1, 2], [0, 2, 3], [0, 2, 1], [0, 3, 2]]),))


def outside(hull: mcol.Hull) -> Edit:
    return edited(hull, {"asteroid_05": moved(piece(hull, "asteroid_05"), (1e6, 0, 0))})


def no_number(hull: mcol.Hull) -> Edit:
    part = piece(hull, "asteroid_05")
    vertices = part.vertices.copy()
    vertices[1] = np.nan
    return edited(hull, {part.name: changed(part, vertices=vertices)})


def too_large(hull: mcol.Hull) -> Edit:
    return edited(hull, {}, (new("big", *rock((0, 0, 0), 1000, 150)),))


def empty(hull: mcol.Hull) -> Edit:
    return edited(hull, {part.name: None for part in pieces(hull)})


BROKEN = {
    "open edges": holed,
    "flipped triangles": lambda hull: turned(hull, [3, 4]),
    "winding": lambda hull: turned(hull, slice(None)),
    "zero-area triangles": flattened,
    "non-manifold edges": twice,
    "doubled triangles": pillow,
    "no volume": two_quads,
    "bounding box": outside,
    "coordinates": no_number,
    "counts": too_large,
}


@pytest.mark.parametrize("check", BROKEN)
def test_the_first_error_is_what_the_rebuild_refuses(hull: mcol.Hull, check: str) -> None:
    edit = BROKEN[check](hull)
    errors = [fault for fault in find_faults(edit, hull) if fault.severity is Severity.ERROR]
    with pytest.raises(RefusedError) as caught:
        rebuild(hull, edit)
    assert str(caught.value) == f"{errors[0].check}: {errors[0].error()}" and caught.value.rule is errors[0].check
    assert check in [fault.check for fault in errors]


def test_an_empty_hull_is_one_error(hull: mcol.Hull) -> None:
    assert [f.check for f in find_faults(empty(hull), hull) if f.severity is Severity.ERROR] == ["no triangles"]


@pytest.mark.parametrize("path", HULLS, ids=lambda path: path.name)
def test_faults_that_are_no_errors_are_the_findings(path) -> None:
    source = mcol.decode(path.read_bytes())
    edit = edited(source, {})
    faults = find_faults(edit, source)
    assert all(fault.severity is not Severity.ERROR for fault in faults)
    assert [(f.check, f.problem) for f in faults] == [(f.check, f.message) for f in rebuild(source, edit).findings]
    assert count_changes(source, Comparison(edit, source)) == (0, 0, 0)


def test_elements_are_the_broken_ones(hull: mcol.Hull) -> None:
    def elements(edit: Edit, check: str) -> np.ndarray:
        (fault,) = [fault for fault in find_faults(edit, hull) if fault.check == check]
        return fault.elements

    part = piece(hull, "asteroid_05")
    rim = elements(holed(hull), "open edges")
    assert set(rim.ravel().tolist()) == set(part.vertex_ids[part.triangles[0]].tolist()) and rim.shape == (3, 2)
    flipped = turned(hull, [3, 4])
    assert flipped.triangle_ids[elements(flipped, "flipped triangles")].tolist() == part.triangle_ids[3:5].tolist()
    twins = twice(hull)
    assert {twins.names[owner] for owner in twins.owners[elements(twins, "doubled triangles")]} == {"copy"}
    assert len(elements(twins, "doubled triangles")) == len(part.triangles)


def squeezed(part: Piece, by: float, tilted: bool = False) -> Piece:
    """A piece scaled along one direction about its middle."""
    normal = np.array([0.36, 0.48, 0.8]) if tilted else np.array([1.0, 0, 0])
    middle = part.vertices.mean(axis=0, dtype=float)
    away = (part.vertices - middle) @ normal
    return changed(part, vertices=(part.vertices - np.outer(away * (1 - by), normal)).astype(np.float32))


@pytest.mark.parametrize("tilted", [False, True])
@pytest.mark.parametrize("name", ["asteroid_05", "asteroid_02"])
def test_a_body_without_volume_is_named(hull: mcol.Hull, name: str, tilted: bool) -> None:
    part = piece(hull, name)
    for by in (0.0, 1e-9, -1e-9):
        edit = edited(hull, {name: squeezed(part, by, tilted)})
        (fault,) = [fault for fault in find_faults(edit, hull) if fault.check == "no volume"]
        assert f'"{name}"' in fault.problem and fault.count == 1
        assert set(edit.triangle_ids[fault.elements].tolist()) == set(part.triangle_ids.tolist())
    for by in (0.01, 0.1, 1.0, -1.0):
        edit = edited(hull, {name: squeezed(part, by, tilted)})
        assert not [fault for fault in find_faults(edit, hull) if fault.check == "no volume"]


def test_a_needle_has_no_volume(hull: mcol.Hull) -> None:
    corners = np.float32([[0, 0, 0], [9000, 0.001, 0], [9000, 0, 0.001], [9000, 0, 0]]) + np.float32([0, 9000, 9000])
    edit = edited(hull, {}, (new("needle", corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),))
    assert {"no volume", "zero-area triangles"} & {fault.check for fault in find_faults(edit, hull)}


def test_a_rock_that_is_there_twice_has_a_volume(hull: mcol.Hull) -> None:
    assert "no volume" not in {fault.check for fault in find_faults(twice(hull), hull)}


def test_what_the_source_has_without_volume_is_no_warning(hull: mcol.Hull) -> None:
    corners = np.float32([[0, 0, 0], [900, 0, 0], [900, 900, 0], [0, 900, 0]])
    flat = new("flat", corners, [[0, 1, 2], [0, 2, 3], [0, 3, 1], [3, 2, 1]])
    source = mcol.decode(mcol.encode(rebuild(hull, edited(hull, {}, (flat,))).hull))
    (fault,) = [fault for fault in find_faults(edited(source, {}), source) if fault.check == "no volume"]
    assert fault.severity is Severity.INFO and len(fault.elements) == 4
    assert not [finding for finding in rebuild(source, edited(source, {})).findings if finding.check == "no volume"]


def test_causes_come_before_what_they_cause(hull: mcol.Hull) -> None:
    far = new("far", *rock((2e6, 0, 0), 1000, 3))
    holed_far = changed(far, triangles=far.triangles[1:], triangle_ids=far.triangle_ids[1:])
    for edit, wanted in (
        (edited(hull, {}, (far,)), ["bounding box"]),
        (edited(hull, {}, (holed_far,)), ["open edges", "open surfaces", "bounding box"]),
    ):
        found = [fault.check for fault in find_faults(edit, hull) if fault.severity is Severity.ERROR]
        assert found == wanted


def test_turn_and_grow_write_no_rock_inside_out(hull: mcol.Hull) -> None:
    far = new("far", *rock((2e6, 0, 0), 1000, 3))
    result = rebuild(hull, edited(hull, {}, (far,)), Options(outside=Outside.GROW, turn=True))
    assert {"buried surfaces", "grid"} <= {finding.check for finding in result.findings}
    written = result.hull.triangles[-len(far.triangles) :].astype(int)
    a, b, c = np.moveaxis(result.hull.vertices[written].astype(float) - (2e6, 0, 0), 1, 0)
    assert np.einsum("ni,ni->n", a, np.cross(b, c)).sum() > 0


def test_a_new_wall_beyond_the_old_box_is_turned() -> None:
    """A hull of which the wall is deleted and a larger one made, with its front outward."""
    corners, faces = box((0, 0, 0), 1000)
    source = mcol.decode(mcol.encode(build(corners, faces[:, ::-1], cubic_grid(2000, 2), True)))
    larger = new("wall", corners * 3, faces)
    edit = edited(source, {part.name: None for part in pieces(source)}, (larger,))
    result = rebuild(source, edit, Options(outside=Outside.GROW, turn=True))
    a, b, c = np.moveaxis(result.hull.vertices[result.hull.triangles.astype(int)].astype(float), 1, 0)
    assert np.einsum("ni,ni->n", a, np.cross(b, c)).sum() < 0


def assert_traced(edit: Edit, parts: list[Piece]) -> None:
    vertices = np.concatenate([part.vertices for part in parts])
    known = edit.places >= 0
    assert np.array_equal(bits(edit.vertices[edit.places[known]]), bits(vertices[known]))
    offsets = np.cumsum([0, *(len(part.vertices) for part in parts)])
    triangles = np.concatenate([part.triangles + start for part, start in zip(parts, offsets, strict=False)])
    traced = edit.origins >= 0
    here, there = edit.triangles[traced], edit.places[triangles[edit.origins[traced]]]
    assert np.array_equal(np.sort(here, axis=1), np.sort(there, axis=1))
    assert np.array_equal(np.sort(edit.origins[traced]), np.arange(len(triangles)))
    starts = np.cumsum([0, *(len(part.triangles) for part in parts)])
    assert np.array_equal(edit.owners[traced], np.searchsorted(starts, edit.origins[traced], side="right") - 1)


@pytest.mark.parametrize("path", HULLS, ids=lambda path: path.name)
def test_every_element_is_traced_to_its_piece(path) -> None:
    source = mcol.decode(path.read_bytes())
    parts = [part for part in pieces(source) if len(part.triangles)]
    parts = [changed(part, triangles=part.triangles[::-1], triangle_ids=part.triangle_ids[::-1]) for part in parts]
    parts.append(new("rock", *rock((0, 0, 0), 100)))
    kept = [part for part in parts if not any(len(set(t)) < 3 for t in part.triangles.tolist())]
    assert_traced(assemble(kept, source), kept)


def test_vertices_that_are_sewn_are_traced_too() -> None:
    vertices, triangles = box((0, 0, 0), (4, 4, 4))
    halves = [new("one", vertices, triangles[:6]), new("two", vertices, triangles[6:])]
    edit = assemble(halves, None)
    assert len(edit.vertices) == 8 and edit.loose == 0
    assert_traced(edit, halves)


def test_left_out_vertices_have_no_place() -> None:
    vertices, triangles = box((0, 0, 0), (4, 4, 4))
    edit = assemble([new("box", np.vstack((vertices, [[9, 9, 9]])), triangles)], None)
    assert edit.loose == 1 and edit.places.tolist() == [*range(8), -1]


def test_a_long_list_is_told_by_cell() -> None:
    grid = cubic_grid(16, 8)
    wall, many = box((-16,) * 3, (16,) * 3, inward=True), rock((2, 2, 2), 0.5, 14)
    source = build(*wall, grid, True)
    edit = edited(source, {}, (new("rock", *many),))
    (fault,) = long_list_faults(edit, source, grid)
    assert fault.severity is Severity.WARNING and len(many[1]) > LONG_LIST
    assert {edit.names[owner] for owner in edit.owners[fault.elements]} == {"rock"}
    again = build(np.concatenate((wall[0], many[0])), np.concatenate((wall[1], many[1] + 8)), grid, True)
    (kept,) = long_list_faults(edited(again, {}), again, grid)
    assert kept.severity is Severity.INFO and kept.count == fault.count


@pytest.mark.parametrize("distance", [0.0, 0.01, 0.3])
def test_close_pairs_are_all_close_pairs(distance: float) -> None:
    points = np.random.default_rng(1).integers(0, 12, (300, 3)) * 0.25
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    expected = {(i, j) for i, j in np.argwhere(apart <= distance).tolist() if i < j}
    assert set(map(tuple, close_pairs(points, distance).tolist())) == expected


def test_no_points_have_no_pairs() -> None:
    assert close_pairs(np.zeros((0, 3)), 1.0).shape == close_pairs(np.zeros((1, 3)), 1.0).shape == (0, 2)


# --- what the source has already ------------------------------------------------------------------


def outside_by(excess: float) -> mcol.Hull:
    """A map whose wall reaches out of the box on the side of +x."""
    hull = mcol.decode(read("S13_AsteroidVolume_wp.col"))
    vertices = hull.vertices.copy()
    vertices[vertices[:, 0] == hull.grid.maximum[0], 0] += np.float32(excess)
    hull = dataclasses.replace(hull, vertices=vertices)
    return mcol.decode(mcol.encode(rebuild(hull, assemble(pieces(hull), hull), Options(Rebuild.ALL)).hull))


@pytest.mark.parametrize(("side", "excess", "refused"), [(0, 2.0, False), (0, 3.0, True), (1, 2.0, True)])
def test_an_edit_may_reach_as_far_out_of_the_box_as_its_source(side, excess, refused):
    source = outside_by(2.5)
    part = next(piece for piece in pieces(source) if piece.name.startswith("asteroid"))
    step = np.zeros(3, np.float32)
    step[side] = source.grid.maximum[side] + excess - part.vertices[:, side].max()
    edit = edited(source, {part.name: moved(part, step)})
    found = [fault for fault in find_faults(edit, source) if fault.check == "bounding box"]
    assert bool(found) is refused
    if not refused:
        assert rebuild(source, edit).hull.grid is source.grid


def test_growing_the_grid_leaves_out_what_the_source_has_outside():
    source = outside_by(2.5)
    part = next(piece for piece in pieces(source) if piece.name.startswith("asteroid"))
    step = np.float32([0, source.grid.maximum[1] + 1 - part.vertices[:, 1].max(), 0])
    grown = rebuild(source, edited(source, {part.name: moved(part, step)}), Options(outside=Outside.GROW)).hull.grid
    assert np.subtract(grown.dimensions, source.grid.dimensions).tolist() == [0, 1, 0]


def without_wall() -> mcol.Hull:
    return build(*rock((0, 0, 0), 8000), cubic_grid(25000, 5), False)


@pytest.mark.parametrize(
    "make", [without_wall, *(lambda name=name: mcol.decode(read(name)) for name in ("test.col", LARGE))]
)
def test_an_edit_of_a_hull_that_contradicts_byte_73_is_not_refused_for_it(make):
    sound = make()
    source = dataclasses.replace(sound, outside_solid=int(not sound.outside_solid))
    source = mcol.decode(mcol.encode(source))
    unedited = assemble(pieces(source), source)
    assert not [fault for fault in find_faults(unedited, source) if fault.severity is Severity.ERROR]
    assert mcol.encode(rebuild(source, unedited).hull) == mcol.encode(source)
    vertices, triangles = rock(source.grid.maximum * np.float32(0.8), 300)
    edit = edited(source, {}, (new("rock", vertices, triangles),))
    assert not [fault for fault in find_faults(edit, source) if fault.severity is Severity.ERROR]
    assert len(rebuild(source, edit).hull.triangles) == len(source.triangles) + len(triangles)


def test_unused_vertices_that_are_no_numbers_stay_and_keep_nobody_from_editing():
    hull = mcol.decode(read("S13_AsteroidVolume_wp.col"))
    bad = np.float32([[np.nan, 1, 2], [np.inf, -np.inf, 0]])
    data = mcol.encode(dataclasses.replace(hull, vertices=np.concatenate((hull.vertices, bad))))
    source = mcol.decode(data)
    assert mcol.encode(rebuild(source, assemble(pieces(source), source)).hull) == data
    part = next(piece for piece in pieces(source) if piece.name.startswith("asteroid"))
    edit = edited(source, {part.name: moved(part, (1, 2, 3))})
    assert not [fault for fault in find_faults(edit, source) if fault.severity is Severity.ERROR]
    after = mcol.decode(mcol.encode(rebuild(source, edit).hull))
    assert after.vertices[-2:].tobytes() == source.vertices[-2:].tobytes()
    with pytest.raises(RefusedError, match="no usable coordinates"):
        rebuild(source, edited(source, {part.name: moved(part, (np.nan, 0, 0))}))
