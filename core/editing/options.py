"""How an edited hull is rebuilt."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Rebuild(enum.Enum):
    """CHANGED keeps what the edit doesn't reach, ALL rebuilds every list, sphere and fill state."""

    CHANGED = "CHANGED"
    ALL = "ALL"


class Outside(enum.Enum):
    """Geometry outside the bounding box: ERROR refuses it, GROW adds whole cells to the grid."""

    ERROR = "ERROR"
    GROW = "GROW"


@dataclass(frozen=True, slots=True)
class Options:
    """How to rebuild; see `Rebuild` and `Outside`. `turn` turns triangles whose front doesn't face free space.
    `own_box`: the source's box is its file's own, so what the file has outside of it is kept there."""

    rebuild: Rebuild = Rebuild.CHANGED
    outside: Outside = Outside.ERROR
    turn: bool = False
    own_box: bool = True


USUAL = Options()
