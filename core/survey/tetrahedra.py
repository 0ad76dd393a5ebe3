"""The survey's facts about what a navigation volume holds: faces, tetrahedra, and the hull's free space.

docs/FORMATS.md, section 5.
"""

from __future__ import annotations

import numpy as np

from ..formats.regn import ITEM, NO_TETRAHEDRON, REFERENCE, TETRAHEDRON
from ..formats.regn_pairs import PAIRS, PairOrder, find_order
from ..geometry.clearance import clearances
from ..geometry.surfaces import split, volumes
from ..geometry.triangles import corners
from ..geometry.vectors import cross
from .facts import Fact, NotMeasurable, Same, Spread, Subject, Tally
from .navigation import Navigation
from .surfaces import outside_by_winding

CLOSE = 1e-4
"""How far off a stored value may be, as a part of the largest coordinate, and still count as the computed one."""
SAMPLED = 128
"""Tetrahedra whose clearance is compared with the distance to the hull's triangles."""
MOST_DISTANCES = 1 << 20
PORTION = 1 << 14


def _scale(navigation: Navigation) -> float:
    return max(float(np.abs(navigation.vertices).max(initial=0)), 1e-30)


# --- faces ----------------------------------------------------------------------------------------


def _planes(navigation: Navigation) -> tuple[int, int]:
    """Planes with a normal of length 1 on which the face's corners lie."""
    plane = navigation.faces["plane"].astype(np.float64)
    distance = np.einsum("fki,fi->fk", navigation.corners, plane[:, :3]) + plane[:, 3:]
    unit = np.abs(np.linalg.norm(plane[:, :3], axis=1) - 1) < CLOSE
    good = unit & (np.abs(distance).max(axis=1) <= CLOSE * _scale(navigation))
    return int(good.sum()), len(good)


def _turned(navigation: Navigation) -> str:
    points = navigation.corners
    normal = cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    along = np.einsum("fi,fi->f", normal, navigation.faces["plane"][:, :3].astype(np.float64))
    return f"{100 * np.count_nonzero(along > 0) / len(along):.0f} %"


def _centres(navigation: Navigation) -> tuple[int, int]:
    apart = np.abs(navigation.corners.mean(axis=1) - navigation.faces["centre"].astype(np.float64)).max(axis=1)
    good = apart <= CLOSE * _scale(navigation)
    return int(good.sum()), len(good)


def _sides(navigation: Navigation) -> tuple[int, int]:
    """Sides of faces that name a tetrahedron which names the face, or the border."""
    sides = navigation.faces["tetrahedra"].astype(np.int64)
    inside = sides != NO_TETRAHEDRON
    names = np.zeros(sides.shape, bool)
    there = inside & (sides < len(navigation.tetrahedra))
    faces = navigation.tetrahedra["faces"].astype(np.int64)[np.where(there, sides, 0)]
    names = there & (faces == np.arange(len(sides))[:, None, None]).any(axis=2)
    good = names | ~inside
    return int(good.sum()), good.size


def _borders(navigation: Navigation) -> str:
    both = (navigation.faces["tetrahedra"] == NO_TETRAHEDRON).all(axis=1)
    return f"{np.count_nonzero(both):,}"


def _face_numbers(navigation: Navigation) -> tuple[int, int]:
    good = navigation.faces["number"] == np.arange(len(navigation.faces))
    return int(good.sum()), len(good)


def _face_words(navigation: Navigation) -> str:
    words = navigation.faces["unknown_2c"]
    return "zeros" if not words.any() else f"{np.count_nonzero(words.any(axis=1)):,} faces with something"


# --- tetrahedra -----------------------------------------------------------------------------------


def _numbers(navigation: Navigation) -> tuple[int, int]:
    good = navigation.tetrahedra["number"] == np.arange(len(navigation.tetrahedra))
    return int(good.sum()), len(good)


