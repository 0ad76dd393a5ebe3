"""Checks of an archive: its table, where its entries lie, and their data. docs/FORMATS.md, section 6."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from ..errors import Finding, FormatError, Severity
from ..formats import ipfb
from ..formats.ipfb import Entry, Table
from ..game.archive import Archive, Part, Progress, blobs, most_to_read, read_range
from ..rules.rule import Rule
from ..text import plural

MOST_NAMED = 1000
"""Damaged entries that are named one by one: a made-up table can have a million."""


def check(
    archive: Archive,
    progress: Progress | None = None,
    visit: Callable[[list[int], bytes], None] | None = None,
    wanted: Callable[[Entry], bool] | None = None,
) -> list[Finding]:
    """Verifies table, positions, gaps and the data of every entry. `elements` of a finding are rows of the table.

    `visit` is called with the unpacked bytes that could be read, each once, and the rows of the table that share them.
    The data of entries that aren't `wanted` aren't read.
    """
    findings = _check_table(archive) + _check_layout(archive)
    damaged: dict[int, str] = {}
    more: list[int] = []
    done, total = 0, sum(entry.size for entry in archive.entries)
    rows = [row for row, entry in enumerate(archive.entries) if wanted is None or wanted(entry)]
    for sharing, data in blobs(archive, rows, most_to_read(archive)):
        if isinstance(data, FormatError):
            error = str(dataclasses.replace(data, file=""))  # the caller knows the archive
            named = sharing[: max(MOST_NAMED - len(damaged), 0)]
            damaged |= dict.fromkeys(named, error)
            more += sharing[len(named) :]
        elif visit:
            visit(sharing, data)
        done += sum(archive.entries[row].size for row in sharing)
        if progress:
            progress(done, total)
    for row, reason in sorted(damaged.items()):
        message = f"{archive.label(archive.entries[row])}: {reason}"
        findings.append(Finding(Severity.ERROR, Rule.ARCHIVE_DATA, message, "entry", (row,)))
    if more:
        message = f"{plural(len(more), 'more entry')} can't be read either"
        findings.append(Finding(Severity.ERROR, Rule.ARCHIVE_DATA, message, "entry", tuple(sorted(more))))
    return findings


def _check_table(archive: Archive) -> list[Finding]:
    table = archive.table
    hashes = [entry.hash for entry in table.entries]
    findings = []
    if (table.alignment, table.limit) != (ipfb.ALIGNMENT, ipfb.LIMIT):
        message = f"alignment 0x{table.alignment:X} and limit 0x{table.limit:X} aren't those of the game's archives"
        findings.append(Finding(Severity.WARNING, Rule.ARCHIVE_HEADER, message))
    if warning := count_warning(table):
        findings.append(Finding(Severity.WARNING, Rule.ARCHIVE_COUNT, warning))
    if table.tail:
        message = f"{plural(len(table.tail), 'byte')} behind the last row of the table"
        findings.append(Finding(Severity.INFO, Rule.ARCHIVE_TABLE, message))
    late = tuple(number for number in range(1, len(hashes)) if hashes[number] < hashes[number - 1])
    if late:
        message = f"{plural(len(late), 'row')} out of order: the game searches by halves and misses entries"
        findings.append(Finding(Severity.ERROR, Rule.ARCHIVE_ORDER, message, "entry", late))
    places: dict[int, list[int]] = {}
    for row, number in enumerate(hashes):
        places.setdefault(number, []).append(row)
    for rows in places.values():
        if len(rows) > 1:
            message = f"{archive.label(table.entries[rows[0]])} is in the table {len(rows)} times"
            findings.append(Finding(Severity.WARNING, Rule.ARCHIVE_DUPLICATES, message, "entry", tuple(rows)))
    return findings


def count_warning(table: Table) -> str:
    """What to say where the header counts other entries than the table has; empty if it doesn't."""
    if table.count is None:
        return ""
    ended = len(table.tail) >= ipfb.ENTRY.size and int.from_bytes(table.tail[:4], "big") == ipfb.END
    why = "a row with hash 0 ends it" if ended else "the file ends there"
    return f"the header counts {table.count:,} entries, the table has {len(table.entries):,}: {why}"


def _check_layout(archive: Archive) -> list[Finding]:
    """Alignment, overlaps, shared data and gaps. What lies outside its data file is found where the data are read."""
    findings = []
    alignment = archive.table.alignment or 1
    rows = sorted(enumerate(archive.entries), key=lambda row: (row[1].position, row[1].size))
    shared: dict[int, None] = {}
    last: tuple[int, Entry] | None = None
    for number, entry in rows:
        if entry.offset % alignment:
            message = f"{archive.label(entry)} begins at 0x{entry.position:X}, not at a multiple of 0x{alignment:X}"
            findings.append(Finding(Severity.WARNING, Rule.ARCHIVE_ALIGNMENT, message, "entry", (number,)))
        end = last[1].offset + last[1].size if last and last[1].part == entry.part else 0
        if last and entry.size and end > entry.offset:
            message = f"{archive.label(last[1])} and {archive.label(entry)} overlap at 0x{entry.position:X}"
            if (entry.position, entry.size) == (last[1].position, last[1].size):
                shared |= {last[0]: None, number: None}
            else:
                findings.append(Finding(Severity.WARNING, Rule.ARCHIVE_OVERLAP, message, "entry", (last[0], number)))
        elif not _is_zero(archive.parts.get(entry.part), end, entry.offset):
            message = f"the gap in front of {archive.label(entry)} isn't empty"
            findings.append(Finding(Severity.INFO, Rule.ARCHIVE_GAP, message, "entry", (number,)))
        if end <= entry.offset + entry.size:
            last = number, entry
    if shared:
        message = f"{len(shared):,} entries share their data with others"
        findings.append(Finding(Severity.INFO, Rule.ARCHIVE_SHARED, message, "entry", tuple(sorted(shared))))
    return findings


def _is_zero(part: Part | None, start: int, end: int) -> bool:
    """Whether a range of a data file, as far as it exists, holds zeros only."""
    if part is None:
        return True
    try:
        blocks = read_range(part.path, start, min(end, part.size) - start)
        return all(block.count(0) == len(block) for block in blocks)
    except FormatError:
        return True  # an unreadable data file is a finding of the entries in it
