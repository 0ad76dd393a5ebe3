"""Tables, IDXD or IXUD: sections of key and value strings (docs/FORMATS.md, section 7).

A table that was read is written back byte for byte: the pool of strings stays as it is, with what nothing points to,
and a changed value is added to it, so that a string shared by several rows stays the same for the others. Nothing in
a table but its two counts is trusted: a row that says something odd has no value, and `table_check` reports it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from .binary import view
from .hashes import ENCODING, string_id, wide_string_id

NARROW, WIDE = b"IDXD", b"IXUD"
WORD = np.dtype(">u4")
SECTION = np.dtype([("hash", ">u4"), ("name", ">i4"), ("first", ">u4"), ("end", ">u4")])
ROW = np.dtype([("hash", ">u4"), ("key", ">i4"), ("value", ">i4")])
NOTHING = -1  # what tools write for no string; every negative pointer is none
HEAD = 4 + WORD.itemsize + 4
"""How many of a table's first bytes hold the hash of its first section."""

SMALL = 1 << 15
"""Bytes of a table that is kept after it was parsed; the game's stage tables have a few hundred."""

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Row:
    """A key and its value, None where the pointer leads to no string; `key_at` and `value_at` are the pointers."""

    hash: int
    key: str | None
    value: str | None
    key_at: int
    value_at: int


@dataclass(frozen=True, slots=True)
class Section:
    """A named run of rows, `first` up to but not including `end`, as the file says it; see `Table.ranges`."""

    hash: int
    name: str | None
    name_at: int
    first: int
    end: int


