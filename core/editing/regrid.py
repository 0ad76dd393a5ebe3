"""The same hull in another grid: box, cells, lists and fill states are rebuilt, everything else is preserved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..formats.mcol import Hull
from ..geometry.grid import Grid
from .rebuild_hull import sort_into_cells


def regrid(source: Hull, grid: Grid) -> Hull:
    """The source's vertices, triangles and their spheres, byte for byte, in a grid of its own.

    What nobody understands stays, but for the words of cell and list records, which are other records now.
    """
    hull = sort_into_cells(grid, source.outside_solid, source.vertices, source.triangles, source.spheres)
    if source.carried is None:
        return hull
    words = np.zeros((len(hull.list_starts), 2), np.uint32)
    return replace(hull, carried=replace(source.carried, cells=None, list_words=words))
