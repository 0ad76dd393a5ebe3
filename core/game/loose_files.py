"""Game files outside archives: their kind and their bytes."""

from __future__ import annotations

import os
from pathlib import Path

from ..disk.files import read_stream
from ..disk.system_errors import system_error
from ..errors import FormatError
from ..formats.kinds import ENOUGH, Kind, detect

MOST = {
    Kind.HULL: 1 << 30,
    Kind.NAVIGATION: 1 << 30,
    Kind.COLLISION_SET: 1 << 28,
    Kind.ARCHIVE: 1 << 26,
    Kind.TABLE: 1 << 26,
}
"""How many bytes a file of a kind has at most; of an archive, its table. The game's own have below two million;
a hull of 255 cells an axis takes half a gigabyte."""


def detect_file(path: str | os.PathLike[str]) -> Kind | None:
    """The kind of the file at `path`, of which only the beginning is read.

    Raises `FormatError` with the system's reason when it can't be read.
    """
    try:
        with Path(path).open("rb") as stream:
            return detect(stream.read(ENOUGH))
    except OSError as error:
        raise system_error(error, "can't be read", path) from error


def read_known(path: str | os.PathLike[str]) -> tuple[Kind | None, bytes]:
    """The kind of a file and its bytes; of an unknown kind the first `ENOUGH`, for only these are read before.

    Raises `FormatError` with the system's reason when it can't be read, and for more bytes than its kind has.
    """
    try:
        with open(path, "rb") as stream:
            start = stream.read(ENOUGH)
            kind = detect(start)
            if kind is None:
                return None, start
            if not stream.seekable():  # a pipe
                return kind, start + read_stream(stream, MOST[kind] - len(start))
            stream.seek(0)
            return kind, read_stream(stream, MOST[kind])
    except OSError as error:
        raise system_error(error, "can't be read", path) from error
    except FormatError as error:
        raise error.within(str(path)) from None
