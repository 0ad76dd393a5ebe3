"""Brings versions of entries into a mod folder: `merge_versions` decides each, the archive is written once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..disk.lock import alone
from ..errors import FormatError
from ..formats.collision_set import split
from ..formats.hashes import file_id
from ..text import some
from .archive import open_archive
from .entry_cache import Contents
from .game_folder import HULL_ENDING, NAVIGATION_ENDING, SETS, Game, known_names
from .merge_versions import Merged, Version, merge_sets, merge_whole
from .merge_volumes import Remake, merge_volumes
from .mod_folder import Progress, Written, mod_archive, require_apart, write_changed


@dataclass(frozen=True, slots=True)
class Choices:
    """`all_sets`: a set goes into every collision set of the archive, else into its own entry alone. `overwrite`: an
    edit also replaces what another session made. `remake` makes the navigation volumes of edited hulls; without it they
    stay as they are."""

    all_sets: bool = True
    overwrite: bool = False
    remake: Remake | None = None


def merge_into_mod(
    game: Game,
    mod: str,
    versions: Sequence[Version],
    choices: Choices = Choices(),
    progress: Progress | None = None,
) -> tuple[Written, tuple[frozenset[str], ...]]:
    """Brings the mod folder to what versions of entries show: what was written, and for each version the marks of the
    edits that are in the mod now, for its next `Version.exported`.

    Raises `FormatError` as `write_mod` does, and `RefusedError` for edits that exclude each other (`decide`); then
    nothing is written.
    """
    require_apart(game, mod)
    with alone(Path(os.path.realpath(mod))):
        archives, merger = _merge(game, mod, versions, choices)
        if choices.remake is not None:
            volumes, warned = merge_volumes(archives.game, archives.mod, merger.replacements, choices.remake)
            merger.replacements.update(volumes)
            merger.warnings += warned
        written = write_changed(archives.present, mod, archives.mod is not None, merger.replacements, progress)
    warnings = (*merger.warnings, *written.warnings)
    return replace(written, warnings=warnings), tuple(map(frozenset, merger.marks))


def preview(game: Game, mod: str, versions: Sequence[Version], choices: Choices = Choices()) -> tuple[str, ...]:
    """The names of the entries that `merge_into_mod` would replace, the volumes beside hulls as `choices.remake` may
    make them. Nothing is written.

    Raises `FormatError` and `RefusedError` as `merge_into_mod` does.
    """
    require_apart(game, mod)
    archives, merger = _merge(game, mod, versions, choices)
    changed = [name for name, data in merger.replacements.items() if not archives.present.holds(name, data)]
    if choices.remake is None:
        return tuple(changed)
    beside = [name[: -len(HULL_ENDING)] + NAVIGATION_ENDING for name in changed if _is_hull(name)]
    archive = archives.present.archive
    return (*changed, *(archive.label(archive.find(name)) for name in beside if file_id(name) in archive.by_hash))


def _merge(game: Game, mod: str, versions: Sequence[Version], choices: Choices) -> tuple[_Archives, _Merger]:
    """Decides every entry that versions concern."""
    archives = _open(game, mod)
    merger = _Merger(archives, versions, choices)
    for entry in merger.entries():
        merger.merge(entry)
    return archives, merger


@dataclass(frozen=True, slots=True, eq=False)
class _Archives:
    """The contents of the game's archive and of the mod's, None where there is none; `present`: what a mod grows
    from."""

    game: Contents | None
    mod: Contents | None
    present: Contents


def _open(game: Game, mod: str) -> _Archives:
    there, names = mod_archive(mod), known_names(game)
    of_mod = Contents(open_archive(there, names, recover=True)) if there else None
    if of_mod and game.collision is None:
        return _Archives(None, of_mod, of_mod)
    of_game = Contents(open_archive(game.require_collision(), names))
    return _Archives(of_game, of_mod, of_mod or of_game)


class _Merger:
    """Decides entry by entry. `marks`: of each version's edits that are in the mod."""

    def __init__(self, archives: _Archives, versions: Sequence[Version], choices: Choices) -> None:
        self.archives, self.versions = archives, versions
        self.choices = choices
        self.replacements: dict[str, bytes] = {}
        self.marks: list[set[str]] = [set() for _ in versions]
        self.warnings: list[str] = []
        self._sets: dict[tuple[int, int, tuple[int, ...]], Merged] = {}
        """Merged before, by the identity of the bytes in game and mod, and by the versions."""

    def entries(self) -> list[str]:
        """The names of the entries that versions concern, spelled as the archive does.

        Raises `FormatError` for a version whose entry isn't there.
        """
        archive = self.archives.present.archive
        names = [version.entry for version in self.versions]
        if self.choices.all_sets and not all(map(_is_hull, names)):
            names += [name for name in SETS if file_id(name) in archive.by_hash]
        return list(dict.fromkeys(archive.label(archive.find(name)) for name in names))

    def merge(self, entry: str) -> None:
        """Decides what becomes of an entry."""
        everywhere = self.choices.all_sets and not _is_hull(entry)
        concerned = [
            number
            for number, version in enumerate(self.versions)
            if (not _is_hull(version.entry) if everywhere else _same_entry(version.entry, entry))
        ]
        merged = self._merged(entry, concerned)
        if merged is None:
            return
        self.replacements[entry] = merged.data
        for number, marks, withheld in zip(concerned, merged.marks, merged.withheld, strict=True):
            version = self.versions[number]
            self.marks[number] |= marks
            if withheld and _same_entry(version.entry, entry):
                self.warnings.append(
                    f'"{version.author}" shows another version of {some(withheld)} than the mod holds. '
                    "It isn't edited here, and the mod keeps what was made elsewhere"
                )

    def _merged(self, entry: str, concerned: list[int]) -> Merged | None:
        """What becomes of an entry. None where the mod's own can't be read, and nobody edited it."""
        versions = [self.versions[number] for number in concerned]
        of_game, of_mod = self.archives.game, self.archives.mod
        try:
            game = of_game.read(entry) if of_game else None
        except FormatError:
            game = None  # the mod may have a whole one
        try:
            held = of_mod.read(entry) if of_mod else None
            key = id(game), id(held), tuple(concerned)
            if held is not None and not _is_hull(entry) and key not in self._sets:
                split(held)
        except FormatError as error:
            if not any(version.edited for version in versions):
                self.warnings.append(f"{entry} is damaged in the mod and isn't edited here: {error}")
                return None
            if not self.choices.overwrite:
                remedy = "replace it with the option `overwrite`"
                raise FormatError(f"{entry} is damaged in the mod: {error}", remedy=remedy) from error
            held, key = None, (id(game), id(None), tuple(concerned))
        if _is_hull(entry):
            return merge_whole(entry, game, held, versions, self.choices.overwrite)
        if key not in self._sets:
            self._sets[key] = merge_sets(game, held, versions, self.choices.overwrite)
        return self._sets[key]


def _is_hull(entry: str) -> bool:
    return entry.lower().endswith(HULL_ENDING)


def _same_entry(one: str, other: str) -> bool:
    return file_id(one) == file_id(other)
