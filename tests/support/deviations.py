"""Single deviations of sound files, one changed fact each, for tests that look for the trace of it."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np

Change = Callable[[bytearray], bytes | bytearray]
POINTERS = {"vertices": 0x54, "triangles": 0x58, "spheres": 0x5C, "cells": 0x74}


def at(data: bytes | bytearray, name: str) -> int:
    """Where an array of a hull begins."""
    return 0x10 + struct.unpack_from(">I", data, POINTERS[name])[0]


def cells(data: bytes | bytearray) -> np.ndarray:
    """Offsets of all cell records."""
    nx, ny, nz = data[0x70:0x73]
    return at(data, "cells") + 32 * np.arange(nx * ny * nz)


def cell(data: bytes | bytearray, listed: bool, number: int = 0) -> int:
    """The offset of a cell record with or without lists, the first or a later one."""
    found = [offset for offset in cells(data).tolist() if bool(struct.unpack_from(">I", data, offset + 4)[0]) == listed]
    return found[number]


def record(data: bytes | bytearray, number: int = 0) -> int:
    """The offset of a list record."""
    return 0x10 + struct.unpack_from(">I", data, cell(data, True, number) + 8)[0]


def table(data: bytes | bytearray) -> int:
    """The offset of POF0."""
    return 0x10 + struct.unpack_from(">I", data, 4)[0]


def word(offset: int | Callable[[bytearray], int], value: int) -> Change:
    """Puts a word somewhere."""

    def change(data: bytearray) -> bytearray:
        struct.pack_into(">I", data, offset if isinstance(offset, int) else offset(data), value)
        return data

    return change


def byte(offset: int | Callable[[bytearray], int], value: int) -> Change:
    """Puts a byte somewhere."""

    def change(data: bytearray) -> bytearray:
        data[offset if isinstance(offset, int) else offset(data)] = value
        return data

    return change


def step(offset: Callable[[bytearray], int], by: int = 1) -> Change:
    """Moves a number by so many of its own steps."""

    def change(data: bytearray) -> bytearray:
        place = offset(data)
        struct.pack_into(">i", data, place, struct.unpack_from(">i", data, place)[0] + by)
        return data

    return change


def swapped(first: Callable[[bytearray], int], size: int) -> Change:
    """Exchanges two neighbours of so many bytes."""

    def change(data: bytearray) -> bytearray:
        place = first(data)
        data[place : place + 2 * size] = data[place + size : place + 2 * size] + data[place : place + size]
        return data

    return change


def indices_of(number: int) -> Callable[[bytearray], int]:
    """Where the indices of a list begin."""
    return lambda data: 0x10 + struct.unpack_from(">I", data, record(data, number) + 4)[0]


def without_an_entry(data: bytearray) -> bytearray:
    """The first list with three triangles or more loses its last; the others stay where they are."""
    place = next(record(data, number) for number in range(200) if _count(data, record(data, number)) > 2)
    struct.pack_into(">I", data, place, _count(data, place) - 1)
    return data


def _count(data: bytearray, place: int) -> int:
    return int(struct.unpack_from(">I", data, place)[0])
