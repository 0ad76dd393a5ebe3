"""Stand-in game files from nothing: the game's names, counts, boxes and layouts, with shapes of their own.

Format notes, the tables of sections 3 and 4. The same seed gives the same bytes; no game data is in them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..disk.files import make_folder, write_file
from ..editing.rebuild_hull import build
from ..formats import collision_set, mcol
from ..formats.collision_set import CollisionSet, Part
from ..geometry.grid import Grid
from ..geometry.solids import ball, inward_box, shared
from .game import ARCHIVE_FILES, write_collision, write_tables
from .marker import digest, digests, record, require_stand_in

Progress = Callable[[int, int, str], None]
"""Called before each file with its number from 0, how many there are, and its name."""


def write_sample(folder: str | Path, seed: int = 1, progress: Progress | None = None) -> list[Path]:
    """Writes the stand-in files below `folder`, which is made if need be: the paths that were written.

    Raises `FormatError` if the folder holds anything but a stand-in that was written here, if it can't be made, or if a
    file can't be written.
    """
    root = Path(folder)
    loose = [f"loose/{name}" for name in (*(f"{row.name}.col" for row in MAPS), "CollisionSet_S01.bin")]
    known = require_stand_in(root, (*loose, *ARCHIVE_FILES))
    for place in ("loose", "hidden", "dat"):
        make_folder(root / place)
    told = progress or (lambda number, count, name: None)
    hulls, count = {}, len(MAPS) + 3
    files: dict[str, bytes] = {}
    for number, (row, name) in enumerate(zip(MAPS, loose, strict=False)):
        told(number, count, f"{row.name}.col")
        hull = sample_hull(row, seed)
        files[name] = mcol.encode(hull)
        hulls[row.name] = (files[name], hull.grid)
    told(count - 3, count, "CollisionSet_S01.bin")
    library = files[loose[-1]] = collision_set.encode(sample_set(seed))
    record(root, known | set(map(digest, files.values())))  # what is half done when it is stopped stays known
    for name, data in files.items():
        write_file(root / name, data)
    told(count - 2, count, "MiscBin.pak")
    collision = write_collision(root, hulls, library)
    record(root, known | digests(root, (*loose, *ARCHIVE_FILES)))
    told(count - 1, count, "GP_MAIN_GAME_E.pak")
    tables = write_tables(root)
    record(root, digests(root, (*loose, *ARCHIVE_FILES)))
    return [*(root / name for name in files), collision, tables]


# --- maps -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Map:
    """One row of the table of maps: name, vertices, half the box's side, cell size, and what is in it.

    A map has `rocks` asteroids, and a wall of 8 vertices around them unless it is one single surface:
    outward in free space, or inward in rock that is `solid` outside.
    """

    name: str
    vertices: int
    half: int
    cell: int
    rocks: int
    wall: bool = True
    solid: bool = True


MAPS = (
    Map("test", 34, 50_000, 10_000, rocks=1),
    Map("mapmesh_box_500km", 8, 250_000, 50_000, rocks=0),
    Map("S01_AsteroidVolume_wp", 111, 50_000, 10_000, rocks=1, wall=False, solid=False),
    Map("S04_AsteroidVolume_wp", 405, 50_000, 10_000, rocks=4),
    Map("S05_AsteroidVolume_wp", 89, 50_000, 10_000, rocks=1, wall=False),
    Map("S08_p1_AsteroidVolume_wp", 134, 50_000, 10_000, rocks=1),
    Map("S08_p2_AsteroidVolume_wp", 8, 250_000, 50_000, rocks=0),
    Map("S13_AsteroidVolume_wp", 73, 50_000, 10_000, rocks=2),
    Map("S14_p1_AsteroidVolume_wp", 502, 25_000, 10_000, rocks=19),
    Map("S14_p2_AsteroidVolume_wp", 632, 25_000, 10_000, rocks=24),
    Map("S28_p1_AsteroidVolume_wp", 554, 25_000, 10_000, rocks=21),
)


def sample_hull(row: Map, seed: int) -> mcol.Hull:
    """The hull of one map."""
    numbers = _numbers(seed, row.name)
    half = np.full(3, row.half, np.float32)
    grid = Grid(-half, half, np.full(3, row.cell, np.float32), (2 * row.half // row.cell,) * 3)
    if row.wall:
        meshes = _asteroid_field(row, numbers)
        meshes.append(inward_box(-half, half))
    else:
        vertices, triangles = _rock(row.vertices, numbers)
        meshes = [(_rounded(vertices * 0.97 * row.half), triangles[:, ::-1] if row.solid else triangles)]
    return build(*_first_used_first(*_joined(meshes)), grid, row.solid, row.name)


def _asteroid_field(row: Map, numbers: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rocks that touch neither each other nor the outermost cells: each has a slot of its own."""
    if not row.rocks:
        return []
    inner = row.half - row.cell
    along = int(np.ceil(row.rocks ** (1 / 3)))
    slot = inner / along
    places = numbers.permutation(along**3)[: row.rocks]
    position = np.stack(np.unravel_index(np.sort(places), (along,) * 3), axis=1)
    centres = (2 * position + 1 - along) * slot
    sizes = shared(row.vertices - 8, numbers.uniform(0.5, 1.5, row.rocks), 10)
    meshes = []
    for centre, size in zip(centres, sizes, strict=True):
        radius = numbers.uniform(0.6, 0.9) * slot
        shift = numbers.uniform(-1, 1, 3) * 0.95 * (slot - radius)
        vertices, triangles = _rock(size, numbers)
        meshes.append((_rounded(vertices * radius + centre + shift), triangles))
    return meshes


