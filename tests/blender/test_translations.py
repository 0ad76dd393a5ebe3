"""The interface's texts and their translations: none is missing, none is left over, all of them fit.

Blender as a Python module is built without languages; there, every text stays English. What a Blender with languages
shows is asserted where the tests run in one.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import operator
import pkgutil
import re
import string
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import bpy
import pytest

Key = tuple[str, str]

DEFAULT, OPERATOR = "*", "Operator"
FIRST_ARGUMENT = {"label_text", "report_text", "Fact", "poll_message_set"}
NO_WORD = re.compile(r"[^A-Za-z]*[A-Za-z]?[^A-Za-z]*")  # "Y" is Y in every language


@pytest.fixture(scope="module")
def translations(addon: ModuleType) -> ModuleType:
    return importlib.import_module(f"{addon.__name__}.blender_addon.translations")


@pytest.fixture(scope="module")
def modules(addon: ModuleType) -> list[ModuleType]:
    package = addon.blender_addon
    names = [module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return [importlib.import_module(name) for name in names]


@pytest.fixture(scope="module")
def shown(modules: list[ModuleType]) -> dict[Key, str]:
    """Every text of the interface with Blender's context for it, and where it is."""
    found = {key: where for module in modules for key, where in (*registered_texts(module), *written_texts(module))}
    return {key: where for key, where in found.items() if not NO_WORD.fullmatch(key[1])}


def registered_texts(module: ModuleType) -> Iterator[tuple[Key, str]]:
    """What Blender knows of a module's classes: names, descriptions, options and their choices."""
    for cls in vars(module).values():
        is_own = isinstance(cls, type) and cls.__module__ == module.__name__ and issubclass(cls, bpy.types.bpy_struct)
        if not (is_own and cls.is_registered):
            continue
        where, rna = cls.__name__, cls.bl_rna
        if issubclass(cls, bpy.types.Operator):
            group, name = cls.bl_idname.split(".")
            rna = getattr(getattr(bpy.ops, group), name).get_rna_type()
            assert rna.description == " ".join(rna.description.split()), f"{where}: a tooltip with a line break"
            yield (DEFAULT, rna.description), where
        if hasattr(cls, "bl_label"):
            yield (rna.translation_context, cls.bl_label), where
        if not issubclass(cls, bpy.types.Operator | bpy.types.PropertyGroup | bpy.types.AddonPreferences):
            continue
        own = {name for base in cls.__mro__ if is_ours(base, module) for name in inspect.get_annotations(base)}
        for prop in (rna.properties[name] for name in sorted(own & set(rna.properties.keys()))):
            if prop.is_hidden:
                continue
            choices = prop.enum_items if prop.type == "ENUM" else ()
            for told in (prop, *choices):
                yield (prop.translation_context, told.name), f"{where}.{prop.identifier}"
                yield (DEFAULT, told.description), f"{where}.{prop.identifier}"


def is_ours(cls: type, module: ModuleType) -> bool:
    return cls.__module__.partition(".blender_addon")[0] == module.__name__.partition(".blender_addon")[0]


def written_texts(module: ModuleType) -> Iterator[tuple[Key, str]]:
    """What a module's source gives to layouts, reports and the functions that fill in values."""
    path = Path(module.__file__ or "")
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(call, ast.Call):
            continue
        name = getattr(call.func, "attr", None) or getattr(call.func, "id", None)
        where = f"{path.name}:{call.lineno}"
        options = {keyword.arg: keyword.value for keyword in call.keywords}
        if name in FIRST_ARGUMENT and call.args:
            node, context = call.args[0], DEFAULT
        elif name == "report" and isinstance(call.args[-1], ast.Constant):
            node, context = call.args[-1], DEFAULT
        elif "text" in options and not is_false(options.get("translate")):
            node, context = options["text"], OPERATOR if name == "operator" else DEFAULT
        else:
            continue
        if "text_ctxt" in options:
            context = getattr(module, ast.unparse(options["text_ctxt"]))
        for text in possible_texts(node, module, where):
            yield (context, text), where


def is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def possible_texts(node: ast.expr, module: ModuleType, where: str) -> list[str]:
    """The texts that an expression can be: those written there, or those of a table."""
    if isinstance(node, ast.Constant):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [text for part in (node.body, node.orelse) for text in possible_texts(part, module, where)]
    told = ast.unparse(node)
    if told == "fact.label":
        return []  # where facts are made
    if told == "label" and module.__name__.endswith(".menus"):
        return [*module.IMPORTS.values(), *module.EXPORTS.values()]
    table = isinstance(node, ast.Subscript) and operator.attrgetter(ast.unparse(node.value))(module)
    assert table, f"{where}: {told} can't be translated: use label_text and translate=False"
    return list(table.values())


@pytest.fixture(scope="module")
def tables(translations: ModuleType) -> dict[str, dict[Key, str]]:
    """The entries of each language."""
    return {
        locale: {(context, text): told for context, texts in table.items() for text, told in texts.items()}
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
        for (_, text), told in table.items():
            assert told.strip() == told and told != text, f"{text!r} isn't translated"
            assert fields(told) == fields(text), f"{text!r}: other placeholders"
            assert told.endswith("。") == text.endswith("."), (
                f"{text!r}: the full stop of a tooltip is Blender's to add"
            )


def test_japanese_is_written_in_japanese(tables: dict) -> None:
    for (_, text), told in tables["ja_JP"].items():
        assert re.search("[ぁ-ヿ一-鿿]", told), f"{text!r} is {told!r}"


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
        told = fill_in("{name}, {count:,} bytes", name="{S01}", count=12345)
        assert told == ("{S01}, 12,345 バイト" if in_japanese else "{S01}, 12,345 bytes")


def test_disabling_the_add_on_takes_its_translations_away(addon: ModuleType, tables: dict, in_japanese: bool) -> None:
    ours = {key: told for key, told in tables["ja_JP"].items() if "Sylpheed" in key[1]}
    assert ours
    before = looked_up(ours)
    bpy.ops.preferences.addon_disable(module=addon.__name__)
    try:
        assert looked_up(ours) == {key: key[1] for key in ours}
    finally:
        bpy.ops.preferences.addon_enable(module=addon.__name__)
    assert looked_up(ours) == before
