"""Writes archives: a changed copy of one, or one made from nothing (docs/FORMATS.md, section 6).

Entries that aren't replaced keep their stored bytes, and their position as long as nothing in front of them needs
the room. Nothing is held in memory but the replacements.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from ..disk import transaction
from ..disk.files import make_folder
from ..disk.lock import alone
from ..disk.same_file import same_file
from ..disk.system_errors import system_error
from ..errors import FormatError
from ..formats import compression, ipfb
from ..formats.binary import padding
from ..formats.hashes import file_id
from ..formats.ipfb import Entry, Table
from .archive import BLOCK, Archive, Progress, open_archive, read_range
from .archive_files import archive_files, part_names
from .entry_cache import Contents

LARGEST_ALIGNMENT = 1 << 20
"""A word beyond this is damage: rounding up to it would fill the disk with zeros."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A run of bytes of a new data file: given ones, or a range of a file, or else zeros."""

    size: int
    data: bytes | None = None
    source: str | None = None
    offset: int = 0


@dataclass(slots=True)
class _Part:
    """A new data file while it is laid out. `intact`: up to its end it is the source's, gaps included."""

    pieces: list[_Piece] = field(default_factory=list)
    size: int = 0
    intact: bool = True

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
    it is stored, so that without a change the files are the source's, byte for byte. Entries that share their bytes go
    on sharing them; one that is replaced gets bytes of its own behind the others. The table keeps its order.
    The files of an archive change together (`file_switch`): a failure leaves what was in the folder. An archive that
    was there is overwritten. Writing onto the source needs `overwrite_source`, and keeps the first state of its
    files as `NAME.pak.bak`, `NAME.p00.bak`, ….

    Returns the new archive, open. Raises `FormatError` for a name that the archive lacks, for an entry that can't be
    copied, for data that don't fit an archive, and with the system's reason if a file can't be written.
    """
    target = Path(target_dir) / archive.path.name
    onto_source = same_file(target.parent, archive.path.parent)
    if not (onto_source and overwrite_source):
        require_apart(archive, target.parent)
    with alone(target):
        return _write_changed(archive, replacements, target, onto_source, progress)


def require_apart(archive: Archive, folder: str | os.PathLike[str]) -> None:
    """Raises `FormatError` if a copy of the archive in this folder would replace a file of the archive itself, which
    may have been opened through a link."""
    target = Path(folder) / archive.path.name
    written = [target, *(archive_files(target) if target.parent.is_dir() else ())]
    read = [archive.path, *(Path(part.path) for part in archive.parts.values())]
    if any(same_file(one, other) for one in written for other in read):
        remedy = "choose another folder for the modded archive, the source is never changed"
        raise FormatError("is the folder of the source itself", file=str(folder), remedy=remedy)


def _write_changed(
    archive: Archive,
    replacements: Mapping[int | str, bytes],
    target: Path,
    onto_source: bool,
    progress: Progress | None,
) -> Archive:
    if onto_source and transaction.recover(target.parent, target.name):
        archive = open_archive(archive.path, archive.names)  # its files have their own names again
    changed: dict[int, bytes] = {}
    contents = Contents(archive)
    for wanted, data in replacements.items():
        entry = archive.find(wanted)
        stored = _replacement(contents, entry, data)
        if stored is not None:
            changed[entry.hash] = stored
    entries, parts = _lay_out(archive, changed) if changed else (archive.entries, _copied(archive))
    table = replace(archive.table, entries=tuple(entries))
    _write(target, table, parts, backup=onto_source, progress=progress)
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
        if number == ipfb.END:
            raise FormatError(f"the id of {label!a} is 0, which ends an archive's table", file=str(path))
        if not packed and compression.is_packed(data):
            problem = f"{label} begins with Z1, unpacked the game would take it for packed data"
            raise FormatError(problem, file=str(path), remedy="pack it")
        stored[number] = compression.pack(data) if packed else data
        if isinstance(name, str):
            names[number] = name
    table = Table((), alignment, limit)
    room = _Room(Path(path), table, names)
    parts = {0: _Part()}
    placed = []
    for number in sorted(stored):
        entry = room.place(Entry(number, 0, len(stored[number])), resized=True)
        part = parts.setdefault(entry.part, _Part())
        part.add(_Piece(entry.offset - part.size))
        part.add(_Piece(entry.size, data=stored[number]))
        placed.append(entry)
    for part in parts.values():
        part.add(_Piece(padding(part.size, room.alignment)))
    _write(Path(path), replace(table, entries=tuple(placed)), parts, backup=False, progress=progress)
    return open_archive(path, names)


def _replacement(contents: Contents, entry: Entry, data: bytes) -> bytes | None:
    """The stored form of an entry's new bytes, None if they are those it has."""
    try:
        packed = contents.archive.unpacked_size(entry) is not None
        if contents.read(entry.hash) == data:
            return None
    except FormatError:
        packed = True  # a damaged entry may be replaced; nearly all are packed
    # raw bytes that begin with Z1 would be taken for packed ones, so they are packed whatever the entry was
    return compression.pack(data) if packed or compression.is_packed(data) else bytes(data)


