"""The search through a `.rgn` once more, from its bytes: struct and dictionaries, nothing of core.

docs/FORMATS.md, sections 5 and 9.
"""

from __future__ import annotations

import math
import struct
from itertools import combinations

PAIRS = list(combinations(range(4), 2))


def read_navigation(data):
    """Counts, vertices, tetrahedra, faces and the cell table, as dictionaries and lists."""

    def at(offset, form):
        return struct.unpack_from(">" + form, data, offset)

    nv, nt, nf = at(0x60, "3H")
    places = [0x10 + pointer for pointer in at(0x70, "6I")]
    vertices = [at(places[0] + 12 * n, "3f") for n in range(nv)]
    tetrahedra = []
    for n in range(nt):
        start = places[1] + 96 * n
        pairs = [at(start + 0x20 + 8 * k, "2f") for k in range(6)]
        tetrahedra.append(
            {
                "sphere": at(start, "4f"),
                "faces": at(start + 0x18, "4H"),
                "pairs": pairs,
                "number": at(start + 0x50, "I")[0],
                "sides": at(start + 0x54, "4B"),
            }
        )
    faces = []
    for n in range(nf):
        start = places[2] + 48 * n
        faces.append(
            {
                "plane": at(start, "4f"),
                "centre": at(start + 0x10, "3f"),
                "vertices": at(start + 0x20, "3H"),
                "number": at(start + 0x26, "H")[0],
                "tetrahedra": at(start + 0x28, "2H"),
            }
        )
    nx, ny, nz = at(0x50, "3I")
    cells = []
    for n in range(nx * ny * nz):
        count, pointer = at(places[3] + 8 * n, "2I")
        items = []
        for k in range(count):
            start = 0x10 + pointer + 32 * k
            size, references = at(start + 0x10, "2I")
            targets = [at(0x10 + references + 4 * j, "I")[0] + 0x10 for j in range(size)]
            items.append((at(start, "4f"), [divmod(target - places[1], 96) for target in targets]))
        cells.append(items)
    assert all(rest == 0 and number < nt for items in cells for _, found in items for number, rest in found)
    cells = [[(sphere, [number for number, _ in found]) for sphere, found in items] for items in cells]
    box = at(0x10, "3f"), at(0x40, "3f"), (nx, ny, nz)
    return {"vertices": vertices, "tetrahedra": tetrahedra, "faces": faces, "cells": cells, "box": box}


def locate(volume, point):
    """The first tetrahedron of the point's cell that holds it, or None."""
    low, size, dims = volume["box"]
    place = [math.trunc((point[k] - low[k]) / size[k]) for k in range(3)]
    if any(not 0 <= place[k] < dims[k] for k in range(3)):
        return None
    for sphere, numbers in volume["cells"][(place[2] * dims[1] + place[1]) * dims[0] + place[0]]:
        if math.dist(point, sphere[:3]) > sphere[3]:
            continue
        for number in numbers:
            one = volume["tetrahedra"][number]
            if math.dist(point, one["sphere"][:3]) > one["sphere"][3]:
                continue
            heights = []
            for face in one["faces"]:
                x, y, z, d = volume["faces"][face]["plane"]
                heights.append(x * point[0] + y * point[1] + z * point[2] + d)
            if all(height >= 0 if side else height <= 0 for height, side in zip(heights, one["sides"], strict=True)):
                return number
    return None


def cheapest(volume, start, goal, radius):
    """What the cheapest way from face to face costs, by relaxing every step until nothing changes; infinite without."""
    first, last = locate(volume, start), locate(volume, goal)
    if first is None or last is None:
        return math.inf
    centre = [face["centre"] for face in volume["faces"]]
    cost = dict.fromkeys(range(len(centre)), math.inf)
    for face in volume["tetrahedra"][first]["faces"]:
        cost[face] = math.dist(start, centre[face])
    waiting = set(volume["tetrahedra"][first]["faces"])
    while waiting:
        face = waiting.pop()
        for number in volume["faces"][face]["tetrahedra"]:
            if number == 0xFFFF:
                continue
            one = volume["tetrahedra"][number]
            for (a, b), (price, clearance) in zip(PAIRS, one["pairs"], strict=True):
                ends = one["faces"][a], one["faces"][b]
                if face not in ends or radius > clearance:
                    continue
                other = ends[0] if ends[1] == face else ends[1]
                total = cost[face] + math.dist(centre[face], centre[other]) + price
                if total < cost[other] * (1 - 1e-12):
                    cost[other] = total
                    waiting.add(other)
    return min(cost[face] + math.dist(goal, centre[face]) for face in volume["tetrahedra"][last]["faces"])
