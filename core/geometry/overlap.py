"""Which triangles reach into which cells of a grid: the cell lists. docs/FORMATS.md, section 3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import expand, narrow, slices
from .grid import LARGEST_DIMENSION, Grid
from .triangles import corners
from .vectors import columns, cross, extremes, pick

PAIRS_AT_ONCE = 1 << 15
"""Candidates looked at together: bounds the memory that a triangle across a large grid takes."""

LARGE = 512
"""A triangle with more candidates than this is looked for in blocks of cells first."""

BLOCK_SIDES = (64, 16, 4, 1)
"""Cells along the sides of the blocks that a large triangle is looked for in, one after the other."""

ROUNDING = 2.0**-23
"""The game finds a point's cell with two float32 roundings, a part of the box's extent that is this large
together. A triangle as near as that to a cell belongs to it."""

SLACK = 2.0**-40
"""By how much of its triangle's reach a block of cells is widened, so that rounding rejects none for all its cells."""

Pairs = tuple[np.ndarray, np.ndarray]
"""Triangle and cell numbers, int64 (n,) each."""


@dataclass(frozen=True, slots=True, eq=False)
class _Space:
    """The cells of a grid as boxes with all that the game may look for in them, and the triangles to sort into them.

    Cells at the border reach as far as the geometry, from `floor` to `ceiling`, and all are widened by a `margin`.
    `low` and `high` (3, n) are the positions of the first and the last cell that each triangle's box touches.
    """

    grid: Grid
    minimum: np.ndarray
    size: np.ndarray
    margin: np.ndarray
    floor: np.ndarray
    ceiling: np.ndarray
    vertices: np.ndarray
    triangles: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def touching(self, rows: np.ndarray, first: np.ndarray, last: np.ndarray, slack: float = 0.0) -> NDArray[np.bool_]:
        """Whether triangles (n,) touch the blocks from the cells at `first` to those at `last`, (3, n), bool (n,)."""
        end_cell = np.array(self.grid.dimensions)[:, None] - 1
        begin = np.where(first == 0, self.floor, self.minimum + first * self.size - self.margin)
        end = np.where(last == end_cell, self.ceiling, self.minimum + (last + 1) * self.size + self.margin)
        points = corners(self.vertices, pick(self.triangles, rows)) - ((begin + end) / 2).T[:, None]
        half = (end - begin) / 2
        if slack:
            half += slack * np.abs(points).max(axis=(1, 2))
        return _separated_by_none(points, half.T)


def overlaps(
    grid: Grid, vertices: NDArray[np.floating], triangles: NDArray[np.integer], wanted: np.ndarray | None = None
) -> Pairs:
    """Every triangle with every cell whose closed box it touches: triangle and cell numbers, int64 (n,) each,
    ordered by triangle, then cell.

    The cells at the border also serve what lies outside, as the game's clamped queries do: they have no end there.
    `wanted`, bool per cell, limits the answer to some cells. Memory beyond the answer stays bounded whatever the
    triangles are, and time grows with the answer, not with the boxes around large triangles.
    """
    space, near = _prepare(grid, vertices, triangles, wanted)
    spans = (space.high - space.low).astype(np.int64) + 1
    several = (spans > 1).sum(axis=0)
    candidates = spans[0] * spans[1] * spans[2]
    # Within one row of cells a triangle touches all from its first to its last, beside which it has nothing.
    large = (several > 1) & (candidates > LARGE)
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    found += _one_by_one(space, np.where(large, 0, candidates), several <= 1, wanted)
    if not large.any():
        rows, cells = (np.concatenate(part) for part in zip(*found, strict=True))
        return near[rows], cells
    found += _by_blocks(space, np.flatnonzero(large), wanted)
    rows, cells = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.lexsort((cells, rows))
    return near[rows[order]], cells[order]


def _prepare(
    grid: Grid, vertices: NDArray[np.floating], triangles: NDArray[np.integer], wanted: np.ndarray | None
) -> tuple[_Space, np.ndarray]:
    """The cells, the triangles that may reach a wanted one, and the numbers of these, int64 (n,)."""
    places = columns(vertices)
    dimensions = np.array(grid.dimensions)[:, None]
    minimum, maximum, size = (
        corner.astype(np.float64)[:, None] for corner in (grid.minimum, grid.maximum, grid.cell_size)
    )
    margin = ROUNDING * np.maximum(maximum - minimum, size)
    first = narrow(np.clip(np.ceil((places - margin - minimum) / size) - 1, 0, dimensions - 1).astype(np.int64))
    last = narrow(np.clip(np.floor((places + margin - minimum) / size), 0, dimensions - 1).astype(np.int64))
    used = np.zeros(len(vertices), bool)
    used[triangles] = True
    reached = places.compress(used, axis=1)
    floor = np.minimum(reached.min(axis=1, initial=np.inf, keepdims=True), minimum) - margin
    ceiling = np.maximum(reached.max(axis=1, initial=-np.inf, keepdims=True), minimum + dimensions * size) + margin
    near = np.arange(len(triangles)) if wanted is None else _near(grid, wanted, first, last, triangles)
    triangles = triangles if wanted is None else pick(triangles, near)
    low, high = extremes(first, last, triangles)
    return _Space(grid, minimum, size, margin, floor, ceiling, vertices, triangles, low, high), near


