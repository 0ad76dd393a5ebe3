"""New things in the scene: asteroids, hulls, and a grid that fits its hull."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...core.editing.build import fit_grid, new_hull
from ...core.editing.faults import unplaced
from ...core.editing.regrid import regrid
from ...core.errors import RefusedError
from ...core.formats import mcol
from ...core.geometry import surfaces
from ...core.geometry.asteroid import make_asteroid
from ...core.geometry.grid import Grid
from ...core.geometry.triangles import NEAR, close_pairs, flat
from ...core.runtime.queries import is_solid
from ...core.text import plural
from ..translations import report_text
from . import colors, custom_properties, object_names, sources
from .exporting import read_hull
from .importing import HullOptions, Imported, add_object, make_hull, remake_shown
from .mesh_arrays import NewMesh, make_meshes

MOST_CELLS = 1_000_000
"""The game's own maps have 125 or 1,000. Each cell takes 32 bytes, and the game keeps them all in memory."""

DEVICES = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"} | {
    f"{port}{number}" for port in ("COM", "LPT") for number in "0123456789¹²³"
}
"""What Windows takes for a device, whatever follows the first dot."""

LARGEST = 1e12
"""The largest coordinate to take from a user. The game's own maps reach 250,000; squares of much larger ones are
beyond its float32."""


@dataclass(frozen=True, slots=True)
class Asteroid:
    """What an asteroid is made from: lengths in game units, `place` in the file's axes; see `make_asteroid`."""

    seed: int
    size: float
    roughness: float
    triangles: int
    place: tuple[float, float, float]


def add_asteroid(
    scene: bpy.types.Scene, root: bpy.types.Object, asteroid: Asteroid
) -> tuple[bpy.types.Object, list[str]]:
    """A new asteroid that is parented to a hull's root, and what to warn of. Raises `SylpheedError` where the file's
    coordinates can't hold it."""
    check_numbers("the asteroid", asteroid.size, *asteroid.place)
    hull = sources.hull_source(root)
    vertices, triangles = make_asteroid(asteroid.seed, asteroid.size, asteroid.roughness, asteroid.triangles)
    _check_precision(vertices, triangles, asteroid)
    name = _free_name(root, hull)
    no_claims = (np.zeros(len(elements), np.int32) for elements in (vertices, triangles))
    new = NewMesh(name, vertices, triangles.astype(np.int32), *no_claims)
    (mesh,) = make_meshes([new])
    obj = add_object(name, mesh, root, _collection(scene, root))
    obj.location = asteroid.place
    colors.color_asteroid(obj, object_names.asteroid_number(name))
    warnings = []
    placed: np.ndarray = vertices + np.array(asteroid.place, np.float32)
    if hull.grid.outside(placed).any():
        warnings.append(
            report_text('"{name}" reaches outside the hull\'s box. Move it inside or use Fit Grid', name=obj.name)
        )
    elif is_solid(hull, np.array(asteroid.place)):
        warnings.append(report_text('"{name}" has its center in rock', name=obj.name))
    return obj, warnings


@dataclass(frozen=True, slots=True)
class NewHull:
    """What a hull is made from: the name of its file, the size of its box around the file's origin, (3,) lengths in
    game units, the side of its cells, and whether a wall encloses it; see `core.editing.build.new_hull`."""

    name: str
    size: tuple[float, float, float]
    cell_size: float
    wall: bool


def make_new_hull(scene: bpy.types.Scene, new: NewHull, options: HullOptions) -> Imported:
    """A hull that no file has yet; its root carries the bytes of one all the same. Raises `SylpheedError`."""
    name = new.name.strip().removesuffix(".col")
    high = np.array(new.size, np.float32) / 2
    low = -high
    if not _can_name_file(name):
        raise RefusedError(f'"{name}" can\'t be the name of a file', remedy="choose a name of letters, digits and _")
    check_numbers("the box", *low.tolist(), *high.tolist(), new.cell_size)
    _check_cells(high - low, new.cell_size)
    data = mcol.encode(new_hull(low, high, new.cell_size, new.wall))
    made = make_hull(scene, f"{name}.col", data, options)
    made.root[custom_properties.NEW] = True
    return made


