"""REGN, the navigation volume beside a hull (`.rgn`): records, header and counts. docs/FORMATS.md, section 5.

Decoding carries the contents, tetrahedra and what leads to them, as they are; `regn_contents` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Finding, FormatError, Severity
from ..geometry.grid import LARGEST_DIMENSION, Grid
from ..rules.rule import Rule
from . import chunk
from .binary import offset_of, view
from .box import BOX_FIELDS, decode_box, encode_box
from .chunk import POINTER_BASE, Chunk

HEADER = np.dtype(
    [
        *BOX_FIELDS,
        ("unknown_4c", ">u4"),
        ("dimensions", ">u4", 3),
        ("unknown_5c", ">u4"),
        ("counts", ">u2", 6),
        ("unknown_6c", ">u4"),
        ("pointers", ">u4", 6),
    ]
)
HEADER_END = POINTER_BASE + HEADER.itemsize


class Sections(NamedTuple):
    """A number for each of the six arrays, in the header's order."""

    vertices: int
    tetrahedra: int
    faces: int
    cells: int
    items: int
    references: int


VERTEX = np.dtype((">f4", 3))
PAIR = np.dtype([("cost", ">f4"), ("clearance", ">f4")])
TETRAHEDRON = np.dtype(
    [
        ("sphere", ">f4", 4),
        ("unknown_10", ">u4", 2),
        ("faces", ">u2", 4),
        ("pairs", PAIR, 6),
        ("number", ">u4"),
        ("sides", "u1", 4),
        ("unknown_58", ">u4", 2),
    ]
)
FACE = np.dtype(
    [
        ("plane", ">f4", 4),
        ("centre", ">f4", 3),
        ("unknown_1c", ">u4"),
        ("vertices", ">u2", 3),
        ("number", ">u2"),
        ("tetrahedra", ">u2", 2),
        ("unknown_2c", ">u2", 2),
    ]
)
CELL = np.dtype([("count", ">u4"), ("items", ">u4")])
ITEM = np.dtype([("sphere", ">f4", 4), ("count", ">u4"), ("references", ">u4"), ("unknown_18", ">u4", 2)])
REFERENCE = np.dtype(">u4")
RECORDS = (VERTEX, TETRAHEDRON, FACE, CELL, ITEM, REFERENCE)
RECORD_SIZES = Sections(*(record.itemsize for record in RECORDS))

NO_TETRAHEDRON = 0xFFFF
"""What a face at the border names on the side where no tetrahedron is."""

SPARE_FACES = 2
"""Face records behind the last one, into which the game writes the start and the goal of a search."""

FOLLOWED = ("vertices", "tetrahedra", "faces", "cells")
"""The pointers that the game was seen to follow. It reaches the other two arrays by pointers of the cells and items."""

MISFIT = "the game takes cell numbers from the .col, so it reads the cell table of this .rgn at wrong places"
"""What follows from any reason that `fits` gives."""


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """What a source file said beyond the model: its HEADER record, of which encoding replaces the fields it knows,
    the payload's bytes behind the header, and the shell with the file's chunk words and relocation table."""

    header: np.void
    contents: bytes
    shell: Chunk


@dataclass(frozen=True, slots=True, eq=False)
class Navigation:
    """Free space as tetrahedra, found by the cells of the hull's grid. Lengths are game units.

    minimum, maximum, cell_size  float32 (3,)
    dimensions  cells along x, y and z; None if the file's words make no sense as such, since their form is assumed
    counts      records in each array; faces without the two spare ones
    offsets     where each array begins in the file; 0x10 stands for a null pointer
    """

    minimum: NDArray[np.float32]
    maximum: NDArray[np.float32]
    cell_size: NDArray[np.float32]
    dimensions: tuple[int, int, int] | None
    counts: Sections
    offsets: Sections
    carried: Carried = field(repr=False)

    @property
    def grid(self) -> Grid | None:
        """The grid that the volume was made for, None without dimensions."""
        if self.dimensions is None:
            return None
        return Grid(self.minimum, self.maximum, self.cell_size, self.dimensions)


