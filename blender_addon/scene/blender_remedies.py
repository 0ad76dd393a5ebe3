"""What to do in Blender about a broken rule."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ...core.errors import SylpheedError
from ...core.rules.remedies import REMEDIES as AT_THE_COMMAND_LINE
from ...core.rules.rule import Rule

REMEDIES = {
    Rule.NO_TRIANGLES: "parent at least one closed mesh to the hull's root",
    Rule.LIMITS: "simplify it, for example with a Decimate modifier",
    Rule.VERTEX_COUNT: "merge vertices by distance, closed surfaces have about twice as many triangles as vertices",
    Rule.COORDINATES: "delete these vertices, or undo what made them",
    Rule.BOUNDING_BOX: "move them inside, or export with Outside: Grow",
    Rule.OPEN_EDGES: "fill the hole",
    Rule.NON_MANIFOLD_EDGES: "delete inner or doubled faces; perhaps an object is there twice",
    Rule.OPEN_SURFACES: "close every hole",
    Rule.DOUBLED_TRIANGLES: "delete one of each pair",
    Rule.NO_VOLUME: "give it a thickness, for example with a Solidify modifier, or delete it",
    Rule.FLIPPED: "flip their normals, or export with Turn",
    Rule.INSIDE_OUT: "flip their normals (asteroids face outward, a wall inward), or export with Turn",
    Rule.NO_FREE_SPACE: "keep a wall around them",
    Rule.BURIED_SURFACES: "delete them, or move them out of the rock",
    Rule.SELF_INTERSECTIONS: "select the faces and move them apart",
    Rule.INTERSECTING_SURFACES: "move the surfaces apart, or join them with a Boolean modifier",
    Rule.LONG_LISTS: "simplify what is there, or use Fit Grid with smaller cells",
    Rule.REMOVED_SURFACES: "nothing, if you deleted them; else undo",
    Rule.LOOSE_VERTICES: "nothing, they are left out",
    Rule.SAME_PART_IDS: "rename one of the objects",
    Rule.REMOVED_PART: "nothing, if you deleted it; else undo",
    Rule.EMPTY_PART: "delete the object, or give it faces",
}
"""For every rule that the check of a scene looks at."""


def in_blender(error: SylpheedError) -> SylpheedError:
    """The error with the rule's remedy in Blender instead of that at the command line."""
    if error.rule in REMEDIES and error.remedy == AT_THE_COMMAND_LINE.get(error.rule):
        return replace(error, remedy=REMEDIES[error.rule])
    return error


@contextmanager
def blender_remedies() -> Iterator[None]:
    """Errors raised within say what to do in Blender."""
    try:
        yield
    except SylpheedError as error:
        raise in_blender(error) from error
