"""The game's own queries on a hull: a point's cell, a ray, a moving sphere. docs/FORMATS.md, section 9.

They find what the game finds, and so miss what it misses: lists that lack a triangle, spheres too small, cells
whose fill state says that nothing is there. Arithmetic is float64 where the game's is float32.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..formats.mcol import FREE, LISTED, SOLID, Hull
from ..geometry.arrays import expand
from ..geometry.triangles import corners

SLACK = 1e-10
"""A part of the box's size by which planes and edges are met early: rounding must not let a ray slip by."""

MOST_LAYERS = 64
"""So many surfaces a path may leave before it is taken to be in free space."""

Position = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """What the game knows of a point.

    `position` is its cell, where the point lies in the grid, and `number` that cell's number, else None. `state` is
    the fill state, `triangles` int64 (n,) what the cell lists. `solid` is the answer of the inside/outside test.
    """

    position: Position | None
    number: int | None
    state: int
    triangles: np.ndarray
    solid: bool


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """What the game looked at for a ray or a moving sphere, and what it hit.

    first, last   the corners of the box of cells that were visited, both included; None if it misses the grid
    visited       how many cells that are
    listed        int64 (n,): those that hold lists and weren't skipped for their fill state
    opened        int64 (n,): those of them with a list whose sphere was met
    looked_up     int64 (n,): the triangles of the opened lists, each once
    tested        int64 (n,): those of them whose own sphere was met
    triangle      the triangle that was hit, or None
    time          0 at the start, 1 at the end of the movement
    position      float64 (3,): where the ray, or the sphere's centre, is then
    back          whether the triangle was met from its back
    """

    start: np.ndarray
    movement: np.ndarray
    radius: float
    first: Position | None
    last: Position | None
    visited: int
    listed: np.ndarray
    opened: np.ndarray
    looked_up: np.ndarray
    tested: np.ndarray
    triangle: int | None = None
    time: float = 1.0
    position: np.ndarray | None = None
    back: bool = False


def place(hull: Hull, point: np.ndarray) -> Place:
    """Position to cell to triangles, and solid or free, for a point (3,)."""
    point = np.asarray(point, np.float64)
    position = hull.grid.locate(point[None])[0]
    solid = is_solid(hull, point)
    if (position < 0).any() or (position >= hull.grid.dimensions).any():
        state = SOLID if hull.outside_solid else FREE
        return Place(None, None, state, np.zeros(0, np.int64), solid)
    number = int(hull.grid.number(position[None])[0])
    return Place(_position(position), number, int(hull.states[number]), hull.cell_triangles(number), solid)


def is_solid(hull: Hull, point: np.ndarray) -> bool:
    """The inside/outside test. Where triangles are near, a ray to the nearest corner of the box decides: what it
    meets first from the back has the point behind it."""
    point = np.asarray(point, np.float64)
    low, high = hull.grid.minimum.astype(np.float64), hull.grid.maximum.astype(np.float64)
    outside = bool(hull.outside_solid)
    if (point < low).any() or (point > high).any():
        return outside
    position = hull.grid.locate(point[None])[0]
    if (position >= hull.grid.dimensions).any():
        return outside
    state = hull.states[hull.grid.number(position[None])[0]]
    if state != LISTED:
        return bool(state == SOLID)
    corner = np.where(point - low <= high - point, low, high)
    shot = shoot(hull, point, corner - point)
    return outside if shot.triangle is None else shot.back


