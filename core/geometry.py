"""Triangles and the spheres around them, over whole arrays. Format notes, section 3, "How the builder works"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from .arrays import narrow

TRIANGLE_MARGIN = 1.0001
"""What the game's builder multiplies the radius of a triangle's smallest sphere by."""

LIST_MARGIN = 1.001
"""The same for the sphere around the triangles of a cell."""

FLATTEST = 2.0**-23
"""The last place of a float32. A triangle has no area where its height is less than this part of its longest
side, or of its largest coordinate: then rounding alone keeps its corners off one line."""

SMALLEST = 1e-19
"""An area below this has a square that float32 can't hold: the game finds no normal."""

TRIANGLES_AT_ONCE = 8192

GROUPS_AT_ONCE = 8192

SKEW = np.array([0.53779, 0.73127, 0.41983])
"""A direction of length 1 along which the corners of made things rarely line up."""


def portions(count: int) -> Iterator[slice]:
    """Cuts so many triangles into portions. What is computed for one fits into the processor's cache."""
    return (slice(first, first + TRIANGLES_AT_ONCE) for first in range(0, count, TRIANGLES_AT_ONCE))


def columns(points: np.ndarray) -> np.ndarray:
    """The coordinates of points (n, 3), float64 (3, n): each axis in a row of its own is faster to go through."""
    return np.asarray(points, np.float64, order="F").T


