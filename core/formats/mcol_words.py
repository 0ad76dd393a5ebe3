"""The words of a hull's file: those that hold pointers, those that the game never reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .binary import offset_of
from .chunk import POINTER_BASE
from .mcol_pointers import Place
from .mcol_records import CELL, HEADER, HEADER_POINTERS, LIST, header_offset


def pointer_slots(cells_at: int, occupied: np.ndarray, lists_at: int, list_count: int) -> np.ndarray:
    """File offsets of the words that hold pointers, ascending: the relocation table, section 2."""
    return np.sort(
        np.concatenate(
            (
                np.array([header_offset(name) for name in HEADER_POINTERS]),
                cells_at + offset_of(CELL, "lists") + CELL.itemsize * occupied,
                lists_at + offset_of(LIST, "indices") + LIST.itemsize * np.arange(list_count),
            ),
            dtype=np.int64,
        )
    )


def unfollowed_pointers(lists_at: int, list_sizes: np.ndarray) -> NDArray[np.int64]:
    """File offsets of the index pointers of list records without triangles, -1 for other records, int64 (m,)."""
    pointers = lists_at + offset_of(LIST, "indices") + LIST.itemsize * np.arange(len(list_sizes))
    return np.where(list_sizes > 0, -1, pointers)


_UNREAD_IN_HEADER = tuple(
    header_offset(name) - POINTER_BASE + 4 * word
    for name, words in (
        ("minimum_w", 1),
        ("maximum_w", 1),
        ("extent", 3),
        ("extent_w", 1),
        ("unknown_4c", 1),
        ("unknown_60", 4),
        ("unknown_78", 2),
    )
    for word in range(words)
)


_UNREAD_IN_CELL = (offset_of(CELL, "unknown_0c"), *range(offset_of(CELL, "sphere"), CELL.itemsize, 4))


_UNREAD_IN_LIST = (offset_of(LIST, "unknown_08"), offset_of(LIST, "unknown_08") + 4)


def unread_places(at: dict[str, int], sizes: dict[str, int], occupied: np.ndarray) -> dict[str, Place]:
    """By name, where a file with arrays at these places and of these sizes has words that the game doesn't read.
    docs/FORMATS.md, section 3."""
    empty = np.ones(sizes["cells"] // CELL.itemsize, bool)
    empty[occupied] = False
    return {
        "header": Place(POINTER_BASE, HEADER.itemsize, _UNREAD_IN_HEADER, HEADER.itemsize),
        "cells": Place(at["cells"], sizes["cells"], _UNREAD_IN_CELL, CELL.itemsize),
        "empty cells": Place(at["cells"], sizes["cells"], (offset_of(CELL, "lists"),), CELL.itemsize, empty),
        "lists": Place(at["lists"], sizes["lists"], _UNREAD_IN_LIST, LIST.itemsize),
    }


def spare_places(spares: Sequence[tuple[int, bytes]]) -> dict[str, Place]:
    """The same for the bytes in front of the arrays, between and behind them, numbered in file order."""
    return {f"spare {number}": Place(start, len(spare)) for number, (start, spare) in enumerate(spares)}
