"""The smallest spheres around triangles. docs/FORMATS.md, section 3, "Spheres of triangles"."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .triangles import corners
from .vectors import columns, cross, portions, squared

TRIANGLE_MARGIN = 1.0001
"""What the game's builder multiplies the radius of a triangle's smallest sphere by."""

LIST_MARGIN = 1.001
"""The same for the sphere around the triangles of a cell."""


GROUPS_AT_ONCE = 8192


# --- smallest enclosing spheres -------------------------------------------------------------------


def triangle_spheres(vertices: NDArray[np.floating], triangles: NDArray[np.integer]) -> NDArray[np.float32]:
    """Centre and radius of the smallest sphere around each triangle, float32 (n, 4), radius x 1.0001."""
    places = columns(vertices).T
    spheres = np.zeros((len(triangles), 4), np.float32)
    for part in portions(len(triangles)):
        spheres[part] = _spheres_around(corners(places, triangles[part]))
    return spheres


def _spheres_around(points: NDArray[np.floating]) -> np.ndarray:
    """The same for corners (n, 3, 3)."""
    a, b, c = np.moveaxis(points, 1, 0)
    ab, ac = b - a, c - a
    sides = np.stack((squared(c - b), squared(ac), squared(ab)))
    centre = a + _circumcentre(ab, ac)
    with np.errstate(invalid="ignore"):
        obtuse = ~(2 * sides.max(axis=0) < sides.sum(axis=0)) | ~np.isfinite(squared(centre))
    rows = np.flatnonzero(obtuse)
    longest = sides[:, rows].argmax(axis=0)
    centre[rows] = (points[rows, (longest + 1) % 3] + points[rows, (longest + 2) % 3]) / 2
    spheres = np.zeros((len(points), 4), np.float32)
    spheres[:, :3] = centre
    centre = columns(spheres[:, :3]).T
    reach2 = np.maximum(np.maximum(squared(a - centre), squared(b - centre)), squared(c - centre))
    spheres[:, 3] = np.sqrt(reach2) * TRIANGLE_MARGIN
    return spheres


def group_spheres(points: NDArray[np.floating], starts: np.ndarray) -> NDArray[np.float32]:
    """Centre and radius of the smallest sphere around each group of points, float32 (g, 4), radius x 1.001.

    `points` float64 (p, 3) in a row; group i is points[starts[i]:starts[i + 1]], none empty.
    """
    spheres = np.zeros((len(starts), 4), np.float32)
    ends = np.append(starts, len(points))
    for first in range(0, len(starts), GROUPS_AT_ONCE):
        last = min(first + GROUPS_AT_ONCE, len(starts))
        part = columns(points[ends[first] : ends[last]]).T
        local = ends[first:last] - ends[first]
        spheres[first:last] = _rounded_spheres(_smallest_centres(part, local), part, local)
    return spheres


def _smallest_centres(points: NDArray[np.floating], starts: np.ndarray) -> NDArray[np.float64]:
    """Centres of the smallest enclosing spheres, float64 (g, 3), all groups at once.

    Each group keeps a support of up to four points that determine its sphere. The farthest point outside
    joins, the smallest sphere around the five at most is found by trying, and its points are the new
    support. The radius grows with every step, so no support comes twice and the method ends.
    """
    sizes = np.diff(np.append(starts, len(points)))
    centre = points[starts].copy()
    radius2 = np.zeros(len(starts))
    support = np.repeat(centre[:, None], 4, axis=1)
    support_size = np.ones(len(starts), np.int64)
    active = np.arange(len(starts))
    while len(active):
        first = np.cumsum(sizes) - sizes
        distance2 = _squared_distances(points, centre[active], sizes)
        farthest2 = np.maximum.reduceat(distance2, first)
        grows = farthest2 > radius2[active] * (1 + 1e-12)
        farthest = np.flatnonzero(distance2 == np.repeat(farthest2, sizes))
        farthest = farthest[np.searchsorted(farthest, first[grows])]
        better = np.zeros(len(active), bool)
        better[grows] = _grow(points[farthest], active[grows], support, support_size, centre, radius2)
        points = points.T.compress(np.repeat(better, sizes), axis=1).T
        active, sizes = active[better], sizes[better]
    return centre


_SUBSETS = [
    [np.array(list(combinations(range(size), count))) for count in range(1, min(size, 3) + 1)] for size in range(5)
]
"""Which of a support's points may determine the next sphere, by the support's size: one, two or three of them."""

_MEMBERS = [
    np.array([(*subset, *(size,) * (4 - len(subset))) for subsets in _SUBSETS[size] for subset in subsets.tolist()])
    for size in range(5)
]
"""The same in a row, each with the point that joins, numbered behind the support's."""


