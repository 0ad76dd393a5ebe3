"""Which fixes there are, and the checks that each is for. The work is in `fixing` and `object_fixes`."""

from __future__ import annotations

import enum

from ...core.rules.rule import Rule
from ..scene.scene_rules import SceneRule


class FixKind(enum.Enum):
    """A fix. The value is the checks whose problems it fixes."""

    TRIANGULATE = (SceneRule.LARGE_FACES,)
    MERGE_VERTICES = (SceneRule.DOUBLED_VERTICES,)
    ZERO_AREA = (Rule.ZERO_AREA,)
    FILL_HOLES = (Rule.OPEN_EDGES,)
    FLIP_FACES = (Rule.FLIPPED, Rule.INSIDE_OUT)
    LOOSE_VERTICES = (Rule.LOOSE_VERTICES,)
    DOUBLED_FACES = (Rule.DOUBLED_TRIANGLES,)
    CUTTERS = (SceneRule.CUTTERS,)
    CELLS = (SceneRule.EDITED_CELLS,)
    NAVIGATION = (SceneRule.NAVIGATION_OLD, SceneRule.NAVIGATION_BLOCKED)
