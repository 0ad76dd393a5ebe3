from __future__ import annotations

import ast
from pathlib import Path

import pytest

from core.errors import FormatError, RefusedError, SylpheedError, naming
from core.text import plural, some

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for room in ("core", "blender_addon") for path in (ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("kind", [FormatError, RefusedError])
def test_an_error_is_one_line_with_all_that_is_known(kind: type[SylpheedError]) -> None:
    error = kind("wrong\nnumber", offset=16, expected=1, found=2, remedy="change it", file="a.col")
    assert str(error) == r"a.col: wrong\nnumber at 0x10, expected 1, found 2; change it"
    assert isinstance(error, SylpheedError) and isinstance(error, ValueError)


def test_naming_a_file_gives_a_new_error_of_the_same_kind() -> None:
    error = RefusedError("too far", remedy="move it")
    inner = error.within("entry.col")
    outer = inner.within(Path("game.pak"))
    assert type(outer) is RefusedError
    assert [one.file for one in (error, inner, outer)] == ["", "entry.col", "game.pak: entry.col"]
    assert str(outer) == "game.pak: entry.col: too far; move it"


def test_an_error_is_named_once_and_never_its_own_cause() -> None:
    inner = FormatError("cut short")
    with pytest.raises(FormatError) as caught, naming("outer.col"), naming("inner.col"):
        raise inner
    assert caught.value.file == "inner.col" and inner.file == ""
    assert caught.value.__cause__ is inner


def test_caught_errors_are_never_changed() -> None:
    for path in SOURCES:
        for handler in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(handler, ast.ExceptHandler) or not handler.name:
                continue
            for node in ast.walk(handler):
                targets = getattr(node, "targets", [getattr(node, "target", None)])
                changed = [t for t in targets if isinstance(t, ast.Attribute) and ast.unparse(t.value) == handler.name]
                assert not changed, f"{path}:{node.lineno} changes the error"  # type: ignore[attr-defined]
                own = isinstance(node, ast.Raise) and node.exc and node.cause
                assert not (own and handler.name in possible(node.exc) and ast.unparse(node.cause) == handler.name), (
                    f"{path}:{node.lineno} makes the error its own cause"
                )


def possible(node: ast.expr) -> list[str]:
    """The names that an expression can be."""
    return [*possible(node.body), *possible(node.orelse)] if isinstance(node, ast.IfExp) else [ast.unparse(node)]


def test_numbers_and_their_nouns_agree() -> None:
    assert [plural(n, "edge") for n in (0, 1, 2, 12345)] == ["0 edges", "1 edge", "2 edges", "12,345 edges"]
    nouns = ["mesh", "unused vertex", "list entry", "box", "tetrahedron", "index"]
    assert [plural(1, noun) for noun in nouns] == [f"1 {noun}" for noun in nouns]
    assert [plural(2, noun).removeprefix("2 ") for noun in nouns] == [
        "meshes",
        "unused vertices",
        "list entries",
        "boxes",
        "tetrahedra",
        "indices",
    ]


def test_long_lists_of_names_are_cut() -> None:
    assert some(["a", "b"]) == "a, b"
    assert some(list("abcdef")) == "a, b, c, d and 2 more"