def _grow(
    outside: np.ndarray,
    groups: np.ndarray,
    support: np.ndarray,
    support_size: np.ndarray,
    centre: NDArray[np.floating],
    radius2: np.ndarray,
) -> NDArray[np.bool_]:
    """Gives the groups the smallest sphere around their support and a point outside, (g, 3), bool (g,): whether
    it is larger. Where it isn't, rounding has the last word; the radius is measured afterwards."""
    better = np.zeros(len(groups), bool)
    sizes = support_size[groups]
    for size in range(1, 5):
        rows = np.flatnonzero(sizes == size)
        if not len(rows):
            continue
        numbers, point = groups[rows], outside[rows]
        arms = support[numbers, :size] - point[:, None]
        offsets = np.concatenate(
            [_centre_through([arms[:, column] for column in subsets.T]) for subsets in _SUBSETS[size]], axis=1
        )
        with np.errstate(invalid="ignore", over="ignore"):
            offset2 = squared(offsets)
            reach2 = squared(arms[:, None] - offsets[:, :, None]).max(axis=2)
            offset2[~(reach2 <= offset2 * (1 + 1e-10))] = np.inf
        chosen = offset2.argmin(axis=1)
        best2 = offset2[np.arange(len(rows)), chosen]
        larger = np.isfinite(best2) & (best2 > radius2[numbers])
        better[rows] = larger
        numbers, point, chosen, best2 = numbers[larger], point[larger], chosen[larger], best2[larger]
        everything = np.concatenate((support[numbers, :size], point[:, None]), axis=1)
        support[numbers] = np.take_along_axis(everything, _MEMBERS[size][chosen][:, :, None], axis=1)
        support_size[numbers] = (_MEMBERS[size] < size).sum(axis=1)[chosen] + 1
        centre[numbers], radius2[numbers] = point + offsets[larger, chosen], best2
    return better


def _centre_through(arms: list[np.ndarray]) -> np.ndarray:
    """From a point to the centre of the smallest sphere through it and the ends of one to three arms, (…, 3)."""
    if len(arms) == 1:
        return arms[0] / 2
    return _circumcentre(*arms) if len(arms) == 2 else _circumcentre_of_four(*arms)


def _circumcentre(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """From one corner of a triangle to the centre of the circle through all three; u, v lead to the others."""
    normal = cross(u, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        towards = squared(u)[..., None] * v - squared(v)[..., None] * u
        return cross(towards, normal) / (2 * squared(normal))[..., None]


def _circumcentre_of_four(u: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The same for a tetrahedron."""
    across = cross(v, w)
    volume = (u * across).sum(axis=-1)
    total = squared(u)[..., None] * across + squared(v)[..., None] * cross(w, u) + squared(w)[..., None] * cross(u, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        return total / (2 * volume)[..., None]


def _rounded_spheres(centre: NDArray[np.floating], points: NDArray[np.floating], starts: np.ndarray) -> np.ndarray:
    """Spheres as float32 (g, 4): the radius is measured from the rounded centre, so that nothing sticks out."""
    spheres = np.zeros((len(centre), 4), np.float32)
    spheres[:, :3] = centre
    if len(centre):
        sizes = np.diff(np.append(starts, len(points)))
        reach2 = np.maximum.reduceat(_squared_distances(points, columns(spheres[:, :3]).T, sizes), starts)
        spheres[:, 3] = np.sqrt(reach2) * LIST_MARGIN
    return spheres


def _squared_distances(
    points: NDArray[np.floating], centres: NDArray[np.floating], sizes: np.ndarray
) -> NDArray[np.float64]:
    """From the points (p, 3) to the centres of their groups, (g, 3), float64 (p,)."""
    total = np.zeros(len(points))
    for axis in range(3):
        apart = points[:, axis] - np.repeat(centres[:, axis], sizes)
        apart *= apart
        total += apart
    return total
