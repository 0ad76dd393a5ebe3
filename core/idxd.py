"""IDXD and IXUD tables: sections of key and value strings (format notes, section 7).

A table that was read is written back byte for byte: the pool of strings stays as it is, with what nothing points to,
and a changed value is added to it, so that a string shared by several rows changes for none of the others.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .binary import view
from .errors import Finding, FormatError, Severity
from .hashes import ENCODING, string_id

NARROW, WIDE = b"IDXD", b"IXUD"
WORD = np.dtype(">u4")
SECTION = np.dtype([("hash", ">u4"), ("name", ">i4"), ("first", ">u4"), ("end", ">u4")])
ROW = np.dtype([("hash", ">u4"), ("key", ">i4"), ("value", ">i4")])
MOST_TIMES, MOST_BEYOND = 4, 4 << 20
"""All names, keys and values together have at most so many times the file's bytes and so many more characters: rows
share strings, and a thousand rows that share a long one would fill all memory."""
NOTHING = -1  # a pointer to no string; the notes have it for keys, other tools write it for empty names and values too


@dataclass(frozen=True, slots=True)
class Row:
    """A key and its value, None where the pointer is -1; `key_at` and `value_at` are the pointers."""

    hash: int
    key: str | None
    value: str | None
    key_at: int
    value_at: int


@dataclass(frozen=True, slots=True)
class Section:
    """A named run of rows, `first` up to but not including `end`."""

    hash: int
    name: str | None
    name_at: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """Sections, rows and the pool of strings.

    `wide`: IXUD, UTF-16BE strings and pointers in 2-byte units. `pool_size`: the size word, which an IXUD
    may give in bytes or in units. `tail`: bytes behind the pool.
    """

    wide: bool
    sections: tuple[Section, ...]
    rows: tuple[Row, ...]
    pool: bytes
    pool_size: int
    tail: bytes = b""

    def section(self, name: str) -> Section | None:
        """The first section of that name; one without a name is recognised by its hash."""
        return next((section for section in self.sections if _is(section.name, section.hash, name)), None)

    def rows_of(self, section: Section) -> tuple[Row, ...]:
        """The rows of a section."""
        return self.rows[section.first : section.end]

    def value(self, section: Section, key: str) -> str | None:
        """The first value of that key in a section; None without such a key, or if it points to no string."""
        return next((row.value for row in self.rows_of(section) if _is(row.key, row.hash, key)), None)


def decode(data: bytes) -> Table:
    """Reads a table.

    Raises `FormatError` for an unknown magic, a count or pool larger than the data, rows that a section
    names but the table lacks, pointers outside the pool or to a string without an end, and more text than `MOST_TIMES`
    allows.
    """
    if data[:4] not in (NARROW, WIDE):
        raise FormatError(
            "not a table", offset=0, expected="IDXD or IXUD", found=ascii(data[:4]), remedy="choose a .tbl of the game"
        )
    wide = data[:4] == WIDE
    sections, at = _records(data, SECTION, 4, "sections of the table")
    sections_at = at - sections.nbytes
    rows, at = _records(data, ROW, at, "rows of the table")
    rows_at = at - rows.nbytes
    pool_size = int(view(data, WORD, 1, at, "the size of the strings")[0])
    pool_at = at + WORD.itemsize
    pool = bytes(data[pool_at : pool_at + _pool_bytes(pool_size, len(data) - pool_at, wide, at)])

    left = MOST_TIMES * len(data) + MOST_BEYOND

    def text(record: np.void, field: str, offset: int, what: str) -> str | None:
        nonlocal left
        at, what = offset + _at(record.dtype, field), f"the {field} of {what}"
        found = _string(pool, int(record[field]), wide, at, what)
        left -= len(found or "")
        if left < 0:
            problem = f"{what} is one long string too many, each used over and over"
            raise FormatError(problem, offset=at, remedy="the table is damaged, or made to do harm")
        return found

    return Table(
        wide=wide,
        sections=tuple(
            Section(
                int(record["hash"]),
                text(record, "name", offset, f"section {number}"),
                int(record["name"]),
                *_range(record, len(rows), offset, number),
            )
            for number, offset, record in _placed(sections, sections_at)
        ),
        rows=tuple(
            Row(
                int(record["hash"]),
                text(record, "key", offset, f"row {number}"),
                text(record, "value", offset, f"row {number}"),
                int(record["key"]),
                int(record["value"]),
            )
            for number, offset, record in _placed(rows, rows_at)
        ),
        pool=pool,
        pool_size=pool_size,
        tail=bytes(data[pool_at + len(pool) :]),
    )


def encode(table: Table) -> bytes:
    """The bytes of a table; those it was read from, if nothing was changed."""
    sections = np.array([(s.hash, s.name_at, s.first, s.end) for s in table.sections], SECTION)
    rows = np.array([(r.hash, r.key_at, r.value_at) for r in table.rows], ROW)
    return b"".join(
        (
            WIDE if table.wide else NARROW,
            _word(len(sections)),
            sections.tobytes(),
            _word(len(rows)),
            rows.tobytes(),
            _word(table.pool_size),
            table.pool,
            table.tail,
        )
    )


def build(sections: Iterable[tuple[str, Iterable[tuple[str, str]]]], *, wide: bool = False) -> Table:
    """A table from section names and their (key, value) pairs, equal strings stored once, in order of first use.

    The key hash of an IXUD is assumed to be the same as an IDXD's, over CP932.
    Raises `FormatError` for text that the table's encoding lacks.
    """
    pool = bytearray()
    places: dict[str, int] = {}

    def place(text: str) -> int:
        if text not in places:
            places[text] = len(pool) // _unit(wide)
            pool.extend(_stored(text, wide))
        return places[text]

    made_sections: list[Section] = []
    made_rows: list[Row] = []
    for name, pairs in sections:
        name_at, first = place(name), len(made_rows)
        for key, value in pairs:
            made_rows.append(Row(string_id(key), key, value, place(key), place(value)))
        made_sections.append(Section(string_id(name), name, name_at, first, len(made_rows)))
    return Table(wide, tuple(made_sections), tuple(made_rows), bytes(pool), len(pool) // _unit(wide))


def set_value(table: Table, section: str, key: str, value: str) -> Table:
    """A table with another value in the first row of that key; the same table if it has the value already.

    The pool only grows: the old string may belong to other rows, or to something that isn't known yet.
    Raises `FormatError` without such a section or key, or for text that the encoding lacks.
    """
    found = table.section(section)
    if found is None:
        raise FormatError(f"the table has no section {section}", expected=_choices(s.name for s in table.sections))
    number = next((i for i in range(found.first, found.end) if _is(table.rows[i].key, table.rows[i].hash, key)), None)
    if number is None:
        keys = _choices(row.key for row in table.rows_of(found))
        raise FormatError(f"section {section} has no key {key}", expected=keys)
    if table.rows[number].value == value:
        return table
    new, unit = _stored(value, table.wide), _unit(table.wide)
    pointers = [r.value_at for r in table.rows] + [r.key_at for r in table.rows] + [s.name_at for s in table.sections]
    at = next((p for p in pointers if p != NOTHING and table.pool.startswith(new, p * unit)), None)
    if at is None:
        pool = table.pool + bytes(-len(table.pool) % unit)
        at = len(pool) // unit
        counted_in = unit if table.pool_size * unit == len(table.pool) else 1
        pool += new
        table = dataclasses.replace(table, pool=pool, pool_size=len(pool) // counted_in)
    rows = list(table.rows)
    rows[number] = dataclasses.replace(rows[number], value=value, value_at=at)
    return dataclasses.replace(table, rows=tuple(rows))


def check(table: Table) -> list[Finding]:
    """What is odd about a table: hashes that don't fit their names, sections and keys that occur twice."""
    findings = []
    named = [("section", s.name, s.name_at, s.hash) for s in table.sections]
    named += [("key", r.key, r.key_at, r.hash) for r in table.rows]
    for kind, name, at, stored in named:
        # the hash rule of IXUD isn't known, so there a difference says nothing
        if name is not None and not table.wide and string_id(table.pool[at : table.pool.index(0, at)]) != stored:
            message = f"{kind} {name} has the hash {stored:08x}, which is another name's: the game won't find it"
            findings.append(Finding(Severity.WARNING, "table hash", message))
    for stored in _twice(section.hash for section in table.sections):
        findings.append(Finding(Severity.WARNING, "table sections", f"the section with hash {stored:08x} occurs twice"))
    for section in table.sections:
        for stored in _twice(row.hash for row in table.rows_of(section)):
            message = f"section {section.name} has the key with hash {stored:08x} twice"
            findings.append(Finding(Severity.WARNING, "table keys", message))
    return findings


