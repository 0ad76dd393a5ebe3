"""The zip as a package: what is in it, that Blender accepts it, that it comes and goes without a trace."""

from __future__ import annotations

import ast
import json
import pkgutil
import re
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from pathlib import Path
from types import ModuleType

import bpy
import pytest

from tools.extension import build_zip, manifest_problems

ROOT = Path(__file__).resolve().parents[2]
CYCLES = 10
OUR_NAME = "sylpheed"


@pytest.fixture(scope="module")
def unpacked(extension_zip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(extension_zip) as archive:
        archive.extractall(folder)
    return folder


def blender_ext(*arguments: str) -> str:
    """Runs Blender's extension command line, which the module build has without the `blender` program."""
    scripts = Path(bpy.utils.system_resource("SCRIPTS"))
    script = scripts / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    result = subprocess.run([sys.executable, "-I", str(script), *arguments], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def valid_tags(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Blender's own list of tags, in the form that its command line reads in every version."""
    scripts = Path(bpy.utils.system_resource("SCRIPTS"))
    (source,) = scripts.glob("modules/_bpy_internal/extensions/tags.py")
    assignments = {
        node.targets[0].id: sorted(ast.literal_eval(node.value))
        for node in ast.parse(source.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    target = tmp_path_factory.mktemp("tags") / "tags.json"
    target.write_text(json.dumps({"add-on": assignments["addons"], "theme": assignments["themes"]}), encoding="utf-8")
    return str(target)


def test_blender_validates_the_zip(extension_zip: Path, valid_tags: str) -> None:
    output = blender_ext("validate", str(extension_zip), "--valid-tags", valid_tags)
    assert "error" not in output.lower()


def test_blender_would_build_the_same_zip(extension_zip: Path, unpacked: Path, valid_tags: str, tmp_path: Path) -> None:
    blender_ext("build", "--source-dir", str(unpacked), "--output-dir", str(tmp_path), "--valid-tags", valid_tags)
    (theirs,) = tmp_path.glob("*.zip")
    assert theirs.name == extension_zip.name
    with zipfile.ZipFile(theirs) as one, zipfile.ZipFile(extension_zip) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())


def test_the_zip_holds_every_source_file_and_nothing_else(extension_zip: Path) -> None:
    manifest = "blender_manifest.toml"
    expected = {"LICENSE": ROOT / "LICENSE", manifest: ROOT / "blender_addon" / manifest}
    for folder in (ROOT / "blender_addon", ROOT / "core"):
        for path in folder.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.name != manifest:
                expected[path.relative_to(ROOT).as_posix()] = path
    for path in (ROOT / "docs" / "manual.html", *(ROOT / "docs").glob("*.png")):
        expected[f"docs/{path.name}"] = path
    with zipfile.ZipFile(extension_zip) as archive:
        assert archive.namelist() == sorted([*expected, "__init__.py"])
        assert "import register, unregister" in archive.read("__init__.py").decode()
        assert archive.testzip() is None
        for name, path in expected.items():
            assert archive.read(name) == path.read_bytes(), f"{name} in the zip is not the source's"


def test_the_same_sources_give_the_same_zip(extension_zip: Path) -> None:
    before = extension_zip.read_bytes()
    assert build_zip() == extension_zip
    assert extension_zip.read_bytes() == before


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("tags", ["Import Export"], "tags must be"),
        ("license", ["GPL-3.0-or-later"], "license must be"),
        ("version", "0.1", "three numbers"),
        ("tagline", "Edits hulls.", "no closing punctuation"),
        ("tagline", "x" * 65, "64 letters"),
        ("blender_version_min", "4.1.0", "4.2.0"),
        ("permissions", {"files": ""}, "reasons have"),
        ("permissions", {}, "files alone"),
        ("id", "sylpheed-collision", "identifier"),
        ("maintainer", "", "maintainer is missing"),
    ],
)
def test_build_refuses_a_manifest_that_blender_takes_or_users_would_suffer(
    key: str, value: object, complaint: str
) -> None:
    manifest = tomllib.loads((ROOT / "blender_addon" / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert manifest_problems(manifest) == []
    (problem,) = manifest_problems(manifest | {key: value})
    assert complaint in problem


def test_every_module_is_the_installed_one(addon: ModuleType, user_folder: Path) -> None:
    names = [module.name for module in pkgutil.walk_packages(addon.__path__, f"{addon.__name__}.")]
    assert f"{addon.__name__}.core" in names
    for name in names:
        if not name.endswith(".__main__"):
            __import__(name)
            where = Path(sys.modules[name].__file__ or "").resolve()
            assert where.is_relative_to(user_folder.resolve()), f"{name} was imported from {where}"


def test_the_installed_core_runs_without_blender_and_without_the_sources(addon: ModuleType) -> None:
    folder = Path(addon.__file__ or "").parent
    code = "import sys, core; print(core.__file__); assert 'bpy' not in sys.modules"
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); {code}"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert result.returncode == 0, result.stderr
    assert Path(result.stdout.strip()) == folder / "core" / "__init__.py"


ENABLE = """
import bpy, addon_utils, sys
assert addon_utils.enable({package!r})
print("loaded:", *sorted(name for name in sys.modules if name.startswith({package!r} + ".core.")))
"""
LOADED_EARLY = ("errors", "text", "rules", "geometry", "geometry.asteroid", "geometry.solids")
"""What enabling needs of core: words, and the limits of an option."""


def test_enabling_loads_what_registers_alone(addon: ModuleType) -> None:
    code = ENABLE.format(package=addon.__name__)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0 and not result.stderr, result.stderr
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("loaded:")]
    loaded = [name.removeprefix(f"{addon.__name__}.core.") for name in line.split()[1:]]
    assert loaded and [name for name in loaded if name not in LOADED_EARLY and not name.startswith("rules.")] == []


def traces() -> dict[str, list[str]]:
    """What an add-on can leave in Blender: entries in menus, handlers, classes, operators, properties, shortcuts."""
    menus = [name for name in dir(bpy.types) if "_MT_" in name or "_HT_" in name or "_PT_" in name]
    drawing = {name: getattr(getattr(getattr(bpy.types, name), "draw", None), "_draw_funcs", ()) for name in menus}
    handlers = {name: getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)}
    handlers = {name: calls for name, calls in handlers.items() if isinstance(calls, list)}
    owners = (bpy.types.Scene, bpy.types.Object, bpy.types.Mesh, bpy.types.Collection, bpy.types.WindowManager)
    keys = bpy.context.window_manager.keyconfigs.addon
    return {
        "menus": [f"{name}: {function.__qualname__}" for name in menus for function in drawing[name]],
        "handlers": [f"{name}: {call}" for name, calls in handlers.items() for call in calls],
        "classes": [name for name in dir(bpy.types) if OUR_NAME in name.lower()],
        "operators": [
            f"{group}.{name}"
            for group in dir(bpy.ops)
            for name in dir(getattr(bpy.ops, group))
            if OUR_NAME in f"{group}.{name}"
        ],
        "properties": [f"{owner.__name__}.{name}" for owner in owners for name in dir(owner) if OUR_NAME in name],
        "shortcuts": [item.idname for keymap in (keys.keymaps if keys else ()) for item in keymap.keymap_items],
    }


@pytest.fixture
def balance(monkeypatch: pytest.MonkeyPatch) -> Counter:
    """Counts the commands of the command line, which Blender lists nowhere."""
    counts: Counter = Counter()

    def count(owner: object, name: str, what: str, step: int) -> None:
        original = getattr(owner, name)

        def counted(*arguments: object, **options: object) -> object:
            counts[what] += step
            return original(*arguments, **options)

        monkeypatch.setattr(owner, name, counted)

    count(bpy.utils, "register_cli_command", "commands", 1)
    count(bpy.utils, "unregister_cli_command", "commands", -1)
    return counts


def test_enabling_and_disabling_leaves_nothing_behind(addon: ModuleType, balance: Counter) -> None:
    enabled = traces()
    assert enabled["classes"] and enabled["operators"], "the add-on registers nothing, so this test shows nothing"
    bpy.ops.preferences.addon_disable(module=addon.__name__)
    disabled = traces()
    assert balance.pop("commands") == -1
    try:
        assert disabled["classes"] == disabled["operators"] == disabled["properties"] == []
        for _ in range(CYCLES):
            bpy.ops.preferences.addon_enable(module=addon.__name__)
            assert traces() == enabled and balance["commands"] == 1
            bpy.ops.preferences.addon_disable(module=addon.__name__)
            assert traces() == disabled and balance["commands"] == 0
    finally:
        bpy.ops.preferences.addon_enable(module=addon.__name__)


def sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def test_no_import_that_a_newer_blender_or_an_extension_lacks(unpacked: Path) -> None:
    for path in sources(unpacked):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                modules = [node.module or ""]
            for module in modules:
                first = module.split(".")[0]
                assert first not in {"bgl", "bpy_types"}, f"{path.name}:{node.lineno}: {module} is gone in 5.0"
                own = {"core", "blender_addon", "sylpheed_collision", "bl_ext"}
                assert first not in own, f"{path.name}:{node.lineno}: import {module} relatively"
            if isinstance(node, ast.Name | ast.Attribute | ast.Constant):
                name = getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "value", None)
                assert name not in {"bl_info", "bgl", "bpy_types"}, f"{path.name}:{node.lineno}: {name}"


def test_no_subscript_that_blender_5_refuses(unpacked: Path) -> None:
    """`preferences["x"]` and `self["x"]` in a class of Blender's are TypeErrors in 5.0, or miss the property."""
    refused = re.compile(r"\b(preferences|prefs|self|operator|addon)\[['\"]|['\"] (not )?in (self|prefs|preferences)\b")
    for path in sources(unpacked):
        if path.is_relative_to(unpacked / "core"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert not refused.search(line), f"{path.name}:{number}: {line.strip()}"
