"""The navigation volume of a hull that was edited: only what the edit reaches changes. docs/FORMATS.md, section 9.

Clearances shrink to the new rock, and come back where rock went away. The part that rock reaches into, or left, is
divided again (`refill`). Where that can't be done the tetrahedra stay, and the cells no longer lead to those that rock
reaches into, so that no search begins or ends there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import Finding, Severity
from ..formats import regn_contents
from ..formats.mcol import Hull
from ..formats.regn import Navigation
from ..formats.regn_contents import Graph
from ..formats.regn_pairs import PAIRS
from ..geometry.boxes import boxes_of
from ..geometry.clearance import clearances
from ..geometry.fill import is_free
from ..geometry.tetrahedra import reached
from ..geometry.triangles import corners
from ..rules.rule import Rule
from .build import cell_table
from .refill import Edited, refill

GOVERNED = 1.001
"""A clearance up to this many times the distance to rock was decided by that rock."""

BEHIND = 1e-3
"""How far behind a triangle its rock is looked for, as a part of the triangle's size."""


@dataclass(frozen=True, slots=True, eq=False)
class Patched:
    """A patched file: its bytes, how many pairs got a smaller, a larger and no clearance, how many tetrahedra no longer
    take part because rock reaches into them, whether the cell table was rebuilt, and what to know about it."""

    data: bytes
    lowered: int
    raised: int
    closed: int
    dropped: int
    new_table: bool
    findings: tuple[Finding, ...]


def patch(navigation: Navigation, old: Hull, new: Hull, fill: bool = True) -> Patched:
    """The volume of `old` for `new`. What doesn't differ between the hulls leaves it byte for byte as it is. Without
    `fill` no tetrahedron is replaced.

    Raises `FormatError` if the volume's contents can't be read.
    """
    graph = regn_contents.decode(navigation, old.grid).settled(old.vertices, old.triangles)
    removed, kept, added = _compare(old, new)
    same_grid = (
        all(
            np.array_equal(getattr(old.grid, name), getattr(new.grid, name))
            for name in ("minimum", "maximum", "cell_size")
        )
        and old.grid.dimensions == new.grid.dimensions
    )
    before = graph.tetrahedra["pairs"]["clearance"].astype(np.float32)
    after = _new_clearances(graph, before, (old, removed), (new, kept), (new, added))
    cut = _cut(graph, new, added)
    tetrahedra = graph.tetrahedra.copy()
    changed = before.view(np.uint32) != after.view(np.uint32)
    tetrahedra["pairs"]["clearance"][changed] = after[changed]
    patched = replace(graph, tetrahedra=tetrahedra)
    filled = _filled(patched, navigation, Edited(old, new, removed, added), cut) if fill else None
    if filled is not None:
        return Patched(
            filled,
            int((after < before).sum()),
            int((after > before).sum()),
            int(((after == 0) & (before > 0)).sum()),
            0,
            not same_grid,
            (),
        )
    if same_grid:
        data = regn_contents.write_back(patched, navigation, cut)
    else:
        data = regn_contents.encode(_in_new_grid(patched, new, cut), new.grid, navigation.carried)
    return Patched(
        data,
        int((after < before).sum()),
        int((after > before).sum()),
        int(((after == 0) & (before > 0)).sum()),
        int(cut.sum()),
        not same_grid,
        tuple(_findings(graph, old, new, removed, cut)),
    )


def _filled(graph: Graph, navigation: Navigation, edit: Edited, cut: np.ndarray) -> bytes | None:
    """The bytes of a volume whose part around the edit is divided again, None where that can't be done."""
    grid = edit.new.grid
    same_grid = grid.dimensions == edit.old.grid.dimensions and bool((grid.minimum == edit.old.grid.minimum).all())
    nothing = np.zeros(len(graph.tetrahedra), bool)
    if same_grid and regn_contents.encode(graph, grid, navigation.carried) != regn_contents.write_back(
        graph, navigation, nothing
    ):
        return None  # it lies in the file in a way that only patching in place preserves
    filled = refill(graph, edit, cut)
    if filled is None:
        return None
    if not same_grid:
        filled = _in_new_grid(filled, edit.new, np.zeros(len(filled.tetrahedra), bool))
    return regn_contents.encode(filled, grid, navigation.carried)


