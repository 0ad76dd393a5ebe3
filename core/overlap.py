"""Which triangles reach into which cells of a grid: the cell lists. Format notes, section 3."""

from __future__ import annotations

import numpy as np

from .arrays import expand, slices, stable_order
from .geometry import bounds, corners, cross
from .grid import Grid

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
    points = corners(vertices, triangles)
    minimum, size = grid.minimum.astype(np.float64), grid.cell_size.astype(np.float64)
    dimensions = np.array(grid.dimensions)
    margin = ROUNDING * np.maximum(grid.maximum - minimum, size)
    low, high = bounds(points)
    low = np.clip(np.ceil((low - margin - minimum) / size) - 1, 0, dimensions - 1).astype(np.int64)
    high = np.clip(np.floor((high + margin - minimum) / size), 0, dimensions - 1).astype(np.int64)
    spans = high - low + 1
    counts = spans[:, 0] * spans[:, 1] * spans[:, 2]

    certain = np.flatnonzero(counts == 1)
    found_triangles, found_cells = [certain], [grid.number(low[certain])]
    several = np.flatnonzero(counts > 1)
    # Where cells have no end, they reach as far as the geometry.
    floor = np.minimum(points.min(axis=(0, 1), initial=np.inf), minimum) - margin
    ceiling = np.maximum(points.max(axis=(0, 1), initial=-np.inf), minimum + dimensions * size) + margin
    for first, skipped, taken in slices(counts[several], PAIRS_AT_ONCE):
        rows, places = expand(skipped, taken)
        rows = several[rows + first]
        width, height = spans[rows, 0], spans[rows, 1]
        position = low[rows] + np.stack((places % width, places // width % height, places // (width * height)), axis=1)
        cells = grid.number(position)
        if wanted is not None:
            kept = wanted[cells]
            rows, position, cells = rows[kept], position[kept], cells[kept]
        begin = np.where(position == 0, floor, minimum + position * size - margin)
        end = np.where(position == dimensions - 1, ceiling, minimum + (position + 1) * size + margin)
        hit = _separated_by_none(points[rows] - ((begin + end) / 2)[:, None], (end - begin) / 2)
        found_triangles.append(rows[hit])
        found_cells.append(cells[hit])
    found, cells = np.concatenate(found_triangles), np.concatenate(found_cells)
    if wanted is not None:
        kept = wanted[cells]
        found, cells = found[kept], cells[kept]
    order = stable_order(found)
    return found[order], cells[order]


def _separated_by_none(points: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Whether triangles (n, 3, 3) touch boxes of these half sizes (n, 3) around the origin, bool (n,).

    The separating axis test, less the box's own axes: their answer is known from the ranges of cells.
    """
    sides = points[:, [1, 2, 0]] - points
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
