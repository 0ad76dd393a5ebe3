"""The cell lists of an edited hull: what the edit doesn't reach stays, the rest is rebuilt.

docs/FORMATS.md, section 3, "Cell lists" and "Spheres of lists and cells".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..formats.mcol import CellLists, Hull
from ..geometry.arrays import contains, expand, stable_order
from ..geometry.grid import Grid
from ..geometry.overlap import overlaps
from ..geometry.spheres import group_spheres
from ..geometry.triangles import with_own_vertices


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RebuiltLists(CellLists):
    """Lists with the unread words of their records, uint32 (m, 2), and the cells whose lists were rebuilt, int64."""

    words: NDArray[np.uint32]
    touched: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Records:
    """The list records of a source, cell by cell, with the entries of each.

    cell, rank, number    int64 (r,): the cell, the record's place among that cell's, its number in the source
    entry_record, entry_triangle   int64 (e,): row here, and the source's triangle
    """

    cell: np.ndarray
    rank: np.ndarray
    number: np.ndarray
    entry_record: np.ndarray
    entry_triangle: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Inherited:
    """What an edit keeps of a source: `cell_map` int64 (cells of the source,) gives the new number of the source's
    cells, None where they keep theirs; `new_number` int64 (nt of the source,) that of its triangles, -1 for none;
    `unchanged` bool (nt,) marks triangles that lie where the source's lie."""

    source: Hull | None
    cell_map: NDArray[np.int64] | None
    new_number: NDArray[np.int64]
    unchanged: NDArray[np.bool_]

    @classmethod
    def nothing(cls, triangle_count: int) -> Inherited:
        """Of no source."""
        return cls(None, None, np.zeros(0, np.int64), np.zeros(triangle_count, bool))


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """What becomes of the source's entries, and which come in addition.

    triangle_of        int64 (e,): the triangle of each entry of the source, -1 for none
    kept, reshaped     bool (e,): whether the entry stays, and whether its record isn't as the source has it
    added_cell, added_triangle   int64 (a,)
    """

    triangle_of: NDArray[np.int64]
    kept: NDArray[np.bool_]
    reshaped: NDArray[np.bool_]
    added_cell: NDArray[np.int64]
    added_triangle: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Arranged:
    """The records of the new lists in their order, and their triangles in a row.

    cell, number, touched   (r,): the cell, the number in the source or -1, whether it differs from the source's
    sizes, triangles        int64 (r,) and (e,)
    touched_cells           int64: cells with a record that differs, also where none is left
    """

    cell: NDArray[np.int64]
    number: NDArray[np.int64]
    touched: NDArray[np.bool_]
    sizes: NDArray[np.int64]
    triangles: NDArray[np.int64]
    touched_cells: NDArray[np.int64]


