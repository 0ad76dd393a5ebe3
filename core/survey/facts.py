"""Facts: what a survey of game files asks, the forms of its answers, and the runner.

A fact is measured on each file of its kind. Whatever goes wrong in a measurement becomes that file's answer, so that no
file stops a fact and no fact stops another.
"""

from __future__ import annotations

import enum
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..errors import FormatError

IDS_NAMED = 4
"""Most ids that a line names."""
VALUES_NAMED = 6
"""Most different values that a line names."""
LONGEST_TEXT = 400
"""Most characters of an answer."""


class Subject(enum.Enum):
    """What a fact is measured on, with the word for several."""

    STAGES = "archives with stage tables"
    TABLE = "tables"
    CHUNKS = "hulls and navigation volumes"
    HULL = "hulls"
    NAVIGATION = "navigation volumes"
    SET = "collision sets"
    ARCHIVE = "archives"


class NotMeasurable(Exception):
    """Why a measurement has no value, in a few words that hold nothing of the file's contents."""


class NothingThere(NotMeasurable):
    """The same where the file doesn't contradict docs/FORMATS.md: what it is compared with isn't here, another fact
    says what is wrong with it, or it is larger than a survey looks at."""


class Failed(NamedTuple):
    """An exception in place of a value. `differs`: the file is the reason."""

    reason: str
    differs: bool = True


class Measured(NamedTuple):
    """A file's id, the archive id of its name, and what was measured on it, `Failed` included."""

    id: str
    value: Any


class Answer(NamedTuple):
    """The words behind a fact's title, and whether they differ from docs/FORMATS.md."""

    text: str
    differs: bool


Form = Callable[[Sequence[Measured], bool], Answer]
"""Makes an answer of the values that could be measured; it also gets whether they are all of the shipped game."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of a survey. `notes` is what docs/FORMATS.md says, `mark` its evidence."""

    number: str
    mark: str
    title: str
    subject: Subject
    notes: str
    measure: Callable[[Any], Any]
    form: Form


@dataclass(frozen=True, slots=True)
class Line:
    """A fact with its answer."""

    fact: Fact
    answer: Answer

    def __str__(self) -> str:
        return f"{self.fact.number} [{self.fact.mark}] {self.fact.title}: {self.answer.text}"


# --- forms of answers -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Same:
    """Values that should be equal: how often each occurs, the expected one first. Without `expected`, any will do."""

    expected: tuple[str, ...] = ()

    def __call__(self, measured: Sequence[Measured], whole: bool) -> Answer:
        counts = Counter(str(value) for _, value in measured)
        order = sorted(counts, key=lambda value: (value not in self.expected, -counts[value], value))
        usual = self.expected or tuple(order[:1])
        parts = [f"{value} in {counts[value]:,}" for value in order[:VALUES_NAMED]]
        parts[0] += f" of {len(measured):,}"
        if len(order) > VALUES_NAMED:
            parts.append(f"{len(order) - VALUES_NAMED:,} other values")
        odd = [id for id, value in measured if str(value) not in usual]
        return Answer(", ".join(parts) + named(odd), bool(self.expected and odd))


@dataclass(frozen=True, slots=True)
class Tally:
    """Pairs (good, total): how many of all are good, and in how many files all of them are. `open`: nobody knows
    whether all should be."""

    open: bool = False

    def __call__(self, measured: Sequence[Measured], whole: bool) -> Answer:
        good, total = (sum(int(value[place]) for _, value in measured) for place in (0, 1))
        odd = [id for id, value in measured if value[0] != value[1]]
        text = f"all in {len(measured) - len(odd):,} of {len(measured):,}"
        if odd:  # how many things there are changes with other facts, so it is shown where it matters only
            text = f"{good:,} of {total:,}, {text}{named(odd)}"
        return Answer(text, bool(odd) and not self.open)


@dataclass(frozen=True, slots=True)
class Amounts:
    """Arrays of numbers, one for each unusual thing: how many there are, in how many files, and how large they are.
    `shipped` is how many the game's own files have together, `some` whether some files may have any."""

    unit: str
    shipped: int = 0
    some: bool = False

    def __call__(self, measured: Sequence[Measured], whole: bool) -> Answer:
        odd = [id for id, value in measured if len(value)]
        every = np.concatenate([np.zeros(0), *(np.asarray(value, np.float64) for _, value in measured)])
        text = f"none in {len(measured):,} of {len(measured):,}"
        if len(every):
            text = f"{len(every):,} in {len(odd):,} of {len(measured):,}"
            low, middle, high = every.min(), np.median(every), every.max()
            text += f", {self.unit} {low:.4g} to {high:.4g}, median {middle:.4g}"
        differs = len(every) != self.shipped if whole else bool(len(every)) and not self.some
        return Answer(text + named(odd), differs)


