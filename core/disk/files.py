"""Whole files: read, and written so that a failure leaves the old one as it was."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from ..errors import FormatError
from .lock import alone
from .system_errors import system_error

PREFIX, SUFFIX = ".sylpheed-", ".tmp"
ABANDONED_AFTER = 24 * 3600.0
"""Seconds after which a temporary belongs to no write any more: its program was killed."""

TRIES = 5
"""How many names are tried for a new file. Two programs rarely choose one of 2^32 names, and never five times."""

PATIENCE = 4.0
"""Seconds in which a virus scanner should be through with a file that it keeps from being replaced."""

UNBLOCK = "close the game or the program that uses the file, then write again"


class BlockedError(PermissionError):
    """Another program keeps a file from being replaced, and went on to."""


LARGEST = 1 << 30
"""Bytes of a file that is read as a whole, twice a hull's with cells in every place of the largest grid."""


def read_file(path: str | os.PathLike[str], most: int = LARGEST) -> bytes:
    """The bytes of a file. Raises `FormatError` with the system's reason when it can't be read, and for a file of more
    than `most` bytes, which isn't read."""
    try:
        with open(path, "rb") as stream:
            return read_stream(stream, most)
    except OSError as error:
        raise system_error(error, "can't be read", path) from error
    except FormatError as error:
        raise error.within(str(path)) from None


def read_stream(stream: BinaryIO, most: int) -> bytes:
    """What is left of an open file. Raises `FormatError`, without a file's name, for more than `most` bytes."""
    size = os.fstat(stream.fileno()).st_size
    data = stream.read(size + 1) if size <= most else b""
    while size <= most and (block := stream.read(1 << 20)):  # a pipe doesn't say how much will come
        data += block
        size = max(size, len(data))
    if size > most:
        problem, remedy = "the file is larger than any of its kind", "choose another file"
        raise FormatError(problem, expected=f"at most {most:,} bytes", found=f"{size:,}", remedy=remedy)
    return data


