"""Which way surfaces should face, judged together by layers of rock. docs/FORMATS.md, section 3.

Layers are winding numbers: 1 inside an outward surface, minus 1 inside an inward one, and 1 everywhere where the
outside is solid. A place is rock where these add up to 1 or more. A surface is where rock begins if somewhere in front
of it the sum is 0. If it is less, there is free space on both sides: a wall that isn't there. If it is more everywhere,
the surface is buried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import expand
from .fill import crossings
from .triangles import corners
from .vectors import bounds, cross

MOST_POINTS = 20_000
"""Points at which all surfaces together are judged."""

FINEST = 8
"""Into so many parts a triangle's side is cut, as long as these are longer than that part of the smallest surface."""

MOST_PAIRS = 6_000_000
PAIRS_AT_ONCE = 1 << 16
NEAR = 1e-4
"""How near to the place where two triangles meet they are looked at, as a part of their sides."""

MOST_TURNED = 64
"""Surfaces that are tried turned around, each by itself: of more, only those at fault."""

CORNERS = np.array([(1, 1, 1), *np.eye(3) * 0.97 * 3 + 0.03, *(1.5 - np.eye(3) * 1.47)]) / 3
"""Weights of a triangle's corners: its middle, and places near its corners and its sides."""


@dataclass(frozen=True, slots=True, eq=False)
class Layers:
    """What all surfaces lay over points on each of them.

    surface   int64 (n,): the surface of each point, ascending
    starts    int64 (s,): each surface's first point
    point, owner, amount   int64 (m,): a point, another surface, and the layers that it lays there
    inward    bool (s,); `flat`, bool (s,): whether a surface has no volume
    """

    surface: NDArray[np.int64]
    starts: NDArray[np.int64]
    point: NDArray[np.int64]
    owner: NDArray[np.int64]
    amount: NDArray[np.int64]
    inward: NDArray[np.bool_]
    flat: NDArray[np.bool_]
    outside_solid: bool

    def least_in_front(self, turned: np.ndarray) -> np.ndarray:
        """The fewest layers in front of each surface, int64 (s,), with some surfaces, bool (s,), turned around."""
        signs = np.where(turned[self.owner], -self.amount, self.amount)
        layers = np.bincount(self.point, signs, minlength=len(self.surface)).astype(np.int64) + self.outside_solid
        least = np.minimum.reduceat(layers, self.starts) - (self.inward != turned)
        return np.where(self.flat, 0, least)

    def beside_rock(self) -> NDArray[np.bool_]:
        """Which surfaces have a point in another's rock, bool (s,)."""
        result = np.zeros(len(self.starts), bool)
        result[self.surface[self.point[self.amount > 0]]] = True
        return result