def shoot(hull: Hull, start: np.ndarray, movement: np.ndarray, radius: float | None = None) -> Shot:
    """A ray, or with a radius a sphere, from `start` (3,) to `start + movement`, in game units.

    A sphere skips cells whose fill state is free, whatever they list; a ray does not.
    """
    start, movement = np.asarray(start, np.float64), np.asarray(movement, np.float64)
    grow = radius or 0.0
    box = _visited(hull, start, movement, grow)
    none = np.zeros(0, np.int64)
    if box is None:
        return Shot(start, movement, grow, None, None, 0, none, none, none, none)
    first, last = box
    position = hull.grid.position(hull.occupied)
    row = np.flatnonzero(((position >= first) & (position <= last)).all(axis=1))
    if radius is not None:
        row = row[hull.states[hull.occupied[row]] != FREE]
    list_rows, lists = expand(hull.first_list[row], hull.list_counts[row])
    met = np.isfinite(_enter(start, movement, hull.list_spheres[lists], grow))
    _, places = expand(hull.list_starts[lists[met]], hull.list_sizes[lists[met]])
    # The game marks a triangle that it has seen; in the order in which it meets them.
    found, seen_first = np.unique(hull.indices[places], return_index=True)
    looked_up = found[np.argsort(seen_first)].astype(np.int64)
    entered = _enter(start, movement, hull.spheres[looked_up], grow)
    near = np.isfinite(entered)
    tested, entered = looked_up[near], entered[near]
    faces = _Faces(corners(hull.vertices, hull.triangles[tested].astype(np.int64)))
    slack = SLACK * float(np.abs((hull.grid.minimum, hull.grid.maximum)).max())
    times = faces.crossed(start, movement, slack) if radius is None else faces.touched(start, movement, grow, slack)
    hit = _first_hit(times, entered)
    shot = Shot(
        start,
        movement,
        grow,
        _position(first),
        _position(last),
        int((last - first + 1).prod()),
        hull.occupied[row],
        hull.occupied[row[np.unique(list_rows[met])]],
        looked_up,
        tested,
    )
    if hit is None:
        return shot
    time = float(times[hit])
    back = bool(faces.normals[hit] @ (movement if radius is None else faces.corners[hit, 0] - start) > 0)
    return replace(shot, triangle=int(tested[hit]), time=time, position=start + time * movement, back=back)


def free_time(hull: Hull, start: np.ndarray, movement: np.ndarray, radius: float = 0.0) -> float:
    """When a path, which may begin in rock or outside a wall, comes into free space, and a sphere that flies it is
    clear of what it comes out of. 0 if it begins there, or never does."""
    start, movement = np.asarray(start, np.float64), np.asarray(movement, np.float64)
    length = float(np.linalg.norm(movement))
    aside = radius + 1e-6 * float((hull.grid.maximum - hull.grid.minimum).max())
    time = 0.0
    for _ in range(MOST_LAYERS):
        shot = shoot(hull, start + time * movement, (1 - time) * movement)
        if shot.triangle is None or not shot.back:
            return time
        face = _Faces(corners(hull.vertices, hull.triangles[[shot.triangle]].astype(np.int64)))
        slope = max(float(face.normals[0] @ movement) / length, 0.1)
        time += shot.time * (1 - time) + aside / slope / length
        if time >= 1:
            return 0.0
    return time


def _position(values: np.ndarray) -> Position:
    x, y, z = (int(value) for value in values)
    return x, y, z


def _visited(hull: Hull, start: np.ndarray, movement: np.ndarray, grow: float) -> tuple[np.ndarray, np.ndarray] | None:
    """First and last cell of the box around both ends, int64 (3,) each; None where it lies beside the grid."""
    ends = np.stack((start, start + movement))
    first, last = hull.grid.locate(np.stack((ends.min(axis=0) - grow, ends.max(axis=0) + grow)))
    dimensions = np.array(hull.grid.dimensions)
    if (last < 0).any() or (first >= dimensions).any():
        return None
    return np.clip(first, 0, dimensions - 1), np.clip(last, 0, dimensions - 1)


def _first_hit(times: np.ndarray, entered: np.ndarray) -> int | None:
    """The row of the first hit. A triangle only counts if its sphere is entered before the best hit so far, which
    makes a difference where a sphere doesn't hold its triangle."""
    best = None
    for row in np.flatnonzero(np.isfinite(times)):
        if best is None or (entered[row] < times[best] and times[row] < times[best]):
            best = int(row)
    return best


def _enter(start: np.ndarray, movement: np.ndarray, spheres: np.ndarray, grow: float = 0.0) -> np.ndarray:
    """Times at which a point enters spheres (..., 4): 0 where it starts inside, inf where it doesn't in 0 to 1."""
    spheres = np.asarray(spheres, np.float64)
    away = start - spheres[..., :3]
    gap = np.einsum("...i,...i->...", away, away) - (spheres[..., 3] + grow) ** 2
    toward = -np.einsum("...i,...i->...", away, np.broadcast_to(movement, away.shape))
    speed = np.einsum("...i,...i->...", movement, movement)
    under_root = toward * toward - speed * gap
    with np.errstate(divide="ignore", invalid="ignore"):
        time = gap / (toward + np.sqrt(np.maximum(under_root, 0)))  # the root that loses no digits
    time = np.where((toward > 0) & (under_root >= 0) & (time <= 1), time, np.inf)
    return np.where(gap <= 0, 0.0, time)


