"""What the commands can do with each kind of file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..editing.build import hull_meshes, part_meshes
from ..errors import Finding, FormatError, naming
from ..formats import collision_set, idxd, mcol, obj, regn
from ..formats.kinds import Kind
from ..game.archive import Archive, open_archive
from ..game.game_folder import find_game, known_names
from ..game.loose_files import read_known
from ..inspect import (
    check_archive,
    check_hull,
    check_navigation,
    check_set,
    check_table,
    describe,
    describe_navigation,
    diff_hull,
    diff_navigation,
)
from ..inspect.checks import Check
from ..inspect.diff_archive import diff_archives


@dataclass(frozen=True, slots=True)
class Format:
    """What the commands can do with one kind of file; None where a command has no meaning for it.

    `check` counts what is as it should be; `findings` reports only what isn't, and `verify` counts it.
    """

    decode: Callable[[bytes], Any]
    check: Callable[[Any], list[Check]] | None = None
    findings: Callable[[Any], list[Finding]] | None = None
    describe: Callable[[Any], dict] | None = None
    contents: Callable[[Any], list[dict]] | None = None
    meshes: Callable[[Any, str], list[obj.Mesh]] | None = None
    diff: Callable[[Any, Any], list[diff_hull.Difference]] | None = None


FORMATS = {
    Kind.HULL: Format(
        mcol.decode, check_hull.check_hull, None, describe.describe_hull, None, hull_meshes, diff_hull.diff_hulls
    ),
    Kind.COLLISION_SET: Format(
        collision_set.decode,
        check_set.check_set,
        None,
        describe.describe_set,
        describe.list_set,
        part_meshes,
        diff_hull.diff_sets,
    ),
    Kind.NAVIGATION: Format(
        regn.decode,
        check_navigation.check_navigation,
        regn.check,
        describe_navigation.describe_navigation,
        None,
        describe_navigation.region_meshes,
        diff_navigation.diff_navigations,
    ),
    Kind.TABLE: Format(
        idxd.decode, findings=check_table.check, describe=describe.describe_table, contents=describe.list_table
    ),
    Kind.ARCHIVE: Format(
        # Its table says nothing without the data files beside it, so `load` opens it by its path.
        lambda data: data,
        findings=check_archive.check,
        describe=describe.describe_archive,
        contents=describe.list_archive,
        diff=diff_archives,
    ),
}


INSTEAD = {
    ("contents", Kind.HULL): "info",
    ("contents", Kind.NAVIGATION): "info",
    ("meshes", Kind.TABLE): "list",
    ("meshes", Kind.ARCHIVE): "extract",
    ("diff", Kind.TABLE): "list",
}
"""What to try where a command can't use a kind of file."""


def load(path: str | os.PathLike[str], ability: str = "decode", only: Kind | None = None) -> tuple[Kind, Any, Any]:
    """The kind of a file, its model, and what its `Format` has for `ability`.

    Raises `FormatError` that names the file if it can't be read, is of another kind than `only`, or lacks the ability.
    """
    with naming(path):
        _refuse_folder(path)
        found, data = read_known(path)
        kind = _require_known(path, found, data, only)
        use = getattr(FORMATS[kind], ability)
        if use is None:
            raise FormatError(f"this command doesn't support {kind.value}s", remedy=f"try `{INSTEAD[ability, kind]}`")
        return kind, open_named(path) if kind is Kind.ARCHIVE else FORMATS[kind].decode(data), use


def _refuse_folder(path: str | os.PathLike[str]) -> None:
    """Raises `FormatError` for a folder, with the commands that take one."""
    if not Path(path).is_dir():
        return
    try:
        find_game(path)
    except FormatError:
        remedy = "choose a file in it; `verify` and `survey` read whole folders"
    else:
        remedy = "`stages` lists what a game folder holds; `verify` and `survey` read whole folders"
    raise FormatError("this is a folder", expected="a file", remedy=remedy)


def open_named(path: str | os.PathLike[str]) -> Archive:
    """An archive with the names of its entries, from the game folder around it if there is one, else the shipped ones.

    Raises `FormatError` if its table can't be read.
    """
    try:
        game = find_game(Path(path).parent) if Path(path).is_file() else None
    except FormatError:
        game = None
    return open_archive(path, known_names(game))


def article(words: str) -> str:
    """The words with a or an in front."""
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _require_known(path: str | os.PathLike[str], kind: Kind | None, data: bytes, only: Kind | None) -> Kind:
    """The kind of a file that begins with these bytes, if it is known, and the one that is asked for."""
    pak = _archive_of(path) if kind is None else None
    if pak:
        raise FormatError("this file holds data of an archive", remedy=f"choose {pak}, which lists its entries")
    if only and kind is not only:
        raise FormatError(
            "another kind of file",
            expected=article(only.value),
            found=article(kind.value if kind else "unknown file"),
        )
    if kind is None:
        raise FormatError(
            "not a file of this game's collision data",
            offset=0,
            expected=f"one of: {', '.join(f'{kind.value}s' for kind in FORMATS)}",
            found=data[:4].hex(" ") or "an empty file",
            remedy="choose another file",
        )
    return kind


def _archive_of(path: str | os.PathLike[str]) -> str | None:
    """The name of the archive that a data file such as NAME.p00 belongs to, None if it isn't one."""
    stem, ending = os.path.splitext(path)
    return f"{os.path.basename(stem)}.pak" if re.fullmatch(r"\.p\d\d", ending, re.IGNORECASE) else None