@dataclass(frozen=True, slots=True)
class Total:
    """Numbers that are added. `shipped` is their sum over the game's own files."""

    shipped: int | None = None

    def __call__(self, measured: Sequence[Measured], whole: bool) -> Answer:
        total = sum(int(value) for _, value in measured)
        differs = whole and self.shipped is not None and total != self.shipped
        return Answer(f"{total:,} in {len(measured):,}", differs)


@dataclass(frozen=True, slots=True)
class Spread:
    """Arrays of numbers: their median, least and greatest over all files. The median should lie in a range."""

    low: float = -np.inf
    high: float = np.inf
    digits: int = 5
    whole_range: bool = True

    def __call__(self, measured: Sequence[Measured], whole: bool) -> Answer:
        arrays = [np.asarray(value, np.float64).ravel() for _, value in measured]
        every = np.concatenate([np.zeros(0), *arrays])
        every = every[np.isfinite(every)]
        if not len(every):
            return Answer(f"no values in {len(measured):,}", False)
        middle = float(np.median(every))
        text = f"median {middle:.{self.digits}g}"
        if self.whole_range:
            text += f", {every.min():.{self.digits}g} to {every.max():.{self.digits}g}"
        medians = [float(np.median(array)) if len(array) else middle for array in arrays]
        odd = [id for (id, _), own in zip(measured, medians, strict=True) if not self.low <= own <= self.high]
        return Answer(f"{text} in {len(measured):,}{named(odd)}", bool(odd))


def named(ids: Iterable[str]) -> str:
    """The first of some ids behind a colon, nothing without any."""
    different = list(dict.fromkeys(ids))
    more = f" and {len(different) - IDS_NAMED:,} more" if len(different) > IDS_NAMED else ""
    return f": {', '.join(different[:IDS_NAMED])}{more}" if different else ""


# --- the runner -----------------------------------------------------------------------------------


@dataclass(slots=True)
class Ledger:
    """Collects the values of facts, file by file. Equal files are measured once."""

    facts: Sequence[Fact]
    values: dict[str, list[Measured]] = field(default_factory=dict)
    known: dict[tuple[Subject, str], dict[str, Any]] = field(default_factory=dict)

    def measure(self, subject: Subject, id: str, digest: str, make: Callable[[], Any]) -> None:
        """Measures every fact of a subject on one file. `make` reads it, `digest` is that of all that it reads."""
        found = self.known.get((subject, digest))
        if found is None:
            thing = _tried(make)
            found = {
                fact.number: thing if isinstance(thing, Failed) else _tried(fact.measure, thing)
                for fact in self.facts
                if fact.subject is subject
            }
            self.known[subject, digest] = found
        for number, value in found.items():
            self.values.setdefault(number, []).append(Measured(id, value))

    def lines(self, whole: bool) -> list[Line]:
        """Every fact with its answer, in the order of the facts."""
        return [Line(fact, _answer(fact, self.values.get(fact.number, []), whole)) for fact in self.facts]


def _answer(fact: Fact, measured: list[Measured], whole: bool) -> Answer:
    if not measured:
        return Answer(f"no {fact.subject.value} here", False)
    failed = [one for one in measured if isinstance(one.value, Failed)]
    good = sorted((one for one in measured if not isinstance(one.value, Failed)), key=lambda one: one.id)
    text, differs = "", False
    if good:
        answer = _tried(fact.form, good, whole)
        text, differs = (f"not measured, {answer.reason}", True) if isinstance(answer, Failed) else answer
    if failed:
        reasons = Same()([Measured(id, value.reason) for id, value in failed], whole).text.partition(":")[0]
        text += f"{'; ' if text else ''}not measured: {reasons}{named(id for id, _ in failed)}"
        differs = differs or any(one.value.differs for one in failed)
    return Answer(text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…", differs)


def _tried(call: Callable, *arguments: Any) -> Any:
    """What a call returns, or the exception that it raises."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(*arguments)
    except NotMeasurable as error:
        return Failed(str(error), not isinstance(error, NothingThere))
    except FormatError as error:
        return Failed(problem_of(error))
    except Exception as error:  # whatever a file provokes is an answer of the survey
        return Failed(type(error).__name__)


def problem_of(error: FormatError) -> str:
    """A refusal of the package's own readers, shortened, without the values and names that it found."""
    where = "" if error.offset is None else f" at 0x{error.offset:X}"
    return f"refused, {error.problem[:100]}{where}"
