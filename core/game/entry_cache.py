"""What an archive's entries hold: what is stored alike is unpacked once, as the game stores one set 18 times."""

from __future__ import annotations

from ..errors import FormatError
from .archive import Archive


class Contents:
    """The entries of an archive. Holds what was read of them, and gives one object for what is stored alike."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._by_place: dict[tuple[int, int], bytes] = {}
        self._unpacked: dict[bytes, bytes] = {}

    def read(self, wanted: str | int) -> bytes:
        """The bytes of an entry, by name or hash. Raises `FormatError` if they can't be read, or if there is none."""
        entry = self.archive.find(wanted)
        place = entry.position, entry.size
        if place not in self._by_place:
            stored = self.archive.stored(entry)
            if stored not in self._unpacked:
                self._unpacked[stored] = self.archive.read(entry)
            self._by_place[place] = self._unpacked[stored]
        return self._by_place[place]

    def holds(self, wanted: str | int, data: bytes) -> bool:
        """Whether an entry has these bytes; a damaged one has not. Raises `FormatError` if there is none."""
        self.archive.find(wanted)
        try:
            return self.read(wanted) == data
        except FormatError:
            return False