# --- the library ----------------------------------------------------------------------------------

VERTICES, TRIANGLES = 48_241, 90_836

RIMS = (50, 50, 50, 50, 50, 50, 53, 53)
"""Edges around the opening of each open shell. Each shell has a fin too: one triangle on an edge of others."""
SHELL = 300
"""Vertices of a shell without its fin and its pole."""

TWO_SIDED = (202, 222, 226)
"""Vertices of the meshes in which each triangle comes twice, once for each side."""

SURFACES = (2,) * 30 + (3,) * 15 + (4,) * 10
"""Closed surfaces in the meshes that have several; the rest have one."""


def sample_set(seed: int) -> CollisionSet:
    """A library with the counts of the game's own: 158 meshes, 147 of them manifold, 2,362 of 134,529 edges
    not shared by exactly two triangles, and vertices that no triangle uses."""
    numbers = _numbers(seed, "CollisionSet")
    names = set_names()
    odd = [name for name in names if name.endswith("_sld")] + ["rou_e901_wing_01_L", "rou_e901_wing_01_R"]
    odd += ["rob_f002", "mob_n300_part_01", "mob_n300_part_02"]
    odd = odd[: len(RIMS) + len(TWO_SIDED)]
    meshes = _odd_meshes(numbers)
    unused = VERTICES - _closed_vertices() - sum(len(vertices) for vertices, _ in meshes)
    extra = shared(unused, np.ones(len(odd)), 0)
    meshes = [
        (np.concatenate((vertices, numbers.uniform(-1, 1, (count, 3)))), triangles)
        for (vertices, triangles), count in zip(meshes, extra, strict=True)
    ]
    special = dict(zip(odd, meshes, strict=True))
    closed = iter(_closed_meshes(len(names) - len(odd), numbers))
    parts = []
    for name in names:
        vertices, triangles = special.get(name) or next(closed)
        radius = 10 ** numbers.uniform(2, 4.5)
        stretch = numbers.uniform(0.5, 1, 3)
        vertices = _rounded(vertices * stretch * radius)
        parts.append(Part(collision_set.encode_name(name), vertices, triangles.astype(np.uint32)))
    return CollisionSet(tuple(parts))


def set_names() -> list[str]:
    """158 names in the game's families: 30 mob_, 4 rob_, 78 rou_, 46 asteroids of stages."""
    mob = ["mob_n040", *(f"mob_n{number}_bdy" for number in range(110, 210, 10)), "mob_n900_gear"]
    mob += [f"mob_n{ship}_part_{part:02}" for ship in (110, 300, 900) for part in range(1, 7)]
    rob = ["rob_e001", "rob_e005_bdy", "rob_f001_bdy", "rob_f002"]
    rou = ["rou_e010", "rou_e101_brg_01", "rou_f104_sld_02"]
    rou += [f"rou_e{ship}_{part}" for ship in range(101, 107) for part in ("bdy", "brg", "eng", "sld")]
    sides = [f"{part}_{side}" for part in ("wep_01", "wep_02", "wep_03", "sld_01", "eng_01") for side in "LR"]
    rou += ["rou_e901_wing_01_L", "rou_e901_wing_01_R"]
    rou += [f"rou_e{ship}_{part}" for ship in (101, 102, 104, 106, 107) for part in sides][:49]
    stages = {"S01": 4, "S04": 5, "S05": 2, "S08_p1": 4, "S13": 4, "S14_p1": 9, "S14_p2": 9, "S28_p1": 9}
    rocks = [f"{stage}_Asteroid_cmesh_{n:02}" for stage, count in stages.items() for n in range(1, count + 1)]
    rocks[0] += "a"
    return [*mob, *rob, *rou, *rocks]


