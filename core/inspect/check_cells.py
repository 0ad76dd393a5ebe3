"""Checks of a hull's cell records: fill states, positions, and how they lead to lists. docs/FORMATS.md, section 3."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..formats.mcol import FREE, LISTED, SOLID, Hull
from ..geometry.fill import layers_in_cells
from ..geometry.grid import Grid
from ..rules.rule import Rule
from .checks import Check, Where, count
from .stored import cell_records


def check_cells(hull: Hull) -> list[Check]:
    """Every check of a hull's cell records."""
    return [*_state_checks(hull), *_record_checks(hull)]


def in_cells(hull: Hull, cells: NDArray[np.int64] | None = None) -> Where:
    """Where checks of these cells, or of all, find what they count."""
    return Where("cell", cells, lambda number: cell_name(hull.grid, number))


def cell_name(grid: Grid, number: int) -> str:
    """A cell's place in the grid, as messages have it."""
    x, y, z = grid.position(np.array([number]))[0]
    return f"({x}, {y}, {z})"


def _state_checks(hull: Hull) -> list[Check]:
    empty = np.setdiff1d(np.arange(hull.grid.cell_count), hull.occupied)
    rock = layers_in_cells(hull.grid, hull.vertices, hull.triangles) + bool(hull.outside_solid) >= 1
    expected = np.where(rock, SOLID, FREE)
    return [
        count(Rule.LISTED_STATES, hull.states[hull.occupied] == LISTED, in_cells(hull, hull.occupied)),
        count(Rule.EMPTY_STATES, hull.states[empty] == expected[empty], in_cells(hull, empty)),
    ]


def _record_checks(hull: Hull) -> list[Check]:
    grid, occupied = hull.grid, hull.occupied
    position = cell_records(hull)["position"]
    in_place = (position == grid.position(np.arange(grid.cell_count))).all(axis=1)
    single = hull.list_counts == 1
    own_list = hull.list_spheres[np.minimum(hull.first_list, len(hull.list_spheres) - 1)]
    same = (hull.cell_spheres.view(np.uint32) == own_list.view(np.uint32)).all(axis=1)
    packed = np.diff(hull.list_starts) == hull.list_sizes[:-1]
    return [
        count(Rule.CELL_POSITIONS, in_place, in_cells(hull)),
        count(Rule.SEVERAL_LISTS, single, in_cells(hull, occupied)),
        count(Rule.LIST_POINTERS, packed),
        count(Rule.CELL_SPHERES, same[single], in_cells(hull, occupied[single])),
    ]
