"""A game folder to a scene."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace

import bpy

from . import carry
from .core.errors import FormatError
from .core.mod import open_collision
from .core.stage import Game, Phase, Stage, find_game, stages
from .scene_import import HullOptions, Imported, Progress, SetOptions, make_hull, make_set


@dataclass(frozen=True, slots=True)
class StageOptions:
    """parts: NONE, STAGE for the stage's own asteroids, ALL."""

    stage: str
    phase: str
    parts: str = "STAGE"
    hull: HullOptions = field(default_factory=HullOptions)


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
