"""Words of messages: names that can't break a line, plurals, and lists that stay short."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from .rules.rule import Rule
from .rules.titles import TITLES

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


_PLURALS = {"index": "indices", "tetrahedron": "tetrahedra", "vertex": "vertices"}


def plural(count: int, noun: str) -> str:
    """A number with its noun: `1 edge`, `2,000 edges`, `3 unused vertices`. Of several words, the last is the noun."""
    return f"{count:,} {noun if count == 1 else several(noun)}"


def several(noun: str) -> str:
    """The plural of a noun, or of the last of several words."""
    before, space, word = noun.rpartition(" ")
    if word in _PLURALS:
        word = _PLURALS[word]
    elif word.endswith("y") and word[-2:-1] not in set("aeiou"):
        word = f"{word[:-1]}ies"
    elif word.endswith(("s", "x", "ch", "sh")):
        word += "es"
    else:
        word += "s"
    return before + space + word


def quoted(name: str) -> str:
    """A name from a file, the disk or the user, as messages have it."""
    return f'"{name}"'


def some(names: Sequence[str], most: int = 4) -> str:
    """The first of some names, and how many more there are: `a, b, c, d and 2 more`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def titled(rule: Rule, count: int) -> str:
    """How many break a rule, and what they are called: `2 cells with several list records`."""
    title = TITLES[rule]
    return f"{plural(count, title.noun)} {title.trait}".rstrip()