def _four(navigation: Navigation) -> tuple[int, int]:
    good = navigation.own_corners[1]
    return int(good.sum()), len(good)


def _positive(navigation: Navigation) -> tuple[int, int]:
    """Bytes at +0x54 that say on which side of a face's plane the tetrahedron's middle lies."""
    found, good = navigation.own_corners
    middle = navigation.vertices[found[good]].mean(axis=1)
    tetrahedra = navigation.tetrahedra[good]
    plane = navigation.faces["plane"][tetrahedra["faces"]].astype(np.float64)
    side = np.einsum("tki,ti->tk", plane[..., :3], middle) + plane[..., 3]
    right = (side > 0) == (tetrahedra["sides"] != 0)
    return int(right.sum()), right.size


def _spheres(navigation: Navigation) -> tuple[int, int]:
    found, good = navigation.own_corners
    spheres = navigation.tetrahedra["sphere"][good].astype(np.float64)
    reach = np.linalg.norm(navigation.vertices[found[good]] - spheres[:, None, :3], axis=2).max(axis=1)
    inside = reach <= spheres[:, 3] * (1 + 1e-6)
    return int(inside.sum()), len(inside)


def _sphere_factor(navigation: Navigation) -> np.ndarray:
    found, good = navigation.own_corners
    spheres = navigation.tetrahedra["sphere"][good].astype(np.float64)
    reach = np.linalg.norm(navigation.vertices[found[good]] - spheres[:, None, :3], axis=2).max(axis=1)
    return spheres[:, 3] / reach


def _centre_distances(navigation: Navigation) -> np.ndarray:
    """Between the centres of each pair of a tetrahedron's faces, float64 (t, 6), in the order of `PAIRS`."""
    centres = navigation.faces["centre"].astype(np.float64)[navigation.tetrahedra["faces"]]
    return np.linalg.norm(centres[:, PAIRS[:, 0]] - centres[:, PAIRS[:, 1]], axis=2)


def _found_order(navigation: Navigation) -> PairOrder:
    """The order of the pairs, by the costs, and the clearances where there is a hull."""
    pairs = navigation.tetrahedra["pairs"]
    costs = pairs["cost"], _centre_distances(navigation)
    if navigation.hull is None or not len(navigation.hull.triangles):
        return find_order(costs)
    hull, chosen = navigation.hull, _some(navigation, SAMPLED)
    centres = navigation.faces["centre"].astype(np.float64)[navigation.tetrahedra["faces"][chosen]]
    distances = clearances(centres[:, PAIRS], hull.vertices, hull.triangles)
    return find_order(costs, (pairs["clearance"][chosen], distances))


def _pair_order(navigation: Navigation) -> str:
    """In which order of the pairs of faces costs are distances between centres, and clearances those to rock."""
    return _found_order(navigation).text


def _pair_reason(navigation: Navigation) -> str:
    """What decides that order, or why nothing does."""
    return _found_order(navigation).reason


def _some(navigation: Navigation, most: int) -> np.ndarray:
    """Numbers of so many tetrahedra from all over the file, int64 (n,)."""
    return np.unique(np.linspace(0, len(navigation.tetrahedra) - 1, most).astype(np.int64))


def _costs(navigation: Navigation) -> np.ndarray:
    cost = navigation.tetrahedra["pairs"]["cost"].astype(np.float64)
    return np.sort(cost, axis=1) / np.maximum(np.sort(_centre_distances(navigation), axis=1), 1e-30)


