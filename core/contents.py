"""What an archive's entries hold: what is stored alike is unpacked once, as the game stores one set 18 times."""

from __future__ import annotations

from .archive import Archive
from .errors import FormatError


class Contents:
    """The entries of an archive. Holds what was read of them, and gives one object for what is stored alike."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._unpacked: dict[bytes, bytes] = {}

    def read(self, name: str) -> bytes:
        """The bytes of an entry. Raises `FormatError` if they can't be read, or if there is no such entry."""
        entry = self.archive.find(name)
        stored = self.archive.stored(entry)
        if stored not in self._unpacked:
            self._unpacked[stored] = self.archive.read(entry)
        return self._unpacked[stored]

    def holds(self, name: str, data: bytes) -> bool:
        """Whether an entry has these bytes; a damaged one has not. Raises `FormatError` if there is no such entry."""
        self.archive.find(name)
        try:
            return self.read(name) == data
        except FormatError:
            return False
