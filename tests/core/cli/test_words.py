"""What the command line can print speaks of files, and never of Blender."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.cli.main import main
from core.rules.counted import COUNTED
from core.rules.meanings import MEANINGS
from core.rules.remedies import REMEDIES
from core.rules.rule import Rule
from core.text import titled
from tests.support.hulls import DATA

ROOT = Path(__file__).resolve().parents[3]
SOURCES = sorted((ROOT / "core").rglob("*.py"))

BLENDER = re.compile(
    r"\b(blender|roots?|parent(s|ed|ing)?|modifiers?|collections?|view layers?|sidebar|decimate|solidify|"
    r"outside: grow|export with|the export|the scene|edit mode|outliner)\b",
    re.IGNORECASE,
)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each string in a module that isn't its documentation."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.lineno, node.value


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_text_speaks_of_blender(path: Path) -> None:
    found = [(line, text) for line, text in texts(path) if " " in text.strip() and BLENDER.search(text)]
    assert found == [], path


@pytest.mark.parametrize("rule", Rule)
def test_no_rule_speaks_of_blender(rule: Rule) -> None:
    words = [table[rule] for table in (COUNTED, MEANINGS, REMEDIES) if rule in table]
    for text in (rule.value, titled(rule, 2), *words):
        assert not BLENDER.search(text), text


def printed(*arguments: object) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output), contextlib.suppress(SystemExit):
        main([str(argument) for argument in arguments])
    return output.getvalue()


FAULTY = sorted(path for path in (DATA / "edges").glob("*.obj"))


@pytest.mark.parametrize("path", FAULTY, ids=lambda path: path.name)
def test_what_is_printed_of_faulty_meshes_never_speaks_of_blender(path: Path, tmp_path: Path) -> None:
    text = printed("build", path, "-o", tmp_path / "a.col", "--cell", 100)
    assert text and not BLENDER.search(text.replace(str(path), "").replace(str(tmp_path), "")), text


def test_no_help_speaks_of_blender() -> None:
    text = printed("--help")
    commands = re.findall(r"^ {4}([a-z]+) ", text, re.MULTILINE)
    assert len(commands) > 10
    for command in commands:
        text += printed(command, "--help")
    assert not BLENDER.search(text.replace("collection set", "")), BLENDER.findall(text)
