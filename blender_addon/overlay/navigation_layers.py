"""What the overlay shows of a navigation volume: its links, coloured by the largest ship that they let through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .shapes import Color, Layer, drawn

if TYPE_CHECKING:
    from ..scene.navigation_object import Links

CLOSED: Color = (1.0, 0.15, 0.15, 0.9)
TIGHT: Color = (1.0, 0.6, 0.1, 0.55)
WIDE: Color = (0.25, 0.85, 0.45, 0.25)
SHIP, ROOM = 1.0, 100.0
"""The radius that the game flies with, and one that leaves room, in game units."""


def link_layers(links: Links) -> list[Layer]:
    """The links of each class, the closed ones last and in front."""
    ends = links.places[links.faces]
    closed, wide = links.clearance < SHIP, links.clearance >= ROOM
    classes = ((wide, WIDE, 1.0), (~closed & ~wide, TIGHT, 1.5), (closed, CLOSED, 2.5))
    return drawn(*(Layer("LINES", ends[which].reshape(-1, 3), color, width) for which, color, width in classes))


def classes_of(links: Links) -> dict[str, bool]:
    """Which classes some link is in, by the name of their colour."""
    closed, wide = links.clearance < SHIP, links.clearance >= ROOM
    return {"closed": bool(np.any(closed)), "tight": bool(np.any(~closed & ~wide)), "wide": bool(np.any(wide))}
