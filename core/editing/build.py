"""Hulls from named triangle meshes, such as those of an OBJ file, and named meshes from hulls and sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import Finding, RefusedError
from ..formats.collision_set import CollisionSet, unusable
from ..formats.mcol import Hull
from ..formats.obj import Mesh
from ..geometry.asteroid import make_asteroid
from ..geometry.grid import LARGEST_DIMENSION, Grid
from ..geometry.solids import inward_box
from ..geometry.surfaces import Facing, facing, volumes
from .assemble import assemble
from .claims import identify
from .options import Options, Outside, Rebuild
from .pieces import NEW, Edit, Piece
from .rebuild_hull import build, rebuild, sort_into_cells
from .surface_meshes import separate

NAMELESS = "object without a name"


def hull_meshes(hull: Hull, stem: str) -> list[Mesh]:
    """A hull's surfaces as meshes named `stem.wall`, `stem.asteroid_01`, …; vertices in the hull's order."""
    return [Mesh(f"{stem}.{one.name}", one.vertices, one.triangles) for one in separate(hull)]


def part_meshes(library: CollisionSet, stem: str) -> list[Mesh]:
    """The parts of a collision set under their own names, less the `unusable` ones. `stem` isn't used."""
    return [
        Mesh(part.name, part.vertices, part.triangles.astype(np.int64)) for part in library.parts if not unusable(part)
    ]


def build_like(
    meshes: Sequence[Mesh], source: Hull, outside: Outside = Outside.ERROR, turn: bool = False
) -> tuple[Hull, tuple[Finding, ...]]:
    """The hull that `source` becomes when these meshes replace its geometry, and what is worth telling.

    A mesh that has the name and the triangles of one of the source's surfaces is that surface, wherever its
    vertices are now. Of the others, what has its exact coordinates from the source is what it was there. All
    of it keeps its number, and what wasn't edited every byte. Raises `RefusedError` for geometry that the game
    can't take.
    """
    edit = assemble(_claim(meshes, source), source)
    rebuilt = rebuild(source, edit, Options(outside=outside, turn=turn))
    return rebuilt.hull, rebuilt.findings


def build_new(
    meshes: Sequence[Mesh],
    cell_size: float,
    outside_solid: str = "auto",
    outside: Outside = Outside.ERROR,
    turn: bool = False,
) -> tuple[Hull, tuple[Finding, ...]]:
    """A hull with cells of this size, in a box that is the geometry's widened to whole cells, and its findings.

    It is what an empty hull becomes, on the same path as `build_like`. `outside_solid` is "yes", "no", or "auto":
    solid if the surface with the largest volume faces inward, or if all surfaces face free space only then. Raises
    `RefusedError` for geometry that the game can't take, or too many cells.
    """
    pieces = [_piece(mesh) for mesh in meshes]
    edit = assemble(pieces, None)
    solid = _begins_in_rock(edit) if outside_solid == "auto" else outside_solid == "yes"
    empty = empty_hull(fit_grid(edit.vertices, cell_size), solid)
    options = Options(Rebuild.ALL, outside, turn)
    rebuilt = rebuild(empty, assemble(pieces, empty), options)
    return rebuilt.hull, rebuilt.findings


def _begins_in_rock(edit: Edit) -> bool:
    """Whether all outside is rock: if the largest surface faces inward, or if all face free space only then."""
    surface = edit.oriented[0]
    volume = volumes(edit.vertices, edit.triangles, surface)
    solid = bool(volume[np.abs(volume).argmax()] < 0)
    if solid or not (volume < 0).any():
        return solid
    faces = [facing(edit.vertices, edit.triangles, surface, outside) for outside in (False, True)]
    return Facing.WRONG in faces[0] and not np.isin(faces[1], (Facing.WRONG, Facing.OUTSIDE)).any()


def build_from_nothing(meshes: Sequence[Mesh], cell_size: float, outside_solid: str = "auto") -> Hull:
    """The hull of `build_new`."""
    return build_new(meshes, cell_size, outside_solid)[0]


def empty_hull(grid: Grid, outside_solid: bool) -> Hull:
    """A hull without triangles: free or solid everywhere."""
    none = np.zeros((0, 3), np.float32)
    return sort_into_cells(grid, int(outside_solid), none, none.astype(np.int64), np.zeros((0, 4), np.float32))


