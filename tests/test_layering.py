"""Which room may import which, and what core/ may not do: import Blender, print, or read numbers in native order."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import core

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted(module.name for module in pkgutil.walk_packages(core.__path__, "core."))
SOURCES = sorted((ROOT / "core").rglob("*.py"))
ADDON = sorted((ROOT / "blender_addon").rglob("*.py"))

ERRORS = ["core", "core/rules"]
GEOMETRY = [*ERRORS, "core/geometry"]
FORMATS = [*GEOMETRY, "core/formats"]
DISK = [*ERRORS, "core/disk"]
GAME = [*FORMATS, "core/disk", "core/game"]
EDITING = [*FORMATS, "core/editing"]
INSPECT = [*GAME, "core/editing", "core/inspect"]
CORE = [*INSPECT, "core/navigation", "core/runtime"]
SCENE = [*CORE, "blender_addon/translations", "blender_addon/scene"]

ROOMS = {
    "core/rules": [],
    "core": ["core/rules"],
    "core/geometry": ERRORS,
    "core/disk": ERRORS,
    "core/formats": GEOMETRY,
    "core/editing": FORMATS,
    "core/runtime": FORMATS,
    "core/navigation": FORMATS,
    "core/game": [*FORMATS, "core/disk"],
    "core/inspect": [*GAME, "core/editing"],
    "core/samples": [*GAME, "core/editing", "core/navigation"],
    "core/survey": [*GAME, "core/editing", "core/inspect"],
    "core/cli": [*CORE, "core/samples", "core/survey"],
    "blender_addon/translations": [],
    "blender_addon/scene": [*CORE, "blender_addon/translations"],
    "blender_addon/checks": SCENE,
    "blender_addon/overlay": SCENE,
    "blender_addon/interface": [*SCENE, "blender_addon/checks", "blender_addon/overlay"],
    "blender_addon": [*SCENE, "blender_addon/checks", "blender_addon/overlay", "blender_addon/interface"],
}
"""Which rooms each room may import, itself aside. `core` is `errors.py` and `text.py`, which all may import."""

# Runs in a new interpreter, where whatever is neither ours, nor numpy, nor Python's own can't be imported.
IMPORT_ALONE = """
import sys, importlib, traceback

class OnlyWhatBlenderHas:
    allowed = {"core", "numpy"} | set(sys.stdlib_module_names) | set(sys.builtin_module_names)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.allowed:
            raise ImportError(f"core must not need {name}")

sys.path.insert(0, sys.argv[1])
import numpy  # first, what numpy itself tries is not our concern
before = set(sys.modules)
sys.meta_path.insert(0, OnlyWhatBlenderHas())
for name in sys.argv[2:]:
    for known in [key for key in sys.modules if key.partition(".")[0] == "core"]:
        del sys.modules[known]  # each module is imported first, not after what another one imported
    try:
        importlib.import_module(name)
    except Exception:
        print(name, traceback.format_exc())
