"""The navigation volume in Blender: as an object of edges, in a check, patched, rebuilt, and kept with the root."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import bpy
import numpy as np
import pytest

from core.formats import mcol, regn, regn_contents
from core.formats.regn_pairs import PAIRS
from core.navigation.build import build
from core.navigation.patch import patch
from tests.blender.helpers import DATA, ONE_ASTEROID, import_hull, move, source, surfaces

OLD, BLOCKED = "navigation out of date", "links through rock"


@pytest.fixture(scope="module")
def volume() -> bytes:
    hull = mcol.decode(source(ONE_ASTEROID))
    return regn_contents.encode(build(hull, most_inner=200), hull.grid)


@pytest.fixture
def root(tmp_path: Path, volume: bytes, addon: ModuleType) -> Iterator[bpy.types.Object]:
    """A hull that was imported from a folder with its volume."""
    (tmp_path / "in").mkdir()
    shutil.copy(DATA / ONE_ASTEROID, tmp_path / "in" / "map.col")
    (tmp_path / "in" / "map.rgn").write_bytes(volume)
    yield import_hull(tmp_path / "in" / "map.col")
    importlib.import_module(f"{addon.__name__}.blender_addon.overlay.switch").turn_off()


def shown(root: bpy.types.Object) -> bpy.types.Object | None:
    return next((obj for obj in root.children if obj.name.startswith("navigation")), None)


def saved(folder: Path) -> tuple[bytes, bytes]:
    assert bpy.ops.export_scene.sylpheed_col(filepath=str(folder / "out.col")) == {"FINISHED"}
    return (folder / "out.col").read_bytes(), (folder / "out.rgn").read_bytes()


def rows(addon: ModuleType, root: bpy.types.Object) -> dict[str, object]:
    results = importlib.import_module(f"{addon.__name__}.blender_addon.checks.results")
    return {problem.check.value: problem for problem in results.run(bpy.context, root).problems}


def into_the_way(root: bpy.types.Object) -> bpy.types.Object:
    rock = surfaces(root)["asteroid_01"]
    move(rock, x=9_000)
    bpy.context.view_layer.update()
    return rock


def test_it_is_one_object_of_edges_that_no_export_reads(root, volume, tmp_path) -> None:
    assert shown(root) is None
    assert bpy.ops.sylpheed.show_navigation() == {"FINISHED"}
    obj = shown(root)
    assert len(obj.data.polygons) == 0 and len(obj.data.edges) > 100
    layer = bpy.context.view_layer.layer_collection
    assert obj.name not in bpy.context.view_layer.objects and obj.users_collection[0].name.endswith("navigation")
    assert layer.children[root.users_collection[0].name].children[obj.users_collection[0].name].exclude
    assert saved(tmp_path) == (source(ONE_ASTEROID), volume)
    assert bpy.ops.sylpheed.show_navigation() == {"FINISHED"} and shown(root) is None
    assert not any(collection.name.endswith("navigation") for collection in bpy.data.collections)


def test_edges_are_the_pairs_of_faces_with_their_lowest_clearance(root, volume) -> None:
    bpy.ops.sylpheed.show_navigation()
    mesh, graph = shown(root).data, regn_contents.decode(regn.decode(volume))
    lowest: dict[tuple[int, int], float] = {}
    clearances, border = graph.pair_clearances(), (graph.faces["tetrahedra"] == 0xFFFF).any(axis=1)
    for faces, row in zip(graph.tetrahedra["faces"].astype(int), clearances, strict=True):
        for (a, b), value in zip(PAIRS, row, strict=True):
            if border[faces[a]] or border[faces[b]]:
                continue
            key = tuple(sorted((int(faces[a]), int(faces[b]))))
            lowest[key] = min(lowest.get(key, np.inf), value)
    stored = {
        tuple(sorted(edge.vertices)): value.value
        for edge, value in zip(mesh.edges, mesh.attributes["clearance"].data, strict=True)
    }
    assert stored.keys() == lowest.keys()
    assert all(np.isclose(stored[key], lowest[key], rtol=1e-6) for key in stored)
    assert np.allclose([vertex.co for vertex in mesh.vertices], graph.faces["centre"])


def test_an_unedited_hull_has_no_row(addon, root) -> None:
    assert not {OLD, BLOCKED} & rows(addon, root).keys()


def test_an_edit_makes_the_volume_old_and_the_fix_patches_it(addon, root, volume, tmp_path) -> None:
    rock = into_the_way(root)
    found = rows(addon, root)
    assert found[OLD].severity.value == "info" and list(found[OLD].elements) == [rock.session_uid]
    assert found[BLOCKED].severity.value == "warning" and found[BLOCKED].count > 0
    assert bpy.ops.sylpheed.fix_navigation() == {"FINISHED"}
    assert not {OLD, BLOCKED} & rows(addon, root).keys()
    hull, written = saved(tmp_path)
    old = mcol.decode(source(ONE_ASTEROID))
    assert written == patch(regn.decode(volume), old, mcol.decode(hull)).data != volume
    move(rock, x=9_500)
    assert OLD in rows(addon, root)
    rock.location.x -= 9_500
    assert not {OLD, BLOCKED} & rows(addon, root).keys()


def test_links_through_rock_are_selected_in_the_object_that_shows_them(addon, root) -> None:
    bpy.ops.sylpheed.show_navigation()
    obj = shown(root)
    into_the_way(root)
    row = rows(addon, root)[BLOCKED]
    assert (
        row.kind == "EDGE"
        and list(row.elements) == [obj.session_uid]
        and len(row.elements[obj.session_uid]) == row.count
    )
    places = np.array([vertex.co for vertex in obj.data.vertices])
    rock = surfaces(root)["asteroid_01"]
    middle = np.array(rock.location)
    size = max(rock.dimensions) / root.scale[0]
    for number in row.elements[obj.session_uid]:
        ends = places[list(obj.data.edges[number].vertices)]
        along = np.clip(
            np.dot(middle - ends[0], ends[1] - ends[0]) / max(np.dot(ends[1] - ends[0], ends[1] - ends[0]), 1e-9), 0, 1
        )
        assert np.linalg.norm(ends[0] + along * (ends[1] - ends[0]) - middle) < size


def test_a_rebuilt_volume_is_kept_for_the_hull_that_it_was_made_for(addon, root, tmp_path) -> None:
    rock = into_the_way(root)
    assert bpy.ops.sylpheed.rebuild_navigation() == {"FINISHED"}
    hull, written = saved(tmp_path)
    model = mcol.decode(hull)
    assert written == regn_contents.encode(build(model), model.grid)
    assert not {OLD, BLOCKED} & rows(addon, root).keys()
    rock.location.x += 100
    assert saved(tmp_path)[1] != written


def test_a_rebuild_that_is_canceled_stops(addon) -> None:
    navigation = importlib.import_module(f"{addon.__name__}.blender_addon.scene.navigation")
    errors = importlib.import_module(f"{addon.__name__}.core.errors")
    parts: list[float] = []

    def stop(part: float) -> None:
        parts.append(part)
        if part > 0.2:
            raise errors.RefusedError("it was canceled")

    inner = importlib.import_module(f"{addon.__name__}.core.formats.mcol")
    with pytest.raises(errors.RefusedError, match="canceled"):
        navigation.rebuild_for(inner.decode(source(ONE_ASTEROID)), stop)
    assert 0.2 < parts[-1] < 0.5


def test_a_hull_that_is_exported_over_its_own_file_gets_a_patched_volume_each_time(root, volume, tmp_path) -> None:
    folder, old = tmp_path / "in", mcol.decode(source(ONE_ASTEROID))
    rock = surfaces(root)["asteroid_01"]
    for x in (2_000, 9_000, 0):
        move(rock, x=x)
        assert bpy.ops.export_scene.sylpheed_col(filepath=str(folder / "map.col")) == {"FINISHED"}
        hull = mcol.decode((folder / "map.col").read_bytes())
        assert (folder / "map.rgn").read_bytes() == patch(regn.decode(volume), old, hull).data
    assert (folder / "map.rgn").read_bytes() == volume


def test_fix_all_patches_the_navigation_last(addon, root, tmp_path) -> None:
    into_the_way(root)
    assert BLOCKED in rows(addon, root)
    assert bpy.ops.sylpheed.fix_all() == {"FINISHED"}
    assert not {OLD, BLOCKED} & rows(addon, root).keys()


def test_it_is_no_part_of_the_hull_whatever_is_done_to_all_objects(addon, root, volume, tmp_path) -> None:
    def facts() -> tuple[object, ...]:
        results = importlib.import_module(f"{addon.__name__}.blender_addon.checks.results")
        checked = results.run(bpy.context, root)
        return checked.facts, [(problem.check, problem.message, problem.count) for problem in checked.problems]

    before = facts()
    bpy.ops.sylpheed.show_navigation()
    obj = shown(root)
    links = [tuple(edge.vertices) for edge in obj.data.edges]
    layer = bpy.context.view_layer.layer_collection.children[root.users_collection[0].name]
    layer.children[obj.users_collection[0].name].exclude = False
    bpy.ops.object.select_all(action="SELECT")
    assert obj.select_get() and facts() == before
    assert bpy.ops.sylpheed.fix_all() == {"CANCELLED"}
    rock = into_the_way(root)
    place = tuple(obj.location)
    assert bpy.ops.sylpheed.revert(whole=True) == {"FINISHED"}
    assert shown(root) == obj and tuple(obj.location) == place
    assert [tuple(edge.vertices) for edge in obj.data.edges] == links
    assert facts() == before and saved(tmp_path) == (source(ONE_ASTEROID), volume)
    obj.parent = None  # nothing is missing from the hull then
    bpy.context.scene.collection.objects.link(obj)
    assert facts() == before and saved(tmp_path) == (source(ONE_ASTEROID), volume)
    assert rock.parent == root
