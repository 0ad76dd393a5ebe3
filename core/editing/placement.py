"""Where the vertices of an edited piece are, and which of them are exactly where the source has them.

A piece comes with a matrix that composes float32 numbers, so its vertices are known up to a rounding error. A vertex
that claims a vertex of the source and lies within that error of it is that vertex.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

EPSILON = float(np.finfo(np.float32).eps)
TURN = 8 * EPSILON
"""How far off a turning or scaling float32 matrix may be, as a part of its largest number: its sines, its cosines and
its inverse are rounded several times."""
STORED = 2 * EPSILON
"""How far off rounded coordinates may be, as a part of the largest: they are multiplied, added up and stored."""
APPLIED = 4 * EPSILON
"""The same where a matrix that turns was applied to them."""
FEW = 1 / 16
"""So many of a piece's vertices, as a part of all, may be so near the source's because the user put them there. Where
there are more, a transform that led back was applied to the piece."""


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """A matrix from a piece's space to the file's, float64 (4, 4), and how far off each of its numbers may be."""

    matrix: np.ndarray
    error: np.ndarray

    def after(self, first: Placement) -> Placement:
        """The placement that applies `first` and then this one."""
        if self is EXACT or first is EXACT:
            return first if self is EXACT else self
        mine, theirs = np.abs(self.matrix), np.abs(first.matrix)
        error = mine @ first.error + self.error @ theirs + self.error @ first.error
        return Placement(self.matrix @ first.matrix, error)


EXACT = Placement(np.eye(4), np.zeros((4, 4)))
"""The placement of what is in the file's space already."""


def rounded(matrix: np.ndarray) -> Placement:
    """The placement of a float32 matrix (4, 4). One that only moves is exact up to the rounding of its last column."""
    matrix = np.asarray(matrix, np.float64)
    if np.array_equal(matrix, EXACT.matrix):
        return EXACT
    error = np.zeros((4, 4))
    if not np.array_equal(matrix[:3, :3], EXACT.matrix[:3, :3]):
        error[:3, :3] = TURN * np.abs(matrix[:3, :3]).max()
    error[:3, 3] = EPSILON * np.abs(matrix[:3, 3]).max()
    return Placement(matrix, error)


def between(outer: np.ndarray, inner: np.ndarray) -> Placement:
    """The placement of the space of `inner` in that of `outer`, for float32 matrices (4, 4) to a third space.

    Raises `numpy.linalg.LinAlgError` where `outer` flattens space.
    """
    one, other = rounded(outer), rounded(inner)
    inverse = np.linalg.inv(one.matrix)
    matrix = np.linalg.solve(one.matrix, other.matrix)
    return Placement(matrix, np.abs(inverse) @ (other.error + one.error @ np.abs(matrix)))


def place(
    local: np.ndarray,
    claims: np.ndarray,
    placement: Placement,
    source: np.ndarray | None = None,
    origin: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Vertices in the file's space, float32 (n, 3), and how far off each may be, float64 (n,), 0 for those that are
    the source's, None where all are exact.

    `local` is float32 (n, 3) and `claims` int64 (n,) numbers of `source`, float32 (m, 3), negative where none. `origin`
    is what the import subtracted from the source's vertices, float64 (3,). A vertex whose bits are as imported moves
    from the source's own coordinates in float64 and is rounded once.
    """
    if source is None or not len(claims) or not len(source):
        return _moved(local, placement, np.zeros(len(local)))
    known = (claims >= 0) & (claims < len(source))
    theirs = source[np.where(known, claims, 0)]
    start = theirs.astype(np.float64) if origin is None else theirs.astype(np.float64) - origin
    imported = known & (start.astype(np.float32).view(np.uint32) == local.view(np.uint32)).all(axis=1)
    if placement is EXACT and origin is None:
        return _settled(local, claims, theirs, known, imported)
    if origin is not None and _only_moves(placement, origin):
        home = start.astype(np.float32)
        settled, slack = _settled(local, claims, home, known, imported)
        return _about_origin(settled, origin, home, theirs, known), slack
    with np.errstate(invalid="ignore", over="ignore"):
        exact = np.where(imported[:, None], start, local.astype(np.float64))
        largest = np.abs(local).max(axis=1)
        if origin is not None:  # moving the origin rounds once more, from where the import put the vertex
            largest = np.maximum(largest, np.abs(start).max(axis=1), where=known, out=largest.copy())
        stored = np.where(imported, 0.0, STORED * largest)
        vertices, slack = _moved(exact, placement, stored)
        if slack is None:
            return vertices, None
        placed = exact @ placement.matrix[:3, :3].T + placement.matrix[:3, 3]
        near = known & (np.abs(placed - theirs).max(axis=1) <= slack)
    vertices[near] = theirs[near]
    slack[near] = 0
    return vertices, slack if slack.any() else None


def pull_inside(vertices: np.ndarray, slack: np.ndarray | None, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Vertices, float32 (n, 3), of which rounding alone puts some beyond a box, float32 (3,) and (3,), on its sides."""
    if slack is None:
        return vertices
    inside = np.clip(vertices, low, high)
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(vertices.astype(np.float64) - inside)
    return np.where(off <= slack[:, None], inside, vertices)


def _moved(local: np.ndarray, placement: Placement, stored: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Vertices moved in float64 and rounded once, for coordinates that may be off by `stored`, (n,)."""
    if placement is EXACT and local.dtype == np.float32:
        return local, None
    with np.errstate(over="ignore", invalid="ignore"):
        exact = np.asarray(local, np.float64)
        vertices = (exact @ placement.matrix[:3, :3].T + placement.matrix[:3, 3]).astype(np.float32)
        reach = np.abs(placement.matrix[:3, :3]).sum(axis=1).max()
        error = (np.abs(exact) @ placement.error[:3, :3].T + placement.error[:3, 3]).max(axis=1, initial=0)
    return vertices, error + reach * stored


def _only_moves(placement: Placement, by: np.ndarray) -> bool:
    """Whether a placement moves by this, float64 (3,), and does nothing else."""
    matrix = EXACT.matrix.copy()
    matrix[:3, 3] = by
    return np.array_equal(placement.matrix, matrix)


def _about_origin(
    settled: np.ndarray, origin: np.ndarray, start: np.ndarray, theirs: np.ndarray, known: np.ndarray
) -> np.ndarray:
    """Vertices of a piece whose origin, float64 (3,), is where the import put it, in the file's space: what nothing
    moves has the source's coordinates."""
    vertices = (settled.astype(np.float64) + origin).astype(np.float32)
    back = known & (settled.view(np.uint32) == start.view(np.uint32)).all(axis=1)
    vertices[back] = theirs[back]
    return vertices


def _settled(
    local: np.ndarray, claims: np.ndarray, theirs: np.ndarray, known: np.ndarray, same: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """Vertices that nothing moves: each coordinate may be off by its own rounding, or by that of the largest one where
    more than a `FEW` are."""
    differs = np.flatnonzero(known & ~same)
    if not len(differs):
        return local, None
    there = theirs[differs].astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(local[differs] - there)
        near = (apart <= STORED * np.abs(there)).all(axis=1)
        slack = APPLIED * np.abs(there).max(axis=1)
        applied = apart.max(axis=1) <= slack
    applied &= ~np.isin(claims[differs], claims[same])  # copies of those that stayed were moved away from them
    every = None
    if np.count_nonzero(applied) > max(1, FEW * len(local)):
        near, every = applied, np.zeros(len(local))
        every[differs] = slack
    vertices = local.copy()
    vertices[differs[near]] = theirs[differs[near]]
    return vertices, every