def decode(data: bytes) -> Navigation:
    """Reads a `.rgn` file. Raises `FormatError` for wrong or cut data, a box that is none, and pointers, of the
    header or the relocation table, that would lead the game outside the file. What is only assumed or derived about
    the format is no reason to refuse a file, see `check`."""
    shell = chunk.decode(data, b"REGN")
    payload_end = POINTER_BASE + len(shell.payload)
    body = data[:payload_end]
    header = view(body, HEADER, 1, POINTER_BASE, "the header's bytes")[0]
    minimum, maximum, cell_size = decode_box(header, POINTER_BASE)
    counts = Sections(*(int(count) for count in header["counts"]))
    for name in FOLLOWED:
        at = _pointer_offset(name)
        chunk.resolve(header["pointers"][Sections._fields.index(name)], at, name, HEADER_END, payload_end)
    offsets = Sections(*(POINTER_BASE + int(pointer) for pointer in header["pointers"]))
    _check_slots(body, shell.slots)
    view(body, FACE, counts.faces + SPARE_FACES, offsets.faces, "faces and the two records that a search writes to")
    return Navigation(
        minimum=minimum,
        maximum=maximum,
        cell_size=cell_size,
        dimensions=_dimensions(header, counts.cells),
        counts=counts,
        offsets=offsets,
        carried=Carried(header.copy(), body[HEADER_END:], replace(shell, payload=memoryview(b""))),
    )


def encode(navigation: Navigation) -> bytes:
    """The bytes of a `.rgn` file. A decoded one gives the bytes that it was decoded from."""
    carried = navigation.carried
    header = np.array([carried.header], HEADER)
    encode_box(header[0], navigation.minimum, navigation.maximum, navigation.cell_size)
    if navigation.dimensions is not None:
        header["dimensions"] = navigation.dimensions
    header["counts"] = navigation.counts
    header["pointers"] = np.array(navigation.offsets) - POINTER_BASE
    payload = header.tobytes() + carried.contents
    return chunk.encode(replace(carried.shell, payload=memoryview(payload)))


def check(navigation: Navigation) -> list[Finding]:
    """Where a file differs from what is derived or assumed about the format, and so isn't refused by `decode`."""
    header = navigation.carried.header
    findings = []

    def add(severity: Severity, rule: Rule, message: str) -> None:
        findings.append(Finding(severity, rule, message))

    if [int(header[name]) for name in ("minimum_w", "maximum_w", "extent_w")] != [0x3F800000, 0x3F800000, 0]:
        add(Severity.INFO, Rule.NAVIGATION_BOX, "the words behind the box's corners aren't 1.0, 1.0, 0.0")
    with np.errstate(over="ignore"):
        if not np.array_equal(header["extent"], navigation.maximum - navigation.minimum):
            add(Severity.INFO, Rule.NAVIGATION_BOX, "the extent isn't maximum - minimum")
    if navigation.dimensions is None:
        words = ", ".join(f"0x{int(word):X}" for word in header["dimensions"])
        message = f"the words at 0x50 ({words}) aren't the dimensions of a grid of {navigation.counts.cells:,} cells"
        add(Severity.INFO, Rule.NAVIGATION_GRID, message)
    if navigation.offsets.faces % 16:
        message = f"the faces begin at 0x{navigation.offsets.faces:X}: the game's vector loads need a multiple of 16"
        add(Severity.ERROR, Rule.NAVIGATION_ARRAYS, message)
    return [*findings, *chunk.check(navigation.carried.shell), *_check_sections(navigation)]


def fits(navigation: Navigation, grid: Grid) -> list[str]:
    """Why this volume doesn't fit a hull with this grid, in a modder's words; empty if it does. See `MISFIT`.

    The box and the cell size decide, as all that was measured, and whether there is room for the cell table. What
    else the header says is only assumed, see `doubts`.
    """
    reasons = []
    if not (np.array_equal(navigation.minimum, grid.minimum) and np.array_equal(navigation.maximum, grid.maximum)):
        own, other = _box(navigation.minimum, navigation.maximum), _box(grid.minimum, grid.maximum)
        reasons.append(f"its box is {own}, the hull's {other}")
    if not np.array_equal(navigation.cell_size, grid.cell_size):
        own, other = _numbers(navigation.cell_size), _numbers(grid.cell_size)
        reasons.append(f"its cells measure {own}, the hull's {other}")
    room = _cell_room(navigation)
    if room < grid.cell_count and not reasons:
        reasons.append(f"its cell table has room for {room:,} cells, the hull has {grid.cell_count:,}")
    return reasons


