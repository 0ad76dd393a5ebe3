"""MCOL, the collision hull of a map (`.col`): decode and encode. docs/FORMATS.md, section 3.

Decoding keeps every byte: what nobody understands travels in `Carried`, and encoding starts from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from ..geometry.arrays import expand
from ..geometry.grid import Grid
from . import chunk, mcol_pointers
from .binary import big_endian, check_finite, check_indices, native, view
from .box import ONE, decode_box, encode_box
from .chunk import POINTER_BASE, Chunk
from .mcol_layout import Block, place
from .mcol_lists import check_shared, decode_indices, decode_lists
from .mcol_pointers import OddSlots
from .mcol_records import (
    CELL,
    HEADER,
    HEADER_END,
    HEADER_POINTERS,
    INDEX,
    LIST,
    SPHERE,
    TRIANGLE,
    VERTEX,
    header_offset,
)
from .mcol_words import pointer_slots, spare_places, unfollowed_pointers, unread_places

FREE, LISTED, SOLID = 0, 1, 2
"""Fill states of a cell: free space, holds triangles, inside rock."""

LIMIT = 65535
"""Most vertices, and most triangles, that the header's 16-bit counts can say."""


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """What a source file said beyond the geometry, kept for the exported one.

    `header` is a HEADER record and `cells` the CELL records (n,) of the source, of which encoding replaces the
    fields it knows. `list_words` uint32 (m, 2) are the unread words of the list records. `blocks` are the
    arrays in file order, `lead` the bytes between the header and the first. `shell` holds the file's chunk
    words and relocation table, `odd_slots` what is unusual about that.
    """

    header: np.void
    cells: NDArray[np.void] | None
    list_words: NDArray[np.uint32]
    blocks: tuple[Block, ...]
    lead: bytes
    shell: Chunk
    odd_slots: OddSlots = field(default_factory=OddSlots)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CellLists:
    """Which triangles the cells of a grid list.

    occupied      int64 (k,): numbers of the cells that have lists, ascending
    cell_spheres  float32 (k, 4): bounding spheres in the cell records, which the game does not read
    first_list    int64 (k,): each occupied cell's first list
    list_counts   int64 (k,): and how many it has
    list_starts   int64 (m,): where each list begins in `indices`; -1 for none
    list_sizes    int64 (m,): and how many triangles it names
    list_spheres  float32 (m, 4): the game's only test in front of a list
    indices       uint16 (p,): triangle numbers
    """

    occupied: NDArray[np.int64]
    cell_spheres: NDArray[np.float32]
    first_list: NDArray[np.int64]
    list_counts: NDArray[np.int64]
    list_starts: NDArray[np.int64]
    list_sizes: NDArray[np.int64]
    list_spheres: NDArray[np.float32]
    indices: NDArray[np.uint16]

    def arrays(self) -> dict[str, Any]:
        """The arrays of the lists alone, by name, for another object that has them."""
        return {one.name: getattr(self, one.name) for one in fields(CellLists)}

    def entries(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Every list entry, in file order: row of `occupied`, list number, triangle number; int64 (e,) each."""
        rows, lists = expand(self.first_list, self.list_counts)
        entry_rows, places = expand(self.list_starts[lists], self.list_sizes[lists])
        return rows[entry_rows], lists[entry_rows], self.indices[places].astype(np.int64)

    def cell_triangles(self, number: int) -> NDArray[np.int64]:
        """The triangle numbers, int64 (n,), that the cell of this number lists."""
        row = np.searchsorted(self.occupied, number)
        if row == len(self.occupied) or self.occupied[row] != number:
            return np.zeros(0, np.int64)
        lists = self.first_list[row] + np.arange(self.list_counts[row])
        _, places = expand(self.list_starts[lists], self.list_sizes[lists])
        return self.indices[places].astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Hull(CellLists):
    """A closed triangle mesh with the grid that finds its triangles by their `CellLists`. Lengths are game units.

    vertices      float32 (nv, 3)
    triangles     uint16 (nt, 3); the front, counter-clockwise, faces free space
    spheres       float32 (nt, 4): centre and radius of each triangle's bounding sphere
    outside_solid non-zero: everything outside the grid is solid
    states        uint8 (cells,): FREE, LISTED or SOLID
    """

    grid: Grid
    outside_solid: int
    vertices: NDArray[np.float32]
    triangles: NDArray[np.uint16]
    spheres: NDArray[np.float32]
    states: NDArray[np.uint8]
    carried: Carried | None = field(default=None, repr=False)


# --- decode ---------------------------------------------------------------------------------------


def decode(data: bytes) -> Hull:
    """Reads a `.col` file. Raises `FormatError` where its bytes can't be understood or can't be right:
    wrong or cut data, pointers and indices out of range, coordinates that are no numbers, a relocation table
    that disagrees with the pointers."""
    shell = chunk.decode(data, b"MCOL")
    body = memoryview(data)[: POINTER_BASE + len(shell.payload)]
    header = view(body, HEADER, 1, POINTER_BASE, "the header's bytes")[0]
    grid = _decode_grid(header)
    vertex_count, triangle_count = int(header["vertex_count"]), int(header["triangle_count"])
    at = _decode_pointers(header, grid.cell_count, len(body))

    vertices = native(view(body, VERTEX, vertex_count, at["vertices"], "vertices"), np.float32)
    triangles = native(view(body, TRIANGLE, triangle_count, at["triangles"], "triangles"), np.uint16)
    check_indices(triangles, vertex_count, at["triangles"], TRIANGLE.itemsize)
    check_finite(vertices, triangles, at["vertices"])
    spheres = native(view(body, SPHERE, triangle_count, at["spheres"], "triangle spheres"), np.float32)
    cells = view(body, CELL, grid.cell_count, at["cells"], "cells")

    occupied = np.flatnonzero(cells["list_count"] != 0)
    lists, at["lists"], first_list, list_counts = decode_lists(body, cells, occupied, at["cells"])
    indices, at["indices"], list_starts, list_sizes = decode_indices(body, lists, at["lists"], triangle_count)
    check_shared(first_list, list_counts, list_sizes, len(data))
    hull = Hull(
        grid=grid,
        outside_solid=int(header["outside_solid"]),
        vertices=vertices,
        triangles=triangles,
        spheres=spheres,
        states=native(cells["state"], np.uint8),
        occupied=occupied,
        cell_spheres=native(cells["sphere"][occupied], np.float32),
        first_list=first_list,
        list_counts=list_counts,
        list_starts=list_starts,
        list_sizes=list_sizes,
        list_spheres=native(lists["sphere"], np.float32),
        indices=indices,
    )
    blocks, lead = _find_blocks(body, at, _array_sizes(hull))
    carried = Carried(
        header=header,
        cells=cells,
        list_words=native(lists["unknown_08"], np.uint32),
        blocks=blocks,
        lead=lead,
        shell=replace(shell, payload=memoryview(b""), slots=np.zeros(0, np.int64)),
        odd_slots=_compare_slots(shell.slots, hull, at, blocks, lead),
    )
    return replace(hull, carried=carried)


def _decode_pointers(header: np.ndarray, cell_count: int, payload_end: int) -> dict[str, int]:
    """The file offsets of the arrays that the header points to, by name."""
    triangle_count = int(header["triangle_count"])
    counts = {
        "vertices": int(header["vertex_count"]),
        "triangles": triangle_count,
        "spheres": triangle_count,
        "cells": cell_count,
    }
    return {
        name: chunk.resolve(int(header[name]), header_offset(name), name, HEADER_END, payload_end)
        if counts[name] or header[name]
        else payload_end  # an array without elements needs no place
        for name in HEADER_POINTERS
    }


def _array_sizes(hull: Hull) -> dict[str, int]:
    """The size in bytes of each array in the file, by name."""
    return {
        "spheres": len(hull.spheres) * SPHERE.itemsize,
        "vertices": len(hull.vertices) * VERTEX.itemsize,
        "triangles": len(hull.triangles) * TRIANGLE.itemsize,
        "cells": hull.grid.cell_count * CELL.itemsize,
        "lists": len(hull.list_starts) * LIST.itemsize,
        "indices": len(hull.indices) * INDEX.itemsize,
    }


def _compare_slots(
    slots: np.ndarray, hull: Hull, at: dict[str, int], blocks: tuple[Block, ...], lead: bytes
) -> OddSlots:
    """What is unusual about a file's relocation table."""
    sizes = {block.name: block.size for block in blocks}
    return mcol_pointers.compare(
        slots,
        pointer_slots(at["cells"], hull.occupied, at["lists"], len(hull.list_starts)),
        unfollowed_pointers(at["lists"], hull.list_sizes),
        unread_places(at, sizes, hull.occupied)
        | spare_places([(HEADER_END, lead), *((at[b.name] + b.size, b.spare) for b in blocks)]),
    )


def _decode_grid(header: np.ndarray) -> Grid:
    minimum, maximum, cell_size = decode_box(header, POINTER_BASE)
    nx, ny, nz = (int(count) for count in header["dimensions"])
    if not nx * ny * nz:
        raise FormatError("the grid has no cells", offset=header_offset("dimensions"), found=f"{(nx, ny, nz)}")
    return Grid(minimum, maximum, cell_size, (nx, ny, nz))


def _find_blocks(body: memoryview, at: dict[str, int], sizes: dict[str, int]) -> tuple[tuple[Block, ...], bytes]:
    """The arrays in file order with what lies between them, and what lies in front of the first. `at`: the arrays'
    file offsets; `sizes`: their sizes in bytes."""
    blocks = [(name, at[name], size) for name, size in sizes.items()]
    # An array without elements has no place of its own: it goes where the next one begins.
    order = sorted(blocks, key=lambda block: (block[1], block[2] > 0))
    starts = [offset for _, offset, _ in order] + [len(body)]
    for (name, offset, size), following, (next_name, *_) in zip(
        order, starts[1:], [*order[1:], ("end of file",)], strict=True
    ):
        if offset + size > following:
            raise FormatError(
                f"the {name} and the {next_name} overlap",
                offset=following,
                expected=f"0x{offset + size:X} or beyond",
                found=f"0x{following:X}",
            )
    if starts[0] < HEADER_END:
        raise FormatError(f"the {order[0][0]} overlap the header", offset=starts[0], expected="0x80 or beyond")
    found = tuple(
        Block(name, size, bytes(body[offset + size : following]))
        for (name, offset, size), following in zip(order, starts[1:], strict=True)
    )
    return found, bytes(body[HEADER_END : starts[0]])


# --- encode ---------------------------------------------------------------------------------------


def encode(hull: Hull) -> bytes:
    """The bytes of a `.col` file. A decoded hull gives the bytes that it was decoded from.

    Raises `FormatError` if the hull can't be stored: over the limits, or empty runs too long for POF0.
    """
    carried = hull.carried or _fresh()
    grid = hull.grid
    sizes = _array_sizes(hull)
    at, spares, end = place(carried.lead, carried.blocks, sizes, HEADER_END)
    if end - POINTER_BASE > 0xFFFFFFFF:
        raise FormatError(f"the hull would take {end:,} bytes, over 4 GiB", remedy="use larger cells")
    body = np.zeros(end, np.uint8)
    for offset, spare in spares:
        body[offset : offset + len(spare)] = np.frombuffer(spare, np.uint8)
    _encode_header(hull, carried, at, _records(body, HEADER, POINTER_BASE, 1)[0:1])
    for name, array, dtype in (
        ("spheres", hull.spheres, ">f4"),
        ("vertices", hull.vertices, ">f4"),
        ("triangles", hull.triangles, ">u2"),
        ("indices", hull.indices, ">u2"),
    ):
        body[at[name] : at[name] + sizes[name]] = np.frombuffer(big_endian(array, dtype), np.uint8)
    _encode_cells(hull, carried, at["lists"], _records(body, CELL, at["cells"], grid.cell_count))
    _encode_lists(hull, carried, at["indices"], _records(body, LIST, at["lists"], len(hull.list_starts)))
    slots = carried.odd_slots.apply(
        pointer_slots(at["cells"], hull.occupied, at["lists"], len(hull.list_starts)),
        unfollowed_pointers(at["lists"], hull.list_sizes),
        unread_places(at, sizes, hull.occupied) | spare_places(spares),
    )
    return chunk.encode(replace(carried.shell, payload=body.data[POINTER_BASE:], slots=slots))


def _fresh() -> Carried:
    """What a file made from nothing says where nobody knows the meaning. docs/FORMATS.md, section 3."""
    header = np.zeros(1, HEADER)[0]
    header["minimum_w"] = header["maximum_w"] = ONE
    order = ("spheres", "vertices", "triangles", "cells", "lists", "indices")
    return Carried(
        header=header,
        cells=None,
        list_words=np.zeros((0, 2), np.uint32),
        blocks=tuple(Block(name, 0, b"") for name in order),
        lead=b"",
        shell=Chunk(b"MCOL", memoryview(b""), np.zeros(0, np.int64)),
    )


def _records(body: np.ndarray, dtype: np.dtype, offset: int, count: int) -> np.ndarray:
    return body[offset : offset + count * dtype.itemsize].view(dtype)


def _encode_header(hull: Hull, carried: Carried, at: dict[str, int], header: np.ndarray) -> None:
    header[0] = carried.header
    grid = hull.grid
    encode_box(header[0], grid.minimum, grid.maximum, grid.cell_size)
    header["vertex_count"], header["triangle_count"] = len(hull.vertices), len(hull.triangles)
    for name in HEADER_POINTERS:
        if name == "cells" or len(getattr(hull, name)) or carried.header[name]:
            header[name] = at[name] - POINTER_BASE
    header["dimensions"], header["outside_solid"] = grid.dimensions, hull.outside_solid


def _encode_cells(hull: Hull, carried: Carried, lists_at: int, cells: np.ndarray) -> None:
    if carried.cells is None:
        nx, ny, nz = hull.grid.dimensions
        box = cells.reshape(nz, ny, nx)
        for axis, count in enumerate((nx, ny, nz)):
            box["position"][..., axis] = np.arange(count).reshape((-1,) + (1,) * axis)
    else:
        cells[:] = carried.cells
        emptied = np.flatnonzero(cells["list_count"])
        emptied = emptied[~np.isin(emptied, hull.occupied, assume_unique=True)]
        for name in ("list_count", "lists", "sphere"):
            cells[name][emptied] = 0
    cells["state"] = hull.states
    cells["list_count"][hull.occupied] = hull.list_counts
    cells["lists"][hull.occupied] = lists_at - POINTER_BASE + LIST.itemsize * hull.first_list
    cells["sphere"][hull.occupied] = hull.cell_spheres


def _encode_lists(hull: Hull, carried: Carried, indices_at: int, lists: np.ndarray) -> None:
    lists["count"] = hull.list_sizes
    starts = indices_at - POINTER_BASE + INDEX.itemsize * hull.list_starts
    lists["indices"] = np.where(hull.list_starts < 0, 0, starts)
    lists["sphere"] = hull.list_spheres
    if len(carried.list_words) == len(lists):
        lists["unknown_08"] = carried.list_words
