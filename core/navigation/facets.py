"""Cuts flat faces until a Delaunay tetrahedralization contains every part of them.

Each face is a facet: a flat triangle with points on its border and inside, whose own triangulation is kept Delaunay by
exchanging diagonals. A part that the mesh lacks is cut in the middle of its longest edge, a part of the border that
it lacks in its own middle. So points are added only where something comes close to the facet.
"""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, hypot, pi

import numpy as np

from .delaunay import Delaunay, Edge, Face
from .predicates import Point

MOST_ADDED = 600
"""This many points and as many as the mesh has may be added. Only surfaces that pass through each other, or lie side by
side with nothing between them, want more, and nobody flies there."""

MOST_ROUNDS = 60
FINER = 8.0
"""Edges this many times shorter than the longest one wait for a later round."""

MARGIN = 1e-9
"""A point this near a circle, as a part of its size, lies on it."""

Progress = Callable[[float], None]


def recover(
    mesh: Delaunay, faces: list[Face], shortest: float, progress: Progress = lambda part: None
) -> tuple[list[Face], list[Face]]:
    """Adds points to a mesh until it has the faces, in parts. Edges as short as `shortest` aren't cut.

    Returns the parts that the mesh has and those that it still lacks.
    """
    facets = [_Facet(mesh.vertices, face) for face in faces]
    most = 2 * len(mesh.vertices) + MOST_ADDED
    for number in range(MOST_ROUNDS):
        progress(number / MOST_ROUNDS)
        there = mesh.faces()
        edges = {edge for face in there for edge in _edges(face)}
        wanted: dict[Edge, float] = {}
        for facet in facets:
            if not facet.is_in(there):
                facet.exchange(there)
                wanted |= {edge: _length(mesh.vertices, edge) for edge in facet.wanted_cuts(there, edges)}
        # The longest first: most of what is short needs no cut afterwards.
        least = max(shortest, max(wanted.values(), default=0.0) / FINER)
        cuts: dict[Edge, int] = {}
        for edge in sorted(wanted, key=wanted.__getitem__, reverse=True):
            if wanted[edge] > least and len(mesh.vertices) < most:
                middle = mesh.insert(_middle(mesh.vertices, edge))
                if middle not in edge:
                    cuts[edge] = middle
        if not cuts:
            break
        for facet in facets:
            facet.cut(cuts)
    there = mesh.faces()
    parts = [part for facet in facets for part in facet.parts]
    present = [part for part in parts if _ascending(part) in there]
    return present, [part for part in parts if _ascending(part) not in there]


