"""Small tools over whole arrays that numpy lacks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def expand(starts: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Runs written out: for each run i the pairs (i, starts[i]), (i, starts[i] + 1), …, two int64 arrays."""
    sizes = np.asarray(sizes, np.int64)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    first = np.cumsum(sizes) - sizes
    return rows, np.arange(len(rows)) - first[rows] + np.asarray(starts, np.int64)[rows]


def slices(sizes: np.ndarray, at_once: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Cuts runs into portions of `at_once` elements at most, for `expand`.

    Yields the number of the portion's first run, and for each run from there on how many of its elements
    earlier portions had and how many are in this one.
    """
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    for start in range(0, total, at_once):
        stop = min(start + at_once, total)
        first = int(np.searchsorted(ends, start, side="right"))
        last = int(np.searchsorted(ends, stop, side="left")) + 1
        begins = ends[first:last] - sizes[first:last]
        skipped = np.maximum(start - begins, 0)
        yield first, skipped, np.minimum(ends[first:last], stop) - begins - skipped


def components(count: int, left: np.ndarray, right: np.ndarray) -> NDArray[np.int64]:
    """Connected components of `count` nodes joined by the pairs (left[i], right[i]): for each node the lowest
    node of its component, int64 (count,)."""
    label = np.arange(count)
    low, high = np.minimum(left, right), np.maximum(left, right)
    while len(low):
        np.minimum.at(label, high, low)
        while not np.array_equal(label, following := label[label]):
            label = following
        left, right = label[low], label[high]
        apart = left != right
        left, right = left[apart], right[apart]
        low, high = np.minimum(left, right), np.maximum(left, right)
    return label


def narrow(numbers: np.ndarray) -> np.ndarray:
    """The same integers from 0 up in the smallest type that holds them: numpy sorts 16-bit ones in linear time."""
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)))


def stable_order(keys: np.ndarray) -> NDArray[np.int64]:
    """The order that sorts integers from 0 up, equal ones as they stand, int64 (n,)."""
    width = int(keys.max(initial=0)).bit_length()
    # Numpy sorts 16-bit numbers in linear time, wider ones by comparing.
    return np.lexsort([(keys >> shift).astype(np.uint16) for shift in range(0, max(width, 1), 16)])


def ranks(keys: np.ndarray) -> NDArray[np.int64]:
    """How many equal keys stand before each one, int64 (n,)."""
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    first = np.searchsorted(in_order, in_order, side="left")
    result = np.empty(len(keys), np.int64)
    result[order] = np.arange(len(keys)) - first
    return result


def contains(ascending: np.ndarray, keys: np.ndarray) -> NDArray[np.bool_]:
    """Which of the keys (n,) are among others that ascend, bool (n,)."""
    if not len(ascending):
        return np.zeros(len(keys), bool)
    at = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return ascending[at] == keys


def same_bits(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether two arrays hold the same values, bit for bit where the elements are of one size."""
    if left.shape != right.shape or left.itemsize != right.itemsize:
        return np.array_equal(left, right)
    return left.tobytes() == right.tobytes()


def bits(vertices: NDArray[np.floating]) -> np.ndarray:
    """Float32 (n, 3) coordinates as one comparable key a row, equal only where every bit is."""
    rows = np.ascontiguousarray(vertices, np.float32).view(np.uint32).reshape(-1, 3)
    return rows.view([("x", np.uint32), ("y", np.uint32), ("z", np.uint32)]).reshape(-1)


def place_keys(vertices: NDArray[np.floating]) -> np.ndarray:
    """Float32 (n, 3) coordinates as one comparable key a row, equal where they are one place: 0.0 and -0.0 are."""
    return bits(np.asarray(vertices, np.float32) + np.float32(0))  # -0.0 + 0.0 is 0.0


def same_places(left: np.ndarray, right: np.ndarray) -> NDArray[np.bool_]:
    """Which rows of two float32 arrays (n, 3) are one place, bool (n,). What isn't a number is equal to itself."""
    same = left == right
    if not same.all():
        same |= np.isnan(left) & np.isnan(right)
    x, y, z = same.T
    return x & y & z
