"""What the overlay shows of an edit: what moved, is new or was cut away, and the source's surface where it was."""

from __future__ import annotations

import numpy as np

from ...core.editing.changes import Changes
from .shapes import Color, Layer, drawn

MOVED: Color = (1.0, 0.75, 0.1, 0.9)
NEW: Color = (0.2, 0.9, 0.35, 0.9)
REMOVED: Color = (1.0, 0.2, 0.3, 0.9)
GHOST: Color = (0.6, 0.75, 1.0, 0.4)

FILL = 0.2
"""The opacity of faces; that of their edges is the colour's."""


def change_layers(changes: Changes) -> list[Layer]:
    """The faces and edges of all that changed; the ghost lies under them."""
    layers = []
    for triangles, color, width in (
        (changes.ghost, GHOST, 1.0),
        (changes.removed, REMOVED, 1.5),
        (changes.moved, MOVED, 1.5),
        (changes.new, NEW, 1.5),
    ):
        points = np.ascontiguousarray(triangles, np.float32)
        faded = (*color[:3], FILL * color[3])
        layers.append(Layer("TRIS", points.reshape(-1, 3), faded, in_front=True))
        edges = points[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 3)
        layers.append(Layer("LINES", edges, color, width, in_front=True))
    return drawn(*layers)
