"""Exact overlap of a triangle with a closed box, and smallest enclosing spheres.

Overlap is decided on the float32 values themselves, in integers of unlimited length: no rounding, no tolerance.
"""

from fractions import Fraction
from itertools import combinations, product
from math import lcm

import numpy as np


def _fraction(value):
    return value if isinstance(value, Fraction) else Fraction(float(value))


def _integers(*rows):
    """The rows, scaled by one common factor that makes every number of them a whole one."""
    rows = [[_fraction(v) for v in row] for row in rows]
    common = lcm(*(v.denominator for row in rows for v in row))
    return [[v.numerator * (common // v.denominator) for v in row] for row in rows]


def overlaps(triangle, box_min, box_max):
    """Whether a triangle (3 rows of 3 numbers) touches the closed box; floats or Fractions.

    Separating axes: three of the box, the triangle's normal, and the nine cross products of their edges. A triangle
    without area needs no case of its own: axes that vanish separate nothing, the others are enough for a segment or a
    point.
    """
    return _touches(*_integers(*triangle, box_min, box_max))


def _touches(a, b, c, low, high):
    # Everything doubled and relative to the box's centre, so that the centre is a whole number as well.
    centre = [v + w for v, w in zip(low, high, strict=True)]
    half = [w - v for v, w in zip(low, high, strict=True)]
    a, b, c = ([2 * v - m for v, m in zip(p, centre, strict=True)] for p in (a, b, c))
    if any(min(a[i], b[i], c[i]) > half[i] or max(a[i], b[i], c[i]) < -half[i] for i in range(3)):
        return False
    edges = [[q - p for p, q in zip(u, v, strict=True)] for u, v in ((a, b), (b, c), (c, a))]
    axes = [_cross(edges[0], edges[1])]
    axes += [_cross(edge, [int(i == k) for k in range(3)]) for edge in edges for i in range(3)]
    for axis in axes:
        reach = sum(h * abs(n) for h, n in zip(half, axis, strict=True))
        along = [sum(n * v for n, v in zip(axis, p, strict=True)) for p in (a, b, c)]
        if min(along) > reach or max(along) < -reach:
            return False
    return True


def _cross(u, v):
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


def cell_box(bbox_min, cell_size, cell):
    """Exact corners (two lists of Fraction) of the closed box of cell (x, y, z)."""
    low = [_fraction(m) + _fraction(s) * i for m, s, i in zip(bbox_min, cell_size, cell, strict=True)]
    return low, [v + _fraction(s) for v, s in zip(low, cell_size, strict=True)]


def cell_lists(vertices, triangles, bbox_min, cell_size, dims):
    """For every cell of the grid, x fastest, the ascending list of triangles that touch its closed box, exactly.

    vertices (nv, 3), triangles (nt, 3); bbox_min, cell_size, dims: three each. The game takes what lies outside the
    grid to the nearest cell along each axis, so the cells at the border have no end there.
    """
    nx, ny, nz = (int(n) for n in dims)
    lists = [[] for _ in range(nx * ny * nz)]
    *points, start, step = _integers(*np.asarray(vertices).tolist(), bbox_min, cell_size)
    for number, triangle in enumerate(np.asarray(triangles).tolist()):
        corners = [points[i] for i in triangle]
        ranges = []
        for axis, n in enumerate((nx, ny, nz)):
            along = [corner[axis] - start[axis] for corner in corners]
            # A corner on a border plane touches the cells on both sides, hence the division rounded up, less one.
            first, last = -(-min(along) // step[axis]) - 1, max(along) // step[axis]
            ranges.append(range(min(max(0, first), n - 1), max(min(n - 1, last), 0) + 1))
        for z, y, x in product(*reversed(ranges)):
            low = [v + s * i for v, s, i in zip(start, step, (x, y, z), strict=True)]
            high = [v + s for v, s in zip(low, step, strict=True)]
            for axis, (cell, n) in enumerate(zip((x, y, z), (nx, ny, nz), strict=True)):
                along = [corner[axis] for corner in corners]
                low[axis] = min(low[axis], *along) if cell == 0 else low[axis]
                high[axis] = max(high[axis], *along) if cell == n - 1 else high[axis]
            if _touches(*corners, low, high):
                lists[(z * ny + y) * nx + x].append(number)
    return lists


def smallest_sphere(points):
    """Centre (3,) and radius of the smallest sphere around at most 12 points (n, 3), by trying every support set."""
    if len(points) > 12:
        raise ValueError("too many points to try every support set; use enclosing_sphere")
    centre, radius, _ = _try_supports(np.asarray(points, dtype=np.float64))
    return centre, radius


def enclosing_sphere(points):
    """The same for any number of points.

    Keeps a support set of up to four points; the farthest point outside joins it and the best support of these five
    is found by trial. The radius grows in each round and there are finitely many supports, so it ends at the optimum.
    """
    points = np.unique(np.asarray(points, dtype=np.float64), axis=0)
    if len(points) <= 5:
        return _try_supports(points)[:2]
    # Any start will do; two points far apart save rounds.
    one = points[np.linalg.norm(points - points[0], axis=1).argmax()]
    support = np.stack([one, points[np.linalg.norm(points - one, axis=1).argmax()]])
    while True:
        centre, radius, chosen = _try_supports(support)
        distance = np.linalg.norm(points - centre, axis=1)
        farthest = int(distance.argmax())
        if distance[farthest] <= radius * (1 + 1e-12) + 1e-300:
            return centre, max(radius, float(distance[farthest]))
        candidates = np.vstack([support[list(chosen)], points[farthest]])
        grown = _try_supports(candidates)[1]
        if grown <= radius:  # rounding has the last word: nothing is gained any more
            return centre, float(distance[farthest])
        support = candidates


def _try_supports(points):
    """Centre, radius and indices of the smallest of all spheres through 1-4 of the points that hold them all."""
    origin = points.mean(axis=0)
    points = points - origin
    scale = np.abs(points).max()
    if scale == 0:
        return origin, 0.0, (0,)
    points = points / scale
    centres, supports = [], []
    for size in (2, 3, 4):
        chosen = np.array(list(combinations(range(len(points)), size)), dtype=int).reshape(-1, size)
        found, usable = _circumcentres(points[chosen])
        centres.append(found)
        supports += [tuple(row) for row in chosen[usable]]
    centres = np.concatenate(centres)
    distance = np.linalg.norm(points - centres[:, None], axis=2)
    radius = np.array([d[list(row)].max() for d, row in zip(distance, supports, strict=True)])
    # Rounding alone puts points outside by some 1e-15; nearly dependent supports may need more.
    for tolerance in (1e-12, 1e-9, 1e-6):
        around = distance.max(axis=1) <= radius + tolerance
        if around.any():
            best = int(np.where(around, radius, np.inf).argmin())
            return origin + centres[best] * scale, float(radius[best] * scale), supports[best]
    raise ArithmeticError("no support set found")


def _circumcentres(points):
    """For sets of points (k, size, 3): which are independent, (k,) bool, and for those the points of their own affine
    hulls at equal distance to all of the set, (usable, 3)."""
    edges = points[:, 1:] - points[:, :1]
    gram = 2 * edges @ edges.transpose(0, 2, 1)
    lengths = np.linalg.norm(edges, axis=2)
    # Scaled rows keep thin triangles solvable: only the angle between the edges decides what counts as dependent.
    scale = np.where(lengths > 0, lengths, 1)
    gram = gram / (scale[:, :, None] * scale[:, None, :])
    usable = np.abs(np.linalg.det(gram)) >= 1e-13
    weights = np.linalg.solve(gram[usable], lengths[usable][:, :, None])[:, :, 0] / lengths[usable]
    return points[usable, 0] + np.einsum("kn,knx->kx", weights, edges[usable]), usable
