"""Files to objects: hulls, their grid cells and spheres, and the parts of a collision set."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import bpy
import numpy as np

from ...core.disk import files
from ...core.editing.preserved import aside
from ...core.errors import RefusedError, naming
from ...core.formats import collision_set, mcol
from ...core.formats.kinds import Kind
from ...core.game import loose_files
from ...core.geometry import surfaces
from ...core.geometry.triangles import repeated
from ...core.text import plural, some
from . import axes, colors, custom_properties, object_names, roots, set_layout
from .mesh_arrays import NewMesh, make_meshes

Progress = Callable[[float], None]

ORIGIN_STEPS = 8192
"""So many steps across a surface its origin may be set to."""

MOST_CELL_OBJECTS = 20_000
"""A grid of 255 cells an axis would make millions of objects, which Blender does not survive."""


@dataclass(frozen=True, slots=True)
class View:
    """How a root shows the objects that are parented to it."""

    scale: float = 0.001
    up: str = "Y"
    mirror: bool = False


@dataclass(frozen=True, slots=True)
class HullOptions:
    """surfaces: SEPARATE or JOINED; cells: OBJECTS or NONE."""

    surfaces: str = "SEPARATE"
    cells: str = "OBJECTS"
    spheres: bool = False
    view: View = View()


@dataclass(frozen=True, slots=True)
class SetOptions:
    """`name_filter`: globs, separated by commas. `layout`: ROWS or FILE. `beside`: the lower and the upper corner of a
    box, (3,) numbers in the file's space, beside which rows begin. `names`: the only parts
    to import of those that the filter names, None for all of them."""

    name_filter: str = "*"
    view: View = View()
    layout: str = set_layout.ROWS
    beside: tuple[np.ndarray, np.ndarray] | None = None
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """A root, what to say about it, and what to warn of."""

    root: bpy.types.Object
    summary: str
    warnings: tuple[str, ...] = ()


def import_hull(scene: bpy.types.Scene, path: str, options: HullOptions) -> Imported:
    """Reads a `.col` and makes its objects. Raises `SylpheedError`, and makes none then."""
    with naming(path):
        imported = make_hull(scene, os.path.basename(path), loose_files.read_known(path)[1], options)
    custom_properties.set_file(imported.root, path)
    return imported


def import_set(scene: bpy.types.Scene, path: str, options: SetOptions, progress: Progress) -> Imported:
    """Reads a collision set and makes an object for each part that the filter names. Raises `SylpheedError`."""
    with naming(path):
        data = files.read_file(path, loose_files.MOST[Kind.COLLISION_SET])
        return make_set(scene, os.path.basename(path), data, options, progress)


def make_hull(scene: bpy.types.Scene, name: str, data: bytes, options: HullOptions) -> Imported:
    """The objects of a hull's bytes, called `name` in file or archive. Raises `SylpheedError`, and makes none then."""
    return _make_hull(scene, _stem(name), data, mcol.decode(data), options)


def make_set(scene: bpy.types.Scene, name: str, data: bytes, options: SetOptions, progress: Progress) -> Imported:
    """The objects of a collision set's bytes, called `name` in file or archive. Raises `SylpheedError`."""
    return _make_set(scene, _stem(name), data, collision_set.decode(data), options, progress)


# --- hulls ----------------------------------------------------------------------------------------


