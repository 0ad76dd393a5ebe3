"""New contents for entries of an archive, from files: what `python -m core replace` does."""

from __future__ import annotations

import os
from pathlib import Path

from .archive import Archive, Progress, archive_files
from .archive_write import require_apart, write_archive
from .detect import Kind, detect
from .errors import FormatError
from .files import make_folder, read_file
from .formats import FORMATS, article
from .ipfb import Entry
from .mod import navigation_warnings
from .same_file import refuse_same
from .stage import HULL_ENDING, NAVIGATION_ENDING


def replace_entries(
    archive: Archive, files: list[tuple[str, str]], folder: str, progress: Progress | None = None
) -> tuple[Archive, list[str]]:
    """Writes the archive into a folder, with the contents of files for entries by name: the new archive, and warnings.

    Raises `FormatError`, before anything is written, for a name that the archive lacks or that comes twice, for a file
    that can't be read or is of another kind than what it replaces, and if a file of the source or one of these files
    would be overwritten.
    """
    require_apart(archive, folder)
    written = archive_files(Path(folder) / archive.path.name) if Path(folder).is_dir() else []
    for target in written:
        refuse_same(target, *(file for _, file in files))
    changed: dict[int | str, bytes] = {}
    warnings: list[str] = []
    for name, file in files:
        entry = archive.find(name)
        if entry.hash in changed:
            raise FormatError(f"{archive.label(entry)} is to be replaced twice", file=file, remedy="name it once")
        changed[entry.hash] = _contents(archive, entry, file, warnings)
    warnings += _navigation_warnings(archive, {archive.label(archive.find(key)): changed[key] for key in changed})
    make_folder(folder)
    return write_archive(archive, changed, folder, progress=progress), warnings


def _contents(archive: Archive, entry: Entry, file: str, warnings: list[str]) -> bytes:
    """The file's bytes, which are sound and of the kind of the entry."""
    data = read_file(file)
    kind = detect(data)
    try:
        before = detect(archive.read(entry))
    except FormatError as error:
        before = kind
        warnings.append(f"{error}; it is replaced without knowing what it was")
    if kind is not before:
        raise FormatError(
            f"is another kind of file than {archive.label(entry)}",
            expected=_words(before),
            found=_words(kind),
            file=file,
        )
    if kind is not None and kind is not Kind.ARCHIVE:
        try:
            FORMATS[kind].decode(data)
        except FormatError as error:
            raise error.within(file) from error
    return data


def _words(kind: Kind | None) -> str:
    return article(kind.value if kind else "unknown file")


def _navigation_warnings(archive: Archive, changed: dict[str, bytes]) -> list[str]:
    """For each hull or navigation volume that changes, whether the two still go together."""
    warnings: dict[str, None] = {}  # once, if both of a pair change
    lower = {name.lower(): data for name, data in changed.items()}
    for name in changed:
        stem, ending = os.path.splitext(name)
        if ending.lower() not in (HULL_ENDING, NAVIGATION_ENDING):
            continue
        hull, volume = stem + HULL_ENDING, lower.get((stem + NAVIGATION_ENDING).lower())
        try:
            data = lower[hull.lower()] if hull.lower() in lower else archive.read(archive.find(hull))
            warnings.update(dict.fromkeys(navigation_warnings(archive, hull, data, volume)))
        except FormatError as error:
            warnings[f"whether {stem}{NAVIGATION_ENDING} fits can't be told: {error}"] = None
    return list(warnings)
