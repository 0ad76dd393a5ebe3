"""Names of archive entries, as people write them or the game's tables do (docs/FORMATS.md, sections 6 and 7).

An archive keeps ids only. The id of an entry is that of its path in the archive, with backslashes; who looks for
an entry may know the path, the path with slashes, or the bare name.
"""

from __future__ import annotations

import re

from ..errors import FormatError
from .hashes import file_id

FOLDERS = (
    "Stage\\",
    "stage_resource\\",
    "StageResource\\",
    "table\\",
    "tables\\",
    "dat\\",
    "dat\\Stage\\",
    "eng\\",
    "jpn\\",
)
"""Folders that entries may be in, the likeliest first. `Stage` is what a table of the game says, the others are guesses
and those of public tools."""

_PACK = re.compile(r".*\.pak\+", re.IGNORECASE | re.DOTALL)


def without_pack(name: str) -> str:
    """What follows the archive in a name such as `hidden\\MiscBin.pak+test.col`; any other name as it is."""
    return _PACK.sub("", name, count=1)


def inner_path(name: str) -> str:
    """The path in the archive that is meant: backslashes, nothing in front of it."""
    return re.sub(r"^(\.?\\)+", "", without_pack(name).replace("/", "\\"))


def base_name(name: str) -> str:
    """What follows the last folder of a path."""
    return name.rpartition("\\")[2]


def ids(name: str) -> list[int]:
    """The ids that an entry of this name may have, the exact one first: a bare name in the known folders, a path
    without its folder. Raises `FormatError` for text that the game's files can't hold."""
    path, base = inner_path(name), base_name(inner_path(name))
    others = [base] if base != path else [folder + base for folder in FOLDERS]
    return list(dict.fromkeys(file_id(one) for one in (name, path, *others)))


def has_id(name: str, number: int) -> bool:
    """Whether an entry of this name may have the id."""
    try:
        return number in ids(name)
    except FormatError:
        return False
