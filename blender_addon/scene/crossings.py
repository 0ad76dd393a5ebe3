"""Where a hull's triangles pass through each other, found with Blender's own bounding volume tree."""

from __future__ import annotations

import numpy as np
from mathutils.bvhtree import BVHTree

from ...core.editing.compare import Comparison
from ...core.editing.fault import Fault, owners
from ...core.errors import Severity
from ...core.geometry import surfaces
from ...core.geometry.triangles import corners
from ...core.rules.rule import Rule
from ...core.text import titled

NUDGE = np.array([0.47, -0.62, 0.63])
"""What only touches comes apart when one of the two is nudged along this or against it. No made shape has a face
or an edge that lies in just this direction."""

PART = 1e-6
"""How far to nudge, as a part of the largest coordinate: a few steps of float32."""


def intersection_faults(comparison: Comparison, only_new: bool = False) -> list[Fault]:
    """Surfaces that pass through themselves or through each other. Triangles that share a vertex and such that only
    touch don't count. INFO where the source has them so; `only_new` doesn't look for those."""
    edit, old = comparison.edit, comparison.unchanged
    pairs = crossing_pairs(edit.vertices, edit.triangles, np.flatnonzero(~old) if only_new else None)
    if not len(pairs):
        return []
    surface = surfaces.split(edit.triangles)
    inherited = old[pairs].all(axis=1)
    itself = surface[pairs[:, 0]] == surface[pairs[:, 1]]
    faults = []
    for rule, chosen in (
        (Rule.SELF_INTERSECTIONS, itself),
        (Rule.INTERSECTING_SURFACES, ~itself),
    ):
        for severity, which in ((Severity.WARNING, chosen & ~inherited), (Severity.INFO, chosen & inherited)):
            triangles = np.unique(pairs[which])
            if len(triangles):
                mask = np.isin(np.arange(len(edit.triangles)), triangles)
                kept = ", as in the source file" if severity is Severity.INFO else ""
                problem = f"{titled(rule, len(triangles))} in {owners(edit, mask)}{kept}"
                faults.append(Fault(severity, rule, problem, "triangles", triangles))
    return faults


def crossing_pairs(vertices: np.ndarray, triangles: np.ndarray, some: np.ndarray | None = None) -> np.ndarray:
    """Pairs of triangles that pass through each other, int64 (p, 2), the lower first; those alone that have one
    of `some`, int64 numbers."""
    if some is not None and not len(some):
        return np.zeros((0, 2), np.int64)
    vertices = np.nan_to_num(vertices, posinf=0, neginf=0)  # those that no triangle uses needn't be numbers
    reach = PART * float(np.abs(vertices).max(initial=0))
    tree = _tree(vertices, triangles, 2 * reach)
    if some is None:
        pairs = np.array(tree.overlap(tree), np.int64).reshape(-1, 2)
    else:
        pairs = np.array(_tree(vertices, triangles[some], 2 * reach).overlap(tree), np.int64).reshape(-1, 2)
        pairs[:, 0] = some[pairs[:, 0]]
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    shared = (triangles[pairs[:, 0]][:, :, None] == triangles[pairs[:, 1]][:, None, :]).any(axis=(1, 2))
    pairs = pairs[~shared]
    one, other = corners(vertices, triangles[pairs[:, 0]]), corners(vertices, triangles[pairs[:, 1]])
    nudged = [_cross(one + side * reach * NUDGE, other) for side in (1, -1)]
    # The nudge may lead over the border between two triangles, so it is the surfaces that must cross both ways.
    surface = np.sort(surfaces.split(triangles)[pairs], axis=1)
    meeting = np.unique(surface, axis=0, return_inverse=True)[1].reshape(-1)
    both = np.isin(meeting, meeting[nudged[0]]) & np.isin(meeting, meeting[nudged[1]])
    return pairs[both & (nudged[0] | nudged[1])]


def _tree(vertices: np.ndarray, triangles: np.ndarray, epsilon: float) -> BVHTree:
    return BVHTree.FromPolygons(vertices.tolist(), triangles.tolist(), all_triangles=True, epsilon=epsilon)


def _cross(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Whether a side of one triangle passes through the inside of the other, for triangles (n, 3, 3), bool (n,)."""
    found = np.zeros(len(one), bool)
    for pierced, piercing in ((one, other), (other, one)):
        for side in range(3):
            found |= _pierces(piercing[:, side], piercing[:, (side + 1) % 3], pierced)
    return found


def _pierces(start: np.ndarray, end: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    first, second, third = np.moveaxis(triangle, 1, 0)
    normal = np.cross(second - first, third - first)
    before, after = (np.einsum("ni,ni->n", normal, point - first) for point in (start, end))
    through = before * after < 0
    rows = np.flatnonzero(through)
    part = (before[rows] / (before[rows] - after[rows]))[:, None]
    point = start[rows] + part * (end[rows] - start[rows])
    for a, b in ((first, second), (second, third), (third, first)):
        inside = np.cross((b - a)[rows], point - a[rows])
        through[rows] &= np.einsum("ni,ni->n", normal[rows], inside) > 0
    return through
