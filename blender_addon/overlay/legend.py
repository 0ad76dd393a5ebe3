"""The legend of the overlay: what the colours mean, and what there is nothing to show of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.editing.changes import Changes
from ...core.formats.mcol import Hull
from ...core.runtime.queries import Shot
from ..translations import label_text
from . import change_layers, navigation_layers
from .grid_layers import (
    CURSOR_CELL,
    CURSOR_TRIANGLES,
    LENGTH_COLORS,
    LENGTHS,
    ROCK,
    SPHERE,
    length_classes,
    list_lengths,
)
from .route_layers import AFTER, BEFORE, REFUSED, Ways
from .shapes import Color
from .shot_layers import HIT, OPENED, PATH, TESTED, VISITED

NOTES = {
    "outdated": "Older than the last edit",
    "cells": "No cell holds triangles",
    "rock": "No cell lies wholly in rock",
    "cursor": "The 3D cursor is outside the grid",
    "spheres": "Nothing of this hull is selected",
    "changes": "Nothing differs from the source",
}
"""What the overlay says where the hull was edited since, and where a layer that is asked for has nothing to show."""

NAMES = {
    "rock": "Cells in rock",
    "cursor": "The cursor's cell",
    "listed": "Triangles in the cursor's cell",
    "spheres": "Bounding spheres",
    "visited": "Cells visited",
    "opened": "Cells opened",
    "tested": "Triangles tested",
    "path": "Path",
    "hit": "Hit triangle",
    "before": "Way before the edit",
    "after": "Way after the edit",
    "refused": "Refused step",
    "closed": "Closed links",
    "tight": "Narrow links",
    "wide": "Wide links",
    "moved": "Moved triangles",
    "new": "New triangles",
    "removed": "Triangles cut away",
    "ghost": "Where moved triangles were",
}
"""What the colours mean."""

COLORS = {
    "rock": ROCK,
    "cursor": CURSOR_CELL,
    "listed": CURSOR_TRIANGLES,
    "spheres": SPHERE,
    "visited": VISITED,
    "opened": OPENED,
    "tested": TESTED,
    "path": PATH,
    "hit": HIT,
    "before": BEFORE,
    "after": AFTER,
    "refused": REFUSED,
    "closed": navigation_layers.CLOSED,
    "tight": navigation_layers.TIGHT,
    "wide": navigation_layers.WIDE,
    "moved": change_layers.MOVED,
    "new": change_layers.NEW,
    "removed": change_layers.REMOVED,
    "ghost": change_layers.GHOST,
}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the legend: a colour and what it means, or a text alone."""

    text: str
    color: Color | None = None


def cell_rows(hull: Hull) -> list[Row]:
    """A row for each class of cells that some cell is in."""
    lengths = list_lengths(hull)
    if not len(lengths):
        return []
    counts = np.bincount(length_classes(lengths), minlength=len(LENGTHS))
    rows = [Row(label_text("Triangles in a cell"))]
    for (first, last), color, count in zip(LENGTHS, LENGTH_COLORS, counts.tolist(), strict=True):
        if count:
            # The longest list matters: it is what costs frame time.
            to = f"{last:,}" if last < LENGTHS[-1][1] else f"{int(lengths.max()):,}"
            rows.append(
                Row(label_text("Cells with {first}–{last}: {count:,}", first=first, last=to, count=count), color)
            )
    return rows


def shot_rows(shot: Shot) -> list[Row]:
    """What the colours of a shot mean, of those that it has."""
    found = {
        "visited": shot.visited > 0,
        "opened": len(shot.opened) > 0,
        "tested": len(shot.tested) > 0,
        "path": True,
        "hit": shot.triangle is not None,
    }
    return [color_row(name) for name, there in found.items() if there]


def route_rows(ways: Ways) -> list[Row]:
    """What the colours of a ship's ways mean, of those that are found."""
    found = {
        "before": ways.before.found,
        "after": ways.after.found,
        "refused": any(step is not None for step in ways.refused_steps()),
    }
    return [color_row(name) for name, there in found.items() if there]


def change_rows(changes: Changes) -> list[Row]:
    """What the colours of an edit mean, of those that it has."""
    return [color_row(name) for name in ("moved", "new", "removed", "ghost") if len(getattr(changes, name))]


def color_row(name: str) -> Row:
    """The row of a colour, by its name."""
    return Row(label_text(NAMES[name]), COLORS[name])


def note(name: str) -> Row:
    """The row of a note, by its name."""
    return Row(label_text(NOTES[name]))
