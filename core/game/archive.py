"""Archives on the disk: NAME.pak with its data files NAME.p00, NAME.p01, … (docs/FORMATS.md, section 6).

An archive stores no names, only their hashes; names come from `game_folder.known_names`. Opening one reads only the
table. `archive_write` writes archives, `archive_extract` unpacks entries to a folder.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..disk import transaction
from ..disk.files import read_file
from ..disk.system_errors import system_error
from ..errors import FormatError, naming
from ..formats import compression, ipfb
from ..formats.entry_names import base_name, ids, inner_path
from ..formats.hashes import file_id
from ..formats.ipfb import Entry, Table
from .archive_files import part_names

BLOCK = 1 << 20  # bytes read at a time where a whole entry isn't needed

ENOUGH_STORED = 1 << 12
"""Stored bytes that are read to unpack the first few bytes of an entry."""

LARGEST_TABLE = 1 << 26
"""Bytes of a .pak file: five million entries."""

LARGEST_IN_ALL = 2 << 30
"""Bytes that the entries of an archive may unpack to. The game's own unpack to tens or hundreds of millions."""

Progress = Callable[[int, int], None]  # bytes done, bytes in all


@dataclass(frozen=True, slots=True)
class Part:
    """A data file that is there, and its length when the archive was opened."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Archive:
    """An open archive. Keeps no file open; if the files change, reading says so instead of giving wrong bytes.

    `path`: the .pak; `names`: by hash, those that are known.
    """

    path: Path
    table: Table
    parts: Mapping[int, Part]
    names: Mapping[int, str]
    by_hash: Mapping[int, Entry]
    stamp: tuple[str, int, int]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries, in the table's order."""
        return self.table.entries

    def with_names(self, names: Mapping[int, str]) -> Archive:
        """The same archive, with names by hash added where it has such an entry."""
        known = {number: name for number, name in names.items() if number in self.by_hash}
        return dataclasses.replace(self, names={**self.names, **known})

    def label(self, entry: Entry) -> str:
        """The entry's name, or its hash in hexadecimal."""
        return self.names.get(entry.hash, f"{entry.hash:08x}")

    def has(self, name: str) -> bool:
        """Whether there is an entry of this name; one that no archive can hold isn't there."""
        try:
            return file_id(name) in self.by_hash
        except FormatError:
            return False

    def find(self, wanted: str | int) -> Entry:
        """The entry of a name or hash. Case doesn't matter; a name may be a path with folders, with either slash, or
        without them; or a hash, as `2cf7eb47` or `2cf7eb47.bin`.

        Raises `FormatError`, with the closest of the known names, if there is none, and if several have the name.
        """
        if isinstance(wanted, int):
            exact = [wanted]
        else:
            exact = [file_id(wanted), file_id(inner_path(wanted))]
            if re.fullmatch(r"[0-9a-fA-F]{8}(\.bin)?", wanted):
                exact.append(int(wanted[:8], 16))
        for number in exact:
            if number in self.by_hash:
                return self.by_hash[number]
        text = wanted if isinstance(wanted, str) else f"{wanted:08x}"
        alike = self._alike(text) if isinstance(wanted, str) else []
        if len(alike) == 1:
            return alike[0]
        if alike:
            names = " or ".join(self.label(entry) for entry in alike[:4])
            raise FormatError(f"several entries are named {text}", remedy=f"name one: {names}", file=str(self.path))
        known = {name.lower(): name for name in self.names.values()}
        close = [known[name] for name in difflib.get_close_matches(text.lower(), known, 3)]
        remedy = "did you mean " + " or ".join(close) + "?" if close else "the command `list` shows what it holds"
        raise FormatError(f"the archive has no {text}", remedy=remedy, file=str(self.path))

    def _alike(self, wanted: str) -> list[Entry]:
        """The entries of that bare name in any folder, or without a folder if the name has one."""
        path = inner_path(wanted).lower()
        numbers = [number for number in ids(wanted) if number in self.by_hash]
        if path == base_name(path):
            numbers += [number for number, name in self.names.items() if base_name(inner_path(name)).lower() == path]
        return [self.by_hash[number] for number in dict.fromkeys(numbers)]

    def stored(self, entry: Entry) -> bytes:
        """An entry's bytes as they are stored, packed or raw. Raises `FormatError` if they can't be read."""
        if not entry.size:
            return b""  # wherever it lies
        part = self.part_of(entry)
        try:
            return b"".join(read_range(part.path, entry.offset, entry.size, entry.size))
        except FormatError as error:
            raise self._named(error, entry) from error

    def read(self, entry: Entry) -> bytes:
        """An entry's bytes, unpacked. Raises `FormatError` for damaged data; other entries can still be read."""
        stored = self.stored(entry)
        try:
            return compression.unpack(stored)
        except FormatError as error:
            raise self._named(error, entry) from error

    def beginning(self, entry: Entry, size: int) -> bytes:
        """The first bytes of an entry, unpacked, so many or fewer; reads a few thousand bytes at most.

        Raises `FormatError` if they can't be read.
        """
        start = self.stored(entry._replace(size=min(entry.size, ENOUGH_STORED)))
        try:
            return compression.beginning(start, size)
        except FormatError as error:
            raise self._named(error, entry) from error

    def unpacked_size(self, entry: Entry) -> int | None:
        """The length that a packed entry declares, None for a raw one; reads a few bytes."""
        start = self.stored(entry._replace(size=min(entry.size, compression.ENOUGH)))
        try:
            return compression.unpacked_size(start, entry.size)
        except FormatError as error:
            raise self._named(error, entry) from error

    def part_of(self, entry: Entry) -> Part:
        """The data file that holds the entry. Raises `FormatError` if it is missing, or too short for the entry."""
        part = self.parts.get(entry.part)
        changed = _stamp(self.stamp[0]) != self.stamp
        if part and not changed and entry.offset + entry.size <= part.size:
            return part
        name = self.path.with_suffix(f".p{entry.part:02d}").name
        if changed:
            error = FormatError("the archive was changed since it was opened", remedy="open it again")
        elif part is None:
            error = FormatError(f"its data file {name} is missing", remedy="copy it beside the .pak file")
        else:
            error = FormatError(
                f"its data reach beyond the end of {name}",
                offset=entry.offset,
                expected=f"{entry.size:,} bytes",
                found=f"{max(part.size - entry.offset, 0):,}",
                remedy="the data file is cut short, extract it again from the disc",
            )
        raise self._named(error, entry)

    def _named(self, error: FormatError, entry: Entry) -> FormatError:
        return error.within(self.label(entry)).within(str(self.path))


