"""What the rest of the package raises: its errors, and the findings that it reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Self

from .rules.meanings import MEANINGS
from .rules.rule import Rule
from .rules.severity import Severity as Severity
from .text import printable


@dataclass(eq=False, repr=False)
class SylpheedError(ValueError):
    """Whatever this package raises on purpose.

    One line for a modder: which file, what and where, what was expected and found, what to do. The parts stay readable
    as attributes and never change: `within` and `dataclasses.replace` give a new error. `rule` is the one that is
    broken, if one is.
    """

    problem: str
    offset: int | None = field(default=None, kw_only=True)
    expected: object = field(default=None, kw_only=True)
    found: object = field(default=None, kw_only=True)
    remedy: str = field(default="", kw_only=True)
    file: str = field(default="", kw_only=True)
    rule: Rule | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__init__(self.problem)

    def within(self, file: str | PathLike[str]) -> Self:
        """The same error with the name of its file, or of an archive in front of an entry's name."""
        return replace(self, file=f"{file}: {self.file}" if self.file else str(file))

    def __str__(self) -> str:
        text = f"{self.file}: {self.problem}" if self.file else self.problem
        if self.offset is not None:
            text += f" at 0x{self.offset:X}"
        if self.expected is not None:
            text += f", expected {self.expected}"
        if self.found is not None:
            text += f", found {self.found}"
        if self.rule in MEANINGS:
            text += f"; {MEANINGS[self.rule]}"
        if self.remedy:
            text += f"; {self.remedy}"
        return printable(text)


class FormatError(SylpheedError):
    """A file that can't be read, understood or written."""


class RefusedError(SylpheedError):
    """Something that can't be done though every file is fine, such as an edit that the game couldn't load."""


@contextmanager
def naming(file: str | PathLike[str]) -> Iterator[None]:
    """Names the file in each `SylpheedError` that names none."""
    try:
        yield
    except SylpheedError as error:
        if error.file:
            raise
        raise error.within(file) from error


@dataclass(frozen=True, slots=True)
class Finding:
    """Something worth reporting about data that could be read: `check` is the rule that is broken, or bent.

    `elements` are the indices of the triangles, vertices or cells meant, by `kind`.
    """

    severity: Severity
    check: Rule
    message: str
    kind: str = ""
    elements: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.check}: {self.message}"

    def row(self) -> dict:
        """The finding, ready for JSON."""
        return {
            "severity": self.severity.value,
            "check": self.check.value,
            "message": self.message,
            "kind": self.kind,
            "elements": self.elements,
        }
