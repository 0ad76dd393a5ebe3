"""Stage tables: which entries of the game's main archives they are, and what they say of stages and phases.

They are found by content, for nobody has printed the names of the entries; known names only label them.
docs/FORMATS.md, section 7.
"""

from __future__ import annotations

import copy
import functools
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import FormatError
from ..formats import idxd
from ..formats.entry_names import FOLDERS, base_name, inner_path, without_pack
from ..formats.hashes import file_id, string_id, wide_string_id
from ..formats.ipfb import Entry
from .archive import Archive, open_archive

STAGES = (*(f"S{number:02d}" for number in range(1, 30)), "Test")  # the shipped game has no S17
SCHEMA = "StageResource"
HULL_KEY, NAVIGATION_KEY, SET_KEY = "MapMesh", "MapPath", "CollisionMeshes"
LONGEST_NAME = 255
"""Characters of a file name or a phase's name; more is damage."""
MOST_PHASES = 256
"""How many phases of a table are read; the game's tables have up to five."""

_PHASE_IDS = {hashed(f"Phase_{n}"): f"Phase_{n}" for hashed in (string_id, wide_string_id) for n in range(1, 100)}


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase and the names of its hull, navigation volume and CollisionSet; None where the table has none."""

    name: str
    hull: str | None
    navigation: str | None
    set: str | None


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage such as S14, its table and phases.

    `name` and `table` are the table's id where no known name fits; `id`: that of the table, in hexadecimal.
    `problem` says why the table couldn't be read, `warnings` what in it is unknown.
    """

    name: str
    table: str
    phases: tuple[Phase, ...]
    problem: str = ""
    id: str = ""
    warnings: tuple[str, ...] = ()


def table_name(stage: str, folder: str = "") -> str:
    """The name of a stage's table, in a folder such as `Stage\\`."""
    return f"{folder}{SCHEMA}_{stage}.tbl"


TABLES = {
    file_id(table_name(stage, folder)): (stage, table_name(stage, folder))
    for folder in (FOLDERS[0], "", *FOLDERS[1:])
    for stage in STAGES
}
"""By id, the stage and the path of the names that tables may have, the likeliest first."""


def is_stage_table(head: bytes) -> bool:
    """Whether a file with these first bytes, `idxd.HEAD` or more, is a stage table."""
    found = idxd.first_section(head)
    return found == string_id(SCHEMA) or (head[:4] == idxd.WIDE and found == wide_string_id(SCHEMA))


def is_stage_entry(archive: Archive, entry: Entry) -> bool:
    """Whether an entry is a stage table, by the few bytes that it begins with. One that can't be read isn't."""
    try:
        return is_stage_table(archive.beginning(entry, idxd.HEAD))
    except FormatError:
        return False


def read_stages(archives: tuple[Path, ...]) -> tuple[Stage, ...]:
    """The stages of the first archive that holds stage tables: S01 to S29, Test, then those without a known name.

    The tables are alike in all languages. They are read again only if the archives changed. Raises `FormatError` if
    none can be opened or has such a table. A damaged table is reported in its stage.
    """
    found = _read_once(archives, _stamps(archives))
    if isinstance(found, FormatError):
        raise copy.copy(found)
    return found


def find_stage(stages: Iterable[Stage], wanted: str) -> Stage:
    """The stage of a name, a table's id, or a table's name; case doesn't matter.

    Raises `FormatError` that lists the stages if there is none.
    """
    text = wanted.strip().lower()
    table = base_name(inner_path(text))
    for stage in (found := list(stages)):
        own = stage.name.lower(), stage.id, f"0x{stage.id}", base_name(stage.table.lower())
        if text in own or table == own[-1] or f"{table}.tbl" == own[-1]:
            return stage
    raise FormatError(f"the game has no stage {wanted!r}", expected=", ".join(stage.name for stage in found))


def asteroid_prefix(stage: Stage) -> str | None:
    """What the names of a stage's own asteroids begin with: its name, or that in the names of its hulls."""
    if stage.name in STAGES:
        return stage.name
    matches = (re.match(r"S\d\d(?=_)", phase.hull or "") for phase in stage.phases)
    return next((match[0] for match in matches if match), None)


def _stamps(archives: tuple[Path, ...]) -> tuple[tuple[str, int, int], ...]:
    """What changes when one of the archives' files is written."""
    starts = tuple(os.path.splitext(path.name)[0].lower() + "." for path in archives)
    stamps = []
    for folder in {path.parent for path in archives}:
        try:
            for file in os.scandir(folder):
                if file.name.lower().startswith(starts):
                    status = file.stat()
                    stamps.append((file.path, status.st_mtime_ns, status.st_size))
        except OSError:
            continue  # opening them says why
    return tuple(sorted(stamps))


@functools.lru_cache(maxsize=4)
def _read_once(archives: tuple[Path, ...], stamps: object) -> tuple[Stage, ...] | FormatError:
    opened: list[tuple[Archive, list[FormatError]]] = []
    problems: list[FormatError] = []
    for path in archives:
        try:
            archive = open_archive(path)
        except FormatError as error:
            problems.append(error)
            continue
        entries, unreadable = _table_entries(archive)
        if entries:
            named = [entry for number, entry in archive.by_hash.items() if number in TABLES]  # damaged ones too
            return _in_order(archive, list(dict.fromkeys([*entries, *named])))
        opened.append((archive, unreadable))
    return _no_tables(opened) if opened else problems[0]


