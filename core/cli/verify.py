"""Runs every check on files, entries of archives and game folders, for `python -m core verify`."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..disk.files import walk
from ..errors import Finding, FormatError, Severity
from ..formats.kinds import Kind, detect
from ..formats.mcol import Hull
from ..formats.regn import Navigation
from ..game import game_folder
from ..game.archive import Archive
from ..game.loose_files import detect_file
from ..game.stage_tables import is_stage_entry, is_stage_table
from ..inspect import check_archive, check_game, check_hull, check_navigation
from ..inspect.checks import Check, findings, worst_first
from ..rules.rule import Rule
from ..rules.severity import worst
from .file_kinds import FORMATS, load
from .hull_beside import Beside, beside_entry, beside_file
from .originals import Originals, tolerate_checks, tolerate_findings

Progress = Callable[[int, int, str], None]
"""Called before each file or entry with the file's number from 0, how many files there are, and what comes."""

GAME_FOLDER = "game folder"

_SET = re.compile(r"CollisionSet", re.IGNORECASE)

COUNTED = {
    Kind.ARCHIVE.value: (
        Rule.ARCHIVE_HEADER,
        Rule.ARCHIVE_COUNT,
        Rule.ARCHIVE_TABLE,
        Rule.ARCHIVE_ORDER,
        Rule.ARCHIVE_DUPLICATES,
        Rule.ARCHIVE_ALIGNMENT,
        Rule.ARCHIVE_OVERLAP,
        Rule.ARCHIVE_SHARED,
        Rule.ARCHIVE_GAP,
        Rule.ARCHIVE_DATA,
    ),
    Kind.NAVIGATION.value: (
        Rule.CHUNK_END,
        Rule.CHUNK_ALONE,
        Rule.NAVIGATION_BOX,
        Rule.NAVIGATION_GRID,
        Rule.NAVIGATION_ARRAYS,
    ),
    Kind.TABLE.value: (
        Rule.TABLE_ROWS,
        Rule.TABLE_STRINGS,
        Rule.TABLE_SIZE,
        Rule.TABLE_END,
        Rule.TABLE_NAMES,
        Rule.TABLE_HASHES,
        Rule.TABLE_SECTIONS,
        Rule.TABLE_KEYS,
    ),
    GAME_FOLDER: (
        Rule.GAME_ARCHIVES,
        Rule.STAGE_TABLES,
        Rule.PHASE_FILES,
        Rule.PAIR_FILES,
        Rule.PAIR_GRID,
        Rule.SET_FILES,
        Rule.SET_CONTENTS,
    ),
}
"""By kind of file, the rules of findings, which the totals count."""

OF_ENTRIES = {
    Rule.ARCHIVE_ORDER,
    Rule.ARCHIVE_DUPLICATES,
    Rule.ARCHIVE_ALIGNMENT,
    Rule.ARCHIVE_OVERLAP,
    Rule.ARCHIVE_SHARED,
    Rule.ARCHIVE_GAP,
    Rule.ARCHIVE_DATA,
}
"""The rules of an archive that the totals count by entry."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A file, an entry of an archive, or a game folder: its checks and what they found, or why it can't be read.

    `kind` is in words, empty for an unreadable file. `note` says what wasn't read.
    """

    file: str
    entry: str = ""
    kind: str = ""
    checks: list[Check] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    error: str = ""
    note: str = ""

    @property
    def passed(self) -> bool:
        return not self.error and all(finding.severity is not Severity.ERROR for finding in self.findings)

    @property
    def name(self) -> str:
        return f"{self.file}: {self.entry}" if self.entry else self.file


@dataclass(frozen=True, slots=True)
class Options:
    """`everything`: also what a game folder holds beside its collision files and stage tables. `like`: the file,
    archive or folder that what is checked was made from, whose own faults are warnings."""

    everything: bool = False
    like: str | None = None


def verify(paths: list[str], progress: Progress, options: Options = Options()) -> Iterator[Verified]:
    """Checks files, and what is below folders: archives are followed by their entries, and the game folders come last.

    Raises `FormatError` for a folder in which there is nothing to check, and for an original that can't be read.
    """
    found: list[tuple[Path, Path]] = []
    games: list[game_folder.Game] = []
    problems: list[FormatError] = []
    for path in map(Path, paths):
        if path.is_dir():
            below, unreadable = walk(path)
            found += [(file, path) for file in _to_verify(path, below, unreadable)]
            games += _games_around(path, below)
            problems += unreadable
        else:
            found.append((path, path))
    files = [row for row in found if options.everything or not _is_left_out(*row, games)]
    count, run = len(files) + len(games), _Run(options, games)
    for problem in problems:
        yield Verified(problem.file, error=str(problem))
    for number, (file, below_it) in enumerate(files):
        progress(number, count, file.name)

        def report(entry: str, number: int = number, file: Path = file) -> None:
            progress(number, count, f"{file.name}: {entry}")

        yield from run.file(file, below_it, report)
    for number, game in enumerate(games, len(files)):
        progress(number, count, game.root.name)
        yield run.game(game, len(found) - len(files))


