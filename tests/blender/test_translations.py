"""The interface's texts and their translations: none is missing, none is left over, all of them fit.

Blender as a Python module is built without languages; there, every text stays English. What a Blender with languages
shows is asserted where the tests run in one.
"""

from __future__ import annotations

import importlib
import re
import string
from collections.abc import Iterator
from types import ModuleType

import bpy
import pytest

from tests.blender.interface_texts import all_texts

Key = tuple[str, str]


@pytest.fixture(scope="module")
def translations(addon: ModuleType) -> ModuleType:
    return importlib.import_module(f"{addon.__name__}.blender_addon.translations")


@pytest.fixture(scope="module")
def shown(addon: ModuleType) -> dict[Key, str]:
    """Every text of the interface with Blender's context for it, and where it is."""
    return {(text.context, text.text): text.where for text in all_texts(addon)}


@pytest.fixture(scope="module")
def tables(translations: ModuleType) -> dict[str, dict[Key, str]]:
    """The entries of each language."""
    return {
        locale: {(context, text): said for context, texts in table.items() for text, said in texts.items()}
        for locale, table in translations.LANGUAGES.items()
    }


def test_every_text_of_the_interface_is_translated(shown: dict[Key, str], tables: dict) -> None:
    assert len(shown) > 200, "the texts weren't found"
    for locale, table in tables.items():
        missing = {f"{context}: {text} ({shown[context, text]})" for context, text in shown.keys() - table.keys()}
        assert not missing, f"{locale} lacks\n" + "\n".join(sorted(missing))


def test_no_translation_is_left_over(shown: dict[Key, str], tables: dict) -> None:
    for locale, table in tables.items():
        assert not table.keys() - shown.keys(), f"{locale} has texts that nothing shows"


def fields(text: str) -> list[tuple[str, str | None]]:
    """The placeholders of a template, with their formats."""
    return sorted((name, form) for _, name, form, _ in string.Formatter().parse(text) if name is not None)


def test_translations_fit_their_texts(tables: dict) -> None:
    for table in tables.values():
        for (_, text), said in table.items():
            assert said.strip() == said and said != text, f"{text!r} isn't translated"
            assert fields(said) == fields(text), f"{text!r}: other placeholders"
            assert said.endswith("。") == text.endswith("."), (
                f"{text!r}: the full stop of a tooltip is Blender's to add"
            )


def test_japanese_is_written_in_japanese(tables: dict) -> None:
    for (_, text), said in tables["ja_JP"].items():
        assert re.search("[ぁ-ヿ一-鿿]", said), f"{text!r} is {said!r}"


@pytest.fixture
def in_japanese() -> Iterator[bool]:
    """Turns Blender's language to Japanese if it has any."""
    view, international = bpy.context.preferences.view, bpy.app.build_options.international
    if international:
        view.language = "ja_JP"
        view.use_translate_interface = view.use_translate_tooltips = view.use_translate_reports = True
    yield international
    if international:
        view.language = "DEFAULT"


def looked_up(keys: dict[Key, str]) -> dict[Key, str]:
    return {(context, text): bpy.app.translations.pgettext(text, context) for context, text in keys}


def test_what_blender_shows(translations: ModuleType, tables: dict, in_japanese: bool) -> None:
    """Nothing of Blender's own tables stands in front of ours, and values are filled in."""
    table = tables["ja_JP"]
    assert looked_up(table) == (table if in_japanese else {key: key[1] for key in table})
    for fill_in in (translations.label_text, translations.report_text):
        said = fill_in("{name}, {count:,} bytes", name="{S01}", count=12345)
        assert said == ("{S01}, 12,345 バイト" if in_japanese else "{S01}, 12,345 bytes")


def test_disabling_the_add_on_takes_its_translations_away(addon: ModuleType, tables: dict, in_japanese: bool) -> None:
    ours = {key: said for key, said in tables["ja_JP"].items() if "Sylpheed" in key[1]}
    assert ours
    before = looked_up(ours)
    bpy.ops.preferences.addon_disable(module=addon.__name__)
    try:
        assert looked_up(ours) == {key: key[1] for key in ours}
    finally:
        bpy.ops.preferences.addon_enable(module=addon.__name__)
    assert looked_up(ours) == before
