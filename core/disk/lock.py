"""One writer of archives at a time: two Blenders of a user may write the same mod.

Programs meet at a file in the system's folder for temporary ones. Those to which the system gives another folder, in
a sandbox or of another user, don't know of each other.
"""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..errors import FormatError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

WAITS = 60.0
"""Seconds in which another program should be through with its archive."""

HELD = {errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK, errno.EINTR}
"""What a system answers when another program has the lock, or a signal came in between."""

_mine = threading.RLock()
_depth = 0


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Keeps other programs and threads from writing archives meanwhile, and waits for one that does. May be nested.

    The system takes the lock from a program that dies. Raises `FormatError` that names `file` after `WAITS` seconds.
    """
    global _depth
    with _mine:
        stream = None if _depth else _open()
        try:
            if stream:
                _wait(stream, file)
            _depth += 1
            try:
                yield
            finally:
                _depth -= 1
        finally:
            if stream:
                stream.close()


def _open() -> IO[bytes] | None:
    """The lock's file, which stays; None where there is no place for it, and so no lock."""
    name = "sylpheed-collision"
    if sys.platform != "win32":
        name += f"-{os.getuid()}"  # elsewhere the folder is the user's own
    try:
        return open(Path(tempfile.gettempdir(), name + ".lock"), "ab")
    except OSError:
        return None


def _wait(stream: IO[bytes], file: Path) -> None:
    end = time.monotonic() + WAITS
    while not _locked(stream):
        if time.monotonic() > end:
            remedy = "wait until it has finished, then write again"
            raise FormatError("can't be written (another program is writing an archive)", file=str(file), remedy=remedy)
        time.sleep(0.02)


def _locked(stream: IO[bytes]) -> bool:
    try:
        if sys.platform == "win32":
            stream.seek(0)
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # anything else: the file system knows no locks (ENOLCK, ENOTSUP, EINVAL, …), and nobody else is known either
        return error.errno not in HELD
    return True
