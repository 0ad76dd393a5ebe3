"""Checks of a hull's file around its arrays: chunks, order, lengths, unread words. docs/FORMATS.md, sections 1 to 3."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..formats import chunk, mcol_records
from ..formats.chunk import DEFAULT_FLAGS, END_OF_ROW, Relocation
from ..formats.mcol import ONE, Hull
from ..formats.mcol_layout import ROW, gaps
from ..rules.rule import Rule
from ..rules.severity import SEVERITIES
from .checks import Check, count
from .stored import carried, cell_records


def check_file(hull: Hull) -> list[Check]:
    """Every check of what a decoded hull's file holds around its arrays."""
    more = carried(hull)
    usual = ["spheres", "vertices", "triangles", "cells", "lists", "indices"]
    stored = [block.name for block in more.blocks if block.size]
    _, *behind = gaps(more.lead, more.blocks, mcol_records.HEADER_END)
    padded = [
        gap.alignment == ROW and not gap.kept
        for block, gap in zip(more.blocks, behind, strict=True)
        if block.name in ("vertices", "triangles", "spheres")
    ]
    spare = b"".join((more.lead, *(block.spare for block in more.blocks)))
    slots = len(mcol_records.HEADER_POINTERS) + len(hull.occupied) + len(hull.list_starts)
    pad_words = tuple(int(more.header[name]) for name in ("minimum_w", "maximum_w", "extent_w"))
    with np.errstate(over="ignore"):
        extent_fits = np.array_equal(more.header["extent"], hull.grid.maximum - hull.grid.minimum)
    in_order = not more.lead and stored == [name for name in usual if name in stored]
    words, usual_words = _unread_words(hull)
    odd_slots = more.odd_slots.count
    tail = chunk.survey_tail(more.shell.tail)
    return [
        Check(Rule.CHUNK_SHELL, 1, 1, SEVERITIES[Rule.CHUNK_SHELL]),  # decoding refuses a file without this
        count(Rule.CHUNK_END, [tail.ended]),
        count(Rule.CHUNK_ALONE, [not tail.chunks]),
        Check(Rule.POINTER_TABLE, max(slots - odd_slots, 0), slots, SEVERITIES[Rule.POINTER_TABLE]),
        count(Rule.BOX_WORDS, [pad_words == (ONE, ONE, 0)]),
        count(Rule.BOX_EXTENT, [extent_fits]),
        count(Rule.ARRAY_LENGTHS, padded),
        count(Rule.ARRAY_ORDER, [in_order]),
        count(Rule.SPARE_BYTES, np.frombuffer(spare, np.uint8) == 0),
        count(Rule.UNREAD_WORDS, words == usual_words),
    ]


def _unread_words(hull: Hull) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every word that the game doesn't read and nobody understands, and its usual value, int64 (n,) each."""
    more = carried(hull)
    shell = more.shell
    usual = Relocation()
    groups = [
        ([shell.flags], DEFAULT_FLAGS),
        ([shell.relocation.flags], usual.flags),
        ([shell.unknown_0c, shell.relocation.unknown_0c], 0),
        *((more.header[name].ravel(), 0) for name in ("unknown_4c", "unknown_60", "unknown_78")),
        (cell_records(hull)["unknown_0c"], 0),
        (more.list_words.ravel(), 0),
        ([shell.tail == END_OF_ROW], True),
    ]
    words = [np.asarray(group, np.int64) for group, _ in groups]
    usual_words = [np.full(len(group), value, np.int64) for group, (_, value) in zip(words, groups, strict=True)]
    return np.concatenate(words), np.concatenate(usual_words)
