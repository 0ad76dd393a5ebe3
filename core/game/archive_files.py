"""The files that an archive consists of, by their names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from ..disk.system_errors import system_error
from ..formats import ipfb


def part_names(pak: str, names: Iterable[str]) -> dict[int, str]:
    """Which of the file names are data files of a .pak, by number. Case doesn't count; an exact name comes first."""
    start = os.path.splitext(pak)[0] + ".p"
    alike = [name for name in names if name[:-2].lower() == start.lower() and name[-2:].isdecimal()]
    found: dict[int, str] = {}
    for name in sorted(alike, key=lambda name: (name.startswith(start), name)):
        if int(name[-2:]) < ipfb.PARTS:
            found[int(name[-2:])] = name
    return found


def archive_files(pak: str | os.PathLike[str]) -> list[Path]:
    """The files that an archive consists of, as far as they are there: its table, its data files, and what an
    interrupted or repeated write has beside them (`transaction`). Raises `FormatError` if the folder can't be read."""
    path = Path(pak)
    try:
        names = sorted(os.listdir(path.parent))
    except OSError as error:
        raise system_error(error, "can't be read", path.parent) from error
    return [path.parent / name for name in names if belongs_to_archive(path.name, name)]


def belongs_to_archive(pak: str, name: str) -> bool:
    """Whether a file of this name beside a .pak is taken for a part of the archive. Case doesn't count."""
    stem, ending = os.path.splitext(pak)
    if name.casefold() == pak.casefold():
        return True
    beside = rf"{re.escape(stem)}({re.escape(ending)}|\.p\d\d)(\.bak|\.new~|\.old~|\.journal~~?)?"
    return re.fullmatch(beside, name, re.IGNORECASE) is not None
