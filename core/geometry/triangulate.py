"""Faces of any number of corners, convex or not, cut into triangles in their own plane."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import expand, place_keys
from .triangles import FLATTEST
from .vectors import cross

BENT = 1e-4
"""A face isn't flat where a corner is farther from its plane than this part of its extent, ..."""
ROUNDED = 4e-6
"""... and than this part of its largest coordinate, which is how many digits other programs write."""

EXACT = 1e-12
"""What rounding may add to a doubled area, as a part of the square of the face's extent."""

MOST_CORNERS = 10_000
"""Corners of a face that isn't convex: beyond, cutting it takes minutes."""

PAIRS_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Faces cut into triangles.

    triangles   int64 (t, 3): vertex numbers, the way around is the face's
    faces       int64 (t,): the face of each, ascending
    bent        int64: faces that aren't flat, so that another cut would be another shape
    crossing    int64: faces whose outline crosses or touches itself so that no cut is right; they have no triangles
    """

    triangles: NDArray[np.int64]
    faces: NDArray[np.int64]
    bent: NDArray[np.int64]
    crossing: NDArray[np.int64]


def triangulate(vertices: NDArray[np.floating], corners: np.ndarray, sizes: np.ndarray) -> Cut:
    """Cuts faces into triangles: vertices (n, 3), the faces' corners in a row as vertex numbers, int64 (c,), and how
    many each face has, int64 (f,), 3 or more.

    Where it is right, all triangles of a face begin at its first corner. Other faces are cut ear by ear, the roundest
    first. Corners at the same place one behind the other count as one. A face without any area keeps its triangles
    without area.
    """
    faces = np.arange(len(sizes))
    if (sizes == 3).all():
        none = np.zeros(0, np.int64)
        return Cut(corners.reshape(-1, 3), faces, none, none)
    corners, sizes = _without_repeats(vertices, corners, sizes)
    triangles, owners = _fans(corners, sizes)
    points = np.asarray(vertices, np.float64)
    fanned, bent, normals = _judge(points, corners, sizes, triangles, owners)
    if fanned.all():
        return Cut(triangles, owners, np.flatnonzero(bent), np.zeros(0, np.int64))
    kept = fanned[owners]
    parts, numbers, crossing = [triangles[kept]], [owners[kept]], []
    starts = np.cumsum(sizes) - sizes
    for face in np.flatnonzero(~fanned).tolist():
        own = corners[starts[face] : starts[face] + sizes[face]]
        cut = _cut(points[own], normals[face], bool(bent[face]))
        if cut is None:
            crossing.append(face)
        else:
            parts.append(own[cut])
            numbers.append(np.full(len(cut), face))
    owners = np.concatenate(numbers)
    order = np.argsort(owners, kind="stable")
    return Cut(np.concatenate(parts)[order], owners[order], np.flatnonzero(bent), np.array(crossing, np.int64))


def _without_repeats(
    vertices: NDArray[np.floating], corners: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Faces of more than three corners without those that are where the one before them is."""
    place = np.unique(place_keys(vertices), return_inverse=True)[1].reshape(-1)[corners]
    ends = np.cumsum(sizes)
    before = np.arange(-1, len(corners) - 1)
    before[ends - sizes] = ends - 1
    owners = np.repeat(np.arange(len(sizes)), sizes)
    fresh = (place != place[before]) | (sizes == 3)[owners]
    left = np.bincount(owners, fresh, minlength=len(sizes)).astype(np.int64)
    fresh |= (left < 3)[owners]  # nothing but a line or a point: it stays as it is
    return corners[fresh], np.bincount(owners[fresh], minlength=len(sizes))