def _make_hull(scene: bpy.types.Scene, stem: str, data: bytes, hull: mcol.Hull, options: HullOptions) -> Imported:
    root, collection = _make_root(scene, custom_properties.HULL, stem, data, options.view)
    triangles = hull.triangles.astype(np.int64)
    aside = repeated(hull.triangles)
    kept = np.flatnonzero(~aside)
    if options.surfaces == "JOINED":
        groups, names = [kept], ["hull"]
    else:
        surface = surfaces.split(triangles[kept])
        names = surfaces.names(hull.vertices, triangles[kept], surface)
        groups = [kept[group] for group in _grouped(surface, len(names))]
    new, origins = zip(
        *(
            about_its_centre(new_mesh(object_names.surface(stem, name), hull.vertices, triangles, group))
            for name, group in zip(names, groups, strict=True)
        ),
        strict=True,
    )
    for name, one, origin, mesh in zip(names, new, origins, make_meshes(new), strict=True):
        custom_properties.set_mesh_origin(mesh, origin)
        obj = add_object(one.name, mesh, root, collection)
        obj.location = origin
        colors.color_surface(obj, name)
        if name.startswith("wall"):
            show_as_wall(obj)

    warnings = []
    if aside.any():
        warnings.append(_repeating(stem, np.count_nonzero(aside)))
    if options.cells == "OBJECTS":
        warnings += _make_cells(scene, stem, hull, root, collection)
    if options.spheres:
        _make_spheres(stem, hull, root, collection)
    counts = (
        plural(len(groups), "surface"),
        plural(len(hull.vertices), "vertex"),
        plural(len(triangles), "triangle"),
    )
    summary = f"{stem}: {', '.join(counts)}"
    return Imported(root, summary, tuple(warnings))


def _make_cells(
    scene: bpy.types.Scene, stem: str, hull: mcol.Hull, root: bpy.types.Object, parent: bpy.types.Collection
) -> list[str]:
    """A wire box for each cell that lists triangles, all of one mesh, in a collection that is excluded at first."""
    if len(hull.occupied) > MOST_CELL_OBJECTS:
        return [
            f"{stem}: the hull has {plural(len(hull.occupied), 'cell')}, too many to show as objects. None were created"
        ]
    collection = bpy.data.collections.new(f"{stem} cells")
    collection.color_tag = colors.CELLS_TAG
    parent.children.link(collection)
    mesh = bpy.data.meshes.new(f"{stem} cell")
    mesh[custom_properties.KIND] = custom_properties.SHOWN
    corners = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)]) * hull.grid.cell_size
    edges = [(a, a | bit) for a in range(8) for bit in (1, 2, 4) if not a & bit]
    mesh.from_pydata(corners.tolist(), edges, [])
    positions = hull.grid.position(hull.occupied)
    places = hull.grid.lower_corner(positions)
    for position, place in zip(positions.tolist(), places.tolist(), strict=True):
        box = add_object(object_names.cell(stem, position), mesh, root, collection)
        box.location, box.color = place, colors.CELL
    exclude(scene, collection)
    return []


def _make_spheres(stem: str, hull: mcol.Hull, root: bpy.types.Object, parent: bpy.types.Collection) -> None:
    """An empty for the sphere in front of each cell's first list, which is what the game tests."""
    collection = bpy.data.collections.new(f"{stem} spheres")
    collection.color_tag = colors.CELLS_TAG
    parent.children.link(collection)
    positions = hull.grid.position(hull.occupied)
    spheres = hull.list_spheres[hull.first_list]
    for position, (x, y, z, radius) in zip(positions.tolist(), spheres.tolist(), strict=True):
        empty = add_object(object_names.sphere(stem, position), None, root, collection)
        empty.empty_display_type = "SPHERE"
        empty.empty_display_size = 1.0  # Blender allows 1,000 at most
        empty.location, empty.scale = (x, y, z), (radius, radius, radius)


def remake_shown(scene: bpy.types.Scene, root: bpy.types.Object, hull: mcol.Hull) -> None:
    """Rebuilds the cells and spheres that show a hull, where it has any, after its grid changed."""
    stem = custom_properties.stem(root)
    for parent in root.users_collection:
        for collection in list(parent.children):
            what = collection.name.removeprefix(f"{stem} ").partition(".")[0]
            if collection.name.startswith(f"{stem} ") and what in ("cells", "spheres"):
                meshes = {obj.data for obj in collection.objects if obj.data}
                bpy.data.batch_remove({*collection.objects, *meshes, collection})
                if what == "cells":
                    _make_cells(scene, stem, hull, root, parent)
                else:
                    _make_spheres(stem, hull, root, parent)


