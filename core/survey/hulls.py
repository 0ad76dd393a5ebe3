"""The survey's own reader of hulls, which no file stops: what lies outside the file is left out, nothing is refused.

docs/FORMATS.md, section 3.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..formats.binary import offset_of
from ..formats.chunk import POINTER_BASE
from ..formats.mcol_records import CELL, HEADER, HEADER_END, HEADER_POINTERS, INDEX, LIST, SPHERE, TRIANGLE, VERTEX
from ..geometry.arrays import expand
from ..geometry.grid import Grid
from ..geometry.triangles import corners
from ..geometry.vectors import cross
from .chunks import Shell
from .facts import NothingThere, NotMeasurable

MOST_PAIRS, BYTES_A_PAIR = 1 << 17, 4
"""Pairs of triangle and cell, list records and list entries are looked at up to this number and one more for so many
bytes of the file: cells share lists, and a few triangles across a large grid would fill all memory."""
PAIRS_AT_ONCE = 1 << 14
NEAR = 1e-9
"""A triangle no farther from a cell than this part of the largest coordinate only touches it."""


class Hull:
    """A `.col` file as far as it can be read. `id` is the archive id of its name."""

    def __init__(self, data: bytes, id: str = "") -> None:
        self.data, self.id = data, id
        self.shell = Shell(data)
        self.end = self.shell.end
        self.header = np.frombuffer(data[POINTER_BASE:HEADER_END].ljust(HEADER.itemsize, b"\0"), HEADER)[0]
        self.at = {name: POINTER_BASE + int(self.header[name]) for name in HEADER_POINTERS}

    def require_few(self, count: float, what: str) -> None:
        """Raises `NothingThere` if there are more of something than `MOST_PAIRS` allows."""
        if count > MOST_PAIRS + len(self.data) // BYTES_A_PAIR:
            raise NothingThere(f"too many {what}")

    def _array(self, name: str, dtype: np.dtype, count: int) -> np.ndarray:
        at = min(self.at[name], self.end)
        return np.frombuffer(self.data, dtype, min(count, (self.end - at) // dtype.itemsize), at)

    @cached_property
    def vertices(self) -> np.ndarray:
        """Float32 (nv, 3)."""
        return self._array("vertices", VERTEX, int(self.header["vertex_count"])).astype(np.float32)

    @cached_property
    def all_triangles(self) -> np.ndarray:
        """Int64 (nt, 3), some perhaps of vertices that aren't there."""
        return self._array("triangles", TRIANGLE, int(self.header["triangle_count"])).astype(np.int64)

    @cached_property
    def usable(self) -> np.ndarray:
        """Which triangles have corners that exist and are numbers, bool (nt,)."""
        there = (self.all_triangles < len(self.vertices)).all(axis=1)
        there[there] = np.isfinite(self.vertices[self.all_triangles[there]]).all(axis=(1, 2))
        return there

    @property
    def triangles(self) -> np.ndarray:
        """Int64 (nt, 3). Raises `NothingThere` unless all of them are usable."""
        if not len(self.all_triangles):
            raise NothingThere("no triangles")
        if not self.usable.all():
            raise NothingThere("unusable triangles")
        return self.all_triangles

    @cached_property
    def spheres(self) -> np.ndarray:
        """Float32 (nt, 4). Raises `NotMeasurable` unless each triangle has one."""
        spheres = self._array("spheres", SPHERE, len(self.triangles)).astype(np.float32)
        if len(spheres) < len(self.triangles):
            raise NotMeasurable("spheres beyond the end of the payload")
        return spheres

    @property
    def dimensions(self) -> tuple[int, int, int]:
        """Cells along x, y and z, as the file says."""
        nx, ny, nz = (int(count) for count in self.header["dimensions"])
        return nx, ny, nz

    @cached_property
    def grid(self) -> Grid:
        """The grid. Raises `NothingThere` if it has no cells, or some lie beyond the payload's end."""
        minimum, maximum, size = (self.header[name].astype(np.float32) for name in ("minimum", "maximum", "cell_size"))
        grid = Grid(minimum, maximum, size, self.dimensions)
        usable = all(np.isfinite(values).all() for values in (minimum, maximum, size))
        if not usable or not (size > 0).all() or (maximum < minimum).any() or not grid.cell_count:
            raise NothingThere("no usable grid")
        if len(self.cells) < grid.cell_count:
            raise NothingThere("no usable grid")
        return grid

    @cached_property
    def cells(self) -> np.ndarray:
        """CELL records (n,), of which some may be missing."""
        return self._array("cells", CELL, int(np.prod(self.dimensions)))

    @cached_property
    def occupied(self) -> np.ndarray:
        """Numbers of the cells that have lists, int64 (k,)."""
        return np.flatnonzero(self.cells["list_count"])

    @cached_property
    def record_places(self) -> tuple[np.ndarray, np.ndarray]:
        """For each list record of each cell, int64 (r,) each: row of `occupied`, and the record's file offset."""
        starts = POINTER_BASE + self.cells["lists"][self.occupied].astype(np.int64)
        fit = np.maximum(self.end - starts, 0) // LIST.itemsize
        counts = np.minimum(self.cells["list_count"][self.occupied].astype(np.int64), fit)
        self.require_few(int(counts.sum()), "list records")
        rows, numbers = expand(starts // LIST.itemsize, counts)
        return rows, numbers * LIST.itemsize + (starts % LIST.itemsize)[rows]

    @cached_property
    def records(self) -> np.ndarray:
        """The list records themselves, LIST (r,)."""
        places = self.record_places[1]
        found = np.empty(len(places), LIST)
        octets = np.frombuffer(self.data, np.uint8)
        raw = found.view(np.uint8).reshape(len(places), LIST.itemsize)
        for column in range(LIST.itemsize):
            raw[:, column] = octets[places + column]
        return found

    @cached_property
    def list_starts(self) -> np.ndarray:
        """File offset of each record's indices, int64 (r,)."""
        return POINTER_BASE + self.records["indices"].astype(np.int64)

    @cached_property
    def list_sizes(self) -> np.ndarray:
        """How many indices of each record lie in the file, int64 (r,)."""
        fit = np.maximum(self.end - self.list_starts, 0) // INDEX.itemsize
        return np.minimum(self.records["count"].astype(np.int64), fit)

    @cached_property
    def all_entries(self) -> tuple[np.ndarray, np.ndarray]:
        """Every list entry, int64 (e,) each: row of `records`, triangle number, which may be too high."""
        self.require_few(int(self.list_sizes.sum()), "list entries")
        rows, numbers = expand(np.zeros(len(self.records), np.int64), self.list_sizes)
        places = self.list_starts[rows] + INDEX.itemsize * numbers
        octets = np.frombuffer(self.data, np.uint8)
        return rows, octets[places].astype(np.int64) << 8 | octets[places + 1]

    @cached_property
    def entries(self) -> tuple[np.ndarray, np.ndarray]:
        """The same without those that name no triangle."""
        rows, numbers = self.all_entries
        good = numbers < len(self.triangles)
        return rows[good], numbers[good]

    @cached_property
    def record_cells(self) -> np.ndarray:
        """The cell of each record, int64 (r,)."""
        return self.occupied[self.record_places[0]]

    @cached_property
    def pairs(self) -> Pairs:
        """Every triangle with every cell that it may reach."""
        return Pairs(self)

    @cached_property
    def expected_slots(self) -> np.ndarray:
        """File offsets of the words that the layout relocates, int64 (n,), ascending."""
        header = [POINTER_BASE + offset_of(HEADER, name) for name in HEADER_POINTERS]
        cells = self.at["cells"] + offset_of(CELL, "lists") + CELL.itemsize * self.occupied
        lists = self.record_places[1] + offset_of(LIST, "indices")
        return np.unique(np.concatenate((header, cells, lists))).astype(np.int64)

    @cached_property
    def blocks(self) -> list[tuple[int, str, int]]:
        """The six arrays in file order: offset, name, bytes."""
        counts = {
            "spheres": (SPHERE, int(self.header["triangle_count"])),
            "vertices": (VERTEX, int(self.header["vertex_count"])),
            "triangles": (TRIANGLE, int(self.header["triangle_count"])),
            "cells": (CELL, len(self.cells)),
        }
        blocks = [(self.at[name], name, dtype.itemsize * count) for name, (dtype, count) in counts.items()]
        places, used = self.record_places[1], self.list_sizes > 0
        if len(places):
            blocks.append((int(places.min()), "lists", int(places.max()) + LIST.itemsize - int(places.min())))
        if used.any():
            start = int(self.list_starts[used].min())
            end = int((self.list_starts + INDEX.itemsize * self.list_sizes)[used].max())
            blocks.append((start, "indices", end - start))
        return sorted((block for block in blocks if block[2]), key=lambda block: block[0])


class Pairs:
    """Triangles and the cells that they may reach.

    `keys` int64 (n,): cell number x nt + triangle number, ascending. `gaps` float64 (n,): how far apart they are, less
    than 0 by how deep the triangle reaches into the cell. Cells at the border have no end outward, as in the game's
    clamped queries. `within`: the largest gap of what only touches.
    """

    def __init__(self, hull: Hull) -> None:
        self.hull, self.count = hull, len(hull.triangles)
        grid, points = hull.grid, corners(hull.vertices, hull.triangles)
        self.minimum, self.size = grid.minimum.astype(np.float64), grid.cell_size.astype(np.float64)
        self.dimensions = np.array(grid.dimensions)
        self.low, self.high = points.min(axis=1), points.max(axis=1)
        far = max(np.abs(points).max(), np.abs(self.minimum).max())
        self.within = NEAR * far
        self.floor = np.minimum(self.low.min(axis=0), self.minimum) - self.size
        self.ceiling = np.maximum(self.high.max(axis=0), self.minimum + self.dimensions * self.size) + self.size
        first, last = (
            np.clip(edge, 0, self.dimensions - 1).astype(np.int64)
            for edge in (
                np.ceil((self.low - self.within - self.minimum) / self.size) - 1,
                np.floor((self.high + self.within - self.minimum) / self.size),
            )
        )
        spans = last - first + 1
        hull.require_few(float(spans.astype(np.float64).prod(axis=1).sum()), "pairs of triangle and cell")
        triangle, steps = expand(np.zeros(self.count, np.int64), spans.prod(axis=1))
        width, height = spans[triangle, 0], spans[triangle, 1]
        position = first[triangle] + np.stack((steps % width, steps // width % height, steps // (width * height)), 1)
        keys = grid.number(position) * self.count + triangle
        order = np.argsort(keys)
        self.keys = keys[order]
        self.gaps = self.measure(self.keys)

    def measure(self, keys: np.ndarray) -> np.ndarray:
        """The gaps, float64 (n,), of pairs given by their keys."""
        gaps = np.empty(len(keys))
        for first in range(0, len(keys), PAIRS_AT_ONCE):
            part = keys[first : first + PAIRS_AT_ONCE]
            position = self.hull.grid.position(part // self.count)
            begin = np.where(position == 0, self.floor, self.minimum + position * self.size)
            end = np.where(position == self.dimensions - 1, self.ceiling, self.minimum + (position + 1) * self.size)
            points = corners(self.hull.vertices, self.hull.triangles[part % self.count])
            gaps[first : first + PAIRS_AT_ONCE] = _gaps(points - ((begin + end) / 2)[:, None], (end - begin) / 2)
        return gaps

    def box_gaps(self, keys: np.ndarray) -> np.ndarray:
        """The same between the triangles' bounding boxes and the cells."""
        position = self.hull.grid.position(keys // self.count)
        begin = np.where(position == 0, self.floor, self.minimum + position * self.size)
        end = np.where(position == self.dimensions - 1, self.ceiling, self.minimum + (position + 1) * self.size)
        triangle = keys % self.count
        return np.maximum(self.low[triangle] - end, begin - self.high[triangle]).max(axis=1)

    @cached_property
    def listed(self) -> np.ndarray:
        """The keys that the cells' lists name, ascending, each once."""
        rows, numbers = self.hull.entries
        return np.unique(self.hull.record_cells[rows] * self.count + numbers)

    @cached_property
    def overlapping(self) -> np.ndarray:
        """The keys of triangles that reach into a cell, ascending."""
        return self.keys[self.gaps < -self.within]

    @cached_property
    def touching(self) -> np.ndarray:
        """The keys of triangles that only touch a cell, ascending."""
        return self.keys[np.abs(self.gaps) <= self.within]

    @cached_property
    def missing(self) -> np.ndarray:
        """How deep triangles reach into cells that don't list them, float64 (n,)."""
        absent = ~np.isin(self.keys, self.listed, assume_unique=True)
        return -self.gaps[absent & (self.gaps < -self.within)]

    @cached_property
    def listed_gaps(self) -> np.ndarray:
        """The gaps of the listed pairs, float64 (n,)."""
        return self.measure(self.listed)


def _gaps(points: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Between triangles (n, 3, 3) and boxes of these half sizes (n, 3) around the origin: the largest gap that any of
    the separating axes shows, float64 (n,)."""
    gap = (np.maximum(points.min(axis=1), -points.max(axis=1)) - half).max(axis=1)
    sides = np.roll(points, -1, axis=1) - points
    axes = [cross(np.ascontiguousarray(sides[:, 0]), np.ascontiguousarray(sides[:, 1]))]
    for side in range(3):
        for axis in range(3):
            across = np.zeros((len(points), 3))
            across[:, (axis + 1) % 3] = -sides[:, side, (axis + 2) % 3]
            across[:, (axis + 2) % 3] = sides[:, side, (axis + 1) % 3]
            axes.append(across)
    for direction in axes:
        length = np.linalg.norm(direction, axis=1)
        along = np.einsum("nki,ni->nk", points, direction)
        reach = np.einsum("ni,ni->n", np.abs(direction), half)
        apart = np.maximum(along.min(axis=1), -along.max(axis=1)) - reach
        gap = np.where(length > 0, np.maximum(gap, apart / np.where(length > 0, length, 1)), gap)
    return gap
