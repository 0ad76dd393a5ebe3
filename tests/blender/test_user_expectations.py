"""What users expect of any add-on: files dropped, collections exported, scenes of any kind, undo, words that help."""

from __future__ import annotations

import importlib
import re
import shutil
from pathlib import Path
from types import ModuleType

import bpy
import numpy as np
import pytest

from tests.blender.helpers import (
    DATA,
    MANY_ASTEROIDS,
    ONE_ASTEROID,
    WALL_ONLY,
    coordinates,
    export,
    import_hull,
    move,
    origin_of,
    roots,
    select,
    source,
    surfaces,
)

SET = "CollisionSet_small.bin"
OPERATORS = [
    *("import_scene.sylpheed_col", "import_scene.sylpheed_set", "import_scene.sylpheed_stage"),
    *("export_scene.sylpheed_col", "export_scene.sylpheed_set", "export_scene.sylpheed_mod"),
    *("sylpheed.add_asteroid", "sylpheed.new_hull", "sylpheed.fit_grid", "sylpheed.shoot", "sylpheed.route"),
    *("sylpheed.show_grid", "sylpheed.refresh_grid"),
]


def properties(idname: str):
    group, name = idname.split(".")
    return getattr(getattr(bpy.ops, group), name).get_rna_type()


def views() -> list[bpy.types.SpaceView3D]:
    return [
        space
        for window in bpy.context.window_manager.windows
        for area in window.screen.areas
        for space in area.spaces
        if space.type == "VIEW_3D"
    ]


# --- drag and drop --------------------------------------------------------------------------------


def test_files_of_both_kinds_can_be_dropped() -> None:
    handlers = {bpy.types.IO_FH_sylpheed_col: "col", bpy.types.IO_FH_sylpheed_set: "bin"}
    for handler, ending in handlers.items():
        kind = {"col": "col", "bin": "set"}[ending]
        assert handler.bl_file_extensions == f".{ending}"
        assert handler.bl_import_operator == f"import_scene.sylpheed_{kind}"
        assert handler.bl_export_operator == f"export_scene.sylpheed_{kind}"
        assert properties(handler.bl_import_operator) and properties(handler.bl_export_operator)


@pytest.mark.parametrize(
    ("operator", "name", "says"),
    [
        ("sylpheed_set", "firmware.bin", "not a collision set"),
        ("sylpheed_set", "hull.bin", "not a collision set"),
        ("sylpheed_set", "empty.bin", "not a collision set"),
        ("sylpheed_col", "set.col", "not a map hull"),
        ("sylpheed_set", "missing.bin", "can't be read"),
    ],
)
def test_a_dropped_file_of_another_kind_is_refused_politely(
    operator: str, name: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "firmware.bin").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "empty.bin").write_bytes(b"")
    shutil.copy(DATA / ONE_ASTEROID, tmp_path / "hull.bin")
    shutil.copy(DATA / SET, tmp_path / "set.col")
    with pytest.raises(RuntimeError) as caught:
        getattr(bpy.ops.import_scene, operator)(
            "INVOKE_DEFAULT", filepath=str(tmp_path / name), directory=str(tmp_path), files=[{"name": name}]
        )
    assert says in str(caught.value) and name in str(caught.value) and "Traceback" not in str(caught.value)
    assert not bpy.data.objects


# --- collection exporters -------------------------------------------------------------------------


def exporter(collection: bpy.types.Collection, handler: str, path: Path) -> None:
    view_layer = bpy.context.view_layer
    view_layer.active_layer_collection = next(
        found for found in view_layer.layer_collection.children if found.collection == collection
    )
    assert bpy.ops.collection.exporter_add(name=handler) == {"FINISHED"}
    collection.exporters[-1].export_properties.filepath = str(path)


def test_each_collection_exports_its_own_hull(tmp_path: Path) -> None:
    for name in (ONE_ASTEROID, MANY_ASTEROIDS):
        root = import_hull(name)
        exporter(root.users_collection[0], "IO_FH_sylpheed_col", tmp_path / name)
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = roots()[0]
    assert bpy.ops.wm.collection_export_all() == {"FINISHED"}
    for name in (ONE_ASTEROID, MANY_ASTEROIDS):
        assert (tmp_path / name).read_bytes() == source(name)


def test_a_collection_exports_its_set(tmp_path: Path) -> None:
    bpy.ops.import_scene.sylpheed_set(filepath=str(DATA / SET))
    (root,) = (obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "set")
    exporter(root.users_collection[0], "IO_FH_sylpheed_set", tmp_path / SET)
    assert bpy.ops.collection.export_all() == {"FINISHED"}
    assert (tmp_path / SET).read_bytes() == source(SET)


@pytest.mark.parametrize("count", [0, 2])
def test_a_collection_without_one_hull_is_refused(count: int, tmp_path: Path) -> None:
    collection = bpy.data.collections.new("levels")
    bpy.context.scene.collection.children.link(collection)
    import_hull(ONE_ASTEROID)
    for root in [import_hull(MANY_ASTEROIDS) for _ in range(count)]:
        collection.objects.link(root)
    path = tmp_path / "a.col"
    with pytest.raises(RuntimeError, match=r'"levels" has .*, expected one hull'):
        bpy.ops.export_scene.sylpheed_col(filepath=str(path), collection="levels")
    assert not path.exists()