def open_archive(
    path: str | os.PathLike[str], names: Mapping[int, str] | None = None, *, recover: bool = False
) -> Archive:
    """Opens NAME.pak: reads its table, and looks which data files are there. `names`: see `Archive.with_names`.

    If writing this archive was interrupted, the files that count are read, some of them from beside the others
    (`transaction`). With `recover` the switch is finished or undone on the disk first; without, nothing is written.
    Raises `FormatError` if the table can't be read; faults of single entries come up when they are read.
    """
    pak = Path(path)
    if recover:
        transaction.recover(pak.parent, pak.name)
    interrupted = os.path.lexists(f"{pak}{transaction.JOURNAL}")
    waiting = transaction.pending(pak.parent, pak.name) if interrupted else {}
    with naming(pak):
        stamp = _stamp(os.fspath(waiting.get(pak.name) or pak))
        table = ipfb.decode(read_file(stamp[0], LARGEST_TABLE))
        parts = _parts(pak, waiting)
    by_hash = {entry.hash: entry for entry in reversed(table.entries)}  # of two equal hashes the first counts
    archive = Archive(pak, table, parts, {}, by_hash, stamp)
    return archive.with_names(names) if names else archive


def blobs(
    archive: Archive, rows: Iterable[int], most: int | None = None
) -> Iterator[tuple[list[int], bytes | FormatError]]:
    """The unpacked bytes of entries, given as rows of the table, or why they can't be read: once for all rows that
    share them, with these rows. Holds one at a time, in the order of the first row of each place.

    With `most`, what would go beyond so many bytes in all isn't read: entries that overlap could take hours.
    """
    places: dict[int, list[int]] = {}
    for row in rows:
        places.setdefault(archive.entries[row].position, []).append(row)
    left = most
    for sharing in places.values():
        sharing.sort(key=lambda row: archive.entries[row].size)
        while sharing:
            entry = archive.entries[sharing[0]]
            data, packed = _read_within(archive, entry, left)
            # a packed entry ends where its stream does, so with more bytes behind it is the same
            same = [row for row in sharing if packed or archive.entries[row].size == entry.size]
            sharing = sharing[len(same) :]
            if left is not None and isinstance(data, bytes):
                left -= len(data)
            yield sorted(same), data


def _read_within(archive: Archive, entry: Entry, most: int | None) -> tuple[bytes | FormatError, bool]:
    """An entry's bytes, at most so many, or why they aren't read; and whether they are a whole packed stream."""
    try:
        unpacked = archive.unpacked_size(entry)
        size = entry.size if unpacked is None else unpacked
        if most is not None and size > most:
            raise FormatError("isn't read, for all entries unpack to too much", found=f"{size:,} more bytes")
        return archive.read(entry), unpacked is not None
    except FormatError as error:
        return error, False


def most_to_read(archive: Archive) -> int:
    """Bytes that all entries of an archive may have, each shared one once, before reading them ends."""
    return max(LARGEST_IN_ALL, compression.MOST_TIMES * sum(part.size for part in archive.parts.values()))


def _stamp(path: str) -> tuple[str, int, int]:
    """What changes when a table is written again."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise system_error(error, "can't be read") from error
    return path, status.st_mtime_ns, status.st_size


def _parts(pak: Path, waiting: Mapping[str, Path | None]) -> dict[int, Part]:
    """The data files that count, with their sizes."""
    try:
        folder = os.path.dirname(pak)
        parts = {}
        for number, name in part_names(pak.name, {*os.listdir(folder or "."), *waiting}).items():
            path = waiting[name] if name in waiting else os.path.join(folder, name)
            if path:
                parts[number] = Part(os.fspath(path), os.stat(path).st_size)
        return parts
    except OSError as error:
        raise system_error(error, "its data files can't be read") from error


def read_range(path: str, offset: int, size: int, block: int = BLOCK) -> Iterator[bytes]:
    """A range of a file in blocks. Raises `FormatError` if the file can't be read or ends before."""
    try:
        with open(path, "rb") as stream:
            stream.seek(offset)
            while size > 0:
                data = stream.read(min(size, block))
                if not data:
                    raise FormatError(
                        f"{os.path.basename(path)} ends too early", offset=offset, expected=f"{size:,} more bytes"
                    )
                size -= len(data)
                yield data
    except OSError as error:
        name = os.path.basename(path)
        raise system_error(error, f"{name} can't be read") from error
