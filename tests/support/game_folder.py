"""A small stand-in game folder, made of the tests' own files."""

from __future__ import annotations

from pathlib import Path

from core.formats import idxd, mcol
from core.game.archive_write import make_archive
from core.game.game_folder import SETS
from tests.support.hulls import read
from tests.support.navigation_file import make_navigation

HULLS = ("S14_p1_AsteroidVolume_wp", "S14_p2_AsteroidVolume_wp", "mapmesh_box_500km")
STAGES = {"S14": HULLS, "S20": (None,)}


def make_game(
    folder: Path, tables_in: str = "Stage\\", hulls: tuple[str, ...] = HULLS, sets: tuple[str, ...] = SETS
) -> Path:
    """Writes hidden/MiscBin.pak with some hulls and copies of a library, and the tables of two stages, whose entries'
    names are in a folder, in an unknown one, or in none."""
    collision: dict[int | str, tuple[bytes, bool]] = {name: (read("CollisionSet_small.bin"), True) for name in sets}
    for name in hulls:
        data = read(f"{name}.col")
        collision[f"{name}.col"] = (data, True)
        collision[f"{name}.rgn"] = (make_navigation(mcol.decode(data).grid), True)
    tables: dict[int | str, tuple[bytes, bool]] = {
        f"{tables_in}StageResource_{stage}.tbl": (idxd.encode(idxd.build(_sections(stage, hulls))), True)
        for stage, hulls in STAGES.items()
    }
    for path, entries in (("hidden/MiscBin.pak", collision), ("dat/GP_MAIN_GAME_J.pak", tables)):
        (folder / path).parent.mkdir(parents=True)
        make_archive(folder / path, entries)
    return folder


def _sections(stage: str, hulls: tuple[str | None, ...]) -> list[tuple[str, list[tuple[str, str]]]]:
    sections: list[tuple[str, list[tuple[str, str]]]] = [("StageResource", [])]
    for number, hull in enumerate(hulls, 1):
        rows = [("CollisionMeshes", f"CollisionSet_{stage}.bin")]
        if hull:
            rows += [("MapPath", f"{hull}.rgn"), ("MapMesh", f"{hull}.col")]
        sections.append((f"Phase_{number}", rows))
    return sections
