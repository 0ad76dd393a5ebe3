"""Small `.rgn` files, written with `struct` alone from docs/FORMATS.md, section 5."""

from __future__ import annotations

import struct

from core.geometry.grid import Grid

NAMES = ("vertices", "tetrahedra", "faces", "cells", "items", "references")
SIZES = (12, 96, 48, 8, 32, 4)


def make_navigation(grid: Grid) -> bytes:
    """Four vertices, one tetrahedron, four faces and their two spare ones; the last cell leads to the tetrahedron."""
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
    put(starts["vertices"], "12f", *(range(12)))
    put(starts["tetrahedra"] + 0x18, "4H", 0, 1, 2, 3)
    last_cell = starts["cells"] + 8 * (grid.cell_count - 1)
    put(last_cell, "2I", 1, starts["items"] - 0x10)
    put(starts["items"], "4f2I", 0, 0, 0, 9, 1, starts["references"] - 0x10)
    put(starts["references"], "I", starts["tetrahedra"] - 0x10)
    slots = [*range(0x70, 0x88, 4), last_cell + 4, starts["items"] + 0x14, starts["references"]]
    coded, before = b"", 0x10
    for slot in slots:  # in 14 bits, which is long enough here
        coded += struct.pack(">H", 0x8000 | (slot - before) // 4)
        before = slot
    coded += bytes(-len(coded) % 16)
    return bytes(data) + struct.pack(">4s3I", b"POF0", len(coded), 0x00010005, 0) + coded + bytes(16)
