"""Fixing faces without area: their corners are merged, or their longest edge is flipped."""

from __future__ import annotations

import bmesh
import numpy as np

from ...core.geometry.triangles import FLATTEST, flat
from ..scene import mesh_arrays
from .broken import Broken, Corners, Triangles, claim, cut, exported


def fix_zero_area(broken: Broken) -> None:
    """Merges corners that lie in one place, and flips the longest edge of other faces without area."""
    faces = broken.pick(broken.mesh.faces)
    waiting = [face for face in faces if len(face.verts) == 3]
    for face in faces:
        if len(face.verts) > 3:
            waiting += cut(broken, face, _turn_within(broken, exported(broken, face)))
    progress = True
    while progress:  # a face may become fixable when its neighbor is
        progress = False
        for face in waiting:
            if face.is_valid and _flat(broken, [tuple(face.verts)])[0]:
                progress |= _merge_corners(broken, face) or _turn_longest(broken, face)


def _flat(broken: Broken, triangles: Triangles) -> list[bool]:
    numbers = [[broken.vertices[vertex] for vertex in corners] for corners in triangles]
    return [bool(answer) for answer in flat(broken.shape.vertices, np.array(numbers, np.int64).reshape(-1, 3))]


def _turn_within(broken: Broken, triangles: Triangles) -> Triangles:
    """The triangles of one face with edges between them turned, so that as few as possible have no area."""
    turned = True
    while turned:
        turned = False
        for one, is_flat in zip(triangles, _flat(broken, triangles), strict=True):
            if not is_flat:
                continue
            a, b, c = _longest_last(broken, one)
            for other in triangles:
                if other is not one and {b, c} < set(other):
                    (d,) = set(other) - {b, c}
                    new: Triangles = [(a, b, d), (a, d, c)]
                    turned = sum(_flat(broken, new)) < sum(_flat(broken, [one, other]))
                    if turned:
                        triangles = [kept for kept in triangles if kept not in (one, other)] + new
                    break
            if turned:
                break
    return triangles


def _turn_longest(broken: Broken, face: bmesh.types.BMFace) -> bool:
    """Turns a face's longest edge toward the corner opposite, where that leaves fewer faces without area."""
    a, b, c = _longest_last(broken, tuple(face.verts))
    edge = broken.mesh.edges.get((b, c))
    if len(edge.link_faces) == 2 and any(len(other.verts) > 3 for other in edge.link_faces):
        (large,) = (other for other in edge.link_faces if other != face)
        cut(broken, large, exported(broken, large))
    if len(edge.link_faces) != 2 or not edge.is_contiguous:
        return False
    (other,) = (other for other in edge.link_faces if other != face)
    if len(other.verts) > 3:
        return False
    (d,) = set(other.verts) - {b, c}
    if d == a or broken.mesh.edges.get((a, d)):
        return False
    if sum(_flat(broken, [(a, b, d), (a, d, c)])) >= sum(_flat(broken, [(a, b, c), (b, c, d)])):
        return False
    turned = bmesh.utils.edge_rotate(edge)
    if turned is None:
        return False
    claim(broken, turned.link_faces)
    return True


def _merge_corners(broken: Broken, face: bmesh.types.BMFace) -> bool:
    """Merges the ends of a face's shortest edge if they lie in one place and nothing folds up around them."""
    places = broken.shape.vertices.astype(np.float64)

    def length(edge: bmesh.types.BMEdge) -> float:
        return float(np.linalg.norm(places[broken.vertices[edge.verts[0]]] - places[broken.vertices[edge.verts[1]]]))

    edge = min(face.edges, key=length)
    if length(edge) > 4 * FLATTEST * float(np.abs(places).max()):
        return False
    near, far = ({edge.other_vert(vertex) for edge in vertex.link_edges} for vertex in edge.verts)
    if near & far - {vertex for other in edge.link_faces for vertex in other.verts}:
        return False
    layer = broken.mesh.verts.layers.int.get(mesh_arrays.VERTEX_ATTRIBUTE)
    kept, gone = sorted(edge.verts, key=lambda vertex: (layer is None or vertex[layer] == 0, broken.vertices[vertex]))
    bmesh.ops.weld_verts(broken.mesh, targetmap={gone: kept})
    claim(broken, kept.link_faces)
    return True


def _longest_last(broken: Broken, corners: Corners) -> Corners:
    """The corners of a triangle, turned so that its longest side is that from the second to the third."""
    places = broken.shape.vertices[[broken.vertices[vertex] for vertex in corners]].astype(np.float64)
    first = int(np.linalg.norm(np.roll(places, -1, axis=0) - np.roll(places, 1, axis=0), axis=1).argmax())
    return corners[first:] + corners[:first]
