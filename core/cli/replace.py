"""New contents for entries of an archive, from files: what `python -m core replace` does."""

from __future__ import annotations

import os
from pathlib import Path

from ..disk.files import make_folder, read_file
from ..disk.same_file import refuse_same
from ..errors import Finding, FormatError, RefusedError, naming
from ..formats.ipfb import Entry
from ..formats.kinds import Kind, detect
from ..game.archive import Archive, Progress
from ..game.archive_files import archive_files
from ..game.archive_write import require_apart, write_archive
from ..game.game_folder import HULL_ENDING, NAVIGATION_ENDING
from ..game.loose_files import read_known
from ..game.mod_folder import navigation_warnings
from .file_kinds import FORMATS, article
from .verify import new_errors


def replace_entries(
    archive: Archive,
    files: list[tuple[str, str]],
    folder: str,
    progress: Progress | None = None,
    *,
    force: bool = False,
) -> tuple[Archive, list[str]]:
    """Writes the archive into a folder, with the contents of files for entries by name: the new archive, and warnings.

    Raises `FormatError`, before anything is written, for a name that the archive lacks or that comes twice, for a file
    that can't be read or is of another kind than what it replaces, and if a file of the source or one of these files
    would be overwritten. So is a file with an error that `verify` finds, and that the replaced entry lacks; with
    `force` it is a warning.
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
            raise RefusedError(f"{archive.label(entry)} is named twice", file=file, remedy="name it once")
        changed[entry.hash] = _contents(archive, entry, file, force, warnings)
    warnings += _navigation_warnings(archive, {archive.label(archive.find(key)): changed[key] for key in changed})
    make_folder(folder)
    return write_archive(archive, changed, folder, progress=progress), warnings


def _contents(archive: Archive, entry: Entry, file: str, force: bool, warnings: list[str]) -> bytes:
    """The file's bytes, which are of the entry's kind and have no fault that it lacks, unless `force` allows them."""
    kind, data = read_known(file)
    before = kind
    original = None
    try:
        original = archive.read(entry)
        before = detect(original)
    except FormatError as error:
        warnings.append(f"{error}; it is replaced without knowing what it was")
    if kind is not before:
        raise FormatError(
            f"is another kind of file than {archive.label(entry)}",
            expected=_words(before),
            found=_words(kind),
            file=file,
        )
    if kind is None:
        return read_file(file)
    if kind is not Kind.ARCHIVE:
        faults = [fault.message for fault in _faults(kind, data, original, file)]
        if faults and not force:
            problem, remedy = f"`verify` finds errors: {'; '.join(faults)}", "fix it, or accept it with --force"
            raise RefusedError(problem, file=file, remedy=remedy)
        warnings += [f"{file}: {fault}" for fault in faults]
    return data


def _faults(kind: Kind, data: bytes, original: bytes | None, file: str) -> list[Finding]:
    """The errors of a file that the original doesn't have. Raises `FormatError` if the file can't be read."""
    with naming(file):
        model = FORMATS[kind].decode(data)
    try:
        before = None if original is None else FORMATS[kind].decode(original)
    except FormatError:
        before = None
    return new_errors(kind, model, before)


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
            warnings[f"whether {stem}{NAVIGATION_ENDING} fits can't be decided: {error}"] = None
    return list(warnings)
