"""What the overlay shows of a grid: cells, rock, the cell under the 3D cursor, bounding spheres."""

from __future__ import annotations

import numpy as np

from ...core.editing.faults import LONG_LIST
from ...core.formats.mcol import FREE, LISTED, SOLID, Hull
from ...core.runtime.queries import Place
from .shapes import EDGES, FACES, Color, Layer, boxes, circles, drawn, parts_within

STATES = {FREE: "free space", LISTED: "holds triangles", SOLID: "solid rock"}

LAST = tuple(LONG_LIST >> halvings for halvings in range(4, -1, -1))
LENGTHS = tuple(zip((1, *(last + 1 for last in LAST)), (*LAST, 65_535), strict=True))
"""Classes of cells by how many triangles they list, both ends included. The last is beyond what the check warns of."""

LENGTH_COLORS: tuple[Color, ...] = (
    (0.27, 0.45, 0.95, 0.35),
    (0.15, 0.75, 0.85, 0.45),
    (0.25, 0.85, 0.35, 0.55),
    (0.95, 0.90, 0.20, 0.65),
    (1.00, 0.55, 0.10, 0.75),
    (1.00, 0.15, 0.15, 0.9),
)
ROCK: Color = (0.65, 0.5, 0.4, 0.18)
CURSOR_CELL: Color = (1.0, 1.0, 1.0, 1.0)
CURSOR_TRIANGLES: Color = (1.0, 0.6, 0.1, 0.25)
CURSOR_EDGES: Color = (1.0, 0.6, 0.1, 1.0)
SPHERE: Color = (0.6, 0.9, 1.0, 0.45)

INSET = 0.03
"""Boxes are drawn smaller by this part of a cell on each side, so that neighbours' colours lie beside each other."""


def list_lengths(hull: Hull) -> np.ndarray:
    """How many triangles each occupied cell lists, int64 (k,)."""
    rows, _, _ = hull.entries()
    return np.bincount(rows, minlength=len(hull.occupied))


def length_classes(lengths: np.ndarray) -> np.ndarray:
    """The class in LENGTHS of each length, int64 (n,)."""
    return np.clip(np.searchsorted([first for first, _ in LENGTHS], lengths, side="right") - 1, 0, None)


def cell_layers(hull: Hull) -> list[Layer]:
    """The occupied cells, coloured by the length of their lists."""
    colors = np.array(LENGTH_COLORS, np.float32)[length_classes(list_lengths(hull))]
    points = boxes(hull, hull.occupied, EDGES, INSET)
    return drawn(Layer("LINES", points, np.repeat(colors, len(EDGES), axis=0)))


def rock_layers(hull: Hull) -> list[Layer]:
    """The cells that are filled with rock."""
    return drawn(Layer("TRIS", boxes(hull, np.flatnonzero(hull.states == SOLID), FACES, 4 * INSET), ROCK))


def place_layers(hull: Hull, place: Place) -> list[Layer]:
    """The cell of a point, with what lies in it of the triangles that it lists."""
    if place.number is None:
        return []
    cell = boxes(hull, np.array([place.number]), EDGES)
    box = cell.min(axis=0), cell.max(axis=0)
    fill, outline = parts_within(hull, place.triangles, box, CURSOR_EDGES, 1.5)
    return drawn(
        Layer("TRIS", fill, CURSOR_TRIANGLES, in_front=True),
        outline,
        Layer("LINES", cell, CURSOR_CELL, 3.0, in_front=True),
    )


def sphere_layers(spheres: np.ndarray) -> list[Layer]:
    """Spheres, centre and radius (n, 4), as three circles each."""
    return drawn(Layer("LINES", circles(spheres), SPHERE))
