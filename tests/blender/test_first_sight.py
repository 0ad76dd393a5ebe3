"""What a user sees first after an import: names, colours, collections, and what is selected."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.blender.helpers import DATA, MANY_ASTEROIDS, ONE_ASTEROID, WALL_ONLY, export, import_hull, source, surfaces
from tests.support.game_folder import make_game


def color(obj: bpy.types.Object) -> tuple[float, ...]:
    """The colour of an object in the default Solid view: that of its material."""
    (slot,) = obj.material_slots
    return tuple(slot.material.diffuse_color)


def layer(name: str, parent: bpy.types.LayerCollection | None = None) -> bpy.types.LayerCollection:
    for child in (parent or bpy.context.view_layer.layer_collection).children:
        if child.name == name:
            return child
        try:
            return layer(name, child)
        except KeyError:
            pass
    raise KeyError(name)


@pytest.mark.parametrize("name", [ONE_ASTEROID, WALL_ONLY])
def test_a_wall_is_wire_and_not_selectable_also_when_it_is_all_there_is(name: str) -> None:
    wall = surfaces(import_hull(name))["wall"]
    assert wall.display_type == "WIRE" and wall.hide_select and wall.visible_get()


def test_neighbouring_surfaces_have_colours_that_differ() -> None:
    parts = surfaces(import_hull(MANY_ASTEROIDS))
    colors = [color(parts[f"asteroid_{number:02}"]) for number in range(1, 9)]
    assert len(set(colors)) == 8 and color(parts["wall"]) not in colors
    assert np.ptp([sum(one[:3]) for one in colors]) > 0.2


def test_two_imports_share_the_materials() -> None:
    import_hull(ONE_ASTEROID)
    before = len(bpy.data.materials)
    import_hull(ONE_ASTEROID)
    assert len(bpy.data.materials) == before == 2


def test_a_material_of_the_users_own_takes_the_place(tmp_path: Path) -> None:
    rock = surfaces(import_hull(ONE_ASTEROID))["asteroid_01"]
    rock.active_material = bpy.data.materials.new("mine")
    assert [slot.material.name for slot in rock.material_slots] == ["mine"]
    assert export(tmp_path) == source(ONE_ASTEROID)


def test_cells_are_one_row_that_one_click_shows() -> None:
    root = import_hull(ONE_ASTEROID, cells="OBJECTS")
    cells = layer(f"{root.name} cells")
    assert cells.exclude and cells.collection.color_tag != "NONE"
    cells.exclude = False
    bpy.context.view_layer.update()
    assert all(obj.visible_get() for obj in cells.collection.objects) and len(cells.collection.objects) > 1


def test_a_stage_shows_the_hull_and_says_both_in_one_message(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    game = make_game(tmp_path / "game")
    capfd.readouterr()
    assert bpy.ops.import_scene.sylpheed_stage(directory=str(game), stage="S14", phase="Phase_1") == {"FINISHED"}
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("Info:") and "triangles" in line]
    assert len(lines) == 1 and "S14_p1_AsteroidVolume_wp" in lines[0] and "CollisionSet_S14" in lines[0]
    hull, parts = (
        next(obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == kind) for kind in ("hull", "set")
    )
    assert bpy.context.selected_objects == [hull] and bpy.context.object == hull
    assert layer(parts.users_collection[0].name).exclude and parts.name not in bpy.context.view_layer.objects
    assert hull.users_collection[0].color_tag != parts.users_collection[0].color_tag != "NONE"


def test_the_set_of_a_stage_is_exported_though_it_is_excluded(tmp_path: Path) -> None:
    game = make_game(tmp_path / "game")
    bpy.ops.import_scene.sylpheed_stage(directory=str(game), stage="S14", phase="Phase_1")
    path = tmp_path / "set.bin"
    assert bpy.ops.export_scene.sylpheed_set(filepath=str(path)) == {"FINISHED"}
    (root,) = (obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "set")
    assert path.read_bytes() == bytes(root["sylpheed_source"])


def test_a_new_asteroid_takes_no_number_that_the_source_had() -> None:
    root = import_hull(MANY_ASTEROIDS)
    parts = surfaces(root)
    bpy.data.objects.remove(parts["asteroid_03"])
    bpy.data.objects.remove(parts["asteroid_19"])
    assert bpy.ops.sylpheed.add_asteroid() == {"FINISHED"}
    assert bpy.context.object.name == f"asteroid_20.{root.name}"


def test_parts_of_one_family_have_one_colour() -> None:
    bpy.ops.import_scene.sylpheed_set(filepath=str(DATA / "CollisionSet_small.bin"))
    colors = {}
    for obj in bpy.data.objects:
        if obj.type == "MESH":
            colors.setdefault(obj.users_collection[0].name, set()).add(color(obj))
    assert len(colors) > 2 and all(len(found) == 1 for found in colors.values())