def _odd_meshes(numbers: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """The open shells with fins, then the two-sided meshes."""
    meshes = []
    for rim in RIMS:
        vertices, triangles = _rock(SHELL + 1, numbers, rim)
        tip = 2 * vertices[triangles[-1, :2]].mean(axis=0)
        fin = [*triangles[-1, :2][::-1], len(vertices)]
        meshes.append((np.concatenate((vertices, [tip])), np.concatenate((triangles, [fin]))))
    for size in TWO_SIDED:
        vertices, triangles = _rock(size, numbers)
        meshes.append((vertices, np.concatenate((triangles, triangles[:, ::-1]))))
    return meshes


def _closed_vertices() -> int:
    """How many vertices the closed meshes have, from the triangles that the odd ones leave them."""
    odd = sum(2 * SHELL - rim + 1 for rim in RIMS) + sum(2 * (2 * size - 4) for size in TWO_SIDED)
    return (TRIANGLES - odd) // 2 + 2 * sum(_surface_counts(158 - len(RIMS) - len(TWO_SIDED)))


def _surface_counts(meshes: int) -> list[int]:
    return [*(1,) * (meshes - len(SURFACES)), *SURFACES]


def _closed_meshes(count: int, numbers: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Meshes of one to four closed surfaces. The first has 58 vertices: the size word of the file is 0x810."""
    surfaces = _surface_counts(count)
    first = 58
    weights = 10 ** numbers.uniform(-0.6, 0.6, sum(surfaces) - 1)
    sizes = iter([first, *shared(_closed_vertices() - first, weights, 12)])
    meshes = []
    for surface_count in surfaces[:1] + numbers.permutation(surfaces[1:]).tolist():
        rocks = []
        for place in range(surface_count):
            vertices, triangles = _rock(next(sizes), numbers)
            rocks.append((vertices / surface_count + [2 * place / surface_count, 0, 0], triangles))
        meshes.append(_joined(rocks))
    return meshes


# --- shapes ---------------------------------------------------------------------------------------


def _rock(size: int, numbers: np.random.Generator, rim: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A lumpy ball of exactly `size` vertices, or a bowl, within a distance of 1 from its centre; see `ball`."""
    directions, triangles = ball(size, rim)
    return directions * _lumps(directions, numbers)[:, None], triangles


def _lumps(directions: np.ndarray, numbers: np.random.Generator) -> np.ndarray:
    """Distances from the centre, 0.6 to 1, that vary smoothly over the directions."""
    waves = numbers.normal(size=(6, 3)) * 2
    phases = numbers.uniform(0, 2 * np.pi, 6)
    return 0.8 + 0.2 * np.cos(directions @ waves.T + phases).mean(axis=1)


# --- small tools ----------------------------------------------------------------------------------


def _numbers(seed: int, name: str) -> np.random.Generator:
    """Random numbers that depend on nothing but the seed and the name."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def _rounded(vertices: np.ndarray) -> np.ndarray:
    """Two decimals: the last bits of sines differ between machines."""
    return np.round(vertices, 2).astype(np.float32)


def _joined(meshes: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    return (
        np.concatenate([vertices for vertices, _ in meshes]),
        np.concatenate([triangles + offset for (_, triangles), offset in zip(meshes, offsets, strict=False)]),
    )


def _first_used_first(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices numbered in the order in which the triangles first use them, as in the game's files."""
    used, first = np.unique(triangles, return_index=True)
    order = used[np.argsort(first)]
    number = np.empty(len(vertices), np.int64)
    number[order] = np.arange(len(order))
    return vertices[order], number[triangles]
