"""Fix All: every fix in an order in which the later ones find what they need, and a hull that can be exported."""

from __future__ import annotations

from pathlib import Path

import bmesh
import bpy
import numpy as np
import pytest

from tests.blender.helpers import ONE_ASTEROID, TWO_ASTEROIDS, edit_faces, export, import_hull, judged, source, surfaces


def problems(addon) -> dict:
    (root,) = (obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "hull")
    return {problem.check: problem for problem in addon.blender_addon.checks.results.of(root).checked.problems}


def test_several_faults_are_fixed_at_once(addon, tmp_path: Path) -> None:
    parts = surfaces(import_hull(TWO_ASTEROIDS))

    def open_and_split(bm: bmesh.types.BMesh) -> None:
        bm.faces.ensure_lookup_table()
        bmesh.ops.split(bm, geom=[bm.faces[7]])
        bm.faces.ensure_lookup_table()
        bmesh.ops.delete(bm, geom=[bm.faces[0]], context="FACES")
        bm.verts.new((1, 2, 3))

    edit_faces(parts["asteroid_01"].data, open_and_split)
    edit_faces(parts["asteroid_02"].data, lambda bm: bmesh.ops.reverse_faces(bm, faces=bm.faces[:]))
    with pytest.raises(RuntimeError):
        bpy.ops.export_scene.sylpheed_col(filepath=str(tmp_path / "a.col"))
    assert bpy.ops.sylpheed.fix_all() == {"FINISHED"}
    assert not [problem for problem in problems(addon).values() if problem.severity.value != "info"]
    col = judged(export(tmp_path))
    assert len(col.triangles) == len(judged(source(TWO_ASTEROIDS)).triangles)
    assert np.array_equal(np.unique(col.vertices, axis=0), np.unique(judged(source(TWO_ASTEROIDS)).vertices, axis=0))


def test_a_hull_without_problems_stays_as_it_is(tmp_path: Path) -> None:
    import_hull(ONE_ASTEROID)
    assert bpy.ops.sylpheed.fix_all() == {"CANCELLED"}
    assert export(tmp_path) == source(ONE_ASTEROID)


def test_what_is_left_is_said(addon, capfd: pytest.CaptureFixture) -> None:
    rock = surfaces(import_hull(ONE_ASTEROID))["asteroid_01"]
    rock.location.x = 1e6
    capfd.readouterr()
    assert bpy.ops.sylpheed.fix_all() == {"CANCELLED"}
    assert "error" in capfd.readouterr().out


def test_one_undo_brings_every_fault_back(addon) -> None:
    rock = surfaces(import_hull(ONE_ASTEROID))["asteroid_01"]
    name = rock.name

    def several(bm: bmesh.types.BMesh) -> None:
        bm.faces.ensure_lookup_table()
        bmesh.ops.split(bm, geom=[bm.faces[7]])
        bm.faces.ensure_lookup_table()
        bmesh.ops.delete(bm, geom=[bm.faces[0]], context="FACES")
        bm.verts.new((1, 2, 3))

    edit_faces(rock.data, several)
    before = len(rock.data.vertices), len(rock.data.polygons)
    bpy.ops.ed.undo_push(message="edited")
    assert bpy.ops.sylpheed.fix_all("EXEC_DEFAULT", True) == {"FINISHED"}
    rock = bpy.data.objects[name]
    assert (len(rock.data.vertices), len(rock.data.polygons)) != before
    bpy.ops.ed.undo()
    rock = bpy.data.objects[name]
    assert (len(rock.data.vertices), len(rock.data.polygons)) == before
