"""A mod folder beside a game folder: its files come first, and edits go there.

Both have the layout of the disc. The game folder is only ever read. docs/FORMATS.md, sections 5 and 6.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..disk.files import make_folder
from ..disk.lock import alone
from ..disk.same_file import is_inside, same_file
from ..errors import FormatError
from ..formats import mcol, regn
from .archive import Archive, open_archive
from .archive_files import archive_files
from .archive_write import write_archive
from .entry_cache import Contents
from .game_folder import HULL_ENDING, NAVIGATION_ENDING, Game, find_game, known_names

COLLISION_FOLDER, COLLISION_ARCHIVE = "hidden", "MiscBin.pak"
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Written:
    """The archive that was written or holds everything already, None where the game's own does and no mod is needed;
    the names of the entries that it replaced, and what to warn of."""

    path: Path | None
    replaced: tuple[str, ...]
    warnings: tuple[str, ...]


def open_collision(game: Game, mod: str = "") -> Archive:
    """The archive of the collision files: the mod folder's where it has one, else the game's.

    Raises `FormatError` if it is missing or can't be read.
    """
    return open_archive(mod_archive(mod) or game.require_collision(), known_names(game))


def write_mod(game: Game, mod: str, replacements: Mapping[str, bytes], progress: Progress | None = None) -> Written:
    """Writes the collision archive with new bytes for entries by name into the mod folder, which grows with each call,
    also when two programs write it at the same time.

    An entry whose bytes are there already isn't counted as replaced; where all are, nothing is written. Raises
    `FormatError` as `require_apart` does, if a name isn't in the archive, or if the archive can't be read or written.
    """
    require_apart(game, mod)
    with alone(Path(os.path.realpath(mod))):
        present, names = mod_archive(mod), known_names(game)
        if present:
            archive = open_archive(present, names, recover=True)
        else:
            archive = open_archive(game.require_collision(), names)
        return write_changed(Contents(archive), mod, bool(present), replacements, progress)


def require_apart(game: Game, mod: str) -> None:
    """Raises `FormatError` if writing the mod could change the game: the mod folder, or what it has of `hidden` or the
    archive in it, is the game's or leads into it by any link, lies inside it, or lies around it."""
    if not mod or is_inside(game.root, mod):
        raise _onto_the_game(mod or "Mod folder")
    archives = [pak for pak in (game.collision, *game.tables) if pak]
    sources = [file for pak in archives for file in (pak.parent, *archive_files(pak))]
    for place in _written_in(mod):
        if is_inside(place, game.root) or any(same_file(place, source) for source in sources):
            raise _onto_the_game(str(place))


def _written_in(mod: str) -> list[Path]:
    """What an export may change: the mod folder, its `hidden` in any spelling, and the archive's files in that."""
    folder = Path(mod)
    places = [folder, folder / COLLISION_FOLDER]
    with contextlib.suppress(OSError):  # not there yet, or writing it says why not
        places += [folder / name for name in os.listdir(folder) if name.lower() == COLLISION_FOLDER]
        for hidden in {place for place in places[1:] if place.is_dir()}:
            places += archive_files(hidden / COLLISION_ARCHIVE)
    return places


def _onto_the_game(place: str) -> FormatError:
    remedy = "choose another folder for the mod"
    return FormatError("the mod can't be written onto the game", file=place, remedy=remedy)


def write_changed(
    contents: Contents, mod: str, present: bool, replacements: Mapping[str, bytes], progress: Progress | None
) -> Written:
    """Does what `write_mod` does where nobody else writes meanwhile. `contents`: what the mod grows from, `present`:
    whether that is the mod's own archive."""
    archive = contents.archive
    changed: dict[int | str, bytes] = {
        name: data for name, data in replacements.items() if not contents.holds(name, data)
    }
    warnings = [text for name in changed for text in _navigation_warnings(archive, str(name), changed)]
    if not changed:
        return Written(archive.path if present else None, (), ())
    folder = archive.path.parent if present else Path(os.path.realpath(mod)) / COLLISION_FOLDER
    make_folder(folder)
    written = write_archive(archive, changed, folder, overwrite_source=present, progress=progress)
    return Written(written.path, tuple(map(str, changed)), tuple(warnings))


def mod_archive(mod: str) -> Path | None:
    """The collision archive of a mod folder, None if it has none."""
    if not mod or not Path(mod).is_dir():
        return None
    try:
        found = find_game(mod)
    except FormatError:
        return None  # an empty folder, to be filled
    return found.collision if found.root == Path(os.path.abspath(mod)) else None


def _navigation_warnings(archive: Archive, name: str, changed: Mapping[int | str, bytes]) -> list[str]:
    volume = changed.get(name[: -len(HULL_ENDING)] + NAVIGATION_ENDING)
    try:
        return navigation_warnings(archive, name, changed[name], volume)
    except FormatError as error:
        return [f"whether the navigation volume beside {name} still fits can't be decided: {error}"]


def navigation_warnings(archive: Archive, name: str, data: bytes, volume: bytes | None = None) -> list[str]:
    """Why the navigation volume beside a changed hull no longer is right, or a new one, `volume`, isn't.

    Empty for names that aren't a hull's. Raises `FormatError` if the old or the new hull can't be read.
    """
    if not name.lower().endswith(HULL_ENDING):
        return []
    beside = name[: -len(HULL_ENDING)] + NAVIGATION_ENDING
    before, after = mcol.decode(archive.read(archive.find(name))), mcol.decode(data)
    try:
        stored = archive.read(archive.find(beside)) if volume is None else volume
        misfits = regn.fits(regn.decode(stored), after.grid)
    except FormatError as error:
        return [f"{beside} can't be read, and without it the game has no map collision: {error}"]
    if misfits:
        return [f"{beside} no longer fits {name}: {'; '.join(misfits)}; {regn.MISFIT}"]
    same = np.array_equal(before.vertices, after.vertices) and np.array_equal(before.triangles, after.triangles)
    if volume is None and not same:
        return [f"{beside} knows nothing of the changed rock in {name}: computer-flown ships would fly through it"]
    return []
