"""The cell lists of a hull: decode and encode. docs/FORMATS.md, section 3."""

from __future__ import annotations

import numpy as np

from ..errors import FormatError
from .binary import native, offset_of, view
from .chunk import POINTER_BASE
from .mcol_records import CELL, INDEX, LIST

MOST_SHARED = 1 << 18
"""How many list entries a file may have beyond those that it has room for, because cells share lists."""


def decode_lists(
    body: memoryview, cells: np.ndarray, occupied: np.ndarray, cells_at: int
) -> tuple[np.ndarray, int, np.ndarray, np.ndarray]:
    """List records (m,), their offset, and each occupied cell's first list and number of lists."""
    counts = cells["list_count"][occupied].astype(np.int64)
    starts = POINTER_BASE + cells["lists"][occupied].astype(np.int64)
    if not len(occupied):
        return np.zeros(0, LIST), len(body), starts, counts
    lists_at = int(starts.min())
    ends = starts + counts * LIST.itemsize
    first_list = (starts - lists_at) // LIST.itemsize
    bad = (starts == POINTER_BASE) | (ends > len(body)) | (lists_at + LIST.itemsize * first_list != starts)
    if bad.any():
        row = int(np.argmax(bad))
        raise FormatError(
            f"cell number {occupied[row]:,} has {counts[row]:,} list records that lie outside the file or "
            "out of line with the others",
            offset=cells_at + int(occupied[row]) * CELL.itemsize + offset_of(CELL, "lists"),
            expected=f"records of 32 bytes below 0x{len(body):X}",
            found=f"0x{starts[row]:X} to 0x{ends[row]:X}",
        )
    lists = view(body, LIST, (int(ends.max()) - lists_at) // LIST.itemsize, lists_at, "list records")
    return lists, lists_at, first_list, counts


def decode_indices(
    body: memoryview, lists: np.ndarray, lists_at: int, triangle_count: int
) -> tuple[np.ndarray, int, np.ndarray, np.ndarray]:
    """The index array uint16 (p,), its offset, and where each list begins in it and how many it has, int64 (m,)."""
    counts = lists["count"].astype(np.int64)
    starts = POINTER_BASE + lists["indices"].astype(np.int64)
    ends = starts + counts * INDEX.itemsize
    used = starts != POINTER_BASE
    indices_at = int(starts.min(where=used, initial=len(body)))
    list_starts = (starts - indices_at) // INDEX.itemsize
    bad = (ends > len(body)) | (indices_at + INDEX.itemsize * list_starts != starts)
    if not used.all():
        bad = np.where(used, bad, counts > 0)
    if bad.any():
        row = int(np.argmax(bad))
        raise FormatError(
            f"list record number {row:,} names {counts[row]:,} triangles that lie outside the file",
            offset=lists_at + row * LIST.itemsize + offset_of(LIST, "indices"),
            expected=f"2-byte numbers below 0x{len(body):X}",
            found=f"0x{starts[row]:X} to 0x{ends[row]:X}",
        )
    size = (int(ends.max(where=used, initial=indices_at)) - indices_at) // INDEX.itemsize
    indices = native(view(body, INDEX, size, indices_at, "list indices"), np.uint16)
    if size and indices.max() >= triangle_count:
        listed = np.zeros(size + 1, np.int64)
        np.add.at(listed, list_starts[used], 1)
        np.add.at(listed, (ends[used] - indices_at) // INDEX.itemsize, -1)
        wrong = np.flatnonzero((np.cumsum(listed)[:-1] > 0) & (indices >= triangle_count))
        if len(wrong):
            raise FormatError(
                "a cell list names a triangle that doesn't exist",
                offset=indices_at + int(wrong[0]) * INDEX.itemsize,
                expected=f"a number below {triangle_count:,}",
                found=f"{indices[wrong[0]]:,}",
            )
    list_starts[~used] = -1
    return indices, indices_at, list_starts, counts


def check_shared(first_list: np.ndarray, list_counts: np.ndarray, sizes: np.ndarray, length: int) -> None:
    """Cells may share lists, and lists indices. Raises `FormatError` if they do so without measure: written out, twenty
    kilobytes could fill all memory."""
    ends = np.concatenate(([0.0], np.cumsum(sizes, dtype=np.float64)))
    entries = float((ends[first_list + list_counts] - ends[first_list]).sum()) if len(first_list) else 0.0
    most = length // INDEX.itemsize + MOST_SHARED
    if max(entries, ends[-1]) > most:
        raise FormatError(
            "the cells list impossibly many triangles, the same ones over and over",
            expected=f"{most:,} list entries at most",
            found=f"{max(entries, ends[-1]):,.0f}",
            remedy="the file is damaged, or made to do harm",
        )
