"""The navigation volume of a hull: where the one that the hull came with is, and what an edit makes of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import bpy

from ...core.disk.files import read_file
from ...core.disk.same_file import same_file
from ...core.editing.options import Options
from ...core.errors import FormatError, RefusedError, SylpheedError, naming
from ...core.formats import mcol, regn, regn_contents
from ...core.formats.kinds import Kind
from ...core.formats.mcol import Hull
from ...core.formats.regn import Navigation
from ...core.game import loose_files
from ...core.game.archive import open_archive
from ...core.game.game_folder import HULL_ENDING, NAVIGATION_ENDING, find_game, known_names
from ...core.game.mod_folder import mod_archive
from ...core.inspect.check_navigation import check_navigation
from ...core.navigation.build import build
from ...core.navigation.patch import Patched, patch
from . import custom_properties, sources
from .exporting import export_hull


@dataclass(frozen=True, slots=True, eq=False)
class NavigationSource:
    """A volume, the hull that it was made for, and where it is: a file, or an archive and its entry. `imported`:
    whether that hull is the one that the root came with."""

    navigation: Navigation
    hull: Hull
    place: str
    imported: bool


@dataclass(frozen=True, slots=True)
class _Pair:
    """A `.col` and the `.rgn` beside it, which may be there or not, and may be read or not."""

    place: str
    read_hull: Callable[[], bytes]
    read_navigation: Callable[[], bytes]


def find_navigation(root: bpy.types.Object, mod: str = "") -> NavigationSource:
    """The volume that a root's hull came with: from the archive of the mod folder or the game that it was imported
    from, or beside the imported file.

    Raises `RefusedError` if there is none, or none that fits, and `FormatError` if it can't be read.
    """
    if (kept := _kept_source(root)) is not None:
        return kept
    pairs = list(_pairs(root, mod))
    if not pairs:
        raise RefusedError(
            f'the file that "{root.name}" came from isn\'t known, so neither is its navigation volume',
            remedy="import the stage from a game folder, or the hull with its .rgn beside it",
        )
    pair, hulls = _matching(root, pairs)
    try:
        data = pair.read_navigation()
    except SylpheedError as error:
        raise RefusedError(
            f'"{root.name}" has no navigation volume',
            expected=pair.place,
            found=error.problem,
            remedy="put the .rgn of the hull there",
        ) from None
    with naming(pair.place):
        navigation = regn.decode(data)
    reasons = [regn.fits(navigation, hull.grid) for hull in hulls]
    fitting = [hull for hull, wrong in zip(hulls, reasons, strict=True) if not wrong]
    if not fitting:
        raise RefusedError(
            f'the navigation volume doesn\'t fit the hull that "{root.name}" came from: {"; ".join(reasons[0])}',
            file=pair.place,
            remedy="put the .rgn of that hull there",
        )
    hull = fitting[0] if len(fitting) == 1 else _made_for(navigation, fitting)
    return NavigationSource(navigation, hull, pair.place, custom_properties.is_imported(root, mcol.encode(hull)))


def _made_for(navigation: Navigation, hulls: list[Hull]) -> Hull:
    """The hull whose rock a volume knows best: the one with the fewest faults in its checks, the first of equals."""
    faults = [sum(check.total - check.good for check in check_navigation(navigation, hull)) for hull in hulls]
    return hulls[faults.index(min(faults))]


_replaced: dict[str, bytes] = {}
"""By the number of a root, the volume that it came with, where an export replaced the file. It is kept on the root too,
from where undo takes it."""


def keep_source(root: bpy.types.Object, source: NavigationSource) -> None:
    """Keeps the volume that a hull came with, because an export is about to replace its file: later edits start from
    it."""
    data = regn.encode(source.navigation)
    _replaced[custom_properties.root_id(root)] = data
    root[custom_properties.NAVIGATION_SOURCE] = data


def _kept_source(root: bpy.types.Object) -> NavigationSource | None:
    data = _replaced.get(custom_properties.root_id(root)) or root.get(custom_properties.NAVIGATION_SOURCE)
    if not isinstance(data, bytes) or not custom_properties.is_imported(root, custom_properties.source(root)):
        return None
    return NavigationSource(regn.decode(data), sources.hull_source(root), f'kept with "{root.name}"', True)


def patch_for(source: NavigationSource, edited: Hull) -> Patched:
    """The volume for an edited hull, with its bytes. A hull without a change leaves it byte for byte as it is.

    Raises `FormatError` if the volume's contents can't be read.
    """
    with naming(source.place):
        return patch(source.navigation, source.hull, edited)


def _matching(root: bpy.types.Object, pairs: list[_Pair]) -> tuple[_Pair, list[Hull]]:
    """The first pair whose hull is the imported one, with that hull. Or else the last pair, with the hulls that its
    volume may have been made for: the one there, which another session may have written with it, and the imported
    one, where the root still has it."""
    digest = custom_properties.digest(root)
    others: list[tuple[_Pair, Hull]] = []
    for pair in pairs:
        try:
            data = pair.read_hull()
            with naming(pair.place):
                hull = mcol.decode(data)
        except SylpheedError:
            continue
        if custom_properties.digest_of(data) == digest:
            return pair, [hull]
        others.append((pair, hull))
    pair, hulls = (others[-1][0], [others[-1][1]]) if others else (pairs[-1], [])
    if custom_properties.is_imported(root, custom_properties.source(root)):
        hulls.append(sources.hull_source(root))
    if hulls:
        return pair, hulls
    raise RefusedError(
        f'the hull that "{root.name}" came from, for which its navigation volume was made, is no longer there',
        expected=pair.place,
        remedy="put it back",
    )


def _pairs(root: bpy.types.Object, mod: str) -> Iterator[_Pair]:
    """Where the imported hull may be with its volume: in the mod folder, the game, or a folder."""
    game_folder, entry = custom_properties.origin(root)
    if game_folder and entry:
        yield from _archived(game_folder, entry, mod)
        return
    path = custom_properties.file(root)
    if path:
        beside = os.path.splitext(path)[0] + NAVIGATION_ENDING
        yield _Pair(
            beside,
            lambda: read_file(path, loose_files.MOST[Kind.HULL]),
            lambda: read_file(beside, loose_files.MOST[Kind.NAVIGATION]),
        )


def _archived(game_folder: str, entry: str, mod: str) -> Iterator[_Pair]:
    game = find_game(game_folder)
    beside = entry[: -len(HULL_ENDING)] + NAVIGATION_ENDING
    paths: list[Path | None] = [mod_archive(mod), game.collision]
    for path in filter(None, paths):
        try:
            archive = open_archive(path, known_names(game))
        except FormatError:
            continue  # of several, another one may do

        def read(name: str, archive=archive) -> bytes:
            return archive.read(archive.find(name))

        yield _Pair(f"{path}: {beside}", lambda read=read: read(entry), lambda read=read: read(beside))


def _patched(volume: bytes, old: bytes, new: bytes) -> tuple[bytes, list[str]]:
    navigation, hull = regn.decode(volume), mcol.decode(old)
    if reasons := regn.fits(navigation, hull.grid):
        raise RefusedError(
            f"it doesn't fit the hull that it belongs to: {'; '.join(reasons)}", remedy="choose Navigation: Rebuild"
        )
    done = patch(navigation, hull, mcol.decode(new))
    return done.data, [finding.message for finding in done.findings]


def _rebuilt(volume: bytes, old: bytes, new: bytes) -> tuple[bytes, list[str]]:
    return rebuild_for(mcol.decode(new)), []


def rebuild_for(hull: Hull, progress: Callable[[float], None] = lambda part: None) -> bytes:
    """A volume from a hull alone. `progress` gets parts of 1, and may raise an error to stop.

    Raises `RefusedError` for free space that takes more than a file can name.
    """
    return regn_contents.encode(build(hull, progress), hull.grid)


def current_volume(context: bpy.types.Context, root: bpy.types.Object, mod: str = "") -> tuple[bytes, bytes]:
    """The bytes of the volume for a hull as it is now, and those of the hull: the one that the root keeps if it was
    made for that, or the one that it came with, patched for the edit.

    Raises `SylpheedError` where the hull can't be exported, or has no volume.
    """
    hull = export_hull(context, root, Options(), True).data
    volume = custom_properties.stored_navigation(root, hull)
    if volume is None:
        model = mcol.decode(hull)
        own_grid = not is_new(root) and custom_properties.is_imported(root, custom_properties.source(root))
        volume = patch_for(find_navigation(root, mod), model).data if own_grid else rebuild_for(model)
    return volume, hull


REMAKES = {"PATCH": _patched, "REBUILD": _rebuilt, "KEEP": None}
"""How an export makes the volume for an edited hull, by the option's choices: from the old volume and its hull, or from
the edited hull alone, or not at all."""


@dataclass(frozen=True, slots=True)
class Beside:
    """The volume that goes beside an exported hull: its path, its bytes, and what to warn of."""

    path: str
    data: bytes
    warnings: tuple[str, ...] = ()


def volume_beside(root: bpy.types.Object, data: bytes, path: str, mod: str = "") -> Beside | None:
    """The volume that goes beside a hull, given the bytes and the path of its file, which isn't written yet. None where
    its source isn't known and none is there.

    It is patched for the edit; a hull made from nothing and one in a new grid get it from the hull alone. Raises
    `SylpheedError` where it can't be made, and the one that is there then stays.
    """
    beside = os.path.splitext(path)[0] + NAVIGATION_ENDING
    stored = custom_properties.stored_navigation(root, data)
    if stored is not None:
        return Beside(beside, stored)
    if is_new(root):
        return Beside(beside, rebuild_for(mcol.decode(data)))
    try:
        source = find_navigation(root, mod)
    except RefusedError as error:
        if not os.path.exists(beside) or _holds(path, data):
            return None
        raise RefusedError(
            f"{beside} stays as it is and may not fit the exported hull: {error}", remedy="Rebuild it, or delete it"
        ) from None
    if same_file(source.place, beside) and source.imported:
        keep_source(root, source)
    new = mcol.decode(data)
    if not custom_properties.is_imported(root, custom_properties.source(root)):
        return Beside(beside, rebuild_for(new))
    patched = patch_for(source, new)
    return Beside(beside, patched.data, tuple(finding.message for finding in patched.findings))


def _holds(path: str, data: bytes) -> bool:
    """Whether a file has these bytes already."""
    try:
        return read_file(path) == data
    except SylpheedError:
        return False


def is_new(root: bpy.types.Object) -> bool:
    """Whether a hull was made here and never was in a file or an archive."""
    return bool(root.get(custom_properties.NEW))
