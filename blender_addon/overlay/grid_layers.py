"""What the grid overlay shows, as arrays of points and colours; drawing them is somebody else's."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...core.formats.mcol import FREE, LISTED, SOLID, Hull
from ...core.runtime.queries import Place, Shot
from ..translations import label_text

Color = tuple[float, float, float, float]

STATES = {FREE: "free space", LISTED: "holds triangles", SOLID: "solid rock"}

LENGTHS = ((1, 2), (3, 4), (5, 8), (9, 16), (17, 32), (33, 65_535))
"""Classes of cells by how many triangles they list, both ends included. Most cells of the game's own maps lie in
the first three; the last cost frame time."""

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
VISITED: Color = (0.8, 0.8, 0.8, 0.35)
OPENED: Color = (0.3, 0.8, 1.0, 0.9)
TESTED: Color = (1.0, 0.85, 0.2, 0.9)
PATH: Color = (1.0, 1.0, 1.0, 1.0)
MISSED_PATH: Color = (1.0, 1.0, 1.0, 0.4)
HIT: Color = (1.0, 0.1, 0.1, 0.45)

INSET = 0.03
"""Boxes are drawn smaller by this part of a cell on each side, so that neighbours' colours lie beside each other."""

MOST_VISITED = 20_000
"""So many boxes are drawn at most for what a shot visited; a long shot through a fine grid visits millions."""

CORNERS = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)], np.float64)
EDGES = np.array([(a, a | bit) for a in range(8) for bit in (1, 2, 4) if not a & bit]).ravel()
QUADS = ((0, 2, 1, 3), (4, 5, 6, 7), (0, 1, 4, 5), (2, 6, 3, 7), (0, 4, 2, 6), (1, 3, 5, 7))
FACES = np.array([(a, b, c, c, b, d) for a, b, c, d in QUADS]).ravel()


@dataclass(eq=False)
class Layer:
    """Something to draw. `kind` is LINES or TRIS, `points` float32 (n, 3) in the file's axes and game units, two or
    three for each; `color` one for all, or float32 (n, 4). `in_front` draws through whatever is before it.

    `batch` keeps what the graphics card holds of it.
    """

    kind: str
    points: np.ndarray
    color: Color | np.ndarray
    width: float = 1.0
    in_front: bool = False
    batch: object = field(default=None, repr=False)


def list_lengths(hull: Hull) -> np.ndarray:
    """How many triangles each occupied cell lists, int64 (k,)."""
    rows, _, _ = hull.entries()
    return np.bincount(rows, minlength=len(hull.occupied))


def length_classes(lengths: np.ndarray) -> np.ndarray:
    """The class in LENGTHS of each length, int64 (n,)."""
    return np.clip(np.searchsorted([first for first, _ in LENGTHS], lengths, side="right") - 1, 0, None)


def legend(lengths: np.ndarray) -> list[tuple[Color, str]]:
    """A row for each class that some cell is in: its colour and what it is."""
    counts = np.bincount(length_classes(lengths), minlength=len(LENGTHS))
    rows = []
    for (first, last), color, count in zip(LENGTHS, LENGTH_COLORS, counts.tolist(), strict=True):
        if count:
            # The longest list matters: it is what costs frame time.
            to = str(last) if last < LENGTHS[-1][1] else f"{int(lengths.max()):,}"
            rows.append((color, label_text("{first}–{last}: {count:,} cells", first=first, last=to, count=count)))
    return rows


def cell_layers(hull: Hull) -> list[Layer]:
    """The occupied cells, coloured by the length of their lists."""
    colors = np.array(LENGTH_COLORS, np.float32)[length_classes(list_lengths(hull))]
    return [Layer("LINES", _boxes(hull, hull.occupied, EDGES, INSET), np.repeat(colors, len(EDGES), axis=0))]


def rock_layers(hull: Hull) -> list[Layer]:
    """The cells that are filled with rock."""
    return [Layer("TRIS", _boxes(hull, np.flatnonzero(hull.states == SOLID), FACES, 4 * INSET), ROCK)]


