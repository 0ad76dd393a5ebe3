"""Reading whole files, and writing them so that a failure leaves the old file as it was."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path

from .errors import FormatError

PREFIX, SUFFIX = ".sylpheed-", ".tmp"
ABANDONED_AFTER = 24 * 3600.0
"""Seconds after which a temporary belongs to no write any more: its program was killed."""


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file. Raises `FormatError` with the system's reason when it can't be read."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise FormatError(f"can't be read ({error.strerror or error})", file=str(path)) from error


def make_folder(path: str | os.PathLike[str]) -> None:
    """Creates a folder, and those around it, unless it is there. Raises `FormatError` with the system's reason."""
    missing: list[str] = []
    place = os.path.abspath(path)
    while not os.path.lexists(place) and place not in missing:  # a missing drive is its own parent
        missing.append(place)
        place = os.path.dirname(place)
    try:
        for folder in reversed(missing):  # `os.makedirs` calls itself, for a thousand folders too often
            with contextlib.suppress(FileExistsError):  # another program made it meanwhile
                os.mkdir(folder)
        os.listdir(path)
    except OSError as error:
        raise FormatError(f"can't be made a folder ({error.strerror or error})", file=str(path)) from error


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes through a temporary file in the same folder, then replaces the target in one step. A link stays, and
    the file that it names is written. Temporaries that a killed program left in the folder long ago are removed.

    Raises `FormatError` with the system's reason; the target is then as it was and no temporary is left.
    """
    target = Path(os.path.realpath(path))
    temporary = ""
    try:
        if target.is_dir():
            raise FormatError("can't be written (a folder has this name)", file=str(path))
        if target.exists() and not target.is_file():
            raise FormatError("can't be written (it is no regular file)", file=str(path))
        if target.exists() and not os.access(target, os.W_OK):
            raise FormatError(
                "can't be written (the file is read-only)",
                file=str(path),
                remedy="choose another name or allow writing",
            )
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=PREFIX, suffix=SUFFIX)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, target.stat().st_mode if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)
        temporary = ""
        _remove_abandoned(target.parent)
    except OSError as error:
        raise FormatError(f"can't be written ({error.strerror or error})", file=str(path)) from error
    finally:
        if temporary:
            try:
                os.unlink(temporary)
            except OSError:
                pass  # the folder itself is gone, and the temporary with it


def _remove_abandoned(folder: Path) -> None:
    oldest = time.time() - ABANDONED_AFTER
    for path in folder.glob(f"{PREFIX}*{SUFFIX}"):
        try:
            if path.stat().st_mtime < oldest:
                path.unlink()
        except OSError:
            pass  # the file itself is written, and the next write tries again


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
