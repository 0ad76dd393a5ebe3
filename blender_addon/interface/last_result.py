"""What the last import, export or check said, for the sidebar: nothing is said only to the console.

It belongs to the session. Each report of an operator is noted here by `reporting.report`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

import bpy

MOST_LINES = 200
"""The most lines that are kept, the first ones."""


@dataclass(slots=True)
class Outcome:
    """The name of an operator, its lines with their kinds (ERROR, WARNING, INFO), and the file or the folder that it
    wrote, "" for none. `operator` tells its later runs from this one and is never looked into: Blender has freed what
    it stands for."""

    title: str
    operator: object
    lines: list[tuple[str, str]] = field(default_factory=list)
    path: str = ""

    @property
    def text(self) -> str:
        """All of it, a line each, as it goes to the clipboard."""
        return "\n".join([self.title, *(f"{kind.title()}: {text}" for kind, text in self.sorted_lines())])

    def sorted_lines(self) -> list[tuple[str, str]]:
        """Errors first, then warnings."""
        order = ("ERROR", "WARNING", "INFO")
        return sorted(self.lines, key=lambda line: order.index(line[0]))


_last: list[Outcome] = []


def note(operator: bpy.types.Operator, kind: str, text: str) -> None:
    """Notes a line that an operator reports."""
    if not _last or _last[0].operator is not operator:
        _last[:] = [Outcome(operator.bl_label, operator)]
    if len(_last[0].lines) < MOST_LINES:
        _last[0].lines += [(kind, line) for line in text.split("\n") if line]


def say(title: str, lines: list[tuple[str, str]]) -> None:
    """Notes what was done without an operator: its lines with their kinds."""
    _last[:] = [Outcome(title, None, lines)]


def note_path(operator: bpy.types.Operator, path: str) -> None:
    """Notes the file or the folder that an operator wrote."""
    if _last and _last[0].operator is operator:
        _last[0].path = path


def last() -> Outcome | None:
    """What was said last."""
    return _last[0] if _last else None


def forget() -> None:
    _last.clear()


def objects_named(text: str) -> list[str]:
    """The objects of the file that a line names in quotes, in its order."""
    names = dict.fromkeys(re.findall(r"[`\"]([^`\"]+)[`\"]", text))
    return [name for name in names if name in bpy.data.objects]


def folder_of(outcome: Outcome) -> str:
    """The folder that was written to, "" for none."""
    folder = outcome.path if os.path.isdir(outcome.path) else os.path.dirname(outcome.path)
    return folder if os.path.isdir(folder) else ""