# --- collision sets ------------------------------------------------------------------------------------


def _make_set(
    scene: bpy.types.Scene,
    stem: str,
    data: bytes,
    library: collision_set.CollisionSet,
    options: SetOptions,
    progress: Progress,
) -> Imported:
    chosen = _filter_parts(library, options)
    root, collection = _make_root(scene, custom_properties.SET, stem, data, options.view)
    unusable = {number: collision_set.unusable(library.parts[number]) for number, _ in chosen}
    warnings = [
        f"{stem}: {name} can't be shown: {unusable[number]}; it is preserved and exported unchanged"
        for number, name in chosen
        if unusable[number]
    ]
    chosen = [(number, name) for number, name in chosen if not unusable[number]]
    root[custom_properties.IMPORTED] = [number for number, _ in chosen]
    groups: dict[tuple[str, ...], bpy.types.Collection] = {(): collection}
    parts = [library.parts[number] for number, _ in chosen]
    new = new_parts([name for _, name in chosen], parts)
    for done, ((number, name), mesh) in enumerate(zip(chosen, make_meshes(new), strict=True)):
        obj = add_object(name, mesh, root, _group(groups, object_names.part_groups(name)))
        colors.color_part(obj, object_names.part_groups(name))
        obj[custom_properties.RECORD] = number
        obj[custom_properties.GIVEN_NAME] = obj.name
        progress((done + 1) / len(chosen))
    if options.beside is not None:
        set_layout.start_beside(root, *options.beside)
    set_layout.lay_out(root, library.parts, options.layout)
    triangle_count = sum(len(part.triangles) for part in parts)
    preserved = triangle_count - sum(len(one.triangles) for one in new)
    if preserved:
        warnings.append(_repeating(stem, preserved))
    dropped = collision_set.dropped(library.parts)
    if dropped:
        names = some([library.parts[number].name for number in dropped])
        warnings.append(f"{stem}: the game ignores {names}: an earlier part has the same name. All are preserved")
    if library.trailing:
        warnings.append(
            f"{stem}: the last part is followed by {plural(len(library.trailing), 'byte')}, which the game takes for "
            "one more part. They are preserved"
        )
    summary = f"{stem}: {len(chosen):,} of {plural(len(library.parts), 'part')}, {plural(triangle_count, 'triangle')}"
    return Imported(root, summary, tuple(warnings))


def new_parts(names: list[str], parts: list[collision_set.Part]) -> list[NewMesh]:
    """The meshes of parts, without the triangles that Blender can't hold."""
    most = max((max(len(part.vertices), len(part.triangles)) for part in parts), default=0)
    claims = np.arange(1, most + 1, dtype=np.int32)
    return [
        NewMesh(name, part.vertices, part.triangles, claims[: len(part.vertices)], claims[: len(part.triangles)])
        if not any(map(np.any, aside(part)))
        else new_mesh(name, part.vertices, part.triangles, np.flatnonzero(~repeated(part.triangles)))
        for name, part in zip(names, parts, strict=True)
    ]


def _filter_parts(library: collision_set.CollisionSet, options: SetOptions) -> list[tuple[int, str]]:
    """Numbers and names of the parts to import. Raises `SylpheedError` if there are none."""
    name_filter, ticked = options.name_filter, options.names
    patterns = [pattern.strip().lower() for pattern in name_filter.split(",") if pattern.strip()] or ["*"]
    names = [part.name for part in library.parts]
    chosen = [
        (number, name)
        for number, name in enumerate(names)
        if any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in patterns)
        and (ticked is None or name in ticked)
    ]
    if not chosen:
        raise RefusedError(
            f'no part has a name like "{name_filter}"',
            found=", ".join(names[:3]) + ", …",
            remedy='use "*" for all',
        )
    return chosen


