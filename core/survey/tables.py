"""Stage tables in a survey: a reader that no file stops, and its facts. docs/FORMATS.md, section 7."""

from __future__ import annotations

import functools
import struct
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ..formats.hashes import file_id, string_id
from .facts import Answer, Fact, Measured, NothingThere, NotMeasurable, Same, Subject

STAGE_SCHEMA = 0x3C9AE32E
NARROW, WIDE = b"IDXD", b"IXUD"
SECTION, ROW = struct.Struct(">IiII"), struct.Struct(">Iii")
LONGEST_STRING = 128
"""Most bytes of a string that are read: names of sections, keys and files are shorter."""
MOST_ROWS = 1 << 12
"""Sections, and rows, that are looked at in one table: those of stages are kept till all are read."""
STAGES = (*(f"S{number:02d}" for number in range(1, 30)), "Test")
FOLDERS = ("Stage\\", "stage_resource\\", "StageResource\\", "table\\", "tables\\", "dat\\", "dat\\Stage\\")
FILE_KEYS = {"MapPath": ".rgn", "MapMesh": ".col", "CollisionMeshes": ".bin"}
SHIPPED_STAGES, SHIPPED_PHASES = 29, 87
SHIPPED_USERS = (70, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1)
"""How many phases use each of the 11 hulls."""
NAMED = 8

NAMES = {
    file_id(f"{folder}StageResource_{stage}.tbl"): folder or "no folder"
    for folder in ("", *FOLDERS)
    for stage in STAGES
}
"""By archive id, the folder in the names that stage tables may have."""


class Section(NamedTuple):
    """A section's hash, its name as far as it can be read, and its rows as (hash, key, value)."""

    hash: int
    name: str
    rows: list[tuple[int, str | None, str | None]]


