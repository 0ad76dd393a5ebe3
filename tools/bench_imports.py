"""Rows of the bench: what goes into Blender and out of it."""

from __future__ import annotations

import statistics
import zlib
from pathlib import Path

import numpy as np

from tools.bench_measuring import Row, Work, compare, seconds


def set_rows(bpy, folder: Path) -> list[Row]:
    """Import and export of a whole collision set against the barest calls and Blender's own OBJ files."""
    from core.formats import collision_set
    from core.samples import sets

    path, obj_path, out = folder / "CollisionSet.bin", folder / "set.obj", folder / "out.bin"
    model = sets.sample_set(1)
    path.write_bytes(collision_set.encode(model))
    ready = [(p.name, *bare_arrays(p.vertices, p.triangles)) for p in model.parts]

    def empty() -> None:
        bpy.ops.wm.read_homefile(use_empty=True)

    def ours() -> None:
        bpy.ops.import_scene.sylpheed_set(filepath=str(path))

    empty()
    bare_set(bpy, ready)
    plain = {"export_materials": False, "export_normals": False, "export_uv": False}
    bpy.ops.wm.obj_export(filepath=str(obj_path), **plain)
    triangles = sum(len(part.triangles) for part in model.parts)
    what = f"import a CollisionSet of {len(model.parts)} meshes, {triangles:,} triangles"
    rows = [
        Row(what, "the barest bpy calls", 1.3, compare(ours, lambda: bare_set(bpy, ready), 15, empty)),
        Row(
            "the same",
            "Blender's OBJ importer",
            0.45,
            compare(ours, lambda: bpy.ops.wm.obj_import(filepath=str(obj_path)), 15, empty),
        ),
    ]

    empty()
    ours()
    edited = next(obj for obj in bpy.data.objects if obj.type == "MESH")
    edited.data.vertices[0].co.x += 1
    bpy.context.view_layer.update()

    def export() -> None:
        bpy.ops.export_scene.sylpheed_set(filepath=str(out))

    rows.append(
        Row(
            "export it after one edit",
            "Blender's OBJ exporter",
            0.5,
            compare(export, lambda: bpy.ops.wm.obj_export(filepath=str(obj_path), **plain), 15),
            f"{export_share(folder, out, export):.0%} of it waits for the disk",
        )
    )
    return rows


def mod_row(bpy, folder: Path) -> Row:
    """A mod export with one edited set, which goes into the archive 18 times, against compressing that set once."""
    from core.game.archive import open_archive

    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.sylpheed_stage(directory=str(folder / "game"), stage="S14", phase="Phase_1", parts="ALL")
    part = next(obj for obj in bpy.data.objects if "sylpheed_record" in obj)
    archive = open_archive(folder / "game" / "hidden" / "MiscBin.pak")
    data = archive.read(archive.find("CollisionSet_S14.bin"))

    def edit() -> None:
        part.location.x += 10

    def export() -> None:
        assert bpy.ops.export_scene.sylpheed_mod(directory=str(folder / "mod")) == {"FINISHED"}

    edit()
    export()  # the mod folder is there
    ratio = compare(export, lambda: zlib.compress(data, 9), 1, edit)
    return Row("export a mod with an edited set", "compressing that set once, zlib level 9", 3.0, ratio)


def export_share(folder: Path, out: Path, export: Work) -> float:
    """Which part of an export makes sure that the file survives a power cut, which Blender's exporter doesn't."""
    from core.disk import files

    data, beside = out.read_bytes(), folder / "beside.bin"
    shares = [
        (seconds(lambda: files.write_file(beside, data)) - seconds(lambda: beside.write_bytes(data))) / seconds(export)
        for _ in range(5)
    ]
    return statistics.median(shares)


def bare_arrays(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, ...]:
    """What a mesh is made from: coordinates, corners, loop starts, and the numbers of vertices and triangles."""
    count = len(triangles)
    return (
        np.ascontiguousarray(vertices, np.float32).ravel(),
        np.ascontiguousarray(triangles, np.int32).ravel(),
        np.arange(0, 3 * count, 3, dtype=np.int32),
        np.arange(1, len(vertices) + 1, dtype=np.int32),
        np.arange(1, count + 1, dtype=np.int32),
        np.ones(count, bool),
    )


