"""Checks of navigation volumes: each fault shows in its own check alone. docs/FORMATS.md, section 5."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from core.errors import FormatError, Severity
from core.formats import regn, regn_contents
from core.formats.regn_contents import Graph
from core.inspect import check_navigation as module
from core.inspect.check_navigation import check_navigation
from core.navigation.patch import patch
from core.rules.rule import Rule
from tests.support.edited_hulls import EDITS, edited
from tests.support.volumes import NO_WALL, ROCKS, decoded, hull, volume, with_pairs, written

Found = dict[Rule, tuple[Severity, int]]


def found(data: bytes, name: str | None = NO_WALL) -> Found:
    """The checks that a file fails, with their severities and how many fail."""
    checks = check_navigation(regn.decode(data), hull(name) if name else None)
    return {check.rule: (check.severity, check.total - check.good) for check in checks if not check.passed}


@pytest.mark.parametrize("name", [ROCKS, NO_WALL, "S05_AsteroidVolume_wp"])
def test_a_rebuilt_volume_has_no_fault(name: str) -> None:
    assert found(volume(name), name) == {} == found(volume(name), None)


@pytest.mark.parametrize("name", EDITS)
def test_a_patched_volume_has_no_fault_but_what_was_taken_out(name: str) -> None:
    new = edited(name)
    result = patch(regn.decode(volume()), hull(), new)
    checks = check_navigation(regn.decode(result.data), new)
    faults = {check.rule: (check.severity, check.total - check.good) for check in checks if not check.passed}
    assert faults == ({Rule.NAVIGATION_UNREACHED: (Severity.INFO, result.dropped)} if result.dropped else {})


@pytest.mark.parametrize("name", ["moved", "added"])
def test_a_volume_that_an_edit_made_old_leads_through_rock(name: str) -> None:
    checks = {check.rule: check for check in check_navigation(regn.decode(volume()), edited(name))}
    for rule in (Rule.NAVIGATION_ROCK, Rule.NAVIGATION_CLEARANCES):
        assert not checks[rule].passed and checks[rule].severity is Severity.WARNING


# --- one fault, one check -------------------------------------------------------------------------


def tetrahedron(field: str, value, number: int = 7) -> Callable[[Graph], None]:
    def change(graph: Graph) -> None:
        graph.tetrahedra[field][number] = value(graph.tetrahedra[field][number]) if callable(value) else value

    return change


def face(field: str, value, number: int = 7) -> Callable[[Graph], None]:
    def change(graph: Graph) -> None:
        graph.faces[field][number] = value(graph.faces[field][number]) if callable(value) else value

    return change


def flipped(sides):
    return np.array([not sides[0], *sides[1:]])


def third_tetrahedron(graph: Graph) -> None:
    """Tetrahedron 7 takes a face that lies between two others."""
    inner = np.flatnonzero((graph.faces["tetrahedra"] != regn.NO_TETRAHEDRON).all(axis=1))
    away = inner[(graph.faces["tetrahedra"][inner] != 7).all(axis=1)]
    graph.tetrahedra["faces"][7, 0] = away[0]


def both_sides_alike(graph: Graph) -> None:
    """A circle: a face leads from a tetrahedron to the same one."""
    inner = np.flatnonzero((graph.faces["tetrahedra"] != regn.NO_TETRAHEDRON).all(axis=1))[0]
    graph.faces["tetrahedra"][inner, 1] = graph.faces["tetrahedra"][inner, 0]


ERROR, WARNING = Severity.ERROR, Severity.WARNING
FAULTS = {
    "number of a tetrahedron": (tetrahedron("number", 8), {Rule.NAVIGATION_NUMBERS: (ERROR, 1)}),
    "number of a face": (face("number", 8), {Rule.NAVIGATION_NUMBERS: (ERROR, 1)}),
    "normal": (face("plane", lambda plane: plane * np.float32(2)), {Rule.NAVIGATION_PLANES: (ERROR, 1)}),
    "distance": (face("plane", lambda plane: plane + np.float32([0, 0, 0, 900])), {Rule.NAVIGATION_PLANES: (ERROR, 1)}),
    "normal that is no number": (face("plane", np.nan), {Rule.NAVIGATION_PLANES: (ERROR, 1)}),
    "centre": (face("centre", lambda centre: centre + np.float32(50)), {Rule.NAVIGATION_CENTRES: (WARNING, 1)}),
    "side": (tetrahedron("sides", flipped), {Rule.NAVIGATION_SIDES: (ERROR, 1)}),
    "sphere": (tetrahedron("sphere", lambda s: s * [1, 1, 1, 0.9]), {Rule.NAVIGATION_SPHERES: (ERROR, 1)}),
    "sphere without numbers": (tetrahedron("sphere", np.nan), {Rule.NAVIGATION_SPHERES: (ERROR, 1)}),
    "cost": (tetrahedron("pairs", (-1.0, 0.0)), {Rule.NAVIGATION_PAIRS: (WARNING, 6)}),
    "cost without end": (tetrahedron("pairs", (np.inf, 0.0)), {Rule.NAVIGATION_PAIRS: (WARNING, 6)}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_shows_in_its_own_check_alone(name: str) -> None:
    change, expected = FAULTS[name]
    graph = decoded(volume(NO_WALL))
    change(graph)
    faults = found(written(graph, volume(NO_WALL)))
    assert {rule: fault for rule, fault in faults.items() if rule in expected} == expected
    assert faults.keys() - expected.keys() <= {Rule.NAVIGATION_SIDES, Rule.NAVIGATION_CLEARANCES}
    assert faults.keys() == expected.keys() or name in ("normal", "distance", "normal that is no number", "centre")


@pytest.mark.parametrize("change", [third_tetrahedron, both_sides_alike, tetrahedron("faces", [3, 3, 4, 5])])
def test_tetrahedra_and_faces_that_disagree_on_their_neighbours(change: Callable[[Graph], None]) -> None:
    graph = decoded(volume(NO_WALL))
    change(graph)
    assert found(written(graph, volume(NO_WALL)))[Rule.NAVIGATION_ADJACENCY][0] is ERROR


def test_a_face_beside_nothing_is_information() -> None:
    graph = decoded(volume(NO_WALL))
    border = np.flatnonzero((graph.faces["tetrahedra"] == regn.NO_TETRAHEDRON).any(axis=1))[0]
    graph.faces["tetrahedra"][border] = regn.NO_TETRAHEDRON
    assert found(written(graph, volume(NO_WALL)))[Rule.NAVIGATION_LOOSE_FACES] == (Severity.INFO, 1)


def test_a_tetrahedron_without_four_corners() -> None:
    graph = decoded(volume(NO_WALL))
    named = graph.faces["vertices"][graph.tetrahedra["faces"][7, 0]]
    graph.faces["vertices"][graph.tetrahedra["faces"][7, 0]] = [named[0], named[0], named[1]]
    assert found(written(graph, volume(NO_WALL)))[Rule.NAVIGATION_CORNERS][0] is WARNING


def test_a_cell_that_lacks_a_tetrahedron_and_one_that_no_cell_leads_to() -> None:
    data, one = volume(NO_WALL), hull(NO_WALL)
    graph = decoded(data)
    twice = np.flatnonzero(np.bincount(graph.references) > 1)[0]
    lacking = np.flatnonzero(graph.references == twice)[0]
    item = np.searchsorted(np.cumsum(graph.sizes), lacking, "right")
    sizes = graph.sizes.copy()
    sizes[item] -= 1
    shorter = replace(graph, sizes=sizes, references=np.delete(graph.references, lacking))
    faults = found(regn_contents.encode(shorter, one.grid))
    assert faults == {Rule.NAVIGATION_CELLS: (WARNING, 1)}
    gone = np.arange(len(graph.tetrahedra)) == twice
    faults = found(regn_contents.write_back(graph, regn.decode(data), gone))
    assert faults == {Rule.NAVIGATION_UNREACHED: (WARNING, 1)}
    faults = found(regn_contents.write_back(graph, regn.decode(data), gone), None)
    assert faults == {Rule.NAVIGATION_UNREACHED: (Severity.INFO, 1)}


def test_an_item_sphere_that_is_too_small() -> None:
    graph = decoded(volume(NO_WALL))
    graph.items["sphere"][:, 3] *= np.float32(0.01)
    faults = found(regn_contents.encode(graph, hull(NO_WALL).grid))
    assert faults.keys() == {Rule.NAVIGATION_ITEM_SPHERES} and faults[Rule.NAVIGATION_ITEM_SPHERES][0] is ERROR


def test_a_clearance_of_more_than_the_distance_to_rock() -> None:
    graph = decoded(volume(NO_WALL))
    graph.tetrahedra["pairs"]["clearance"][7, 2] *= np.float32(1.01)
    assert found(written(graph, volume(NO_WALL))) == {Rule.NAVIGATION_CLEARANCES: (WARNING, 1)}


def test_clearances_are_compared_in_the_order_that_the_file_has() -> None:
    order = [4, 2, 0, 5, 1, 3]
    assert found(with_pairs(volume(NO_WALL), order)) == {}
    assert found(with_pairs(volume(NO_WALL), order, 0.0)) == {}
    faults = found(with_pairs(volume(NO_WALL), order, 0.0, 0.0))
    assert faults == {Rule.NAVIGATION_PAIR_ORDER: (Severity.INFO, 1)}
    assert Rule.NAVIGATION_CLEARANCES in found(with_pairs(volume(NO_WALL), order, 0.0, 1e9))


def test_the_volume_of_another_hull() -> None:
    assert found(volume(NO_WALL), "S14_p1_AsteroidVolume_wp") == {Rule.NAVIGATION_FIT: (ERROR, 1)}
    faults = found(volume(ROCKS), NO_WALL)
    assert faults.keys() == {Rule.NAVIGATION_ROCK, Rule.NAVIGATION_CLEARANCES} and all(
        severity is WARNING for severity, _ in faults.values()
    )


# --- counts that are only derived, hostile files --------------------------------------------------


@pytest.mark.parametrize(("offset", "value"), [(0x60, 5), (0x62, 3), (0x68, 0), (0x6A, 0xFFFF)])
def test_a_derived_count_that_is_wrong_is_no_error_of_the_contents(offset: int, value: int) -> None:
    data = volume(NO_WALL)
    data = data[:offset] + value.to_bytes(2, "big") + data[offset + 2 :]
    assert regn.encode(regn.decode(data)) == data
    assert found(data) == {}


def numbers(data: bytes, at: int, value: int, size: int = 4) -> bytes:
    return data[:at] + value.to_bytes(size, "big") + data[at + size :]


def offsets(data: bytes) -> regn.Sections:
    return regn.decode(data).offsets


HOSTILE = {
    "face number": lambda data: numbers(data, offsets(data).tetrahedra + 0x18, 0xFFF0, 2),
    "vertex number": lambda data: numbers(data, offsets(data).faces + 0x20, 0xFFF0, 2),
    "tetrahedron number": lambda data: numbers(data, offsets(data).faces + 0x28, 0xFFF0, 2),
    "count of tetrahedra": lambda data: numbers(data, 0x62, 0xFFFF, 2),
    "count of vertices": lambda data: numbers(data, 0x60, 0xFFFF, 2),
    "count of a cell": lambda data: numbers(data, offsets(data).cells + 8 * used_cell(data), 0xFFFFFFFF),
    "items of a cell": lambda data: numbers(data, offsets(data).cells + 8 * used_cell(data) + 4, 0x10),
    "count of an item": lambda data: numbers(data, offsets(data).items + 0x10, 0xFFFFFFFF),
    "reference": lambda data: numbers(data, offsets(data).references, offsets(data).tetrahedra - 0x10 + 5),
}


def used_cell(data: bytes) -> int:
    return int(np.flatnonzero(decoded(data).cells)[0])


@pytest.mark.parametrize("name", HOSTILE)
def test_contents_beyond_the_file_are_an_error_with_the_place(name: str) -> None:
    data = HOSTILE[name](volume(NO_WALL))
    with pytest.raises(FormatError) as caught:
        decoded(data)
    faults = check_navigation(regn.decode(data), hull(NO_WALL))
    assert [check.rule for check in faults if not check.passed] == [Rule.NAVIGATION_CONTENTS]
    assert str(caught.value) in str(faults[0].finding)


def test_tetrahedra_that_claim_to_be_everywhere_are_checked_in_bounded_time_and_memory() -> None:
    """Each tetrahedron reaches over the whole grid, so each of 1,000 cells would have to lead to each."""
    one = hull("mapmesh_box_500km")
    graph = decoded(volume("mapmesh_box_500km"))
    many = 40_000
    tetrahedra = np.repeat(graph.tetrahedra[:1], many)
    tetrahedra["number"] = np.arange(many)
    vertices = graph.vertices * np.float32(1000)
    everywhere = replace(graph, vertices=vertices, tetrahedra=tetrahedra, references=np.zeros(1, np.int64))
    sizes, cells = np.ones(1, np.int64), np.zeros(len(graph.cells), np.int64)
    cells[0] = 1
    everywhere = replace(everywhere, sizes=sizes, cells=cells, items=graph.items[:1])
    everywhere = replace(everywhere, references=np.arange(many), sizes=np.array([many]))
    everywhere.faces["tetrahedra"] = 0
    navigation = regn.decode(regn_contents.encode(everywhere, one.grid))
    tracemalloc.start()
    begun = time.perf_counter()
    checks = check_navigation(navigation, one)
    taken, memory = time.perf_counter() - begun, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 120 and memory < 1 << 30
    assert not all(check.passed for check in checks)


def test_a_large_hull_is_compared_with_some_tetrahedra_from_all_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PAIRS", 100 * len(hull().triangles))
    checks = {check.rule: check for check in check_navigation(regn.decode(volume()), hull())}
    assert checks[Rule.NAVIGATION_CLEARANCES].total == 600


def test_every_byte_of_the_contents_may_be_wrong() -> None:
    """Nothing but a check's word: no file that can be decoded makes a check fail with an exception."""
    data = bytearray(volume(NO_WALL))
    rng = np.random.default_rng(5)
    end = len(regn.decode(bytes(data)).carried.contents)
    for _ in range(60):
        broken = bytearray(data)
        for at in rng.integers(regn.HEADER_END, end, 40):
            broken[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF])
        try:
            navigation = regn.decode(bytes(broken))
        except FormatError:
            continue
        assert check_navigation(navigation, hull(NO_WALL))
        assert regn.encode(navigation) == broken
