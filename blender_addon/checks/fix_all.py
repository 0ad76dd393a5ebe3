"""Fixing everything that can be fixed safely, in an order in which each fix leaves what the next one needs."""

from __future__ import annotations

import bpy

from ...core.errors import Severity
from . import fixing, results
from .fix_kinds import FixKind

ORDER = (
    FixKind.MERGE_VERTICES,
    FixKind.ZERO_AREA,
    FixKind.DOUBLED_FACES,
    FixKind.FILL_HOLES,
    FixKind.FLIP_FACES,
    FixKind.LOOSE_VERTICES,
)
"""Merged vertices leave zero-area faces, without these and the doubled ones the holes show, and only a closed surface
has a side that faces outward. What concerns whole objects, a cutter or a cell box, is the user's to decide."""


PASSES = 3
"""How often the order is gone through at most: a filled hole may show which way a surface faces."""


def fix_all(context: bpy.types.Context, root: bpy.types.Object) -> fixing.Fixed:
    """Fixes all errors and warnings below a root that can be fixed, and keeps the check of the result: by the objects'
    names how many, and why others are left. Raises `SylpheedError`."""
    checked = results.run(context, root)
    counts: dict[str, int] = {}
    left_out: dict[str, str] = {}
    for _ in range(PASSES):
        left_out, before = {}, sum(counts.values())
        for kind in ORDER:
            fix = fixing.MESH_FIXES[kind]
            for severity in _severities(kind):
                if not fix.found(checked, severity.value):
                    continue
                done = fixing.fix_objects(context, root, fix, severity.value)
                for name, count in done.counts.items():
                    counts[name] = counts.get(name, 0) + count
                left_out |= done.left_out
                checked = results.of(root).checked
        if sum(counts.values()) == before:
            break
    return fixing.Fixed({name: count for name, count in counts.items() if count}, left_out)


def _severities(kind: FixKind) -> tuple[Severity, ...]:
    """What to fix. What a source file has too is for information, and stays; but doubled vertices that are for
    information are those that the export joins anyway."""
    both = (Severity.ERROR, Severity.WARNING)
    return (*both, Severity.INFO) if kind is FixKind.MERGE_VERTICES else both
