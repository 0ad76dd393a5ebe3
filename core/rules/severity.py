"""How much a broken rule matters."""

from __future__ import annotations

import enum
from collections.abc import Iterable

from .rule import Rule


class Severity(enum.Enum):
    """How much a finding matters: INFO never, WARNING maybe, ERROR in the game."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


WORST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.INFO)


def worst(severities: Iterable[Severity]) -> Severity:
    """The worst of some severities, INFO without any."""
    return min(severities, key=WORST_FIRST.index, default=Severity.INFO)


_ERRORS = {
    Rule.COORDINATES,
    Rule.NO_TRIANGLES,
    Rule.LIMITS,
    Rule.VERTEX_COUNT,
    Rule.CHUNK_SHELL,
    Rule.BOUNDING_BOX,
    Rule.UNUSED_VERTICES,
    Rule.SHARED_EDGES,
    Rule.OPEN_EDGES,
    Rule.NON_MANIFOLD_EDGES,
    Rule.OPEN_SURFACES,
    Rule.ZERO_AREA,
    Rule.DOUBLED_TRIANGLES,
    Rule.NO_VOLUME,
    Rule.FLIPPED,
    Rule.INSIDE_OUT,
    Rule.NO_FREE_SPACE,
    Rule.TRIANGLE_SPHERES,
    Rule.LISTED_STATES,
    Rule.MISSING_ENTRIES,
    Rule.LIST_SPHERES,
    Rule.PART_SIZE_WORDS,
    Rule.PART_USABLE,
    Rule.SET_END,
    Rule.SAME_PART_IDS,
    Rule.NAVIGATION_ARRAYS,
    Rule.NAVIGATION_CONTENTS,
    Rule.NAVIGATION_FIT,
    Rule.NAVIGATION_NUMBERS,
    Rule.NAVIGATION_ADJACENCY,
    Rule.NAVIGATION_PLANES,
    Rule.NAVIGATION_SIDES,
    Rule.NAVIGATION_SPHERES,
    Rule.NAVIGATION_ITEM_SPHERES,
    Rule.ARCHIVE_ORDER,
    Rule.ARCHIVE_DATA,
    Rule.ENTRY_CONTENTS,
    Rule.GAME_ARCHIVES,
    Rule.STAGE_TABLES,
    Rule.PHASE_FILES,
    Rule.PAIR_FILES,
    Rule.PAIR_GRID,
    Rule.SET_FILES,
}
_WARNINGS = {
    Rule.CHUNK_END,
    Rule.SPHERE_ROUNDING,
    Rule.BURIED_SURFACES,
    Rule.EMPTY_STATES,
    Rule.REMOVED_SURFACES,
    Rule.LOOSE_VERTICES,
    Rule.LONG_LISTS,
    Rule.GROWN_GRID,
    Rule.SELF_INTERSECTIONS,
    Rule.INTERSECTING_SURFACES,
    Rule.OBJ_FACES,
    Rule.PART_COORDINATES,
    Rule.PART_NAME_END,
    Rule.PART_NAME_LETTERS,
    Rule.PART_TRIANGLES,
    Rule.PART_CORNERS,
    Rule.PART_ZERO_AREA,
    Rule.PART_DROPPED,
    Rule.REMOVED_PART,
    Rule.REPLACED_PART,
    Rule.EMPTY_PART,
    Rule.NAVIGATION_CORNERS,
    Rule.NAVIGATION_CENTRES,
    Rule.NAVIGATION_PAIRS,
    Rule.NAVIGATION_CELLS,
    Rule.NAVIGATION_UNREACHED,
    Rule.NAVIGATION_ROCK,
    Rule.NAVIGATION_CLEARANCES,
    Rule.NAVIGATION_CUT,
    Rule.NAVIGATION_FREED,
    Rule.TABLE_ROWS,
    Rule.TABLE_STRINGS,
    Rule.TABLE_HASHES,
    Rule.TABLE_SECTIONS,
    Rule.TABLE_KEYS,
    Rule.ARCHIVE_HEADER,
    Rule.ARCHIVE_COUNT,
    Rule.ARCHIVE_DUPLICATES,
    Rule.ARCHIVE_ALIGNMENT,
    Rule.ARCHIVE_OVERLAP,
    Rule.SET_CONTENTS,
}

SEVERITIES = {
    rule: Severity.ERROR if rule in _ERRORS else Severity.WARNING if rule in _WARNINGS else Severity.INFO
    for rule in Rule
}
"""How much it matters that a file or an edit breaks a rule. Circumstances may make it less: what an edit's source has
too is kept, and what rounding alone explains harms nobody."""