def measure(
    vertices: NDArray[np.floating],
    triangles: NDArray[np.integer],
    surface: np.ndarray,
    volume: np.ndarray,
    outside_solid: bool,
) -> Layers:
    """The layers over points of all surfaces: vertices (n, 3), triangles (t, 3), the surface of each, int64 (t,), and
    the surfaces' volumes, float64 (s,)."""
    parts = (_points(vertices, triangles, surface), *_meetings(vertices, triangles, surface))
    points, triangle = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    by_surface = np.argsort(surface[triangle], kind="stable")
    points, triangle = points[by_surface], triangle[by_surface]
    mine = surface[triangle]
    count = len(volume)
    keys, total = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for line, crossed, x, layer in crossings(points[:, 1:], vertices, triangles):
        counts = (x < points[line, 0]) & (surface[crossed] != mine[line])
        keys.append(line[counts] * count + surface[crossed[counts]])
        total.append(layer[counts])
    pairs, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    amount = np.bincount(inverse.reshape(-1), np.concatenate(total), minlength=len(pairs)).astype(np.int64)
    pairs, amount = pairs[amount != 0], amount[amount != 0]
    starts = np.searchsorted(mine, np.arange(count))
    return Layers(mine, starts, pairs // count, pairs % count, amount, volume < 0, volume == 0, outside_solid)


def _points(
    vertices: NDArray[np.floating], triangles: NDArray[np.integer], surface: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Points on the triangles, float64 (n, 3), and the triangle of each: some of all, and more of large ones."""
    places = corners(vertices, triangles)
    low, high = bounds(places)
    count = int(surface.max()) + 1
    lowest, highest = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(lowest, surface, low)
    np.maximum.at(highest, surface, high)
    smallest = max(float(np.linalg.norm(highest - lowest, axis=1).min()), 1e-30)
    longest = np.linalg.norm(high - low, axis=1)
    cuts = np.minimum(np.ceil(FINEST * longest / smallest), 1e3)
    fewer = max(1.0, np.sqrt((cuts * cuts).sum() / MOST_POINTS))
    cuts = np.maximum((cuts / fewer).astype(np.int64), 1)
    order = np.argsort(surface, kind="stable")
    triangle, step = expand(np.zeros(len(order), np.int64), cuts[order] ** 2)
    row, column = np.divmod(step, cuts[order][triangle])
    u, v = (row + 0.5) / cuts[order][triangle], (column + 0.5) / cuts[order][triangle]
    over = u + v > 1
    u, v = np.where(over, 1 - u, u), np.where(over, 1 - v, v)
    fine = np.stack((1 - u - v, u, v), axis=1)
    some = CORNERS if len(CORNERS) * len(order) <= 2 * MOST_POINTS else CORNERS[:1]
    weights = np.concatenate((fine, np.tile(some, (len(order), 1))))
    triangle = order[np.concatenate((triangle, np.repeat(np.arange(len(order)), len(some))))]
    return np.einsum("nc,nci->ni", weights, places[triangle]), triangle


def _meetings(
    vertices: NDArray[np.floating], triangles: NDArray[np.integer], surface: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The same around each place where a side of one surface's triangle goes through another's triangle: what lies on
    all sides of it, on both."""
    places = corners(vertices, triangles)
    low, high = bounds(places)
    order = np.argsort(surface, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(surface))[:-1])
    boxes = np.array([(low[own].min(axis=0), high[own].max(axis=0)) for own in members])
    meet = (boxes[:, None, 0] <= boxes[None, :, 1]).all(axis=2) & (boxes[None, :, 0] <= boxes[:, None, 1]).all(axis=2)
    np.fill_diagonal(meet, False)
    left = MOST_PAIRS
    for one, other in np.argwhere(meet).tolist():
        near = [
            own[((low[own] <= boxes[two, 1]) & (high[own] >= boxes[two, 0])).all(axis=1)]
            for own, two in ((members[one], other), (members[other], one))
        ]
        left -= 3 * len(near[0]) * len(near[1])
        if left < 0:
            return
        step = max(PAIRS_AT_ONCE // max(len(near[1]), 1), 1)
        for first in range(0, len(near[0]), step):
            some = np.meshgrid(near[0][first : first + step], near[1], indexing="ij")
            pairs = np.stack(some, axis=2).reshape(-1, 2)
            for side in range(3):
                yield from _around(places, pairs, side)


def _around(places: np.ndarray, pairs: np.ndarray, side: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Points on both triangles, of pairs (n, 2), around where a side of the first goes through the second."""
    begin, end = places[pairs[:, 0], side], places[pairs[:, 0], (side + 1) % 3]
    a, b, c = np.moveaxis(places[pairs[:, 1]], 1, 0)
    normal = cross(b - a, c - a)
    heights = [np.einsum("ni,ni->n", point - a, normal) for point in (begin, end)]
    through = np.flatnonzero((heights[0] > 0) != (heights[1] > 0))
    part = heights[0][through] / (heights[0] - heights[1])[through]
    begin, end, a, b, c, normal, pairs = (array[through] for array in (begin, end, a, b, c, normal, pairs))
    place = begin + part[:, None] * (end - begin)
    inside = _inside(place, a, b, c, normal)
    place, begin, end, a, b, c, normal, pairs = (array[inside] for array in (place, begin, end, a, b, c, normal, pairs))
    third = places[pairs[:, 0], side - 1]
    for along in (begin, end):
        yield place + NEAR * (along - place) + NEAR**2 * (third - place), pairs[:, 0]
    for turn in np.arange(8) * np.pi / 4 + 0.2:
        near = place + NEAR * (np.cos(turn) * (b - a) + np.sin(turn) * (c - a))
        within = _inside(near, a, b, c, normal)
        yield near[within], pairs[within, 1]


def _inside(
    points: NDArray[np.floating], a: np.ndarray, b: np.ndarray, c: np.ndarray, normal: np.ndarray
) -> NDArray[np.bool_]:
    """Which points in the planes of triangles lie in the triangles, bool (n,)."""
    result = np.ones(len(points), bool)
    for begin, end in ((a, b), (b, c), (c, a)):
        result &= np.einsum("ni,ni->n", cross(end - begin, points - begin), normal) >= 0
    return result


def turn_few(layers: Layers, order: np.ndarray) -> NDArray[np.bool_]:
    """Which surfaces to turn so that fewer are at fault, bool (s,): the one that helps most, then the next. Of several
    that help as much it is the first in this order."""
    turned = np.zeros(len(order), bool)
    faults = _faults(layers, turned)
    while (count := np.count_nonzero(faults)) and not turned.all():
        candidates = order[(faults | (len(order) <= MOST_TURNED))[order] & ~turned[order]][:MOST_TURNED]
        attempts = [_faults(layers, turned ^ (np.arange(len(order)) == number)) for number in candidates.tolist()]
        counts = [np.count_nonzero(attempt) for attempt in attempts]
        if min(counts, default=count) >= count:
            break
        best = int(np.argmin(counts))
        turned[candidates[best]], faults = True, attempts[best]
    return turned


def cost(layers: Layers, turned: np.ndarray) -> tuple[int, int, int]:
    """How many surfaces have free space on both sides once some are turned, how many these are, and how many lie buried
    in rock: nothing is wrong with a buried one but its place, so it is no reason to turn any."""
    least = layers.least_in_front(turned)
    return int(np.count_nonzero(least < 0)), int(np.count_nonzero(turned)), int(np.count_nonzero(least > 0))


def _faults(layers: Layers, turned: np.ndarray) -> np.ndarray:
    return layers.least_in_front(turned) != 0