class Table:
    """A table as far as it can be read, and what is odd in it. `id` is its archive id."""

    def __init__(self, data: bytes, id: str = "") -> None:
        self.data, self.id, self.odd = data, id, Counter[str]()
        self.rows_left = MOST_ROWS  # sections may share rows
        if data[:4] not in (NARROW, WIDE):
            raise NotMeasurable("other letters at 0x00")
        self.wide = data[:4] == WIDE
        self.unit = 2 if self.wide else 1
        self.strings: dict[int, str | None] = {}
        sections, _, at = self._records(SECTION, 4)
        rows, self.row_count, at = self._records(ROW, at)
        self.pool_at = min(at + 4, len(data))
        pool_size, rest = self._word(at), len(data) - self.pool_at
        if pool_size * self.unit != rest and pool_size != rest:
            self.odd["pool size"] += 1
        self.sections = [self._section(section, rows) for section in sections]

    def _word(self, at: int) -> int:
        return int.from_bytes(self.data[at : at + 4].ljust(4, b"\0"), "big")

    def _records(self, form: struct.Struct, at: int) -> tuple[list[tuple[int, ...]], int, int]:
        """The first records, how many there are in the file, and the offset behind them."""
        said, start = self._word(at), at + 4
        there = min(said, max(len(self.data) - start, 0) // form.size)
        if there < said:
            self.odd["counts beyond the file"] += 1
        end = start + min(there, MOST_ROWS) * form.size
        return list(form.iter_unpack(self.data[start:end])), there, start + there * form.size

    def _section(self, record: tuple[int, ...], rows: list[tuple[int, ...]]) -> Section:
        hashed, name_at, first, end = record
        if end > self.row_count or first > end:
            self.odd["ends beyond the rows"] += 1
        name = self._string(name_at)
        self._compare(hashed, name)
        found = []
        taken = rows[first:end][: self.rows_left]
        self.rows_left -= len(taken)
        for row_hash, key_at, value_at in taken:
            key = self._string(key_at)
            self._compare(row_hash, key)
            found.append((row_hash, key, self._string(value_at)))
        return Section(hashed, name or "", found)

    def _compare(self, hashed: int, name: str | None) -> None:
        if not name:
            self.odd["names without string"] += name is None
        elif not self.wide and name.isascii() and _key_hash(name) != hashed:
            self.odd["hashes of other names"] += 1

    def _string(self, pointer: int) -> str | None:
        if pointer not in self.strings:
            self.strings[pointer] = self._read_string(pointer)
        return self.strings[pointer]

    def _read_string(self, pointer: int) -> str | None:
        start = self.pool_at + pointer * self.unit
        if pointer < 0 or start >= len(self.data):
            if pointer != -1:
                self.odd["pointers beyond the pool"] += 1
            return None
        raw = self.data[start : start + LONGEST_STRING * self.unit]
        if self.wide:
            return raw.decode("utf-16-be", "replace").split("\0")[0]
        return raw.split(b"\0")[0].decode("cp932", "replace")


class Stages:
    """The stage tables of one archive or folder, and the ids of all entries of the collision archives, if known."""

    def __init__(self, tables: list[Table], known: set[int] | None) -> None:
        self.tables, self.known = tables, known

    @property
    def phases(self) -> list[dict[str, str | None]]:
        """The values of `FILE_KEYS` in each phase, None where the key is absent or points to no string."""
        return [
            {key: next((value for _, own, value in section.rows if own == key), None) for key in FILE_KEYS}
            for table in self.tables
            for section in table.sections
            if section.name.startswith("Phase")
        ]


@functools.lru_cache(maxsize=MOST_ROWS)  # tables have the same few names over and over
def _key_hash(name: str) -> int:
    return string_id(name)


def is_stage_table(head: bytes) -> bool:
    """Whether a table with these first bytes is a stage's, by its first section's hash."""
    return head[:4] in (NARROW, WIDE) and head[8:12] == STAGE_SCHEMA.to_bytes(4, "big")


def inner_name(value: str) -> str:
    """The entry that a value names: what follows the archive's path, if it has one."""
    return value.rpartition("+")[2]


def _layout(stages: Stages) -> str:
    counts = Counter(NAMES.get(int(table.id, 16) if table.id else 0, "unknown name") for table in stages.tables)
    return ", ".join(f"{folder} {count:,}" for folder, count in counts.most_common())


def _sections(stages: Stages) -> str:
    names = Counter(section.name for table in stages.tables for section in table.sections)
    phases = sum(count for name, count in names.items() if name.startswith("Phase_"))
    others = [f"{_shown(name)} {count:,}" for name, count in sorted(names.items()) if not name.startswith("Phase_")]
    return ", ".join([f"Phase_n {phases:,}", *others[:NAMED]]) + (" …" if len(others) > NAMED else "")


def _keys(stages: Stages) -> str:
    """How many sections have each key; the keys of phases first."""
    counts: dict[str, Counter[str]] = {"Phase_n": Counter(), "others": Counter()}
    for table in stages.tables:
        for section in table.sections:
            kind = "Phase_n" if section.name.startswith("Phase_") else "others"
            counts[kind].update({key or f"{hashed:08x}" for hashed, key, _ in section.rows})
    parts = []
    for kind, keys in counts.items():
        shown = ", ".join(f"{_shown(key)} {count:,}" for key, count in sorted(keys.items())[:NAMED])
        more = f" and {len(keys) - NAMED:,} more" if len(keys) > NAMED else ""
        parts.append(f"{kind}: {shown or 'none'}{more}")
    return "; ".join(parts)


def _shown(name: str) -> str:
    """The name of a section or key, unless it isn't one."""
    good = name.isascii() and name.replace("_", "").isalnum() and len(name) <= 32
    return name if good else f"{string_id(name.encode('utf-8', 'replace')):08x}"


def _phases(stages: Stages) -> str:
    return f"{len(stages.tables):,} stages with {len(stages.phases):,} phases"


def _users(stages: Stages) -> str:
    values = [phase["MapMesh"] for phase in stages.phases]
    counts = Counter(inner_name(value).lower() for value in values if value)
    numbers = " ".join(f"{count:,}" for _, count in counts.most_common(16))
    return f"{numbers or 'none'}, without a hull {sum(not value for value in values):,}"


def _dangling(stages: Stages) -> str:
    if stages.known is None:
        raise NothingThere("no archive of collision files here")
    lost: Counter[str] = Counter()
    for phase in stages.phases:
        for key, value in phase.items():
            lost[f"{key} absent"] += value is None
            lost[f"{key} empty"] += value == ""
            lost[f"{key} without entry"] += bool(value) and _id(inner_name(value or "")) not in stages.known
            lost[f"{key} of another kind"] += bool(value) and not (value or "").lower().endswith(FILE_KEYS[key])
    return ", ".join(f"{what} {count:,}" for what, count in lost.items() if count) or "none"


def _id(name: str) -> int:
    return file_id(name.encode("cp932", "replace"))


def _odd(table: Table) -> str:
    return ", ".join(sorted(table.odd)) or "as in the notes"


def _layout_answer(measured: Sequence[Measured], whole: bool) -> Answer:
    return Same((f"Stage\\ {SHIPPED_STAGES}",))(measured, whole)


_G = Subject.STAGES
SHIPPED_TEXT = f"{SHIPPED_STAGES} stages with {SHIPPED_PHASES} phases"
USERS_TEXT = f"{' '.join(map(str, SHIPPED_USERS))}, without a hull 1"


def _whole_only(*expected: str):  # type: ignore[no-untyped-def]
    """Compares only where the files are all of the shipped game."""
    return lambda measured, whole: Same(expected if whole else ())(measured, whole)


FEWER = ("MapMesh", "MapPath")
BOTH = tuple(f"MapPath {what} 1, MapMesh {what} 1" for what in ("absent", "empty"))
"""What one phase without a hull may look like."""
FACTS = (
    Fact("F01", "A", "folders in the names of stage tables", _G, "Stage\\ 29", _layout, _layout_answer),
    Fact("F02", "M", "stages and phases", _G, SHIPPED_TEXT, _phases, _whole_only(SHIPPED_TEXT)),
    Fact("F03", "M", "sections of stage tables", _G, "StageResource, Phase_1, Phase_2, …", _sections, Same()),
    Fact("F04", "M", "keys of stage tables, by sections that have them", _G, "MapPath, …", _keys, Same()),
    Fact("F05", "M", "phases that use each hull", _G, USERS_TEXT, _users, _whole_only(USERS_TEXT)),
    Fact(
        "F06",
        "M",
        "values of MapPath, MapMesh and CollisionMeshes without a file",
        _G,
        "one phase may name no hull",
        _dangling,
        Same(("none", *(f"{keys} {what} 1" for what in ("absent", "empty") for keys in FEWER), *BOTH)),
    ),
)
TABLE_FACTS = (Fact("F142", "P", "form of tables", Subject.TABLE, "as in the notes", _odd, Same(("as in the notes",))),)
