"""Which triangles reach into which cells of a grid: the cell lists. Format notes, section 3."""

from __future__ import annotations

import numpy as np

from .arrays import expand, narrow, slices
from .geometry import columns, corners, cross, extremes, pick
from .grid import LARGEST_DIMENSION, Grid

PAIRS_AT_ONCE = 1 << 15
"""Candidates looked at together: bounds the memory that a triangle across a large grid takes."""

ROUNDING = 2.0**-23
"""The game finds a point's cell with two float32 roundings, a part of the box's extent that is this large
together. A triangle as near as that to a cell belongs to it."""


def overlaps(
    grid: Grid, vertices: np.ndarray, triangles: np.ndarray, wanted: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Every triangle with every cell whose closed box it touches: triangle and cell numbers, int64 (n,) each,
    ordered by triangle, then cell.

    The cells at the border also serve what lies outside, as the game's clamped queries do: they have no end there.
    `wanted`, bool per cell, limits the answer to some cells. Memory beyond the answer stays bounded whatever the
    triangles are.
    """
    places = columns(vertices)
    nx, ny, _ = grid.dimensions
    dimensions = np.array(grid.dimensions)[:, None]
    minimum, maximum, size = (
        corner.astype(np.float64)[:, None] for corner in (grid.minimum, grid.maximum, grid.cell_size)
    )
    margin = ROUNDING * np.maximum(maximum - minimum, size)
    first = narrow(np.clip(np.ceil((places - margin - minimum) / size) - 1, 0, dimensions - 1).astype(np.int64))
    last = narrow(np.clip(np.floor((places + margin - minimum) / size), 0, dimensions - 1).astype(np.int64))
    # Where cells have no end, they reach as far as the geometry.
    used = np.zeros(len(vertices), bool)
    used[triangles] = True
    reached = places.compress(used, axis=1)
    floor = np.minimum(reached.min(axis=1, initial=np.inf, keepdims=True), minimum) - margin
    ceiling = np.maximum(reached.max(axis=1, initial=-np.inf, keepdims=True), minimum + dimensions * size) + margin

    near = np.arange(len(triangles)) if wanted is None else _near(grid, wanted, first, last, triangles)
    triangles = triangles if wanted is None else pick(triangles, near)
    low, high = extremes(first, last, triangles)
    lowest_cell = grid.number(low.T)
    spans = (high - low).astype(np.int64) + 1
    several = spans > 1
    # Within one row of cells a triangle touches all from its first to its last, beside which it has nothing.
    in_a_row = several.sum(axis=0) <= 1
    next_cell = several[0] + nx * several[1] + nx * ny * several[2]

    def cell_of(rows: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Where the cells lie, (3, n), that come so many steps behind the first of these triangles."""
        width, height, _ = spans[:, rows]
        return low[:, rows] + np.stack((steps % width, steps // width % height, steps // (width * height)))

    def touching(rows: np.ndarray, position: np.ndarray) -> np.ndarray:
        begin = np.where(position == 0, floor, minimum + position * size - margin)
        end = np.where(position == dimensions - 1, ceiling, minimum + (position + 1) * size + margin)
        points = corners(vertices, pick(triangles, rows)) - ((begin + end) / 2).T[:, None]
        return _separated_by_none(points, ((end - begin) / 2).T)

    found_triangles, found_cells = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for run, skipped, taken in slices(spans[0] * spans[1] * spans[2], PAIRS_AT_ONCE):
        rows, steps = expand(skipped, taken)
        rows += run
        cells = lowest_cell[rows] + steps * next_cell[rows]
        test = np.flatnonzero(~in_a_row[rows])
        position = cell_of(rows[test], steps[test])
        cells[test] = grid.number(position.T)
        hit = np.ones(len(rows), bool) if wanted is None else wanted[cells]
        asked = hit[test]
        hit[test[asked]] = touching(rows[test[asked]], position[:, asked])
        found_triangles.append(near[rows[hit]])
        found_cells.append(cells[hit])
    return np.concatenate(found_triangles), np.concatenate(found_cells)


def _near(grid: Grid, wanted: np.ndarray, first: np.ndarray, last: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The triangles, int64 (n,), that reach into the box of all wanted cells, given the vertices' first and last cells
    along each axis, (3, nv) each."""
    position = grid.position(np.flatnonzero(wanted)).T
    lowest = position.min(axis=1, initial=LARGEST_DIMENSION, keepdims=True)
    highest = position.max(axis=1, initial=0, keepdims=True)
    beside = np.packbits(np.concatenate((last < lowest, first > highest)), axis=0)[0]  # a bit for each side of the box
    a, b, c = beside.take(np.asarray(triangles).T)
    return np.flatnonzero((a & b & c) == 0)


def _separated_by_none(points: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Whether triangles (n, 3, 3) touch boxes of these half sizes (n, 3) around the origin, bool (n,).

    The separating axis test, less the box's own axes: their answer is known from the ranges of cells.
    """
    sides = np.roll(points, -1, axis=1) - points
    normal = cross(sides[:, 0], sides[:, 1])
    touching = np.abs(np.einsum("ni,ni->n", normal, points[:, 0])) <= np.einsum("ni,ni->n", np.abs(normal), half)
    for side in range(3):
        for axis in range(3):
            one, two = (axis + 1) % 3, (axis + 2) % 3
            across, along = -sides[:, side, two], sides[:, side, one]
            # Two corners lie on the side and project to one point; the third is the side's opposite.
            near = across * points[:, side, one] + along * points[:, side, two]
            far = across * points[:, side - 1, one] + along * points[:, side - 1, two]
            reach = np.abs(across) * half[:, one] + np.abs(along) * half[:, two]
            touching &= (np.minimum(near, far) <= reach) & (np.maximum(near, far) >= -reach)
    return touching
