"""The rules that only a scene can break."""

from __future__ import annotations

import enum


class SceneRule(enum.StrEnum):
    """What a check of a scene is about beside the format's own rules. The value is its name in scripts."""

    DOUBLED_VERTICES = "doubled vertices"
    LARGE_FACES = "large faces"
    CUTTERS = "cutters"
    EDITED_CELLS = "edited cells"
    LEFT_OUT = "left out"
    NAVIGATION_OLD = "navigation out of date"
    NAVIGATION_BLOCKED = "links through rock"
    REFUSED = "refused"