@dataclass(frozen=True, slots=True)
class _Block:
    """Rows of the table whose stored bytes lie together, first come first: entries that share or overlap, which keep
    their distances, or `data` that is new for all of them. `added`: behind all that was there."""

    position: int
    size: int
    rows: list[int]
    data: bytes | None = None
    added: bool = False


def _blocks_of(archive: Archive, changed: Mapping[int, bytes]) -> list[_Block]:
    """What is to be laid out. A new entry takes the place of the old one, unless others use the bytes there.

    Raises `FormatError` if an entry that isn't changed can't be copied.
    """
    blocks: list[_Block] = []
    for rows in _clusters(archive.entries):
        kept = [row for row in rows if archive.entries[row].size and archive.entries[row].hash not in changed]
        for row in kept:
            archive.part_of(archive.entries[row])
        if kept:
            first = archive.entries[kept[0]]
            ends = [archive.entries[row].offset + archive.entries[row].size for row in kept]
            blocks.append(_Block(first.position, max(ends) - first.offset, kept))
        new: dict[
            tuple[int, int, bytes], list[int]
        ] = {}  # what shared its bytes and still is alike shares the new ones
        for row in rows:
            entry = archive.entries[row]
            data = changed.get(entry.hash)
            if data or (data is not None and entry.size and not kept):  # else nothing is left of it
                new.setdefault((entry.position, entry.size, data), []).append(row)
        for (position, size, data), sharing in new.items():
            added = bool(kept) or not size
            blocks.append(_Block(0 if added else position, len(data), sharing, data, added))
    return blocks


def _clusters(entries: Sequence[Entry]) -> Iterator[list[int]]:
    """Rows whose bytes overlap, each cluster by position. An entry without bytes is alone."""
    cluster: list[int] = []
    end = (0, 0)
    for row in sorted(range(len(entries)), key=lambda row: (entries[row].position, -entries[row].size)):
        entry = entries[row]
        if not entry.size:
            yield [row]
            continue
        if cluster and (entry.part, entry.offset) >= end:
            yield cluster
            cluster = []
        if not cluster:
            end = (entry.part, 0)
        cluster.append(row)
        end = max(end, (entry.part, entry.offset + entry.size))
    if cluster:
        yield cluster


class _Room:
    """Gives entries their places, in the order of the data files."""

    def __init__(self, path: Path, table: Table, names: Mapping[int, str]) -> None:
        self.path, self.names = path, names
        self.alignment = table.alignment if 0 < table.alignment <= LARGEST_ALIGNMENT else ipfb.ALIGNMENT
        self.limit = table.limit if 0 < table.limit <= ipfb.LIMIT else ipfb.LIMIT
        self.part = self.end = 0

    def place(self, entry: Entry, resized: bool) -> Entry:
        """The entry at its own position if nothing before it needs that, else at the next free one."""
        part, offset = entry.part, entry.offset
        if (part, offset) < (self.part, self.end):
            part, offset, resized = self.part, self.end + padding(self.end, self.alignment), True
        if resized and offset + entry.size > self.limit:
            part, offset = part + 1, 0
            self._require_fit(entry, part)
        self.part, self.end = part, offset + entry.size
        return entry._replace(position=part << 28 | offset)

    def _require_fit(self, entry: Entry, part: int) -> None:
        label = self.names.get(entry.hash, f"{entry.hash:08x}")
        if entry.size > self.limit:
            problem, expected = f"{label} is too large for a data file", f"at most {self.limit:,} bytes"
            raise FormatError(problem, expected=expected, found=f"{entry.size:,}", file=str(self.path))
        if part >= ipfb.PARTS:
            problem = f"the archive is too large, {label} and what follows don't fit"
            raise FormatError(problem, expected=f"{ipfb.PARTS} data files of {self.limit:,} bytes", file=str(self.path))


