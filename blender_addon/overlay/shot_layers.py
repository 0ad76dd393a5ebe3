"""What the overlay shows of a shot."""

from __future__ import annotations

import numpy as np

from ...core.formats.mcol import Hull
from ...core.runtime.queries import Shot
from .grid_layers import INSET
from .shapes import CORNERS, EDGES, Color, Layer, boxes, circles, drawn, parts_within

VISITED: Color = (0.8, 0.8, 0.8, 0.35)
OPENED: Color = (0.3, 0.8, 1.0, 0.9)
TESTED: Color = (1.0, 0.85, 0.2, 0.9)
PATH: Color = (1.0, 1.0, 1.0, 1.0)
MISSED_PATH: Color = (1.0, 1.0, 1.0, 0.4)
HIT: Color = (1.0, 0.1, 0.1, 0.45)

MOST_VISITED = 20_000
"""So many boxes are drawn at most for what a shot visited; a long shot through a fine grid visits millions."""


def shot_layers(hull: Hull, shot: Shot) -> list[Layer]:
    """What a shot visited, opened and tested, its path and its hit, which is drawn within a cell's size around it."""
    layers = []
    if shot.first is not None:
        low, high = hull.grid.lower_corner(np.array([shot.first, np.add(shot.last, 1)]))
        listed = np.setdiff1d(shot.listed, shot.opened)[:MOST_VISITED]
        opened = shot.opened[:MOST_VISITED]
        layers = [
            Layer("LINES", (low + CORNERS * (high - low))[EDGES].astype(np.float32), VISITED, 2.0),
            Layer("LINES", boxes(hull, listed, EDGES, 2 * INSET), VISITED),
            Layer("LINES", boxes(hull, opened, EDGES, 2 * INSET), OPENED, 1.5, in_front=True),
            parts_within(hull, shot.tested, (low, high), TESTED, 1.5)[1],
        ]
    end = shot.start + shot.movement
    stop = end if shot.position is None else shot.position
    layers.append(Layer("LINES", np.float32([shot.start, stop]), PATH, 3.0, in_front=True))
    layers.append(Layer("LINES", np.float32([stop, end]), MISSED_PATH, 1.0, in_front=True))
    if shot.triangle is not None:
        hit = np.array([shot.triangle])
        side = hull.grid.cell_size.astype(np.float64)
        ball = np.append(stop, shot.radius or float(side.min()) / 40)[None]
        fill, outline = parts_within(hull, hit, (stop - side, stop + side), HIT, 3.0)
        layers += [Layer("TRIS", fill, HIT, in_front=True), outline]
        layers.append(Layer("LINES", circles(ball), PATH, 2.0, in_front=True))
    return drawn(*layers)
