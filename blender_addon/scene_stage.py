"""A game folder to a scene, and a scene to a mod folder."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, field, replace
from pathlib import Path

import bpy

from . import carry
from .core.errors import FormatError
from .core.mod import Written, open_collision, write_mod
from .core.rebuild import Options
from .core.stage import SETS, Game, Phase, Stage, find_game, stages
from .roots import find_all_roots
from .scene_export import export_hull, export_set
from .scene_import import HullOptions, Imported, Progress, SetOptions, make_hull, make_set


@dataclass(frozen=True, slots=True)
class StageOptions:
    """parts: NONE, STAGE for the stage's own asteroids, ALL."""

    stage: str
    phase: str
    parts: str = "STAGE"
    hull: HullOptions = field(default_factory=HullOptions)


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and what to warn of."""

    written: Written
    warnings: tuple[str, ...]


def list_stages(directory: str) -> list[Stage]:
    """The stages of a game folder. Raises `FormatError` if it is none."""
    game = find_game(directory)
    return _stages_once(game, tuple(path.stat().st_mtime_ns for path in game.tables))


@functools.lru_cache(maxsize=4)
def _stages_once(game: Game, stamps: tuple[int, ...]) -> list[Stage]:
    """A dialog asks each time that it is drawn; the tables are read when they changed."""
    return stages(game)


def import_stage(
    scene: bpy.types.Scene, directory: str, mod: str, options: StageOptions, progress: Progress
) -> list[Imported]:
    """The hull of a phase and parts of its library, from the mod folder where it has them.

    Raises `FormatError` that offers what is there, and makes nothing then.
    """
    game = find_game(directory)
    phase = _find_phase(game, options)
    archive = open_collision(game, mod)
    data = archive.read(archive.find(phase.hull or ""))
    imported = [make_hull(scene, phase.hull or "", data, options.hull)]
    carry.set_origin(imported[0].root, str(game.root), phase.hull or "")
    progress(0.3)
    if options.parts != "NONE" and phase.set:
        name_filter = "*" if options.parts == "ALL" else f"{options.stage}_*"
        library = archive.read(archive.find(phase.set))
        try:
            parts = make_set(scene, phase.set, library, SetOptions(name_filter, options.hull.view), progress)
        except FormatError as error:
            missing = f"{phase.set} holds no asteroids of {options.stage}: {error.problem}"
            imported[0] = replace(imported[0], warnings=(*imported[0].warnings, missing))
        else:
            carry.set_origin(parts.root, str(game.root), phase.set)
            imported.append(parts)
    return imported


def export_mod(
    context: bpy.types.Context, directory: str, game_directory: str, all_sets: bool, progress: Progress
) -> Exported:
    """Writes the modded archive with every hull and library of the scene that came from one game.

    What wasn't edited here isn't written: the mod folder may hold an edit from another session. An edited library
    replaces all 18 copies, or with `all_sets` False the one that it was imported from.
    Raises `FormatError`, and nothing is written then.
    """
    roots = find_all_roots(context.scene)
    game = _game_of(roots, game_directory)
    replacements: dict[str, bytes] = {}
    owners: dict[str, str] = {}
    warnings: list[str] = []
    for number, root in enumerate(roots):
        origin, entry = carry.origin(root)
        if not entry or os.path.normcase(origin) != os.path.normcase(str(game.root)):
            warnings.append(f"{root.name} didn't come from {game.root} and isn't in the mod")
            continue
        if entry in owners:
            raise FormatError(f"`{owners[entry]}` and `{root.name}` are both {entry}", remedy="remove one of them")
        owners[entry] = root.name
        is_hull = carry.kind(root) == carry.HULL
        exported = export_hull(context, root, Options(), True) if is_hull else export_set(context, root, True)
        warnings += exported.warnings
        if not carry.is_imported(root, exported.data):
            entries = SETS if all_sets and not is_hull else (entry,)
            replacements |= dict.fromkeys(entries, exported.data)
        progress(0.5 * (number + 1) / len(roots))
    if not owners:
        raise FormatError("nothing in the scene came from that game", remedy="import a stage first")
    written = write_mod(game, directory, replacements, lambda done, total: progress(0.5 + 0.5 * done / max(total, 1)))
    return Exported(written, (*warnings, *written.warnings))


def _find_phase(game: Game, options: StageOptions) -> Phase:
    found = {stage.name.lower(): stage for stage in stages(game)}
    stage = found.get(options.stage.lower())
    if stage is None:
        raise FormatError(
            f"the game has no stage {options.stage!r}",
            file=str(game.root),
            expected=", ".join(stage.name for stage in found.values()),
        )
    if stage.problem:
        raise FormatError(f"stage {stage.name} can't be read: {stage.problem}", file=str(game.root))
    named = [phase for phase in stage.phases if phase.name.lower() == options.phase.lower()]
    if named and named[0].hull:
        return named[0]
    usable = [f"{phase.name} ({phase.hull})" for phase in stage.phases if phase.hull]
    raise FormatError(
        f"{options.phase} of stage {stage.name} names no hull"
        if named
        else f"stage {stage.name} has no phase {options.phase!r}",
        file=str(game.root),
        expected=", ".join(usable) or "a stage with a hull",
    )


def _game_of(roots: list[bpy.types.Object], game_directory: str) -> Game:
    """The game that is named, or the one that everything in the scene came from."""
    if game_directory:
        return find_game(game_directory)
    origins = {origin for root in roots if (origin := carry.origin(root)[0])}
    if len(origins) == 1:
        return find_game(origins.pop())
    if not origins:
        raise FormatError("nothing in the scene came from a game folder", remedy="import a stage first")
    raise FormatError(
        "the scene holds files of several games",
        found=", ".join(sorted(str(Path(origin)) for origin in origins)),
        remedy="name the game folder in the options",
    )
