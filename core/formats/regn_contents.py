"""The contents of a navigation volume: tetrahedra, the faces between them, and which cell leads to which of them.

docs/FORMATS.md, sections 5 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from ..geometry.arrays import components, expand
from ..geometry.clearance import clearances
from ..geometry.grid import Grid
from . import chunk, regn
from .binary import offset_of, padding, view
from .box import ONE, encode_box
from .chunk import POINTER_BASE, Chunk
from .regn import (
    CELL,
    FACE,
    HEADER,
    HEADER_END,
    ITEM,
    NO_TETRAHEDRON,
    REFERENCE,
    SPARE_FACES,
    TETRAHEDRON,
    VERTEX,
    Carried,
    Navigation,
    Sections,
)
from .regn_pairs import PAIRS, WRITTEN, PairOrder, find_order

ASKED = 256
"""Tetrahedra whose distances to rock are compared with their clearances."""

LIMIT = 0xFFFE
"""Most tetrahedra, and most faces: 16-bit numbers name them, and 0xFFFF names none."""


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Free space as tetrahedra.

    vertices    float32 (n, 3)
    tetrahedra  TETRAHEDRON records (m,)
    faces       FACE records (k,), and the spare ones (2,) that a search writes to
    cells       int64 (c,): how many items each cell has; they lie one after the other, in the order of the cells
    items       ITEM records (i,), whose counts and pointers follow from `sizes`
    sizes       int64 (i,): how many references each item has; they lie one after the other
    references  int64 (r,): numbers of tetrahedra
    order       which two faces each pair of cost and clearance is for
    """

    vertices: NDArray[np.float32]
    tetrahedra: NDArray[np.void]
    faces: NDArray[np.void]
    spare_faces: NDArray[np.void]
    cells: NDArray[np.int64]
    items: NDArray[np.void]
    sizes: NDArray[np.int64]
    references: NDArray[np.int64]
    order: PairOrder = WRITTEN

    def corners(self) -> np.ndarray:
        """The four vertex numbers of each tetrahedron, int64 (m, 4), ascending; where the faces name others, the first
        four different ones, and the last again if they are fewer."""
        named, fresh = self._named()
        rank = np.minimum(fresh.cumsum(axis=1) - 1, 3)
        corners = np.zeros((len(named), 4), np.int64)
        rows = np.arange(len(named))
        for column in range(11, -1, -1):  # from the back, so that the first of each rank stays
            corners[rows, rank[:, column]] = named[:, column]
        last = rank[:, -1]
        return np.where(np.arange(4) > last[:, None], corners[rows, last][:, None], corners)

    def have_corners(self) -> NDArray[np.bool_]:
        """Which tetrahedra have exactly four corners, of which each of their faces has three, bool (m,)."""
        _, fresh = self._named()
        a, b, c = np.moveaxis(self.faces["vertices"][self.tetrahedra["faces"].astype(np.int64)], 2, 0)
        return (fresh.sum(axis=1) == 4) & ((a != b) & (b != c) & (c != a)).all(axis=1)

    def _named(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The vertices that each tetrahedron's faces name, ascending, and which of them are the first of their number:
        (m, 12) each."""
        named = np.sort(self.faces["vertices"][self.tetrahedra["faces"].astype(np.int64)].reshape(-1, 12), axis=1)
        fresh = np.ones(named.shape, bool)
        fresh[:, 1:] = named[:, 1:] != named[:, :-1]
        return named.astype(np.int64), fresh

    def centres(self) -> np.ndarray:
        """The centres of each tetrahedron's faces, float64 (m, 4, 3)."""
        return self.faces["centre"][self.tetrahedra["faces"].astype(np.int64)].astype(np.float64)

    def shapes(self) -> NDArray[np.float64]:
        """The corners' places of each tetrahedron, float64 (m, 4, 3)."""
        return self.vertices.astype(np.float64)[self.corners()]

    def regions(self) -> NDArray[np.int64]:
        """The connected part of free space that each tetrahedron lies in, int64 (m,), numbered from 0 on by its first
        tetrahedron. What has a face in common is connected."""
        face = self.tetrahedra["faces"].astype(np.int64).ravel()
        order = np.argsort(face, kind="stable")
        same = np.flatnonzero(face[order[1:]] == face[order[:-1]])
        count = len(self.tetrahedra)
        lowest = components(count, order[same] // 4, order[same + 1] // 4)
        return np.unique(lowest, return_inverse=True)[1].reshape(-1)

    def pair_segments(self) -> np.ndarray:
        """The way that each pair of faces has, between their centres: float64 (m, 6, 2, 3), in the order of `PAIRS`."""
        return self.centres()[:, PAIRS]

    def pair_clearances(self) -> np.ndarray:
        """The clearance of each pair of faces, float64 (m, 6); the lowest of those that may be its own."""
        return self.order.lowest(self.tetrahedra["pairs"]["clearance"])

    def pair_costs(self) -> np.ndarray:
        """The cost of each pair of faces, float64 (m, 6); the highest of those that may be its own."""
        return self.order.highest(self.tetrahedra["pairs"]["cost"])

    def asking(self, vertices: np.ndarray, triangles: np.ndarray) -> Graph:
        """The same with the order of the pairs as costs and the distances to rock decide it, given the triangles (n, 3)
        of the hull that the volume was made for."""
        chosen = np.unique(np.linspace(0, max(len(self.tetrahedra) - 1, 0), ASKED).astype(np.int64))
        chosen = chosen[: len(self.tetrahedra)]
        segments = self.pair_segments()
        pairs = self.tetrahedra["pairs"]
        distances = clearances(segments[chosen], vertices, triangles)
        order = find_order((pairs["cost"], _lengths(segments)), (pairs["clearance"][chosen], distances))
        return replace(self, order=order)

    def settled(self, vertices: np.ndarray, triangles: np.ndarray) -> Graph:
        """The same as `asking` where costs alone leave the order of the pairs open."""
        return self if self.order.known or self.order.asked else self.asking(vertices, triangles)

    def cell_references(self) -> tuple[np.ndarray, np.ndarray]:
        """Each cell with each tetrahedron that it leads to: cell and tetrahedron numbers, int64 (r,) each."""
        item_cell = np.repeat(np.arange(len(self.cells)), self.cells)
        return np.repeat(item_cell, self.sizes), self.references


def _lengths(segments: np.ndarray) -> np.ndarray:
    return np.linalg.norm(segments[:, :, 1] - segments[:, :, 0], axis=2)


def decode(navigation: Navigation, grid: Grid | None = None) -> Graph:
    """Reads the contents. Raises `FormatError` where a number or pointer leads to nothing that is there.

    `grid` is that of the hull, from which the game takes cell numbers; without it the header's own is.
    """
    body = bytes(POINTER_BASE + HEADER.itemsize) + navigation.carried.contents
    offsets = navigation.offsets
    counts = _counts(navigation, body)
    vertices = view(body, VERTEX, counts.vertices, offsets.vertices, "the vertices")
    tetrahedra = view(body, TETRAHEDRON, counts.tetrahedra, offsets.tetrahedra, "the tetrahedra")
    faces = view(body, FACE, counts.faces + SPARE_FACES, offsets.faces, "the faces")
    _check_numbers(tetrahedra["faces"], counts.faces, offsets.tetrahedra, TETRAHEDRON, "faces", "tetrahedron")
    own = faces[: counts.faces]
    _check_numbers(own["vertices"], counts.vertices, offsets.faces, FACE, "vertices", "face")
    beside = own["tetrahedra"]
    known = np.where(beside == NO_TETRAHEDRON, 0, beside) if counts.tetrahedra else beside
    _check_numbers(known, counts.tetrahedra, offsets.faces, FACE, "tetrahedra", "face")
    grid = grid or navigation.grid
    cell_count = grid.cell_count if grid else counts.cells
    cells = view(body, CELL, cell_count, offsets.cells, "the cell table")
    rows, item_at = _runs(cells["count"], cells["items"], ITEM, len(body), "cell")
    items = np.frombuffer(body, np.uint8)[item_at[:, None] + np.arange(ITEM.itemsize)].view(ITEM)[:, 0]
    _, reference_at = _runs(items["count"], items["references"], REFERENCE, len(body), "item of cell", rows)
    target = np.frombuffer(body, np.uint8)[reference_at[:, None] + np.arange(4)].view(REFERENCE)[:, 0].astype(np.int64)
    number, odd = np.divmod(POINTER_BASE + target - offsets.tetrahedra, TETRAHEDRON.itemsize)
    wrong = np.flatnonzero((odd != 0) | (number < 0) | (number >= counts.tetrahedra))
    if len(wrong):
        raise FormatError(
            "a reference leads to no tetrahedron",
            offset=int(reference_at[wrong[0]]),
            expected=f"one of {counts.tetrahedra:,} records from 0x{offsets.tetrahedra - POINTER_BASE:X} on",
            found=f"0x{target[wrong[0]]:X}",
        )
    graph = Graph(
        vertices.astype(np.float32),
        tetrahedra.copy(),
        own.copy(),
        faces[counts.faces :].copy(),
        cells["count"].astype(np.int64),
        items.copy(),
        items["count"].astype(np.int64),
        number,
    )
    order = find_order((tetrahedra["pairs"]["cost"], _lengths(graph.pair_segments())))
    return replace(graph, order=order)


def _counts(navigation: Navigation, body: bytes) -> Sections:
    """How many records there are. The counts of vertices and tetrahedra are only derived: where faces name more, and
    these lie in front of the next array, there are as many."""
    counts, offsets = navigation.counts, navigation.offsets
    faces = view(body, FACE, counts.faces, offsets.faces, "the faces")
    beside = faces["tetrahedra"][faces["tetrahedra"] != NO_TETRAHEDRON]
    for name, named, record in (("vertices", faces["vertices"], VERTEX), ("tetrahedra", beside, TETRAHEDRON)):
        start = getattr(offsets, name)
        end = min((offset for offset in offsets if offset > start), default=len(body))
        needed = int(named.max(initial=0)) + 1 if named.size else 0
        if getattr(counts, name) < needed <= (end - start) // record.itemsize:
            counts = counts._replace(**{name: needed})
    return counts


def _check_numbers(values: np.ndarray, count: int, offset: int, record: np.dtype, field: str, what: str) -> None:
    """Raises `FormatError` if a record's field names something that isn't there."""
    if values.size and values.max() >= count:
        where = int(np.argmax(values.ravel() >= count))
        row, column = divmod(where, values.shape[1])
        assert record.fields
        raise FormatError(
            f"{what} {row:,} names one of the {field} that doesn't exist",
            offset=offset + row * record.itemsize + offset_of(record, field) + 2 * column,
            expected=f"a number below {count:,}",
            found=f"{values.ravel()[where]:,}",
        )


def _runs(
    counts: np.ndarray, pointers: np.ndarray, record: np.dtype, end: int, what: str, labels: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Where counted runs of records lie: the run of each and its file offset. Checked before anything is allocated."""
    sizes = counts.astype(np.int64)
    starts = POINTER_BASE + pointers.astype(np.int64)
    bad = (sizes > 0) & ((starts < HEADER_END) | (starts + sizes * record.itemsize > end))
    if bad.any() or sizes.sum() * record.itemsize > 4 * end:
        row = int(np.argmax(bad)) if bad.any() else int(np.argmax(sizes))
        raise FormatError(
            f"{what} {row if labels is None else labels[row]:,} leads to {sizes[row]:,} records beyond the file",
            expected=f"records between 0x{HEADER_END - POINTER_BASE:X} and 0x{end - POINTER_BASE:X}",
            found=f"0x{int(pointers[row]):X}",
        )
    rows, places = expand(np.zeros(len(sizes), np.int64), sizes)
    return rows, starts[rows] + places * record.itemsize


# --- encode ---------------------------------------------------------------------------------------


def encode(graph: Graph, grid: Grid, carried: Carried | None = None) -> bytes:
    """The bytes of a `.rgn` file with these contents, for a hull's grid. `carried` are the unread words of a source.

    Raises `FormatError` if there is more than 16-bit numbers can name.
    """
    for what, count in (("tetrahedra", len(graph.tetrahedra)), ("faces", len(graph.faces))):
        if count > LIMIT:
            raise FormatError(
                f"the free space has {count:,} {what}", expected=f"{LIMIT:,} at most", remedy="simplify the hull"
            )
    faces = np.zeros(len(graph.faces) + len(graph.spare_faces), FACE)  # numpy's concatenate changes the byte order
    faces[: len(graph.faces)], faces[len(graph.faces) :] = graph.faces, graph.spare_faces
    cells, items = np.zeros(len(graph.cells), CELL), graph.items.copy()
    sizes = (graph.vertices.size * 4, graph.tetrahedra.nbytes, faces.nbytes, cells.nbytes, items.nbytes)
    starts, end = [], HEADER_END
    for size in (*sizes, len(graph.references) * REFERENCE.itemsize):
        starts.append(end + padding(end))
        end = starts[-1] + size
    end += padding(end)
    at = Sections(*starts)
    _lead(cells, "items", "count", graph.cells, at.items, ITEM.itemsize)
    _lead(items, "references", "count", graph.sizes, at.references, REFERENCE.itemsize)
    references = (at.tetrahedra - POINTER_BASE + graph.references * TETRAHEDRON.itemsize).astype(REFERENCE)
    body = np.zeros(end, np.uint8)
    arrays = (graph.vertices.astype(">f4"), graph.tetrahedra, faces, cells, items, references)
    for start, array in zip(at, arrays, strict=True):
        data = np.frombuffer(array.tobytes(), np.uint8)
        body[start : start + len(data)] = data
    header = body[POINTER_BASE:HEADER_END].view(HEADER)
    header[0] = carried.header if carried else _fresh_header(grid)
    encode_box(header[0], grid.minimum, grid.maximum, grid.cell_size)
    header["dimensions"] = grid.dimensions
    lengths = Sections(*map(len, (graph.vertices, graph.tetrahedra, graph.faces, cells, items, references)))
    header["counts"] = np.minimum(lengths, 0xFFFF)  # the game was seen to read the number of faces only
    header["pointers"] = np.array(at) - POINTER_BASE
    slots = np.concatenate(
        (
            POINTER_BASE + offset_of(HEADER, "pointers") + 4 * np.arange(len(at)),  # type: ignore[index]
            at.cells + CELL.itemsize * np.flatnonzero(graph.cells) + offset_of(CELL, "items"),  # type: ignore[index]
            at.items + ITEM.itemsize * np.flatnonzero(graph.sizes) + offset_of(ITEM, "references"),
            at.references + REFERENCE.itemsize * np.arange(len(references)),
        )
    )
    shell = carried.shell if carried else Chunk(b"REGN", memoryview(b""), np.zeros(0, np.int64))
    return chunk.encode(replace(shell, payload=body.data[POINTER_BASE:], slots=np.sort(slots)))


def _fresh_header(grid: Grid) -> np.ndarray:
    """The words around a box in a file that is made from nothing."""
    header = np.zeros((), HEADER)
    header["minimum_w"] = header["maximum_w"] = ONE
    header["extent"] = grid.maximum.astype(np.float64) - grid.minimum
    return header


def _lead(records: np.ndarray, pointer: str, count: str, sizes: np.ndarray, start: int, size: int) -> None:
    """Fills in counts and pointers of runs that lie one after the other from `start` on; empty ones have no pointer."""
    begins = start - POINTER_BASE + size * (np.cumsum(sizes) - sizes)
    records[count] = sizes
    records[pointer] = np.where(sizes > 0, begins, 0)


def write_back(graph: Graph, navigation: Navigation, dropped: np.ndarray) -> bytes:
    """The bytes of the source file with other values in the records of a graph that was decoded from it.

    The cells no longer lead to the tetrahedra `dropped`, bool (m,): those references move behind the counted ones of
    their item. Everything else is as in the source.
    """
    contents = bytearray(navigation.carried.contents)
    offsets = navigation.offsets
    for array, offset in ((graph.tetrahedra, offsets.tetrahedra), (graph.faces, offsets.faces)):
        contents[offset - HEADER_END : offset - HEADER_END + array.nbytes] = array.tobytes()
    if dropped.any():
        _drop_references(contents, graph, navigation, dropped)
    return regn.encode(replace(navigation, carried=replace(navigation.carried, contents=bytes(contents))))


def _drop_references(contents: bytearray, graph: Graph, navigation: Navigation, dropped: np.ndarray) -> None:
    body = np.zeros(HEADER_END + len(contents), np.uint8)
    body[HEADER_END:] = np.frombuffer(contents, np.uint8)
    cells = view(body.data, CELL, len(graph.cells), navigation.offsets.cells, "the cell table")
    _, item_at = _runs(cells["count"], cells["items"], ITEM, len(body), "cell")
    starts = np.cumsum(graph.sizes) - graph.sizes
    for item in np.unique(np.repeat(np.arange(len(graph.sizes)), graph.sizes)[dropped[graph.references]]).tolist():
        numbers = graph.references[starts[item] : starts[item] + graph.sizes[item]]
        numbers = numbers[np.argsort(dropped[numbers], kind="stable")]
        record = body[item_at[item] : item_at[item] + ITEM.itemsize].view(ITEM)
        at = POINTER_BASE + int(record["references"][0])
        target = navigation.offsets.tetrahedra - POINTER_BASE + numbers * TETRAHEDRON.itemsize
        body[at : at + len(target) * REFERENCE.itemsize] = np.frombuffer(target.astype(REFERENCE).tobytes(), np.uint8)
        record["count"] = int((~dropped[numbers]).sum())
    contents[:] = body[HEADER_END:].tobytes()
