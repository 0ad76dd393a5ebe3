"""What the overlay is drawn from: points and colours, as tests can judge them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...core.formats.mcol import Hull
from ...core.geometry.clip import clip, fans, outlines
from ...core.geometry.triangles import corners

Color = tuple[float, float, float, float]

DIM = 0.3
"""The part of its opacity that a layer keeps where the grid is older than the last edit."""

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

    def __post_init__(self) -> None:
        self.points = np.ascontiguousarray(self.points, np.float32)  # Blender copies them as they lie in memory


def drawn(*layers: Layer) -> list[Layer]:
    """Those of the layers that have something to draw. Blender raises an error at an empty one."""
    return [layer for layer in layers if len(layer.points)]


def dimmed(layer: Layer) -> Layer:
    """The same layer, as it is drawn where the grid is older than the last edit."""
    if isinstance(layer.color, tuple):
        red, green, blue, alpha = layer.color
        return replace(layer, color=(red, green, blue, DIM * alpha), batch=None)
    return replace(layer, color=layer.color * np.array([1, 1, 1, DIM], np.float32), batch=None)


def boxes(hull: Hull, cells: np.ndarray, pattern: np.ndarray, inset: float = 0.0) -> np.ndarray:
    """Boxes of cells, float32 (n, 3), in the order of corners that `pattern` gives, each smaller than its cell by
    `inset` of the cell's size on each side."""
    within = (inset + CORNERS * (1 - 2 * inset)) * hull.grid.cell_size.astype(np.float64)
    lower = hull.grid.lower_corner(hull.grid.position(cells))
    return (lower[:, None] + within[pattern]).reshape(-1, 3).astype(np.float32)


def parts_within(
    hull: Hull, numbers: np.ndarray, box: tuple[np.ndarray, np.ndarray], edge: Color, width: float
) -> tuple[np.ndarray, Layer]:
    """What lies in a box, from its lower to its upper corner, of some of a hull's triangles: as the corners of smaller
    triangles, float32 (n, 3), and as a layer of outlines. All of a wall's triangles would fill the view."""
    shape = corners(hull.vertices, hull.triangles[numbers].astype(np.int64))
    points, polygons = clip(shape, *box)
    points = points.astype(np.float32)
    outline = Layer("LINES", points[outlines(polygons)].reshape(-1, 3), edge, width, in_front=True)
    return points[fans(polygons)].reshape(-1, 3), outline


def circles(spheres: np.ndarray, segments: int = 32) -> np.ndarray:
    """Three circles around the axes for each sphere (n, 4), as lines, float32 (n * 192, 3)."""
    spheres = np.asarray(spheres, np.float64).reshape(-1, 4)
    angle = 2 * np.pi * np.arange(segments + 1) / segments
    across, up, flat = np.cos(angle), np.sin(angle), np.zeros(segments + 1)
    rings = [np.stack(axes, axis=1) for axes in ((across, up, flat), (flat, across, up), (up, flat, across))]
    lines = np.concatenate([np.stack((ring[:-1], ring[1:]), axis=1).reshape(-1, 3) for ring in rings])
    return (spheres[:, None, :3] + lines * spheres[:, None, 3:]).reshape(-1, 3).astype(np.float32)