def _records(data: bytes, dtype: np.dtype, at: int, what: str) -> tuple[np.ndarray, int]:
    """Counted records, and the offset behind them."""
    count = int(view(data, WORD, 1, at, f"the number of {what}")[0])
    at += WORD.itemsize
    records = view(data, dtype, count, at, what)
    return records, at + records.nbytes


def _placed(records: np.ndarray, at: int) -> Iterable[tuple[int, int, np.void]]:
    """Number, offset in the file and record."""
    return ((number, at + number * records.itemsize, record) for number, record in enumerate(records))


def _at(dtype: np.dtype, field: str) -> int:
    return int(dtype.fields[field][1]) if dtype.fields else 0


def _range(record: np.void, rows: int, offset: int, number: int) -> tuple[int, int]:
    first, end = int(record["first"]), int(record["end"])
    if not first <= end <= rows:
        raise FormatError(
            f"section {number} names rows that the table lacks",
            offset=offset + _at(SECTION, "first"),
            expected=f"a range within its {rows} rows",
            found=f"{first} to {end}",
        )
    return first, end


def _pool_bytes(size: int, available: int, wide: bool, offset: int) -> int:
    """The pool's length in bytes. For IXUD the notes leave open what the size word counts: units are tried first."""
    if wide and size * 2 <= available:
        return size * 2
    if size == available or (not wide and size < available):
        return size
    raise FormatError(
        "the strings reach beyond the end of the file",
        offset=offset,
        expected=f"at most {available:,} bytes",
        found=f"{size * _unit(wide):,}",
        remedy="the table is cut short or damaged, extract it again",
    )


