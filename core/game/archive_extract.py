"""Unpacks entries of an archive to a folder, safely whatever their names are."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ..disk.files import make_folder, write_file
from ..disk.same_file import same_file
from ..errors import FormatError
from ..formats import compression
from ..formats.entry_names import base_name, has_id, inner_path
from ..formats.ipfb import Entry
from .archive import LARGEST_IN_ALL, Archive, Progress, blobs
from .archive_files import archive_files, belongs_to_archive

# Names that Windows gives to devices, with any ending: opening NUL.col there opens no file.
_DEVICE = re.compile(r"(CON|PRN|AUX|NUL|CLOCK\$|CONIN\$|CONOUT\$|COM[0-9¹²³]|LPT[0-9¹²³])\s*(\.|$)", re.IGNORECASE)
_UNSAFE = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]')
_LONGEST = 200  # bytes of a file name; file systems allow 255, and a temporary name needs some


@dataclass(frozen=True, slots=True)
class Extracted:
    """What became of an entry: the file it was written to, or why it could not be read."""

    entry: Entry
    path: Path | None
    error: FormatError | None = None


def extract(
    archive: Archive,
    target_dir: str | os.PathLike[str],
    names: Iterable[str | int] | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> list[Extracted]:
    """Unpacks the entries of these names or hashes, or all, as files of `target_dir`; existing ones are replaced.

    A file has its entry's name, made safe by `safe_name`; `<hash>.bin` where the name isn't known. An entry that
    can't be read is left out and reported in the result. Raises `FormatError`, before anything is written, for a name
    that the archive lacks, if a file of the archive itself would be replaced, and without `force` for more than
    `LARGEST_IN_ALL` bytes; later with the system's reason if a file can't be written.
    """
    folder = Path(target_dir)
    rows: Iterable[int] = range(len(archive.entries))
    if names is not None:
        wanted = [(archive.find(name), name) for name in names]
        first = {entry: row for row, entry in reversed(list(enumerate(archive.entries)))}
        rows = dict.fromkeys(first[entry] for entry, _ in wanted)
        for entry, name in wanted:
            archive = _named(archive, entry, name)
    entries = [archive.entries[row] for row in rows]
    paths = dict(zip(rows, _paths(archive, entries, folder), strict=True))
    _require_apart(archive, entries, list(paths.values()))
    if not force:
        _require_room(archive, entries)
    make_folder(folder)
    results: dict[int, Extracted] = {}
    done, total = 0, sum(entry.size for entry in entries)
    for sharing, data in blobs(archive, rows):
        for row in sharing:
            results[row] = _extract(archive, archive.entries[row], paths[row], data)
            done += archive.entries[row].size
            if progress:
                progress(done, total)
    return [results[row] for row in rows]


def _named(archive: Archive, entry: Entry, wanted: str | int) -> Archive:
    """The archive with the name by which an entry was asked for: a bare name stays one, whatever folder it is in."""
    if not isinstance(wanted, str) or not has_id(wanted, entry.hash):
        return archive
    known = archive.names.get(entry.hash, inner_path(wanted))
    bare = inner_path(wanted) == base_name(inner_path(wanted))
    return archive.with_names({entry.hash: base_name(known) if bare else known})


def _require_room(archive: Archive, entries: Iterable[Entry]) -> None:
    """Raises `FormatError` if the files would have more bytes in all than any archive of the game, by far."""
    sizes: dict[Entry, int] = {}
    for entry in entries:
        alike = entry._replace(hash=0)
        if alike not in sizes:
            sizes[alike] = 0
            with contextlib.suppress(FormatError):  # what can't be read isn't written
                unpacked = archive.unpacked_size(entry)
                most = compression.most_unpacked(entry.size)
                sizes[alike] = entry.size if unpacked is None else unpacked if unpacked <= most else 0
    total = sum(sizes[entry._replace(hash=0)] for entry in entries)
    if total > LARGEST_IN_ALL:
        raise FormatError(
            "its entries unpack to more than any archive of the game",
            expected=f"at most {LARGEST_IN_ALL:,} bytes",
            found=f"{total:,}",
            remedy="name those that you need, or take them all with --force",
            file=str(archive.path),
        )


def _paths(archive: Archive, entries: Iterable[Entry], folder: Path) -> list[Path]:
    paths = []
    taken: set[str] = set()
    for entry in entries:
        name = safe_name(archive.names.get(entry.hash, ""), entry.hash)
        if name.casefold() in taken:  # two unsafe names may have become one
            name = f"{entry.hash:08x}-{len(taken)}.bin"
        taken.add(name.casefold())
        paths.append(folder / name)
    return paths


def _require_apart(archive: Archive, entries: Iterable[Entry], paths: list[Path]) -> None:
    """Raises `FormatError` if an entry would replace a file of the archive, or get a name that belongs to it."""
    read: list[str | Path] = [*archive_files(archive.path), *(part.path for part in archive.parts.values())]
    folder = paths[0].parent if paths else Path()
    paks = {archive.path, Path(os.path.realpath(archive.path))}
    homes = [pak.name for pak in paks if same_file(pak.parent, folder)]
    for entry, path in zip(entries, paths, strict=True):
        taken = any(belongs_to_archive(pak, path.name) for pak in homes)
        if taken or (os.path.exists(path) and any(same_file(path, file) for file in read)):
            problem = f"{archive.label(entry)} would overwrite the archive that it comes from"
            raise FormatError(problem, file=str(path), remedy="extract into another folder")


def safe_name(name: str, number: int) -> str:
    """A file name for an entry that is one plain name on every system: no folder, drive, stream or device.

    Unsafe characters become `_`; a name of which nothing is left, or of more than 200 bytes, becomes `<hash>.bin`.
    """
    # dots and blanks at the end are dropped by Windows, so that `x.col.` would be `x.col`
    safe = _UNSAFE.sub("_", name).strip().rstrip(". ")
    if not safe.strip("._ ") or len(safe.encode()) > _LONGEST:
        return f"{number:08x}.bin"
    return "_" + safe if _DEVICE.match(safe) or safe.startswith(".") else safe


def _extract(archive: Archive, entry: Entry, path: Path, data: bytes | FormatError) -> Extracted:
    if isinstance(data, FormatError):
        # The error may be of another entry, with the same bytes.
        return Extracted(entry, None, replace(data, file=f"{archive.path}: {archive.label(entry)}"))
    if path.is_symlink():  # it may lead out of the folder
        path.unlink()
    write_file(path, data)
    return Extracted(entry, path)
