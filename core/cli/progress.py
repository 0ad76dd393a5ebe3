"""How far a long job is: a line on standard error, if a person is watching."""

from __future__ import annotations

import sys
import time

from ..text import printable


class ProgressLine:
    """Shows itself after a second and is gone at the end. `doing` is what the job does: verifying."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self.begun = time.monotonic()
        self.shown = False

    def __enter__(self) -> ProgressLine:
        return self

    def __call__(self, number: int, count: int, name: str) -> None:
        """Shows which of so many files comes, numbered from 0."""
        self._show(f"{number + 1:,} of {count:,}: {name}")

    def part(self, done: int, total: int) -> None:
        """Shows how many of so many bytes are done."""
        self._show(f"{100 * done // max(total, 1)} %")

    def _show(self, text: str) -> None:
        if sys.stderr and sys.stderr.isatty() and time.monotonic() - self.begun > 1:
            print(f"\r\x1b[K{self.doing} {printable(text)}", end="", file=sys.stderr, flush=True)
            self.shown = True

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Removes the line, before something else is printed."""
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self.shown = False
