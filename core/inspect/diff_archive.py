"""What changed between two archives: entries that came, went or changed, and what changed in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import FormatError
from ..formats import collision_set, mcol, regn
from ..formats.compression import is_packed, unpack
from ..formats.ipfb import Entry
from ..formats.kinds import Kind, detect
from ..game.archive import Archive, Progress
from .diff_hull import Difference, diff_bytes, diff_hulls, diff_sets
from .diff_navigation import diff_navigations

INSIDE: dict[Kind, tuple[Callable[[bytes], Any], Callable[[Any, Any], list[Difference]]]] = {
    Kind.HULL: (mcol.decode, diff_hulls),
    Kind.COLLISION_SET: (collision_set.decode, diff_sets),
    Kind.NAVIGATION: (regn.decode, diff_navigations),
}
"""How entries of a kind are compared in a modder's terms; others are compared as bytes."""


def diff_archives(a: Archive, b: Archive, progress: Progress | None = None) -> list[Difference]:
    """What turns archive `a` into archive `b`; empty if tables and stored entries are alike.

    Entries that changed in the same way, as the 18 copies of a collision set do, are reported once.
    """
    a, b = a.with_names(b.names), b.with_names(a.names)
    changed: dict[tuple[bytes | str, bytes | str], list[str]] = {}
    moved = 0
    found = [
        Difference("table", f"{called}: 0x{before:X} -> 0x{after:X}")
        for called, before, after in (
            ("alignment", a.table.alignment, b.table.alignment),
            ("limit of a data file", a.table.limit, b.table.limit),
        )
        if before != after
    ]
    if a.table.tail != b.table.tail:
        found.append(Difference("table", "other bytes behind the last row"))
    stored = [_Stored(archive) for archive in (a, b)]
    done, total = 0, sum(entry.size for entry in a.by_hash.values())
    for entry in _first_of_each(a):
        other = b.by_hash.get(entry.hash)
        if other is None:
            found.append(Difference(a.label(entry), f"removed, {entry.size:,} stored bytes"))
        else:
            moved += entry.position != other.position
            before, after = stored[0](entry), stored[1](other)
            if before != after:
                changed.setdefault((before, after), []).append(a.label(entry))
        done += entry.size
        if progress:
            progress(done, total)
    found += [
        Difference(b.label(entry), f"added, {entry.size:,} stored bytes")
        for entry in _first_of_each(b)
        if entry.hash not in a.by_hash
    ]
    for (before, after), labels in changed.items():
        where = labels[0] if len(labels) == 1 else f"{labels[0]} and {len(labels) - 1} more, changed in the same way"
        found += _diff_entry(where, before, after)
    if moved:
        found.append(Difference("table", f"{moved:,} entries stand at another position, which the game doesn't mind"))
    return found


def _first_of_each(archive: Archive) -> list[Entry]:
    """The entries in the table's order; of two equal hashes the first counts."""
    return [archive.by_hash[number] for number in dict.fromkeys(entry.hash for entry in archive.entries)]


class _Stored:
    """An entry's stored bytes, or why they can't be read; of rows that share them in succession once."""

    def __init__(self, archive: Archive) -> None:
        self.archive, self.place = archive, (-1, -1)
        self.last = b""

    def __call__(self, entry: Entry) -> bytes | str:
        if self.place != (entry.position, entry.size):
            try:
                self.last = self.archive.stored(entry)
            except FormatError as error:
                return str(error)  # it names the entry
            self.place = (entry.position, entry.size)
        return self.last


def _diff_entry(where: str, before: bytes | str, after: bytes | str) -> list[Difference]:
    contents = []
    for called, stored in (("first", before), ("second", after)):
        try:
            if isinstance(stored, str):
                raise FormatError(stored)
            contents.append(unpack(stored))
        except FormatError as error:
            return [Difference(where, f"can't be compared, in the {called} archive: {error}")]
    if contents[0] == contents[1]:
        forms = ["packed" if isinstance(stored, bytes) and is_packed(stored) else "raw" for stored in (before, after)]
        return [Difference(where, f"the same contents, stored otherwise: {forms[0]} -> {forms[1]}")]
    one, other = (detect(data) for data in contents)
    if one is not other or one not in INSIDE:
        return [Difference(where, difference.message) for difference in diff_bytes(*contents)]
    decode, compare = INSIDE[one]
    try:
        differences = compare(*map(decode, contents))
    except FormatError as error:  # it is damaged; its bytes can still be compared
        found = [Difference(where, difference.message) for difference in diff_bytes(*contents)]
        return [Difference(where, f"can't be read: {error}"), *found]
    return [Difference(f"{where}: {difference.where}", difference.message) for difference in differences]
