"""The part of a navigation volume that an edit reaches, divided again: tetrahedra that new rock cuts are replaced, and
space that rock left gets tetrahedra. docs/FORMATS.md, sections 5 and 9.

The part is bounded by faces that stay, so that the rest of the volume keeps its records. Where the Delaunay
tetrahedralization inside cuts such a face, the tetrahedron behind it joins the part. What isn't exactly filled in the
end is refused, and the volume stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import RefusedError
from ..formats.mcol import ONE, Hull
from ..formats.regn import FACE, ITEM, NO_TETRAHEDRON, TETRAHEDRON
from ..formats.regn_contents import LIMIT, Graph
from ..formats.regn_pairs import PAIRS
from ..geometry.arrays import expand
from ..geometry.clearance import clearances
from ..geometry.spheres import group_spheres
from ..geometry.tetrahedra import SIDES, cells_near, volumes
from .build import SPHERE_MARGIN, inner_points, stored_clearances
from .free_space import FreeSpace, Space, divide

MOST_ROUNDS = 5
PATIENCE, RECOVERED = 0.48, 0.8
"""How far the recovery of faces may get, as a part of a division, and where it ends: what takes longer is crossed by
something, and wouldn't be filled in the end."""

INSIDE = 1 - 1e-9
"""A point this near the middle of a sphere, as a part of its radius squared, lies inside."""

MOST_GROWN, GROWN_FREELY = 2, 100
"""A part that grows to more than so many times the tetrahedra that rock cuts, and so many more, is no patch: a rebuild
of everything is as good."""

ON_TRIANGLE = 1e-5
"""How far a face may be from a triangle that it lies on, as a part of its size: its corners are rounded."""

SAME_VOLUME = 1e-6
"""How far the volumes may be off that fill a part, as a part of it."""

MORE_POINTS = (0, 8, 32, 128)
"""So many points are tried inside a part until it has as many tetrahedra and faces as before: numbers stay in use."""


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """What is divided again: the tetrahedra that go, bool (m,), the faces that bound it and stay whole, and those that
    vanish, int64 numbers each, and its surface, whose front looks inside."""

    removed: NDArray[np.bool_]
    kept: NDArray[np.int64]
    vanishing: NDArray[np.int64]
    space: Space


@dataclass(frozen=True, slots=True, eq=False)
class Edited:
    """An edit of a hull: before, after, the triangles that are gone and those that are new, (n, 3) each."""

    old: Hull
    new: Hull
    removed: NDArray[np.integer]
    added: NDArray[np.integer]


def refill(graph: Graph, edit: Edited, cut: NDArray[np.bool_]) -> Graph | None:
    """A volume in which the part around an edit is divided again, None where there is nothing to do, or where that part
    can't be filled exactly.

    `graph` has its clearances for the new hull already. `cut` bool (m,) are the tetrahedra that rock reaches into now.
    """
    opened, new = _opened(graph, edit.old, edit.removed), edit.new
    if not cut.any() and not len(opened):
        return None
    for most in MORE_POINTS:
        try:
            found = _fill(graph, edit, cut, opened, most)
        except RefusedError:
            return None
        if found is None:
            return None
        filled = _merge(graph, new, *found)
        if filled is not None:
            return filled
    return None


def _opened(graph: Graph, old: Hull, removed: NDArray[np.integer]) -> NDArray[np.int64]:
    """The faces at the border of free space that lie on triangles that are gone, removed (n, 3): what is behind them
    now is for the new surfaces to say."""
    if not len(removed):
        return np.zeros(0, np.int64)
    there = graph.faces["tetrahedra"] != NO_TETRAHEDRON
    border = np.flatnonzero(there.any(axis=1) & ~there.all(axis=1))
    corners = graph.vertices.astype(np.float64)[graph.faces["vertices"][border].astype(np.int64)]
    size = np.linalg.norm(corners.max(axis=1) - corners.min(axis=1), axis=1)
    points = np.concatenate((corners, corners.mean(axis=1, keepdims=True)), axis=1)
    away = clearances(
        np.repeat(points[:, :, None], 2, axis=2), old.vertices, removed, np.full(points.shape[:2], np.inf)
    )
    return border[(away <= ON_TRIANGLE * size[:, None]).all(axis=1)]


