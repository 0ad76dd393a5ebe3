"""What a hull's relocation table may say beyond the pointers of the layout. docs/FORMATS.md,
sections 2 and 3.

The game adds the payload's address to each word that the table names, except to null pointers. So a table may name
words that the game doesn't read, and may leave out pointers that the game doesn't follow. Both are preserved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from . import chunk

POINTER = 4
"""Bytes of a pointer."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Bytes of a file with words that the game doesn't read: where they begin, and how many there are.

    `words` are the offsets of these words in each record of `stride` bytes; all words without any. `records` limits
    them to some records, bool (n,).
    """

    start: int
    size: int
    words: tuple[int, ...] = ()
    stride: int = POINTER
    records: np.ndarray | None = None

    def holds(self, slots: np.ndarray) -> np.ndarray:
        """Which of the slots, int64 (n,), are such words, bool (n,)."""
        offset = slots - self.start
        inside = self.has_room(offset)
        if self.words:
            inside &= np.isin(offset % self.stride, self.words)
        if self.records is not None:
            inside[inside] = self.records[offset[inside] // self.stride]
        return inside

    def has_room(self, offsets: np.ndarray) -> NDArray[np.bool_]:
        """Whether words at these offsets lie inside, bool (n,)."""
        return (offsets >= 0) & (offsets + POINTER <= self.size)


@dataclass(frozen=True, slots=True, eq=False)
class OddSlots:
    """How a file's relocation table differs from that of the layout.

    beyond    for each place by name, the offsets in it, int64 (n,), that the table names beyond the layout's slots
    without   numbers of the list records, int64 (n,), whose pointer the table leaves out
    """

    beyond: Mapping[str, np.ndarray] = field(default_factory=dict)
    without: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def count(self) -> int:
        """How many slots differ."""
        return len(self.without) + sum(map(len, self.beyond.values()))

    def apply(self, layout: np.ndarray, empty_lists: np.ndarray, places: Mapping[str, Place]) -> NDArray[np.int64]:
        """The layout's slots, int64 (n,), changed as in the source file as far as the places of an edited one go.

        `empty_lists` are the slots of the list records without triangles, -1 for others, int64 (m,).
        """
        if not self.count:
            return layout
        left_out = empty_lists[self.without[self.without < len(empty_lists)]]
        added = [
            places[name].start + offsets[places[name].has_room(offsets)]
            for name, offsets in self.beyond.items()
            if name in places
        ]
        return np.union1d(np.setdiff1d(layout, left_out), np.concatenate([layout[:0], *added]))


def compare(found: np.ndarray, layout: np.ndarray, empty_lists: np.ndarray, places: Mapping[str, Place]) -> OddSlots:
    """How a table's slots differ from the layout's, int64 (n,) each. `empty_lists`: see `OddSlots.apply`.

    Raises `FormatError` if the table lacks a pointer that the game follows, names a word that the game reads as
    something else, or names a word twice.
    """
    if np.array_equal(found, layout):
        return OddSlots()
    spare = empty_lists[empty_lists >= 0]
    extra = ~np.isin(found, layout)
    allowed = ~extra
    beyond: dict[str, np.ndarray] = {}
    for name, place in places.items():
        here = extra & place.holds(found)
        allowed |= here
        if here.any():
            beyond[name] = found[here] - place.start
    chunk.check_slots(found, np.setdiff1d(layout, spare), allowed)
    return OddSlots(beyond, np.flatnonzero((empty_lists >= 0) & ~np.isin(empty_lists, found)))