def corners(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The triangles' corners, float64 (n, 3, 3); in memory each coordinate of each corner is a column."""
    return columns(vertices).take(np.asarray(triangles).T, axis=1).transpose(2, 1, 0)


def pick(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """These rows of an array (n, 3), as columns in memory."""
    return np.asarray(vectors).T.take(rows, axis=1).T


def with_own_vertices(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Some triangles, int64 (n, 3), with no vertices but those that they use, in the same order."""
    used = np.zeros(len(vertices), bool)
    used[triangles] = True
    return vertices[used], (np.cumsum(used) - 1)[triangles]


def bounds(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The boxes of triangles with the corners (n, 3, 3): lowest and highest coordinates, (n, 3) each."""
    a, b, c = np.moveaxis(points, 1, 0)
    return np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)


def extremes(low: np.ndarray, high: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least `low` and the greatest `high` of the corners of triangles (n, 3), given those of each vertex,
    (…, nv): (…, n) each. Of numbers that ascend with a coordinate, these are the ones of the triangles' boxes."""
    a, b, c = np.moveaxis(low.take(np.asarray(triangles).T, axis=-1), -2, 0)
    d, e, f = np.moveaxis(high.take(np.asarray(triangles).T, axis=-1), -2, 0)
    return np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(d, e), f)


def cross(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The cross products of vectors (…, 3); numpy's own takes several times as long."""
    result = np.empty_like(u)
    for axis in range(3):
        one, two = (axis + 1) % 3, (axis + 2) % 3
        np.multiply(u[..., one], v[..., two], out=result[..., axis])
        result[..., axis] -= u[..., two] * v[..., one]
    return result


def repeated(triangles: np.ndarray) -> np.ndarray:
    """Which triangles (n, 3) use a vertex twice, bool (n,)."""
    a, b, c = np.asarray(triangles).T
    return (a == b) | (b == c) | (c == a)


def doubled(triangles: np.ndarray) -> np.ndarray:
    """Which triangles have the same three vertices as another, either way around, bool (n,)."""
    a, b, c = np.sort(narrow(np.asarray(triangles)), axis=1).T
    order = np.lexsort((c, b, a))
    same = np.ones(max(len(order) - 1, 0), bool)
    for column in (a, b, c):
        same &= column[order[1:]] == column[order[:-1]]
    result = np.zeros(len(order), bool)
    result[order[1:][same]] = result[order[:-1][same]] = True
    return result


def flat(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Which triangles have no area, bool (n,). The game reports a hit at time 0 for them."""
    places = columns(vertices).T
    largest = np.abs(places).max(axis=1)
    result = np.zeros(len(triangles), bool)
    with np.errstate(invalid="ignore", over="ignore"):
        for part in portions(len(triangles)):
            farthest = largest.take(triangles[part].T).max(axis=0)
            result[part] = _flat(corners(places, triangles[part]), farthest)
    return result


def _flat(points: np.ndarray, farthest: np.ndarray) -> np.ndarray:
    """The same for corners (n, 3, 3) and the largest coordinate of each triangle, (n,)."""
    a, b, c = np.moveaxis(points, 1, 0)
    ab, bc, ca = b - a, c - b, a - c
    longest = np.sqrt(np.maximum(np.maximum(_squared(ab), _squared(bc)), _squared(ca)))
    twice_area = np.sqrt(_squared(cross(ab, bc)))
    least = FLATTEST * longest * np.maximum(longest, farthest)
    return twice_area <= np.maximum(least, SMALLEST)


def close_pairs(points: np.ndarray, distance: float) -> np.ndarray:
    """Pairs of points (n, 3) that lie no farther apart than a distance, int64 (p, 2), the lower first."""
    points = np.asarray(points, np.float64)
    along = points @ SKEW
    order = np.argsort(along, kind="stable")
    found = [np.zeros((0, 2), np.int64)]
    near = np.arange(len(points) - 1)
    step = 1
    while len(near):
        near = near[near + step < len(points)]
        near = near[along[order[near + step]] - along[order[near]] <= distance]
        pairs = np.stack((order[near], order[near + step]), axis=1)
        apart = points[pairs[:, 0]] - points[pairs[:, 1]]
        found.append(np.sort(pairs[_squared(apart) <= distance * distance], axis=1))
        step += 1
    return np.concatenate(found)


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """The edges of triangles (n, 3), in ascending order.

    ends     unsigned (e, 2): the two vertices, the lower first
    counts   int64 (e,): how many triangles use each
    sides    int64 (3 n,): the sides of the triangles in the order of their edges; 0-1, 1-2, 2-0 of the first triangle
             are 0, 1, 2, then come those of the second
    """

    ends: np.ndarray
    counts: np.ndarray
    sides: np.ndarray

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Sides that are the same edge, int64 (p,) each: one pair for two triangles, two for three, and so on."""
        if (self.counts == 2).all():
            left, right = self.sides.reshape(-1, 2).T
            return left, right
        again = np.ones(len(self.sides), bool)
        again[np.cumsum(self.counts) - self.counts] = False
        return self.sides[:-1][again[1:]], self.sides[again]

    def triangles_at(self, edges: np.ndarray) -> np.ndarray:
        """Which triangles have any of these edges, bool (e,) to bool (n,)."""
        result = np.zeros(len(self.sides) // 3, bool)
        if edges.any():
            result[self.sides[np.repeat(edges, self.counts)] // 3] = True
        return result


def edge_census(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edges, int64 (e, 2) with the lower vertex first, and how many triangles use each, int64 (e,)."""
    edges = undirected_edges(triangles)
    return edges.ends.astype(np.int64), edges.counts


def undirected_edges(triangles: np.ndarray) -> Edges:
    """The edges of triangles (n, 3), whichever way around they are used."""
    triangles = narrow(np.asarray(triangles))
    following = np.roll(triangles, -1, axis=1)
    low, high = np.minimum(triangles, following).ravel(), np.maximum(triangles, following).ravel()
    sides = np.lexsort((high, low))
    low, high = low[sides], high[sides]
    fresh = np.ones(len(sides), bool)
    fresh[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    first = np.flatnonzero(fresh)
    return Edges(np.stack((low[first], high[first]), axis=1), np.diff(first, append=len(sides)), sides)


# --- smallest enclosing spheres -------------------------------------------------------------------


def triangle_spheres(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Centre and radius of the smallest sphere around each triangle, float32 (n, 4), radius x 1.0001."""
    places = columns(vertices).T
    spheres = np.zeros((len(triangles), 4), np.float32)
    for part in portions(len(triangles)):
        spheres[part] = _spheres_around(corners(places, triangles[part]))
    return spheres


def _spheres_around(points: np.ndarray) -> np.ndarray:
    """The same for corners (n, 3, 3)."""
    a, b, c = np.moveaxis(points, 1, 0)
    ab, ac = b - a, c - a
    sides = np.stack((_squared(c - b), _squared(ac), _squared(ab)))
    centre = a + _circumcentre(ab, ac)
    with np.errstate(invalid="ignore"):
        obtuse = ~(2 * sides.max(axis=0) < sides.sum(axis=0)) | ~np.isfinite(_squared(centre))
    rows = np.flatnonzero(obtuse)
    longest = sides[:, rows].argmax(axis=0)
    centre[rows] = (points[rows, (longest + 1) % 3] + points[rows, (longest + 2) % 3]) / 2
    spheres = np.zeros((len(points), 4), np.float32)
    spheres[:, :3] = centre
    centre = columns(spheres[:, :3]).T
    reach2 = np.maximum(np.maximum(_squared(a - centre), _squared(b - centre)), _squared(c - centre))
    spheres[:, 3] = np.sqrt(reach2) * TRIANGLE_MARGIN
    return spheres


def group_spheres(points: np.ndarray, starts: np.ndarray) -> np.ndarray:
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


def _smallest_centres(points: np.ndarray, starts: np.ndarray) -> np.ndarray:
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
    centre: np.ndarray,
    radius2: np.ndarray,
) -> np.ndarray:
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
            offset2 = _squared(offsets)
            reach2 = _squared(arms[:, None] - offsets[:, :, None]).max(axis=2)
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
        towards = _squared(u)[..., None] * v - _squared(v)[..., None] * u
        return cross(towards, normal) / (2 * _squared(normal))[..., None]


def _circumcentre_of_four(u: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The same for a tetrahedron."""
    across = cross(v, w)
    volume = (u * across).sum(axis=-1)
    total = (
        _squared(u)[..., None] * across + _squared(v)[..., None] * cross(w, u) + _squared(w)[..., None] * cross(u, v)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return total / (2 * volume)[..., None]


def _rounded_spheres(centre: np.ndarray, points: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Spheres as float32 (g, 4): the radius is measured from the rounded centre, so that nothing sticks out."""
    spheres = np.zeros((len(centre), 4), np.float32)
    spheres[:, :3] = centre
    if len(centre):
        sizes = np.diff(np.append(starts, len(points)))
        reach2 = np.maximum.reduceat(_squared_distances(points, columns(spheres[:, :3]).T, sizes), starts)
        spheres[:, 3] = np.sqrt(reach2) * LIST_MARGIN
    return spheres


def _squared_distances(points: np.ndarray, centres: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """From the points (p, 3) to the centres of their groups, (g, 3), float64 (p,)."""
    total = np.zeros(len(points))
    for axis in range(3):
        apart = points[:, axis] - np.repeat(centres[:, axis], sizes)
        apart *= apart
        total += apart
    return total


def _squared(vectors: np.ndarray) -> np.ndarray:
    return np.einsum("...i,...i->...", vectors, vectors)