def new_errors(kind: Kind, model: object, original: object | None) -> list[Finding]:
    """The errors in a model that its original doesn't have at the same place; the worst first."""
    found = _verify_model(kind, model, original).findings
    return [finding for finding in found if finding.severity is Severity.ERROR]


def _to_verify(path: Path, below: list[Path], unreadable: list[FormatError]) -> list[Path]:
    """The files in a folder that can be checked; data files are part of their archive.

    Raises `FormatError` for a folder without any."""
    found = [file for file in below if not _belongs_to_an_archive(file) and _is_known(file)]
    if not (found or unreadable):
        raise FormatError("no file in this folder that can be verified", file=str(path), remedy="choose another folder")
    return found


def _is_known(file: Path) -> bool:
    try:
        return detect_file(file) is not None
    except FormatError:
        return True  # reading it again reports why it can't be


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    """An entry of an archive: the archive's path, the entry's name and data, their digest, and the hull that goes with
    it if it is a navigation volume."""

    file: str
    label: str
    data: bytes
    digest: bytes
    beside: Beside | None


class _Run:
    """What one run needs to know. Results are kept by content: the game stores one collision set 18 times."""

    def __init__(self, options: Options, games: list[game_folder.Game]) -> None:
        self.options = options
        self.originals = Originals(options.like) if options.like else None
        self.tables = set() if options.everything else {file for game in games for file in game.tables}
        self.results: dict[tuple[bytes, ...], Verified] = {}
        self.skipped = 0  # entries beside the stage tables

    def file(self, file: Path, below: Path, report: Callable[[str], None]) -> list[Verified]:
        """The results of a file, and of its entries if it is an archive."""
        original = self.originals.file(file, below) if self.originals else None
        try:
            kind, model, _ = load(file)
        except FormatError as error:
            return [Verified(str(file), error=str(error))]
        if kind is Kind.ARCHIVE:
            return self.archive(file, model, original, report)
        source = None
        if self.originals:
            source = self.originals.decode(kind, self.originals.data(kind, original, file.name))
        beside = beside_file(file) if kind is Kind.NAVIGATION else None
        return [dataclasses.replace(_verify_model(kind, model, source, beside), file=str(file))]

    def archive(
        self, file: Path, opened: Archive, original: Path | None, report: Callable[[str], None]
    ) -> list[Verified]:
        """The results of an archive and of the entries that there are checks for."""
        entries: dict[int, Verified] = {}

        def visit(sharing: list[int], data: bytes) -> None:
            digest = hashlib.sha256(data).digest()
            for row in sharing:
                label = opened.label(opened.entries[row])
                report(label)
                beside = beside_entry(opened, label) if detect(data) is Kind.NAVIGATION else None
                result = self.entry(_Entry(str(file), label, data, digest, beside), original)
                if result:
                    entries[row] = result

        only_tables = Path(os.path.abspath(file)) in self.tables
        rows = {entry for entry in opened.entries if not only_tables or is_stage_entry(opened, entry)}
        self.skipped += len(opened.entries) - len(rows) if only_tables else 0
        found = check_archive.check(opened, visit=visit, wanted=rows.__contains__)
        if self.originals and original and any(finding.severity is Severity.ERROR for finding in found):
            found = tolerate_findings(found, check_archive.check(self.originals.archive(original)))
        whole = _from_findings(Kind.ARCHIVE.value, found, len(opened.entries), len(rows))
        return [dataclasses.replace(whole, file=str(file)), *(entries[row] for row in sorted(entries))]

    def entry(self, entry: _Entry, original: Path | None) -> Verified | None:
        """The result of an entry; None if there are no checks of its kind."""
        kind = detect(entry.data)
        if kind is None or kind is Kind.ARCHIVE:
            return None
        before = self.originals.data(kind, original, entry.label) if self.originals else None
        hull = entry.beside.data if entry.beside else b""
        key = entry.digest, *(b"" if data is None else hashlib.sha256(data).digest() for data in (before, hull))
        if key not in self.results:
            source = self.originals.decode(kind, before) if self.originals else None
            other = kind is Kind.TABLE and not is_stage_table(entry.data)  # no collision data
            try:
                result = _verify_model(kind, FORMATS[kind].decode(entry.data), source, entry.beside)
            except FormatError as error:
                finding = Finding(Severity.ERROR, Rule.ENTRY_CONTENTS, str(error))
                result = Verified("", kind=kind.value, findings=[finding])
                other |= kind is Kind.COLLISION_SET and not _SET.match(entry.label)  # other numbers may look like a set
            self.results[key] = _as_information(result) if other else result
        note = entry.beside.note if entry.beside else ""
        return dataclasses.replace(self.results[key], file=entry.file, entry=entry.label, note=note)

    def game(self, game: game_folder.Game, left_out: int) -> Verified:
        """The result of a game folder. `left_out` archives weren't read."""
        result = _from_findings(GAME_FOLDER, _game_findings(game))
        if self.originals and not result.passed:
            try:
                before = _game_findings(game_folder.find_game(self.originals.path))
            except FormatError:
                before = []
            result = _from_findings(GAME_FOLDER, tolerate_findings(_game_findings(game), before))
        notes = [
            f"{number:,} other {one if number == 1 else several}"
            for number, one, several in ((left_out, "archive", "archives"), (self.skipped, "entry", "entries"))
            if number
        ]
        note = f"{' and '.join(notes)} left out, `--all` reads them" if notes else ""
        return dataclasses.replace(result, file=str(game.root), note=note)


