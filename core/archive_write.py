"""Writes archives: a changed copy of one, or one made from nothing (format notes, section 6).

Entries that aren't replaced keep their stored bytes, and their position as long as nothing in front of them needs
the room. Nothing is held in memory but the replacements.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from . import file_switch, ipfb
from .archive import BLOCK, Archive, Progress, open_archive, part_names, read_range
from .binary import padding
from .errors import FormatError
from .hashes import file_id
from .ipfb import Entry, Table


@dataclass(frozen=True, slots=True)
class _Piece:
    """A run of bytes of a new data file: given ones, or a range of a file, or else zeros."""

    size: int
    data: bytes | None = None
    source: Path | None = None
    offset: int = 0


@dataclass(slots=True)
class _Part:
    """A new data file while it is laid out."""

    pieces: list[_Piece] = field(default_factory=list)
    size: int = 0

    def add(self, piece: _Piece) -> None:
        if piece.size > 0:
            self.pieces.append(piece)
            self.size += piece.size


def write_archive(
    archive: Archive,
    replacements: Mapping[int | str, bytes],
    target_dir: str | os.PathLike[str],
    *,
    overwrite_source: bool = False,
    progress: Progress | None = None,
) -> Archive:
    """Writes the archive into a folder, under its own name, with new (unpacked) bytes for some entries.

    `replacements`: by name or hash. A replaced entry is packed or raw as it was; one whose bytes don't differ stays as
    it is stored, so that without a change the files are the source's, byte for byte (the table is always sorted).
    The files of an archive change together (`file_switch`): a failure leaves what was in the folder. An archive that
    was there is overwritten. Writing onto the source needs `overwrite_source`, and keeps the first state of its
    files as `NAME.pak.bak`, `NAME.p00.bak`, ….

    Returns the new archive, open. Raises `FormatError` for a name that the archive lacks, for an entry that can't be
    copied, for data that don't fit an archive, and with the system's reason if a file can't be written.
    """
    target = Path(target_dir) / archive.path.name
    onto_source = _same_folder(target.parent, archive.path.parent)
    if onto_source and not overwrite_source:
        raise FormatError(
            "the target is the archive itself", file=str(archive.path), remedy="choose another folder, or allow overwriting"
        )
    changed: dict[int, bytes] = {}
    for wanted, data in replacements.items():
        entry = archive.find(wanted)
        stored = _replacement(archive, entry, data)
        if stored is not None:
            changed[entry.hash] = stored
    entries, parts = _lay_out(archive, changed)
    names = part_names(archive.path.name, [part.path.name for part in archive.parts.values()])
    table = replace(archive.table, entries=tuple(sorted(entries, key=lambda entry: entry.hash)))
    _write(target, table, parts, names, backup=onto_source, progress=progress)
    return open_archive(target, archive.names)


def make_archive(
    path: str | os.PathLike[str],
    entries: Mapping[int | str, tuple[bytes, bool]],
    *,
    alignment: int = ipfb.ALIGNMENT,
    limit: int = ipfb.LIMIT,
    progress: Progress | None = None,
) -> Archive:
    """Writes an archive from nothing: by name or hash the unpacked bytes, and whether to pack them.

    Returns the new archive, open, with the names. Raises `FormatError` for two names of one hash, for raw data that the
    game would take for packed, for data that don't fit, and with the system's reason if a file can't be written.
    """
    names: dict[int, str] = {}
    stored: dict[int, bytes] = {}
    for name, (data, packed) in entries.items():
        number = name if isinstance(name, int) else file_id(name)
        label = name if isinstance(name, str) else f"{name:08x}"
        if number in stored:
            problem = f"{label} and {names.get(number, f'{number:08x}')} have the same hash {number:08x}"
            raise FormatError(problem, file=str(path), remedy="leave one of them out")
        if not packed and ipfb.is_packed(data):
            problem = f"{label} begins with Z1, unpacked the game would take it for packed data"
            raise FormatError(problem, file=str(path), remedy="pack it")
        stored[number] = ipfb.pack(data) if packed else data
        if isinstance(name, str):
            names[number] = name
    room = _Room(Path(path), alignment, _sane_limit(alignment, limit), names)
    parts: dict[int, _Part] = {}
    placed = []
    for number in sorted(stored):
        entry = room.place(Entry(number, 0, len(stored[number])), moved=True)
        part = parts.setdefault(entry.part, _Part())
        part.add(_Piece(entry.offset - part.size))
        part.add(_Piece(entry.size, data=stored[number]))
        placed.append(entry)
    for part in parts.values():
        part.add(_Piece(padding(part.size, alignment)))
    table = Table(tuple(placed), alignment, limit)
    _write(Path(path), table, parts or {0: _Part()}, {}, backup=False, progress=progress)
    return open_archive(path, names)


def _replacement(archive: Archive, entry: Entry, data: bytes) -> bytes | None:
    """The stored form of an entry's new bytes, None if they are those it has."""
    try:
        packed = archive.unpacked_size(entry) is not None
        if archive.read(entry) == data:
            return None
    except FormatError:
        packed = True  # a damaged entry may be replaced; nearly all are packed
    # raw bytes that begin with Z1 would be taken for packed ones, so they are packed whatever the entry was
    return ipfb.pack(data) if packed or ipfb.is_packed(data) else bytes(data)


@dataclass(slots=True)
class _Room:
    """Gives entries their places, in the order of the data files, each part up to the limit."""

    path: Path
    alignment: int
    limit: int
    names: Mapping[int, str]
    part: int = 0
    end: int = 0

    def place(self, entry: Entry, moved: bool) -> Entry:
        """The entry at its own position if it is free, else at the next one. `moved`: its position means nothing."""
        part, offset = entry.part, entry.offset
        if moved or (part, offset) < (self.part, self.end):
            part, offset = self.part, self.end + padding(self.end, self.alignment)
        if offset + entry.size > self.limit and (part, offset) != (entry.part, entry.offset):
            part, offset = part + 1, 0
        self._require_fit(entry, part, offset)
        self.part, self.end = part, offset + entry.size
        return replace(entry, position=part << 28 | offset)
