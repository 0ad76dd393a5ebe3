"""The grid of cells that a hull's triangles are sorted into, and its box in a header. Format notes, section 3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .binary import native
from .errors import FormatError

LARGEST_DIMENSION = 255

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


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A box cut into equal cells, in game units.

    `minimum`, `maximum`, `cell_size` are float32 (3,), as the file holds them; `dimensions` counts the cells
    along x, y and z. Cell (x, y, z) has the number (z * ny + y) * nx + x.
    """

    minimum: np.ndarray
    maximum: np.ndarray
    cell_size: np.ndarray
    dimensions: tuple[int, int, int]

    @property
    def cell_count(self) -> int:
        nx, ny, nz = self.dimensions
        return nx * ny * nz

    def number(self, position: np.ndarray) -> np.ndarray:
        """Cell numbers, int64 (n,), of cell positions (n, 3)."""
        nx, ny, _ = self.dimensions
        x, y, z = np.asarray(position, np.int64).T
        return (z * ny + y) * nx + x

    def position(self, number: np.ndarray) -> np.ndarray:
        """Cell positions x, y, z, int64 (n, 3), of cell numbers (n,)."""
        nx, ny, _ = self.dimensions
        number = np.asarray(number, np.int64)
        return np.stack((number % nx, number // nx % ny, number // (nx * ny)), axis=-1)

    def lower_corner(self, position: np.ndarray) -> np.ndarray:
        """Lower corners, float64 (n, 3), of cells at the positions (n, 3)."""
        return self.minimum.astype(np.float64) + np.asarray(position) * self.cell_size.astype(np.float64)

    def locate(self, points: np.ndarray) -> np.ndarray:
        """The cell positions, int64 (n, 3), in which the game looks points (n, 3) up; outside the grid they
        lie below 0 or beyond the dimensions. The game truncates toward zero."""
        offset = np.asarray(points, np.float64) - self.minimum.astype(np.float64)
        return np.trunc(offset / self.cell_size.astype(np.float64)).astype(np.int64)

    def outside(self, points: np.ndarray) -> np.ndarray:
        """Which points (n, 3) lie outside the box, bool (n,)."""
        points = np.asarray(points)
        x, y, z = ((points < self.minimum) | (points > self.maximum)).T
        return x | y | z


def decode_box(header: np.ndarray, offset: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
                offset=offset + header.dtype.fields[name][1] + 4 * axis,
                expected="a positive size" if name == "cell_size" else "a box",
                found=f"{values[axis]:g}",
            )
    return minimum, maximum, cell_size


def encode_box(header: np.ndarray, minimum: np.ndarray, maximum: np.ndarray, cell_size: np.ndarray) -> None:
    """Fills in the box of a header record that holds its source's values; the extent only follows a changed box."""
    if not (np.array_equal(header["minimum"], minimum) and np.array_equal(header["maximum"], maximum)):
        header["extent"] = maximum.astype(np.float64) - minimum
    header["minimum"], header["maximum"], header["cell_size"] = minimum, maximum, cell_size