class Records(Sequence[_Item], Generic[_Item]):
    """Sections or rows of a table. Each is made when it is asked for, so that shared strings take no memory."""

    def __init__(self, numbers: range, make: Callable[[int], _Item]) -> None:
        self._numbers, self._make = numbers, make

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> _Item: ...
    @overload
    def __getitem__(self, place: slice) -> Records[_Item]: ...
    def __getitem__(self, place: int | slice) -> _Item | Records[_Item]:
        if isinstance(place, slice):
            return Records(self._numbers[place], self._make)
        return self._make(self._numbers[place])

    def __iter__(self) -> Iterator[_Item]:
        return map(self._make, self._numbers)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Sections, rows and the pool of strings, which is all that follows the rows and the size word.

    `wide`: IXUD, UTF-16BE strings and pointers in 2-byte units. `section_records` and `row_records`: arrays of dtype
    `SECTION` and `ROW`. `pool_size`: the size word, which readers don't use, in bytes or in units; None if the file
    ends in front of it.
    """

    wide: bool
    section_records: NDArray[np.void]
    row_records: NDArray[np.void]
    pool: bytes
    pool_size: int | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and encode(self) == encode(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def sections(self) -> Records[Section]:
        """All sections, in order."""
        return Records(range(len(self.section_records)), self._section)

    @property
    def rows(self) -> Records[Row]:
        """All rows, in order."""
        return Records(range(len(self.row_records)), self._row)

    def section(self, name: str) -> Section | None:
        """The first section of that name, by its hash or its string."""
        found = self.numbers(self.section_records, "name", name)
        return self.sections[int(found[0])] if len(found) else None

    def rows_of(self, section: Section) -> Records[Row]:
        """The rows of a section, as far as the table has them."""
        return self.rows[section.first : section.end]

    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """For each section its first row and the one behind its last, int64 (n,), within the table's rows."""
        rows = len(self.row_records)
        first = np.minimum(self.section_records["first"].astype(np.int64), rows)
        return first, np.clip(self.section_records["end"].astype(np.int64), first, rows)

    def value(self, section: Section, key: str) -> str | None:
        """The first value of that key in a section; None without such a key, or if it points to no string."""
        number = self.row_number(section, key)
        return None if number is None else self.rows[number].value

    def row_number(self, section: Section, key: str) -> int | None:
        """The first row of that key in a section."""
        found = self.numbers(self.row_records, "key", key)
        at = int(np.searchsorted(found, section.first))
        return int(found[at]) if at < len(found) and found[at] < section.end else None

    def numbers(self, records: np.ndarray, field: str, name: str) -> np.ndarray:
        """Which sections or rows have a name, ascending: by their hash, as the game finds them, or by their string."""
        known = np.zeros(len(records), bool)
        for hashed in _hashes(name, self.wide):
            known |= records["hash"] == hashed
        try:
            known |= np.isin(records[field], self._places(stored_string(name, self.wide)))
        except FormatError:
            pass  # no string of the table is this name
        return np.flatnonzero(known)

    def raw(self, pointer: int, most: int | None = None) -> bytes | None:
        """The stored bytes of the string that a pointer leads to, or of its first `most` units, without its end.

        None if it leads to none. A string that nothing ends reaches to the end of the file.
        """
        start, unit = pointer * unit_size(self.wide), unit_size(self.wide)
        if not 0 <= start < len(self.pool):
            return None
        stop = len(self.pool) if most is None else min(len(self.pool), start + most * unit)
        end = self.pool.find(bytes(unit), start, stop)
        while end >= 0 and (end - start) % unit:  # the zero halves of two neighbours don't end a UTF-16 string
            end = self.pool.find(bytes(unit), end + 1, stop)
        return self.pool[start : end if end >= 0 else stop]

    def text(self, pointer: int, most: int | None = None) -> str | None:
        """The same as text. Bytes that can't be decoded show as `\\x..`."""
        raw = self.raw(pointer, most)
        return None if raw is None else raw.decode("utf-16-be" if self.wide else ENCODING, "backslashreplace")

    def _places(self, stored: bytes) -> list[int]:
        """The pointers that lead to a string, given as it is stored."""
        unit, places, at = unit_size(self.wide), [], self.pool.find(stored)
        while at >= 0:
            places.append(at)
            at = self.pool.find(stored, at + 1)
        if stored[:-unit] and self.pool.endswith(stored[:-unit]):  # the end of the file ends it
            places.append(len(self.pool) - len(stored) + unit)
        return [at // unit for at in places if at % unit == 0]

    def _section(self, number: int) -> Section:
        record = self.section_records[number]
        name = int(record["name"])
        return Section(int(record["hash"]), self.text(name), name, int(record["first"]), int(record["end"]))

    def _row(self, number: int) -> Row:
        record = self.row_records[number]
        key, value = int(record["key"]), int(record["value"])
        return Row(int(record["hash"]), self.text(key), self.text(value), key, value)


def decode(data: bytes) -> Table:
    """Reads a table. Small ones are kept for a while, so that what looks at a game twice parses its tables once.

    Raises `FormatError` for an unknown magic and for more sections or rows than the file has room for.
    """
    return _parse_once(bytes(data)) if len(data) <= SMALL else _parse(data)


def _parse(data: bytes) -> Table:
    if data[:4] not in (NARROW, WIDE):
        raise FormatError(
            "not a table", offset=0, expected="IDXD or IXUD", found=ascii(data[:4]), remedy="choose a .tbl of the game"
        )
    sections, at = _records(data, SECTION, 4, "sections of the table")
    rows, at = _records(data, ROW, at, "rows of the table")
    size = int.from_bytes(data[at : at + WORD.itemsize], "big") if at + WORD.itemsize <= len(data) else None
    pool = bytes(data[at if size is None else at + WORD.itemsize :])
    return Table(data[:4] == WIDE, sections, rows, pool, size)


@functools.lru_cache(maxsize=64)
def _parse_once(data: bytes) -> Table:
    return _parse(data)


def encode(table: Table) -> bytes:
    """The bytes of a table; those it was read from, if nothing was changed."""
    return b"".join(
        (
            WIDE if table.wide else NARROW,
            _word(len(table.section_records)),
            table.section_records.tobytes(),
            _word(len(table.row_records)),
            table.row_records.tobytes(),
            b"" if table.pool_size is None else _word(table.pool_size),
            table.pool,
        )
    )


def first_section(head: bytes) -> int | None:
    """The hash of a table's first section, from its first `HEAD` bytes; None if it is no table or has no section."""
    if head[:4] not in (NARROW, WIDE) or len(head) < HEAD or not any(head[4:8]):
        return None
    return int.from_bytes(head[8:12], "big")


def build(sections: Iterable[tuple[str, Iterable[tuple[str, str]]]], *, wide: bool = False) -> Table:
    """A table from section names and their (key, value) pairs, equal strings stored once, in order of first use.

    Raises `FormatError` for text that the table's encoding lacks.
    """
    pool = bytearray()
    places: dict[str, int] = {}
    hashed = wide_string_id if wide else string_id

    def place(text: str) -> int:
        if text not in places:
            places[text] = len(pool) // unit_size(wide)
            pool.extend(stored_string(text, wide))
        return places[text]

    made_sections: list[tuple[int, int, int, int]] = []
    made_rows: list[tuple[int, int, int]] = []
    for name, pairs in sections:
        name_at, first = place(name), len(made_rows)
        made_rows.extend((hashed(key), place(key), place(value)) for key, value in pairs)
        made_sections.append((hashed(name), name_at, first, len(made_rows)))
    size = len(pool) // unit_size(wide)
    return Table(wide, np.array(made_sections, SECTION), np.array(made_rows, ROW), bytes(pool), size)


def set_value(table: Table, section: str, key: str, value: str) -> Table:
    """A table with another value in the first row of that key; the same table if it has the value already.

    The pool only grows: the old string may belong to other rows, or to something that isn't known yet.
    Raises `FormatError` without such a section or key, or for text that the encoding lacks.
    """
    found = table.section(section)
    if found is None:
        raise FormatError(f"the table has no section {section}", expected=_choices(s.name for s in table.sections))
    number = table.row_number(found, key)
    if number is None:
        keys = _choices(row.key for row in table.rows_of(found))
        raise FormatError(f"section {section} has no key {key}", expected=keys)
    if table.rows[number].value == value:
        return table
    table, at = _with_string(table, stored_string(value, table.wide))
    rows = table.row_records.copy()
    rows["value"][number] = at
    return dataclasses.replace(table, row_records=rows)


def _with_string(table: Table, stored: bytes) -> tuple[Table, int]:
    """The table and a pointer to a string in it, which is added to the pool if nothing points to such a one."""
    pointers = np.concatenate((table.row_records["value"], table.row_records["key"], table.section_records["name"]))
    unit, pool = unit_size(table.wide), table.pool
    there = {at for at in table._places(stored) if pool.startswith(stored, at * unit)}
    at = next((int(pointer) for pointer in pointers if int(pointer) in there), None)
    if at is not None:
        return table, at
    pool += bytes(-len(pool) % unit)
    if pool and pool[-unit:] != bytes(unit):
        pool += bytes(unit)  # the last string was ended by the file's end, which moves
    at, grown = len(pool) // unit, len(pool) + len(stored) - len(table.pool)
    size = table.pool_size or 0
    in_units = unit > 1 and size * unit <= len(table.pool)
    size = min(size + (grown // unit if in_units else grown), 0xFFFFFFFF)
    return dataclasses.replace(table, pool=pool + stored, pool_size=size), at


def stored_string(text: str, wide: bool) -> bytes:
    """A string as tables store it, with its end. Raises `FormatError` for text that the encoding lacks."""
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


def unit_size(wide: bool) -> int:
    """Bytes a unit of pointers."""
    return 2 if wide else 1


def _records(data: bytes, dtype: np.dtype, at: int, what: str) -> tuple[np.ndarray, int]:
    """Counted records, and the offset behind them."""
    count = int(view(data, WORD, 1, at, f"the number of {what}")[0])
    at += WORD.itemsize
    records = view(data, dtype, count, at, what)
    return records, at + records.nbytes


def _hashes(name: str, wide: bool) -> tuple[int, ...]:
    """The hashes by which a name may be found. The rule of IXUD is public evidence only, so both rules count there."""
    try:
        narrow: tuple[int, ...] = (string_id(name),)
    except FormatError:
        narrow = ()
    return (wide_string_id(name), *narrow) if wide else narrow


def _choices(names: Iterable[str | None], most: int = 20) -> str:
    different = dict.fromkeys(name for name, _ in zip(names, range(1000), strict=False) if name)
    return "one of " + (", ".join([name[:80] for name in different][:most]) or "none")


def _word(value: int) -> bytes:
    return np.array(value, WORD).tobytes()