def _table_entries(archive: Archive) -> tuple[list[Entry], list[FormatError]]:
    """The stage tables of an archive, and why entries can't be read. Rows that share an entry's data are looked at
    once."""
    unreadable: list[FormatError] = []
    known: dict[tuple[int, int], bool] = {}
    for entry in archive.by_hash.values():
        place = entry.position, entry.size
        if place not in known:
            try:
                known[place] = is_stage_table(archive.beginning(entry, idxd.HEAD))
            except FormatError as error:
                known[place] = False
                unreadable.append(error)
    return [entry for entry in archive.by_hash.values() if known[entry.position, entry.size]], unreadable


def _no_tables(opened: list[tuple[Archive, list[FormatError]]]) -> FormatError:
    looked = ", ".join(f"{len(archive.entries):,} entries of {archive.path.name}" for archive, _ in opened)
    unreadable = [error for _, errors in opened for error in errors]
    remedy = "open hulls by file; if the game is as it was on the disc, `survey` says what the archive holds"
    if unreadable:
        looked += f"; {len(unreadable):,} of them can't be read"
        remedy = f"the first of these: {unreadable[0]}"
    return FormatError(
        "a game folder, but it holds no stage tables",
        file=str(opened[0][0].path),
        expected=f"a table that begins with the section {SCHEMA}",
        found=f"none in {looked}",
        remedy=remedy,
    )


def _in_order(archive: Archive, entries: list[Entry]) -> tuple[Stage, ...]:
    """The stages of these entries. Of two tables with known names for one stage the likelier has its name."""
    likely = {number: rank for rank, number in enumerate(TABLES)}
    entries = sorted(entries, key=lambda entry: (likely.get(entry.hash, len(likely)), entry.hash))
    phases: dict[tuple[int, int], tuple[tuple[Phase, ...], str, tuple[str, ...]]] = {}
    stages: dict[str, Stage] = {}
    for entry in entries:
        label = f"{entry.hash:08x}"
        name, table = TABLES.get(entry.hash, (label, label))
        if name in stages:
            name = label
        place = entry.position, entry.size
        if place not in phases:
            phases[place] = _read(archive.with_names({entry.hash: table}), entry)
        found, problem, warnings = phases[place]
        stages[name] = Stage(name, table, found, problem, label, warnings)
    places = {name: place for place, name in enumerate(STAGES)}
    return tuple(sorted(stages.values(), key=lambda stage: (places.get(stage.name, len(places)), stage.id)))


def _read(archive: Archive, entry: Entry) -> tuple[tuple[Phase, ...], str, tuple[str, ...]]:
    """The phases of a table, why it can't be read, and what in it is unknown."""
    try:
        table = idxd.decode(archive.read(entry))
    except FormatError as error:
        return (), str(error if error.file else error.within(archive.label(entry))), ()
    warnings: list[str] = []
    return phases_of(table, warnings), "", tuple(warnings)


def phases_of(table: idxd.Table, warnings: list[str]) -> tuple[Phase, ...]:
    """The phases of a table: its sections of such a name, and what else names a hull, volume or set.

    A set in the first section is that of each phase that names none. What is unknown is added to `warnings`.
    """
    rows = [_first_rows(table, key) for key in (HULL_KEY, NAVIGATION_KEY, SET_KEY)]
    named = np.array([number >= 0 for number in rows])
    usable = named.any(axis=0)
    usable[0] = named[:2, 0].any()
    hashes = table.section_records["hash"]
    usable |= np.isin(hashes, list(_PHASE_IDS))
    usable[1:] |= [_name(table, record).startswith("Phase_") for record in table.section_records[1:]]
    numbers = np.flatnonzero(usable)
    if len(numbers) > MOST_PHASES:
        warnings.append(f"it has {len(numbers):,} phases, of which the first {MOST_PHASES} are read")
    common = _value(table, int(rows[2][0]), SCHEMA, SET_KEY, warnings)
    phases = []
    for number in numbers[:MOST_PHASES].tolist():
        name = _name(table, table.section_records[number])
        hull, navigation, set_name = (
            _value(table, int(found[number]), name, key, warnings)
            for found, key in zip(rows, (HULL_KEY, NAVIGATION_KEY, SET_KEY), strict=True)
        )
        phases.append(Phase(name, hull, navigation, set_name or common))
    return tuple(phases)


def _first_rows(table: idxd.Table, key: str) -> np.ndarray:
    """For each section the row of that key, -1 without one; int64 (n,)."""
    first, end = table.ranges()
    found = np.append(table.numbers(table.row_records, "key", key), len(table.row_records))
    rows = found[np.searchsorted(found, np.minimum(first, found[-1]))]
    return np.where(rows < end, rows, -1)


def _name(table: idxd.Table, record: np.void) -> str:
    """A section's name; by its hash if it points to no string."""
    return table.text(int(record["name"]), LONGEST_NAME) or _PHASE_IDS.get(int(record["hash"]), f"{record['hash']:08x}")


def _value(table: idxd.Table, row: int, phase: str, key: str, warnings: list[str]) -> str | None:
    """The file that a row names; None without a row, for an empty name, and for one that is unknown."""
    if row < 0:
        return None
    pointer = int(table.row_records["value"][row])
    text = table.text(pointer, LONGEST_NAME + 1)
    if text is None and pointer >= 0:
        warnings.append(f"{phase}: its {key} points to no string and is unknown")
    elif text is not None and len(text) > LONGEST_NAME:
        warnings.append(f"{phase}: its {key} is longer than a file name and is unknown")
        return None
    return without_pack(text) or None if text else None