def rebuild_lists(
    grid: Grid,
    vertices: NDArray[np.float32],
    triangles: NDArray[np.int64],
    inherited: Inherited,
    everything: bool,
) -> RebuiltLists:
    """Lists, and their spheres, for triangles int64 (nt, 3) in a grid.

    A cell is touched where a triangle left it, entered it or changed within it; `everything` touches all.
    """
    source, unchanged = inherited.source, inherited.unchanged
    records = _source_records(source, inherited.cell_map)
    triangle_of = inherited.new_number[records.entry_triangle]
    entry_cell = records.cell[records.entry_record]
    stays = (triangle_of >= 0) & unchanged[triangle_of]

    touched = np.full(grid.cell_count, everything)
    if not everything:
        changed = np.flatnonzero(~unchanged)
        touched[entry_cell[~stays]] = True
        touched[overlaps(grid, *with_own_vertices(vertices, triangles[changed]))[1]] = True
        if inherited.cell_map is not None:  # a wall at the old border touches the cells that were added behind it
            added_cells = np.ones(grid.cell_count, bool)
            added_cells[inherited.cell_map] = False
            touched |= added_cells
        if source and not touched.any() and np.array_equal(inherited.new_number, np.arange(len(triangles))):
            return _as_in(source, inherited.cell_map)

    pair_triangle, pair_cell = overlaps(grid, vertices, triangles, None if everything else touched)
    by_cell = stable_order(pair_cell)
    pair_keys = pair_cell[by_cell] * len(triangles) + pair_triangle[by_cell]
    entry_keys = entry_cell * len(triangles) + triangle_of
    kept = np.zeros(len(stays), bool)
    if not everything:
        # An unchanged triangle stays listed where the source lists it, needed or not; a changed one where it is.
        kept = stays | ~touched[entry_cell]
        gone = np.flatnonzero(~kept)
        kept[gone] = contains(pair_keys, entry_keys[gone]) & (triangle_of[gone] >= 0)
    added = pair_keys[~contains(np.sort(entry_keys[kept]), pair_keys)]
    entries = _Entries(triangle_of, kept, ~(kept & stays), added // len(triangles), added % len(triangles))
    arranged = _arrange(records, entries, len(triangles), everything)
    return _with_spheres(vertices, triangles, source, records, arranged)


def _source_records(source: Hull | None, cell_map: np.ndarray | None) -> _Records:
    if source is None:
        none = np.zeros(0, np.int64)
        return _Records(none, none, none, none, none)
    rows, numbers = expand(source.first_list, source.list_counts)
    first = np.cumsum(source.list_counts) - source.list_counts
    entry_row, entry_list, entry_triangle = source.entries()
    cells = source.occupied if cell_map is None else cell_map[source.occupied]
    return _Records(
        cell=cells[rows],
        rank=numbers - source.first_list[rows],
        number=numbers,
        entry_record=first[entry_row] + entry_list - source.first_list[entry_row],
        entry_triangle=entry_triangle,
    )


def _as_in(source: Hull, cell_map: np.ndarray | None) -> RebuiltLists:
    words = source.carried.list_words if source.carried else np.zeros((len(source.list_starts), 2), np.uint32)
    arrays = source.arrays()
    if cell_map is not None:
        arrays["occupied"] = cell_map[source.occupied]
    return RebuiltLists(**arrays, words=words, touched=np.zeros(0, np.int64))


def _arrange(records: _Records, entries: _Entries, triangle_count: int, everything: bool) -> _Arranged:
    """Packs kept and added entries into records. Added ones join a cell's last record, or, when everything is rebuilt,
    its first, or a new one where the cell had none."""
    count = len(records.cell)
    cells_with, first_record, record_counts = np.unique(records.cell, return_index=True, return_counts=True)
    new_cells = np.setdiff1d(entries.added_cell, cells_with)
    home = np.concatenate((first_record + (0 if everything else record_counts - 1), count + np.arange(len(new_cells))))
    home_cells = np.concatenate((cells_with, new_cells))
    by_cell = np.argsort(home_cells)
    added_record = home[by_cell][np.searchsorted(home_cells[by_cell], entries.added_cell)]

    cell = np.concatenate((records.cell, new_cells))
    rank = np.concatenate((records.rank, np.zeros(len(new_cells), np.int64)))
    number = np.concatenate((records.number, np.full(len(new_cells), -1)))
    touched = np.zeros(len(cell), bool)
    touched[records.entry_record[entries.reshaped]] = True
    touched[added_record] = True

    entry_record = np.concatenate((records.entry_record[entries.kept], added_record))
    entry_triangle = np.concatenate((entries.triangle_of[entries.kept], entries.added_triangle))
    direction = _directions(records, len(cell))
    place = np.where(touched[entry_record], direction[entry_record] * entry_triangle, 0)
    span = 2 * triangle_count  # `place` runs from minus their number to their number

    sizes = np.bincount(entry_record, minlength=len(cell))
    was_empty = np.ones(len(cell), bool)
    was_empty[records.entry_record] = False
    stays = (sizes > 0) | (was_empty & (np.arange(len(cell)) < count))
    order = np.lexsort((rank, cell))
    order = order[stays[order]]
    position = np.full(len(cell), -1)
    position[order] = np.arange(len(order))
    entry_order = np.argsort(position[entry_record] * span + place, kind="stable")
    return _Arranged(
        cell[order], number[order], touched[order], sizes[order], entry_triangle[entry_order], np.unique(cell[touched])
    )


def _with_spheres(
    vertices: NDArray[np.float32],
    triangles: NDArray[np.int64],
    source: Hull | None,
    records: _Records,
    arranged: _Arranged,
) -> RebuiltLists:
    """The lists with the spheres and unread words of records that stay, and new spheres for the others."""
    list_spheres = np.zeros((len(arranged.cell), 4), np.float32)
    words = np.zeros((len(arranged.cell), 2), np.uint32)
    from_source = arranged.number >= 0
    if source:
        list_spheres[from_source] = source.list_spheres[arranged.number[from_source]]
        if source.carried:
            words[from_source] = source.carried.list_words[arranged.number[from_source]]
    sizes, listed = arranged.sizes, arranged.triangles
    list_spheres[arranged.touched] = _spheres(vertices, triangles, listed, sizes, arranged.touched)

    occupied, first_list, list_counts = np.unique(arranged.cell, return_index=True, return_counts=True)
    changed = np.isin(occupied, arranged.touched_cells, assume_unique=True)
    cell_spheres = list_spheres[first_list].copy()
    if source:
        _keep_cell_spheres(source, records, occupied, cell_spheres, ~changed)
    cell_sizes = np.add.reduceat(sizes, first_list) if len(first_list) else sizes
    several = changed & (list_counts > 1)
    cell_spheres[several] = _spheres(vertices, triangles, listed, cell_sizes, several)
    return RebuiltLists(
        occupied=occupied,
        cell_spheres=cell_spheres,
        first_list=first_list,
        list_counts=list_counts,
        list_starts=np.cumsum(sizes) - sizes,
        list_sizes=sizes,
        list_spheres=list_spheres,
        indices=listed.astype(np.uint16),
        words=words,
        touched=arranged.touched_cells,
    )


def _directions(records: _Records, total: int) -> np.ndarray:
    """Which way each record's triangles are ordered in the source: 1 up, -1 down, 0 neither; 1 for new ones."""
    direction = np.ones(total, np.int64)
    record, triangle = records.entry_record, records.entry_triangle
    same = record[1:] == record[:-1]
    up, down = np.zeros(total, bool), np.zeros(total, bool)
    up[record[1:][same & (triangle[1:] > triangle[:-1])]] = True
    down[record[1:][same & (triangle[1:] < triangle[:-1])]] = True
    direction[down] = -1
    direction[up & down] = 0
    return direction


def _keep_cell_spheres(
    source: Hull, records: _Records, occupied: np.ndarray, spheres: np.ndarray, keep: np.ndarray
) -> None:
    cells, first = np.unique(records.cell, return_index=True)
    at = np.searchsorted(cells, occupied[keep])
    rows = np.searchsorted(np.cumsum(source.list_counts), first[at], side="right")
    spheres[keep] = source.cell_spheres[rows]


def _spheres(
    vertices: np.ndarray, triangles: np.ndarray, listed: np.ndarray, sizes: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    """Spheres around the triangles of the wanted runs, float32 (w, 4); zeros for a run without triangles."""
    result = np.zeros((int(np.count_nonzero(wanted)), 4), np.float32)
    filled = sizes[wanted] > 0
    starts = (np.cumsum(sizes) - sizes)[wanted][filled]
    runs, places = expand(starts, sizes[wanted][filled])
    used = triangles.T.take(listed[places], axis=1)
    # Most vertices lie within one run: there is no need to sort all that name them.
    home = np.full(len(vertices), -1)
    home[used] = runs
    at_home = np.flatnonzero(home >= 0)
    keys = [home[at_home] * len(vertices) + at_home]
    for vertex in used:
        elsewhere = np.flatnonzero(home[vertex] != runs)
        keys.append(runs[elsewhere] * len(vertices) + vertex[elsewhere])
    run, vertex = np.divmod(np.unique(np.concatenate(keys)), len(vertices))
    result[filled] = group_spheres(vertices[vertex], np.searchsorted(run, np.arange(len(starts))))
    return result
