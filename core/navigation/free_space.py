"""The free space around a hull's rock as tetrahedra whose faces are the hull's own, cut at edges where necessary.

A Delaunay tetrahedralization of the hull's vertices contains most of its faces. Edges and faces that it lacks are cut
until it contains every part of them. Where that would take too many points, or points too close for float32, the
tetrahedra that such a face passes through are left out. What lies in rock is removed by the winding rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import RefusedError
from ..geometry.arrays import components
from ..geometry.boxes import boxes_of, meeting
from ..geometry.fill import is_free
from ..geometry.tetrahedra import reached, volumes
from .delaunay import CORNERS, Delaunay, Face
from .facets import Progress, recover

MOST_POINTS = 12_000
"""More can't be wanted: a `.rgn` counts 65,535 faces, which about 5,000 points of free space have."""

SHORTEST = 2.0**-14
"""The shortest edge that is cut, as a part of the box's longest side: finer parts are smaller than a ship."""

THIN = 2.0**-19
"""A tetrahedron lower than this part of the box's longest side may lie in rock because its corners were rounded."""


@dataclass(frozen=True, slots=True, eq=False)
class FreeSpace:
    """Tetrahedra of free space.

    vertices    float32 (n, 3)
    tetrahedra  int64 (m, 4), of positive orientation, no two of which overlap
    left_out    how many tetrahedra are left out because a face passes through them
    """

    vertices: np.ndarray
    tetrahedra: np.ndarray
    left_out: int


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """What is divided: the hull's surfaces, the box, and whether everything outside the surfaces is rock."""

    vertices: np.ndarray
    triangles: np.ndarray
    minimum: np.ndarray
    maximum: np.ndarray
    outside_solid: bool

    @property
    def size(self) -> float:
        """The longest side of the box."""
        return float((self.maximum.astype(np.float64) - self.minimum).max())


def divide(space: Space, inner: np.ndarray, progress: Progress = lambda part: None) -> FreeSpace:
    """Divides the free space inside the box into tetrahedra. `inner` float32 (n, 3) are points to use beside the
    hull's own, in free space.

    `progress` gets parts of 1. Raises `RefusedError` if that takes more than `MOST_POINTS` points.
    """
    points, faces = _surfaces(space)
    low = np.minimum(points.min(axis=0, initial=np.inf), space.minimum)
    high = np.maximum(points.max(axis=0, initial=-np.inf), space.maximum)
    if len(points) + len(inner) > MOST_POINTS:
        raise RefusedError(
            f"the hull has {len(points):,} vertices, more than its free space can be divided for",
            expected=f"{MOST_POINTS:,} at most",
            remedy="simplify the hull, since a .rgn counts its faces with 16 bits",
        )
    mesh = Delaunay(low, high)
    everything = np.concatenate((points, inner)).astype(np.float32)
    numbers = np.zeros(len(everything), np.int64)
    order = _along_a_curve(everything, low, high)
    for done, row in enumerate(order.tolist()):
        x, y, z = everything[row].tolist()
        numbers[row] = mesh.insert((x, y, z))
        if done % 256 == 0:
            progress(0.4 * done / len(order))
    wanted = [(a, b, c) for a, b, c in numbers[faces].tolist()]
    present, missing = recover(mesh, wanted, SHORTEST * space.size, lambda part: progress(0.4 + 0.4 * part))
    found = _classify(mesh, space, present, missing)
    progress(1.0)
    return found


