"""The records of a hull's file: header, cell, list, and the elements of its arrays. docs/FORMATS.md, section 3."""

from __future__ import annotations

import numpy as np

from .binary import offset_of
from .box import BOX_FIELDS
from .chunk import POINTER_BASE

HEADER = np.dtype(
    [
        *BOX_FIELDS,
        ("unknown_4c", ">u4"),
        ("vertex_count", ">u2"),
        ("triangle_count", ">u2"),
        ("vertices", ">u4"),
        ("triangles", ">u4"),
        ("spheres", ">u4"),
        ("unknown_60", ">u4", 4),
        ("dimensions", "u1", 3),
        ("outside_solid", "u1"),
        ("cells", ">u4"),
        ("unknown_78", ">u4", 2),
    ]
)


HEADER_END = POINTER_BASE + HEADER.itemsize


HEADER_POINTERS = ("vertices", "triangles", "spheres", "cells")


CELL = np.dtype(
    [
        ("position", "u1", 3),
        ("state", "u1"),
        ("list_count", ">u4"),
        ("lists", ">u4"),
        ("unknown_0c", ">u4"),
        ("sphere", ">f4", 4),
    ]
)


LIST = np.dtype([("count", ">u4"), ("indices", ">u4"), ("unknown_08", ">u4", 2), ("sphere", ">f4", 4)])


VERTEX = np.dtype((">f4", 3))


TRIANGLE = np.dtype((">u2", 3))


SPHERE = np.dtype((">f4", 4))


INDEX = np.dtype(">u2")


def header_offset(name: str) -> int:
    return POINTER_BASE + offset_of(HEADER, name)
