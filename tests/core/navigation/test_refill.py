"""The part of a volume that an edit reaches is divided again, and the rest of the file stays as it was."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from core.formats import regn
from core.formats.mcol import Hull
from core.formats.regn_contents import Graph
from core.geometry.fill import is_free
from core.geometry.tetrahedra import volumes
from core.inspect.check_navigation import check_navigation
from core.navigation.patch import Patched, patch
from core.runtime.route import find_route
from tests.support.edited_hulls import edited
from tests.support.routes import blocked, free_points, routes
from tests.support.volumes import ROCKS, decoded, hull, volume

FILLED = ["moved", "added", "removed", "tunnelled"]
CROSSING = "S14_p2_AsteroidVolume_wp"
"""The rock that is added to it passes through others."""


@functools.cache
def patched(edit: str, name: str = ROCKS) -> tuple[Hull, Patched]:
    new = edited(edit, name)
    return new, patch(regn.decode(volume(name)), hull(name), new)


def replaced(before: Graph, after: Graph) -> np.ndarray:
    """Which tetrahedra of a volume are others now, bool (m,)."""
    there = after.tetrahedra[: len(before.tetrahedra)]
    return np.logical_or.reduce(
        [(before.tetrahedra[name] != there[name]).any(axis=1) for name in ("faces", "sphere", "sides")]
    )


def free_volume(one: Hull) -> float:
    a, b, c = np.moveaxis(one.vertices.astype(np.float64)[one.triangles.astype(np.int64)], 1, 0)
    return -float(np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize("edit", FILLED)
def test_every_record_says_what_it_should(edit: str) -> None:
    new, result = patched(edit)
    assert [check for check in check_navigation(regn.decode(result.data), new) if not check.passed] == []
    assert result.dropped == 0 and result.findings == ()


@pytest.mark.parametrize("edit", ["moved", "removed", "tunnelled"])
def test_volumes_add_up_to_the_free_volume(edit: str) -> None:
    new, result = patched(edit)
    found = volumes(decoded(result.data).shapes())
    assert np.isclose(np.abs(found).sum(), free_volume(new), rtol=1e-6)


@pytest.mark.parametrize("edit", FILLED)
def test_the_rest_of_the_volume_keeps_its_records(edit: str) -> None:
    _, result = patched(edit)
    before, after = decoded(volume()), decoded(result.data)
    gone = replaced(before, after)
    assert gone.sum() < len(gone) / 20
    stays = np.flatnonzero(~gone)
    expected = before.tetrahedra[stays].copy()
    expected["pairs"]["clearance"] = after.tetrahedra["pairs"]["clearance"][stays]
    assert expected.tobytes() == after.tetrahedra[stays].tobytes()
    assert before.vertices.tobytes() == after.vertices[: len(before.vertices)].tobytes()
    changed = (before.faces != after.faces[: len(before.faces)]).nonzero()[0]
    beside = before.faces["tetrahedra"][changed].astype(np.int64)
    border = beside == 0xFFFF
    assert (border | np.append(gone, False)[np.minimum(beside, len(gone))]).any(axis=1).all()
    old_cells, old_numbers = before.cell_references()
    new_cells, new_numbers = after.cell_references()
    is_new = np.append(gone, np.ones(len(after.tetrahedra) - len(gone), bool))
    touched = np.union1d(old_cells[gone[old_numbers]], new_cells[is_new[new_numbers]])
    one = old_numbers[~np.isin(old_cells, touched)]
    other = new_numbers[~np.isin(new_cells, touched)]
    assert np.array_equal(one, other) and len(one) > len(old_numbers) / 4
    assert set(after.cells.tolist()) <= {0, 1}, "the game's files have no more items in a cell"


@pytest.mark.parametrize("edit", FILLED)
def test_ships_use_the_new_space_and_never_touch_rock(edit: str) -> None:
    new, result = patched(edit)
    found = routes(new, result.data, 150, seed=3)
    assert all(route.found for *_, route in found)
    assert blocked(new, found) == []


def test_a_ship_flies_through_the_place_of_a_removed_rock() -> None:
    new, result = patched("removed")
    old = hull()
    freed = [spot for spot in free_points(new, 4000, seed=5) if not is_free_in(old, spot)]
    assert len(freed) > 3
    ends = free_points(new, len(freed), seed=6)

    for start, goal in zip(freed, ends, strict=True):
        assert find_route(new, decoded(result.data), start, goal, 1.0).found


def is_free_in(one: Hull, spot: np.ndarray) -> bool:

    return bool(is_free(spot[None], one.vertices, one.triangles, bool(one.outside_solid))[0])


def test_where_surfaces_cross_the_cut_tetrahedra_leave_the_cells_and_the_report_says_so() -> None:
    new, result = patched("added", CROSSING)
    assert result.dropped > 0 and [finding.check.value for finding in result.findings][:1] == ["navigation cut"]
    before, after = decoded(volume(CROSSING)), decoded(result.data)
    assert len(result.data) == len(volume(CROSSING)) and not replaced(before, after).any()
    assert blocked(new, routes(new, result.data, 60)) == []
