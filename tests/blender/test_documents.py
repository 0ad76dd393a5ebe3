"""The manual names all that Blender shows of this extension: operators, options, commands, checks."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import bpy
import pytest

from core.game.archive import open_archive
from core.inspect.diff_archive import diff_archives
from tests.support.game_folder import make_game

MANUAL = Path(__file__).resolve().parents[2] / "docs" / "MANUAL.md"
OF_FILE_BROWSERS = {"filepath", "files", "directory", "filter_glob", "check_existing"}
"""Named once for all imports and exports; for some of these operators they are hidden."""


@pytest.fixture(scope="module")
def chapters() -> dict[str, str]:
    """Heading to text, of each chapter."""
    parts = MANUAL.read_text("utf-8").split("\n## ")
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def rows(chapter: str) -> dict[str, str]:
    """A chapter's table: the code of each row's first column, to the row."""
    return {row.split("`")[1]: row for row in chapter.splitlines() if row.startswith("| `")}


def classes(addon: ModuleType, kind: type) -> list[type]:
    """The extension's registered classes of a kind."""
    found = [cls for cls in every_subclass(kind) if cls.__module__.startswith(addon.__name__)]
    return [cls for cls in found if getattr(cls, "is_registered", False)]


def every_subclass(cls: type) -> Iterator[type]:
    for below in cls.__subclasses__():
        yield below
        yield from every_subclass(below)


def properties(rna: bpy.types.Struct, base: type) -> list[bpy.types.Property]:
    """What a class adds to its base, less what is hidden from users."""
    inherited = set(base.bl_rna.properties.keys())
    return [one for one in rna.properties if one.identifier not in inherited and not one.is_hidden]


def operators(addon: ModuleType) -> dict[str, bpy.types.Struct]:
    """The definition of each of the extension's operators, by its name in scripts."""
    found = {}
    for cls in classes(addon, bpy.types.Operator):
        group, name = cls.bl_idname.split(".")
        found[cls.bl_idname] = getattr(getattr(bpy.ops, group), name).get_rna_type()
    return found


def test_every_operator_has_a_row_with_its_properties(addon: ModuleType, chapters: dict[str, str]) -> None:
    documented, wrong = rows(chapters["Scripting"]), []
    known = operators(addon)
    assert len(known) > 20 and sorted(documented) == sorted(known)
    for name, rna in known.items():
        named = set(re.findall(r"`(\w+)`", documented[name].partition("|")[2].partition("|")[2]))
        own = {one.identifier for one in properties(rna, bpy.types.Operator)}
        wrong += [f"{name}: {one} isn't named" for one in sorted(own - named - OF_FILE_BROWSERS)]
        every = {one.identifier for one in rna.properties}
        wrong += [f"{name}: {one} doesn't exist" for one in sorted(named - every)]
    assert wrong == []


def test_every_option_is_explained_under_the_name_that_it_has_in_blender(
    addon: ModuleType, chapters: dict[str, str]
) -> None:
    explained = set(re.findall(r"\*\*([^*]+)\*\*", chapters["Every option"]))
    missing = [
        f"{name}: {one.name}"
        for name, rna in operators(addon).items()
        for one in properties(rna, bpy.types.Operator)
        if one.name not in explained and one.identifier not in OF_FILE_BROWSERS
    ]
    for base in (bpy.types.AddonPreferences, bpy.types.PropertyGroup):
        for cls in classes(addon, base):
            shown = properties(cls.bl_rna, base)
            text = "".join(chapters[name] for name in ("Every option", "Seeing the grid", "Navigation"))
            missing += [f"{cls.__name__}: {one.name}" for one in shown if not re.search(rf"\*{one.name}\*", text)]
    assert missing == []


def test_every_check_is_explained(addon: ModuleType, chapters: dict[str, str]) -> None:
    titles = importlib.import_module(f"{addon.__name__}.blender_addon.checks.sidebar_titles")
    explained = re.findall(r"^\| \*\*([^*]+)\*\* \|", chapters["Check and fix"], re.MULTILINE)
    assert sorted(explained) == sorted(titles.TITLES.values())


def test_every_command_of_blender_has_a_row_with_its_options(
    addon: ModuleType, chapters: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    command_line = importlib.import_module(f"{addon.__name__}.blender_addon.interface.command_line")

    def help_text(*arguments: str) -> str:
        assert command_line.run([*arguments, "--help"]) == 0
        return capsys.readouterr().out

    documented = {usage.split()[0]: row for usage, row in rows(chapters["Without a window"]).items()}
    commands = re.findall(r"^    (\w+)", help_text(), re.MULTILINE)
    assert len(commands) > 4 and sorted(documented) == sorted(commands)
    missing = []
    for command in commands:
        options = set(re.findall(r"(?<![\w-])(--?[a-z][\w-]*)", help_text(command))) - {"-h", "--help", "--command"}
        named = re.findall(r"--?[a-z][\w-]*", documented[command])
        missing += [f"{command} {option}" for option in sorted(options) if option not in named]
    assert missing == []


def test_the_script_of_the_manual_works_as_it_stands(
    chapters: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_game(tmp_path / "GAME")
    (code,) = re.findall(r"```python\n(.*?)```", chapters["Scripting"], re.DOTALL)
    exec(code.replace('"GAME"', repr(str(tmp_path / "GAME"))).replace('"MOD"', repr(str(tmp_path / "MOD"))), {})
    changed = diff_archives(*(open_archive(tmp_path / name / "hidden" / "MiscBin.pak") for name in ("GAME", "MOD")))
    assert "moved by (0, 10000, 0)" in changed[0].message
