"""The navigation volume beside an exported hull: as it came, patched for the edit, or made from the hull alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import bpy
import pytest

from core.formats import mcol, regn, regn_contents
from core.navigation.build import build
from core.navigation.patch import patch
from tests.blender.helpers import DATA, ONE_ASTEROID, export, import_hull, move, surfaces

VOLUME = "exported.rgn"


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """A folder with a hull and its volume."""
    folder = tmp_path / "source"
    folder.mkdir()
    shutil.copy(DATA / ONE_ASTEROID, folder / "map.col")
    hull = mcol.decode((folder / "map.col").read_bytes())
    (folder / "map.rgn").write_bytes(regn_contents.encode(build(hull), hull.grid))
    return folder


def test_an_unedited_hull_leaves_its_volume_byte_for_byte(pair: Path, tmp_path: Path) -> None:
    import_hull(pair / "map.col")
    assert bpy.ops.export_scene.sylpheed_col(filepath=str(tmp_path / "exported.col")) == {"FINISHED"}
    assert (tmp_path / VOLUME).read_bytes() == (pair / "map.rgn").read_bytes()


def test_an_edited_hull_gets_a_patched_volume(pair: Path, tmp_path: Path) -> None:
    root = import_hull(pair / "map.col")
    move(surfaces(root)["asteroid_01"], x=2_000)
    bpy.ops.export_scene.sylpheed_col(filepath=str(tmp_path / "exported.col"))
    old = mcol.decode((pair / "map.col").read_bytes())
    new = mcol.decode((tmp_path / "exported.col").read_bytes())
    volume = regn.decode((pair / "map.rgn").read_bytes())
    assert (tmp_path / VOLUME).read_bytes() == patch(volume, old, new).data != regn.encode(volume)


def test_a_hull_without_a_volume_gets_none(tmp_path: Path) -> None:
    import_hull(ONE_ASTEROID)
    export(tmp_path)
    assert not (tmp_path / VOLUME).exists()


def test_a_new_hull_is_a_whole_map(tmp_path: Path) -> None:
    assert bpy.ops.sylpheed.new_hull(name="S99_test", box=(60_000, 60_000, 60_000), cell_size=20_000) == {"FINISHED"}
    assert bpy.ops.sylpheed.add_asteroid(size=6_000, location=(9_000, 9_000, 9_000)) == {"FINISHED"}
    bpy.ops.export_scene.sylpheed_col(filepath=str(tmp_path / "exported.col"))
    hull = mcol.decode((tmp_path / "exported.col").read_bytes())
    volume = regn.decode((tmp_path / VOLUME).read_bytes())
    assert regn.fits(volume, hull.grid) == [] and len(regn_contents.decode(volume).tetrahedra) > 50
