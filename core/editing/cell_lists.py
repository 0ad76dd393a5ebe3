"""The cell lists of an edited hull: what the edit doesn't reach stays, the rest is made anew.

docs/FORMATS.md, section 3, "Cell lists" and "Spheres of lists and cells".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..formats.mcol import Hull
from ..geometry.arrays import contains, expand, stable_order
from ..geometry.grid import Grid
from ..geometry.overlap import overlaps
from ..geometry.spheres import group_spheres
from ..geometry.triangles import with_own_vertices


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """The list arrays of a `Hull`, under the same names, the unread words of its records, uint32 (m, 2), and
    the cells whose lists were made anew, int64."""

    occupied: np.ndarray
    cell_spheres: np.ndarray
    first_list: np.ndarray
    list_counts: np.ndarray
    list_starts: np.ndarray
    list_sizes: np.ndarray
    list_spheres: np.ndarray
    indices: np.ndarray
    words: np.ndarray
    touched: np.ndarray


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


def rebuild_lists(
    grid: Grid,
    vertices: np.ndarray,
    triangles: np.ndarray,
    source: Hull | None,
    cell_map: np.ndarray | None,
    new_number: np.ndarray,
    unchanged: np.ndarray,
    everything: bool,
) -> Lists:
    """Lists, and their spheres, for triangles int64 (nt, 3) in a grid.

    `cell_map` int64 (cells of the source,) gives the new number of the source's cells, `new_number` int64
    (nt of the source,) that of its triangles, -1 for none. `unchanged` bool (nt,) marks triangles that lie
    where the source's lie. A cell is touched where a triangle left it, entered it or changed within it;
    `everything` touches all.
    """
    records = _source_records(source, cell_map)
    triangle_of = new_number[records.entry_triangle]
    entry_cell = records.cell[records.entry_record]
    stays = (triangle_of >= 0) & unchanged[triangle_of]

    touched = np.full(grid.cell_count, everything)
    if not everything:
        changed = np.flatnonzero(~unchanged)
        touched[entry_cell[~stays]] = True
        touched[overlaps(grid, *with_own_vertices(vertices, triangles[changed]))[1]] = True
        if cell_map is not None:  # a wall at the old border touches the cells that were added behind it
            added_cells = np.ones(grid.cell_count, bool)
            added_cells[cell_map] = False
            touched |= added_cells
        if source and not touched.any() and np.array_equal(new_number, np.arange(len(triangles))):
            return _as_in(source, cell_map)

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
    reshaped = ~(kept & stays)
    added = pair_keys[~contains(np.sort(entry_keys[kept]), pair_keys)]
    return _write(
        vertices,
        triangles,
        source,
        records,
        triangle_of,
        kept,
        reshaped,
        added // len(triangles),
        added % len(triangles),
        everything,
    )


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


def _as_in(source: Hull, cell_map: np.ndarray | None) -> Lists:
    words = source.carried.list_words if source.carried else np.zeros((len(source.list_starts), 2), np.uint32)
    return Lists(
        occupied=source.occupied if cell_map is None else cell_map[source.occupied],
        cell_spheres=source.cell_spheres,
        first_list=source.first_list,
        list_counts=source.list_counts,
        list_starts=source.list_starts,
        list_sizes=source.list_sizes,
        list_spheres=source.list_spheres,
        indices=source.indices,
        words=words,
        touched=np.zeros(0, np.int64),
    )


def _write(
    vertices: np.ndarray,
    triangles: np.ndarray,
    source: Hull | None,
    records: _Records,
    triangle_of: np.ndarray,
    kept: np.ndarray,
    reshaped: np.ndarray,
    added_cell: np.ndarray,
    added_triangle: np.ndarray,
    everything: bool,
) -> Lists:
    """Packs kept and added entries into records. Added ones join a cell's last record, or, when everything is
    made anew, its first, or a new one where the cell had none."""
    count = len(records.cell)
    cells_with, first_record, record_counts = np.unique(records.cell, return_index=True, return_counts=True)
    new_cells = np.setdiff1d(added_cell, cells_with)
    home = np.concatenate((first_record + (0 if everything else record_counts - 1), count + np.arange(len(new_cells))))
    home_cells = np.concatenate((cells_with, new_cells))
    by_cell = np.argsort(home_cells)
    added_record = home[by_cell][np.searchsorted(home_cells[by_cell], added_cell)]

    record_cell = np.concatenate((records.cell, new_cells))
    record_rank = np.concatenate((records.rank, np.zeros(len(new_cells), np.int64)))
    record_number = np.concatenate((records.number, np.full(len(new_cells), -1)))
    total = len(record_cell)
    record_touched = np.zeros(total, bool)
    record_touched[records.entry_record[reshaped]] = True
    record_touched[added_record] = True

    entry_record = np.concatenate((records.entry_record[kept], added_record))
    entry_triangle = np.concatenate((triangle_of[kept], added_triangle))
    direction = _directions(records, total)
    touched_entry = record_touched[entry_record]
    place = np.where(touched_entry, direction[entry_record] * entry_triangle, 0)
    span = 2 * len(triangles)  # `place` runs from minus their number to their number

    sizes = np.bincount(entry_record, minlength=total)
    was_empty = np.ones(total, bool)
    was_empty[records.entry_record] = False
    stays = (sizes > 0) | (was_empty & (np.arange(total) < count))
    order = np.lexsort((record_rank, record_cell))
    order = order[stays[order]]
    position = np.full(total, -1)
    position[order] = np.arange(len(order))
    entry_order = np.argsort(position[entry_record] * span + place, kind="stable")
    entry_triangle, list_sizes = entry_triangle[entry_order], sizes[order]

    list_spheres = np.zeros((len(order), 4), np.float32)
    words = np.zeros((len(order), 2), np.uint32)
    from_source = record_number[order] >= 0
    if source:
        list_spheres[from_source] = source.list_spheres[record_number[order][from_source]]
        if source.carried:
            words[from_source] = source.carried.list_words[record_number[order][from_source]]
    anew = record_touched[order]
    list_spheres[anew] = _spheres(vertices, triangles, entry_triangle, list_sizes, anew)

    occupied, first_list, list_counts = np.unique(record_cell[order], return_index=True, return_counts=True)
    touched_cells = np.unique(record_cell[record_touched])
    cell_anew = np.isin(occupied, touched_cells, assume_unique=True)
    cell_spheres = list_spheres[first_list].copy()
    if source:
        _keep_cell_spheres(source, records, occupied, cell_spheres, ~cell_anew)
    cell_sizes = np.add.reduceat(list_sizes, first_list) if len(first_list) else list_sizes
    several = cell_anew & (list_counts > 1)
    cell_spheres[several] = _spheres(vertices, triangles, entry_triangle, cell_sizes, several)
    return Lists(
        occupied=occupied,
        cell_spheres=cell_spheres,
        first_list=first_list,
        list_counts=list_counts,
        list_starts=np.cumsum(list_sizes) - list_sizes,
        list_sizes=list_sizes,
        list_spheres=list_spheres,
        indices=entry_triangle.astype(np.uint16),
        words=words,
        touched=touched_cells,
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
