"""Tetrahedra by their corners: volumes, the cells that they lie in, and triangles that reach into them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .arrays import expand, slices
from .boxes import boxes_of, meeting
from .grid import Grid
from .vectors import cross

SIDES = np.array([(1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)])
"""The face opposite to each corner of a tetrahedron of positive orientation, counter-clockwise from outside."""

EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])

PAIRS_AT_ONCE = 1 << 14

SLACK = 1e-5
"""How far float32 may move a position to another cell, as a part of a cell's size."""


def volumes(shape: np.ndarray) -> np.ndarray:
    """The volumes of tetrahedra (n, 4, 3), float64 (n,), negative where the orientation is."""
    a, b, c, d = np.moveaxis(shape, 1, 0)
    return np.einsum("ni,ni->n", cross(b - a, c - a), d - a) / 6


def outward_planes(shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For the face opposite to each corner of tetrahedra (n, 4, 3): its normal of length 1 that points out of the
    tetrahedron, float64 (n, 4, 3), and a point on it, (n, 4, 3). Flat tetrahedra have normals of length 0."""
    a, b, c = (shape[:, SIDES[:, corner]] for corner in range(3))
    normal = cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=2, keepdims=True)
    inward = np.einsum("nki,nki->nk", normal, shape - a) > 0
    normal *= np.where(inward, -1.0, 1.0)[:, :, None]
    return np.divide(normal, length, out=np.zeros_like(normal), where=length > 0), a


def cells_near(grid: Grid, shape: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Every tetrahedron (n, 4, 3) with every cell that it overlaps, and some that only come near, a portion at a time:
    tetrahedron and cell numbers, int64 (p,) each. No overlap is missing, however float32 rounds a position to a
    cell."""
    slack = SLACK * grid.cell_size.astype(np.float64)
    normal, point = outward_planes(shape)
    half = grid.cell_size.astype(np.float64) / 2 + slack
    for tetrahedron, position, centre in _candidates(grid, shape, slack):
        kept = _within_planes(normal, point, tetrahedron, centre, half)
        yield tetrahedron[kept], grid.number(position[kept])


def cells_within(grid: Grid, shape: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Every tetrahedron (n, 4, 3) with the cells that it overlaps for sure, however float32 rounds, as in
    `cells_near`."""
    slack = -SLACK * grid.cell_size.astype(np.float64)
    normal, point = outward_planes(shape)
    half = grid.cell_size.astype(np.float64) / 2 + slack
    edges = shape[:, EDGES[:, 1]] - shape[:, EDGES[:, 0]]
    for tetrahedron, position, centre in _candidates(grid, shape, slack):
        kept = _within_planes(normal, point, tetrahedron, centre, half)
        tetrahedron, position, centre = tetrahedron[kept], position[kept], centre[kept]
        corners = shape[tetrahedron] - centre[:, None]
        apart = np.zeros(len(tetrahedron), bool)
        for edge in range(len(EDGES)):
            for axis in np.eye(3):
                direction = cross(edges[tetrahedron, edge], np.broadcast_to(axis, (len(tetrahedron), 3)))
                along = np.einsum("nci,ni->nc", corners, direction)
                reach = np.abs(direction) @ half
                apart |= (along.min(axis=1) >= reach) & (reach > 0) | (along.max(axis=1) <= -reach) & (reach > 0)
        yield tetrahedron[~apart], grid.number(position[~apart])


def cell_spans(grid: Grid, shape: np.ndarray) -> np.ndarray:
    """How many cells the box around each tetrahedron (n, 4, 3) has, int64 (n,): what `cells_near` looks at."""
    return _spans(grid, shape, SLACK * grid.cell_size.astype(np.float64))[1].prod(axis=1)


def _spans(grid: Grid, shape: np.ndarray, slack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first cell along each axis of the boxes around tetrahedra, and how many there are, int64 (n, 3) each."""
    size = grid.cell_size.astype(np.float64)
    last_cell = np.array(grid.dimensions) - 1
    low, high = (shape.min(axis=1) - slack - grid.minimum) / size, (shape.max(axis=1) + slack - grid.minimum) / size
    first, last = (np.clip(np.floor(edge), 0, last_cell).astype(np.int64) for edge in (low, high))
    missed = ((high < 0) | (low > last_cell + 1) | (high < low)).any(axis=1)
    return first, np.where(missed[:, None], 0, last - first + 1)


def _candidates(
    grid: Grid, shape: np.ndarray, slack: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Tetrahedra with the cells of the boxes around them: numbers (p,), the cells' positions (p, 3) and centres."""
    first, spans = _spans(grid, shape, slack)
    half = grid.cell_size.astype(np.float64) / 2
    for run, skipped, taken in slices(spans.prod(axis=1), PAIRS_AT_ONCE):
        tetrahedron, steps = expand(skipped, taken)
        tetrahedron += run
        width, height = spans[tetrahedron, 0], spans[tetrahedron, 1]
        step = np.stack((steps % width, steps // width % height, steps // (width * height)), axis=1)
        position = first[tetrahedron] + step
        yield tetrahedron, position, grid.lower_corner(position) + half


def _within_planes(
    normal: np.ndarray, point: np.ndarray, tetrahedron: np.ndarray, centre: np.ndarray, half: np.ndarray
) -> np.ndarray:
    """Which boxes, by their centres (p, 3) and half sizes (3,), no face of their tetrahedron separates from it."""
    away = np.einsum("pki,pki->pk", normal[tetrahedron], centre[:, None] - point[tetrahedron])
    return (away <= np.abs(normal[tetrahedron]) @ half).all(axis=1)


# --- triangles in tetrahedra ----------------------------------------------------------------------


def reached(shape: np.ndarray, faces: np.ndarray, depth: float = 0.0) -> np.ndarray:
    """Which tetrahedra (n, 4, 3) any of the triangles (m, 3, 3) reaches into deeper than `depth`, bool (n,)."""
    result = np.zeros(len(shape), bool)
    if len(faces) and len(shape):
        for tetrahedron, face in meeting(boxes_of(shape), boxes_of(faces)):
            left = ~result[tetrahedron]
            tetrahedron, face = tetrahedron[left], face[left]
            for start in range(0, len(face), PAIRS_AT_ONCE):
                part = slice(start, start + PAIRS_AT_ONCE)
                inside = passes_through(faces[face[part]], shape[tetrahedron[part]], depth)
                result[tetrahedron[part][inside]] = True
    return result


def passes_through(faces: np.ndarray, shape: np.ndarray, depth: float = 0.0) -> np.ndarray:
    """Whether each triangle (n, 3, 3) reaches into the tetrahedron (n, 4, 3) of its row, bool (n,), by more than
    `depth`; touching it isn't enough.

    The separating axis test for two convex shapes.
    """
    least = depth + 1e-12 * max(np.abs(shape).max(initial=1.0), np.abs(faces).max(initial=1.0))
    sides = np.roll(faces, -1, axis=1) - faces
    edges = shape[:, EDGES[:, 1]] - shape[:, EDGES[:, 0]]
    result = _meet(cross(sides[:, 0], sides[:, 1]), faces, shape, least)
    for one, two in ((0, 1), (0, 2), (1, 2), (3, 4)):
        result &= _meet(cross(edges[:, one], edges[:, two]), faces, shape, least)
    rows = np.flatnonzero(result)  # few are left to be asked about the other axes
    faces, shape, sides, edges = faces[rows], shape[rows], sides[rows], edges[rows]
    for edge in range(len(EDGES)):
        for side in range(3):
            result[rows] &= _meet(cross(edges[:, edge], sides[:, side]), faces, shape, least)
    return result


def _meet(axis: np.ndarray, faces: np.ndarray, shape: np.ndarray, least: float) -> np.ndarray:
    """Whether triangles and tetrahedra share more than a length along an axis (n, 3), bool (n,); so they do along an
    axis of length 0."""
    length = np.linalg.norm(axis, axis=1)
    one, two = np.einsum("ni,nki->nk", axis, faces), np.einsum("ni,nki->nk", axis, shape)
    shared = np.minimum(one.max(axis=1) - two.min(axis=1), two.max(axis=1) - one.min(axis=1))
    return (shared > least * length) | (length == 0)
