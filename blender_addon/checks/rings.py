"""The holes of a mesh: closed ways along its open edges.

Where holes touch, several fans of faces meet at a vertex. A hole lies between the end of one fan and the beginning of
the next, so its way leads from fan to fan, never along both edges of one of several fans.
"""

from __future__ import annotations

import math

import bmesh
import numpy as np
from mathutils import Vector

Ring = list[bmesh.types.BMVert]
Loop = bmesh.types.BMLoop


def find_rings(edges: list[bmesh.types.BMEdge]) -> list[Ring]:
    """The closed ways along open edges, none through a vertex twice, against the way in which the faces there run."""
    loops = [edge.link_loops[0] for edge in edges if len(edge.link_loops) == 1]
    arriving: dict[bmesh.types.BMVert, list[Loop]] = {}
    for loop in loops:
        arriving.setdefault(loop.vert, []).append(loop)
    following: dict[Loop, Loop] = {}
    for vertex, starts in arriving.items():
        following |= _turns(vertex, starts)
    rings, waiting = [], dict.fromkeys(loops)
    while waiting:
        at: Loop | None = next(iter(waiting))
        path: Ring = []
        while at is not None and at in waiting:
            del waiting[at]
            if at.vert in path:
                first = path.index(at.vert)
                rings.append(path[first:])
                del path[first + 1 :]
            else:
                path.append(at.vert)
            at = following.get(at)
        if at is not None and path and at.vert == path[0]:
            rings.append(path)
    return rings


def _turns(vertex: bmesh.types.BMVert, starts: list[Loop]) -> dict[Loop, Loop]:
    """By which open edge a way leaves a vertex, for each by which it arrives. Of an edge, its loop."""
    fans = [(start, end) for start in starts if (end := _end_of_fan(start)) is not None]
    if len(fans) < 2:
        return dict(fans)
    normal = sum((start.face.normal for start, _ in fans), Vector())
    across = normal.orthogonal().normalized() if normal.length else Vector((1.0, 0.0, 0.0))
    along = normal.normalized().cross(across) if normal.length else Vector((0.0, 1.0, 0.0))

    def angle(fan: tuple[Loop, Loop]) -> float:
        middle = fan[0].link_loop_next.vert.co + fan[1].vert.co - 2 * vertex.co
        return math.atan2(middle.dot(along), middle.dot(across))

    fans.sort(key=angle)  # counterclockwise, as the faces of each run
    return {start: fans[number - 1][1] for number, (start, _) in enumerate(fans)}


def _end_of_fan(start: Loop) -> Loop | None:
    """The loop whose open edge ends the fan of faces that begins with an open edge at a vertex, None if the faces there
    don't agree."""
    loop, seen = start, set()
    while loop not in seen:
        seen.add(loop)
        before = loop.link_loop_prev
        if len(before.edge.link_loops) == 1:
            return before
        other = before.link_loop_radial_next
        if len(before.edge.link_loops) != 2 or other.vert != start.vert:
            return None
        loop = other
    return None


def joined(ring: list[bmesh.types.BMVert]) -> np.ndarray:
    """Which vertices of a ring an edge with faces joins already, bool (n, n)."""
    places = {vertex: place for place, vertex in enumerate(ring)}
    result = np.zeros((len(ring), len(ring)), bool)
    for vertex, place in places.items():
        others = (edge.other_vert(vertex) for edge in vertex.link_edges if edge.link_faces)
        result[place, [places[other] for other in others if other in places]] = True
    return result
