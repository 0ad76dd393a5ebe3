"""Archives on the disk: NAME.pak with its data files NAME.p00, NAME.p01, … (format notes, section 6).

An archive stores no names, only their hashes; names come from `stage.known_names`. Opening one reads the table and
nothing else. `archive_write` writes archives, `archive_extract` unpacks entries to a folder.
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
from ..errors import Finding, FormatError, Severity, naming
from ..formats import compression, ipfb
from ..formats.entry_names import base_name, ids, inner_path
from ..formats.hashes import file_id
from ..formats.ipfb import Entry, Table

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
        start = self.stored(entry._replace(size=min(entry.size, compression.PACKED.size)))
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


MOST_NAMED = 1000
"""Damaged entries that are named one by one: a made-up table can have a million."""


def check(
    archive: Archive,
    progress: Progress | None = None,
    visit: Callable[[list[int], bytes], None] | None = None,
    wanted: Callable[[Entry], bool] | None = None,
) -> list[Finding]:
    """Verifies table, positions, gaps and the data of every entry. `elements` of a finding are rows of the table.

    `visit` is called with the unpacked bytes that could be read, each once, and the rows of the table that share them.
    The data of entries that aren't `wanted` aren't read.
    """
    findings = _check_table(archive) + _check_layout(archive)
    damaged: dict[int, str] = {}
    more: list[int] = []
    done, total = 0, sum(entry.size for entry in archive.entries)
    rows = [row for row, entry in enumerate(archive.entries) if wanted is None or wanted(entry)]
    for sharing, data in blobs(archive, rows, most_to_read(archive)):
        if isinstance(data, FormatError):
            data.file = ""  # the archive is known to who asks
            named = sharing[: max(MOST_NAMED - len(damaged), 0)]
            damaged |= dict.fromkeys(named, str(data))
            more += sharing[len(named) :]
        elif visit:
            visit(sharing, data)
        done += sum(archive.entries[row].size for row in sharing)
        if progress:
            progress(done, total)
    for row, error in sorted(damaged.items()):
        message = f"{archive.label(archive.entries[row])}: {error}"
        findings.append(Finding(Severity.ERROR, "archive data", message, "entry", (row,)))
    if more:
        message = f"{len(more):,} more entries can't be read either"
        findings.append(Finding(Severity.ERROR, "archive data", message, "entry", tuple(sorted(more))))
    return findings


def _check_table(archive: Archive) -> list[Finding]:
    table = archive.table
    hashes = [entry.hash for entry in table.entries]
    findings = []
    if (table.alignment, table.limit) != (ipfb.ALIGNMENT, ipfb.LIMIT):
        message = f"alignment 0x{table.alignment:X} and limit 0x{table.limit:X} aren't those of the game's archives"
        findings.append(Finding(Severity.WARNING, "archive header", message))
    if warning := count_warning(table):
        findings.append(Finding(Severity.WARNING, "archive count", warning))
    if table.tail:
        message = f"{len(table.tail):,} bytes behind the last row of the table"
        findings.append(Finding(Severity.INFO, "archive table", message))
    late = tuple(number for number in range(1, len(hashes)) if hashes[number] < hashes[number - 1])
    if late:
        message = f"{len(late)} rows aren't sorted by hash: the game searches by halves and misses entries"
        findings.append(Finding(Severity.ERROR, "archive order", message, "entry", late))
    places: dict[int, list[int]] = {}
    for row, number in enumerate(hashes):
        places.setdefault(number, []).append(row)
    for rows in places.values():
        if len(rows) > 1:
            message = f"{archive.label(table.entries[rows[0]])} is in the table {len(rows)} times"
            findings.append(Finding(Severity.WARNING, "archive duplicates", message, "entry", tuple(rows)))
    return findings


def count_warning(table: Table) -> str:
    """What to say where the header counts other entries than the table has; empty if it doesn't."""
    if table.count is None:
        return ""
    ended = len(table.tail) >= ipfb.ENTRY.size and int.from_bytes(table.tail[:4], "big") == ipfb.END
    why = "a row with hash 0 ends it" if ended else "the file ends there"
    return f"the header counts {table.count:,} entries, the table has {len(table.entries):,}: {why}"


def _check_layout(archive: Archive) -> list[Finding]:
    """Alignment, overlaps, shared data and gaps. What lies outside its data file is found where the data are read."""
    findings = []
    alignment = archive.table.alignment or 1
    rows = sorted(enumerate(archive.entries), key=lambda row: (row[1].position, row[1].size))
    shared: dict[int, None] = {}
    last: tuple[int, Entry] | None = None
    for number, entry in rows:
        if entry.offset % alignment:
            message = f"{archive.label(entry)} begins at 0x{entry.position:X}, not at a multiple of 0x{alignment:X}"
            findings.append(Finding(Severity.WARNING, "archive alignment", message, "entry", (number,)))
        end = last[1].offset + last[1].size if last and last[1].part == entry.part else 0
        if last and entry.size and end > entry.offset:
            message = f"{archive.label(last[1])} and {archive.label(entry)} overlap at 0x{entry.position:X}"
            if (entry.position, entry.size) == (last[1].position, last[1].size):
                shared |= {last[0]: None, number: None}
            else:
                findings.append(Finding(Severity.WARNING, "archive overlap", message, "entry", (last[0], number)))
        elif not _is_zero(archive.parts.get(entry.part), end, entry.offset):
            message = f"the gap in front of {archive.label(entry)} isn't empty"
            findings.append(Finding(Severity.INFO, "archive gap", message, "entry", (number,)))
        if end <= entry.offset + entry.size:
            last = number, entry
    if shared:
        message = f"{len(shared):,} entries share their data with others"
        findings.append(Finding(Severity.INFO, "archive shared", message, "entry", tuple(sorted(shared))))
    return findings


def _is_zero(part: Part | None, start: int, end: int) -> bool:
    """Whether a range of a data file, as far as it exists, holds zeros only."""
    if part is None:
        return True
    try:
        blocks = read_range(part.path, start, min(end, part.size) - start)
        return all(block.count(0) == len(block) for block in blocks)
    except FormatError:
        return True  # an unreadable data file is a finding of the entries in it


def _stamp(path: str) -> tuple[str, int, int]:
    """What tells that a table was written anew."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise FormatError(f"can't be read ({error.strerror or error})") from error
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
        raise FormatError(f"its data files can't be read ({error.strerror or error})") from error


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
        raise FormatError(f"can't be read ({error.strerror or error})", file=str(path.parent)) from error
    return [path.parent / name for name in names if belongs_to_archive(path.name, name)]


def belongs_to_archive(pak: str, name: str) -> bool:
    """Whether a file of this name beside a .pak is taken for a part of the archive. Case doesn't count."""
    stem, ending = os.path.splitext(pak)
    if name.casefold() == pak.casefold():
        return True
    beside = rf"{re.escape(stem)}({re.escape(ending)}|\.p\d\d)(\.bak|\.new~|\.old~|\.journal~~?)?"
    return re.fullmatch(beside, name, re.IGNORECASE) is not None


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
        raise FormatError(f"{name} can't be read ({error.strerror or error})") from error
