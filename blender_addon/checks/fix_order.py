"""Fixing everything that can be fixed safely, in an order in which each fix leaves what the next one needs."""

from __future__ import annotations

import bpy

from ...core.errors import Severity
from . import fixing

ORDER = (
    fixing.MERGE_VERTICES,
    fixing.ZERO_AREA,
    fixing.DOUBLED_FACES,
    fixing.FILL_HOLES,
    fixing.FLIP_FACES,
    fixing.LOOSE_VERTICES,
)
"""Merged vertices leave zero-area faces, without these and the doubled ones the holes show, and only a closed surface
has a side that faces outward. What concerns whole objects, a cutter or a cell box, is the user's to decide."""


def fix_all(context: bpy.types.Context, root: bpy.types.Object) -> dict[str, int]:
    """Fixes all errors and warnings below a root that can be fixed: by the objects' names, how many. Raises
    `SylpheedError`."""
    fixed: dict[str, int] = {}
    for fix in ORDER:
        for severity in _severities(fix):
            for name, count in fixing.fix_objects(context, root, fix, severity.value).counts.items():
                fixed[name] = fixed.get(name, 0) + count
    return fixed


def _severities(fix: fixing.MeshFix) -> tuple[Severity, ...]:
    """What to fix. What a source file has too is for information, and stays; but doubled vertices that are for
    information are those that the export joins anyway."""
    both = (Severity.ERROR, Severity.WARNING)
    return (*both, Severity.INFO) if fix is fixing.MERGE_VERTICES else both