def _compare(old: Hull, new: Hull) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The old hull's triangles that are gone; the new hull's that were there before, and those that are new."""
    keys: list[np.ndarray] = []
    for hull in (old, new):
        shape = np.ascontiguousarray(corners(hull.vertices, hull.triangles), np.float32) + np.float32(0)
        # The corner that comes first by its coordinates is put in front: the winding counts, its start doesn't.
        words = shape.view([("x", "<f4"), ("y", "<f4"), ("z", "<f4")]).reshape(-1, 3)
        first = np.argsort(words, axis=1, order=("x", "y", "z"))[:, 0] if len(words) else np.zeros(0, np.int64)
        order = (first[:, None] + np.arange(3)) % 3
        bits = np.take_along_axis(shape, order[:, :, None], axis=1).reshape(-1, 9).view(np.uint32)
        keys.append(bits)
    _, rows = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    keys = np.split(rows.reshape(-1), [len(old.triangles)])
    gone, fresh = ~np.isin(keys[0], keys[1]), ~np.isin(keys[1], keys[0])
    return old.triangles[gone], new.triangles[~fresh], new.triangles[fresh]


Part = tuple[Hull, np.ndarray]
"""A hull, and some of its triangles (n, 3)."""


def _new_clearances(graph: Graph, before: np.ndarray, removed: Part, kept: Part, added: Part) -> np.ndarray:
    """The clearances, float32 (m, 6), after an edit, of which `before` are the source's.

    Where the order of the pairs isn't known, a clearance may be that of several pairs: it comes back as far as each of
    these allows, and shrinks to what the nearest of them leaves.
    """
    segments = graph.pair_segments()
    after = _raised(graph, before.astype(np.float64), removed, kept)
    exact = clearances(segments, added[0].vertices, added[1], graph.order.highest(after))
    exact = graph.order.lowest_at(exact)
    lowered = exact < after
    result = before.copy()
    changed = lowered | (after != before)
    result[changed] = np.nextafter(np.minimum(exact, after)[changed].astype(np.float32), np.float32(0))
    result[result < 0] = 0
    result[_ends_in_rock(graph, added[0], lowered | (after > before))] = 0
    return result


def _raised(graph: Graph, before: np.ndarray, removed: Part, kept: Part) -> np.ndarray:
    """The clearances, float64 (m, 6), after rock went away: where it decided one, what is left decides it, by as much
    as the source gave."""
    segments, may = graph.pair_segments(), graph.order.may
    after = before.copy()
    limits = graph.order.highest(before) * GOVERNED + 1e-30
    to_removed = clearances(segments, removed[0].vertices, removed[1], limits)
    rows = np.flatnonzero((to_removed < limits).any(axis=1))
    if not len(rows):
        return after
    # By place and pair from here on.
    stored, to_removed = before[rows, :, None], to_removed[rows, None]
    to_kept = clearances(segments[rows], kept[0].vertices, kept[1])[:, None]
    governed = (to_removed < stored * GOVERNED + 1e-30) & (to_removed < to_kept)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(to_removed > 0, np.minimum(stored / to_removed, 1), 1.0)
    diagonal = np.linalg.norm(kept[0].grid.maximum.astype(np.float64) - kept[0].grid.minimum)
    given = np.where(may, np.minimum(to_kept, diagonal) * share, np.inf).min(axis=2)
    after[rows] = np.where((governed | ~may).all(axis=2), given, before[rows])
    return after


def _ends_in_rock(graph: Graph, hull: Hull, suspects: np.ndarray) -> np.ndarray:
    """Which of the suspected clearances, bool (m, 6), may be those of a pair of which a face's centre lies in rock."""
    rows = np.flatnonzero(suspects.any(axis=1))
    ends = graph.tetrahedra["faces"][rows].astype(np.int64)
    faces = np.unique(ends)
    solid = np.zeros(len(graph.faces), bool)
    centres = graph.faces["centre"][faces].astype(np.float64)
    solid[faces] = ~is_free(centres, hull.vertices, hull.triangles, bool(hull.outside_solid))
    result = np.zeros_like(suspects)
    by_pair = solid[ends][:, PAIRS].any(axis=2)
    result[rows] = suspects[rows] & (by_pair[:, None] & graph.order.may).any(axis=2)
    return result


def _cut(graph: Graph, hull: Hull, added: np.ndarray) -> np.ndarray:
    """The tetrahedra that new rock reaches into or swallows, bool (m,)."""
    shape = graph.vertices.astype(np.float64)[graph.corners()]
    if not len(added) or not len(shape):
        return np.zeros(len(shape), bool)
    low, high = boxes_of(shape)
    faces = corners(hull.vertices, added)
    cut = reached(shape, faces)
    within = ((high >= faces.min(axis=(0, 1))) & (low <= faces.max(axis=(0, 1)))).all(axis=1)
    rows = np.flatnonzero(within & ~cut)
    centres = shape[rows].mean(axis=1)
    cut[rows] = ~is_free(centres, hull.vertices, hull.triangles, bool(hull.outside_solid))
    return cut


def _in_new_grid(graph: Graph, hull: Hull, cut: np.ndarray) -> Graph:
    """The same tetrahedra, found by the cells of another grid; not those that are cut."""
    left = np.flatnonzero(~cut)
    cells, items, sizes, numbers = cell_table(hull.grid, graph.vertices.astype(np.float64), graph.corners()[left])
    return replace(graph, cells=cells, items=items, sizes=sizes, references=left[numbers])


def _findings(graph: Graph, old: Hull, new: Hull, removed: np.ndarray, cut: np.ndarray) -> list[Finding]:
    findings = []
    if cut.any():
        count = int(cut.sum())
        message = (
            f"{count:,} {'tetrahedron is' if count == 1 else 'tetrahedra are'} cut by new rock: no search begins or "
            "ends there; rebuild the volume to get that space back"
        )
        findings.append(
            Finding(Severity.WARNING, Rule.NAVIGATION_CUT, message, "tetrahedron", tuple(np.flatnonzero(cut)))
        )
    freed = _freed(old, new, removed)
    if freed:
        message = (
            f"rock went away behind {freed:,} {'triangle' if freed == 1 else 'triangles'}, and the volume has no "
            "tetrahedra there; rebuild it so that ships use that space"
        )
        findings.append(Finding(Severity.WARNING, Rule.NAVIGATION_FREED, message))
    return findings


def _freed(old: Hull, new: Hull, removed: np.ndarray) -> int:
    """Behind how many removed triangles rock became free space."""
    if not len(removed):
        return 0
    shape = corners(old.vertices, removed).astype(np.float64)
    normal = np.cross(shape[:, 1] - shape[:, 0], shape[:, 2] - shape[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0)
    points = shape.mean(axis=1) - BEHIND * np.sqrt(length) * normal
    solid, free = (is_free(points, hull.vertices, hull.triangles, bool(hull.outside_solid)) for hull in (old, new))
    inside = ~new.grid.outside(points)
    return int((~solid & free & inside).sum())