def place_layers(hull: Hull, place: Place) -> list[Layer]:
    """The cell of a point, with the triangles that it lists."""
    if place.number is None:
        return []
    cell = _boxes(hull, np.array([place.number]), EDGES, 0.0)
    return [
        *_triangles(hull, place.triangles, CURSOR_TRIANGLES, CURSOR_EDGES, 1.5),
        Layer("LINES", cell, CURSOR_CELL, 3.0, in_front=True),
    ]


def sphere_layers(spheres: np.ndarray) -> list[Layer]:
    """Spheres, centre and radius (n, 4), as three circles each."""
    return [Layer("LINES", _circles(spheres), SPHERE)]


def shot_layers(hull: Hull, shot: Shot) -> list[Layer]:
    """What a shot visited, opened and tested, its path and its hit."""
    layers = []
    if shot.first is not None:
        size = hull.grid.cell_size.astype(np.float64)
        low, high = hull.grid.lower_corner(np.array([shot.first, np.add(shot.last, 1)]))
        layers.append(Layer("LINES", (low + CORNERS * (high - low))[EDGES].astype(np.float32), VISITED, 2.0))
        listed = np.setdiff1d(shot.listed, shot.opened)[:MOST_VISITED]
        layers.append(Layer("LINES", _boxes(hull, listed, EDGES, 2 * INSET), VISITED))
        opened = shot.opened[:MOST_VISITED]
        layers.append(Layer("LINES", _boxes(hull, opened, EDGES, 2 * INSET), OPENED, 1.5, in_front=True))
        layers += _triangles(hull, shot.tested, None, TESTED, 1.5)
        mark = float(size.min()) / 40
    else:
        mark = float(np.linalg.norm(shot.movement)) / 100
    end = shot.start + shot.movement
    stop = end if shot.position is None else shot.position
    layers.append(Layer("LINES", np.float32([shot.start, stop]), PATH, 3.0, in_front=True))
    layers.append(Layer("LINES", np.float32([stop, end]), MISSED_PATH, 1.0, in_front=True))
    if shot.triangle is not None:
        layers += _triangles(hull, np.array([shot.triangle]), HIT, HIT, 3.0)
        ball = np.append(stop, shot.radius or mark)[None]
        layers.append(Layer("LINES", _circles(ball), PATH, 2.0, in_front=True))
    return [layer for layer in layers if len(layer.points)]


def _boxes(hull: Hull, cells: np.ndarray, pattern: np.ndarray, inset: float) -> np.ndarray:
    """Boxes of cells, float32 (n, 3), in the order of corners that `pattern` gives."""
    corners = (inset + CORNERS * (1 - 2 * inset)) * hull.grid.cell_size.astype(np.float64)
    lower = hull.grid.lower_corner(hull.grid.position(cells))
    return (lower[:, None] + corners[pattern]).reshape(-1, 3).astype(np.float32)


def _triangles(hull: Hull, numbers: np.ndarray, fill: Color | None, edge: Color, width: float) -> list[Layer]:
    points = hull.vertices[hull.triangles[numbers].astype(np.int64)]
    edges = points[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 3)
    layers = [Layer("LINES", edges, edge, width, in_front=True)]
    if fill is not None:
        layers.insert(0, Layer("TRIS", points.reshape(-1, 3), fill, in_front=True))
    return [layer for layer in layers if len(layer.points)]


def _circles(spheres: np.ndarray, segments: int = 32) -> np.ndarray:
    """Three circles around the axes for each sphere (n, 4), as lines, float32 (n * 192, 3)."""
    spheres = np.asarray(spheres, np.float64).reshape(-1, 4)
    angle = 2 * np.pi * np.arange(segments + 1) / segments
    across, up, flat = np.cos(angle), np.sin(angle), np.zeros(segments + 1)
    rings = [np.stack(axes, axis=1) for axes in ((across, up, flat), (flat, across, up), (up, flat, across))]
    lines = np.concatenate([np.stack((ring[:-1], ring[1:]), axis=1).reshape(-1, 3) for ring in rings])
    return (spheres[:, None, :3] + lines * spheres[:, None, 3:]).reshape(-1, 3).astype(np.float32)
