"""Which boxes of two groups meet."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .arrays import expand, slices

PAIRS_AT_ONCE = 1 << 16

Boxes = tuple[np.ndarray, np.ndarray]
"""The lowest and the highest corners of boxes, (n, 3) each."""


def boxes_of(points: np.ndarray) -> Boxes:
    """The boxes around groups of points (n, k, 3)."""
    return points.min(axis=1), points.max(axis=1)


def meeting(one: Boxes, other: Boxes) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Every pair of a box of `one` with a box of `other` that touches it, each pair once, a portion at a time: numbers,
    int64 (n,) each."""
    runs = [_along(one, other, axis) for axis in range(3)]
    axis = int(np.argmin([sizes.sum() for _, sizes in runs]))
    starts, sizes = runs[axis]
    (low, high), (other_low, other_high) = one, other
    order, own_order = (np.argsort(side[0][:, axis], kind="stable") for side in (other, one))
    for run, skipped, taken in slices(sizes, PAIRS_AT_ONCE):
        rows, places = expand(starts[run : run + len(taken)] + skipped, taken)
        rows += run
        # The first runs are of others that begin within one, the second of ones that begin within another.
        first = rows < len(low)
        a, b = np.where(first, rows, 0), np.where(first, 0, rows - len(low))
        a[~first], b[first] = own_order[places[~first]], order[places[first]]
        near = ((low[a] <= other_high[b]) & (high[a] >= other_low[b])).all(axis=1)
        yield a[near], b[near]


def meeting_count(one: Boxes, other: Boxes) -> int:
    """How many pairs `meeting` looks at."""
    return min(int(_along(one, other, axis)[1].sum()) for axis in range(3))


def _along(one: Boxes, other: Boxes, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Runs of the boxes that begin within each box of the other group along an axis, in ascending order of where they
    begin: their starts and sizes, int64 (n + m,). Where both begin at one place, the pair counts once."""
    (low, high), (other_low, other_high) = ((side[0][:, axis], side[1][:, axis]) for side in (one, other))
    begins, other_begins = np.sort(low), np.sort(other_low)
    starts = np.concatenate((np.searchsorted(other_begins, low, "left"), np.searchsorted(begins, other_low, "right")))
    ends = np.concatenate((np.searchsorted(other_begins, high, "right"), np.searchsorted(begins, other_high, "right")))
    return starts, np.maximum(ends - starts, 0)
