"""Every check of files, of the entries of archives, and of game folders: what `python -m core verify` tells."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from . import archive, chunk, report, stage
from .archive import Archive
from .counted import Check, findings, worst, worst_first
from .detect import Kind, detect, detect_file
from .errors import Finding, FormatError, Severity
from .files import walk
from .formats import FORMATS, load
from .ipfb import Entry

Progress = Callable[[int, int, str], None]
"""Called before each file or entry with the file's number from 0, how many files there are, and what comes."""

GAME_FOLDER = "game folder"

COUNTED = {
    "archive header": "archives with the game's alignment and limit",
    "archive table": "archives with nothing behind the table",
    "archive order": "entries sorted by hash",
    "archive duplicates": "entries with a hash of their own",
    "archive alignment": "entries that begin at a multiple of the alignment",
    "archive overlap": "entries apart from every other",
    "archive gap": "entries with an empty gap in front",
    "archive data": "entries that can be read and unpacked",
}
VOLUME_COUNTED = {
    chunk.ENDED: chunk.ENDED,
    chunk.ALONE: chunk.ALONE,
    "navigation box": "volumes with the usual words around the box",
    "navigation grid": "volumes with known dimensions",
    "navigation arrays": "volumes whose arrays lie in order inside the file",
}
TABLE_COUNTED = {
    "table hash": "tables whose hashes are those of the names",
    "table sections": "tables with each section once",
    "table keys": "tables with each key once in a section",
}
GAME_COUNTED = {
    "game archive": "games with the archives of stages and collision files",
    "stage table": "games whose stage tables can be read",
    "phase files": "games whose phases name files that are there",
    "pair files": "games where each .col has its .rgn",
    "pair grid": "games where each .rgn fits its .col",
    "set files": "games whose CollisionSets can be read",
    "set contents": "games whose CollisionSets are all alike",
}
WHAT_IS_COUNTED = {
    Kind.ARCHIVE.value: COUNTED,
    Kind.NAVIGATION.value: VOLUME_COUNTED,
    Kind.TABLE.value: TABLE_COUNTED,
    GAME_FOLDER: GAME_COUNTED,
}
"""By kind of file and name of a finding, what the totals say of those without such a finding."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A file, an entry of an archive, or a game folder: its checks and what they found, or why it can't be read.

    `kind` is in words, empty for an unreadable file.
    """

    file: str
    entry: str = ""
    kind: str = ""
    checks: list[Check] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    error: str = ""

    @property
    def passed(self) -> bool:
        return not self.error and all(finding.severity is not Severity.ERROR for finding in self.findings)

    @property
    def name(self) -> str:
        return f"{self.file}: {self.entry}" if self.entry else self.file


def verify(paths: list[str], progress: Progress) -> Iterator[Verified]:
    """Checks files, and what is below folders: archives are followed by their entries, and the game folders come last.

    Raises `FormatError` for a folder in which there is nothing to check.
    """
    files: list[Path] = []
    games: list[stage.Game] = []
    problems: list[FormatError] = []
    for path in map(Path, paths):
        if path.is_dir():
            below, unreadable = walk(path)
            files += _to_verify(path, below, unreadable)
            games += _games_around(path, below)
            problems += unreadable
        else:
            files.append(path)
    count, known = len(files) + len(games), _Known()
    for problem in problems:
        yield Verified(problem.file, error=str(problem))
    for number, file in enumerate(files):
        progress(number, count, file.name)

        def told(entry: str, number: int = number, file: Path = file) -> None:
            progress(number, count, f"{file.name}: {entry}")

        yield from _verify_file(str(file), known, told)
    for number, game in enumerate(games, len(files)):
        progress(number, count, game.root.name)
        yield _verify_game(game)


def new_errors(kind: Kind, model: object, original: object | None) -> list[Finding]:
    """The errors in a model that its original doesn't have, or has fewer times; the worst first."""
    found = _verify_model(kind, model)
    had = Counter() if original is None else _times(_verify_model(kind, original))
    times = _times(found)
    errors = [finding for finding in found.findings if finding.severity is Severity.ERROR]
    return [finding for finding in errors if times[finding.check] > had[finding.check]]


def _times(result: Verified) -> Counter[str]:
    """How many things each check missed, else how many findings there are of a name."""
    missed = Counter({check.name: check.total - check.good for check in result.checks})
    return missed + Counter(finding.check for finding in result.findings if finding.check not in missed)


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
        return True  # reading it once more tells why it can't be