def _fans(corners: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Triangles around each face's first corner, and the face of each."""
    first = np.cumsum(sizes) - sizes
    owners, second = expand(first + 1, sizes - 2)
    return np.stack((corners[first[owners]], corners[second], corners[second + 1]), axis=-1), owners


def _judge(
    points: NDArray[np.floating],
    corners: np.ndarray,
    sizes: np.ndarray,
    triangles: NDArray[np.integer],
    owners: np.ndarray,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Which faces the fan around the first corner is right for, which aren't flat, bool (f,) each, and the faces'
    normals (f, 3), of length 1 or 0."""
    starts = np.cumsum(sizes) - sizes
    face = np.repeat(np.arange(len(sizes)), sizes)
    own = points[corners]
    arms = own - points[corners[starts]][face]
    extent = np.maximum.reduceat(np.abs(arms).max(axis=1), starts)
    farthest = np.maximum.reduceat(np.abs(own).max(axis=1), starts)

    fan = points[triangles]
    areas = cross(fan[:, 1] - fan[:, 0], fan[:, 2] - fan[:, 0])
    fan_starts = np.cumsum(sizes - 2) - (sizes - 2)
    normals = np.add.reduceat(areas, fan_starts)
    lengths = np.linalg.norm(normals, axis=1)
    least = FLATTEST * extent * np.maximum(extent, farthest)
    level = lengths <= least
    normals = np.where(level[:, None], 0.0, normals / np.where(level, 1.0, lengths)[:, None])
    in_front = np.einsum("ni,ni->n", areas, normals[owners]) > least[owners]
    convex = _turns(own, sizes, starts, normals[face]) >= -least[face]
    # The diagonal of four corners needs no more than a triangle on each side.
    right = np.logical_and.reduceat(in_front, fan_starts) & ((sizes == 4) | np.logical_and.reduceat(convex, starts))
    # Nothing but a line, which has no triangle with an area.
    line = level & (np.maximum.reduceat(np.linalg.norm(areas, axis=1), fan_starts) <= least)
    middle = np.add.reduceat(arms, starts) / sizes[:, None]
    height = np.abs(np.einsum("ni,ni->n", arms - middle[face], normals[face]))
    bent = np.maximum.reduceat(height, starts) > np.maximum(BENT * extent, ROUNDED * farthest)
    return right | line | (sizes == 3), bent, normals


def _turns(
    own: np.ndarray, sizes: np.ndarray, starts: np.ndarray, normals: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Twice the area of the triangle at each corner, seen from the front, float64 (c,): negative where the outline
    turns outward."""
    ends = starts + sizes - 1
    after = np.arange(1, len(own) + 1)
    after[ends] = starts
    before = np.arange(-1, len(own) - 1)
    before[starts] = ends
    return np.einsum("ni,ni->n", cross(own - own[before], own[after] - own), normals)


# --- one face -------------------------------------------------------------------------------------


def _cut(points: NDArray[np.floating], normal: np.ndarray, bent: bool) -> np.ndarray | None:
    """Triangles, int64 (t, 3), of one face with the corners (n, 3); None where its outline crosses itself."""
    if not normal.any() or len(points) > MOST_CORNERS:
        return None
    flat = _in_plane(points - points.mean(axis=0), normal)
    farthest = float(np.abs(points).max())
    if not bent and _crosses_itself(flat, farthest):
        return None
    places = np.unique(place_keys(points.astype(np.float32)), return_inverse=True)[1].reshape(-1)
    return _Ears(flat, places, farthest).clip(force=bent)


def _in_plane(points: NDArray[np.floating], normal: np.ndarray) -> np.ndarray:
    """The points as they are seen from in front of a plane, (n, 2)."""
    aside = np.zeros(3)
    aside[np.abs(normal).argmin()] = 1.0
    right = np.cross(aside, normal)
    right /= np.linalg.norm(right)
    return np.stack((points @ right, points @ np.cross(normal, right)), axis=1)


def _crosses_itself(points: NDArray[np.floating], farthest: float) -> bool:
    """Whether two sides of a polygon (n, 2) cross each other, beyond what rounding makes of sides that touch."""
    count = len(points)
    ends = np.roll(points, -1, axis=0)
    sides = ends - points
    lengths = np.hypot(*sides.T)
    nothing = 4 * FLATTEST * lengths * np.maximum(lengths, farthest)
    step = max(PAIRS_AT_ONCE // count, 1)
    for first in range(0, count, step):
        some = slice(first, first + step)
        least = nothing[some, None]
        begins_at, ends_at = (_side_of(points[some], sides[some], place) for place in (points, ends))
        across = (begins_at > least) & (ends_at < -least) | (begins_at < -least) & (ends_at > least)
        begins_at, ends_at = (_side_of(points, sides, place) for place in (points[some], ends[some]))
        least = nothing[:, None]
        back = (begins_at > least) & (ends_at < -least) | (begins_at < -least) & (ends_at > least)
        if (across & back.T).any():
            return True
    return False


def _side_of(begin: np.ndarray, along: np.ndarray, points: NDArray[np.floating]) -> np.ndarray:
    """For each line and each point (n, m): above 0 where the point is on the left of the line."""
    toward_x, toward_y = points[None, :, 0] - begin[:, None, 0], points[None, :, 1] - begin[:, None, 1]
    return along[:, None, 0] * toward_y - along[:, None, 1] * toward_x


class _Ears:
    """Clips corners off a polygon until a triangle is left.

    A corner is an ear where no other lies in its triangle or on its new side. The roundest ear goes first, so that
    points on a line don't end up in a triangle of their own. One that is blocked waits for the corner that blocks it.
    """

    def __init__(self, points: NDArray[np.floating], places: np.ndarray, farthest: float) -> None:
        count = len(points)
        self.points, self.places = points, places
        self.farthest = farthest
        self.before = [*range(-1, count - 1)]
        self.before[0] = count - 1
        self.after = [*range(1, count), 0]
        self.left = count
        self.version = [0] * count
        self.waiting: dict[int, list[int]] = {}
        self.heap: list[tuple[float, int, int]] = []
        self.blocks = np.zeros(count, bool)
        self.careful = True
        self.exact = EXACT * float(np.abs(points).max()) ** 2

    def clip(self, force: bool) -> np.ndarray | None:
        """The triangles, int64 (n - 2, 3). None where no ear is left, unless `force` takes any corner then."""
        triangles: list[Sequence[int]] = []
        for corner in range(len(self.points)):
            self._look_at(corner)
        while self.left > 3:
            ear = self._next()
            if ear is None and self.careful:
                self.careful = False  # a corner beside a new side blocks it no longer, unless it is in the triangle
                self._look_at_all()
                continue
            if ear is None:
                if not force:
                    return None
                ear = max(self._around(), key=lambda one: self._quality(one)[1])
            triangles.append((self.before[ear], ear, self.after[ear]))
            self._remove(ear)
        triangles.append(self._around())
        return np.array(triangles, np.int64)

    def _around(self) -> list[int]:
        corner = next(corner for corner, after in enumerate(self.after) if after >= 0)
        result = [corner]
        while (corner := self.after[corner]) != result[0]:
            result.append(corner)
        return result

    def _quality(self, corner: int) -> tuple[float, float]:
        """Twice the area of a corner's triangle, and that area beside the square of its longest side."""
        (ax, ay), (bx, by), (cx, cy) = self.points[[self.before[corner], corner, self.after[corner]]].tolist()
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        longest = max((bx - ax) ** 2 + (by - ay) ** 2, (cx - bx) ** 2 + (cy - by) ** 2, (cx - ax) ** 2 + (cy - ay) ** 2)
        return area, area / longest if longest else -1.0

    def _tolerance(self, length: float) -> float:
        """How far a point may be from a side of this length, times the length, to make a triangle without area."""
        return 4 * FLATTEST * length * max(length, self.farthest) if self.careful else self.exact

    def _look_at(self, corner: int) -> None:
        area, quality = self._quality(corner)
        self.version[corner] += 1
        a, c = self.points[[self.before[corner], self.after[corner]]]
        was, self.blocks[corner] = self.blocks[corner], area <= self._tolerance(float(np.hypot(*(c - a))))
        if was and not self.blocks[corner]:
            self._release(corner)
        if area > self.exact:
            heapq.heappush(self.heap, (-quality, corner, self.version[corner]))

    def _look_at_all(self) -> None:
        self.heap.clear()
        self.waiting.clear()
        for corner in self._around():
            self._look_at(corner)

    def _release(self, blocker: int) -> None:
        for corner in self.waiting.pop(blocker, []):
            if self.after[corner] >= 0:
                self._look_at(corner)

    def _next(self) -> int | None:
        while self.heap:
            _, corner, version = heapq.heappop(self.heap)
            if self.after[corner] < 0 or version != self.version[corner]:
                continue
            blocker = self._blocker(corner)
            if blocker is None:
                return corner
            self.waiting.setdefault(blocker, []).append(corner)
        return None

    def _blocker(self, corner: int) -> int | None:
        """A corner in the triangle of another one, or on its new side."""
        ring = [self.before[corner], corner, self.after[corner]]
        others = np.flatnonzero(self.blocks)
        for place in self.places[ring]:
            others = others[self.places[others] != place]
        triangle = self.points[ring]
        sides = np.roll(triangle, -1, axis=0) - triangle
        inside = _side_of(triangle, sides, self.points[others])
        new_side = -self._tolerance(float(np.hypot(*sides[2])))
        found = (inside[0] >= -self.exact) & (inside[1] >= -self.exact) & (inside[2] >= new_side)
        return int(others[found.argmax()]) if found.any() else None

    def _remove(self, corner: int) -> None:
        before, after = self.before[corner], self.after[corner]
        self.after[before], self.before[after] = after, before
        self.after[corner] = -1
        self.left -= 1
        self.blocks[corner] = False
        self._look_at(before)
        self._look_at(after)
        self._release(corner)
