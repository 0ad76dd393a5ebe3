"""Which two faces each pair of cost and clearance is for is found from the file. Format notes, section 5."""

from __future__ import annotations

import numpy as np
import pytest

from core.formats import regn
from core.formats.regn_contents import Graph
from core.formats.regn_pairs import PAIRS, find_order
from core.geometry.clearance import clearances
from core.navigation.patch import patch
from core.runtime.route import find_route
from tests.support.edited_hulls import edited
from tests.support.routes import free_points
from tests.support.volumes import NO_WALL, ROCKS, decoded, hull, volume, with_pairs

USUAL = "01 02 03 12 13 23"
OTHER = [4, 2, 0, 5, 1, 3]
OTHER_TEXT = "13 03 01 23 02 12"


def asked(data: bytes, name: str = ROCKS) -> Graph:
    return decoded(data).asking(hull(name).vertices, hull(name).triangles)


@pytest.mark.parametrize("name", [ROCKS, NO_WALL])
@pytest.mark.parametrize(
    ("costs", "clearances", "reason"),
    [(None, None, "costs and clearances"), (0.0, None, "clearances"), (None, 7.0, "costs"), (1.0, None, "clearances")],
)
def test_the_order_is_what_costs_or_clearances_say(name: str, costs, clearances, reason: str) -> None:
    for order, text in ((list(range(6)), USUAL), (OTHER, OTHER_TEXT)):
        found = asked(with_pairs(volume(name), order, costs, clearances), name).order
        assert (found.text, found.reason, found.known) == (text, reason, True)


def test_values_that_are_a_part_of_the_distance_say_the_order_too() -> None:
    graph = decoded(with_pairs(volume(), OTHER))
    graph.tetrahedra["pairs"]["cost"] *= np.float32(0.25)
    assert graph.asking(hull().vertices, hull().triangles).order.text == OTHER_TEXT


@pytest.mark.parametrize(("costs", "clearances"), [(0.0, 500.0), (1.0, 0.0), (np.nan, np.inf)])
def test_values_that_say_nothing_leave_the_order_open(costs: float, clearances: float) -> None:
    found = asked(with_pairs(volume(), OTHER, costs, clearances)).order
    assert not found.known and found.may.all() and found.text == "? ? ? ? ? ?"
    assert "aren't distances" in found.reason


def test_costs_and_clearances_that_disagree_leave_the_order_open() -> None:
    graph = decoded(volume())
    graph.tetrahedra["pairs"]["cost"] = graph.tetrahedra["pairs"]["cost"][:, OTHER]
    found = graph.asking(hull().vertices, hull().triangles).order
    assert found.may.all() and found.reason == "costs and clearances say different orders"


def test_two_places_of_equal_values_may_be_either_pair() -> None:
    computed = np.random.default_rng(1).uniform(1, 2, (50, 6))
    computed[:, 5] = computed[:, 0]
    found = find_order((computed, computed))
    assert not found.known and found.text == "01/23 02 03 12 13 01/23"
    assert np.array_equal(found.lowest(computed), computed)


def test_an_empty_volume_leaves_the_order_open() -> None:
    nothing = np.zeros((0, 6))
    assert find_order((nothing, nothing)).may.all()


def test_a_few_wrong_values_dont_hide_the_order() -> None:
    data = with_pairs(volume(), OTHER)
    graph = decoded(data)
    graph.tetrahedra["pairs"]["cost"][::20] = 3.0
    assert graph.asking(hull().vertices, hull().triangles).order.text == OTHER_TEXT


def test_values_that_may_be_several_pairs_count_on_the_safe_side() -> None:
    found = decoded(with_pairs(volume(), OTHER, 0.0))
    assert not found.order.known
    pairs = found.tetrahedra["pairs"]
    assert (found.pair_clearances() == pairs["clearance"].min(axis=1, keepdims=True)).all()
    costly = decoded(volume())
    unknown = Graph(*(getattr(costly, name) for name in Graph.__slots__[:-1]), found.order)
    assert (unknown.pair_costs() == costly.tetrahedra["pairs"]["cost"].max(axis=1, keepdims=True)).all()


# --- who uses pairs -------------------------------------------------------------------------------


@pytest.mark.parametrize("costs", [None, 0.0])
def test_a_route_is_the_same_whatever_the_order(costs) -> None:
    usual, other = (decoded(with_pairs(volume(), order, costs)) for order in (list(range(6)), OTHER))
    spots = free_points(hull(), 24)
    for start, goal in zip(spots[::2], spots[1::2], strict=True):
        for radius in (1.0, 800.0):
            routes = [find_route(hull(), graph, start, goal, radius) for graph in (usual, other)]
            assert routes[0].faces == routes[1].faces and routes[0].found == routes[1].found


def test_a_ship_too_large_for_one_pair_takes_no_step_in_a_tetrahedron_of_unknown_order() -> None:
    graph = decoded(with_pairs(volume(), OTHER, 0.0, 500.0))
    graph.tetrahedra["pairs"]["clearance"][:, 3] = 40.0
    spots = free_points(hull(), 200)
    pairs = list(zip(spots[::2], spots[1::2], strict=True))
    bent = next(pair for pair in pairs if len(find_route(hull(), graph, *pair, 39.0).faces) > 1)
    refused = find_route(hull(), graph, *bent, 41.0).refused
    assert refused and refused.clearance == 40.0


@pytest.mark.parametrize("name", ["moved", "removed"])
@pytest.mark.parametrize("costs", [None, 0.0])
def test_a_patch_changes_the_same_pairs_whatever_the_order(name: str, costs) -> None:
    new = edited(name)
    usual, other = (
        patch(regn.decode(with_pairs(volume(), order, costs)), hull(), new).data for order in (list(range(6)), OTHER)
    )
    assert other == with_pairs(usual, OTHER)


def test_a_patch_of_unknown_order_leaves_each_pair_the_least_that_any_of_them_has() -> None:
    data = with_pairs(volume(), OTHER, 0.0, 2500.0)
    new = edited("moved")
    before, after = decoded(data), decoded(patch(regn.decode(data), hull(), new, fill=False).data)
    exact = clearances(before.pair_segments(), new.vertices, new.triangles)
    stored = after.tetrahedra["pairs"]["clearance"]
    changed = stored != 2500.0
    assert changed.any() and not changed.all() and (changed == changed[:, :1]).all()
    assert (stored[changed.any(axis=1)] <= exact[changed.any(axis=1)].min(axis=1, keepdims=True) + 1e-3).all()
    assert patch(regn.decode(data), hull(), hull()).data == data
    filled = decoded(patch(regn.decode(data), hull(), new).data)
    own = slice(len(before.tetrahedra), None)
    exact = clearances(filled.pair_segments()[own], new.vertices, new.triangles)
    stored = filled.tetrahedra["pairs"]["clearance"][own]
    assert len(stored) and (stored <= exact.min(axis=1, keepdims=True) + 1e-3).all()


def test_the_pairs_are_those_of_the_notes() -> None:
    assert PAIRS.tolist() == [[a, b] for a in range(4) for b in range(a + 1, 4)]
