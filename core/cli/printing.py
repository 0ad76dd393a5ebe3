"""What the command line prints: lines, rows of values, and JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence

from ..text import printable

FINE, FAILED, UNREADABLE = 0, 1, 2
"""Exit statuses: fine, a check failed or a difference was found, unreadable input or wrong usage."""


def say(text: str) -> None:
    """Prints one line on standard output; what would break or hide it is escaped. Everything but JSON is printed by
    this."""
    print(printable(text))


def report_error(message: str) -> int:
    """Prints the one line of an error on standard error: the exit status."""
    if sys.stdout:
        sys.stdout.flush()  # what was printed before stands before this
    print("error:", printable(message), file=sys.stderr)
    return UNREADABLE


def print_json(document: Mapping[str, object]) -> None:
    """Prints a document; a long one isn't held as text."""
    for part in json.JSONEncoder(indent=1).iterencode(document):
        sys.stdout.write(part.replace("\x7f", "\\u007f"))
    print()


def print_description(about: Mapping[str, object]) -> None:
    """Prints a line for each key, and a list of rows indented below its key."""
    for key, value in about.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            say(f"{_label(key)}: {len(value):,}")
            print_rows(value, "  ")
        else:
            say(f"{_label(key)}: {_text(value)}")


def print_rows(rows: Sequence[Mapping[str, object]], indent: str = "") -> None:
    """Prints rows of equal keys: the name, or ? without one, then the other values with their keys."""
    names = [printable(str(row["name"] or "?")) for row in rows]
    width = max(map(len, names), default=0)
    for name, row in zip(names, rows, strict=True):
        values = ", ".join(_value(key, value) for key, value in row.items() if key != "name")
        say(f"{indent}{name:{width}}  {values}")


def _value(key: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{_text(value)} {_label(key)}"
    return f"{_label(key)} {_text(value)}"


def _label(key: str) -> str:
    return key.replace("_", " ")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.9g}"
    if isinstance(value, list):
        return f"({', '.join(f'{number:.9g}' for number in value)})"
    return str(value)
