"""Texts in panels, cut into lines that fit."""

from __future__ import annotations

from unicodedata import east_asian_width

import bpy

WIDTH = 34
"""Letters that a line of the sidebar holds at its usual width. Japanese ones take the room of two."""


DIALOG_WIDTH = 62
"""Letters that a line of a dialog holds that is 440 units wide."""


def draw_message(layout: bpy.types.UILayout, message: str, icon: str = "BLANK1", letters: int = WIDTH) -> None:
    """A message in as many lines as it needs, the first with the icon."""
    column = layout.column(align=True)
    column.scale_y = 0.75
    for line in wrap(message, letters):
        column.label(text=line, icon=icon, translate=False)
        icon = icon if icon == "NONE" else "BLANK1"


def wrap(message: str, letters: int = WIDTH) -> list[str]:
    """A message cut into lines that fit. A word that is too long, such as a path, is cut within."""
    lines, line = [], ""
    for word in message.split(" "):
        while width(word) > letters:
            cut = _fitting(word, letters)
            lines += [line, word[:cut]] if line else [word[:cut]]
            line, word = "", word[cut:]
        if line and width(line) + width(word) > letters:
            lines.append(line)
            line = ""
        line += f" {word}" if line else word
    return [*lines, line]


def width(text: str) -> int:
    """The room that a text takes, in Latin letters."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _fitting(word: str, letters: int) -> int:
    """How many letters of a word fit into a line."""
    taken = 0
    for number, letter in enumerate(word):
        taken += width(letter)
        if taken > letters:
            return number
    return len(word)