def _group(groups: dict[tuple[str, ...], bpy.types.Collection], path: tuple[str, ...]) -> bpy.types.Collection:
    """The collection of a path of names, made below that of the path so far where it is missing."""
    if path not in groups:
        parent = _group(groups, path[:-1])
        groups[path] = bpy.data.collections.new(path[-1])
        parent.children.link(groups[path])
    return groups[path]


# --- both -----------------------------------------------------------------------------------------


def _repeating(stem: str, count: int) -> str:
    counted = plural(count, "triangle")
    return f"{stem}: Blender can't hold {counted} with a repeated vertex. Preserved and exported unchanged"


def _stem(path: str) -> str:
    return object_names.printable(Path(path).stem)


def _make_root(
    scene: bpy.types.Scene, kind: str, stem: str, data: bytes, view: View
) -> tuple[bpy.types.Object, bpy.types.Collection]:
    collection = bpy.data.collections.new(stem)
    collection.color_tag = colors.SET_TAG if kind == custom_properties.SET else colors.HULL_TAG
    scene.collection.children.link(collection)
    root = custom_properties.make_root(kind, stem, data)
    roots.forget()
    root.rotation_euler, root.scale = axes.root_transform(view.scale, view.up, view.mirror)
    custom_properties.set_view(root)
    collection.objects.link(root)
    return root, collection


def add_object(
    name: str, data: bpy.types.ID | None, root: bpy.types.Object, collection: bpy.types.Collection
) -> bpy.types.Object:
    """A new object that is parented to a root and belongs to it."""
    obj = bpy.data.objects.new(name, data)
    obj.parent = root
    if custom_properties.root_id(root):
        obj[custom_properties.ROOT_ID] = custom_properties.root_id(root)
    collection.objects.link(obj)
    return obj


def new_mesh(name: str, vertices: np.ndarray, triangles: np.ndarray, numbers: np.ndarray) -> NewMesh:
    """The triangles of these numbers with the vertices that they use, both in the source's order."""
    triangles = triangles[numbers]
    used = np.zeros(len(vertices), bool)
    used[triangles] = True
    place = np.cumsum(used, dtype=np.int32) - 1
    claims = np.flatnonzero(used) + 1, numbers + 1
    return NewMesh(name, vertices[used], place[triangles], *(claim.astype(np.int32) for claim in claims))


def about_its_centre(new: NewMesh) -> tuple[NewMesh, np.ndarray]:
    """A mesh with the centre of its box as its origin, and that point, float64 (3,).

    The point is a multiple of a power of two, so that float32 holds it, and holds it moved by whole units as well.
    """
    if not len(new.vertices):
        return new, np.zeros(3)
    low, high = new.vertices.min(axis=0).astype(np.float64), new.vertices.max(axis=0).astype(np.float64)
    step = 2.0 ** np.floor(np.log2(max((high - low).max() / ORIGIN_STEPS, np.finfo(np.float32).tiny)))
    origin = (np.round((low + high) / 2 / step) * step).astype(np.float32).astype(np.float64)
    return replace(new, vertices=(new.vertices - origin).astype(np.float32)), origin


def show_as_wall(obj: bpy.types.Object) -> None:
    """Shows a wall as wires that a click goes through: it encloses everything else."""
    obj.display_type, obj.hide_select = "WIRE", True


def _grouped(labels: np.ndarray, count: int) -> list[np.ndarray]:
    """The places of each label 0 to count - 1, ascending."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.searchsorted(labels[order], np.arange(1, count)))


def exclude(scene: bpy.types.Scene, collection: bpy.types.Collection) -> None:
    """Excludes a collection from every view layer of the scene: one row in the outliner, one click to show it."""
    for view_layer in scene.view_layers:
        _exclude(view_layer.layer_collection, collection)


def _exclude(layer_collection: bpy.types.LayerCollection, collection: bpy.types.Collection) -> None:
    for child in layer_collection.children:
        if child.collection == collection:
            child.exclude = True
        else:
            _exclude(child, collection)