def _copied(archive: Archive) -> dict[int, _Part]:
    """The data files as they are."""
    parts = {number: _Part() for number in archive.parts}
    for number, source in archive.parts.items():
        parts[number].add(_Piece(source.size, source=source.path))
    return parts


def _lay_out(archive: Archive, changed: Mapping[int, bytes]) -> tuple[list[Entry], dict[int, _Part]]:
    """The entries with their new positions and sizes, in the table's order, and what each data file consists of."""
    room = _Room(archive.path, archive.table, archive.names)
    parts: dict[int, _Part] = {}
    placed = [entry._replace(size=0) if changed.get(entry.hash) == b"" else entry for entry in archive.entries]
    ends: dict[int, int] = {}  # of the source's data files, without the padding behind the last entry
    for entry in archive.entries:
        if entry.size:
            ends[entry.part] = max(ends.get(entry.part, 0), entry.offset + entry.size)
    for block in sorted(_blocks_of(archive, changed), key=lambda block: (block.added, block.position, block.size)):
        first = archive.entries[block.rows[0]]
        if block.added and room.part in parts:
            room.end = max(room.end, _finish(archive, room.alignment, parts[room.part], room.part, ends))
        new = room.place(Entry(first.hash, block.position, block.size), resized=block.data is not None)
        part, stays = parts.setdefault(new.part, _Part()), new.position == block.position
        part.add(_gap(archive, new.part, part.size, new.offset, kept=part.intact and stays))
        if block.data is None:
            part.add(_Piece(block.size, source=archive.part_of(first).path, offset=first.offset))
        else:
            part.add(_Piece(block.size, data=block.data))
        part.intact = stays and block.data is None
        for row in block.rows:
            entry = archive.entries[row]
            if block.data is None:
                placed[row] = entry._replace(position=new.position + entry.position - block.position)
            else:
                placed[row] = entry._replace(position=new.position, size=block.size)
    for number in archive.parts:
        if number in parts or number not in ends:  # one without entries is copied as it is
            _finish(archive, room.alignment, parts.setdefault(number, _Part()), number, ends)
    for number in parts.keys() - archive.parts.keys():
        parts[number].add(_Piece(padding(parts[number].size, room.alignment)))
    return placed, parts


def _finish(archive: Archive, alignment: int, part: _Part, number: int, ends: Mapping[int, int]) -> int:
    """Adds what the source has behind its last entry, or the padding if that has moved: the size."""
    source = archive.parts.get(number)
    if source and part.intact and part.size == ends.get(number, 0):
        part.add(_gap(archive, number, part.size, source.size, kept=True))
    elif source and source.size % alignment == 0:
        part.add(_Piece(padding(part.size, alignment)))
    return part.size


def _gap(archive: Archive, number: int, start: int, end: int, kept: bool) -> _Piece:
    """The bytes between two entries: zeros, or whatever the source has there if both are where they were."""
    source = archive.parts.get(number)
    if kept and source is not None and end <= source.size:
        return _Piece(end - start, source=source.path, offset=start)
    return _Piece(end - start)


def _write(target: Path, table: Table, parts: Mapping[int, _Part], *, backup: bool, progress: Progress | None) -> None:
    make_folder(target.parent)
    try:
        there = part_names(target.name, [path.name for path in target.parent.iterdir()])
    except OSError as error:
        raise system_error(error, "can't be written", target) from error
    done, total = 0, sum(part.size for part in parts.values())

    def writer(part: _Part) -> transaction.Writer:
        def write(stream: BinaryIO) -> None:
            nonlocal done
            for block in _blocks(part.pieces):
                stream.write(block)
                done += len(block)
                if progress:
                    progress(done, total)

        return write

    # data files of an earlier, larger archive go
    writers: dict[str, transaction.Writer | None] = dict.fromkeys(there.values())
    for number, part in parts.items():
        writers[there.get(number, target.with_suffix(f".p{number:02d}").name)] = writer(part)
    encoded = ipfb.encode(table)
    writers[target.name] = lambda stream: stream.write(encoded)
    transaction.replace_files(target.parent, target.name, writers, backup=backup)


def _blocks(pieces: Iterable[_Piece]) -> Iterable[bytes]:
    for piece in pieces:
        if piece.data is not None:
            yield piece.data
        elif piece.source is not None:
            yield from read_range(piece.source, piece.offset, piece.size)
        else:
            for start in range(0, piece.size, BLOCK):
                yield bytes(min(BLOCK, piece.size - start))
