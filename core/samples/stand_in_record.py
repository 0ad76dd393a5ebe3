"""How a folder of stand-in files is known as one: by the digests of all that was written there, which it records.

The record alone proves nothing, for a game's archive may have taken the place of a made-up one since.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path

from ..disk.files import read_file, write_file
from ..disk.system_errors import system_error
from ..errors import FormatError

RECORD = "stand-in.json"
MOST = 1 << 20
"""Bytes of a record; it holds one digest a file."""

LITTER = {".DS_Store", "Thumbs.db", "desktop.ini"}
"""What file managers leave in folders that a user looks into."""


def require_stand_in(root: Path, names: Collection[str]) -> set[str]:
    """The digests that the folder's record holds, none of a folder that is empty or missing.

    Raises `FormatError` if anything is there but files of these names (with `/`) that are as they were written.
    """
    there = sorted(_below(root, {name.partition("/")[0] for name in names}))
    if not there:
        return set()
    known = _recorded(root)
    for name in there:
        if name != RECORD and (name not in names or (root / name).is_symlink() or _digest(root / name) not in known):
            raise FormatError(
                f"the folder holds {name}, which isn't as this command writes it",
                file=str(root),
                remedy="choose an empty folder, or one with nothing but a stand-in game",
            )
    return known


def record(root: Path, digests: Iterable[str]) -> None:
    """Writes down what the folder's files may hold. Raises `FormatError` if that can't be written."""
    document = {"about": "A stand-in game, made up by `sample`. These are its files.", "sha256": sorted(digests)}
    write_file(root / RECORD, json.dumps(document, indent=1).encode())


def digest(data: bytes) -> str:
    """As it stands in a record."""
    return hashlib.sha256(data).hexdigest()


def digests(root: Path, names: Iterable[str]) -> set[str]:
    """Of those files that are there. Raises `FormatError` for one that can't be read."""
    return {_digest(root / name) for name in names if (root / name).is_file()}


def _below(root: Path, folders: Collection[str]) -> set[str]:
    """Names of all in a folder and in these folders in it, which themselves are left out unless they are links."""
    found: set[str] = set()
    try:
        if not os.path.isdir(root):
            return found  # making the folder says why not
        for name in set(os.listdir(root)) - LITTER:
            if name in folders and (root / name).is_dir() and not (root / name).is_symlink():
                found |= {f"{name}/{inner}" for inner in set(os.listdir(root / name)) - LITTER}
            else:
                found.add(name)
    except OSError as error:
        raise system_error(error, "the folder can't be created", root) from error
    return found


def _recorded(root: Path) -> set[str]:
    try:
        content = json.loads(read_file(root / RECORD, MOST))
        return {str(one) for one in content["sha256"]}
    except (ValueError, TypeError, KeyError, RecursionError):  # missing, of something else, damaged: it proves nothing
        return set()


def _digest(path: Path) -> str:
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""  # a folder, or what can't be read, isn't what was written