def _fill(
    graph: Graph, edit: Edited, cut: NDArray[np.bool_], opened: NDArray[np.int64], most: int
) -> tuple[_Part, FreeSpace] | None:
    """A part around an edit and its division, None where there is none whose outer faces stay whole."""
    removed = cut | _in_the_way(graph, edit)
    most_removed = MOST_GROWN * removed.sum() + GROWN_FREELY
    for _ in range(MOST_ROUNDS):
        part = _part(graph, edit, removed, opened)
        inner = inner_points(part.space, most) if most else np.zeros((0, 3), np.float32)
        free = divide(part.space, inner, _impatient)
        if free.left_out:
            return None
        lost = part.kept[~_has_faces(free, graph, part.kept)]
        if not len(lost):
            return (part, free) if _is_full(part, free) else None
        beside = graph.faces["tetrahedra"][lost].astype(np.int64)
        removed[beside[beside != NO_TETRAHEDRON]] = True
        if removed.sum() > most_removed:
            return None
    return None


def _in_the_way(graph: Graph, edit: Edited) -> NDArray[np.bool_]:
    """The tetrahedra around which a sphere holds a corner of new rock, bool (m,): a Delaunay tetrahedralization with
    that corner has others there."""
    points = np.asarray(edit.new.vertices, np.float64)[np.unique(edit.added)]
    shape = graph.shapes()
    sides = shape[:, 1:] - shape[:, :1]
    found = np.zeros(len(shape), bool)
    flat = np.abs(np.linalg.det(sides)) <= np.finfo(np.float64).eps * np.abs(sides).max(axis=(1, 2), initial=0) ** 3
    rows = np.flatnonzero(~flat)
    centre = np.linalg.solve(2 * sides[rows], (sides[rows] ** 2).sum(axis=2)[..., None])[..., 0]
    radius = (centre**2).sum(axis=1)
    centre += shape[rows, 0]
    for point in points:
        found[rows] |= ((centre - point) ** 2).sum(axis=1) < INSIDE * radius
    return found


def _impatient(part: float) -> None:
    """Ends a division whose faces take long to recover."""
    if PATIENCE < part < RECOVERED:
        raise RefusedError("something crosses the faces of this part")


def _part(graph: Graph, edit: Edited, removed: NDArray[np.bool_], opened: NDArray[np.int64]) -> _Part:
    beside = graph.faces["tetrahedra"].astype(np.int64)
    there = beside != NO_TETRAHEDRON
    gone = there & np.append(removed, False)[np.where(there, beside, len(removed))]
    is_open = np.zeros(len(beside), bool)
    is_open[opened] = True
    touched = gone.any(axis=1)
    outer = touched & (there & ~gone).any(axis=1)
    rock = touched & ~there.all(axis=1) & ~is_open
    open_kept = is_open & ~touched
    faces = np.flatnonzero(outer | rock | open_kept)
    corners = graph.faces["vertices"][faces].astype(np.int64)
    points = graph.vertices.astype(np.float64)[corners]
    centres = graph.shapes().mean(axis=1)
    # The front looks into the part: toward a tetrahedron that goes, or away from one that stays.
    goes = beside[faces, gone[faces].argmax(axis=1)]
    stays = np.where(there[faces, 0], beside[faces, 0], beside[faces, 1])
    to_inside = centres[np.where(open_kept[faces], stays, goes)] - points.mean(axis=1)
    normal = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    toward = np.einsum("ni,ni->n", normal, to_inside) > 0
    wrong = np.where(open_kept[faces], toward, ~toward)
    corners[wrong] = corners[wrong][:, [0, 2, 1]]
    new = edit.new
    vertices = np.concatenate((graph.vertices.astype(np.float32), np.asarray(new.vertices, np.float32)))
    triangles = np.concatenate((corners, edit.added.astype(np.int64) + len(graph.vertices)))
    space = Space(vertices, triangles, new.grid.minimum, new.grid.maximum, True)
    return _Part(
        removed.copy(),
        np.flatnonzero(outer | open_kept),
        np.flatnonzero(touched & ~outer),
        space,
    )


def _keys(vertices: NDArray[np.floating]) -> NDArray[np.void]:
    """A key for each place, (n,): equal for equal coordinates."""
    words = np.ascontiguousarray(np.asarray(vertices, np.float32) + np.float32(0))
    return words.view(np.dtype((np.void, 12))).reshape(-1)


def _numbers_in(vertices: NDArray[np.floating], known: NDArray[np.floating]) -> NDArray[np.int64]:
    """The number of each vertex (n, 3) among the known ones (k, 3), -1 where it is none of them."""
    places = {key.tobytes(): number for number, key in reversed(list(enumerate(_keys(known))))}
    return np.array([places.get(key.tobytes(), -1) for key in _keys(vertices)], np.int64).reshape(-1)


def _boundary(free: FreeSpace) -> NDArray[np.int64]:
    """The faces with one tetrahedron, their vertices ascending, (n, 3)."""
    sides = np.sort(free.tetrahedra[:, SIDES].reshape(-1, 3), axis=1)
    faces, counts = np.unique(sides, axis=0, return_counts=True)
    return faces[counts == 1]


