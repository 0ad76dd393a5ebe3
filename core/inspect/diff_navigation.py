"""What changed between two navigation volumes, in a modder's terms. Nothing to report means identical bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from ..formats import regn, regn_contents
from ..formats.regn import Navigation
from ..formats.regn_contents import Graph
from ..text import plural
from .diff_hull import Difference, diff_bytes
from .diff_mesh import vector

UNREAD = ("unknown_4c", "unknown_5c", "unknown_6c", "minimum_w", "maximum_w", "extent_w", "extent")


def diff_navigations(a: Navigation, b: Navigation) -> list[Difference]:
    """What turns volume `a` into volume `b`; empty if and only if their files are the same bytes."""
    before, after = regn.encode(a), regn.encode(b)
    if before == after:
        return []
    found = _diff_headers(a, b)
    graphs = []
    for called, navigation in (("first", a), ("second", b)):
        try:
            graphs.append(regn_contents.decode(navigation))
        except FormatError as error:
            found.append(Difference("contents", f"can't be compared, in the {called} file: {error}"))
    if len(graphs) == 2:
        found += _diff_contents(*graphs)
    return found or diff_bytes(before, after)


def _diff_headers(a: Navigation, b: Navigation) -> list[Difference]:
    found = [
        Difference("grid", f"{called}: {vector(before)} -> {vector(after)}")
        for called, before, after in (
            ("box minimum", a.minimum, b.minimum),
            ("box maximum", a.maximum, b.maximum),
            ("cell size", a.cell_size, b.cell_size),
            ("cells along x, y, z", a.dimensions or (), b.dimensions or ()),
        )
        if not np.array_equal(before, after)
    ]
    one, other = a.carried.header, b.carried.header
    words = [name.replace("_", " ") for name in UNREAD if one[name].tobytes() != other[name].tobytes()]
    if words and not found:
        found.append(Difference("header", f"other words: {', '.join(words)}"))
    return found


def _diff_contents(a: Graph, b: Graph) -> list[Difference]:
    """Tetrahedra are the same where their corners are; faces follow from them."""
    mine, theirs = _common(a, b)
    found = []
    for text, count in (("removed", len(a.tetrahedra) - len(mine)), ("added", len(b.tetrahedra) - len(theirs))):
        if count:
            found.append(Difference("tetrahedra", f"{count:,} {text}"))
    regions = [int(graph.regions().max(initial=-1)) + 1 for graph in (a, b)]
    if regions[0] != regions[1]:
        found.append(Difference("free space", f"{plural(regions[0], 'region')} -> {regions[1]:,}"))
    found += _diff_pairs(a.tetrahedra["pairs"][mine], b.tetrahedra["pairs"][theirs])
    found += _diff_cells(a, b, mine, theirs)
    if not found and len(a.tetrahedra) == len(b.tetrahedra):
        found += _diff_records(a, b)
    return found


def _common(a: Graph, b: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers in `a` and numbers in `b` of the tetrahedra with the same corners."""
    rows = []
    for graph in (a, b):
        places = graph.vertices[graph.corners()] + np.float32(0)
        order = np.lexsort((places[..., 2], places[..., 1], places[..., 0]), axis=1)
        rows.append(np.take_along_axis(places, order[..., None], axis=1).reshape(-1, 12).view(np.uint32))
    _, number = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    one, other = np.split(number.reshape(-1), [len(a.tetrahedra)])
    _, mine, theirs = np.intersect1d(one, other, return_indices=True)
    return mine, theirs


def _diff_pairs(a: NDArray[np.void], b: NDArray[np.void]) -> list[Difference]:
    """Costs and clearances (n, 6) of the same tetrahedra; in whatever order a tetrahedron has them."""
    found = []
    for name in ("clearance", "cost"):
        one, other = (np.sort(pairs[name].astype(np.float32), axis=1) for pairs in (a, b))
        lowered, raised = int((other < one).sum()), int((other > one).sum())
        closed = int(((other == 0) & (one > 0)).sum())
        if lowered or raised:
            text = f"{lowered:,} lowered, {raised:,} raised"
            text += f", {closed:,} of them to 0" if closed and name == "clearance" else ""
            found.append(Difference(f"{name}s", text))
        elif a[name].tobytes() != b[name].tobytes():
            found.append(Difference(f"{name}s", "the same in another order"))
    return found


def _diff_cells(a: Graph, b: Graph, mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> list[Difference]:
    """Which of the same tetrahedra cells lead to."""
    if len(a.cells) != len(b.cells):
        return [Difference("cells", f"{len(a.cells):,} -> {len(b.cells):,}, numbered in another way")]
    keys = []
    for graph, numbers in ((a, mine), (b, theirs)):
        same = np.full(len(graph.tetrahedra), -1)
        same[numbers] = np.arange(len(numbers))
        cell, tetrahedron = graph.cell_references()
        kept = same[tetrahedron] >= 0
        keys.append(cell[kept] * max(len(numbers), 1) + same[tetrahedron[kept]])
    lost, gained = np.setdiff1d(keys[0], keys[1]), np.setdiff1d(keys[1], keys[0])
    if not len(lost) and not len(gained):
        return []
    no_longer = len(set((lost % max(len(mine), 1)).tolist()) - set((keys[1] % max(len(mine), 1)).tolist()))
    text = f"lead to {len(lost):,} tetrahedra fewer and {len(gained):,} more"
    return [Difference("cells", text + (f"; no cell leads to {no_longer:,} any more" if no_longer else ""))]


def _diff_records(a: Graph, b: Graph) -> list[Difference]:
    """Fields that differ in records of the same numbers."""
    found = []
    for called in ("tetrahedra", "faces", "spare_faces", "items"):
        one, other = getattr(a, called), getattr(b, called)
        if len(one) != len(other):
            found.append(Difference(called.replace("_", " "), f"{len(one):,} -> {len(other):,}"))
            continue
        for name in one.dtype.names:
            rows = sum(x.tobytes() != y.tobytes() for x, y in zip(one[name], other[name], strict=True))
            if rows and (called, name) != ("items", "references"):
                found.append(Difference(called.replace("_", " "), f"another {name.replace('_', ' ')} in {rows:,}"))
    return found
