"""A game folder: which stages and phases it has, and which collision files each names (docs/FORMATS.md, section 7).

The tables are in `dat/GP_MAIN_GAME_<language>.pak`, the files they name in `hidden/MiscBin.pak`. A mod folder of the
same layout may hold either alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..disk.transaction import JOURNAL, pending
from ..errors import FormatError
from ..formats.hashes import file_id
from .stage_tables import TABLES, Phase, Stage, read_stages

HULLS = (
    "test",
    "mapmesh_box_500km",
    "S01_AsteroidVolume_wp",
    "S04_AsteroidVolume_wp",
    "S05_AsteroidVolume_wp",
    "S08_p1_AsteroidVolume_wp",
    "S08_p2_AsteroidVolume_wp",
    "S13_AsteroidVolume_wp",
    "S14_p1_AsteroidVolume_wp",
    "S14_p2_AsteroidVolume_wp",
    "S28_p1_AsteroidVolume_wp",
)
SETS = (
    *(f"CollisionSet_S{number:02d}.bin" for number in range(1, 17)),
    "CollisionSet_Tutorial.bin",
    "CollisionSet_test.bin",
)

HULL_ENDING, NAVIGATION_ENDING = ".col", ".rgn"

_TABLES = re.compile(r"GP_MAIN_GAME_.*\.pak", re.IGNORECASE)
_COLLISION = re.compile(r"MiscBin\.pak", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Game:
    """A game or mod folder: the archives of stage tables, one a language, and the one of collision files."""

    root: Path
    tables: tuple[Path, ...]
    collision: Path | None

    def require_collision(self) -> Path:
        """The archive of the collision files. Raises `FormatError` if the folder lacks it."""
        if self.collision is None:
            remedy = "extract it from the disc, or choose the folder that has it"
            raise FormatError("hidden/MiscBin.pak is missing", file=str(self.root), remedy=remedy)
        return self.collision


def find_game(path: str | os.PathLike[str]) -> Game:
    """The game folder that is meant: this one, the one around it (of a file or subfolder), or the only one inside it.

    Names are compared without case. Raises `FormatError` if there is none, or several inside.
    """
    start = Path(path)
    if not start.exists():
        raise FormatError(
            "there is no such folder", file=str(path), remedy="choose the folder of the extracted game disc"
        )
    absolute = Path(os.path.abspath(start))
    for folder in (absolute, *absolute.parents[:2]):
        game = _game_at(folder)
        if game is not None:
            return game
    games = [game for folder in _folders(absolute) if (game := _game_at(folder)) is not None]
    if len(games) == 1:
        return games[0]
    if games:
        found = ", ".join(sorted(game.root.name for game in games))
        raise FormatError(
            "there are several game folders inside", file=str(path), found=found, remedy="choose one of them"
        )
    raise FormatError(
        "not a game folder",
        file=str(path),
        expected="hidden/MiscBin.pak or dat/GP_MAIN_GAME_*.pak in it",
        remedy="choose the folder of the extracted game disc",
    )


def stages(game: Game) -> list[Stage]:
    """The stages that the game has tables of: S01 to S29, Test, then those without a known name.

    Raises `FormatError` if there is no archive with stage tables, or none can be read. A damaged table is reported in
    its stage.
    """
    if not game.tables:
        raise FormatError(
            "dat/GP_MAIN_GAME_*.pak is missing",
            file=str(game.root),
            remedy="without it stages have no names; add it or open hulls by file",
        )
    return list(read_stages(game.tables))


def known_names(game: Game | None = None) -> dict[int, str]:
    """Names by file id: the shipped ones, and those in the game's stage tables. Missing tables are no error."""
    found: list[Stage] = []
    if game is not None and game.tables:
        try:
            found = stages(game)
        except FormatError:
            pass  # `check_game` reports it; the shipped names still help
    return names_in(found)


def hull_users(found: Iterable[Stage]) -> dict[str, tuple[tuple[str, str], ...]]:
    """Which phases use which hull: by the hull's name, as first spelled, pairs of stage name and phase name.

    Phases that name no hull are in none. Spellings that differ in case name the same hull.
    """
    spelled: dict[str, str] = {}
    users: dict[str, list[tuple[str, str]]] = {}
    for stage in found:
        for phase in stage.phases:
            if phase.hull is not None:
                name = spelled.setdefault(phase.hull.lower(), phase.hull)
                users.setdefault(name, []).append((stage.name, phase.name))
    return {name: tuple(phases) for name, phases in users.items()}


def names_in(found: Iterable[Stage]) -> dict[int, str]:
    """Names by file id: the shipped ones, and those in the stage tables."""
    names = [name + ending for name in HULLS for ending in (HULL_ENDING, NAVIGATION_ENDING)]
    names += [*SETS, *(path for _, path in TABLES.values())]
    names += [name for stage in found for phase in stage.phases for name in _files(phase)]
    return {number: name for name in names if (number := _file_id(name)) is not None}


def _files(phase: Phase) -> Iterable[str]:
    return (name for name in (phase.hull, phase.navigation, phase.set) if name)


def _file_id(name: str) -> int | None:
    try:
        return file_id(name)
    except FormatError:
        return None  # a name that no archive can hold


def _game_at(folder: Path) -> Game | None:
    tables = _files_in(folder, "dat", _TABLES)
    collision = _files_in(folder, "hidden", _COLLISION)
    return Game(folder, tables, collision[0] if collision else None) if tables or collision else None


def _files_in(folder: Path, name: str, pattern: re.Pattern[str]) -> tuple[Path, ...]:
    """The archives of a subfolder that match, sorted; names are compared without case."""
    inside = [child for child in _folders(folder) if child.name.lower() == name]
    try:
        there = [file for child in inside for file in child.iterdir()]
    except OSError:
        return ()
    found = {file for file in there if pattern.fullmatch(file.name)}
    # Between two renames of an interrupted write an archive has no file of its own name.
    journals = [file.with_name(file.name.removesuffix(JOURNAL)) for file in there if file.name.endswith(JOURNAL)]
    return tuple(sorted(found | {pak for pak in journals if pattern.fullmatch(pak.name) and _is_pending(pak)}))


def _is_pending(pak: Path) -> bool:
    try:
        return pending(pak.parent, pak.name).get(pak.name) is not None
    except FormatError:
        return True  # opening it reports what is wrong


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(child for child in folder.iterdir() if child.is_dir())
    except OSError:
        return []  # not a folder, or one that may not be looked into
