"""Small `.rgn` files, written with `struct` alone from docs/FORMATS.md, section 5."""

from __future__ import annotations

import math
import struct

from core.geometry.grid import Grid

NAMES = ("vertices", "tetrahedra", "faces", "cells", "items", "references")
SIZES = (12, 96, 48, 8, 32, 4)
FACES = ((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2))
"""The vertices of each face; the first is the slanted one, each other lies across an axis."""


def make_navigation(grid: Grid) -> bytes:
    """Four vertices, one tetrahedron, four faces and their two spare ones; the last cell leads to the tetrahedron that
    lies in it."""
    counts = (4, 1, 4, grid.cell_count, 1, 1)
    starts, end = {}, 0x90
    for name, count, size in zip(NAMES, counts, SIZES, strict=True):
        starts[name] = end
        end += (count + 2 * (name == "faces")) * size
        end += -end % 16
    data = bytearray(end)

    def put(offset: int, form: str, *values) -> None:
        struct.pack_into(">" + form, data, offset, *values)

    extent = [high - low for low, high in zip(grid.minimum, grid.maximum, strict=True)]
    put(0x00, "4s3I", b"REGN", end - 0x10, 0x00010005, 0)
    put(0x10, "16f", *grid.minimum, 1, *grid.maximum, 1, *extent, 0, *grid.cell_size, 0)
    put(0x50, "3I", *grid.dimensions)
    put(0x60, "6H", *counts)
    put(0x70, "6I", *(start - 0x10 for start in starts.values()))
    places, planes, sphere = _tetrahedron(grid)
    centres = [[sum(places[corner][axis] for corner in face) / 3 for axis in range(3)] for face in FACES]
    put(starts["vertices"], "12f", *(value for place in places for value in place))
    put(starts["tetrahedra"], "4f", *sphere)
    put(starts["tetrahedra"] + 0x18, "4H", 0, 1, 2, 3)
    pairs = [(math.dist(centres[a], centres[b]), 0) for a in range(4) for b in range(a + 1, 4)]
    put(starts["tetrahedra"] + 0x20, "12f", *(value for pair in pairs for value in pair))
    put(starts["tetrahedra"] + 0x54, "4B", 0, 1, 1, 1)
    for number, (face, plane, centre) in enumerate(zip(FACES, planes, centres, strict=True)):
        at = starts["faces"] + 48 * number
        put(at, "7f", *plane, *centre)
        put(at + 0x20, "6H", *face, number, 0, 0xFFFF)
    last_cell = starts["cells"] + 8 * (grid.cell_count - 1)
    put(last_cell, "2I", 1, starts["items"] - 0x10)
    put(starts["items"], "4f2I", *sphere, 1, starts["references"] - 0x10)
    put(starts["references"], "I", starts["tetrahedra"] - 0x10)
    slots = [*range(0x70, 0x88, 4), last_cell + 4, starts["items"] + 0x14, starts["references"]]
    coded, before = b"", 0x10
    for slot in slots:  # in 14 bits, which is long enough here
        coded += struct.pack(">H", 0x8000 | (slot - before) // 4)
        before = slot
    coded += bytes(-len(coded) % 16)
    return bytes(data) + struct.pack(">4s3I", b"POF0", len(coded), 0x00010005, 0) + coded + bytes(16)


def _tetrahedron(grid: Grid) -> tuple[list[list[float]], list[list[float]], list[float]]:
    """Places of the four corners, planes of the four faces, and the sphere: a corner of a cube in the last cell."""
    size = float(min(grid.cell_size)) / 4
    corner = [
        float(low) + (count - 1 + 0.25) * float(cell)
        for low, count, cell in zip(grid.minimum, grid.dimensions, grid.cell_size, strict=True)
    ]
    places = [corner] + [[corner[n] + size * (n == axis) for n in range(3)] for axis in range(3)]
    slant = 1 / math.sqrt(3)
    planes = [[slant, slant, slant, -slant * (sum(corner) + size)]]
    planes += [[*(float(n == axis) for n in range(3)), -corner[axis]] for axis in range(3)]
    middle = [place + size / 2 for place in corner]
    return places, planes, [*middle, size * math.sqrt(3) / 2 * 1.001]
