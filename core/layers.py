"""How many layers of rock a point lies in: the winding number of all triangles together. Format notes, section 3."""

from __future__ import annotations

import numpy as np

from .geometry import corners

PAIRS_AT_ONCE = 1 << 20


def layers(points: np.ndarray, vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """The winding number at points (n, 3) of triangles (m, 3), int64 (n,): inside a rock 1, inside a wall that faces
    inward -1. Points on a surface get the nearest whole number of what float64 computes."""
    shape = corners(vertices, triangles).astype(np.float64)
    points = np.asarray(points, np.float64)
    result = np.zeros(len(points))
    at_once = max(PAIRS_AT_ONCE // max(len(shape), 1), 1)
    for start in range(0, len(points), at_once):
        result[start : start + at_once] = _solid_angles(points[start : start + at_once], shape).sum(axis=1)
    return np.rint(result / (4 * np.pi)).astype(np.int64)


def is_free(points: np.ndarray, vertices: np.ndarray, triangles: np.ndarray, outside_solid: bool) -> np.ndarray:
    """Which points (n, 3) lie in free space, bool (n,), where byte 0x73 says what is outside of everything."""
    return layers(points, vertices, triangles) + bool(outside_solid) < 1


def _solid_angles(points: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """The signed solid angles of triangles (m, 3, 3) at points (n, 3), float64 (n, m): the formula of van Oosterom and
    Strackee."""
    a, b, c = (shape[None, :, corner] - points[:, None] for corner in range(3))
    lengths = [np.sqrt(np.einsum("nmi,nmi->nm", one, one)) for one in (a, b, c)]
    ab, bc, ca = (np.einsum("nmi,nmi->nm", one, two) for one, two in ((a, b), (b, c), (c, a)))
    triple = np.einsum("nmi,nmi->nm", a, np.cross(b, c))
    below = lengths[0] * lengths[1] * lengths[2] + ab * lengths[2] + bc * lengths[0] + ca * lengths[1]
    return 2 * np.arctan2(triple, below)
