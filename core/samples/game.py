"""A stand-in game folder: the archive of collision files and the archive of stage tables, with the names, the
numbers of entries and the phases of the game. docs/FORMATS.md, sections 5 to 7."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from ..formats import idxd, mcol, regn_contents
from ..formats.entry_names import FOLDERS
from ..game.archive_write import make_archive
from ..game.game_folder import SETS
from ..game.stage_tables import STAGES, table_name
from ..navigation.build import build

COLLISION, TABLES = "hidden/MiscBin.pak", "dat/GP_MAIN_GAME_E.pak"
ARCHIVE_FILES = tuple(pak[:-2] + ending for pak in (COLLISION, TABLES) for ending in ("ak", "00"))
"""The archives' tables and data files, each of which needs one."""

NO_TABLE = "S17"
BOX = "mapmesh_box_500km"
PHASES: dict[str, tuple[str | None, ...]] = {
    "S01": ("S01_AsteroidVolume_wp",) * 3,
    "S04": ("S04_AsteroidVolume_wp", "S04_AsteroidVolume_wp", BOX),
    "S05": ("S05_AsteroidVolume_wp", "S05_AsteroidVolume_wp"),
    "S08": ("S08_p1_AsteroidVolume_wp", "S08_p2_AsteroidVolume_wp", BOX),
    "S13": ("S13_AsteroidVolume_wp", BOX, BOX),
    "S14": ("S14_p1_AsteroidVolume_wp", "S14_p2_AsteroidVolume_wp", BOX, BOX),
    "S20": (None, BOX, BOX),
    "S28": ("S28_p1_AsteroidVolume_wp", BOX, BOX),
    "Test": ("test",) * 3,
}
"""The hull of each phase, None for a phase without one; stages that aren't listed have `BOX` in every phase."""

TOTAL_PHASES, OTHER_TABLES = 87, 150

INNER_POINTS = 60
"""Points that divide the free space of a stand-in map, beside the hull's own: enough for ways around each asteroid."""


def write_collision(folder: Path, hulls: Mapping[str, tuple[bytes, bytes]], set_data: bytes) -> Path:
    """Writes hidden/MiscBin.pak and its data file below `folder`: its path.

    `hulls`: by name, the bytes of a `.col` and of its `.rgn`; `set_data`: a collision set's. Raises `FormatError` if a
    file can't be written.
    """
    entries: dict[int | str, tuple[bytes, bool]] = {name: (set_data, True) for name in SETS}
    for name, (hull, volume) in hulls.items():
        entries[f"{name}.col"], entries[f"{name}.rgn"] = (hull, True), (volume, True)
    return make_archive(folder / COLLISION, entries).path


def write_tables(folder: Path, tables_in: str = FOLDERS[0]) -> Path:
    """Writes dat/GP_MAIN_GAME_E.pak and its data file below `folder`: its path. Raises `FormatError` likewise.

    `tables_in`: the folder in the names of the stage tables, "" for bare names. As in the game, nobody knows it. The
    archive holds other tables and files too.
    """
    entries: dict[int | str, tuple[bytes, bool]] = {
        table_name(stage, tables_in): (idxd.encode(idxd.build(_sections(stage, hulls))), True)
        for stage, hulls in _phases().items()
    }
    for number in range(OTHER_TABLES):
        units = [("UnitParameter", [("Name", f"Unit_{number:03}"), ("Hull", str(100 + unit))]) for unit in range(3)]
        entries[f"unit\\Unit_{number:03}.tbl"] = (idxd.encode(idxd.build(units)), True)
    entries["font\\Sample.otf"] = (b"OTTO" + bytes(60), False)
    entries["movie\\Sample.bin"] = (bytes(range(255, 0, -1)), False)
    return make_archive(folder / "dat" / "GP_MAIN_GAME_E.pak", entries).path


@functools.lru_cache(maxsize=32)
def sample_navigation(hull: bytes) -> bytes:
    """The `.rgn` of a `.col`: its free space, divided more coarsely than a rebuild of an edited hull does."""
    model = mcol.decode(hull)
    return regn_contents.encode(build(model, most_inner=INNER_POINTS), model.grid)


def _phases() -> dict[str, tuple[str | None, ...]]:
    """The hulls of every stage's phases, 87 in all."""
    stages = [stage for stage in STAGES if stage != NO_TABLE]
    plain = [stage for stage in stages if stage not in PHASES]
    left = TOTAL_PHASES - sum(map(len, PHASES.values()))
    shares = [left // len(plain) + (number < left % len(plain)) for number in range(len(plain))]
    boxes = {stage: (BOX,) * share for stage, share in zip(plain, shares, strict=True)}
    return {stage: PHASES[stage] if stage in PHASES else boxes[stage] for stage in stages}


def _sections(stage: str, hulls: tuple[str | None, ...]) -> list[tuple[str, list[tuple[str, str]]]]:
    set_name = f"CollisionSet_{stage}.bin"
    set_name = set_name if set_name in SETS else "CollisionSet_S01.bin" if stage != "Test" else "CollisionSet_test.bin"
    sections: list[tuple[str, list[tuple[str, str]]]] = [("StageResource", [])]
    for number, hull in enumerate(hulls, 1):
        rows = [("CollisionMeshes", set_name)]
        if hull:
            rows += [("MapPath", f"{hull}.rgn"), ("MapMesh", f"{hull}.col")]
        sections.append((f"Phase_{number}", rows))
    return sections