def doubts(navigation: Navigation, grid: Grid) -> list[str]:
    """What the header says that would not fit a hull with this grid, if its words mean what is assumed."""
    differences = []
    if navigation.dimensions not in (None, grid.dimensions):
        own, other = _numbers(navigation.dimensions, " × "), _numbers(grid.dimensions, " × ")
        differences.append(f"the words at 0x50 say {own} cells, the hull has {other}")
    if navigation.counts.cells != grid.cell_count:
        differences.append(
            f"the count at 0x66 says {navigation.counts.cells:,} cells, the hull has {grid.cell_count:,}"
        )
    return differences


def _cell_room(navigation: Navigation) -> int:
    """How many records the cell table can have before the next array begins."""
    end = HEADER_END + len(navigation.carried.contents)
    start = navigation.offsets.cells
    following = min((offset for offset in navigation.offsets if offset > start), default=end)
    return (following - start) // RECORD_SIZES.cells


def _dimensions(header: np.ndarray, cell_count: int) -> tuple[int, int, int] | None:
    nx, ny, nz = (int(word) for word in header["dimensions"])
    if max(nx, ny, nz) <= LARGEST_DIMENSION and 0 < nx * ny * nz == cell_count:
        return nx, ny, nz
    return None


def _check_slots(body: bytes, slots: np.ndarray) -> None:
    """The game adds the payload's address to each word that the relocation table names, and to no other."""
    outside = np.flatnonzero(slots + 4 > len(body))
    if len(outside):
        raise FormatError(
            f"the relocation table's slot number {outside[0]:,} lies outside the payload, the game would change "
            "bytes behind it",
            offset=int(slots[outside[0]]),
            expected=f"slots below 0x{len(body):X}",
            found=f"{len(outside):,} beyond it",
        )
    twice = np.flatnonzero(np.diff(slots) == 0)
    if len(twice):
        raise FormatError(
            "the relocation table names a pointer twice, the game would add its address twice",
            offset=int(slots[twice[0]]),
        )
    missing = [name for name in FOLLOWED if _pointer_offset(name) not in slots]
    if missing:
        raise FormatError(
            f"the relocation table lacks the pointer to the {missing[0]}, the game would follow it unchanged",
            offset=_pointer_offset(missing[0]),
        )
    targets = POINTER_BASE + np.frombuffer(body, ">u4", len(body) // 4)[slots // 4].astype(np.int64)
    wrong = np.flatnonzero(targets > len(body))
    if len(wrong):
        raise FormatError(
            "a pointer leads outside the file",
            offset=int(slots[wrong[0]]),
            expected=f"0x0 to 0x{len(body) - POINTER_BASE:X}",
            found=f"0x{int(targets[wrong[0]]) - POINTER_BASE:X}",
        )


def _check_sections(navigation: Navigation) -> list[Finding]:
    """The counts and the last two pointers, which are derived from the game's files and not seen to be read."""
    counts = navigation.counts._replace(faces=navigation.counts.faces + SPARE_FACES)
    payload_end = HEADER_END + len(navigation.carried.contents)
    findings = []

    def add(message: str) -> None:
        findings.append(Finding(Severity.WARNING, Rule.NAVIGATION_ARRAYS, message))

    rows = sorted(zip(navigation.offsets, Sections._fields, counts, RECORD_SIZES, strict=True))
    last_end, last_name = HEADER_END, "header"
    for offset, name, count, size in rows:
        if offset == POINTER_BASE:
            if count:
                add(f"the header counts {count:,} {name}, but has no pointer to them")
            continue
        if _pointer_offset(name) not in navigation.carried.shell.slots:
            add(f"the relocation table lacks the pointer to the {name} at 0x{_pointer_offset(name):X}")
        if offset < last_end:
            add(f"the {last_name} and the {name} overlap at 0x{offset:X}")
        if offset + count * size > payload_end:
            add(f"{count:,} {name} at 0x{offset:X} reach beyond the end of the payload at 0x{payload_end:X}")
        last_end, last_name = offset + count * size, name
    return findings


def _pointer_offset(name: str) -> int:
    return POINTER_BASE + offset_of(HEADER, "pointers") + 4 * Sections._fields.index(name)


def _box(minimum: np.ndarray, maximum: np.ndarray) -> str:
    return f"({_numbers(minimum)}) to ({_numbers(maximum)})"


def _numbers(values: np.ndarray | tuple[int, ...], between: str = ", ") -> str:
    """The shortest decimals that keep numbers apart."""
    return between.join(np.format_float_positional(np.float32(value), trim="-") for value in values)
