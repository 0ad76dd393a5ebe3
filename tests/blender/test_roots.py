"""Which hull or collision set an operator takes, what it says where there is none, and roots that lost their
properties."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import bpy
import pytest

from tests.blender.helpers import (
    DATA,
    MANY_ASTEROIDS,
    ONE_ASTEROID,
    export,
    import_hull,
    move,
    refusal,
    select,
    source,
    surfaces,
)

SMALL = DATA / "CollisionSet_small.bin"
STEM = Path(ONE_ASTEROID).stem
COPY_STEM = Path(MANY_ASTEROIDS).stem


def import_set() -> bpy.types.Object:
    before = set(bpy.data.objects)
    assert bpy.ops.import_scene.sylpheed_set(filepath=str(SMALL)) == {"FINISHED"}
    (root,) = [obj for obj in set(bpy.data.objects) - before if obj.get("sylpheed_kind") == "set"]
    return root


def export_set(folder: Path, **options: object) -> bytes:
    path = folder / "exported.bin"
    assert bpy.ops.export_scene.sylpheed_set(filepath=str(path), **options) == {"FINISHED"}
    return path.read_bytes()


def set_refusal(folder: Path, **options: object) -> str:
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.export_scene.sylpheed_set(filepath=str(folder / "refused.bin"), **options)
    assert "Traceback" not in str(caught.value)
    return str(caught.value)


def library_of(folder: Path, name: str = ONE_ASTEROID) -> Path:
    """A .blend that holds a hull whose rock was moved, and an empty file open beside it."""
    root = import_hull(name)
    move(surfaces(root)["asteroid_01"], x=40)
    path = folder / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    bpy.ops.wm.read_homefile(use_empty=True)
    return path


def link(library: Path, name: str = STEM) -> bpy.types.Collection:
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.collections = [name]
    return into.collections[0]


def instance(collection: bpy.types.Collection) -> bpy.types.Object:
    """An empty that shows a collection, as File > Link makes it."""
    empty = bpy.data.objects.new(collection.name, None)
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    bpy.context.scene.collection.objects.link(empty)
    bpy.context.view_layer.update()
    return empty


# --- which one ------------------------------------------------------------------------------------


@pytest.mark.parametrize("local_first", [True, False])
def test_of_a_local_and_a_linked_hull_of_one_name_the_local_one_is_exported(tmp_path: Path, local_first: bool) -> None:
    library = library_of(tmp_path)
    if local_first:
        import_hull()
    bpy.context.scene.collection.children.link(link(library))
    if not local_first:
        import_hull()
    linked = next(obj for obj in bpy.context.scene.objects if obj.library and obj.get("sylpheed_kind") == "hull")
    local = next(obj for obj in bpy.context.scene.objects if not obj.library and obj.get("sylpheed_kind") == "hull")
    assert linked.name == local.name == STEM
    for active in (linked, local, None):
        bpy.context.view_layer.objects.active = active
        assert export(tmp_path, hull=STEM) == source(ONE_ASTEROID)
    bpy.context.view_layer.objects.active = linked
    assert export(tmp_path) != source(ONE_ASTEROID)
    bpy.context.view_layer.objects.active = None
    assert "library.blend" in refusal(tmp_path)
    assert export(tmp_path, collection=STEM) == source(ONE_ASTEROID)


def test_the_set_option_names_one_of_several_sets(tmp_path: Path) -> None:
    first, second = import_set(), import_set()
    next(obj for obj in second.children if obj.type == "MESH").location.x = 5
    bpy.context.view_layer.objects.active = None
    message = set_refusal(tmp_path)
    assert first.name in message and second.name in message and "options" in message
    assert export_set(tmp_path, set=first.name) == SMALL.read_bytes()
    assert export_set(tmp_path, set=second.name) != SMALL.read_bytes()
    message = set_refusal(tmp_path, set="missing")
    assert '"missing"' in message and first.name in message and second.name in message


# --- none here ------------------------------------------------------------------------------------


def test_a_linked_instance_is_named_and_the_advice_helps(tmp_path: Path) -> None:
    empty = instance(link(library_of(tmp_path)))
    for message in (refusal(tmp_path), refusal(tmp_path, hull=STEM)):
        assert f'"{empty.name}"' in message and "library.blend" in message
        assert "Library Override > Make" in message
    select(empty)
    assert bpy.ops.object.make_override_library() == {"FINISHED"}
    assert export(tmp_path) != source(ONE_ASTEROID)
    assert bpy.ops.sylpheed.check() == {"FINISHED"}


def test_an_instance_of_the_hulls_own_collection_is_named_and_the_advice_helps(tmp_path: Path) -> None:
    root = import_hull()
    collection = root.users_collection[0]
    bpy.context.scene.collection.children.unlink(collection)
    empty = instance(collection)
    message = refusal(tmp_path)
    assert f'"{empty.name}"' in message and f'"{collection.name}"' in message and "Outliner" in message
    bpy.context.scene.collection.children.link(collection)
    assert export(tmp_path) == source(ONE_ASTEROID)


def test_an_instance_within_an_instance_is_named(tmp_path: Path) -> None:
    inner = instance(link(library_of(tmp_path)))
    outer = bpy.data.collections.new("outer")
    bpy.context.scene.collection.objects.unlink(inner)
    outer.objects.link(inner)
    empty = instance(outer)
    assert f'"{empty.name}"' in refusal(tmp_path)


def test_a_hull_in_another_scene_is_named(tmp_path: Path) -> None:
    here, there = bpy.context.scene, bpy.data.scenes.new("Test flight")
    root = import_hull()
    there.collection.children.link(root.users_collection[0])
    here.collection.children.unlink(root.users_collection[0])
    for message in (refusal(tmp_path), refusal(tmp_path, hull=STEM)):
        assert '"Test flight"' in message and STEM in message
    assert '"Test flight"' not in refusal(tmp_path, hull="missing")
    bpy.context.window.scene = there
    assert export(tmp_path) == source(ONE_ASTEROID)


def test_a_set_in_another_scene_is_named(tmp_path: Path) -> None:
    there = bpy.data.scenes.new("Yard")
    root = import_set()
    there.collection.children.link(root.users_collection[0])
    bpy.context.scene.collection.children.unlink(root.users_collection[0])
    assert '"Yard"' in set_refusal(tmp_path) and '"Yard"' in set_refusal(tmp_path, set=root.name)


def test_a_hull_in_no_scene_is_named(tmp_path: Path) -> None:
    root = import_hull()
    bpy.context.scene.collection.children.unlink(root.users_collection[0])
    assert "in no scene" in refusal(tmp_path)


# --- what the buttons ask -------------------------------------------------------------------------


def test_buttons_follow_the_hulls_of_the_scene() -> None:
    def allowed() -> set[bool]:
        return {bpy.ops.sylpheed.add_asteroid.poll(), bpy.ops.sylpheed.fit_grid.poll()}

    assert allowed() == {False}
    root = import_hull()
    assert allowed() == {True}
    empty_scene, scene = bpy.data.scenes.new("empty"), bpy.context.scene
    bpy.context.window.scene = empty_scene
    assert allowed() == {False}
    bpy.context.window.scene = scene
    assert allowed() == {True}
    bpy.data.objects.remove(root)
    assert allowed() == {False}
    bpy.ops.ed.undo_push()
    import_hull()
    bpy.ops.ed.undo_push()
    assert allowed() == {True}
    bpy.ops.ed.undo()
    assert allowed() == {False}
    bpy.ops.ed.redo()
    assert allowed() == {True}
    bpy.ops.wm.read_homefile(use_empty=True)
    assert allowed() == {False}


def test_a_hull_that_is_appended_is_seen(tmp_path: Path) -> None:
    library = library_of(tmp_path)
    assert not bpy.ops.sylpheed.add_asteroid.poll()
    with bpy.data.libraries.load(str(library), link=False) as (_, into):
        into.collections = [STEM]
    bpy.context.scene.collection.children.link(into.collections[0])
    bpy.context.view_layer.update()
    assert bpy.ops.sylpheed.add_asteroid.poll()


# --- overrides ------------------------------------------------------------------------------------


def test_an_asteroid_is_added_to_a_library_override(tmp_path: Path) -> None:
    empty = instance(link(library_of(tmp_path)))
    select(empty)
    assert bpy.ops.object.make_override_library() == {"FINISHED"}
    before = export(tmp_path)
    assert bpy.ops.sylpheed.add_asteroid(location=(15_000, 15_000, 15_000)) == {"FINISHED"}
    rock = bpy.context.object
    assert rock.library is None and rock.parent.get("sylpheed_kind") == "hull" and rock.parent.override_library
    assert len(export(tmp_path)) > len(before)
    assert bpy.ops.sylpheed.check() == {"FINISHED"}
    with pytest.raises(RuntimeError, match=r"is linked from .*make it local"):
        bpy.ops.sylpheed.fit_grid(cell_size=20_000)


# --- properties that are gone ---------------------------------------------------------------------


PROPERTIES = [
    f"sylpheed_{name}" for name in "kind source digest stem layout root imported game entry view exported".split()
]
GONE = object()
VALUES = [GONE, 5, 2.5, "text", b"bytes", [1, 2, 3], [], {"a": 1}]


def damage(root: bpy.types.Object, name: str, value: object) -> None:
    if name in root:
        del root[name]
    if value is not GONE:
        root[name] = value


def outcomes(folder: Path, is_hull: bool) -> dict[str, str]:
    """What each operator reports where it refuses, "" where it does its work."""
    calls: dict[str, Callable] = {
        "check": lambda: bpy.ops.sylpheed.check(),
        "holes": lambda: bpy.ops.sylpheed.fix_holes(),
        "select": lambda: bpy.ops.sylpheed.select_problem(check="refused"),
    }
    if is_hull:
        calls |= {
            "export": lambda: bpy.ops.export_scene.sylpheed_col(filepath=str(folder / "out.col")),
            "show": lambda: bpy.ops.sylpheed.show_grid(),
            "refresh": lambda: bpy.ops.sylpheed.refresh_grid(),
            "hide": lambda: bpy.ops.sylpheed.show_grid(),
            "asteroid": lambda: bpy.ops.sylpheed.add_asteroid(location=(9_000, -9_000, 9_000), size=500),
            "fit": lambda: bpy.ops.sylpheed.fit_grid(cell_size=20_000),
        }
    else:
        calls["export"] = lambda: bpy.ops.export_scene.sylpheed_set(filepath=str(folder / "out.bin"))
    found = {}
    for name, call in calls.items():
        try:
            call()
            found[name] = ""
        except RuntimeError as error:
            found[name] = str(error)
        assert "Traceback" not in found[name], (name, found[name])
    return found


@pytest.mark.parametrize("name", PROPERTIES)
@pytest.mark.parametrize("kind", ["hull", "set"])
def test_a_damaged_root_leads_to_no_traceback(name: str, kind: str, tmp_path: Path, capfd) -> None:
    for value in VALUES:
        bpy.ops.wm.read_homefile(use_empty=True)
        root = import_hull() if kind == "hull" else import_set()
        assert bpy.ops.sylpheed.check() == {"FINISHED"}
        damage(root, name, value)
        found = outcomes(tmp_path, kind == "hull")
        if name in ("sylpheed_kind", "sylpheed_source"):
            assert "lost its source" in found["export"] and "import the file again" in found["export"], value
        mesh = next(obj for obj in root.children if obj.type == "MESH")
        mesh.location.x += 1  # the handlers run
        bpy.context.view_layer.update()
        mesh.data.vertices[0].co.x += 1
        mesh.data.update()
        root.update_tag()
        bpy.context.view_layer.update()
    output = capfd.readouterr()
    assert "Traceback" not in output.out + output.err


@pytest.mark.parametrize("name", ["sylpheed_stem", "sylpheed_digest", "sylpheed_root", "sylpheed_layout"])
def test_a_hull_without_what_it_can_do_without_is_exported_as_it_was(name: str, tmp_path: Path) -> None:
    root = import_hull()
    new = bpy.data.objects.new("reference", bpy.data.meshes.new("reference"))
    bpy.context.scene.collection.objects.link(new)
    damage(root, name, GONE)
    assert export(tmp_path) == source(ONE_ASTEROID)


@pytest.mark.parametrize("name", ["sylpheed_root", "sylpheed_imported"])
def test_a_set_that_no_longer_knows_its_parts_is_refused(name: str, tmp_path: Path) -> None:
    damage(import_set(), name, GONE)
    message = set_refusal(tmp_path)
    assert "lost its source" in message and name in message and "import the file again" in message


def test_the_overlay_that_is_on_outlives_a_lost_source(addon, tmp_path: Path, capfd) -> None:
    root = import_hull()
    assert bpy.ops.sylpheed.show_grid() == {"FINISHED"}
    damage(root, "sylpheed_source", GONE)
    move(surfaces(root)["asteroid_01"], x=1)
    bpy.context.view_layer.update()
    addon.blender_addon.overlay.following._follow()
    assert "lost its source" in addon.blender_addon.overlay.state.current().refusal
    damage(root, "sylpheed_kind", GONE)
    addon.blender_addon.overlay.following._follow()
    assert bpy.ops.sylpheed.show_grid() == {"FINISHED"}
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["hull", "set"])
def test_a_root_of_a_later_extension_is_refused(kind: str, tmp_path: Path) -> None:
    root = import_hull() if kind == "hull" else import_set()
    assert root["sylpheed_layout"] == 1
    root["sylpheed_layout"] = 2
    message = refusal(tmp_path) if kind == "hull" else set_refusal(tmp_path)
    assert "later version" in message and "update the extension" in message
    assert bpy.ops.sylpheed.check() == {"FINISHED"}


def test_a_check_names_a_root_that_lost_its_kind(capfd) -> None:
    root, _ = import_hull(), import_hull(MANY_ASTEROIDS)
    del root["sylpheed_kind"]
    assert bpy.ops.sylpheed.check() == {"FINISHED"}
    output = capfd.readouterr()
    assert f'"{STEM}" lost its source' in output.out + output.err


def test_panels_ask_for_the_root_without_looking_through_the_scene(
    addon: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = importlib.import_module(f"{addon.__name__}.blender_addon.scene.roots")
    first = import_hull(ONE_ASTEROID)
    cube = bpy.data.objects.new("not a hull", None)
    bpy.context.scene.collection.objects.link(cube)
    bpy.context.view_layer.objects.active = cube
    bpy.context.view_layer.update()
    assert roots.shown_root(bpy.context) == first

    with monkeypatch.context() as patch:
        patch.setattr(roots, "find_all_roots", lambda scene: pytest.fail("it looked through the scene"))
        assert roots.shown_root(bpy.context) == first and not roots.has_root(bpy.context.scene, "set")
        cube.location.x += 1.0
        bpy.context.view_layer.update()
        assert roots.shown_root(bpy.context) == first

    second = import_set()
    bpy.context.view_layer.objects.active = cube
    assert roots.shown_root(bpy.context) is None and roots.has_root(bpy.context.scene, "set")
    bpy.data.objects.remove(first)
    assert roots.shown_root(bpy.context) == second and not roots.has_root(bpy.context.scene, "hull")
