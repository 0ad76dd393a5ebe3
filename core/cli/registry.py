"""What can be done with each kind of file: how it is opened, checked, described, listed and compared."""

from __future__ import annotations

import os
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
from ..game.known_files import read_known
from ..inspect import check_archive, check_hull, check_table, describe, diff_hull
from ..inspect.checks import Check
from ..inspect.diff_archive import diff_archives


@dataclass(frozen=True, slots=True)
class Format:
    """What the commands can do with one kind of file; None where a command has no meaning for it.

    `check` counts what is as it should be; `findings` only tells what isn't, `verify` counts it.
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
        check_hull.check_set,
        None,
        describe.describe_set,
        describe.list_set,
        part_meshes,
        diff_hull.diff_sets,
    ),
    Kind.NAVIGATION: Format(regn.decode, findings=regn.check, describe=describe.describe_navigation),
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


def load(path: str | os.PathLike[str], ability: str = "decode", only: Kind | None = None) -> tuple[Kind, Any, Any]:
    """The kind of a file, its model, and what its `Format` has for `ability`.

    Raises `FormatError` that names the file if it can't be read, is of another kind than `only`, or lacks the ability.
    """
    with naming(path):
        found, data = read_known(path)
        kind = _require_known(found, data, only)
        use = getattr(FORMATS[kind], ability)
        if use is None:
            raise FormatError(f"{article(kind.value)}, which this command has no use for")
        return kind, open_named(path) if kind is Kind.ARCHIVE else FORMATS[kind].decode(data), use


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


def _require_known(kind: Kind | None, data: bytes, only: Kind | None) -> Kind:
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
