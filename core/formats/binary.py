"""Bounds-checked views of big-endian bytes. Nothing from a file is trusted before it is checked here."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError


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
    result: np.ndarray = array.astype(dtype, order="C")
    result.flags.writeable = False
    return result


def big_endian(array: np.ndarray, dtype: str) -> bytes:
    """The bytes of an array in the file's byte order and width."""
    return np.ascontiguousarray(array, dtype=dtype).tobytes()


def offset_of(record: np.dtype, field: str) -> int:
    """The offset in bytes of a field in a record. Raises `KeyError` if there is none."""
    fields: Mapping[str, tuple] = record.fields or {}
    return fields[field][1]


def padding(size: int, alignment: int = 16) -> int:
    """How many bytes bring `size` to a multiple of `alignment`."""
    return -size % alignment


def check_finite(vertices: NDArray[np.floating], triangles: NDArray[np.integer], offset: int | None = None) -> None:
    """Raises `FormatError` if a vertex that a triangle uses is infinite or not a number. `offset` is where the
    vertices, float32 (n, 3), stand in the file."""
    bad = ~np.isfinite(vertices)
    if bad.any():
        used = np.zeros(len(vertices), bool)
        used[triangles] = True
        bad &= used[:, None]
    if bad.any():
        where = int(np.argmax(bad))
        raise FormatError(
            f"vertex {where // 3:,} has no usable {'xyz'[where % 3]} coordinate",
            offset=None if offset is None else offset + 4 * where,
            expected="a finite number",
            found=f"{vertices.ravel()[where]:g}",
        )


def check_indices(triangles: NDArray[np.integer], vertex_count: int, offset: int | None = None, size: int = 0) -> None:
    """Raises `FormatError` if a triangle (n, 3) names no vertex. `offset` is where the triangles stand in the file,
    of `size` bytes each."""
    if len(triangles) and triangles.max() >= vertex_count:
        where = int(np.argmax(triangles.ravel() >= vertex_count))
        raise FormatError(
            f"triangle {where // 3:,} uses a vertex that doesn't exist",
            offset=None if offset is None else offset + where * size // 3,
            expected=f"a number below {vertex_count:,}",
            found=f"{triangles.ravel()[where]:,}",
        )
