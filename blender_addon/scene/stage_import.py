"""A game folder to a scene."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import bpy

from ...core.errors import FormatError, RefusedError, SylpheedError, naming
from ...core.game.archive import open_archive
from ...core.game.game_folder import Game, find_game, known_names, stages
from ...core.game.mod_folder import mod_archive, open_collision
from ...core.game.stage_tables import Phase, Stage, asteroid_prefix, find_stage
from ..translations import label_text
from . import custom_properties, sources
from .importing import HullOptions, Imported, Progress, SetOptions, exclude, make_hull, make_set


@dataclass(frozen=True, slots=True)
class StageOptions:
    """parts: NONE, STAGE for the stage's own asteroids, ALL. layout: ROWS or FILE."""

    stage: str
    phase: str
    parts: str = "STAGE"
    hull: HullOptions = field(default_factory=HullOptions)
    layout: str = "ROWS"


def list_stages(directory: str) -> list[Stage]:
    """The stages of a game folder. Raises `SylpheedError` if it is none. A dialog asks each time that it is drawn; the
    tables are read when they changed."""
    return stages(find_game(directory))


def phases(directory: str, stage: str) -> list[tuple[str, str]]:
    """The phases of a stage that have a hull, with its name. Raises `SylpheedError` if there is no such stage."""
    found = find_stage(list_stages(directory), stage)
    return [(phase.name, phase.hull) for phase in found.phases if phase.hull]


def why_no_phase(directory: str, stage: str) -> str:
    """Why a dialog can offer no phase, in a few words of the interface."""
    if not directory:
        return label_text("No game folder is chosen")
    if not os.path.isdir(directory):
        return label_text("There is no such folder")
    try:
        game = find_game(directory)
    except SylpheedError:
        return label_text("This isn't a game folder")
    try:
        found = stages(game)
    except SylpheedError:
        return label_text("This game folder holds no stage tables")
    try:
        problem = find_stage(found, stage).problem
    except SylpheedError:
        return label_text("The game has no stage of this name")
    return (
        label_text("The table of this stage is damaged") if problem else label_text("No phase of this stage has a hull")
    )


def edited_entries(directory: str, mod: str) -> frozenset[str]:
    """The names, in lower case, of the entries that the mod folder holds with other bytes than the game. A dialog asks
    each time that it is drawn; the archives are compared when they changed."""
    try:
        archives = find_game(directory).collision, mod_archive(mod)
    except SylpheedError:
        return frozenset()
    game, there = archives
    if game is None or there is None:
        return frozenset()
    try:
        times = tuple(path.stat().st_mtime_ns for path in archives if path)
        return _compare(game, there, times)
    except (OSError, SylpheedError):
        return frozenset()


@lru_cache(maxsize=4)
def _compare(game: Path, mod: Path, times: tuple[int, ...]) -> frozenset[str]:
    ours, theirs = open_archive(game, known_names(find_game(game.parent))), open_archive(mod)
    changed = set()
    for entry in ours.entries:
        other = theirs.by_hash.get(entry.hash)
        if other is None or theirs.stored(other) != ours.stored(entry):
            changed.add(ours.label(entry).lower())
    return frozenset(changed)


def import_stage(
    scene: bpy.types.Scene, directory: str, mod: str, options: StageOptions, progress: Progress
) -> list[Imported]:
    """The hull of a phase and parts of its collision set, from the mod folder where it has them.

    Raises `SylpheedError` that offers what is there, and makes nothing then.
    """
    game = find_game(directory)
    stage = _find_stage(game, options.stage)
    phase = _find_phase(game, stage, options.phase)
    archive = open_collision(game, mod)
    data = archive.read(archive.find(phase.hull or ""))
    imported = [make_hull(scene, phase.hull or "", data, options.hull)]
    custom_properties.set_origin(imported[0].root, str(game.root), phase.hull or "")
    progress(0.3)
    if options.parts != "NONE" and phase.set:
        prefix = asteroid_prefix(stage)
        if options.parts == "STAGE" and prefix is None:
            missing = f"which asteroids are those of stage {stage.name} isn't known: import all parts to have them"
            imported[0] = replace(imported[0], warnings=(*imported[0].warnings, missing))
            return imported
        name_filter = "*" if options.parts == "ALL" else f"{prefix}_*"
        try:
            library = archive.read(archive.find(phase.set))
        except SylpheedError as error:  # a demo lacks some of the sets
            imported[0] = replace(imported[0], warnings=(*imported[0].warnings, str(error)))
            return imported
        try:
            grid = sources.hull_source(imported[0].root).grid
            chosen = SetOptions(name_filter, options.hull.view, options.layout, (grid.minimum, grid.maximum))
            parts = make_set(scene, phase.set, library, chosen, progress)
        except SylpheedError as error:
            missing = f"{phase.set} holds no asteroids of {stage.name}: {error.problem}"
            imported[0] = replace(imported[0], warnings=(*imported[0].warnings, missing))
        else:
            custom_properties.set_origin(parts.root, str(game.root), phase.set)
            exclude(scene, parts.root.users_collection[0])
            imported[0] = replace(imported[0], summary=f"{imported[0].summary}; {parts.summary}")
            imported.append(replace(parts, summary=""))
    return imported


def _find_stage(game: Game, name: str) -> Stage:
    """The stage of a game by its name or its table's id. Raises `SylpheedError` that lists what is there."""
    with naming(game.root):
        stage = find_stage(stages(game), name)
    if stage.problem:
        raise FormatError(f"stage {stage.name} can't be read: {stage.problem}", file=str(game.root))
    return stage


def _find_phase(game: Game, stage: Stage, wanted: str) -> Phase:
    named = [phase for phase in stage.phases if phase.name.lower() == wanted.lower()]
    if named and named[0].hull:
        return named[0]
    usable = [f"{phase.name} ({phase.hull})" for phase in stage.phases if phase.hull]
    raise RefusedError(
        f"{wanted} of stage {stage.name} names no hull" if named else f"stage {stage.name} has no phase {wanted!r}",
        file=str(game.root),
        expected=", ".join(usable) or "a stage with a hull",
    )