def new_hull(low: np.ndarray, high: np.ndarray, cell_size: float, wall: bool) -> Hull:
    """A hull to begin with, in the box between two corners float32 (3,), widened to whole cells.

    With a wall: the box itself, free inside, solid outside. Without: free everywhere, and because a hull needs
    a triangle, one asteroid of a third of the box's smallest side in its middle. Raises `RefusedError` for too
    many cells.
    """
    grid = fit_grid(np.stack((low, high)), cell_size)
    if wall:
        return build(*inward_box(low, high), grid, outside_solid=True)
    vertices, triangles = make_asteroid(1, float((high - low).min()) / 3, 0.5, 80)
    return build(vertices + (low + high) / 2, triangles, grid, outside_solid=False)


def fit_grid(vertices: np.ndarray, cell_size: float | np.ndarray) -> Grid:
    """The smallest grid of whole cells around vertices float32 (n, 3), which lie in its middle.

    `cell_size` is that of all axes or one for each. Raises `RefusedError` if it has more cells along an axis than
    the format can say.
    """
    low, high = vertices.min(axis=0).astype(np.float64), vertices.max(axis=0).astype(np.float64)
    dimensions = np.maximum(np.ceil((high - low) / cell_size), 1)
    minimum, maximum = _box((low + high) / 2, dimensions * cell_size)
    # The box is float32: where its rounded sides cut into the geometry, one cell more.
    dimensions += (minimum > low) | (maximum < high)
    if dimensions.max() > LARGEST_DIMENSION:
        axis = int(dimensions.argmax())
        raise RefusedError(
            f"the grid would have {dimensions[axis]:,.0f} cells along {'xyz'[axis]}",
            expected=f"{LARGEST_DIMENSION} at most",
            remedy="choose larger cells",
        )
    nx, ny, nz = (int(count) for count in dimensions)
    box = _box((low + high) / 2, dimensions * cell_size)
    return Grid(*box, np.full(3, cell_size, np.float32), (nx, ny, nz))


def _box(centre: np.ndarray, extent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return (centre - extent / 2).astype(np.float32), (centre + extent / 2).astype(np.float32)


def _claim(meshes: Sequence[Mesh], source: Hull) -> list[Piece]:
    """The meshes with the numbers of the source that they come from."""
    surfaces = {one.name: one for one in separate(source)}
    pieces = []
    for mesh, by_place in zip(meshes, _identify(meshes, source), strict=True):
        known = surfaces.get(mesh.name.rpartition(".")[2])
        if known and len(known.vertices) == len(mesh.vertices) and np.array_equal(known.triangles, mesh.triangles):
            claims = (known.vertex_numbers, known.triangle_numbers)
            pieces.append(Piece(mesh.name, mesh.vertices, mesh.triangles, *claims))
        else:
            pieces.append(by_place)
    return pieces


def _identify(meshes: Sequence[Mesh], source: Hull) -> list[Piece]:
    """The meshes with claims made by position; all at once, for the source is as large each time."""
    vertex_ends = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    triangle_ends = np.cumsum([0, *(len(mesh.triangles) for mesh in meshes)])
    together = _piece(
        Mesh(
            "",
            np.concatenate([mesh.vertices for mesh in meshes]),
            np.concatenate([mesh.triangles + first for mesh, first in zip(meshes, vertex_ends, strict=False)]),
        )
    )
    found = identify(together, source)
    vertex_ids = np.split(found.vertex_ids, vertex_ends[1:-1])
    triangle_ids = np.split(found.triangle_ids, triangle_ends[1:-1])
    return [
        Piece(mesh.name or NAMELESS, mesh.vertices, mesh.triangles, *claims)
        for mesh, *claims in zip(meshes, vertex_ids, triangle_ids, strict=True)
    ]


def _piece(mesh: Mesh) -> Piece:
    """A mesh that claims nothing of any source."""
    claims = (np.full(len(mesh.vertices), NEW), np.full(len(mesh.triangles), NEW))
    return Piece(mesh.name or NAMELESS, mesh.vertices, mesh.triangles, *claims)
