"""How large modules and functions are, what their first sentences say, and that each module of core/ has its tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_layering import ADDON, ROOT, SOURCES, path_name

TOOLS = [*sorted((ROOT / "tools").glob("*.py")), ROOT / "build.py"]
EVERY = [*SOURCES, *ADDON, *TOOLS]
MOST_LINES, MOST_LINES_OF_A_FUNCTION = 400, 60
LONG_TABLES = {"blender_addon/translations/japanese.py"}
"""Tables whose length follows from what they translate."""

TESTED_ELSEWHERE = {
    "core/cli/commands.py": "test_main.py and test_archives.py run each command",
    "core/cli/navigation.py": "tests/core/navigation/test_navigation.py",
    "core/cli/originals.py": "test_verify.py, as `verify --like`",
    "core/cli/replace.py": "test_archives.py",
    "core/cli/verify_report.py": "test_verify.py",
    "core/editing/claims.py": "test_assemble.py",
    "core/editing/compare.py": "test_assemble.py and test_rebuild_hull.py",
    "core/editing/options.py": "test_rebuild_hull.py",
    "core/editing/pieces.py": "test_assemble.py",
    "core/editing/preserved.py": "test_rebuild_hull.py",
    "core/editing/cell_lists.py": "test_rebuild_hull.py",
    "core/editing/facing.py": "test_faults.py",
    "core/editing/fault.py": "test_faults.py",
    "core/editing/surface_meshes.py": "test_build.py",
    "core/formats/regn_contents.py": "test_regn.py",
    "core/game/merge_volumes.py": "tests/blender/test_mod.py",
    "core/inspect/check_archive.py": "tests/core/game/test_archive_extract.py",
    "core/inspect/check_game.py": "tests/core/game/test_game_folder.py",
    "core/inspect/check_cells.py": "test_check_hull.py",
    "core/inspect/check_file.py": "test_check_hull.py",
    "core/inspect/check_lists.py": "test_check_hull.py",
    "core/inspect/describe.py": "tests/core/cli/test_main.py",
    "core/inspect/diff_archive.py": "tests/core/cli/test_archives.py",
    "core/inspect/diff_mesh.py": "test_diff_hull.py",
    "core/inspect/stored.py": "test_diff_hull.py",
    "core/navigation/build.py": "test_navigation.py",
    "core/navigation/facets.py": "test_free_space.py",
    "core/navigation/patch.py": "test_navigation.py",
    "core/navigation/predicates.py": "test_delaunay.py",
    "core/runtime/route.py": "tests/core/navigation/test_navigation.py",
    "core/samples/folder.py": "test_sample_files.py",
    "core/samples/game.py": "test_sample_files.py",
}
"""Modules without a test file of their name, and where their tests are. The survey's are in test_facts.py, those of the
rules in test_rules.py."""


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", [path for path in EVERY if path_name(path) not in LONG_TABLES], ids=path_name)
def test_no_module_and_no_function_is_too_long(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
    long = {one.name: one.end_lineno - one.lineno + 1 for one in functions(path) if one.end_lineno}
    assert {name: lines for name, lines in long.items() if lines > MOST_LINES_OF_A_FUNCTION} == {}


@pytest.mark.parametrize("path", EVERY, ids=path_name)
def test_every_module_says_in_a_sentence_what_is_in_it(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = re.split(r"(?<=[.…:])\s", text.strip(), maxsplit=1)[0]
    assert first and not first[0].islower() and len(first) <= 140, first


ONE_SUBJECT = [path for path in [*SOURCES, *TOOLS] if path.parent.name != "editing"]


@pytest.mark.parametrize("path", ONE_SUBJECT, ids=path_name)
def test_every_module_has_one_subject(path: Path) -> None:
    """What stands in front of the first colon or comma names one thing."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    assert " and " not in re.split(r"[.:;(,…]", text.replace("\n", " "))[0]


@pytest.mark.parametrize(
    "path", [path for path in SOURCES if path.parent.name not in ("core", "rules", "survey")], ids=path_name
)
def test_every_module_has_tests_of_its_name(path: Path) -> None:
    if path.stem == "__init__":
        return
    own = ROOT / "tests" / "core" / path.parent.name / f"test_{path.stem}.py"
    elsewhere = TESTED_ELSEWHERE.get(path_name(path))
    assert own.is_file() != (elsewhere is not None), "list where its tests are, or give it a test file of its name"
    for file in re.findall(r"[\w/]+\.py", elsewhere or ""):
        assert (ROOT / file).is_file() or (own.parent / file).is_file(), f"{file} is gone"


def test_what_is_tested_elsewhere_exists() -> None:
    assert [name for name in TESTED_ELSEWHERE if not (ROOT / name).is_file()] == []
