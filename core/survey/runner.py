"""What an owner of the game runs once: every fact of docs/FORMATS.md that nobody here can measure, a line each.

A survey only reads, shows no content of the game, and is stopped by no file. The facts are in the modules
`survey_tables`, `survey_chunks`, `survey_surfaces`, `survey_lists`, `survey_layout`, `survey_navigation`,
`survey_tetrahedra`, `survey_sets`, `survey_archives` and `survey_round_trips`.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..disk.files import write_file
from ..disk.same_file import is_inside, refuse_same
from ..errors import FormatError
from ..formats.hashes import file_id
from ..formats.kinds import Kind
from . import archives, chunks, layout, lists, navigation, round_trips, sets, surfaces, tables, tetrahedra
from .archives import Archive, digest
from .facts import Ledger, Line, NothingThere, NotMeasurable, Subject
from .hulls import Hull
from .layout import SHIPPED
from .navigation import Navigation
from .sets import CollisionSet
from .sources import COLLISION, TABLES, Inputs, Source, find_inputs, sources
from .tables import Stages, Table, inner_name

FACTS = (
    *tables.FACTS,
    *chunks.FACTS,
    *surfaces.FACTS,
    *lists.FACTS,
    *surfaces.VERTEX_FACTS,
    *layout.FACTS,
    *navigation.FACTS,
    *tetrahedra.FACTS,
    *sets.FACTS,
    *tables.TABLE_FACTS,
    *archives.FACTS,
    *round_trips.FACTS,
)
TITLE = "Survey of collision files of Project Sylpheed"
MOST_LINES = 300
ARCHIVES_NAMED = 16
MOST_SECONDS = 300.0
"""After so long no further file is read: only those made to take time come near."""
MOST_STAGES = 512
"""Stage tables that are kept till all are read: the game has 29 in each of six languages."""
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Survey:
    """The lines of a survey, and what was read: counts by kind, and a few words for each of the first archives."""

    lines: list[Line]
    read: dict[str, int]
    archives: list[str]
    whole: bool

    @property
    def differing(self) -> list[Line]:
        """The facts that differ from docs/FORMATS.md."""
        return [line for line in self.lines if line.answer.differs]


def survey(path: str | os.PathLike[str], everything: bool = False, progress: Progress | None = None) -> Survey:
    """Measures every fact on what is at a path. Raises `FormatError` if nothing is there, and for nothing else."""
    return _measure(find_inputs(path, everything), everything, progress)


def write_report(
    path: str, output: str | None, everything: bool, as_json: bool, progress: Progress | None = None
) -> str:
    """The text of a survey, written to `output` if there is one.

    Raises `FormatError` if nothing is at `path`, if the output is one of the files that are read, or can't be written.
    """
    inputs = find_inputs(path, everything)
    if output is not None:
        _keep_apart(output, path, inputs)
    found = _measure(inputs, everything, progress)
    text = json.dumps(document(found), indent=1) if as_json else report(found)
    if output is not None:
        write_file(output, f"{text}\n".encode())
    return text


def _keep_apart(output: str, path: str, inputs: Inputs) -> None:
    """Raises `FormatError` if a report would overwrite an input, or a file of the surveyed folder that is no report."""
    refuse_same(output, *inputs.files)
    if os.path.isfile(output) and os.path.isdir(path) and is_inside(output, path) and not _is_report(Path(output)):
        remedy = "choose another name for the output"
        raise FormatError("is one of the files of the surveyed folder", file=output, remedy=remedy)


def _is_report(file: Path) -> bool:
    try:
        with open(file, "rb") as stream:
            return TITLE.encode() in stream.read(2 * len(TITLE))
    except OSError:
        return False


# --- measuring ------------------------------------------------------------------------------------


def _measure(inputs: Inputs, everything: bool, progress: Progress | None) -> Survey:
    ledger = Ledger(FACTS)
    waiting = sources(inputs, everything)
    hulls: dict[tuple[str, str], tuple[Hull, str]] = {}
    stages: dict[str, list[Table]] = {}
    names: dict[int, str] = {}
    latest = time.monotonic() + MOST_SECONDS
    paired = any(source.kind is Kind.NAVIGATION for source in waiting)
    for number, source in enumerate(waiting):
        if progress:
            progress(number, len(waiting), source.id)
        try:
            if time.monotonic() > latest:
                raise NothingThere("no time left")
            data = source.read()
        except (NotMeasurable, OSError) as error:
            _unread(ledger, source, error)
            continue
        _measure_one(ledger, source, data, hulls, stages, names)
        if not paired:
            hulls.clear()
    known = _known_ids(inputs, waiting)
    for where, found in stages.items():
        ledger.measure(Subject.STAGES, _where_id(inputs, where), where, _stages(found, known))
    for archive in inputs.archives:
        ledger.measure(Subject.ARCHIVE, _label(archive), archive.id, _itself(archive))
    read = Counter(source.kind.value for source in waiting)
    read[Kind.ARCHIVE.value] = len(inputs.archives)
    read["file of no known kind"] = inputs.unreadable
    archives = [_summary(archive) for archive in inputs.archives[:ARCHIVES_NAMED]]
    whole = inputs.game and set(SHIPPED) <= {source.id for source in waiting if source.kind is Kind.HULL}
    return Survey(ledger.lines(whole), {kind: count for kind, count in read.items() if count}, archives, whole)


def _unread(ledger: Ledger, source: Source, error: Exception) -> None:
    reason = error if isinstance(error, NotMeasurable) else NotMeasurable("can't be read")

    def refuse() -> None:
        raise reason

    for subject in _SUBJECTS[source.kind]:
        ledger.measure(subject, source.id, f"{source.id} {reason}", refuse)


_SUBJECTS = {
    Kind.HULL: (Subject.CHUNKS, Subject.HULL),
    Kind.NAVIGATION: (Subject.CHUNKS, Subject.NAVIGATION),
    Kind.COLLISION_SET: (Subject.SET,),
    Kind.TABLE: (Subject.TABLE,),
}


def _measure_one(
    ledger: Ledger,
    source: Source,
    data: bytes,
    hulls: dict[tuple[str, str], tuple[Hull, str]],
    stages: dict[str, list[Table]],
    names: dict[int, str],
) -> None:
    key = f"{source.id if source.id in SHIPPED else ''} {digest(data)}"
    stem = (source.where, os.path.splitext((source.known or names.get(int(source.id, 16), source.id)).lower())[0])
    make: Callable[[], Any]
    if source.kind is Kind.HULL:
        hull = _readable(lambda: Hull(data, source.id))
        if hull is not None:
            hulls[stem] = Hull(data, source.id), key  # another one: what was measured is large and done with
        make = lambda: hull or Hull(data, source.id)  # noqa: E731
    elif source.kind is Kind.NAVIGATION:
        partner, partner_key = hulls.get(stem, (None, ""))
        key += partner_key
        make = lambda: Navigation(data, partner)  # noqa: E731
    elif source.kind is Kind.COLLISION_SET:
        key = digest(data)
        make = lambda: CollisionSet(data, key)  # noqa: E731
    else:
        table = _readable(lambda: Table(data, source.id))
        if table is not None and source.stages and sum(map(len, stages.values())) < MOST_STAGES:
            stages.setdefault(source.where, []).append(table)
            names.update(_names(table))
        make = lambda: table or Table(data, source.id)  # noqa: E731
    for subject in _SUBJECTS[source.kind]:
        ledger.measure(subject, source.id, key, make)


def _readable(call: Callable[[], Any]) -> Any:
    """What a call returns, None if it raises; measuring says why."""
    try:
        return call()
    except Exception:
        return None


def _names(table: Table) -> dict[int, str]:
    values = {inner_name(value) for section in table.sections for _, _, value in section.rows if value}
    return {file_id(name.encode("cp932", "replace")): name for name in values}


def _stages(tables: list[Table], known: set[int] | None) -> Callable[[], Stages]:
    return lambda: Stages(tables, known)


def _itself(archive: Archive) -> Callable[[], Archive]:
    return lambda: archive


def _known_ids(inputs: Inputs, waiting: list[Source]) -> set[int] | None:
    """The ids of all collision files, None if no archive of them is here."""
    archives = [archive for archive in inputs.archives if COLLISION.fullmatch(archive.path.name)]
    if not archives:
        return None
    return {int(hashed) for archive in archives for hashed in archive.rows["hash"]}


def _where_id(inputs: Inputs, where: str) -> str:
    """The archive's name, if it is one of the game's: that of any other archive or folder is its owner's."""
    for archive in inputs.archives:
        if archive.id == where:
            return _label(archive)
    return "loose files"