def _one_by_one(
    space: _Space, candidates: np.ndarray, in_a_row: np.ndarray, wanted: np.ndarray | None
) -> Iterator[Pairs]:
    """The cells of small triangles, given how many there are in the box around each one: every one is looked at."""
    nx, ny, _ = space.grid.dimensions
    low = space.low
    lowest_cell = space.grid.number(low.T)
    spans = (space.high - low).astype(np.int64) + 1
    several = spans > 1
    next_cell = several[0] + nx * several[1] + nx * ny * several[2]
    for run, skipped, taken in slices(candidates, PAIRS_AT_ONCE):
        rows, steps = expand(skipped, taken)
        rows += run
        cells = lowest_cell[rows] + steps * next_cell[rows]
        test = np.flatnonzero(~in_a_row[rows])
        position = low[:, rows[test]] + _step(steps[test], spans[:, rows[test]])
        cells[test] = space.grid.number(position.T)
        hit = np.ones(len(rows), bool) if wanted is None else wanted[cells]
        asked = hit[test]
        asked_position = position[:, asked]
        hit[test[asked]] = space.touching(rows[test[asked]], asked_position, asked_position)
        yield rows[hit], cells[hit]


def _step(steps: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """The place, (3, n), that comes so many steps behind the first one of a box with these spans, (3, n)."""
    width, height, _ = spans
    return np.stack((steps % width, steps // width % height, steps // (width * height)))


def _by_blocks(space: _Space, large: np.ndarray, wanted: np.ndarray | None) -> Iterator[Pairs]:
    """The cells of large triangles, int64 (n,): those within blocks of cells that they touch."""
    asked = None if wanted is None else _wanted_blocks(space.grid, wanted)

    def divide(rows: np.ndarray, first: np.ndarray, last: np.ndarray, level: int) -> Iterator[Pairs]:
        """Cuts blocks, given for each triangle by their first and last cells (3, n), into those of a level."""
        side = BLOCK_SIDES[level]
        start = first // side
        spans = last // side - start + 1
        for run, skipped, taken in slices(spans[0] * spans[1] * spans[2], PAIRS_AT_ONCE):
            parents, steps = expand(skipped, taken)
            parents += run
            block = start[:, parents] + _step(steps, spans[:, parents])
            if asked is not None:
                kept = asked[level][tuple(block)]
                parents, block = parents[kept], block[:, kept]
            begin = np.maximum(block * side, first[:, parents])
            end = np.minimum(block * side + side - 1, last[:, parents])
            hit = np.flatnonzero(space.touching(rows[parents], begin, end, SLACK if side > 1 else 0.0))
            if side > 1:
                yield from divide(rows[parents[hit]], begin[:, hit], end[:, hit], level + 1)
            else:
                yield rows[parents[hit]], space.grid.number(begin[:, hit].T)

    yield from divide(large, space.low[:, large].astype(np.int64), space.high[:, large].astype(np.int64), 0)


def _wanted_blocks(grid: Grid, wanted: np.ndarray) -> list[np.ndarray]:
    """For each size of blocks which of them have a wanted cell, bool (blocks along x, y, z)."""
    result = [wanted.reshape(grid.dimensions[::-1]).T]
    for larger, smaller in zip(BLOCK_SIDES[-2::-1], BLOCK_SIDES[:0:-1], strict=True):
        blocks = result[0]
        for axis, count in enumerate(blocks.shape):
            blocks = np.logical_or.reduceat(blocks, np.arange(0, count, larger // smaller), axis=axis)
        result.insert(0, blocks)
    return result


def _near(
    grid: Grid, wanted: np.ndarray, first: np.ndarray, last: np.ndarray, triangles: NDArray[np.integer]
) -> NDArray[np.int64]:
    """The triangles, int64 (n,), that reach into the box of all wanted cells, given the vertices' first and last cells
    along each axis, (3, nv) each."""
    position = grid.position(np.flatnonzero(wanted)).T
    lowest = position.min(axis=1, initial=LARGEST_DIMENSION, keepdims=True)
    highest = position.max(axis=1, initial=0, keepdims=True)
    beside = np.packbits(np.concatenate((last < lowest, first > highest)), axis=0)[0]  # a bit for each side of the box
    a, b, c = beside.take(np.asarray(triangles).T)
    return np.flatnonzero((a & b & c) == 0)


def _separated_by_none(points: NDArray[np.floating], half: np.ndarray) -> NDArray[np.bool_]:
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
