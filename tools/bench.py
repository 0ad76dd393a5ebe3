"""The speed table: `python build.py bench` runs this.

Each figure is a ratio to a peer, measured in turns with it in this one run; seconds would say more about the
machine than about the code. A run has three parts, each in processes of its own, since a process may be lucky or not
with its memory for as long as it lives: the figure is their median, the noise how far they lie from it.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

PARTS = 3

Work = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """A line of the table. `noise` is a part of the ratio, None where it was measured once."""

    work: str
    against: str
    bound: float
    ratio: float
    note: str = ""
    noise: float | None = None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zip", type=Path, required=True, help="the built extension")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if options.part is None:
            print_table(merge([run_part(number) for number in range(PARTS)]))
        else:
            os.environ["BLENDER_USER_RESOURCES"] = str(folder / "user")  # read by Blender while it is imported
            rows = start_up(options.zip.resolve()) + all_rows(options.zip.resolve(), folder, once=options.part == 0)
            print(json.dumps([asdict(row) for row in rows]))
    return 0


def run_part(number: int) -> list[Row]:
    done = subprocess.run([*sys.orig_argv, "--part", str(number)], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return [Row(**row) for row in json.loads(done.stdout.splitlines()[-1])]


def merge(parts: list[list[Row]]) -> list[Row]:
    """The rows of a whole run: for each line of the first part, the median of all of them, with its noise."""
    merged = []
    for first in parts[0]:
        alike = sorted(
            (row for part in parts for row in part if (row.work, row.against) == (first.work, first.against)),
            key=lambda row: row.ratio,
        )
        middle = alike[len(alike) // 2]
        noise = max(abs(row.ratio - middle.ratio) for row in alike) / middle.ratio if len(alike) > 1 else None
        merged.append(replace(middle, noise=noise))
    return merged


def all_rows(zip_path: Path, folder: Path, once: bool) -> list[Row]:
    """All but the start-up. `once` includes what takes too long to be measured in each part."""
    import bpy

    from core.samples.folder import write_sample

    quietly(
        bpy.ops.extensions.package_install_files, filepath=str(zip_path), repo="user_default", enable_on_install=True
    )
    write_sample(folder / "game")
    # As in a Blender that has worked for a while: memory that was free before is kept for later arrays.
    np.ones(30 << 20, np.uint8)
    with quiet():
        rows = library_rows(bpy, folder)
        rows += [hull_import_row(bpy, folder), mod_row(bpy, folder)]
        rows += scene_rows(bpy, folder) if once else []
    hull_rows, memory = rebuild_rows(once)
    return rows + hull_rows + reading_rows(folder, memory) + ([memory_row(memory)] if once else [])


# --- measuring ------------------------------------------------------------------------------------


def compare(ours: Work, peer: Work, rounds: int, prepare: Work = lambda: None, least: float = 0.0) -> float:
    """The ratio of `rounds` runs each, taken in turns. `prepare` goes before each run, untimed; a run repeats the work
    until it takes `least` seconds."""
    times: tuple[list[float], list[float]] = ([], [])
    repeats = []
    for work in (ours, peer):
        if rounds > 1:  # the first run is slower
            prepare()
            repeats.append(max(1, int(least / seconds(work))))
        else:
            repeats.append(1)
    for _ in range(rounds):
        for work, count, taken in zip((ours, peer), repeats, times, strict=True):
            prepare()
            gc.collect()
            taken.append(seconds(lambda work=work, count=count: repeat(work, count)) / count)
    return ratio_of(*times)


def ratio_of(ours: list[float], peer: list[float]) -> float:
    """The median of the rounds' own ratios: what else the machine does slows both of a round, but seldom the fastest of
    each by as much."""
    return statistics.median(one / other for one, other in zip(ours, peer, strict=True))


def repeat(work: Work, count: int) -> None:
    for _ in range(count):
        work()


def seconds(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_memory(work: Callable[[], object]) -> tuple[int, object]:
    """Bytes that Python and numpy held at most while the work ran, beyond those before it, and its result."""
    gc.collect()
    tracemalloc.start()
    try:
        result = work()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Blender prints each report, some of them past Python."""
    sys.stdout.flush()
    saved = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        ctypes.CDLL("msvcrt" if os.name == "nt" else None).fflush(None)
        os.dup2(saved, 1)
        os.close(saved)