def totals(results: list[Verified]) -> list[tuple[str, int, list[report.Total]]]:
    """For each kind how many there are, and the checks added up."""
    by_kind: dict[str, list[list[Check]]] = {}
    for result in results:
        if result.kind:
            by_kind.setdefault(result.kind, []).append(result.checks)
    return [(kind, len(checks), report.totals(checks)) for kind, checks in by_kind.items()]


def document(results: list[Verified]) -> dict:
    """The results and totals, ready for JSON."""
    return {
        "passed": all(result.passed for result in results),
        "files": [
            {
                "file": result.file,
                "entry": result.entry or None,
                "kind": result.kind or None,
                "passed": result.passed,
                "error": result.error or None,
                "checks": [
                    {"name": c.name, "good": c.good, "total": c.total, "severity": c.severity.value}
                    for c in result.checks
                ],
                "findings": [dataclasses.asdict(f) | {"severity": f.severity.value} for f in result.findings],
            }
            for result in results
        ],
        "totals": [
            {"kind": kind, **dataclasses.asdict(row), "missed": row.missed.value if row.missed else None}
            for kind, _, rows in totals(results)
            for row in rows
        ],
    }


class _Known:
    """Results by content: the game stores one library 18 times, which is checked once."""

    def __init__(self) -> None:
        self.results: dict[bytes, Verified] = {}

    def verify(self, file: str, entry: str, data: bytes) -> Verified | None:
        """The result of an entry; None if there are no checks of its kind."""
        kind = detect(data)
        if kind is None or kind is Kind.ARCHIVE:
            return None
        digest = hashlib.sha256(data).digest()
        if digest not in self.results:
            try:
                self.results[digest] = _verify_model(kind, FORMATS[kind].decode(data))
            except FormatError as error:
                finding = Finding(Severity.ERROR, "entry contents", str(error))
                self.results[digest] = Verified("", kind=kind.value, findings=[finding])
        return dataclasses.replace(self.results[digest], file=file, entry=entry)


def _verify_file(file: str, known: _Known, told: Callable[[str], None]) -> list[Verified]:
    try:
        kind, model, _ = load(file)
        if kind is Kind.ARCHIVE:
            return _verify_archive(file, model, known, told)
        return [dataclasses.replace(_verify_model(kind, model), file=file)]
    except FormatError as error:
        return [Verified(file, error=str(error))]


def _verify_model(kind: Kind, model: object) -> Verified:
    use = FORMATS[kind]
    if use.check:
        checks = use.check(model)
        return Verified("", kind=kind.value, checks=checks, findings=findings(checks))
    return _from_findings(kind.value, use.findings(model) if use.findings else [])


def _verify_archive(file: str, opened: Archive, known: _Known, told: Callable[[str], None]) -> list[Verified]:
    entries: list[Verified] = []

    def visit(entry: Entry, data: bytes) -> None:
        told(opened.label(entry))
        result = known.verify(file, opened.label(entry), data)
        if result:
            entries.append(result)

    found = archive.check(opened, visit=visit)
    whole = _from_findings(Kind.ARCHIVE.value, found, len(opened.entries))
    return [dataclasses.replace(whole, file=file), *entries]


def _verify_game(game: stage.Game) -> Verified:
    found = stage.check(game)
    if not game.tables or game.collision is None:  # a mod folder, which needs no more than what it changes
        found = [finding for finding in found if finding.check != "game archive"]
    return dataclasses.replace(_from_findings(GAME_FOLDER, found), file=str(game.root))


def _from_findings(kind: str, found: list[Finding], entries: int = 1) -> Verified:
    """Findings, and the same counted: of `entries` where they name some, else of the one file."""
    checks = []
    for name, counted in WHAT_IS_COUNTED[kind].items():
        told = [finding for finding in found if finding.check == name]
        total = entries if counted.startswith("entries") else 1
        missed = len({element for finding in told for element in finding.elements}) or min(len(told), 1)
        checks.append(Check(counted, total - missed, total, worst(finding.severity for finding in told)))
    return Verified("", kind=kind, checks=checks, findings=worst_first(found))


def _games_around(path: Path, below: list[Path]) -> list[stage.Game]:
    """The game and mod folders at or below a folder, around the archives in it."""
    around = {file.parent.parent for file in below if file.suffix.lower() == ".pak"}
    games = []
    for folder in sorted(folder for folder in around if folder.is_relative_to(path)):
        try:
            game = stage.find_game(folder)
        except FormatError:
            continue  # archives of another kind
        if game.root == Path(os.path.abspath(folder)):
            games.append(game)
    return games


def _belongs_to_an_archive(file: Path) -> bool:
    """Data files, and the state of an archive before it was overwritten."""
    return re.search(r"\.p(\d\d|\d\d\.bak|ak\.bak)$", file.name, re.IGNORECASE) is not None
