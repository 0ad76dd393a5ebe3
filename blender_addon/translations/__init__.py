"""The interface in the user's language. Each language is a table of its own; `japanese` is one.

Blender itself looks up what properties, operators, panels and layouts are given as plain text. What has values in it
goes through `label_text` or `report_text`.
"""

from __future__ import annotations

import bpy

from .japanese import JAPANESE

LANGUAGES = {"ja_JP": JAPANESE}
"""By locale, then by Blender's context: "Operator" for operators and the buttons that run them, "*" for all else."""

CONTEXT = "Sylpheed"
"""The context of words that Blender's own tables have in another sense and that would win over ours."""


def label_text(template: str, **values: object) -> str:
    """A text of the interface with its values filled in. Draw it with `translate=False`."""
    translated: str = bpy.app.translations.pgettext_iface(template)
    return translated.format(**values)


def report_text(template: str, **values: object) -> str:
    """A message of an operator with its values filled in."""
    translated: str = bpy.app.translations.pgettext_rpt(template)
    return translated.format(**values)


def register() -> None:
    tables = {
        locale: {(context, text): translated for context, texts in table.items() for text, translated in texts.items()}
        for locale, table in LANGUAGES.items()
    }
    bpy.app.translations.register(__name__, tables)


def unregister() -> None:
    bpy.app.translations.unregister(__name__)
