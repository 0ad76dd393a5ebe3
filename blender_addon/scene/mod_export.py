"""The scenes of a file to a mod folder: which game they belong to, which entry each root is, and what becomes of it."""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy

from ...core.disk.same_file import same_file
from ...core.editing.options import Options
from ...core.errors import RefusedError, SylpheedError
from ...core.formats import collision_set
from ...core.formats.hashes import file_id
from ...core.game.archive import Archive, open_archive
from ...core.game.game_folder import Game, find_game
from ...core.game.merge_into_mod import Choices, merge_into_mod, preview
from ...core.game.merge_versions import Version, mark
from ...core.game.merge_volumes import Remake
from ...core.game.mod_folder import Written, mod_archive, require_apart
from ..translations import report_text
from . import custom_properties, mod_record, object_names
from .exporting import export_hull, export_set
from .importing import Progress
from .navigation import REMAKES
from .roots import NAMES, explain_none, find_all_roots, find_damaged, instances_of_others


@dataclass(frozen=True, slots=True)
class ModOptions:
    """`directory`: the mod folder. `game`: the game folder, "" for where the imports came from, and `usual_game` where
    that isn't known or no longer there. `all_sets`: an edited set goes into every collision set of the game.
    `overwrite`: an edit also replaces what another session made. `navigation`: PATCH, REBUILD or KEEP, what becomes of
    the navigation volumes of edited hulls."""

    directory: str
    game: str = ""
    usual_game: str = ""
    all_sets: bool = True
    overwrite: bool = False
    navigation: str = "PATCH"


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, what to report about it, and what to warn of."""

    written: Written
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def export_mod(context: bpy.types.Context, options: ModOptions, progress: Progress) -> Exported:
    """Brings the archive of the mod folder to what the scenes of the file show: every hull and collision set that
    belongs to the game, see `core.game.merge_into_mod`.

    Raises `SylpheedError`, and nothing is written then.
    """
    prepared = _prepare(context, options, lambda part: progress(0.5 * part))
    written, marks = merge_into_mod(
        prepared.game,
        options.directory,
        list(prepared.versions.values()),
        _choices(options, prepared),
        lambda done, total: progress(0.5 + 0.5 * done / max(total, 1)),
    )
    for root, new in zip(prepared.versions, marks, strict=True):
        mod_record.remember(root, new)
        if prepared.scenes[root] == context.scene:
            mod_record.note_written(context, root)
    return Exported(written, prepared.notes, (*prepared.warnings, *written.warnings))


@dataclass(frozen=True, slots=True)
class Preview:
    """What an export into the mod would write: the entries that it replaces, each root of which nothing is written
    with the reason, and what to warn of."""

    writes: tuple[str, ...]
    stays: tuple[str, ...]
    warnings: tuple[str, ...]


def preview_mod(context: bpy.types.Context, options: ModOptions, progress: Progress) -> Preview:
    """What `export_mod` would write now. Nothing is written. Raises `SylpheedError` as `export_mod` does."""
    prepared = _prepare(context, options, progress)
    writes = preview(prepared.game, options.directory, list(prepared.versions.values()), _choices(options, prepared))
    replaced = {file_id(name) for name in writes}
    stays = [
        report_text('"{name}" is in the mod folder already', name=root.name)
        if version.edited
        else report_text('"{name}" is unedited', name=root.name)
        for root, version in prepared.versions.items()
        if file_id(version.entry) not in replaced
    ]
    return Preview(writes, tuple(stays), (*prepared.notes, *prepared.warnings))


@dataclass(frozen=True, slots=True)
class _Prepared:
    """The game, the scene that each root is read in, what each root of the game makes of its entry, what to report and
    what to warn of."""

    game: Game
    scenes: dict[bpy.types.Object, bpy.types.Scene]
    versions: dict[bpy.types.Object, Version]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def _prepare(context: bpy.types.Context, options: ModOptions, progress: Progress) -> _Prepared:
    if not options.directory:
        raise RefusedError("no mod folder is named", remedy="choose it here or in the extension's preferences")
    scenes = _scenes_of_roots(context.scene)
    if not scenes:
        raise explain_none(context.scene, tuple(NAMES), "", [])
    game = _find_game(list(scenes), options)
    require_apart(game, options.directory)
    entries, notes, warnings = _find_entries(list(scenes), game, options)
    warnings += _left_out(scenes)
    if not entries:
        raise RefusedError(
            f"nothing in the scene came from {game.root}",
            found="; ".join(warnings) or None,
            remedy="import a stage first",
        )
    versions = {}
    for number, (root, (entry, loose)) in enumerate(entries.items()):
        with _in_scene(context, scenes[root]):
            versions[root], warned = _version(context, root, entry, loose)
        warnings += warned
        progress((number + 1) / len(entries))
    return _Prepared(game, scenes, versions, tuple(notes), tuple(warnings))


def _choices(options: ModOptions, prepared: _Prepared) -> Choices:
    remake = REMAKES[options.navigation]
    return Choices(options.all_sets, options.overwrite, None if remake is None else _or_stored(remake, prepared))


def _or_stored(remake: Remake, prepared: _Prepared) -> Remake:
    """Takes the volume that a root keeps for its hull, and makes one where there is none."""
    kept = {
        version.data: volume
        for root, version in prepared.versions.items()
        if (volume := custom_properties.stored_navigation(root, version.data)) is not None
    }

    def made(volume: bytes, old: bytes, new: bytes) -> tuple[bytes, list[str]]:
        return (kept[new], []) if new in kept else remake(volume, old, new)

    return made


def _scenes_of_roots(first: bpy.types.Scene) -> dict[bpy.types.Object, bpy.types.Scene]:
    """The roots of all scenes, each with the scene that it is read in: the open one where it is in that."""
    found: dict[bpy.types.Object, bpy.types.Scene] = {}
    for scene in (first, *(scene for scene in bpy.data.scenes if scene != first)):
        for root in find_all_roots(scene):
            found.setdefault(root, scene)
    return found


def _left_out(roots: Container[bpy.types.Object]) -> list[str]:
    """What the scenes show and no root of theirs holds, with what to do."""
    damaged = dict.fromkeys(obj for scene in bpy.data.scenes for obj in find_damaged(scene))
    shown = dict.fromkeys(text for scene in bpy.data.scenes for text in instances_of_others(scene, roots))
    return [
        *(f"{custom_properties.lost_source(obj, custom_properties.KIND)}. It isn't in the mod" for obj in damaged),
        *shown,
    ]


@contextmanager
def _in_scene(context: bpy.types.Context, scene: bpy.types.Scene) -> Iterator[None]:
    """Makes a scene the context's. Errors say which one they are about where it isn't the open one."""
    if scene == context.scene:
        yield
        return
    try:
        with context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
            yield
    except SylpheedError as error:
        raise error.within(f'in the scene "{scene.name}"') from None


def _version(
    context: bpy.types.Context, root: bpy.types.Object, entry: str, loose: bool
) -> tuple[Version, tuple[str, ...]]:
    """What a root makes of an entry, and what to warn of."""
    known = mod_record.marks(root)
    if custom_properties.kind(root) == custom_properties.HULL:
        hull = export_hull(context, root, Options(), True)
        return Version(
            entry, root.name, hull.data, custom_properties.digest(root), exported=known, loose=loose
        ), hull.warnings
    edited = export_set(context, root, True)
    source = custom_properties.source(root)
    shows = _shown_ids(root, source)
    version = Version(entry, root.name, edited.data, mark(source), source, known, loose, shows)
    return version, edited.warnings


def _shown_ids(root: bpy.types.Object, source: bytes) -> frozenset[int]:
    """The ids of the parts that were imported."""
    parts = collision_set.decode(source).parts
    imported = root.get(custom_properties.IMPORTED)
    return frozenset(parts[number].id for number in (range(len(parts)) if imported is None else imported))


# --- which game -----------------------------------------------------------------------------------


def _find_game(roots: list[bpy.types.Object], options: ModOptions) -> Game:
    """The game that is named, or the one that the roots came from, or else the usual one."""
    if options.game:
        return find_game(options.game)
    origins = list(dict.fromkeys(origin for root in roots if (origin := custom_properties.origin(root)[0])))
    there = _distinct(game for origin in origins if (game := _game_at(origin)))
    if len(there) == 1:
        return there[0]
    if len(there) > 1:
        usual = [game for game in there if options.usual_game and same_file(game.root, options.usual_game)]
        if usual:
            return usual[0]
        raise RefusedError(
            "the scene has files of several games",
            found=", ".join(sorted(str(game.root) for game in there)),
            remedy="name the game folder in the options",
        )
    if options.usual_game:
        return find_game(options.usual_game)
    if origins:
        raise RefusedError(
            "the game folder of the import is no longer there", file=origins[0], remedy="name it in the options"
        )
    raise RefusedError(
        "nothing in the scene came from a game folder", remedy="import a stage first, or name the game folder"
    )


def _distinct(games: Iterator[Game]) -> list[Game]:
    found: list[Game] = []
    for game in games:
        if not any(same_file(game.root, other.root) for other in found):
            found.append(game)
    return found


def _game_at(folder: str) -> Game | None:
    """The game of a folder, None if it was moved or deleted."""
    try:
        return find_game(folder)
    except SylpheedError:
        return None


# --- which entry ----------------------------------------------------------------------------------


def _find_entries(
    roots: list[bpy.types.Object], game: Game, options: ModOptions
) -> tuple[dict[bpy.types.Object, tuple[str, bool]], list[str], list[str]]:
    """For each root of the game its entry and whether it is loose; what to report, and what to warn of."""
    archive = open_archive(mod_archive(options.directory) or game.require_collision())
    origins = {root: custom_properties.origin(root)[0] for root in roots}
    foreign = {origin: _is_foreign(origin, game) for origin in origins.values() if origin}
    if options.game and all(foreign.values()):
        foreign = {}  # a copy of the game, named outright
    found: dict[bpy.types.Object, tuple[str, bool]] = {}
    notes, warnings = [], []
    for root in roots:
        origin, entry = custom_properties.origin(root)
        if entry and foreign.get(origin):
            warnings.append(f'"{root.name}" came from {origin}, not from {game.root}, and isn\'t in the mod')
        elif entry:
            if _has(archive, entry):
                found[root] = entry, False
            else:
                warnings.append(f'"{root.name}" isn\'t in the mod: {archive.path} has no {entry}')
        elif named := [name for name in _names(root) if _has(archive, name)]:
            found[root] = named[0], True
            notes.append(f'"{root.name}" was imported from a file. By its name it is {named[0]} in the mod')
        else:
            warnings.append(
                f'"{root.name}" was imported from a file and isn\'t in the mod: the game has no {_names(root)[0]}. '
                "Give its root the name of the entry that it replaces"
            )
    return found, notes, warnings


def _is_foreign(origin: str, game: Game) -> bool:
    """Whether a root came from another game folder that is still there."""
    if same_file(origin, game.root):
        return False
    there = _game_at(origin)
    return there is not None and not same_file(there.root, game.root)


def _names(root: bpy.types.Object) -> list[str]:
    """What the entry of a loose root may be called: after its root, and after its file."""
    names = object_names.without_suffix(root.name), custom_properties.stem(root)
    return [name + custom_properties.ENDINGS[custom_properties.kind(root)] for name in names]


def _has(archive: Archive, name: str) -> bool:
    try:
        return file_id(name) in archive.by_hash
    except SylpheedError:
        return False  # no archive can hold it
