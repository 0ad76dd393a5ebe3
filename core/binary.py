"""Bounds-checked views of big-endian bytes. Nothing from a file is trusted before it is checked here."""

from __future__ import annotations

import numpy as np

from .errors import FormatError


def view(data: bytes | memoryview, dtype: np.dtype, count: int, offset: int, what: str) -> np.ndarray:
    """`count` records of `dtype` at `offset` of `data`, without a copy.

    Raises `FormatError` if they reach beyond the data, before anything is allocated.
    """
    if count < 0:
        raise FormatError(f"there can't be {count:,} of {what}", offset=max(offset, 0))
    check_extent(data, count * dtype.itemsize, offset, what)
    return np.frombuffer(data, dtype, count, offset)


def check_extent(data: bytes | memoryview, size: int, offset: int, what: str) -> None:
    """Raises `FormatError` if `size` bytes at `offset` reach beyond the data."""
    if offset < 0 or offset + size > len(data):
        raise FormatError(
            f"{what} reach beyond the end of the file",
            offset=max(offset, 0),
            expected=f"{size:,} bytes",
            found=f"{max(len(data) - max(offset, 0), 0):,} bytes",
            remedy="the file is cut short or damaged, extract it again",
        )


def native(array: np.ndarray, dtype: type) -> np.ndarray:
    """A contiguous copy in the machine's byte order, bits kept, marked read-only."""
    result = array.astype(dtype, order="C")
    result.flags.writeable = False
    return result


def big_endian(array: np.ndarray, dtype: str) -> bytes:
    """The bytes of an array in the file's byte order and width."""
    return np.ascontiguousarray(array, dtype=dtype).tobytes()


def padding(size: int, alignment: int = 16) -> int:
    """How many bytes bring `size` to a multiple of `alignment`."""
    return -size % alignment