class _Facet:
    """A flat triangle and the parts that it is cut into, all wound alike."""

    def __init__(self, vertices: list[Point], face: Face) -> None:
        self.parts = [face]
        self.vertices = vertices
        a, b, c = (np.array(vertices[number]) for number in face)
        normal = np.cross(b - a, c - a)
        away = int(np.abs(normal).argmax())
        # Looked at along an axis, so that the parts are counter-clockwise there.
        self.axes = ((away + 1) % 3, (away + 2) % 3) if normal[away] > 0 else ((away + 2) % 3, (away + 1) % 3)

    def is_in(self, there: dict[Face, tuple[int, int]]) -> bool:
        """Whether the mesh has all parts."""
        return all(_ascending(part) in there for part in self.parts)

    def exchange(self, there: dict[Face, tuple[int, int]]) -> None:
        """Exchanges diagonals between two parts until none of them lies inside another one's circle. Where all four
        corners lie on one circle, what the mesh has decides."""
        if len(self.parts) == 1:
            return
        across = {edge: part for part in self.parts for edge in _directed(part)}
        waiting = [edge for edge in across if edge[0] < edge[1]]
        left = 20 * len(waiting)  # rounding may not let two diagonals be exchanged forever
        while waiting and left:
            left -= 1
            a, b = waiting.pop()
            one, two = across.get((a, b)), across.get((b, a))
            if one is None or two is None:
                continue
            c, d = _other(one, a, b), _other(two, a, b)
            if self._turn(c, d, b) <= 0 or self._turn(d, c, a) <= 0:
                continue  # the other diagonal would lie outside
            inside = self._inside(a, b, c, d)
            new_one, new_two = (c, d, b), (d, c, a)
            tie = abs(inside) <= MARGIN and all(_ascending(part) in there for part in (new_one, new_two))
            if inside <= MARGIN and not (tie and not all(_ascending(part) in there for part in (one, two))):
                continue
            for edge in (*_directed(one), *_directed(two)):
                del across[edge]
            for part in (new_one, new_two):
                across |= dict.fromkeys(_directed(part), part)
            waiting += [(b, c), (c, a), (a, d), (d, b)]
        self.parts = list(dict.fromkeys(across.values()))

    def wanted_cuts(self, there: dict[Face, tuple[int, int]], edges: set[Edge]) -> list[Edge]:
        """The edges to cut because the mesh lacks them or their part of the facet."""
        found = []
        for part in self.parts:
            if _ascending(part) not in there:
                all_edges = _edges(part)
                lacking = [edge for edge in all_edges if edge not in edges]
                found += lacking or [max(all_edges, key=lambda edge: _length(self.vertices, edge))]
        return found

    def cut(self, cuts: dict[Edge, int]) -> None:
        """Cuts the parts where their edges are cut at these vertices."""
        whole, waiting = [], self.parts
        while waiting:
            a, b, c = waiting.pop()
            for one, two, other in ((a, b, c), (b, c, a), (c, a, b)):
                middle = cuts.get((one, two) if one < two else (two, one))
                if middle is not None:
                    waiting += [(one, middle, other), (middle, two, other)]
                    break
            else:
                whole.append((a, b, c))
        self.parts = whole

    def _flat(self, number: int) -> tuple[float, float]:
        point = self.vertices[number]
        return point[self.axes[0]], point[self.axes[1]]

    def _turn(self, a: int, b: int, c: int) -> float:
        """Positive where a, b, c are counter-clockwise."""
        (ax, ay), (bx, by), (cx, cy) = self._flat(a), self._flat(b), self._flat(c)
        return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)

    def _inside(self, a: int, b: int, c: int, d: int) -> float:
        """How far d lies inside the circle through a, b, c in space, as a part of its size; negative outside."""
        one, two = self.vertices[a], self.vertices[b]
        return _angle(one, self.vertices[c], two) + _angle(one, self.vertices[d], two) - pi


def _angle(one: Point, corner: Point, two: Point) -> float:
    """The angle at a corner, in radians."""
    x, y, z = one[0] - corner[0], one[1] - corner[1], one[2] - corner[2]
    u, v, w = two[0] - corner[0], two[1] - corner[1], two[2] - corner[2]
    return atan2(hypot(y * w - z * v, z * u - x * w, x * v - y * u), x * u + y * v + z * w)


def _directed(part: Face) -> tuple[Edge, Edge, Edge]:
    a, b, c = part
    return (a, b), (b, c), (c, a)


def _other(part: Face, a: int, b: int) -> int:
    return next(number for number in part if number not in (a, b))


def _ascending(face: Face) -> Face:
    a, b, c = sorted(face)
    return a, b, c


def _edges(face: Face) -> tuple[Edge, Edge, Edge]:
    a, b, c = sorted(face)
    return (a, b), (a, c), (b, c)


def _length(vertices: list[Point], edge: Edge) -> float:
    (ax, ay, az), (bx, by, bz) = vertices[edge[0]], vertices[edge[1]]
    return float(((bx - ax) ** 2 + (by - ay) ** 2 + (bz - az) ** 2) ** 0.5)


def _middle(vertices: list[Point], edge: Edge) -> Point:
    """The middle of an edge, rounded to float32."""
    one, two = (np.array(vertices[number]) for number in edge)
    x, y, z = (((one + two) / 2).astype(np.float32) + np.float32(0)).tolist()
    return x, y, z
