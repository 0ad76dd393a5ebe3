"""A hull's surfaces: how they hang together, what they are called, which way they face.

docs/FORMATS.md, section 3: a hull is one or more closed surfaces, asteroids that face outward and a wall that
faces inward.
"""

from __future__ import annotations

import enum

import numpy as np
from numpy.typing import NDArray

from . import winding
from .arrays import components, narrow, stable_order
from .edges import Edges, undirected_edges
from .fill import crossings
from .triangles import FLATTEST, corners
from .vectors import columns, cross, pick, portions

ROUNDING = 8 * np.finfo(np.float64).eps
"""Of the product of its corners' distances: how far a sixth of their triple product may be off."""


def split(triangles: NDArray[np.integer]) -> NDArray[np.int64]:
    """The surface of each triangle, int64 (n,), numbered from 0 by first triangle. Triangles that share an
    edge belong together."""
    left, right = undirected_edges(triangles).pairs()
    return _numbered(components(len(triangles), left // 3, right // 3))


def names(vertices: NDArray[np.floating], triangles: NDArray[np.integer], surface: np.ndarray) -> list[str]:
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


def volumes(vertices: NDArray[np.floating], triangles: NDArray[np.integer], surface: np.ndarray) -> NDArray[np.float64]:
    """Signed volume of each surface, float64 (s,), in cubic units: positive where the front faces outward, 0 where it
    is no more than what rounding makes of a flat one."""
    count = int(surface.max()) + 1 if len(surface) else 0
    first = np.zeros(count, np.int64)
    first[surface[::-1]] = np.arange(len(surface))[::-1]
    places = columns(vertices).T
    origins = places[np.asarray(triangles)[first, 0]]  # a corner of its own: far from the origin, digits run out
    sixfold, bound = np.empty(len(surface)), np.empty(len(surface))
    for part in portions(len(surface)):
        points = corners(places, triangles[part]) - pick(origins, surface[part])[:, None]
        a, b, c = np.moveaxis(points, 1, 0)
        sixfold[part] = np.einsum("ni,ni->n", a, cross(b, c))
        bound[part] = np.abs(points).sum(axis=2).prod(axis=1)
    volume = np.bincount(surface, sixfold / 6, minlength=count)
    return np.where(np.abs(volume) > ROUNDING * np.bincount(surface, bound, minlength=count), volume, 0.0)


THINNEST = 4 * FLATTEST
"""Of a surface's largest coordinate: what is no thicker encloses nothing, as far as float32 can distinguish."""


def encloses_nothing(
    vertices: NDArray[np.floating], triangles: NDArray[np.integer], surface: np.ndarray
) -> NDArray[np.bool_]:
    """Which surfaces are no thicker than `THINNEST`, bool (s,): their volume is at most that of a sheet of half their
    area."""
    volume = np.abs(volumes(vertices, triangles, surface))
    sizes = np.abs(vertices[np.isfinite(vertices).all(axis=1)])  # what no triangle uses needn't be numbers
    farthest = float(sizes.max(initial=0))
    most = np.bincount(surface, minlength=len(volume)) * 3 * THINNEST * farthest**3  # no triangle has an area above 6
    result = volume <= most
    some = np.flatnonzero(result[surface])
    if not len(some):
        return result
    points = corners(vertices, triangles[some])
    a, b, c = np.moveaxis(points, 1, 0)
    area = np.bincount(surface[some], np.linalg.norm(cross(b - a, c - a), axis=1) / 2, minlength=len(volume))
    largest = np.zeros(len(volume))
    np.maximum.at(largest, surface[some], np.abs(points).max(axis=(1, 2)))
    return result & (volume <= area / 2 * THINNEST * largest)


def orient(triangles: NDArray[np.integer], edges: Edges | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The surface of each triangle as `split` gives it, and which triangles are wound against the rest of theirs,
    bool (n,): the fewer of the two kinds. `edges` are the triangles' own, where they are known.

    None is for a surface that has no two sides, which can't be fixed by flipping triangles.
    """
    count = len(triangles)
    left, right = (edges or undirected_edges(triangles)).pairs()
    numbers = narrow(np.asarray(triangles))
    forward = (numbers < np.roll(numbers, -1, axis=1)).reshape(-1)
    against = forward[left] == forward[right]
    left, right = left // 3, right // 3
    surface = _numbered(components(count, left, right))
    odd = np.zeros(count, bool)
    if against.any():
        # Each triangle twice, as it is and turned: what the edges join agrees.
        roots = components(
            2 * count,
            np.concatenate((left, left + count)),
            np.concatenate((right + count * against, right + count * ~against)),
        )
        as_is, turned = roots[:count], roots[count:]
        odd = as_is > turned
        odd ^= (2 * np.bincount(surface, odd) > np.bincount(surface))[surface]
    return surface, odd


SAMPLES = 2
"""Triangles of a surface that are looked at before all of them are."""


class Facing(enum.IntEnum):
    """RIGHT: the front faces free space. WRONG: the back does. BURIED: rock all around, that of another
    surface among it. OUTSIDE: the same, with nothing around but the solid outside of the grid."""

    RIGHT, WRONG, BURIED, OUTSIDE = range(4)


def facing(
    vertices: NDArray[np.floating], triangles: NDArray[np.integer], surface: np.ndarray, outside_solid: bool
) -> NDArray[np.int64]:
    """What each surface's front faces: `Facing` values, int64 (s,).

    The largest surfaces are judged first, and the others by what those, put right, leave free. An inward
    surface is right where it is in rock all around, an outward one where part of it is in free space.
    """
    volume = volumes(vertices, triangles, surface)
    count = len(volume)
    if not count:
        return np.zeros(0, np.int64)
    order = np.argsort(-np.abs(volume), kind="stable")
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)

    sampled = _sample(surface)
    sampled = sampled[surface[sampled] != order[0]]
    sample = _layers_over(sampled, vertices, triangles, surface, rank)
    lines = np.searchsorted(surface[sampled], np.arange(count + 1))
    result = np.full(count, Facing.RIGHT, np.int64)
    for number in order:
        rock, buried = _rock_over(lines[number], lines[number + 1], sample, result, outside_solid)
        if not (rock < 1).any() and number != order[0]:  # some small part may still look out
            mine = np.flatnonzero(surface == number)
            everything = _layers_over(mine, vertices, triangles, surface, rank)
            rock, buried = _rock_over(0, len(mine), everything, result, outside_solid)
        free = bool((rock < 1).any()) or (number == order[0] and not outside_solid)
        if volume[number] < 0:
            result[number] = Facing.WRONG if free else Facing.RIGHT
        elif not free:
            result[number] = Facing.BURIED if buried else Facing.OUTSIDE
    if (result == Facing.RIGHT).all() or count == 1:
        return result
    return _judged_together(result, winding.measure(vertices, triangles, surface, volume, outside_solid), order)


def _judged_together(facing: np.ndarray, layers: winding.Layers, order: np.ndarray) -> np.ndarray:
    """The same unless fewer surfaces are at fault when all are judged together: a rock may be larger than the wall that
    it pokes into."""
    turned = winding.turn_few(layers, order)
    by_size = np.isin(facing, (Facing.WRONG, Facing.OUTSIDE))
    if winding.cost(layers, turned) >= winding.cost(layers, by_size):
        looks_out = layers.least_in_front(by_size) == 0
        return np.where((facing == Facing.BURIED) & looks_out, Facing.RIGHT, facing)
    least = layers.least_in_front(turned)
    as_is = layers.least_in_front(np.zeros_like(turned))
    in_rock = np.where(layers.beside_rock(), Facing.BURIED, Facing.OUTSIDE)
    result = np.where(least > 0, in_rock, np.where(least < 0, Facing.WRONG, Facing.RIGHT))
    return np.where(turned, np.where((as_is > 0) & ~layers.inward, in_rock, Facing.WRONG), result)


def all_rock(
    vertices: NDArray[np.floating], triangles: NDArray[np.integer], surface: np.ndarray, facing: np.ndarray
) -> bool:
    """Whether the largest surface lies in the solid outside, and no other leaves free space where ships could be."""
    volume = volumes(vertices, triangles, surface)
    if facing[np.abs(volume).argmax()] != Facing.OUTSIDE:
        return False
    layers = winding.measure(vertices, triangles, surface, volume, True)
    as_is = np.zeros(len(volume), bool)
    return bool((layers.least_in_front(as_is) > 0)[~layers.flat].all())


def _sample(surface: np.ndarray) -> np.ndarray:
    """The triangles to look at first, a few of each surface, ordered by surface."""
    sizes = np.bincount(surface, minlength=1)
    rank = np.arange(len(surface)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return stable_order(surface)[rank % np.repeat(np.maximum(sizes // SAMPLES, 1), sizes) == 0]


def _layers_over(
    chosen: np.ndarray,
    vertices: NDArray[np.floating],
    triangles: NDArray[np.integer],
    surface: np.ndarray,
    rank: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Layers of rock that larger surfaces lay over the middle of the chosen triangles.

    Three arrays, ordered by the first: place among the chosen, the larger surface, the layers of that one.
    """
    middle = corners(vertices, triangles[chosen]).mean(axis=1)
    surfaces = len(rank)
    keys, total = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for line, triangle, x, layer in crossings(middle[:, 1:], vertices, triangles):
        larger = rank[surface[triangle]] < rank[surface[chosen[line]]]
        counts = (x < middle[line, 0]) & larger
        keys.append(line[counts] * surfaces + surface[triangle[counts]])
        total.append(layer[counts])
    pairs, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    layers = np.bincount(inverse.reshape(-1), np.concatenate(total), minlength=len(pairs))
    return pairs // surfaces, pairs % surfaces, layers.astype(np.int64)


def _rock_over(
    start: int, stop: int, layers: tuple[np.ndarray, np.ndarray, np.ndarray], facing: np.ndarray, outside_solid: bool
) -> tuple[np.ndarray, bool]:
    """Layers of rock over the chosen triangles from `start` to `stop`, once surfaces judged wrong are put right,
    float64 (n,), and whether any is another surface's."""
    first, last = np.searchsorted(layers[0], (start, stop))
    place, owner, amount = (array[first:last] for array in layers)
    wrong = (facing[owner] == Facing.WRONG) | (facing[owner] == Facing.OUTSIDE)
    signs = np.where(wrong, -amount, amount)
    rock = int(outside_solid) + np.bincount(place - start, signs, minlength=stop - start)
    return rock, bool((signs > 0).any())


def _numbered(roots: np.ndarray) -> np.ndarray:
    """Components, each given by its lowest node, numbered from 0."""
    return (np.cumsum(roots == np.arange(len(roots))) - 1)[roots]