def _clearance_distances(navigation: Navigation) -> np.ndarray:
    """A pair's clearance, as a part of the distance from its faces' nearer centre to the hull; of some tetrahedra."""
    hull, tetrahedra = navigation.partner, navigation.tetrahedra
    most = max(min(SAMPLED, MOST_DISTANCES // (4 * len(hull.triangles))), 1)
    chosen = tetrahedra[_some(navigation, most)]
    centres = navigation.faces["centre"].astype(np.float64)[chosen["faces"]].reshape(-1, 3)
    distance = _to_triangles(centres, corners(hull.vertices, hull.triangles)).reshape(-1, 4)
    nearer = np.minimum(distance[:, PAIRS[:, 0]], distance[:, PAIRS[:, 1]])
    return chosen["pairs"]["clearance"].astype(np.float64) / np.maximum(nearer, 1e-30)


def _clearance_heights(navigation: Navigation) -> np.ndarray:
    """The same as a part of the distance between the edge that the two faces share and the opposite one."""
    found, good = navigation.own_corners
    tetrahedra = navigation.tetrahedra[good]
    vertices = navigation.faces["vertices"][tetrahedra["faces"]].astype(np.int64)
    ratios = []
    for pair, (one, two) in enumerate(PAIRS):
        shared = (vertices[:, one, :, None] == vertices[:, two, None, :]).any(axis=2)
        edge_only = shared.sum(axis=1) == 2
        edge = vertices[edge_only, one][shared[edge_only]].reshape(-1, 2)
        four = found[good][edge_only]
        other = four[(four[:, :, None] != edge[:, None, :]).all(axis=2)].reshape(-1, 2)
        a, b, c, d = (navigation.vertices[corner] for corner in (*edge.T, *other.T))
        normal = cross(b - a, d - c)
        apart = np.abs(np.einsum("ni,ni->n", c - a, normal)) / np.maximum(np.linalg.norm(normal, axis=1), 1e-30)
        ratios.append(tetrahedra["pairs"]["clearance"][edge_only, pair].astype(np.float64) / np.maximum(apart, 1e-30))
    return np.concatenate(ratios)


def _clearances(navigation: Navigation) -> np.ndarray:
    """As a part of the cell size, which says what range they have."""
    clearance = navigation.tetrahedra["pairs"]["clearance"].astype(np.float64)
    return clearance / float(navigation.header["cell_size"][0])


def _unread(navigation: Navigation) -> str:
    words = np.concatenate((navigation.tetrahedra["unknown_10"], navigation.tetrahedra["unknown_58"]), axis=1)
    return "zeros" if not words.any() else f"{np.count_nonzero(words.any(axis=1)):,} tetrahedra with something"


def _volume(navigation: Navigation) -> float:
    found, good = navigation.own_corners
    a, b, c, d = np.moveaxis(navigation.vertices[found[good]], 1, 0)
    return float(np.abs(np.einsum("ni,ni->n", b - a, cross(c - a, d - a))).sum() / 6)


def _free_share(navigation: Navigation) -> np.ndarray:
    """The tetrahedra's volume as a part of the hull's free space within its box."""
    hull = navigation.partner
    rock = float(volumes(hull.vertices, hull.triangles, split(hull.triangles)).sum())
    box = float(np.prod(hull.header["maximum"].astype(np.float64) - hull.header["minimum"].astype(np.float64)))
    free = -rock if outside_by_winding(hull) else box - rock
    if free <= 0:
        raise NotMeasurable("no free space in the hull")
    return np.array([_volume(navigation) / free])


def _items(navigation: Navigation) -> tuple[int, int]:
    """References of items to tetrahedra whose sphere the item's sphere reaches."""
    items = navigation.array("items", ITEM)
    counts, references = items["count"].astype(np.int64), navigation.array("references", REFERENCE).astype(np.int64)
    if counts.sum() != len(references):
        raise NotMeasurable("items that don't share out the references")
    rows = np.repeat(np.arange(len(items)), counts)
    numbers = (references + 0x10 - navigation.at.tetrahedra) // TETRAHEDRON.itemsize
    there = (numbers >= 0) & (numbers < len(navigation.tetrahedra))
    own = items["sphere"][rows[there]].astype(np.float64)
    other = navigation.tetrahedra["sphere"][numbers[there]].astype(np.float64)
    reach = np.linalg.norm(own[:, :3] - other[:, :3], axis=1) <= own[:, 3] + other[:, 3]
    return int(reach.sum()), len(references)


def _to_triangles(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """From points (n, 3) to the nearest of triangles (m, 3, 3), float64 (n,)."""
    nearest = np.full(len(points), np.inf)
    at_once = max(PORTION // max(len(triangles), 1), 1)
    for first in range(0, len(points), at_once):
        part = points[first : first + at_once, None]
        nearest[first : first + at_once] = _distances(part, triangles[None]).min(axis=1)
    return nearest


def _distances(point: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    """From points (n, 1, 3) to triangles (1, m, 3, 3), float64 (n, m)."""
    a, b, c = triangle[..., 0, :], triangle[..., 1, :], triangle[..., 2, :]
    normal = cross(b - a, c - a)
    length2 = np.maximum(_dot(normal, normal), 1e-300)
    inside = np.ones(np.broadcast_shapes(point.shape, a.shape)[:-1], bool)
    nearest = np.full(inside.shape, np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        along, offset = end - start, point - start
        inside &= _dot(cross(np.broadcast_to(along, offset.shape), offset), normal) >= 0
        place = np.clip(_dot(offset, along) / np.maximum(_dot(along, along), 1e-300), 0, 1)
        apart = offset - place[..., None] * along
        nearest = np.minimum(nearest, np.sqrt(_dot(apart, apart)))
    height = np.abs(_dot(point - a, normal)) / np.sqrt(length2)
    return np.where(inside, height, nearest)


def _dot(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (left * right).sum(axis=-1)


USUAL_ORDER = "01 02 03 12 13 23"
_N = Subject.NAVIGATION
FACTS = (
    Fact("F100", "C", "face planes through the corners, normals of length 1", _N, "all", _planes, Tally()),
    Fact("F101", "A", "face normals that follow the corners' order", _N, "not known", _turned, Same()),
    Fact("F102", "C", "face centres in the middle of the corners", _N, "all", _centres, Tally()),
    Fact("F103", "C", "sides of faces that name their tetrahedron", _N, "all", _sides, Tally()),
    Fact("F104", "C", "faces with a border on both sides", _N, "0", _borders, Same(("0",))),
    Fact("F105", "C", "faces with their own number", _N, "all", _face_numbers, Tally()),
    Fact("F106", "A", "words of faces at +0x2C", _N, "zeros so far", _face_words, Same(("zeros",))),
    Fact("F107", "C", "tetrahedra with their own number", _N, "all", _numbers, Tally()),
    Fact("F108", "C", "tetrahedra with four corners", _N, "all", _four, Tally()),
    Fact("F109", "C", "bytes at +0x54 that name the inner side", _N, "all", _positive, Tally()),
    Fact("F110", "C", "tetrahedron spheres that enclose it", _N, "all", _spheres, Tally()),
    Fact("F111", "A", "radius of these spheres to the farthest corner", _N, "not known", _sphere_factor, Spread()),
    Fact("F112", "A", "order of the six pairs of faces", _N, USUAL_ORDER, _pair_order, Same((USUAL_ORDER,))),
    Fact("F113", "A", "cost to distance between centres", _N, "not known", _costs, Spread()),
    Fact("F114", "A", "clearance to cell size", _N, "not known", _clearances, Spread()),
    Fact(
        "F115", "A", "clearance to the centres' distance from the hull", _N, "not known", _clearance_distances, Spread()
    ),
    Fact("F116", "A", "clearance to the height over the shared edge", _N, "not known", _clearance_heights, Spread()),
    Fact("F117", "A", "unread words of tetrahedra", _N, "zeros so far", _unread, Same(("zeros",))),
    Fact("F118", "I", "volume of the tetrahedra to the hull's free space", _N, "not known", _free_share, Spread()),
    Fact("F119", "C", "references whose spheres meet", _N, "all", _items, Tally()),
    Fact("F120", "A", "what decides the order of the six pairs", _N, "not known", _pair_reason, Same()),
)
