"""Where a hull's rock is: signed crossings of a line along x with its triangles.

docs/FORMATS.md, section 3, "Fill states". The front of a triangle faces free space, its back is solid, and what
lies outside the grid is free or solid as byte 0x73 says. Counting from there along x, each triangle entered
through its front adds one layer of rock, each left through its back takes one away.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .arrays import expand, narrow, slices
from .grid import Grid
from .triangles import corners
from .vectors import bounds, columns, cross, extremes, pick

PAIRS_AT_ONCE = 1 << 15
LINES_PER_BIN = 1
STEPS = 4096
"""How finely an axis is measured where triangles far from all lines are sorted out."""

Crossings = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Line numbers, triangle numbers, the x of the crossing, and the layers of rock that it adds toward +x, +1 or -1."""


def layers_in_cells(grid: Grid, vertices: NDArray[np.floating], triangles: NDArray[np.integer]) -> np.ndarray:
    """Layers of rock that closed surfaces lay over the centre of each cell, int32 (cells,).

    One inside an outward surface, minus one inside an inward one: a cell is solid where this sum and 1 for a
    solid outside give 1 or more. Right where the cell holds no triangle; elsewhere it is one of several answers.
    """
    nx, ny, nz = grid.dimensions
    middles = [grid.lower_corner(np.arange(count)[:, None] + 0.5)[:, axis] for axis, count in enumerate((nx, ny, nz))]
    lines = np.stack((np.tile(middles[1], nz), np.repeat(middles[2], ny)), axis=1)
    _, y, z = columns(vertices)
    first_y, end_y = _lines_between(middles[1], y, triangles)
    reaching = np.flatnonzero(first_y < end_y)
    first_y, width = first_y[reaching], (end_y - first_y)[reaching].astype(np.int64)
    first_z, end_z = _lines_between(middles[2], z, pick(triangles, reaching))
    steps = np.zeros((ny * nz, nx + 1), np.int32)
    for row, skipped, taken in slices(width * (end_z - first_z), PAIRS_AT_ONCE):
        rows, places = expand(skipped, taken)
        rows += row
        near = (first_z[rows] + places // width[rows]) * ny + first_y[rows] + places % width[rows]
        line, _, x, layer = _crossed(lines, vertices, triangles, near, reaching[rows])
        behind = np.ceil((x - middles[0][0]) / float(grid.cell_size[0]))
        np.add.at(steps, (line, np.clip(behind, 0, nx).astype(np.int64)), layer)
    return np.cumsum(steps[:, :nx], axis=1, dtype=np.int32).reshape(-1)


def layers_at(
    points: NDArray[np.floating], vertices: NDArray[np.floating], triangles: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Layers of rock that closed surfaces lay over points (n, 3), int64 (n,), counted as `layers_in_cells` does."""
    points = np.asarray(points, np.float64).reshape(-1, 3)
    result = np.zeros(len(points), np.int64)
    for line, _, x, layer in crossings(points[:, 1:], vertices, triangles):
        before = x < points[line, 0]
        np.add.at(result, line[before], layer[before])
    return result


def is_free(
    points: NDArray[np.floating], vertices: NDArray[np.floating], triangles: NDArray[np.integer], outside_solid: bool
) -> NDArray[np.bool_]:
    """Which points (n, 3) lie in free space, bool (n,), where byte 0x73 says what is outside of everything."""
    return layers_at(points, vertices, triangles) + bool(outside_solid) < 1


def crossings(lines: np.ndarray, vertices: NDArray[np.floating], triangles: NDArray[np.integer]) -> Iterator[Crossings]:
    """Where lines along x, given by their y and z, float64 (n, 2), pass through triangles, a portion at a time.

    A line through an edge or corner counts as moved aside by nothing, so it crosses a closed surface as often
    inward as outward.
    """
    _, along_y, along_z = columns(vertices)
    near = np.flatnonzero(_may_reach(lines[:, 0], along_y, triangles))
    near = near[_may_reach(lines[:, 1], along_z, pick(triangles, near))]
    low, high = (edge[:, 1:] for edge in bounds(corners(vertices, pick(triangles, near))))
    bins, bin_starts, order, first, last = _bin_lines(lines, low, high)
    spans = np.maximum(last - first + 1, 0)
    rows_of_bins, first_bins = expand(first[:, 1], spans[:, 1])
    run_starts = bin_starts[first_bins * bins + first[rows_of_bins, 0]]
    run_ends = bin_starts[first_bins * bins + np.minimum(last[rows_of_bins, 0] + 1, bins)]
    sizes = np.where(spans[rows_of_bins, 0] > 0, run_ends - run_starts, 0)
    for run, skipped, taken in slices(sizes, PAIRS_AT_ONCE):
        runs, places = expand(run_starts[run : run + len(taken)] + skipped, taken)
        rows, line = rows_of_bins[runs + run], order[places]
        y, z = lines[line].T
        within = (low[rows, 0] <= y) & (y <= high[rows, 0]) & (low[rows, 1] <= z) & (z <= high[rows, 1])
        yield _crossed(lines, vertices, triangles, line[within], near[rows[within]])


def _lines_between(
    ascending: np.ndarray, coordinates: np.ndarray, triangles: NDArray[np.integer]
) -> tuple[np.ndarray, np.ndarray]:
    """Which places along an axis, ascending, lie in the range of each triangle: the first, (n,), and the one behind
    the last, (n,). `coordinates` are those of the vertices, (nv,)."""
    below, up_to = np.searchsorted(ascending, coordinates), np.searchsorted(ascending, coordinates, "right")
    return extremes(narrow(below), narrow(up_to), triangles)


def _may_reach(places: np.ndarray, coordinates: np.ndarray, triangles: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which triangles may have any of the places along an axis in their range, bool (n,): all but those for which a
    coarse measure excludes it. `coordinates` are those of the vertices, (nv,)."""
    start, end = places.min(initial=np.inf), places.max(initial=-np.inf)
    scale = STEPS / max(float(end - start), 1e-30)  # the places may all be one

    def steps(values: np.ndarray) -> np.ndarray:
        """0 is before the places, from 1 on they lie, STEPS + 2 is behind them."""
        return np.clip((values - start) * scale + 1, 0, STEPS + 2).astype(np.uint16)

    at = steps(coordinates)
    low, high = extremes(at, at, triangles)
    up_to = np.cumsum(np.bincount(steps(places) + 1, minlength=STEPS + 4))
    return up_to[high + 1] > up_to[low]


def _crossed(
    lines: np.ndarray,
    vertices: NDArray[np.floating],
    triangles: NDArray[np.integer],
    near: np.ndarray,
    rows: np.ndarray,
) -> Crossings:
    """The crossings among pairs of lines and triangles."""
    numbers = pick(triangles, rows)
    points = corners(vertices, numbers)
    turn = _turn_around(lines[near], points[:, :, 1:], numbers)
    hit = np.flatnonzero(turn)
    return near[hit], rows[hit], _where(lines[near[hit]], points[hit]), -turn[hit]


def _bin_lines(
    lines: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sorts the lines into square bins: their number along a side, where each bin's lines start in `order`,
    that order, and the first and last bin along y and z that boxes from `low` to `high` (n, 2) reach."""
    bins = max(1, int(np.sqrt(len(lines) / LINES_PER_BIN)))
    start = lines.min(axis=0) if len(lines) else np.zeros(2)
    width = (lines.max(axis=0) - start) / bins if len(lines) else np.ones(2)
    width[width == 0] = 1.0

    def bin_of(place: np.ndarray) -> np.ndarray:
        return np.floor((place - start) / width)

    at = np.clip(bin_of(lines), 0, bins - 1).astype(np.int64)
    key = at[:, 1] * bins + at[:, 0]
    order = np.argsort(key, kind="stable")
    bin_starts = np.append(np.searchsorted(key[order], np.arange(bins * bins)), len(lines))
    first, last = bin_of(low), bin_of(high)
    # The last line lies on the edge of the last bin, hence one bin more; far boxes reach none.
    missed = ((first > bins) | (last < 0)).any(axis=1)
    first, last = (np.clip(edge, 0, bins - 1).astype(np.int64) for edge in (first, last))
    last[missed] = first[missed] - 1
    return bins, bin_starts, order, first, last


def _turn_around(lines: np.ndarray, outline: np.ndarray, triangles: NDArray[np.integer]) -> np.ndarray:
    """1 where the triangle goes around the line counter-clockwise in y and z, -1 clockwise, else 0."""
    total = np.zeros(len(lines), np.int64)
    for corner in range(3):
        following = (corner + 1) % 3
        # Both triangles at an edge must see the same number, so it is measured from the lower vertex.
        swapped = triangles[:, corner] > triangles[:, following]
        begin = np.where(swapped[:, None], outline[:, following], outline[:, corner])
        end = np.where(swapped[:, None], outline[:, corner], outline[:, following])
        along, toward = end - begin, lines - begin
        side = np.sign(along[:, 0] * toward[:, 1] - along[:, 1] * toward[:, 0])
        # On the edge itself: as if the line had moved a little along y, and far less along z.
        side = np.where(side == 0, -np.sign(along[:, 1]), side)
        side = np.where(side == 0, np.sign(along[:, 0]), side)
        total += np.where(swapped, -side, side).astype(np.int64)
    return total // 3 * (np.abs(total) == 3)


def _where(lines: np.ndarray, points: NDArray[np.floating]) -> np.ndarray:
    """The x at which lines meet the planes of triangles that go around them."""
    normal = cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    beside = lines - points[:, 0, 1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        x = points[:, 0, 0] - (normal[:, 1:] * beside).sum(axis=1) / normal[:, 0]
    # A triangle seen edge-on has no one x; any of its own will do.
    return np.clip(
        np.where(np.isfinite(x), x, points[:, 0, 0]), points[:, :, 0].min(axis=1), points[:, :, 0].max(axis=1)
    )
