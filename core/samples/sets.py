"""A stand-in collision set: the names of the game's own, its counts, other shapes. docs/FORMATS.md, section 4."""

from __future__ import annotations

import numpy as np

from ..formats import collision_set
from ..formats.collision_set import CollisionSet, Part
from ..geometry.solids import shared
from .shapes import joined, random_numbers, rock, rounded

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
    """A collision set with the counts of the game's own: 158 meshes, 147 of them manifold, 2,362 of 134,529 edges
    not shared by exactly two triangles, and vertices that no triangle uses."""
    numbers = random_numbers(seed, "CollisionSet")
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
        vertices = rounded(vertices * stretch * radius)
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
        vertices, triangles = rock(SHELL + 1, numbers, rim)
        tip = 2 * vertices[triangles[-1, :2]].mean(axis=0)
        fin = [*triangles[-1, :2][::-1], len(vertices)]
        meshes.append((np.concatenate((vertices, [tip])), np.concatenate((triangles, [fin]))))
    for size in TWO_SIDED:
        vertices, triangles = rock(size, numbers)
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
            vertices, triangles = rock(next(sizes), numbers)
            rocks.append((vertices / surface_count + [2 * place / surface_count, 0, 0], triangles))
        meshes.append(joined(rocks))
    return meshes