def _surfaces(space: Space) -> tuple[np.ndarray, np.ndarray]:
    """Points, float32 (n, 3), and triangles, int64 (m, 3), of the surfaces, no two alike. Where the outside is free the
    box bounds the free space, and is one of them."""
    vertices, triangles = np.asarray(space.vertices, np.float32) + np.float32(0), space.triangles.astype(np.int64)
    if not space.outside_solid:
        ends = np.stack((space.minimum, space.maximum)).astype(np.float32)
        box = np.array([[ends[n >> axis & 1, axis] for axis in range(3)] for n in range(8)], np.float32)
        quads = np.array([(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)])
        sides = quads[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
        triangles = np.concatenate((triangles, sides + len(vertices)))
        vertices = np.concatenate((vertices, box + np.float32(0)))
    used = np.unique(triangles)
    points, place = np.unique(vertices[used], axis=0, return_inverse=True)
    number = np.zeros(len(vertices), np.int64)
    number[used] = place.reshape(-1)
    faces = np.unique(np.sort(number[triangles], axis=1), axis=0)
    return points, faces[(np.diff(faces, axis=1) > 0).all(axis=1)]


def _along_a_curve(points: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """An order of points (n, 3) in which neighbours mostly lie near each other, after some from all over the place:
    each is found by walking from the one before."""
    count = len(points)
    scattered = np.random.default_rng(1).permutation(count)
    cells = max(round((count / 8) ** (1 / 3)), 1)
    place = ((points - low) / np.maximum(high - low, 1e-30) * cells).astype(np.int64).clip(0, cells - 1)
    y = np.where(place[:, 2] % 2, cells - 1 - place[:, 1], place[:, 1])
    x = np.where(y % 2, cells - 1 - place[:, 0], place[:, 0])
    first, rest = scattered[: count // 8], scattered[count // 8 :]
    return np.concatenate((first, rest[np.lexsort((x[rest], y[rest], place[rest, 2]))]))


# --- rock and free space --------------------------------------------------------------------------


def _classify(mesh: Delaunay, space: Space, present: list[Face], missing: list[Face]) -> FreeSpace:
    """The tetrahedra of the mesh that lie in free space, given the parts of surfaces that it has and that it lacks."""
    everything = np.array(mesh.vertices, np.float64)
    tetrahedra = np.array([one for one in mesh.tetrahedra if one is not None and min(one) >= CORNERS], np.int64)
    tetrahedra = tetrahedra.reshape(-1, 4)
    shape = everything[tetrahedra]
    centres = shape.mean(axis=1)
    crossed, near = _crossed(shape, everything[np.array(missing, np.int64).reshape(-1, 3)])
    barrier = np.array(present, np.int64).reshape(-1, 3)
    region = _regions(tetrahedra, np.sort(barrier, axis=1), near | crossed, len(everything))
    volume = np.abs(volumes(shape))
    largest = np.lexsort((-volume, region))
    first = largest[np.unique(region[largest], return_index=True)[1]]
    free = np.zeros(len(tetrahedra), bool)
    free[first] = is_free(centres[first], space.vertices, space.triangles, space.outside_solid)
    free = free[first][np.searchsorted(region[first], region)]
    inside = ((centres > space.minimum) & (centres < space.maximum)).all(axis=1)
    kept = free & inside & ~crossed
    thin = np.flatnonzero(kept & (_heights(shape, volume) < THIN * space.size))
    kept[thin] = is_free(centres[thin], space.vertices, space.triangles, space.outside_solid)
    used, numbers = np.unique(tetrahedra[kept], return_inverse=True)
    return FreeSpace(
        everything[used].astype(np.float32), numbers.reshape(-1, 4).astype(np.int64), int((crossed & inside).sum())
    )


def _heights(shape: np.ndarray, volume: np.ndarray) -> np.ndarray:
    """The least height of tetrahedra (n, 4, 3), float64 (n,)."""
    largest = np.zeros(len(shape))
    for side in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)):
        a, b, c = (shape[:, corner] for corner in side)
        largest = np.maximum(largest, np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2)
    return np.divide(3 * volume, largest, out=np.zeros_like(largest), where=largest > 0)


def _regions(tetrahedra: np.ndarray, barrier: np.ndarray, apart: np.ndarray, count: int) -> np.ndarray:
    """Which tetrahedra are connected without passing a barrier, sorted vertex numbers (k, 3): the lowest number of each
    region, int64 (n,). Those `apart`, bool (n,), are regions of their own."""
    sides = np.sort(tetrahedra[:, [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]], axis=2).reshape(-1, 3)
    owner = np.repeat(np.arange(len(tetrahedra)), 4)
    weights = np.array([count * count, count, 1])
    keys = sides @ weights
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    one, two = order[same], order[same + 1]
    passing = ~np.isin(keys[one], barrier @ weights) & ~apart[owner[one]] & ~apart[owner[two]]
    return components(len(tetrahedra), owner[one[passing]], owner[two[passing]])


def _crossed(shape: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which tetrahedra (n, 4, 3) a face (k, 3, 3) passes through, and which are near one, bool (n,) each."""
    near = np.zeros(len(shape), bool)
    if len(faces):
        for tetrahedron, _ in meeting(boxes_of(shape), boxes_of(faces)):
            near[tetrahedron] = True
    return reached(shape, faces), near
