"""Every text of the add-on's interface: what Blender knows of its classes, and what its source gives to layouts and
reports."""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import operator
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import bpy

DEFAULT, OPERATOR = "*", "Operator"
FIRST_ARGUMENT = {"label_text", "report_text", "Fact", "poll_message_set"}
LABELS = {"operator", "prop", "Fact", "prop_search", "menu"}
"""Calls whose text is a label; those of the others are sentences."""

NO_WORD = re.compile(r"[^A-Za-z]*[A-Za-z]?[^A-Za-z]*")  # "Y" is Y in every language


class Kind(enum.Enum):
    """How a text is written: a label in Title Case, a description without a closing period, a message as a sentence."""

    LABEL = "label"
    DESCRIPTION = "description"
    MESSAGE = "message"


class Text(NamedTuple):
    """A text with Blender's context for it, and where it is."""

    context: str
    text: str
    kind: Kind
    where: str


def modules_of(addon: ModuleType) -> list[ModuleType]:
    package = addon.blender_addon
    names = [module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return [importlib.import_module(name) for name in names]


def all_texts(addon: ModuleType) -> list[Text]:
    """Every text of the interface that holds a word."""
    found = [text for module in modules_of(addon) for text in (*registered_texts(module), *written_texts(module))]
    return [text for text in found if not NO_WORD.fullmatch(text.text)]


def registered_texts(module: ModuleType) -> Iterator[Text]:
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
            yield Text(DEFAULT, rna.description, Kind.DESCRIPTION, where)
        if hasattr(cls, "bl_label"):
            yield Text(rna.translation_context, cls.bl_label, Kind.LABEL, where)
        if not issubclass(cls, bpy.types.Operator | bpy.types.PropertyGroup | bpy.types.AddonPreferences):
            continue
        own = {name for base in cls.__mro__ if is_ours(base, module) for name in inspect.get_annotations(base)}
        for prop in (rna.properties[name] for name in sorted(own & set(rna.properties.keys()))):
            if prop.is_hidden:
                continue
            choices = prop.enum_items if prop.type == "ENUM" else ()
            for said in (prop, *choices):
                at = f"{where}.{prop.identifier}"
                yield Text(prop.translation_context, said.name, Kind.LABEL, at)
                yield Text(DEFAULT, said.description, Kind.DESCRIPTION, at)


def is_ours(cls: type, module: ModuleType) -> bool:
    return cls.__module__.partition(".blender_addon")[0] == module.__name__.partition(".blender_addon")[0]


def written_texts(module: ModuleType) -> Iterator[Text]:
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
        elif "confirm_text" in options:
            node, context = options["confirm_text"], DEFAULT
        elif "text" in options and not is_false(options.get("translate")):
            node, context = options["text"], OPERATOR if name == "operator" else DEFAULT
        else:
            continue
        if "text_ctxt" in options:
            context = getattr(module, ast.unparse(options["text_ctxt"]))
        kind = Kind.LABEL if name in LABELS or "confirm_text" in options else Kind.MESSAGE
        for text in possible_texts(node, module, where):
            yield Text(context, text, kind, where)


def is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def possible_texts(node: ast.expr, module: ModuleType, where: str) -> list[str]:
    """The texts that an expression can be: those written there, or those of a table."""
    if isinstance(node, ast.Constant):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [text for part in (node.body, node.orelse) for text in possible_texts(part, module, where)]
    said = ast.unparse(node)
    if said == "fact.label":
        return []  # where facts are made
    if said == "label" and module.__name__.endswith(".menus"):
        return [*module.IMPORTS.values(), *module.EXPORTS.values()]
    table = isinstance(node, ast.Subscript) and look_up(ast.unparse(node.value), module)
    assert table, f"{where}: {said} can't be translated: use label_text and translate=False"
    return list(table.values())


def look_up(dotted: str, module: ModuleType) -> object:
    """What a dotted name stands for in a module, or in a function of it that imports the name."""
    first, _, rest = dotted.partition(".")
    if hasattr(module, first):
        return operator.attrgetter(dotted)(module)
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and node.level and first in [alias.name for alias in node.names]:
            source = importlib.import_module("." * node.level + (node.module or ""), module.__package__)
            found = getattr(source, first)
            return operator.attrgetter(rest)(found) if rest else found
    raise AssertionError(f"{module.__name__} doesn't know {dotted}")
