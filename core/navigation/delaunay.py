"""Delaunay tetrahedralization of points, one point at a time, with exact predicates.

A point removes the tetrahedra whose sphere holds it, and is joined to the faces around the hole. Exact signs make
that hole star-shaped, so no tetrahedron is flat or overlaps another one.
"""

from __future__ import annotations

import numpy as np

from .predicates import Point, in_sphere, orientation

Face = tuple[int, int, int]
Edge = tuple[int, int]

CORNERS = 4
"""The first vertices are those of a tetrahedron far around all points."""

_AROUND = 64.0
_OPPOSITE = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))
"""For each corner of a tetrahedron the other three, seen counter-clockwise from outside."""


class Delaunay:
    """Points and the tetrahedra between them.

    `vertices` are the points, the first `CORNERS` far outside. `tetrahedra` are four vertex numbers each, of positive
    orientation, or None where one was removed. `neighbours` are the tetrahedra opposite to each corner, -1 outside.
    """

    def __init__(self, low: np.ndarray, high: np.ndarray) -> None:
        """An empty tetrahedralization for points between two corners (3,) of a box."""
        centre = (np.asarray(low, np.float64) + high) / 2
        reach = _AROUND * max(float(np.linalg.norm(np.asarray(high, np.float64) - low)), 1.0)
        around = np.array([(3, 0, -1), (-1.5, 2.6, -1), (-1.5, -2.6, -1), (0, 0, 3)]) * reach + centre
        self.vertices: list[Point] = [_point(row) for row in around]
        self.tetrahedra: list[tuple[int, int, int, int] | None] = [(0, 1, 2, 3)]
        self.neighbours: list[list[int]] = [[-1, -1, -1, -1]]
        self._places: dict[Point, int] = {}
        self._unused: list[int] = []
        self._last = 0
        if orientation(*self.vertices) < 0:
            self.tetrahedra[0] = (1, 0, 2, 3)

    def insert(self, point: Point) -> int:
        """Adds a point of float32 coordinates inside the box and returns its number, the old one if it is there."""
        if point in self._places:
            return self._places[point]
        number = len(self.vertices)
        self.vertices.append(point)
        self._places[point] = number
        hole, faces = self._hole(point)
        self._fill(number, hole, faces)
        return number

    def faces(self) -> dict[Face, tuple[int, int]]:
        """Every face, its vertices ascending, with the tetrahedra on its two sides, -1 outside."""
        found: dict[Face, tuple[int, int]] = {}
        for number, corners in enumerate(self.tetrahedra):
            if corners is None:
                continue
            for side, other in zip(_OPPOSITE, self.neighbours[number], strict=True):
                if other < number:  # each face once, by the later one of its tetrahedra
                    a, b, c = sorted((corners[side[0]], corners[side[1]], corners[side[2]]))
                    found[a, b, c] = (number, other)
        return found

    def _hole(self, point: Point) -> tuple[list[int], list[tuple[Face, int]]]:
        """The tetrahedra whose sphere holds the point, and the faces around them, with what lies behind each."""
        vertices, tetrahedra, neighbours = self.vertices, self.tetrahedra, self.neighbours
        first = self._locate(point)
        inside = {first: True}
        hole, faces = [first], []
        for number in hole:  # grows while it is walked along
            corners = tetrahedra[number]
            assert corners is not None
            for side, other in zip(_OPPOSITE, neighbours[number], strict=True):
                if other >= 0:
                    held = inside.get(other)
                    if held is None:
                        a, b, c, d = tetrahedra[other]  # type: ignore[misc]  # a neighbour is never a removed one
                        held = in_sphere(vertices[a], vertices[b], vertices[c], vertices[d], point) > 0
                        inside[other] = held
                        if held:
                            hole.append(other)
                    if held:
                        continue
                faces.append(((corners[side[0]], corners[side[1]], corners[side[2]]), other))
        return hole, faces

    def _fill(self, number: int, hole: list[int], faces: list[tuple[Face, int]]) -> None:
        """Joins a vertex to the faces around the hole."""
        tetrahedra, neighbours, unused = self.tetrahedra, self.neighbours, self._unused
        holes = set(hole)
        for removed in hole:
            tetrahedra[removed] = None
        unused += hole
        beside: dict[tuple[int, int], tuple[int, int]] = {}
        made = number
        for (a, b, c), behind in faces:
            if unused:
                made = unused.pop()
            else:
                made = len(tetrahedra)
                tetrahedra.append(None)
                neighbours.append([])
            # The face is counter-clockwise from outside the hole, where the vertex isn't.
            tetrahedra[made] = (a, c, b, number)
            links = [-1, -1, -1, behind]
            neighbours[made] = links
            if behind >= 0:
                around = neighbours[behind]
                for corner in range(4):
                    if around[corner] in holes and self._opposite(behind, corner, (a, b, c)):
                        around[corner] = made
            for corner, edge in ((0, (b, c)), (1, (a, b)), (2, (a, c))):
                key = edge if edge[0] < edge[1] else (edge[1], edge[0])
                if key in beside:
                    other, place = beside.pop(key)
                    links[corner] = other
                    neighbours[other][place] = made
                else:
                    beside[key] = (made, corner)
        self._last = made

    def _opposite(self, number: int, corner: int, face: Face) -> bool:
        """Whether a corner of a tetrahedron is the one that doesn't belong to the face."""
        corners = self.tetrahedra[number]
        return corners is not None and corners[corner] not in face

    def _locate(self, point: Point) -> int:
        """The tetrahedron that holds the point, by walking toward it."""
        vertices, tetrahedra, neighbours = self.vertices, self.tetrahedra, self.neighbours
        number, before = self._last, -1
        while True:
            corners = tetrahedra[number]
            assert corners is not None
            for side, other in zip(_OPPOSITE, neighbours[number], strict=True):
                if other != before or other < 0:
                    a, b, c = corners[side[0]], corners[side[1]], corners[side[2]]
                    if orientation(vertices[a], vertices[b], vertices[c], point) > 0:
                        if other < 0:
                            raise ValueError("the point lies outside the box")
                        number, before = other, number
                        break
            else:
                return number


def _point(row: np.ndarray) -> Point:
    """Float32 coordinates (3,) as a point."""
    x, y, z = np.asarray(row, np.float32).tolist()
    return x, y, z
