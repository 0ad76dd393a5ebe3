"""Words of messages: names that can't break a line, plurals, and lists that stay short."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_UNPRINTABLE = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories of control characters, invisible and bidirectional marks, surrogates, and breaks of lines and
paragraphs."""


def printable(text: str) -> str:
    """Text in which no name from a file or the disk moves the cursor, hides or reverses parts, or begins a line: such
    characters are escaped as in Python, a newline as `\\n`. Escaped text stays the same."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(letter) if unicodedata.category(letter) in _UNPRINTABLE else letter for letter in text)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


def plural(count: int, word: str, several: str = "") -> str:
    """A number with its noun: `1 edge`, `2,000 edges`. `several` is the noun's plural where an s doesn't make it."""
    return f"{count:,} {word if count == 1 else several or word + 's'}"


def some(names: Sequence[str], most: int = 4) -> str:
    """The first of some names, and how many more there are: `a, b, c, d and 2 more`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")