print("imported", *sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""


def path_name(path: Path) -> str:
    """The path from the repository's root, as the name of a test."""
    return path.relative_to(ROOT).as_posix()


def first(module: str) -> str:
    """The first part of a dotted name."""
    return module.partition(".")[0]


def imports_of(path: Path) -> list[tuple[int, str, int]]:
    """Line, module and level (0 = absolute) of each import in a file, the ones inside functions too."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name, 0) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.lineno, node.module or "", node.level))
    return found


def test_every_module_imports_with_numpy_alone() -> None:
    command = [sys.executable, "-I", "-c", IMPORT_ALONE, str(ROOT), "core", *MODULES]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    first, *loaded = result.stdout.split()
    assert first == "imported" and "core" in loaded, result.stdout


@pytest.mark.parametrize("path", SOURCES, ids=path_name)
def test_core_imports_numpy_and_the_standard_library_only(path: Path) -> None:
    allowed = {"numpy"} | sys.stdlib_module_names
    foreign = [(line, module) for line, module, level in imports_of(path) if not level and first(module) not in allowed]
    assert foreign == []


def room_of(path: Path) -> str:
    """The room that a module lies in: `core/formats`, or its package where it lies in none."""
    if path == ROOT / "core" / "__main__.py":
        return "core/cli"
    return path.parent.relative_to(ROOT).as_posix()


def rooms_imported(path: Path) -> list[tuple[int, str]]:
    """Line and room of each relative import in a module."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            start = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for alias in node.names:
                target = start / alias.name
                is_module = target.is_dir() or target.with_suffix(".py").is_file()
                module = target if is_module else start
                room = module if module.is_dir() else module.parent
                found.append((node.lineno, room.relative_to(ROOT).as_posix()))
    return found


@pytest.mark.parametrize("path", [*SOURCES, *ADDON], ids=path_name)
def test_each_room_imports_only_the_rooms_below_it(path: Path) -> None:
    room = room_of(path)
    allowed = {room, *ROOMS[room]}
    assert [f"{path.name}:{line}: {other}" for line, other in rooms_imported(path) if other not in allowed] == []


def test_the_table_of_rooms_has_no_circle() -> None:
    left = {room: set(below) for room, below in ROOMS.items()}
    while free := {room for room, below in left.items() if not below}:
        left = {room: below - free for room, below in left.items() if room not in free}
    assert left == {}


def test_formats_import_only_the_shared_layers_beside_them() -> None:
    shared = {"binary", "box", "chunk", "hashes"}
    for path in sorted((ROOT / "core" / "formats").glob("*.py")):
        for line, module, level in imports_of(path):
            if level == 1 and module and path.stem != "kinds":
                beside = first(module)
                is_own = beside.partition("_")[0] == path.stem.partition("_")[0]
                assert beside in shared or is_own, f"{path.name}:{line}: {beside}"


@pytest.mark.parametrize("path", SOURCES, ids=path_name)
def test_only_the_command_line_prints(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name) and node.id == "print":
            assert room_of(path) == "core/cli", f"{path.name}:{node.lineno}: print"


def native_fields(dtype: np.dtype, where: str) -> list[str]:
    """Numbers in a dtype, its fields and sub-arrays that aren't explicitly big-endian."""
    if dtype.subdtype is not None:
        return native_fields(dtype.subdtype[0], where)
    if dtype.fields is not None:
        return [wrong for name, field in dtype.fields.items() for wrong in native_fields(field[0], f"{where}.{name}")]
    if dtype.kind in "SV" or dtype.itemsize == 1 or dtype.byteorder == ">":
        return []
    return [f"{where}: {dtype}"]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith(".__main__")])
def test_every_dtype_of_the_files_is_big_endian(name: str) -> None:
    values = vars(importlib.import_module(name)).items()
    dtypes = {key: value for key, value in values if isinstance(value, np.dtype)}
    assert [wrong for key, dtype in dtypes.items() for wrong in native_fields(dtype, key)] == []


def test_native_order_would_be_found() -> None:
    mixed = np.dtype([("good", ">u4"), ("bytes", "S4"), ("bad", "<f4", 3), ("inner", [("worse", "<u2")])])
    assert native_fields(mixed, "mixed") == ["mixed.bad: float32", "mixed.inner.worse: uint16"]


def test_no_path_of_a_machine_in_the_sources() -> None:
    machine = re.compile(r"(?<![\w.])/(home|root|work|Users|tmp|opt|mnt)/\w|\b[A-Z]:\\\\?(Users|Games|Program)")
    folders = [ROOT / name for name in ("core", "blender_addon", "tests", "tools", "docs")]
    files = [path for folder in folders for kind in ("py", "toml", "md") for path in folder.rglob(f"*.{kind}")]
    for path in [*files, ROOT / "build.py", ROOT / "pyproject.toml", ROOT / ".ci" / "run"]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert not machine.search(line), f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