# --- scenes of any kind ---------------------------------------------------------------------------


def test_import_goes_on_beside_an_edit() -> None:
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    root = import_hull(ONE_ASTEROID)
    assert bpy.context.mode == "EDIT_MESH" and bpy.context.object == cube
    assert len(surfaces(root)) == 2
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(cube.data.polygons) == 6


def test_import_into_a_file_without_a_3d_view() -> None:
    areas = [area for window in bpy.context.window_manager.windows for area in window.screen.areas]
    changed = [area for area in areas if area.type == "VIEW_3D"]
    for area in changed:
        area.type = "TEXT_EDITOR"
    try:
        assert len(surfaces(import_hull(WALL_ONLY))) == 1
        assert bpy.ops.sylpheed.show_grid() == {"FINISHED"}
        assert bpy.ops.sylpheed.show_grid() == {"FINISHED"}
    finally:
        for area in changed:
            area.type = "VIEW_3D"


@pytest.mark.parametrize(("system", "length"), [("IMPERIAL", 0.3048), ("METRIC", 0.001), ("NONE", 1.0)])
def test_another_unit_system_changes_nothing(system: str, length: float, tmp_path: Path) -> None:
    units = bpy.context.scene.unit_settings
    units.system, units.scale_length = system, length
    root = import_hull(ONE_ASTEROID)
    assert root.scale[:] == pytest.approx((0.001,) * 3)
    assert export(tmp_path) == source(ONE_ASTEROID)
    bpy.ops.sylpheed.add_asteroid(size=3_000, location=(15_000, 0, 0))
    reach = np.linalg.norm(coordinates(bpy.context.object.data), axis=1).max()
    assert reach == pytest.approx(1_500, rel=1e-4) and bpy.context.object.location.x == 15_000


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A .blend with a hull, and an empty file open beside it."""
    import_hull(ONE_ASTEROID)
    path = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    return path


def link(library: Path) -> bpy.types.Collection:
    """Links the hull's collection into the scene, and makes it the active one."""
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.collections = ["test"]
    (collection,) = into.collections
    bpy.context.scene.collection.children.link(collection)
    layers = bpy.context.view_layer
    layers.active_layer_collection = layers.layer_collection.children[collection.name]
    return collection


def test_import_while_a_linked_collection_is_active(library: Path) -> None:
    linked = link(library)
    root = import_hull(MANY_ASTEROIDS)
    assert root.library is None and len(surfaces(root)) > 2
    assert not any(obj.library is None for obj in linked.all_objects)
    assert bpy.context.object == root


def test_a_linked_hull_can_be_shown_exported_and_added_to_but_its_grid_is_not_ours(
    library: Path, tmp_path: Path
) -> None:
    linked = link(library)
    root = next(obj for obj in linked.all_objects if obj.get("sylpheed_kind") == "hull")
    assert export(tmp_path) == source(ONE_ASTEROID)
    assert bpy.ops.sylpheed.show_grid() == {"FINISHED"}
    assert bpy.ops.sylpheed.show_grid() == {"FINISHED"}
    with pytest.raises(RuntimeError, match=r"is linked from .*make it local"):
        bpy.ops.sylpheed.fit_grid(cell_size=20_000)
    assert bpy.ops.sylpheed.add_asteroid(location=(15_000, 15_000, 15_000)) == {"FINISHED"}
    rock = bpy.context.object
    assert rock.parent == root and rock.library is None and rock.name in bpy.context.scene.collection.objects
    assert export(tmp_path) != source(ONE_ASTEROID)


# --- views ----------------------------------------------------------------------------------------


def test_the_views_reach_as_far_as_a_large_map_and_are_never_cut_short() -> None:
    assert views()
    for view, end in zip(views(), (1_000.0, 50_000.0, 10.0, *[1_000.0] * 9), strict=False):
        view.clip_end = end
    before = [view.clip_end for view in views()]
    import_hull(WALL_ONLY)
    after = [view.clip_end for view in views()]
    assert all(now >= max(then, 2 * 500 * 3**0.5) for now, then in zip(after, before, strict=True))
    import_hull(ONE_ASTEROID)
    assert [view.clip_end for view in views()] == after, "a small map needs no more"


def test_at_full_size_the_near_end_keeps_its_precision() -> None:
    for view in views():
        view.clip_end, view.clip_start = 1_000.0, 0.01
    import_hull(WALL_ONLY, scale=1.0)
    assert all(view.clip_end >= 2 * 500_000 * 3**0.5 for view in views())
    assert all(0.01 < view.clip_start < 10 for view in views())


def test_the_views_stay_as_they_are_when_asked() -> None:
    for view in views():
        view.clip_end = 1_000.0
    import_hull(WALL_ONLY, reach=False)
    assert all(view.clip_end == 1_000.0 for view in views())


