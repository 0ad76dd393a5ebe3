"""What is odd about a table, and its contents in rows; work and text are bounded however sections and rows overlap.

docs/FORMATS.md, section 7. Nothing there is measured on the game's own tables, so nothing here is an error.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import Finding, Severity
from ..formats.hashes import string_id, wide_string_id
from ..formats.idxd import Table, unit_size
from ..rules.rule import Rule

LONGEST_NAME, LONGEST_SHOWN = 100, 128
"""Units of a name that is compared with its hash, and of a string that is listed; longer ones are cut."""


def check(table: Table) -> list[Finding]:
    """What is odd about a table, a finding a kind: ranges, pointers, hashes, what occurs twice, the pool."""
    return [*_ranges(table), *_pointers(table), *_names(table), *_repeated(table), *_pool(table)]


def shown(table: Table, pointer: int, hashed: int | None = None) -> str | None:
    """A string for a reader, cut if it is long; where there is none, the hash in hexadecimal if one is given."""
    text = table.text(pointer, LONGEST_SHOWN + 1)
    if text is None:
        return None if hashed is None else f"{hashed:08x}"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def contents(table: Table) -> Iterator[tuple[str, str | None]]:
    """The rows of each section as `section.key` and value.

    Sections of the game share no rows. A row is listed in the first section that has it, and each further section
    says how many of its rows were listed before.
    """
    first, end = table.ranges()
    owner = _first_sections(first, end, len(table.row_records))
    order = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[order], np.arange(len(first) + 1))
    for number, section in enumerate(table.section_records):
        name = shown(table, int(section["name"]), int(section["hash"]))
        own = order[bounds[number] : bounds[number + 1]]
        for record in table.row_records[own]:
            key = shown(table, int(record["key"]), int(record["hash"]))
            yield f"{name}.{key}", shown(table, int(record["value"]))
        shared = int(end[number] - first[number]) - len(own)
        if shared:
            yield f"{name}", f"{shared:,} rows that are listed above"


def _first_sections(first: np.ndarray, end: np.ndarray, rows: int) -> np.ndarray:
    """For each row (rows,) the first section that has it, or how many sections there are.

    A section is two runs of a power of two; runs are halved until they are single rows.
    """
    sizes = end - first
    owner = np.full(rows, len(first), np.int64)
    for power in range(max(int(sizes.max(initial=0)).bit_length() - 1, 0), -1, -1):
        run = 1 << power
        some = np.flatnonzero((sizes >= run) & (sizes < 2 * run))
        np.minimum.at(owner, first[some], some)
        np.minimum.at(owner, end[some] - run, some)
        if power:  # each run becomes its two halves
            half = owner.copy()
            np.minimum(half[run // 2 :], owner[: rows - run // 2], out=half[run // 2 :])
            owner = half
    return owner


def _finding(severity: Severity, rule: Rule, message: str, count: int) -> Iterator[Finding]:
    """One finding of all that are of a kind: the first is described, the others are counted."""
    if count:
        more = f" (and {count - 1:,} more of this kind)" if count > 1 else ""
        yield Finding(severity, rule, message + more)


def _ranges(table: Table) -> Iterator[Finding]:
    first, end = table.section_records["first"], table.section_records["end"]
    rows = len(table.row_records)
    odd = np.flatnonzero((end > rows) | (first > end))
    for number in odd[:1].tolist():
        said = f"section {number} names rows {int(first[number]):,} to {int(end[number]):,}"
        yield from _finding(Severity.WARNING, Rule.TABLE_ROWS, f"{said}, and the table has {rows:,} rows", len(odd))


def _fields(table: Table) -> Iterator[tuple[str, np.ndarray, str]]:
    yield "section", table.section_records, "name"
    yield "row", table.row_records, "key"
    yield "row", table.row_records, "value"


def _pointers(table: Table) -> Iterator[Finding]:
    """Pointers beyond the strings. Negative ones are no string."""
    limit = -(-len(table.pool) // unit_size(table.wide))
    for what, records, field in _fields(table):
        odd = np.flatnonzero(records[field] >= limit)
        for number in odd[:1].tolist():
            said = f"the {field} of {what} {number} points to {int(records[field][number]):,}"
            message = f"{said}, and the strings end at {limit:,}: it counts as missing"
            yield from _finding(Severity.WARNING, Rule.TABLE_STRINGS, message, len(odd))


def _names(table: Table) -> Iterator[Finding]:
    """Hashes that aren't those of the names beside them."""
    hashed = wide_string_id if table.wide else string_id
    long = 0
    for kind, records, field in list(_fields(table))[:2]:
        message, odd = "", 0
        for pointer, stored in np.unique(records[[field, "hash"]].astype([("at", "i4"), ("hash", "u4")])).tolist():
            raw = table.raw(pointer, LONGEST_NAME + 1)
            if raw is None:
                continue
            if len(raw) > LONGEST_NAME * unit_size(table.wide):
                long += 1
            elif hashed(raw) != stored:
                odd += 1
                name = "key" if kind == "row" else kind
                message = message or f"{name} {table.text(pointer)} has the hash {stored:08x}, which is another name's"
        yield from _finding(Severity.WARNING, Rule.TABLE_HASHES, f"{message}: the game won't find it", odd)
    yield from _finding(Severity.INFO, Rule.TABLE_NAMES, "a name is too long to be compared with its hash", long)


def _repeated(table: Table) -> Iterator[Finding]:
    """Sections, and keys of a section, that occur twice."""
    values, counts = np.unique(table.section_records["hash"], return_counts=True)
    twice = values[counts > 1]
    for stored in twice[:1].tolist():
        message = f"the section with hash {stored:08x} occurs twice"
        yield from _finding(Severity.WARNING, Rule.TABLE_SECTIONS, message, len(twice))
    rows = len(table.row_records)
    hashes = table.row_records["hash"]
    order = np.argsort(hashes, kind="stable")
    same = hashes[order[1:]] == hashes[order[:-1]]
    again = np.full(rows + 1, rows)  # the next row of the same hash
    again[order[:-1][same]] = order[1:][same]
    again = np.minimum.accumulate(again[::-1])[::-1]  # the first repetition from a row on
    first, end = table.ranges()
    odd = np.flatnonzero(again[first] < end)
    for number in odd[:1].tolist():
        stored = int(hashes[again[first[number]]])
        name = shown(table, int(table.section_records["name"][number]))
        message = f"section {name} has the key with hash {stored:08x} twice"
        yield from _finding(Severity.WARNING, Rule.TABLE_KEYS, message, len(odd))


def _pool(table: Table) -> Iterator[Finding]:
    unit, size = unit_size(table.wide), len(table.pool)
    if table.pool_size is None or table.pool_size not in (size, size // unit):
        said = "no size" if table.pool_size is None else f"{table.pool_size:,}"
        yield Finding(Severity.INFO, Rule.TABLE_SIZE, f"the strings take {size:,} bytes, and the table says {said}")
    if table.pool[-unit:] != bytes(unit) and size:
        yield Finding(Severity.INFO, Rule.TABLE_END, "the end of the file ends the last string")