def quietly(operator: Callable[..., object], **options: object) -> None:
    with quiet():
        operator(**options)


# --- the library in Blender -----------------------------------------------------------------------


def library_rows(bpy, folder: Path) -> list[Row]:
    """Import and export of the whole library against the barest calls and Blender's own OBJ files."""
    from core.formats import collision_set
    from core.samples import sets

    path, obj_path, out = folder / "CollisionSet.bin", folder / "library.obj", folder / "out.bin"
    library = sets.sample_set(1)
    path.write_bytes(collision_set.encode(library))
    ready = [(p.name, *bare_arrays(p.vertices, p.triangles)) for p in library.parts]

    def empty() -> None:
        bpy.ops.wm.read_homefile(use_empty=True)

    def ours() -> None:
        bpy.ops.import_scene.sylpheed_set(filepath=str(path))

    empty()
    bare_library(bpy, ready)
    plain = {"export_materials": False, "export_normals": False, "export_uv": False}
    bpy.ops.wm.obj_export(filepath=str(obj_path), **plain)
    triangles = sum(len(part.triangles) for part in library.parts)
    what = f"import a CollisionSet of {len(library.parts)} meshes, {triangles:,} triangles"
    rows = [
        Row(what, "the barest bpy calls", 1.3, compare(ours, lambda: bare_library(bpy, ready), 15, empty)),
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


def bare_library(bpy, ready) -> None:
    """The meshes that our import makes, flat shading and numbers included, and nothing beside them."""
    collection = bpy.data.collections.new("bare")
    bpy.context.scene.collection.children.link(collection)
    for name, *arrays in ready:
        collection.objects.link(bpy.data.objects.new(name, bare_mesh(bpy, name, *arrays)))
    bpy.context.view_layer.update()


def bare_mesh(bpy, name: str, coordinates, corners, starts, vertex_numbers, triangle_numbers, flat):
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


# --- a hull in Blender ----------------------------------------------------------------------------


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
            obj = bpy.data.objects.new(name, bare_mesh(bpy, name, *arrays))
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


# --- rebuilding -----------------------------------------------------------------------------------

LARGEST_CLOSED = 65_534
"""Triangles of the largest hull: every edge has two triangles, so their number is even."""

ROCKS = 20


def rock_field(triangles: int):
    """A hull of that many triangles: a wall and twenty rocks in it."""
    from core.samples import hulls

    surfaces = ROCKS + 1
    return hulls.sample_hull(hulls.Map("bench", triangles // 2 + 2 * surfaces, 50_000, 10_000, ROCKS), 1)


def rebuild_rows(once: bool) -> tuple[list[Row], dict[str, float]]:
    from core.editing import rebuild_hull
    from core.editing.assemble import Piece, assemble
    from core.editing.surface_meshes import separate
    from core.formats import mcol
    from core.geometry.grid import Grid

    shape = rock_field(LARGEST_CLOSED)
    rows: list[Row] = []
    memory: dict[str, float] = {}
    for count, bound, rounds in ((10, 1.5, 9), (50, 1.0, 5), *([(200, 1.0, 1)] if once else [])):
        half = np.full(3, 50_000, np.float32)
        grid = Grid(-half, half, np.full(3, 100_000 / count, np.float32), (count,) * 3)

        def ours(grid=grid) -> tuple[mcol.Hull, bytes]:
            hull = rebuild_hull.build(shape.vertices, shape.triangles.astype(np.int64), grid, True)
            return hull, mcol.encode(hull)

        peak, (hull, data) = peak_memory(ours)
        # The encoded bytes hold every output array; the hull's own fields are those of the same data.
        through = shape.vertices.nbytes + shape.triangles.nbytes + hull_bytes(hull) + len(data)
        memory[f"rebuild with {count}³ cells"] = peak / through
        peer, count_pairs = bvh_peer(shape, hull)
        rows.append(
            Row(
                f"rebuild {len(shape.triangles):,} triangles, {count}³ cells",
                f"mathutils.bvhtree, {len(hull.occupied):,} boxes",
                bound,
                compare(ours, peer, rounds),
                note=f"{len(hull.indices):,} pairs, the tree finds {count_pairs():,}",
            )
        )
        del hull, data

    hull = shape
    surfaces = separate(hull)
    pieces = [Piece(s.name, s.vertices, s.triangles, s.vertex_numbers, s.triangle_numbers) for s in surfaces]
    step = np.float32([500, 0, 0])
    place = next(number for number, piece in enumerate(pieces) if piece.name != "wall")
    old = pieces[place]
    pieces[place] = Piece(old.name, old.vertices + step, old.triangles, old.vertex_ids, old.triangle_ids)
    edit = assemble(pieces, hull)

    def rebuilt(what) -> bytes:
        fresh = replace(edit)  # an edit keeps its sorted edges
        return mcol.encode(rebuild_hull.rebuild(hull, fresh, rebuild_hull.Options(what)).hull)

    rows.append(
        Row(
            f"rebuild after moving one asteroid of {ROCKS}",
            "full rebuild",
            0.3,
            compare(lambda: rebuilt(rebuild_hull.Rebuild.CHANGED), lambda: rebuilt(rebuild_hull.Rebuild.ALL), 9),
        )
    )
    rows.append(growth_row())
    return rows, memory


def hull_bytes(hull) -> int:
    return sum(getattr(hull, name).nbytes for name in hull.__slots__ if isinstance(getattr(hull, name), np.ndarray))


def bvh_peer(shape, hull) -> tuple[Work, Callable[[], int]]:
    """Blender's own tree over the triangles, overlapped with the boxes of the cells that hold any, and how many pairs
    it found last. It tests surfaces, so it has no pair for a triangle within a box."""
    from mathutils.bvhtree import BVHTree

    low = hull.grid.lower_corner(hull.grid.position(hull.occupied))
    bit = np.arange(8)[:, None] >> np.arange(3) & 1
    quads = np.array([(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)])
    corners = (low[:, None] + bit * hull.grid.cell_size).reshape(-1, 3).tolist()
    sides = (np.arange(len(low))[:, None, None] * 8 + quads).reshape(-1, 4).tolist()
    vertices, triangles = shape.vertices.tolist(), shape.triangles.tolist()
    found: list[list[tuple[int, int]]] = []

    def overlap() -> None:
        tree = BVHTree.FromPolygons(vertices, triangles, all_triangles=True)
        found[:] = [tree.overlap(BVHTree.FromPolygons(corners, sides))]

    def count_pairs() -> int:
        pairs = np.array(found[0]).reshape(-1, 2)
        return len(np.unique(pairs[:, 0] * len(low) + pairs[:, 1] // 6))

    return overlap, count_pairs


def growth_row() -> Row:
    """How the time of a rebuild grows: the slope of its logarithm over that of the number of triangles."""
    from core.editing import rebuild_hull
    from core.formats import mcol

    hulls = [rock_field(count) for count in (1_000, 4_000, 16_000, LARGEST_CLOSED)]

    def work(hull) -> bytes:
        return mcol.encode(rebuild_hull.build(hull.vertices, hull.triangles.astype(np.int64), hull.grid, True))

    times = [min(seconds(lambda hull=hull: work(hull)) for _ in range(7)) for hull in hulls]
    counts = [len(hull.triangles) for hull in hulls]
    return Row(
        f"growth of the rebuild, {counts[0]:,} to {counts[-1]:,} triangles",
        "linear: exponent 1",
        1.05,
        float(np.polyfit(np.log(counts), np.log(times), 1)[0]),
    )


# --- reading --------------------------------------------------------------------------------------


def reading_rows(folder: Path, memory: dict[str, float]) -> list[Row]:
    from core.formats import collision_set, mcol
    from core.game.archive import open_archive

    rows = []
    small = (folder / "game" / "loose" / "S14_p2_AsteroidVolume_wp.col").read_bytes()
    large = mcol.encode(rock_field(LARGEST_CLOSED))
    library = (folder / "CollisionSet.bin").read_bytes()
    for what, decode, data, bound in (
        ("decode a .col", mcol.decode, large, 5.0),
        ("decode a small .col", mcol.decode, small, 5.0),
        ("decode a set", collision_set.decode, library, 2.0),
    ):

        def swapped(data=data) -> np.ndarray:
            return np.frombuffer(data, ">u4").astype(np.uint32)

        measured = compare(lambda data=data, decode=decode: decode(data), swapped, 15, least=0.02)
        rows.append(Row(f"{what}, {len(data) / 1e6:.2f} MB", "copying its words, byte order swapped", bound, measured))
        peak, _ = peak_memory(lambda data=data, decode=decode: decode(data))
        memory[what] = peak / (2 * len(data))  # the bytes, and as many in arrays

    path = folder / "game" / "hidden" / "MiscBin.pak"
    archive = open_archive(path)
    entry = archive.find("S14_p2_AsteroidVolume_wp.col")
    part = archive.part_of(entry).path

    def barely() -> bytes:
        with open(part, "rb") as file:
            file.seek(entry.offset)
            return zlib.decompress(file.read(entry.size)[10:])

    def ours() -> bytes:
        opened = open_archive(path)
        return opened.read(opened.find("S14_p2_AsteroidVolume_wp.col"))

    assert ours() == barely() == small
    rows.append(
        Row(
            "open MiscBin.pak and read one hull",
            "reading its bytes, zlib",
            1.5,
            compare(ours, barely, 15, least=0.02),
        )
    )
    return rows


def memory_row(memory: dict[str, float]) -> Row:
    worst = max(memory, key=lambda what: memory[what])
    return Row("peak memory of these", "input and output arrays", 6.0, memory[worst], f"most: {worst}")


# --- starting -------------------------------------------------------------------------------------

START = """
import time, sys
{before}
start = time.perf_counter()
{work}
print(time.perf_counter() - start)
"""


def start_up(zip_path: Path) -> list[Row]:
    """What importing core and enabling the extension take, each in Pythons of their own."""

    def measure(work: str, before: str = "") -> float:
        command = [sys.executable, "-c", START.format(work=work, before=before)]
        # As for a user, who has compiled code from the second start on.
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, env=kept)
        return float(done.stdout.split()[-1])

    def alternate(first: tuple[str, str], second: tuple[str, str], rounds: int) -> float:
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            for taken, (work, before) in zip(times, (first, second), strict=True):
                taken.append(measure(work, before))
        return ratio_of(*times)

    install = f"""
import bpy, numpy, addon_utils
bpy.ops.extensions.package_install_files(filepath={str(zip_path)!r}, repo="user_default", enable_on_install=False)
"""
    enable = 'assert addon_utils.enable("bl_ext.user_default.sylpheed_collision")'
    measure("pass", install)
    ready = "import bpy, numpy, addon_utils"
    imported = alternate(("import core, core.formats.mcol", ""), ("import numpy", ""), 15)
    milliseconds = min(1000 * measure(enable, ready) for _ in range(10))
    return [
        Row("import core and its hulls", "importing numpy", 1.2, imported),
        Row("enable the extension", "60 ms of its own", 1.0, milliseconds / 60, f"{milliseconds:.1f} ms"),
    ]


# --- the table ------------------------------------------------------------------------------------


def print_table(rows: list[Row]) -> None:
    cells = [("work", "against", "ratio", "reach", "noise", "")]
    for row in rows:
        noise = "" if row.noise is None else f"±{100 * row.noise:.0f} %"
        verdict = "" if row.ratio <= row.bound else "NOT REACHED"
        remark = ", ".join(filter(None, (verdict, row.note)))
        cells.append((row.work, row.against, f"{row.ratio:.2f}", f"{row.bound:.2f}", noise, remark))
    widths = [max(len(line[column]) for line in cells) for column in range(6)]
    for line in cells:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


if __name__ == "__main__":
    sys.exit(main())