class _Faces:
    """Triangles (n, 3, 3) with what the tests need of them: `normals` (n, 3), 0 for a triangle without area, its
    `edges` (n, 3, 3) from each corner to the next, and `inward` (n, 3, 3), at right angles to edge and normal."""

    def __init__(self, points: np.ndarray) -> None:
        self.corners = points
        self.edges = points[:, [1, 2, 0]] - points
        self.normals = _unit(np.cross(self.edges[:, 0], -self.edges[:, 2]))
        self.inward = _unit(np.cross(self.normals[:, None], self.edges))

    def crossed(self, start: np.ndarray, movement: np.ndarray, slack: float) -> np.ndarray:
        """Times at which a ray goes through, from either side, inf where it doesn't; 0 for one without area."""
        before = self._height(start)
        after = before + self.normals @ movement
        before, after = (np.where(np.abs(height) <= slack, 0.0, height) for height in (before, after))
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where(before == after, 0.0, before / (before - after))
        through = (before * after <= 0) & self._over(start + times[:, None] * movement, slack)
        return np.where(through, times, np.inf)

    def touched(self, start: np.ndarray, movement: np.ndarray, radius: float, slack: float) -> np.ndarray:
        """Times at which a sphere first touches: the face, an edge or a corner, whichever comes first."""
        parts = (self._face_met(start, movement, radius, slack), self._edges_met(start, movement, radius))
        balls = np.concatenate((self.corners, np.full((*self.corners.shape[:2], 1), radius)), axis=2)
        times = np.minimum(np.minimum(*parts), _enter(start, movement, balls).min(axis=1, initial=np.inf))
        times[self._distance(start) <= radius] = 0
        times[~self.normals.any(axis=1)] = 0
        return times

    def _height(self, point: np.ndarray) -> np.ndarray:
        return np.einsum("ni,ni->n", self.normals, point - self.corners[:, 0])

    def _over(self, points: np.ndarray, slack: float) -> np.ndarray:
        """Whether points (n, 3) lie over their triangles, edges included."""
        return (np.einsum("nki,nki->nk", self.inward, points[:, None] - self.corners) >= -slack).all(axis=1)

    def _face_met(self, start: np.ndarray, movement: np.ndarray, radius: float, slack: float) -> np.ndarray:
        """When the sphere's foremost point reaches the plane, if it does so over the triangle."""
        height = self._height(start)
        closing = -np.sign(height) * (self.normals @ movement)
        with np.errstate(divide="ignore", invalid="ignore"):
            times = (np.abs(height) - radius) / closing
        meets = (closing > 0) & (times >= 0) & (times <= 1)
        times = np.where(meets, times, 0.0)
        return np.where(meets & self._over(start + times[:, None] * movement, slack), times, np.inf)

    def _edges_met(self, start: np.ndarray, movement: np.ndarray, radius: float) -> np.ndarray:
        """When the centre enters the tube around an edge, between its ends."""
        length2 = np.einsum("nki,nki->nk", self.edges, self.edges)
        away = start - self.corners
        with np.errstate(divide="ignore", invalid="ignore"):
            along, forward = (np.einsum("nki,nki->nk", self.edges, v) / length2 for v in (away, movement + 0 * away))
        across = away - along[..., None] * self.edges
        sideways = movement - forward[..., None] * self.edges
        gap = np.einsum("nki,nki->nk", across, across) - radius * radius
        toward = -np.einsum("nki,nki->nk", across, sideways)
        under_root = toward * toward - np.einsum("nki,nki->nk", sideways, sideways) * gap
        with np.errstate(divide="ignore", invalid="ignore"):
            times = gap / (toward + np.sqrt(np.maximum(under_root, 0)))
            beside = along + times * forward
        meets = (gap > 0) & (toward > 0) & (under_root >= 0) & (times <= 1) & (beside >= 0) & (beside <= 1)
        return np.where(meets, times, np.inf).min(axis=1, initial=np.inf)

    def _distance(self, point: np.ndarray) -> np.ndarray:
        """How far a point is from each triangle."""
        away = point - self.corners
        length2 = np.einsum("nki,nki->nk", self.edges, self.edges)
        part = np.einsum("nki,nki->nk", self.edges, away) / np.where(length2 > 0, length2, 1)
        gap = away - np.clip(part, 0, 1)[..., None] * self.edges
        nearest = np.sqrt(np.einsum("nki,nki->nk", gap, gap).min(axis=1, initial=np.inf))
        over = self._over(np.broadcast_to(point, (len(away), 3)), 0.0) & self.normals.any(axis=1)
        return np.where(over, np.abs(self._height(point)), nearest)


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) of length 1; those of length 0 stay so."""
    length = np.sqrt(np.einsum("...i,...i->...", vectors, vectors))[..., None]
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
