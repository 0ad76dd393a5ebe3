"""The navigation volume beside an exported hull: as it came, patched for the edit, or made from the hull alone."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import bpy
import pytest

from core.disk.lock import alone
from core.formats import mcol, regn, regn_contents
from core.inspect.check_navigation import check_navigation
from core.navigation.build import build
from core.navigation.patch import patch
from core.rules.rule import Rule
from tests.blender.helpers import DATA, MANY_ASTEROIDS, ONE_ASTEROID, export, import_hull, move, surfaces
from tests.support.navigation_file import make_navigation

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


def over(pair: Path) -> tuple[bytes, bytes]:
    assert bpy.ops.export_scene.sylpheed_col(filepath=str(pair / "map.col")) == {"FINISHED"}
    return (pair / "map.col").read_bytes(), (pair / "map.rgn").read_bytes()


def faults(volume: bytes, hull: bytes) -> int:
    """Where a volume doesn't know the rock of a hull."""
    rules = (Rule.NAVIGATION_ROCK, Rule.NAVIGATION_CLEARANCES)
    checks = check_navigation(regn.decode(volume), mcol.decode(hull))
    return sum(check.total - check.good for check in checks if check.rule in rules)


def test_a_pair_that_another_session_wrote_is_what_the_next_volume_is_made_from(pair: Path) -> None:
    """Both came from one file. The second doesn't know of the first's edit, but the volume on the disk does."""
    imported = (pair / "map.col").read_bytes()
    other, mine = import_hull(pair / "map.col"), import_hull(pair / "map.col")
    move(surfaces(other)["asteroid_01"], x=9_000)
    assert bpy.ops.export_scene.sylpheed_col(filepath=str(pair / "map.col"), hull=other.name) == {"FINISHED"}
    hull, volume = (pair / "map.col").read_bytes(), (pair / "map.rgn").read_bytes()
    assert faults(volume, hull) == 0 < faults(volume, imported)
    assert bpy.ops.export_scene.sylpheed_col(filepath=str(pair / "map.col"), hull=mine.name) == {"FINISHED"}
    assert (pair / "map.col").read_bytes() == imported
    written = (pair / "map.rgn").read_bytes()
    assert written == patch(regn.decode(volume), mcol.decode(hull), mcol.decode(imported)).data
    assert faults(written, imported) == 0


def test_a_volume_that_still_is_the_imported_hulls_is_made_from_that(pair: Path) -> None:
    """Another program replaced the hull alone."""
    imported, volume = (pair / "map.col").read_bytes(), (pair / "map.rgn").read_bytes()
    root = import_hull(pair / "map.col")
    rock = surfaces(root)["asteroid_01"]
    move(rock, x=9_000)
    (pair / "edited").mkdir()
    assert bpy.ops.export_scene.sylpheed_col(filepath=str(pair / "edited" / "map.col")) == {"FINISHED"}
    shutil.copy(pair / "edited" / "map.col", pair / "map.col")
    move(rock, x=2_000)
    hull, written = over(pair)
    assert written == patch(regn.decode(volume), mcol.decode(imported), mcol.decode(hull)).data
    assert faults(written, hull) == 0


def test_a_volume_that_stays_beside_an_edited_hull_is_named(pair: Path, capfd: pytest.CaptureFixture) -> None:
    other = make_navigation(mcol.decode((DATA / MANY_ASTEROIDS).read_bytes()).grid)
    (pair / "map.rgn").write_bytes(other)
    root = import_hull(pair / "map.col")
    over(pair)
    assert "navigation" not in capfd.readouterr().out, "the hull is as it was"
    move(surfaces(root)["asteroid_01"], x=2_000)
    assert over(pair)[1] == other
    assert "map.rgn stays as it is and may not fit" in capfd.readouterr().out


def test_hull_and_volume_are_written_together_or_not_at_all(pair: Path) -> None:
    root = import_hull(pair / "map.col")
    before = (pair / "map.col").read_bytes()
    move(surfaces(root)["asteroid_01"], x=2_000)
    assert bpy.ops.sylpheed.fix_navigation() == {"FINISHED"}
    (pair / "map.rgn").unlink()
    (pair / "map.rgn").mkdir()
    with pytest.raises(RuntimeError, match=r"map\.rgn.*a folder has this name"):
        bpy.ops.export_scene.sylpheed_col(filepath=str(pair / "map.col"))
    assert (pair / "map.col").read_bytes() == before
    assert {path.name for path in pair.iterdir()} == {"map.col", "map.rgn"}


def test_a_pair_waits_until_another_program_has_written_its_own(pair: Path, addon) -> None:
    import_hull(pair / "map.col")
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with alone(pair / "map.col"):
            held.set()
            done.wait(1)

    other = threading.Thread(target=hold)
    other.start()
    held.wait()
    over(pair)
    assert not other.is_alive(), "it was first"


def test_what_a_patch_takes_out_of_use_is_reported(pair: Path, tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    root = import_hull(pair / "map.col")
    imported, volume = (pair / "map.col").read_bytes(), regn.decode((pair / "map.rgn").read_bytes())
    rock = surfaces(root)["asteroid_01"]
    beside = (rock.location.x + max(rock.dimensions) / root.scale[0] / 3, rock.location.y, rock.location.z)
    assert bpy.ops.sylpheed.add_asteroid(size=9_000, location=beside) == {"FINISHED"}  # through the other one
    hull, _ = over(pair)
    findings = patch(volume, mcol.decode(imported), mcol.decode(hull)).findings
    assert findings
    said = capfd.readouterr().out
    assert all(f"navigation: {finding.message}" in said for finding in findings)