def walk(folder: str | os.PathLike[str]) -> tuple[list[Path], list[FormatError]]:
    """All files in a folder and below it, sorted, and why some can't be reached. Folders behind links are looked into
    once, so that links can lead in circles. Links that lead nowhere are left out."""
    found: list[Path] = []
    problems: list[FormatError] = []
    seen: set[object] = set()
    waiting = deque([os.fspath(folder)])
    while waiting:  # without recursion, for folders may lie a thousand deep
        place = waiting.pop()
        try:
            status = os.stat(place)
            if stat.S_ISREG(status.st_mode):
                found.append(Path(place))
            number = (status.st_dev, status.st_ino) if status.st_ino else os.path.realpath(place)
            if stat.S_ISDIR(status.st_mode) and number not in seen:
                seen.add(number)
                inside = [os.path.join(place, name) for name in os.listdir(place)]
                waiting.extend(path for path in inside if not os.path.islink(path))
                # last, so that what has a place of its own here is named by that
                waiting.extendleft(path for path in inside if os.path.islink(path))
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ELOOP):
                problems.append(system_error(error, "can't be read", place))
    return sorted(found), problems


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
        raise system_error(error, "the folder can't be created", path) from error


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes through a temporary file in the same folder, then replaces the target in one step. A link stays, and
    the file that it names is written. Temporaries that a killed program left in the folder long ago are removed.

    Raises `FormatError` with the system's reason; the target is then as it was and no temporary is left. If another
    program keeps the target from being replaced, the new file is kept, and the error names it.
    """
    _switch(_stage(path, data))


def write_files(contents: Mapping[str, bytes]) -> None:
    """Writes files that belong together, by their paths, each as `write_file` does: all of them or none.

    Every new file is on the disk before the first target is replaced. Raises as `write_file` does, and the targets are
    then as they were. Programs that write pairs wait for each other, so that no pair has a file of each.
    """
    with alone(Path(next(iter(contents)))):
        staged: list[_Staged] = []
        replaced: list[tuple[str, bytes | None]] = []
        try:
            for path, data in contents.items():
                staged.append(_stage(path, data))
            old = {path: read_file(path) if os.path.exists(path) else None for path in contents}
            while staged:
                one = staged.pop(0)
                _switch(one)
                replaced.append((one.path, old[one.path]))
        except BaseException:
            for one in staged:
                with contextlib.suppress(OSError):
                    os.unlink(one.temporary)
            for path, before in reversed(replaced):
                _put_back(path, before)
            raise


def _put_back(path: str, data: bytes | None) -> None:
    if data is not None:
        write_file(path, data)
    else:
        os.unlink(os.path.realpath(path))


@dataclass(frozen=True, slots=True)
class _Staged:
    """A new file that is on the disk, and what it is to replace."""

    path: str
    target: Path
    temporary: str


def _stage(path: str | os.PathLike[str], data: bytes) -> _Staged:
    target = Path(os.path.realpath(path))
    temporary = ""
    try:
        mode = _mode_to_write(target, str(path))
        handle, temporary = create_new(target.parent, 0o666 if mode is None else mode)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        staged, temporary = _Staged(str(path), target, temporary), ""
        return staged
    except OSError as error:
        raise system_error(error, "can't be written", path) from error
    finally:
        if temporary:
            with contextlib.suppress(OSError):  # the folder itself is gone, and the temporary with it
                os.unlink(temporary)


def _switch(staged: _Staged) -> None:
    """Replaces the target. Where that fails no temporary is left, but for a new file that is kept."""
    unused = staged.temporary
    try:
        try:
            replace_patiently(staged.temporary, staged.target)
        except BlockedError as error:
            kept = _keep(staged.temporary, staged.target)
            unused = ""
            remedy = f"{UNBLOCK}; the new file is kept as {kept}"
            raise replace(system_error(error, "can't be written", staged.path), remedy=remedy) from error
        unused = ""
        _remove_abandoned(staged.target.parent)
    except OSError as error:
        raise system_error(error, "can't be written", staged.path) from error
    finally:
        if unused:
            with contextlib.suppress(OSError):  # the folder itself is gone, and the temporary with it
                os.unlink(unused)


def create_new(folder: str | os.PathLike[str], mode: int = 0o666) -> tuple[int, str]:
    """Creates a file of our own in a folder: a handle that writes it, and its path.

    `tempfile` takes a folder where Windows allows no new files for one where each of 2^31 names is taken, and tries
    them all. Raises `OSError`; any but a taken name at once.
    """
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    for left in reversed(range(TRIES)):
        path = os.path.join(folder, f"{PREFIX}{secrets.token_hex(4)}{SUFFIX}")
        try:
            return os.open(path, flags, mode), path
        except FileExistsError:
            if not left:
                raise
    raise AssertionError("no name was tried")


def replace_patiently(old: str | os.PathLike[str], new: str | os.PathLike[str]) -> None:
    """`os.replace`, tried again for `PATIENCE` seconds while another program blocks one of the files: a virus scanner
    reads what was just written, a game holds its archives open. Then raises `BlockedError`; any other error at once."""
    end, pause = time.monotonic() + PATIENCE, 0.02
    while True:
        try:
            os.replace(old, new)
            return
        except PermissionError as error:
            if time.monotonic() > end:
                raise BlockedError(error.errno, error.strerror) from error
        time.sleep(pause)
        pause = min(2 * pause, 0.5)


def _mode_to_write(target: Path, file: str) -> int | None:
    """The permissions of a file that is to be replaced, None for a new one. Raises `FormatError` if it must not be."""
    if target.is_symlink():
        raise FormatError("can't be written (a link that leads to itself)", file=file)
    if target.is_dir():
        raise FormatError("can't be written (a folder has this name)", file=file)
    if not target.exists():
        return None
    if not target.is_file():
        raise FormatError("can't be written (it is no regular file)", file=file)
    if not os.access(target, os.W_OK):
        remedy = "choose another name or allow writing"
        raise FormatError("can't be written (the file is read-only)", file=file, remedy=remedy)
    return stat.S_IMODE(target.stat().st_mode)


def _keep(temporary: str, target: Path) -> Path:
    """Gives a written file that couldn't take its place a name beside that: `S14.new.col`, or `S14.new2.col`, …"""
    for number in ("", *range(2, TRIES + 1)):
        kept = target.with_name(f"{target.stem}.new{number}{target.suffix}")
        if not os.path.lexists(kept):
            with contextlib.suppress(OSError):
                os.rename(temporary, kept)
                return kept
    return Path(temporary)


def _remove_abandoned(folder: Path) -> None:
    oldest = time.time() - ABANDONED_AFTER
    for path in folder.glob(f"{PREFIX}*{SUFFIX}"):
        try:
            if path.stat().st_mtime < oldest:
                path.unlink()
        except OSError:
            pass  # the file itself is written, and the next write tries again
