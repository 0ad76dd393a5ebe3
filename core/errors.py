"""What the rest of the package raises and reports: unreadable input, refused output, findings."""

from __future__ import annotations

import enum
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass


class FormatError(ValueError):
    """Input that cannot be understood, or output that the game could not load.

    One line for a modder: which file, what and where, what was expected and found, what to do.
    The parts stay readable as attributes; `file` is added by whoever knows it, see `within`.
    """

    def __init__(
        self,
        problem: str,
        *,
        offset: int | None = None,
        expected: object = None,
        found: object = None,
        remedy: str = "",
        file: str = "",
    ) -> None:
        self.problem = problem
        self.offset = offset
        self.expected = expected
        self.found = found
        self.remedy = remedy
        self.file = file
        super().__init__(problem)

    def within(self, file: str) -> FormatError:
        """The same error with the name of its file, or of an archive in front of an entry's name."""
        self.file = f"{file}: {self.file}" if self.file else file
        return self

    def __str__(self) -> str:
        text = f"{self.file}: {self.problem}" if self.file else self.problem
        if self.offset is not None:
            text += f" at 0x{self.offset:X}"
        if self.expected is not None:
            text += f", expected {self.expected}"
        if self.found is not None:
            text += f", found {self.found}"
        if self.remedy:
            text += f"; {self.remedy}"
        return printable(text)


_UNPRINTABLE = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories of control characters, invisible and bidirectional marks, surrogates, and breaks of lines and
paragraphs."""


def printable(text: str) -> str:
    """Text of which a name from a file or the disk can't move the cursor, hide or reverse parts, or begin a line:
    such characters are escaped as in Python, a newline as `\\n`. Once more, it stays as it is."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(letter) if unicodedata.category(letter) in _UNPRINTABLE else letter for letter in text)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


def some(names: Sequence[str], most: int = 4) -> str:
    """The first of some names, and how many more there are: `a, b, c, d and 2 more`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


class Severity(enum.Enum):
    """How much a finding matters: INFO never, WARNING maybe, ERROR in the game."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something worth telling about data that could be read.

    `elements` are the indices of the triangles, vertices or cells meant, by `kind`.
    """

    severity: Severity
    check: str
    message: str
    kind: str = ""
    elements: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.check}: {self.message}"