# --- words, presets, undo -------------------------------------------------------------------------


@pytest.mark.parametrize("idname", OPERATORS)
def test_every_option_says_what_it_is(idname: str) -> None:
    rna = properties(idname)
    assert rna.name and len(rna.description) > 20 and "Sylpheed" in rna.name
    for option in rna.properties:
        if option.identifier == "rna_type" or option.is_hidden:
            continue
        assert option.name and option.description, f"{idname}: {option.identifier} has no tooltip"
        assert not option.description.endswith("."), f"{idname}: {option.identifier} ends in a full stop"


@pytest.mark.parametrize(
    ("idname", "names"),
    [
        ("sylpheed.add_asteroid", ["size", "location"]),
        ("sylpheed.new_hull", ["box", "cell_size", "scale"]),
        ("sylpheed.fit_grid", ["cell_size", "margin"]),
        ("sylpheed.shoot", ["start", "movement", "radius"]),
        ("sylpheed.route", ["start", "goal", "radius"]),
    ],
)
def test_tooltips_of_lengths_name_the_unit(idname: str, names: list[str]) -> None:
    for name in names:
        assert "game unit" in properties(idname).properties[name].description


@pytest.mark.parametrize("idname", [name for name in OPERATORS if not re.search("grid|shoot|route", name)])
def test_what_has_options_has_presets(idname: str, addon: ModuleType) -> None:
    cls = next(c for c in bpy.types.Operator.__subclasses__() if getattr(c, "bl_idname", "") == idname)
    assert "PRESET" in cls.bl_options
    skipped = [option.identifier for option in properties(idname).properties if option.is_skip_preset]
    assert not {"size", "scale", "rebuild", "cell_size"} & set(skipped)


def test_every_operator_is_in_a_menu_where_f3_finds_it(addon: ModuleType) -> None:
    menus = ("TOPBAR_MT_file_import", "TOPBAR_MT_file_export", "VIEW3D_MT_add", "VIEW3D_MT_mesh_add")
    menus += ("VIEW3D_MT_object", "VIEW3D_MT_view")

    found = []

    class Layout:
        """Notes which operators a menu draws."""

        def operator(self, idname: str, **options: object) -> None:
            found.append(idname)

        def separator(self) -> None:
            pass

    class Menu:
        layout = Layout()

    for menu in menus:
        for draw in getattr(bpy.types, menu).draw._draw_funcs:
            if draw.__module__.startswith(addon.__name__):
                draw(Menu, bpy.context)
    assert set(OPERATORS) <= set(found)


@pytest.mark.parametrize("name", [ONE_ASTEROID, SET])
def test_an_import_is_one_step_to_undo(name: str) -> None:
    bpy.ops.ed.undo_push(message="before")
    if name == SET:
        bpy.ops.import_scene.sylpheed_set("EXEC_DEFAULT", True, filepath=str(DATA / name))
    else:
        bpy.ops.import_scene.sylpheed_col("EXEC_DEFAULT", True, filepath=str(DATA / name))
    names = sorted(obj.name for obj in bpy.data.objects)
    assert names
    bpy.ops.ed.undo()
    assert not bpy.data.objects
    bpy.ops.ed.redo()
    assert sorted(obj.name for obj in bpy.data.objects) == names


def test_an_import_beside_an_edit_is_one_step_to_undo() -> None:
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.import_scene.sylpheed_col("EXEC_DEFAULT", True, filepath=str(DATA / ONE_ASTEROID))
    assert len(roots()) == 1
    bpy.ops.ed.undo()
    assert [obj.name for obj in bpy.data.objects] == ["Cube"] and bpy.context.mode == "EDIT_MESH"
    bpy.ops.ed.redo()
    assert len(roots()) == 1 and bpy.context.mode == "EDIT_MESH"
    bpy.ops.object.mode_set(mode="OBJECT")


def test_an_export_is_no_step_to_undo(tmp_path: Path) -> None:
    root = import_hull(ONE_ASTEROID)
    bpy.ops.ed.undo_push(message="before")
    move(surfaces(root)["asteroid_01"], x=5)
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.export_scene.sylpheed_col("EXEC_DEFAULT", True, filepath=str(tmp_path / "a.col"))
    bpy.ops.ed.undo()
    rock = surfaces(roots()[0])["asteroid_01"]
    assert rock.location.x == origin_of(rock.data)[0]


def test_in_the_cell_lists_of_the_sidebar_nothing_is_written(addon: ModuleType) -> None:
    """Panels may be drawn at any time, so they only read."""
    root = import_hull(ONE_ASTEROID)
    select(root)
    bpy.ops.sylpheed.show_grid()
    panel = importlib.import_module(f"{addon.__name__}.blender_addon.interface.grid_panel")
    overlay = importlib.import_module(f"{addon.__name__}.blender_addon.overlay.state")
    place = overlay.place_at_cursor(bpy.context, overlay.current())
    assert panel.place_lines(place)[0] in ("Free here", "Solid here")
    bpy.ops.sylpheed.show_grid()
