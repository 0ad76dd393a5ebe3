"""Holes of every kind are filled: no open edge stays, and what was deleted comes back where it is the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import bmesh
import bpy
import numpy as np
import pytest

from tests.blender.helpers import (
    MANY_ASTEROIDS,
    ONE_ASTEROID,
    TWO_ASTEROIDS,
    edit_faces,
    export,
    import_hull,
    judged,
    select,
    source,
    surfaces,
)
from tests.support.tally import cases


def neighbours(bm: bmesh.types.BMesh, random: np.random.Generator) -> set:
    """The three faces around one."""
    face = bm.faces[int(random.integers(len(bm.faces)))]
    return {other for edge in face.edges for other in edge.link_faces if other != face}


def around_two(bm: bmesh.types.BMesh, random: np.random.Generator) -> set:
    """The four faces around two."""
    edge = bm.edges[int(random.integers(len(bm.edges)))]
    kept = set(edge.link_faces)
    return {other for face in kept for side in face.edges for other in side.link_faces} - kept


def at_one_vertex(bm: bmesh.types.BMesh, random: np.random.Generator) -> set:
    """Every second face around a vertex."""
    vertex = max(bm.verts, key=lambda vertex: (len(vertex.link_faces), random.random()))
    face, order = vertex.link_faces[0], []
    while face not in order:
        order.append(face)
        face = next(
            (other for edge in face.edges if vertex in edge.verts for other in edge.link_faces if other not in order),
            face,
        )
    return set(order[:-1:2])


def some(bm: bmesh.types.BMesh, random: np.random.Generator) -> set:
    """A few faces anywhere."""
    numbers = random.choice(len(bm.faces), size=int(random.integers(2, len(bm.faces) // 6)), replace=False)
    return {bm.faces[number] for number in numbers.tolist()}


def fan(bm: bmesh.types.BMesh, random: np.random.Generator) -> set:
    """All faces at a vertex but one."""
    vertex = bm.verts[int(random.integers(len(bm.verts)))]
    return set(list(vertex.link_faces)[1:])


WAYS = [neighbours, around_two, at_one_vertex, some, fan]


def is_closed(mesh: bpy.types.Mesh) -> bool:
    bm = bmesh.new()
    bm.from_mesh(mesh)
    closed = all(edge.is_contiguous for edge in bm.edges if edge.link_faces)
    bm.free()
    return closed


@pytest.mark.heavy
@pytest.mark.parametrize("choose", WAYS)
@pytest.mark.parametrize("name", [TWO_ASTEROIDS, MANY_ASTEROIDS])
@pytest.mark.parametrize("surfaces_as", ["SEPARATE", "JOINED"])
def test_random_holes_leave_no_open_edge(choose: Callable, name: str, surfaces_as: str, tmp_path: Path) -> None:
    root = import_hull(name, surfaces=surfaces_as)
    obj = surfaces(root)["hull" if surfaces_as == "JOINED" else "asteroid_01"]
    before = obj.data.copy()
    for seed in range(60):
        random = np.random.default_rng(seed)
        obj.data = before.copy()

        def change(bm: bmesh.types.BMesh, random: np.random.Generator = random) -> None:
            bmesh.ops.delete(bm, geom=list(choose(bm, random)), context="FACES_ONLY")

        edit_faces(obj.data, change)
        select(obj)
        with cases("holes filled"):
            assert bpy.ops.sylpheed.fix_holes() == {"FINISHED"}, seed
            assert is_closed(obj.data), seed
    judged(export(tmp_path), thorough=False)


def test_the_neighbours_of_every_face_come_back_byte_for_byte(tmp_path: Path) -> None:
    rock = surfaces(import_hull(ONE_ASTEROID))["asteroid_01"]
    before = rock.data.copy()
    for number in range(len(before.polygons)):
        rock.data = before.copy()

        def change(bm: bmesh.types.BMesh, number: int = number) -> None:
            face = bm.faces[number]
            gone = {other for edge in face.edges for other in edge.link_faces if other != face}
            bmesh.ops.delete(bm, geom=list(gone), context="FACES_ONLY")

        edit_faces(rock.data, change)
        select(rock)
        assert bpy.ops.sylpheed.fix_holes() == {"FINISHED"}
        assert export(tmp_path) == source(ONE_ASTEROID)


def test_many_holes_take_little_time() -> None:
    root = import_hull(ONE_ASTEROID)
    rock = surfaces(root)["asteroid_01"]

    def change(bm: bmesh.types.BMesh) -> None:
        bm.clear()
        bmesh.ops.create_icosphere(bm, subdivisions=6, radius=4000)
        left = set(bm.faces)
        gone = []
        for face in bm.faces:
            if face in left and len(gone) < 1_600:
                gone.append(face)
                left -= {other for vertex in face.verts for other in vertex.link_faces}
        assert len(gone) == 1_600
        bmesh.ops.delete(bm, geom=gone, context="FACES_ONLY")

    edit_faces(rock.data, change)
    select(rock)
    start = time.perf_counter()
    assert bpy.ops.sylpheed.fix_holes() == {"FINISHED"}
    taken = time.perf_counter() - start
    assert taken < 5, "a second on an idle machine; the time once grew with the square of the holes"
    assert is_closed(rock.data)
