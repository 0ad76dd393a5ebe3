"""The box of cells with which the headers of `.col` and `.rgn` files begin. docs/FORMATS.md, section 3."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from .binary import native, offset_of

BOX_FIELDS = (
    ("minimum", ">f4", 3),
    ("minimum_w", ">u4"),
    ("maximum", ">f4", 3),
    ("maximum_w", ">u4"),
    ("extent", ">f4", 3),
    ("extent_w", ">u4"),
    ("cell_size", ">f4", 3),
)
"""How the headers of `.col` and `.rgn` files begin."""

ONE = 0x3F800000
"""1.0 as the bits of a float32: the fourth word of the box's corners."""


def decode_box(header: np.ndarray, offset: int) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Minimum, maximum and cell size, float32 (3,) each, of a header record that begins with `BOX_FIELDS`.

    `offset` is where the header stands in the file. Raises `FormatError` if they make no box of cells.
    """
    minimum, maximum, cell_size = (native(header[name], np.float32) for name in ("minimum", "maximum", "cell_size"))
    for name, what, values, good in (
        ("minimum", "bounding box minimum", minimum, np.isfinite(minimum)),
        ("maximum", "bounding box maximum", maximum, np.isfinite(maximum) & (maximum >= minimum)),
        ("cell_size", "cell size", cell_size, np.isfinite(cell_size) & (cell_size > 0)),
    ):
        if not good.all():
            axis = int(np.argmin(good))
            raise FormatError(
                f"the {what} is impossible along {'xyz'[axis]}",
                offset=offset + offset_of(header.dtype, name) + 4 * axis,
                expected="a positive size" if name == "cell_size" else "a box",
                found=f"{values[axis]:g}",
            )
    return minimum, maximum, cell_size


def encode_box(
    header: np.ndarray, minimum: NDArray[np.floating], maximum: NDArray[np.floating], cell_size: np.ndarray
) -> None:
    """Fills in the box of a header record that holds its source's values; the extent only follows a changed box."""
    if not (np.array_equal(header["minimum"], minimum) and np.array_equal(header["maximum"], maximum)):
        header["extent"] = maximum.astype(np.float64) - minimum
    header["minimum"], header["maximum"], header["cell_size"] = minimum, maximum, cell_size