def fit_grid_of(context: bpy.types.Context, root: bpy.types.Object, cell_size: float, margin: float) -> str:
    """Gives a hull the smallest grid around its geometry as the scene has it now, in the source that it carries.

    `cell_size` 0 keeps the present one; `margin` is free room on each side. Returns what changed, "" for nothing.
    Raises `SylpheedError`.
    """
    if root.library or root.override_library:
        # Blender would save neither: of an override it keeps only what the library allows to be overridden.
        library = root.library or root.override_library.reference.library
        raise RefusedError(
            f'"{root.name}" is linked from {library.filepath}', remedy="make it local, or fit the grid there"
        )
    check_numbers("the grid", cell_size, margin)
    source = sources.hull_source(root)
    edit = read_hull(context, root, True).edit
    if not len(edit.triangles) or unplaced(edit).any():
        raise RefusedError(f'"{root.name}" has no geometry with usable coordinates to fit a grid to')
    used = edit.vertices[np.unique(edit.triangles)]
    box = np.stack((used.min(axis=0) - np.float32(margin), used.max(axis=0) + np.float32(margin)))
    check_numbers("the grid", *box.ravel().tolist())
    size = cell_size or source.grid.cell_size.astype(np.float64)
    _check_cells(box[1] - box[0], size)
    grid = fit_grid(box, size)
    if _same(grid, source.grid):
        return ""
    hull = regrid(source, grid)
    custom_properties.set_source(root, mcol.encode(hull))
    remake_shown(context.scene, root, hull)
    now, before = _described(grid), _described(source.grid)
    return report_text("{name}: the grid is now {now}, it was {before}", name=root.name, now=now, before=before)


def check_numbers(what: str, *numbers: float) -> None:
    """Raises `SylpheedError` where a place or a size that a user gave is no number or far too large."""
    for number in numbers:
        if not abs(number) <= LARGEST:
            raise RefusedError(
                f"{what} can't be there or have that size",
                expected=f"numbers up to {LARGEST:,.0f}",
                found=f"{number:g}",
            )


def _can_name_file(name: str) -> bool:
    """Whether a `.col` of this name can be written on every system; Windows refuses the most names."""
    device = name.partition(".")[0].rstrip().upper() in DEVICES
    written = name.isprintable() and not set(name) & set('/\\:*?"<>|') and len(f"{name}.col".encode()) <= 255
    return written and not device and bool(name.strip(". "))


def _check_precision(vertices: np.ndarray, triangles: np.ndarray, asteroid: Asteroid) -> None:
    """Raises `SylpheedError` if float32 around an asteroid's place is too coarse for its shape: where a check would
    find doubled vertices or triangles without area, or triangles turn over."""
    place = np.array(asteroid.place)
    rounded = (vertices.astype(np.float64) + place).astype(np.float32)
    farthest = float(np.abs(rounded).max())
    doubled = len(close_pairs(rounded, NEAR * farthest)) > 0
    turned = np.linalg.det((rounded.astype(np.float64) - place)[triangles]) <= 0
    if doubled or turned.any() or flat(rounded, triangles).any():
        raise RefusedError(
            f"an asteroid of size {asteroid.size:,.7g} is too small there for {plural(len(triangles), 'triangle')}: "
            f"the file's coordinates lie {np.spacing(np.float32(farthest)):.2g} apart",
            remedy="make it larger, or give it fewer triangles",
        )


def _check_cells(extent: np.ndarray, cell_size: float | np.ndarray) -> None:
    dimensions = extent.astype(np.float64) / cell_size
    count = float(np.maximum(np.ceil(dimensions), 1).prod())
    if not count <= MOST_CELLS:
        raise RefusedError(
            "the grid would have too many cells",
            expected=f"{MOST_CELLS:,} at most",
            found=f"{count:,.0f}",
            remedy="choose larger cells",
        )


def _same(one: Grid, other: Grid) -> bool:
    return one.dimensions == other.dimensions and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("minimum", "maximum", "cell_size")
    )


def _described(grid: Grid) -> str:
    low, high = (", ".join(map(_number, corner)) for corner in (grid.minimum, grid.maximum))
    return report_text(
        "{dimensions} cells of {sides} from ({low}) to ({high})",
        dimensions=" x ".join(map(str, grid.dimensions)),
        sides=" x ".join(map(_number, np.unique(grid.cell_size))),
        low=low,
        high=high,
    )


def _number(value: np.float32) -> str:
    """The shortest text that no other float32 has."""
    return f"{float(str(value)):,.9g}"


def _free_name(root: bpy.types.Object, source: mcol.Hull) -> str:
    """The first name of an asteroid that no object has and no asteroid of the source had."""
    surface = surfaces.split(source.triangles)
    known = surfaces.names(source.vertices, source.triangles, surface)
    number = 1 + max((object_names.asteroid_number(name) for name in known), default=0)
    while (name := object_names.surface(custom_properties.stem(root), f"asteroid_{number:02}")) in bpy.data.objects:
        number += 1
    return name


def _collection(scene: bpy.types.Scene, root: bpy.types.Object) -> bpy.types.Collection:
    """Where the root is, or the scene's own collection where that is linked or overridden and can't be changed."""
    in_scene = {scene.collection, *scene.collection.children_recursive}
    editable = [
        found
        for found in root.users_collection
        if found in in_scene and not found.library and not found.override_library
    ]
    return editable[0] if editable else scene.collection
