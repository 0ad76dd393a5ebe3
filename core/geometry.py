"""Triangles and the spheres around them, over whole arrays. Format notes, section 3, "How the builder works"."""

from __future__ import annotations

import numpy as np

TRIANGLE_MARGIN = 1.0001
"""What the game's builder multiplies the radius of a triangle's smallest sphere by."""

LIST_MARGIN = 1.001
"""The same for the sphere around the triangles of a cell."""

FLATTEST = 2.0**-23
"""The last place of a float32. A triangle has no area where its height is less than this part of its longest
side, or of its largest coordinate: then rounding alone keeps its corners off one line."""

SMALLEST = 1e-19
"""An area below this has a square that float32 can't hold: the game finds no normal."""

GROUPS_AT_ONCE = 8192

SKEW = np.array([0.53779, 0.73127, 0.41983])
"""A direction of length 1 along which the corners of made things rarely line up."""


def corners(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The triangles' corners, float64 (n, 3, 3)."""
    return np.asarray(vertices, np.float64)[triangles]


def repeated(triangles: np.ndarray) -> np.ndarray:
    """Which triangles (n, 3) use a vertex twice, bool (n,)."""
    a, b, c = np.asarray(triangles).T
    return (a == b) | (b == c) | (c == a)


def doubled(triangles: np.ndarray) -> np.ndarray:
    """Which triangles have the same three vertices as another, either way around, bool (n,)."""
    _, inverse, counts = np.unique(np.sort(triangles, axis=1), axis=0, return_inverse=True, return_counts=True)
    return counts[inverse.reshape(-1)] > 1


def flat(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Which triangles have no area, bool (n,). The game reports a hit at time 0 for them."""
    points = corners(vertices, triangles)
    sides = points[:, [1, 2, 0]] - points
    longest = np.sqrt(_squared(sides).max(axis=1, initial=0))
    twice_area = np.sqrt(_squared(np.cross(sides[:, 0], sides[:, 1])))
    least = FLATTEST * longest * np.maximum(longest, np.abs(points).max(axis=(1, 2), initial=0))
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


def edge_census(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edges, int64 (e, 2) with the lower vertex first, and how many triangles use each, int64 (e,)."""
    edges, inverse = undirected_edges(triangles)
    return edges, np.bincount(inverse, minlength=len(edges))


def undirected_edges(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edges, int64 (e, 2) with the lower vertex first, and the edge that each side of each triangle is,
    int64 (3 n,): sides 0-1, 1-2, 2-0 of the first triangle, then of the second."""
    sides = directed_edges(triangles)
    low, high = sides.min(axis=1), sides.max(axis=1)
    span = int(high.max()) + 1 if len(high) else 1
    keys, inverse = np.unique(low * span + high, return_inverse=True)
    return np.stack((keys // span, keys % span), axis=1), inverse.reshape(-1)


def directed_edges(triangles: np.ndarray) -> np.ndarray:
    """The sides 0-1, 1-2, 2-0 of each triangle in turn, int64 (3 n, 2)."""
    triangles = np.asarray(triangles, np.int64)
    return np.stack((triangles, triangles[:, [1, 2, 0]]), axis=2).reshape(-1, 2)


# --- smallest enclosing spheres -------------------------------------------------------------------


def triangle_spheres(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Centre and radius of the smallest sphere around each triangle, float32 (n, 4), radius x 1.0001."""
    points = corners(vertices, triangles)
    a, b, c = np.moveaxis(points, 1, 0)
    sides = np.stack((_squared(b - c), _squared(c - a), _squared(a - b)), axis=1)
    longest = sides.argmax(axis=1)
    middle = np.choose(longest[:, None], ((b + c) / 2, (c + a) / 2, (a + b) / 2))
    round_centre = a + _circumcentre(b - a, c - a)
    obtuse = 2 * sides.max(axis=1) >= sides.sum(axis=1)
    centre = np.where((obtuse | ~np.isfinite(round_centre).all(axis=1))[:, None], middle, round_centre)
    return _rounded_spheres(centre, points.reshape(-1, 3), np.arange(0, 3 * len(points), 3), TRIANGLE_MARGIN)


def group_spheres(points: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Centre and radius of the smallest sphere around each group of points, float32 (g, 4), radius x 1.001.

    `points` float64 (p, 3) in a row; group i is points[starts[i]:starts[i + 1]], none empty.
    """
    spheres = np.zeros((len(starts), 4), np.float32)
    bounds = np.append(starts, len(points))
    for first in range(0, len(starts), GROUPS_AT_ONCE):
        last = min(first + GROUPS_AT_ONCE, len(starts))
        part = points[bounds[first] : bounds[last]]
        local = bounds[first:last] - bounds[first]
        spheres[first:last] = _rounded_spheres(_smallest_centres(part, local), part, local, LIST_MARGIN)
    return spheres


def _smallest_centres(points: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Centres of the smallest enclosing spheres, float64 (g, 3), all groups at once.

    Each group keeps a support of up to four points that determine its sphere. The farthest point outside
    joins, the smallest sphere around the five at most is found by trying, and its points are the new
    support. The radius grows with every step, so no support comes twice and the method ends.
    """
    sizes = np.diff(np.append(starts, len(points)))
    support = np.repeat(points[starts][:, None], 4, axis=1)
    centre = points[starts].copy()
    radius2 = np.zeros(len(starts))
    active = np.arange(len(starts))
    group = np.repeat(np.arange(len(starts)), sizes)
    while len(active):
        distance2 = _squared(points - centre[active][group])
        first = np.cumsum(sizes[active]) - sizes[active]
        farthest2 = np.maximum.reduceat(distance2, first)
        grows = farthest2 > radius2[active] * (1 + 1e-12)
        farthest = np.flatnonzero(distance2 == farthest2[group])
        farthest = farthest[np.searchsorted(farthest, first)]
        outside = points[farthest[grows]]
        active, kept = active[grows], grows[group]
        points = points[kept]
        group = np.repeat(np.arange(len(active)), sizes[active])
        found, larger2, support[active] = _sphere_of_five(outside, support[active])
        better = larger2 > radius2[active]
        centre[active[better]], radius2[active[better]] = found[better], larger2[better]
        if not better.all():  # rounding has the last word here; the radius is measured afterwards
            points = points[better[group]]
            active = active[better]
            group = np.repeat(np.arange(len(active)), sizes[active])
    return centre


_SUBSETS = [
    (0,),
    (1,),
    (2,),
    (3,),
    (0, 1),
    (0, 2),
    (0, 3),
    (1, 2),
    (1, 3),
    (2, 3),
    (0, 1, 2),
    (0, 1, 3),
    (0, 2, 3),
    (1, 2, 3),
]


def _sphere_of_five(point: np.ndarray, support: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The smallest sphere around a point (g, 3) that lies on it and up to four others (g, 4, 3): its centre,
    its squared radius, and the points that determine it, repeated to four."""
    arms = support - point[:, None]
    best2 = np.full(len(point), np.inf)
    best = np.zeros_like(point)
    chosen = np.zeros(len(point), np.int64)
    for number, subset in enumerate(_SUBSETS):
        chosen_arms = [arms[:, i] for i in subset]
        offset = (
            chosen_arms[0] / 2
            if len(subset) == 1
            else _circumcentre(*chosen_arms)
            if len(subset) == 2
            else _circumcentre_of_four(*chosen_arms)
        )
        with np.errstate(invalid="ignore", over="ignore"):
            radius2 = _squared(offset)
            reach2 = _squared(arms - offset[:, None]).max(axis=1)
            good = (reach2 <= radius2 * (1 + 1e-10)) & (radius2 < best2)
        best2[good], best[good], chosen[good] = radius2[good], offset[good], number
    padded = np.array([(*subset, *(4,) * (4 - len(subset))) for subset in _SUBSETS])
    everything = np.concatenate((support, point[:, None]), axis=1)
    new_support = np.take_along_axis(everything, padded[chosen][:, :, None], axis=1)
    return point + best, np.where(np.isfinite(best2), best2, -1.0), new_support


def _circumcentre(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """From one corner of a triangle to the centre of the circle through all three; u, v lead to the others."""
    normal = np.cross(u, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.cross(_squared(u)[:, None] * v - _squared(v)[:, None] * u, normal) / (2 * _squared(normal))[:, None]


def _circumcentre_of_four(u: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The same for a tetrahedron."""
    across = np.cross(v, w)
    volume = (u * across).sum(axis=1)
    total = (
        _squared(u)[:, None] * across + _squared(v)[:, None] * np.cross(w, u) + _squared(w)[:, None] * np.cross(u, v)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return total / (2 * volume)[:, None]


def _rounded_spheres(centre: np.ndarray, points: np.ndarray, starts: np.ndarray, margin: float) -> np.ndarray:
    """Spheres as float32 (g, 4): the radius is measured from the rounded centre, so that nothing sticks out."""
    spheres = np.zeros((len(centre), 4), np.float32)
    spheres[:, :3] = centre
    if len(centre):
        rounded = spheres[:, :3].astype(np.float64)
        sizes = np.diff(np.append(starts, len(points)))
        reach2 = np.maximum.reduceat(_squared(points - np.repeat(rounded, sizes, axis=0)), starts)
        spheres[:, 3] = np.sqrt(reach2) * margin
    return spheres


def _squared(vectors: np.ndarray) -> np.ndarray:
    return np.einsum("...i,...i->...", vectors, vectors)
