"""What an edit changed: in words in the sidebar, in colours in the overlay. Step by step through a check's result."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import bmesh
import bpy
import numpy as np
import pytest

from tests.blender.helpers import (
    DATA,
    MANY_ASTEROIDS,
    TWO_ASTEROIDS,
    edit_faces,
    export,
    import_hull,
    move,
    new_object,
    source,
    surfaces,
    tetrahedron,
)


@pytest.fixture
def overlay(addon: ModuleType) -> Iterator[ModuleType]:
    package = importlib.import_module(f"{addon.__name__}.blender_addon.overlay")
    yield package
    bpy.context.window_manager.sylpheed_grid.changes = False
    package.switch.turn_off()


@pytest.fixture
def changes(addon: ModuleType) -> ModuleType:
    return addon.blender_addon.checks.changes


def found(overlay: ModuleType):
    now = overlay.state.current()
    return overlay.state._changes(now)


def texts(overlay: ModuleType) -> list[str]:
    return [row.text for row in overlay.state.legend_rows(bpy.context, overlay.state.current())]


def test_moved_new_and_removed_have_colours_and_rows(overlay) -> None:
    root = import_hull(MANY_ASTEROIDS)
    parts = surfaces(root)
    count = len(parts["asteroid_02"].data.polygons)
    gone = len(parts["asteroid_01"].data.polygons)
    move(parts["asteroid_02"], x=40)
    bpy.data.objects.remove(parts["asteroid_01"])
    bpy.context.view_layer.update()
    assert bpy.ops.sylpheed.show_changes() == {"FINISHED"}
    now = found(overlay)
    assert (len(now.moved), len(now.ghost), len(now.new), len(now.removed)) == (count, count, 0, gone)
    assert np.allclose(now.moved - now.ghost, (40, 0, 0), atol=0.1)
    layers = overlay.state.layers_of(bpy.context, overlay.state.current(), "changes")
    assert {layer.color[:3] for layer in layers} == {
        getattr(overlay.change_layers, name)[:3] for name in ("MOVED", "GHOST", "REMOVED")
    }
    assert {"Moved triangles", "Triangles cut away", "Where moved triangles were"} <= {*texts(overlay)}
    assert "New triangles" not in texts(overlay)
    bpy.ops.sylpheed.show_changes()
    assert not bpy.context.window_manager.sylpheed_grid.changes


def test_new_triangles_are_shown(overlay) -> None:
    root = import_hull(TWO_ASTEROIDS)
    new_object(root, "mine", *tetrahedron((0, 0, 0)))
    bpy.context.view_layer.update()
    bpy.ops.sylpheed.show_changes()
    assert len(found(overlay).new) == 4 and "New triangles" in texts(overlay)


def test_an_unedited_hull_says_so_and_draws_nothing(overlay) -> None:
    import_hull(TWO_ASTEROIDS)
    bpy.ops.sylpheed.show_changes()
    assert overlay.state.layers_of(bpy.context, overlay.state.current(), "changes") == []
    assert "Nothing differs from the source" in texts(overlay)


def test_an_edit_that_is_refused_shows_its_changes_too(overlay) -> None:
    rock = surfaces(import_hull(TWO_ASTEROIDS))["asteroid_01"]
    edit_faces(rock.data, lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[0]], context="FACES"))
    bpy.ops.sylpheed.show_changes()
    assert overlay.state.current().refusal
    assert len(found(overlay).removed) == 1 and not len(found(overlay).moved)


def test_the_list_says_in_words_what_changed(changes, tmp_path: Path) -> None:
    root = import_hull(MANY_ASTEROIDS)
    assert bpy.ops.sylpheed.list_changes() == {"FINISHED"}
    assert changes.of(root).lines == ()
    assert export(tmp_path) == source(MANY_ASTEROIDS)
    move(surfaces(root)["asteroid_02"], x=40)
    bpy.context.view_layer.update()
    assert changes.of(root).snapshot.differs(bpy.context, root)
    assert bpy.ops.sylpheed.list_changes() == {"FINISHED"}
    first = changes.of(root).lines[0]
    assert first.startswith("surface asteroid_02:") and "moved by (40, 0, 0)" in first


def test_a_set_has_a_list_too(changes) -> None:
    path = next(DATA.rglob("CollisionSet*.bin"))
    bpy.ops.import_scene.sylpheed_set(filepath=str(path))
    root = next(obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "set")
    bpy.ops.sylpheed.list_changes(root=root.name)
    assert changes.of(root).lines == ()
    part = next(obj for obj in bpy.data.objects if obj.type == "MESH")
    part.data.vertices[0].co.x += 9
    part.data.update()
    bpy.ops.sylpheed.list_changes(root=root.name)
    assert any(part.name in line for line in changes.of(root).lines)


def selected_edges() -> list[tuple[str, int]]:
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    return [(obj.name, edge.index) for obj in bpy.context.selected_objects for edge in obj.data.edges if edge.select]


def test_each_occurrence_is_selected_alone_and_around(addon) -> None:
    parts = surfaces(import_hull(TWO_ASTEROIDS))

    def two_holes(bm: bmesh.types.BMesh) -> None:
        bm.faces.ensure_lookup_table()
        first = bm.faces[0]
        around = {face for vertex in first.verts for face in vertex.link_faces}
        other = next(face for face in bm.faces if not {f for v in face.verts for f in v.link_faces} & around)
        bmesh.ops.delete(bm, geom=[first, other], context="FACES_ONLY")

    edit_faces(parts["asteroid_01"].data, two_holes)
    edit_faces(parts["asteroid_02"].data, lambda bm: bmesh.ops.delete(bm, geom=[bm.faces[0]], context="FACES_ONLY"))

    def step(by: int) -> tuple:
        assert bpy.ops.sylpheed.select_problem(check="open edges", step=by) == {"FINISHED"}
        return tuple(selected_edges())

    forward = [step(1) for _ in range(4)]
    assert [len(edges) for edges in forward] == [3, 3, 3, 3]
    assert len(set(forward[:3])) == 3 and forward[3] == forward[0]
    assert step(-1) == forward[2] and step(-1) == forward[1]
    assert len(step(0)) == 9
    assert step(1) == forward[0]