def _label(archive: Archive) -> str:
    name = archive.path.name
    known = COLLISION.fullmatch(name) or TABLES.fullmatch(name)
    return name if known else f"{file_id(name.encode('cp932', 'replace')):08x}"


def _summary(archive: Archive) -> str:
    size = f"{archive.table_size:,} bytes, SHA-256 {archive.table_digest[:12]}"
    return f"{_label(archive)}: {size}, {len(archive.rows):,} entries, {len(archive.parts):,} data files"


# --- printing -------------------------------------------------------------------------------------


def report(found: Survey) -> str:
    """The lines that an owner pastes into an issue."""
    kinds = ", ".join(f"{count:,} {_plural(kind, count)}" for kind, count in found.read.items())
    lines = [TITLE, f"Read: {kinds or 'nothing that a survey measures'}", *found.archives, ""]
    lines += [*map(str, found.lines), ""]
    differing = found.differing
    lines.append(f"{len(differing):,} of {len(found.lines):,} facts differ from the notes")
    room = MOST_LINES - len(lines)
    ends = [f"  {line.fact.number} notes: {line.fact.notes}; here: {line.answer.text}" for line in differing]
    if len(ends) > room:
        ends[room - 1 :] = ["  and " + " ".join(line.fact.number for line in differing[room - 1 :])]
    return "\n".join(lines + ends)


def _plural(kind: str, count: int) -> str:
    first, *rest = kind.split(" of ", 1)
    return " of ".join((first + "s" * (count > 1), *rest))


def document(found: Survey) -> dict[str, Any]:
    """The same for programs."""
    return {
        "survey": TITLE,
        "read": found.read,
        "archives": found.archives,
        "facts": [
            {
                "fact": line.fact.number,
                "mark": line.fact.mark,
                "title": line.fact.title,
                "notes": line.fact.notes,
                "answer": line.answer.text,
                "differs": line.answer.differs,
            }
            for line in found.lines
        ],
        "differing": [line.fact.number for line in found.differing],
    }