def _string(pool: bytes, pointer: int, wide: bool, offset: int, what: str) -> str | None:
    if pointer == NOTHING:
        return None
    start, unit = pointer * _unit(wide), _unit(wide)
    if not 0 <= start < len(pool):
        raise FormatError(
            f"{what} lies outside the table's strings",
            offset=offset,
            expected=f"a pointer below {len(pool) // unit:,}",
            found=f"{pointer & 0xFFFFFFFF:,}",
        )
    end = pool.find(bytes(unit), start)
    while end % unit and end >= 0:  # the zero halves of two neighbours aren't the end of a UTF-16 string
        end = pool.find(bytes(unit), end + 1)
    if end < 0:
        raise FormatError(
            f"{what} has no end", offset=offset, expected="a zero behind the string", found="the end of the file"
        )
    # undecodable bytes show as \x..; the pool keeps them as they are
    return pool[start:end].decode("utf-16-be" if wide else ENCODING, "backslashreplace")


def _stored(text: str, wide: bool) -> bytes:
    if "\0" in text:
        raise FormatError(f"{text!a} can't be stored in the table", expected="text without a zero character")
    try:
        return (text + "\0").encode("utf-16-be" if wide else ENCODING)
    except UnicodeEncodeError as error:
        raise FormatError(
            f"{text!a} can't be stored in the table",
            expected=f"characters of {'UTF-16' if wide else 'CP932'}",
            found=ascii(text[error.start : error.end]),
        ) from error


def _is(name: str | None, stored_hash: int, wanted: str) -> bool:
    return name == wanted if name is not None else stored_hash == string_id(wanted)


def _choices(names: Iterable[str | None]) -> str:
    return "one of " + (", ".join(dict.fromkeys(name for name in names if name)) or "none")


def _twice(values: Iterable[int]) -> list[int]:
    return [value for value, count in Counter(values).items() if count > 1]


def _unit(wide: bool) -> int:
    return 2 if wide else 1


def _word(value: int) -> bytes:
    return np.array(value, WORD).tobytes()