def _has_faces(free: FreeSpace, graph: Graph, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which faces of a volume are whole faces at the boundary of a division, bool (n,)."""
    place = _numbers_in(graph.vertices, free.vertices)
    wanted = np.sort(place[graph.faces["vertices"][numbers].astype(np.int64)], axis=1)
    known = {tuple(face) for face in _boundary(free).tolist()}
    return np.array([tuple(face) in known for face in wanted.tolist()], bool)


def _is_full(part: _Part, free: FreeSpace) -> bool:
    """Whether tetrahedra fill the part exactly."""
    a, b, c = np.moveaxis(part.space.vertices.astype(np.float64)[part.space.triangles], 1, 0)
    middle = a.mean(axis=0)
    wanted = -np.einsum("ni,ni->n", a - middle, np.cross(b - middle, c - middle)).sum() / 6
    found = volumes(free.vertices.astype(np.float64)[free.tetrahedra])
    return bool(wanted > 0 and (found > 0).all() and abs(found.sum() - wanted) <= SAME_VOLUME * wanted)


# --- the parts put together -----------------------------------------------------------------------


def _merge(graph: Graph, new: Hull, part: _Part, free: FreeSpace) -> Graph | None:
    """The volume with a part replaced, None where the part has fewer tetrahedra or faces than before, or where 16-bit
    numbers can't name them."""
    place = _numbers_in(free.vertices, graph.vertices)
    fresh = np.flatnonzero(place < 0)
    place[fresh] = len(graph.vertices) + np.arange(len(fresh))
    vertices = np.concatenate((graph.vertices, free.vertices[fresh])).astype(np.float32)
    corners = place[free.tetrahedra]
    tetrahedron = _renumbered(np.flatnonzero(part.removed), len(graph.tetrahedra), len(corners))
    sides = np.sort(corners[:, SIDES].reshape(-1, 3), axis=1)
    named, of_side = np.unique(sides, axis=0, return_inverse=True)
    of_side = of_side.reshape(-1)
    known = {
        tuple(sorted(row)): n
        for row, n in zip(graph.faces["vertices"][part.kept].tolist(), part.kept.tolist(), strict=True)
    }
    stays = np.array([known.get(tuple(face), -1) for face in named.tolist()], np.int64)
    numbers = _renumbered(part.vanishing, len(graph.faces), int((stays < 0).sum()))
    if tetrahedron is None or numbers is None or (stays >= 0).sum() != len(part.kept):
        return None
    face = stays.copy()
    face[stays < 0] = numbers
    count = max(len(graph.tetrahedra), int(tetrahedron.max(initial=-1)) + 1)
    face_count = max(len(graph.faces), int(face.max(initial=-1)) + 1)
    if max(count, face_count, len(vertices)) > LIMIT:
        return None
    faces = np.zeros(face_count, FACE)
    faces[: len(graph.faces)] = graph.faces
    _write_faces(faces, face[stays < 0], named[stays < 0], vertices)
    owners = np.repeat(tetrahedron, 4)
    _join(faces, face[of_side], owners, part.removed)
    tetrahedra = np.zeros(count, TETRAHEDRON)
    tetrahedra[: len(graph.tetrahedra)] = graph.tetrahedra
    tetrahedra[tetrahedron] = _records(faces, face[of_side].reshape(-1, 4), vertices, corners, tetrahedron)
    merged = replace(graph, vertices=vertices, tetrahedra=tetrahedra, faces=faces)
    _write_pairs(merged, tetrahedron, new)
    return _with_cells(merged, new, part.removed, tetrahedron, vertices[corners])


def _renumbered(free: NDArray[np.int64], count: int, wanted: int) -> NDArray[np.int64] | None:
    """So many numbers: those that became free, then new ones. None where some would stay unused."""
    if wanted < len(free):
        return None
    return np.concatenate((free, count + np.arange(wanted - len(free))))


def _write_faces(
    faces: NDArray[np.void], numbers: NDArray[np.int64], named: NDArray[np.int64], vertices: NDArray[np.float32]
) -> None:
    """The records of new faces, all but their tetrahedra."""
    points = vertices.astype(np.float64)[named]
    centre = points.mean(axis=1)
    normal = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    records = np.zeros(len(numbers), FACE)
    records["plane"][:, :3], records["plane"][:, 3] = normal, -np.einsum("ni,ni->n", normal, centre)
    records["centre"], records["unknown_1c"], records["vertices"] = centre, ONE, named
    records["number"], records["tetrahedra"] = numbers, NO_TETRAHEDRON
    faces[numbers] = records


def _join(
    faces: NDArray[np.void], of_side: NDArray[np.int64], owners: NDArray[np.int64], removed: NDArray[np.bool_]
) -> None:
    """Names the new tetrahedra in their faces: in the place of one that went, or in the first free one."""
    beside = faces["tetrahedra"].astype(np.int64)
    old = np.unique(of_side)
    gone = (beside[old] != NO_TETRAHEDRON) & np.append(removed, False)[np.minimum(beside[old], len(removed))]
    beside[old] = np.where(gone, NO_TETRAHEDRON, beside[old])
    order = np.argsort(of_side, kind="stable")
    for face, owner in zip(of_side[order].tolist(), owners[order].tolist(), strict=True):
        beside[face, 0 if beside[face, 0] == NO_TETRAHEDRON else 1] = owner
    faces["tetrahedra"] = beside


def _records(
    faces: NDArray[np.void],
    numbers: NDArray[np.int64],
    vertices: NDArray[np.float32],
    corners: NDArray[np.int64],
    own: NDArray[np.int64],
) -> NDArray[np.void]:
    """The records of new tetrahedra, all but their pairs."""
    shape = vertices.astype(np.float64)[corners]
    records = np.zeros(len(corners), TETRAHEDRON)
    records["faces"], records["number"] = numbers, own
    plane = faces["plane"][numbers].astype(np.float64)
    records["sides"] = np.einsum("nki,ni->nk", plane[..., :3], shape.mean(axis=1)) + plane[..., 3] > 0
    spheres = group_spheres(shape.reshape(-1, 3), 4 * np.arange(len(corners)))
    spheres[:, 3] *= SPHERE_MARGIN
    records["sphere"] = spheres
    return records


def _write_pairs(graph: Graph, numbers: NDArray[np.int64], hull: Hull) -> None:
    """Costs and clearances of new tetrahedra, in the file's own order of pairs."""
    centres = graph.faces["centre"].astype(np.float64)[graph.tetrahedra["faces"][numbers].astype(np.int64)]
    segments = centres[:, PAIRS]
    pairs = graph.tetrahedra["pairs"][numbers]
    lengths = np.linalg.norm(segments[:, :, 1] - segments[:, :, 0], axis=2)
    pairs["cost"] = -graph.order.lowest_at(-lengths)
    pairs["clearance"] = graph.order.lowest_at(stored_clearances(segments, hull))
    graph.tetrahedra["pairs"][numbers] = pairs


def _with_cells(
    graph: Graph, hull: Hull, removed: NDArray[np.bool_], numbers: NDArray[np.int64], shape: NDArray[np.float32]
) -> Graph:
    """The volume whose cells lead to the new tetrahedra and no longer to those that went. A cell that this concerns
    gets one item for its tetrahedra, as in the game's files; the others keep theirs."""
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int64)), *cells_near(hull.grid, shape.astype(np.float64))]
    row, new_cell = (np.concatenate(one) for one in zip(*found, strict=True))
    old_cell, old_number = graph.cell_references()
    gone = np.append(removed, np.zeros(len(graph.tetrahedra) - len(removed), bool))[old_number]
    touched = np.zeros(len(graph.cells), bool)
    touched[new_cell] = touched[old_cell[gone]] = True
    # The items of other cells, and one for each cell that is concerned, in the order of the cells.
    item_cell = np.repeat(np.arange(len(graph.cells)), graph.cells)
    kept = np.flatnonzero(~touched[item_cell])
    stays = touched[old_cell] & ~gone
    cell = np.concatenate((old_cell[stays], new_cell))
    number = np.concatenate((old_number[stays], numbers[row]))
    order = np.argsort(cell, kind="stable")
    cell, number = cell[order], number[order]
    concerned, starts = np.unique(cell, return_index=True)
    items = np.zeros(len(kept) + len(concerned), ITEM)
    items[: len(kept)] = graph.items[kept]
    corners = graph.shapes()[number].reshape(-1, 3)
    items["sphere"][len(kept) :] = group_spheres(corners, 4 * starts) if len(starts) else 0
    sizes = np.concatenate((graph.sizes[kept], np.diff(np.append(starts, len(cell)))))
    references = np.concatenate((old_number[~touched[old_cell]], number))
    place = np.argsort(np.concatenate((item_cell[kept], concerned)), kind="stable")
    _, moved = expand((np.cumsum(sizes) - sizes)[place], sizes[place])
    counts = np.where(touched, 0, graph.cells)
    counts[concerned] = 1
    return replace(graph, cells=counts, items=items[place], sizes=sizes[place], references=references[moved])
