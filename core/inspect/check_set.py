"""Every check of a collision set. docs/FORMATS.md, section 4.

A check counts: how many of how many. What is normal in the game's own set is INFO when it fails.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..formats.collision_set import CollisionSet, Part, dropped, unusable
from ..geometry.edges import edge_census
from ..geometry.triangles import doubled, flat, repeated
from ..rules.rule import Rule
from ..rules.severity import SEVERITIES
from .checks import Check, Where, count, used

_PART_RULES = (
    Rule.PART_SIZE_WORDS,
    Rule.PART_USABLE,
    Rule.PART_COORDINATES,
    Rule.PART_NAME_END,
    Rule.PART_NAME_LETTERS,
    Rule.PART_NAME_FIELD,
    Rule.PART_NAME_REST,
    Rule.PART_TRIANGLES,
    Rule.PART_MANIFOLD,
    Rule.PART_EDGES,
    Rule.PART_CORNERS,
    Rule.PART_ZERO_AREA,
    Rule.PART_DOUBLED_TRIANGLES,
    Rule.PART_UNUSED_VERTICES,
)
"""What is checked of each part; `_part_truths` gives the values in this order."""


def check_set(library: CollisionSet) -> list[Check]:
    """Every check of a collision set. `elements` are the numbers of parts."""
    parts = library.parts
    truths = [_part_truths(part) for part in parts]
    checks = []
    for rule, values in zip(
        _PART_RULES, zip(*truths, strict=True) if truths else ((),) * len(_PART_RULES), strict=True
    ):
        owners = np.repeat(np.arange(len(parts)), [len(value) for value in values])
        good = np.concatenate([np.zeros(0, bool), *values])
        called = [_name_and_reason(part) if rule is Rule.PART_USABLE else part.name for part in parts]
        checks.append(count(rule, good, Where("mesh", owners, called.__getitem__)))
    first = ~np.isin(np.arange(len(parts)), dropped(parts))
    names = Where("mesh", label=lambda number: parts[number].name)
    checks.insert(_PART_RULES.index(Rule.PART_TRIANGLES), count(Rule.PART_DROPPED, first, names))
    note = f": {len(library.trailing):,} bytes" if library.trailing else ""
    ends = Check(Rule.SET_END, int(not library.trailing), 1, SEVERITIES[Rule.SET_END], note=note)
    return [*checks, ends]


def _name_and_reason(part: Part) -> str:
    return f"{part.name}: {unusable(part)}"


def _part_truths(part: Part) -> tuple[NDArray[np.bool_], ...]:
    name, closed, behind = part.name_field.partition(b"\0")
    usable = not unusable(part)
    if not usable:
        part = replace(part, vertices=part.vertices[:0], triangles=part.triangles[:0])
    shared = edge_census(part.triangles)[1] == 2
    values = (
        not part.size_excess,
        usable,
        np.isfinite(part.vertices).all(axis=1),
        bool(closed),
        _is_cp932(name),
        len(part.name_field) in (16, 24, 32),
        not any(behind),
        len(part.triangles) > 0 or not usable,
        shared.all(),
        shared,
        ~repeated(part.triangles),
        ~flat(part.vertices, part.triangles),
        ~doubled(part.triangles),
        used(part.vertices, part.triangles),
    )
    return tuple(np.atleast_1d(np.asarray(value, bool)) for value in values)


def _is_cp932(name: bytes) -> bool:
    try:
        name.decode("cp932")
    except UnicodeDecodeError:
        return False
    return True