def bare_set(bpy, ready) -> None:
    """The meshes that our import makes, flat shading and numbers included, and nothing beside them."""
    collection = bpy.data.collections.new("bare")
    bpy.context.scene.collection.children.link(collection)
    for name, *arrays in ready:
        collection.objects.link(bpy.data.objects.new(name, bare_mesh(bpy, name, arrays)))
    bpy.context.view_layer.update()


def bare_mesh(bpy, name: str, arrays):
    """A mesh of `bare_arrays`."""
    coordinates, corners, starts, vertex_numbers, triangle_numbers, flat = arrays
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(vertex_numbers))
    mesh.loops.add(len(corners))
    mesh.polygons.add(len(starts))
    mesh.attributes["position"].data.foreach_set("vector", coordinates)
    mesh.attributes[".corner_vert"].data.foreach_set("value", corners)
    mesh.polygons.foreach_set("loop_start", starts)
    for attribute, kind, domain, values in (
        ("vertex", "INT", "POINT", vertex_numbers),
        ("triangle", "INT", "FACE", triangle_numbers),
        ("sharp_face", "BOOLEAN", "FACE", flat),
    ):
        mesh.attributes.new(attribute, kind, domain)
        mesh.attributes[attribute].data.foreach_set("value", values)
    mesh.update(calc_edges=True)
    return mesh


def scene_rows(bpy, folder: Path) -> list[Row]:
    """What a scene that holds much else adds to what the add-on does."""
    from tools.scene_bench import OTHERS, scene_ratios

    hull = folder / "game" / "loose" / "S14_p1_AsteroidVolume_wp.col"
    return [
        Row(f"{what}, beside {OTHERS:,} other objects", "the same without them", bound, ratio)
        for what, bound, ratio in scene_ratios(bpy, folder, hull)
    ]


def hull_import_row(bpy, folder: Path) -> Row:
    """A hull with its cells as objects against the barest calls that make as many."""
    from core.editing.surface_meshes import separate
    from core.formats import mcol

    path = folder / "game" / "loose" / "S14_p2_AsteroidVolume_wp.col"
    hull = mcol.decode(path.read_bytes())
    ready = [(one.name, *bare_arrays(one.vertices, one.triangles)) for one in separate(hull)]
    places = hull.grid.lower_corner(hull.grid.position(hull.occupied)).tolist()
    names = [f"cell_{x:02}_{y:02}_{z:02}.{path.stem}" for x, y, z in hull.grid.position(hull.occupied).tolist()]
    corners = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)]) * hull.grid.cell_size
    edges = [(a, a | bit) for a in range(8) for bit in (1, 2, 4) if not a & bit]

    def bare() -> None:
        collection, cells = (bpy.data.collections.new(name) for name in ("bare", "bare cells"))
        bpy.context.scene.collection.children.link(collection)
        collection.children.link(cells)
        root = bpy.data.objects.new("root", None)
        collection.objects.link(root)
        for name, *arrays in ready:
            obj = bpy.data.objects.new(name, bare_mesh(bpy, name, arrays))
            obj.parent = root
            collection.objects.link(obj)
        box = bpy.data.meshes.new("cell")
        box.from_pydata(corners.tolist(), edges, [])
        for name, place in zip(names, places, strict=True):
            obj = bpy.data.objects.new(name, box)
            obj.parent, obj.location = root, place
            cells.objects.link(obj)
        bpy.context.view_layer.layer_collection.children["bare"].children["bare cells"].hide_viewport = True
        bpy.context.view_layer.update()

    measured = compare(
        lambda: bpy.ops.import_scene.sylpheed_col(filepath=str(path)),
        bare,
        9,
        lambda: bpy.ops.wm.read_homefile(use_empty=True),
    )
    what = f"import {path.stem.partition('_Ast')[0]}, {len(ready)} surfaces, with its {len(places)} cells as objects"
    return Row(what, "the barest bpy calls", 1.5, measured)