def _verify_model(kind: Kind, model: object, original: object = None, beside: Beside | None = None) -> Verified:
    """`beside`: the hull that goes with a navigation volume."""
    use = FORMATS[kind]
    found = use.findings(model) if use.findings else []
    if original is not None and use.findings:
        found = tolerate_findings(found, use.findings(original))
    result = _from_findings(kind.value, found) if use.findings else Verified("", kind=kind.value)
    if not use.check:
        return result
    if isinstance(model, Hull):
        checks = check_hull.check_hull(model, original)  # type: ignore[arg-type]
    elif isinstance(model, Navigation):
        checks = check_navigation.check_navigation(model, beside.hull if beside else None)
    else:
        checks = use.check(model)
    if original is not None and any(not c.passed and c.severity is Severity.ERROR for c in checks):
        checks = tolerate_checks(checks, model, use.check(original), original)
    note = beside.note if beside else ""
    checked = worst_first(result.findings + findings(checks))
    return dataclasses.replace(result, checks=result.checks + checks, findings=checked, note=note)


def _as_information(result: Verified) -> Verified:
    checks = [dataclasses.replace(one, severity=Severity.INFO) for one in result.checks]
    found = [dataclasses.replace(one, severity=Severity.INFO) for one in result.findings]
    return dataclasses.replace(result, checks=checks, findings=found)


def _game_findings(game: game_folder.Game) -> list[Finding]:
    found = check_game.check(game)
    if not game.tables or game.collision is None:  # a mod folder, which needs no more than what it changes
        found = [finding for finding in found if finding.check is not Rule.GAME_ARCHIVES]
    return found


def _is_left_out(file: Path, below: Path, games: list[game_folder.Game]) -> bool:
    """Whether a file is an archive below a game folder that holds neither its collision files nor its stages."""
    if not below.is_dir() or file.suffix.lower() != ".pak":
        return False
    place = Path(os.path.abspath(file))
    around = [game for game in games if place.is_relative_to(game.root)]
    return bool(around) and not any(place == game.collision or place in game.tables for game in around)


def _from_findings(kind: str, found: list[Finding], entries: int = 1, unpacked: int = 1) -> Verified:
    """Findings, and the same counted: of `entries` where they name some, so many of which were unpacked, else of the
    one file."""
    checks = []
    for rule in COUNTED[kind]:
        broken = [finding for finding in found if finding.check is rule]
        total = unpacked if rule is Rule.ARCHIVE_DATA else entries if rule in OF_ENTRIES else 1
        missed = len({element for finding in broken for element in finding.elements}) or min(len(broken), 1)
        checks.append(Check(rule, total - missed, total, worst(finding.severity for finding in broken)))
    return Verified("", kind=kind, checks=checks, findings=worst_first(found))


def _games_around(path: Path, below: list[Path]) -> list[game_folder.Game]:
    """The game and mod folders at or below a folder, around the archives in it."""
    around = {file.parent.parent for file in below if file.suffix.lower() == ".pak"}
    games = []
    for folder in sorted(folder for folder in around if folder.is_relative_to(path)):
        try:
            game = game_folder.find_game(folder)
        except FormatError:
            continue  # archives of another kind
        if game.root == Path(os.path.abspath(folder)):
            games.append(game)
    return games


def _belongs_to_an_archive(file: Path) -> bool:
    """Data files, and the state of an archive before it was overwritten."""
    return re.search(r"\.p(\d\d|\d\d\.bak|ak\.bak)$", file.name, re.IGNORECASE) is not None
