"""A game folder: which stages and phases it has, and which collision files each names (format notes, section 7).

The tables are in `dat/GP_MAIN_GAME_<language>.pak`, the files they name in `hidden/MiscBin.pak`. A mod folder of the
same layout may hold either alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import idxd
from .archive import Archive, open_archive
from .errors import Finding, FormatError, Severity
from .hashes import file_id

STAGES = (*(f"S{number:02d}" for number in range(1, 30)), "Test")  # the shipped game has no S17
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

HULL_KEY, NAVIGATION_KEY, SET_KEY = "MapMesh", "MapPath", "CollisionMeshes"
_TABLES = re.compile(r"GP_MAIN_GAME_\w+\.pak", re.IGNORECASE)
_COLLISION = re.compile(r"MiscBin\.pak", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase and the names of its hull, navigation volume and CollisionSet; None where the table has none."""

    name: str
    hull: str | None
    navigation: str | None
    set: str | None


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage such as S14, its table and phases; `problem` says why the table couldn't be read."""

    name: str
    table: str
    phases: tuple[Phase, ...]
    problem: str = ""


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
    """The stages that the game has tables of, in the order S01 to S29, Test.

    Raises `FormatError` if no archive with stage tables is there or can be read. A damaged table is told in its stage.
    """
    archive = _tables_archive(game)
    found = []
    for name in STAGES:
        table = table_name(name)
        if file_id(table) in archive.by_hash:
            found.append(_stage(archive, name, table))
    return found


def table_name(stage: str) -> str:
    """The name of a stage's table."""
    return f"StageResource_{stage}.tbl"


def known_names(game: Game | None = None) -> dict[int, str]:
    """Names by file id: the shipped ones, and those in the game's stage tables. Missing tables are no error."""
    names = [name + ending for name in HULLS for ending in (".col", ".rgn")]
    names += [*SETS, *map(table_name, STAGES)]
    if game is not None and game.tables:
        try:
            found = stages(game)
        except FormatError:
            found = []  # `check` tells it; the shipped names still help
        names += [name for stage in found for phase in stage.phases for name in _files(phase)]
    return {number: name for name in names if (number := _file_id(name)) is not None}


def check(game: Game) -> list[Finding]:
    """What is missing: archives, readable tables, and the files that phases name or should name."""
    findings: list[Finding] = []

    def add(severity: Severity, kind: str, message: str) -> None:
        findings.append(Finding(severity, kind, message))

    archive: Archive | None = None
    try:
        archive = open_archive(game.require_collision())
    except FormatError as error:
        add(Severity.ERROR, "game archive", str(error))
    try:
        found = stages(game)
    except FormatError as error:
        add(Severity.ERROR, "game archive", str(error))
        found = []
    for stage in found:
        if stage.problem:
            add(Severity.ERROR, "stage table", f"{stage.name}: {stage.problem}")
        for phase in stage.phases:
            where = f"{stage.name} {phase.name}"
            named = {HULL_KEY: phase.hull, NAVIGATION_KEY: phase.navigation, SET_KEY: phase.set}
            for key, name in named.items():
                if name is None:
                    add(Severity.WARNING, "phase files", f"{where} names no {key}")
                elif archive is not None and _file_id(name) not in archive.by_hash:
                    add(Severity.ERROR, "phase files", f"{where}: {archive.path.name} has no {name}, its {key}")
    return findings


def _tables_archive(game: Game) -> Archive:
    """The first archive, by language, that opens and holds stage tables; the tables are alike in all."""
    problem: FormatError | None = None
    for path in game.tables:
        try:
            archive = open_archive(path)
        except FormatError as error:
            problem = problem or error
            continue
        if any(file_id(table_name(name)) in archive.by_hash for name in STAGES):
            return archive
        problem = problem or FormatError(
            "holds no stage tables", file=str(path), remedy="extract it again from the disc"
        )
    raise problem or FormatError(
        "dat/GP_MAIN_GAME_*.pak is missing",
        file=str(game.root),
        remedy="without it stages have no names; add it or open hulls by file",
    )


def _stage(archive: Archive, name: str, table: str) -> Stage:
    try:
        decoded = idxd.decode(archive.with_names({file_id(table): table}).read(archive.find(table)))
    except FormatError as error:
        return Stage(name, table, (), str(error if error.file else error.within(table)))
    keys = (HULL_KEY, NAVIGATION_KEY, SET_KEY)
    phases = []
    for number, section in enumerate(decoded.sections):
        values = [decoded.value(section, key) or None for key in keys]  # an empty name names nothing
        if any(values) or (section.name or "").startswith("Phase_"):
            phases.append(Phase(section.name or f"Phase_{number}", *values))
    return Stage(name, table, tuple(phases))


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
    """The files of a subfolder that match, sorted; names are compared without case."""
    inside = [child for child in _folders(folder) if child.name.lower() == name]
    try:
        return tuple(sorted(file for child in inside for file in child.iterdir() if pattern.fullmatch(file.name)))
    except OSError:
        return ()


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(child for child in folder.iterdir() if child.is_dir())
    except OSError:
        return []  # not a folder, or one that may not be looked into
