"""A hull's surfaces: how they hang together, what they are called, which way they face.

Format notes, section 3: a hull is one or more closed surfaces, asteroids that face outward and a wall that
faces inward.
"""

from __future__ import annotations

import enum

import numpy as np

from .arrays import components
from .fill import crossings
from .geometry import corners, undirected_edges


def split(triangles: np.ndarray) -> np.ndarray:
    """The surface of each triangle, int64 (n,), numbered from 0 by first triangle. Triangles that share an
    edge belong together."""
    _, inverse = undirected_edges(triangles)
    left, right = _neighbours(inverse)
    roots = components(len(triangles), left // 3, right // 3)
    return np.unique(roots, return_inverse=True)[1].reshape(-1)


def names(vertices: np.ndarray, triangles: np.ndarray, surface: np.ndarray) -> list[str]:
    """`wall` for surfaces that face inward (a second one is `wall_02`), `asteroid_01`, … for the others."""
    result, walls, asteroids = [], 0, 0
    for volume in volumes(vertices, triangles, surface):
        if volume < 0:
            walls += 1
            result.append("wall" if walls == 1 else f"wall_{walls:02}")
        else:
            asteroids += 1
            result.append(f"asteroid_{asteroids:02}")
    return result


def volumes(vertices: np.ndarray, triangles: np.ndarray, surface: np.ndarray) -> np.ndarray:
    """Signed volume of each surface, float64 (s,), in cubic units: positive where the front faces outward."""
    count = int(surface.max()) + 1 if len(surface) else 0
    points = corners(vertices, triangles)
    first = np.unique(surface, return_index=True)[1]
    points = points - points[first][:, :1][surface]  # from a corner of its own: far from the origin, digits run out
    a, b, c = np.moveaxis(points, 1, 0)
    return np.bincount(surface, np.einsum("ni,ni->n", a, np.cross(b, c)) / 6, minlength=count)


def inconsistent(triangles: np.ndarray, surface: np.ndarray) -> np.ndarray:
    """Which triangles are wound against the rest of their surface, bool (n,): the fewer of the two kinds.

    All False for a surface that has no two sides, which can't be mended by turning triangles.
    """
    count = len(triangles)
    _, inverse = undirected_edges(triangles)
    left, right = _neighbours(inverse)
    forward = (np.asarray(triangles) < np.asarray(triangles)[:, [1, 2, 0]]).reshape(-1)
    against = forward[left] == forward[right]
    left, right = left // 3, right // 3
    # Each triangle twice, as it is and turned: what the edges join agrees.
    roots = components(
        2 * count,
        np.concatenate((left, left + count)),
        np.concatenate((right + count * against, right + count * ~against)),
    )
    as_is, turned = roots[:count], roots[count:]
    kind = as_is > turned
    kind[as_is == turned] = False
    sizes = np.bincount(surface, minlength=1)
    odd = np.bincount(surface, kind, minlength=1)
    return kind ^ (2 * odd > sizes)[surface]


class Facing(enum.IntEnum):
    """RIGHT: the front faces free space. WRONG: the back does. BURIED: rock all around, that of another
    surface among it. OUTSIDE: the same, with nothing around but the solid outside of the grid."""

    RIGHT, WRONG, BURIED, OUTSIDE = range(4)


def facing(vertices: np.ndarray, triangles: np.ndarray, surface: np.ndarray, outside_solid: bool) -> np.ndarray:
    """What each surface's front faces: `Facing` values, int64 (s,).

    The largest surfaces are judged first, and the others by what those, put right, leave free. An inward
    surface is right where it is in rock all around, an outward one where part of it is in free space.
    """
    volume = volumes(vertices, triangles, surface)
    count = len(volume)
    order = np.argsort(-np.abs(volume), kind="stable")
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)

    points, owners, surrounding, layers = _layers_around(vertices, triangles, surface, rank)
    by_owner = np.argsort(rank[owners], kind="stable")
    points, owners, surrounding, layers = (a[by_owner] for a in (points, owners, surrounding, layers))
    bounds = np.searchsorted(rank[owners], np.arange(count + 1))
    triangle_count = np.bincount(surface, minlength=count)
    result = np.full(count, Facing.RIGHT, np.int64)
    for place, number in enumerate(order):
        mine = slice(bounds[place], bounds[place + 1])
        turned = np.isin(result[surrounding[mine]], (Facing.WRONG, Facing.OUTSIDE))
        signs = np.where(turned, -layers[mine], layers[mine])
        covered, inverse = np.unique(points[mine], return_inverse=True)
        rock = np.full(triangle_count[number], int(outside_solid))
        rock[: len(covered)] += np.bincount(inverse.reshape(-1), signs, minlength=len(covered)).astype(np.int64)
        free = bool((rock < 1).any())
        if volume[number] < 0:
            result[number] = Facing.WRONG if free else Facing.RIGHT
        elif not free:
            result[number] = Facing.BURIED if (signs > 0).any() else Facing.OUTSIDE
    return result


def _layers_around(vertices: np.ndarray, triangles: np.ndarray, surface: np.ndarray, rank: np.ndarray):
    """Layers of rock that larger surfaces lay over the middle of each triangle.

    Four arrays: triangle, its surface, the larger surface, the layers of that one.
    """
    middle = corners(vertices, triangles).mean(axis=1)
    keys, total = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    surfaces = len(rank)
    for line, triangle, x, layer in crossings(middle[:, 1:], vertices, triangles):
        counts = (x < middle[line, 0]) & (rank[surface[triangle]] < rank[surface[line]])
        keys.append(line[counts] * surfaces + surface[triangle[counts]])
        total.append(layer[counts])
    pairs, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    layers = np.bincount(inverse.reshape(-1), np.concatenate(total), minlength=len(pairs))
    points = pairs // surfaces
    return points, surface[points], pairs % surfaces, layers


def _neighbours(inverse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of triangle sides, each numbered 3 t + side, that are the same edge."""
    order = np.argsort(inverse, kind="stable")
    same = inverse[order][1:] == inverse[order][:-1]
    return order[:-1][same], order[1:][same]
