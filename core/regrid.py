"""The same hull in another grid: box, cells, lists and fill states are made anew, everything else is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .fill import layers_in_cells
from .grid import Grid
from .lists import rebuild_lists
from .mcol import FREE, LISTED, SOLID, Hull


def regrid(source: Hull, grid: Grid) -> Hull:
    """The source's vertices, triangles and their spheres, byte for byte, in a grid of its own.

    What nobody understands stays, but for the words of cell and list records, which are other records now.
    """
    triangles = source.triangles.astype(np.int64)
    none = np.zeros(0, np.int64)
    unchanged = np.zeros(len(triangles), bool)
    lists = rebuild_lists(grid, source.vertices, triangles, None, None, none, unchanged, everything=True)
    solid = layers_in_cells(grid, source.vertices, triangles) + int(bool(source.outside_solid)) >= 1
    states = np.where(solid, SOLID, FREE).astype(np.uint8)
    states[lists.occupied] = LISTED
    carried = source.carried
    if carried:
        carried = replace(carried, cells=None, list_words=lists.words)
    return replace(
        source,
        grid=grid,
        states=states,
        occupied=lists.occupied,
        cell_spheres=lists.cell_spheres,
        first_list=lists.first_list,
        list_counts=lists.list_counts,
        list_starts=lists.list_starts,
        list_sizes=lists.list_sizes,
        list_spheres=lists.list_spheres,
        indices=lists.indices,
        carried=carried,
    )
