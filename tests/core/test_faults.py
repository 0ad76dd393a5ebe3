"""The list of faults is what the rebuild refuses, and an edit knows where each of its elements comes from."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core import mcol
from core.arrays import bits
from core.assemble import Edit, Piece, assemble
from core.errors import FormatError, Severity
from core.faults import LONG_LIST, find_faults, long_list_faults
from core.geometry import close_pairs
from core.rebuild import build, count_changes, rebuild
from tests.shapes import HULLS, LARGE, box, cubic_grid, edited, moved, new, pieces, read, rock


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
    "crowded edges": twice,
    "doubled triangles": pillow,
    "bounding box": outside,
    "coordinates": no_number,
    "counts": too_large,
}


@pytest.mark.parametrize("check", BROKEN)
def test_the_first_error_is_what_the_rebuild_refuses(hull: mcol.Hull, check: str) -> None:
    edit = BROKEN[check](hull)
    errors = [fault for fault in find_faults(edit, hull) if fault.severity is Severity.ERROR]
    with pytest.raises(FormatError) as caught:
        rebuild(hull, edit)
    assert caught.value.problem == errors[0].message
    assert check in [fault.check for fault in errors]


def test_an_empty_hull_is_one_error(hull: mcol.Hull) -> None:
    assert [f.check for f in find_faults(empty(hull), hull) if f.severity is Severity.ERROR] == ["counts"]


@pytest.mark.parametrize("path", HULLS, ids=lambda path: path.name)
def test_faults_that_are_no_errors_are_the_findings(path) -> None:
    source = mcol.decode(path.read_bytes())
    edit = edited(source, {})
    faults = find_faults(edit, source)
    assert all(fault.severity is not Severity.ERROR for fault in faults)
    assert [(f.check, f.problem) for f in faults] == [(f.check, f.message) for f in rebuild(source, edit).findings]
    assert count_changes(source, edit) == (0, 0, 0)


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
