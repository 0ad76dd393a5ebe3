"""After any sequence of edits the file holds what the view shows, or the export is refused with a reason."""

from __future__ import annotations

import bpy
import pytest

from tests.blender.sequences import try_sequence
from tests.support.tally import cases

VERSIONS = [(4, 2), (4, 5), (5, 0), (5, 3)]
EACH = 75
"""Sequences that a Blender tries, each others: 300 in all."""

FIRST = EACH * (VERSIONS.index(bpy.app.version[:2]) if bpy.app.version[:2] in VERSIONS else 0)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + EACH))
def test_a_random_sequence_of_edits_is_exported_as_it_is_shown(seed: int, addon) -> None:
    with cases("What the view shows is what the file holds") as figure:
        outcome = try_sequence(seed, addon)
        figure.refused += bool(outcome.refused)
        assert not outcome.fault, f"{', '.join(outcome.steps)}: {outcome.fault}"
