"""The grid of cells that a hull's triangles are sorted into. docs/FORMATS.md, section 3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LARGEST_DIMENSION = 255


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A box cut into equal cells, in game units.

    `minimum`, `maximum`, `cell_size` are float32 (3,), as the file holds them; `dimensions` counts the cells
    along x, y and z. Cell (x, y, z) has the number (z * ny + y) * nx + x.
    """

    minimum: NDArray[np.float32]
    maximum: NDArray[np.float32]
    cell_size: NDArray[np.float32]
    dimensions: tuple[int, int, int]

    @property
    def cell_count(self) -> int:
        nx, ny, nz = self.dimensions
        return nx * ny * nz

    def number(self, position: np.ndarray) -> NDArray[np.int64]:
        """Cell numbers, int64 (n,), of cell positions (n, 3)."""
        nx, ny, _ = self.dimensions
        x, y, z = np.asarray(position, np.int64).T
        return (z * ny + y) * nx + x

    def position(self, number: np.ndarray) -> NDArray[np.int64]:
        """Cell positions x, y, z, int64 (n, 3), of cell numbers (n,)."""
        nx, ny, _ = self.dimensions
        number = np.asarray(number, np.int64)
        return np.stack((number % nx, number // nx % ny, number // (nx * ny)), axis=-1)

    def lower_corner(self, position: np.ndarray) -> NDArray[np.float64]:
        """Lower corners, float64 (n, 3), of cells at the positions (n, 3)."""
        return self.minimum.astype(np.float64) + np.asarray(position) * self.cell_size.astype(np.float64)

    def locate(self, points: NDArray[np.floating]) -> NDArray[np.int64]:
        """The cell positions, int64 (n, 3), in which the game looks points (n, 3) up; outside the grid they
        lie below 0 or beyond the dimensions. The game truncates toward zero."""
        offset = np.asarray(points, np.float64) - self.minimum.astype(np.float64)
        return np.trunc(offset / self.cell_size.astype(np.float64)).astype(np.int64)

    def outside(self, points: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Which points (n, 3) lie outside the box, bool (n,)."""
        points = np.asarray(points)
        x, y, z = ((points < self.minimum) | (points > self.maximum)).T
        return x | y | z
