"""The files that a survey reads: a game folder, an archive, a folder of loose files, or one file.

Every file is read once, and held only while it is measured.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..disk.system_errors import system_error
from ..errors import FormatError
from ..formats.hashes import file_id
from ..formats.kinds import Kind, detect
from ..game import game_folder
from .archives import HEAD, LARGEST_ENTRY, Archive, data_files, open_archive, read_part
from .facts import NothingThere, NotMeasurable
from .tables import is_stage_table

MOST_FILES = 10_000
LARGEST_FILE = 64 << 20
MOST_UNPACKED = 1 << 29
"""Bytes that are unpacked in one survey at most."""
TABLES = re.compile(r"GP_MAIN_GAME_\w+\.pak", re.IGNORECASE)
COLLISION = re.compile(r"MiscBin\.pak", re.IGNORECASE)
BY_ENDING = {".col": Kind.HULL, ".rgn": Kind.NAVIGATION, ".tbl": Kind.TABLE, ".pak": Kind.ARCHIVE}
IDENTIFIER = re.compile(r"[0-9a-fA-F]{8}")


@dataclass(frozen=True, slots=True)
class Source:
    """A file or an archive's entry. `where` is the archive or folder that it is from, `stages` whether it is a stage
    table, `known` its name as far as one is known."""

    id: str
    known: str
    kind: Kind
    where: str
    stages: bool
    read: Callable[[], bytes]


@dataclass(slots=True)
class Inputs:
    """What a survey reads. `whole`: all archives of a game folder; `files` are its own inputs for the one who must not
    overwrite them."""

    game: bool = False
    archives: list[Archive] = field(default_factory=list)
    loose: list[Path] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    unreadable: int = 0
    unpacked: int = 0


def find_inputs(path: str | os.PathLike[str], everything: bool) -> Inputs:
    """Looks for game files at a path. Raises `FormatError` if nothing is there."""
    root = Path(path)
    inputs = Inputs()
    try:
        if not root.is_dir():
            if not stat.S_ISREG(root.stat().st_mode):
                raise FormatError("neither a file nor a folder", file=str(path))
            inputs.loose = [root]
        else:
            found = _game_archives(root)
            inputs.game = bool(found)
            every = list(_walk(root)) if everything or not found else []
            inputs.loose = found + [file for file in every if file not in found]
            if found:
                inputs.loose = [file for file in inputs.loose if file.suffix.lower() in (".pak", ".tbl")]
    except OSError as error:
        raise system_error(error, "can't be read", path) from error
    if not inputs.loose:
        raise FormatError("nothing is there", file=str(path), remedy="choose the folder of the extracted game disc")
    _open_archives(inputs)
    return inputs


def _game_archives(root: Path) -> list[Path]:
    """The archives of a game folder, or of the only one inside; names are compared without case."""
    inside = [folder for folder in _entries(root) if folder.is_dir()]
    found = [archives for folder in (root, *inside) if (archives := _archives_at(folder))]
    direct = _archives_at(root)
    return direct or (found[0] if len(found) == 1 else [])


def _archives_at(folder: Path) -> list[Path]:
    found = []
    for name, pattern in (("dat", TABLES), ("hidden", COLLISION)):
        for inner in _entries(folder):
            if inner.name.lower() == name and inner.is_dir():
                found += [file for file in _entries(inner) if pattern.fullmatch(file.name) and file.is_file()]
    return found


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())[:MOST_FILES]
    except OSError:
        return []  # a folder that can't be read holds nothing for a survey


def _walk(root: Path) -> Iterator[Path]:
    count = 0
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            file = Path(folder, name)
            if file.is_file():
                yield file
                count += 1
                if count == MOST_FILES:
                    return


def _open_archives(inputs: Inputs) -> None:
    """Takes the archives and their data files out of the loose files."""
    for file in list(inputs.loose):
        inputs.files.append(file)
        if _head(file)[:4] != b"IPFB":
            continue
        inputs.loose.remove(file)
        try:
            inputs.archives.append(open_archive(file, f"{len(inputs.archives) + 1}"))
        except (NotMeasurable, OSError):
            inputs.unreadable += 1
    data = {os.path.abspath(part) for file in inputs.files if file.suffix.lower() == ".pak" for part in _parts(file)}
    inputs.files += map(Path, sorted(data))
    inputs.loose = [file for file in inputs.loose if os.path.abspath(file) not in data]


def _parts(pak: Path) -> list[str]:
    try:
        return [path for path, _ in data_files(pak).values()]
    except OSError:
        return []


def sources(inputs: Inputs, everything: bool) -> list[Source]:
    """What is to be measured, in the order in which it must be: tables first, hulls before navigation volumes."""
    found = [source for archive in inputs.archives for source in _from_archive(inputs, archive, everything)]
    for file in inputs.loose:
        source = _from_file(file)
        if source is None:
            inputs.unreadable += 1
        else:
            found.append(source)
    order = list(Kind)
    order.remove(Kind.TABLE)
    return sorted(found, key=lambda source: [Kind.TABLE, *order].index(source.kind))


def _from_archive(inputs: Inputs, archive: Archive, everything: bool) -> Iterator[Source]:
    known = game_folder.known_names()
    heads: dict[tuple[int, int], bytes] = {}
    for row, (hashed, position, size) in enumerate(archive.rows.tolist()):
        place = position, size
        if place not in heads:
            heads[place] = _tried_head(archive, row)
        head, name = heads[place], known.get(hashed, "")
        kind = detect(head) or _by_name(name)
        archive.kinds[kind.value if kind else "others"] += 1
        stages = kind is Kind.TABLE and is_stage_table(head)
        if kind in (None, Kind.ARCHIVE) or (kind is Kind.TABLE and not stages and not everything):
            continue
        yield Source(f"{hashed:08x}", name, kind, archive.id, stages, _reader(inputs, archive, row))


def _tried_head(archive: Archive, row: int) -> bytes:
    try:
        return archive.head(row)
    except OSError:
        return b""


def _reader(inputs: Inputs, archive: Archive, row: int) -> Callable[[], bytes]:
    def read() -> bytes:
        if inputs.unpacked > MOST_UNPACKED:
            raise NothingThere("too much to unpack")
        stored = archive.read(row)
        data = archive.unpack(row, stored)
        inputs.unpacked += len(data)
        if len(data) >= LARGEST_ENTRY:
            raise NothingThere("too large")
        return data

    return read


def _from_file(file: Path) -> Source | None:
    """A loose file, None if it is of no kind that a survey measures."""
    head = _head(file)
    kind = detect(head) or _by_name(file.name)
    if kind in (None, Kind.ARCHIVE):
        return None
    stem = file.stem if IDENTIFIER.fullmatch(file.stem) else ""
    id = stem.lower() or f"{file_id(file.name.encode('cp932', 'replace')):08x}"

    def read() -> bytes:
        data = read_part(file, LARGEST_FILE)
        if len(data) == LARGEST_FILE:
            raise NothingThere("too large")
        return data

    stages = kind is Kind.TABLE and is_stage_table(head)
    return Source(id, file.name, kind, os.fspath(file.parent), stages, read)


def _by_name(name: str) -> Kind | None:
    lower = name.lower()
    if lower.startswith("collisionset") and lower.endswith(".bin"):
        return Kind.COLLISION_SET
    return BY_ENDING.get(os.path.splitext(lower)[1])


def _head(file: Path) -> bytes:
    try:
        return read_part(file, HEAD)
    except OSError:
        return b""
