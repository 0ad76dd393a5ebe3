"""Each rule is in every table, and nothing but a rule's name decides."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from core.errors import Finding, FormatError, Severity
from core.inspect.checks import WORST_FIRST
from core.rules.counted import COUNTED
from core.rules.meanings import MEANINGS
from core.rules.remedies import REMEDIES
from core.rules.rule import Rule
from core.rules.severity import SEVERITIES, worst
from core.rules.titles import TITLES
from core.text import titled

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for room in ("core", "blender_addon") for path in (ROOT / room).rglob("*.py"))
MATTERS = {rule for rule, severity in SEVERITIES.items() if severity is not Severity.INFO}


def test_every_rule_has_a_severity_and_a_title() -> None:
    assert SEVERITIES.keys() == TITLES.keys() == set(Rule)


def test_every_rule_that_matters_has_a_meaning_and_a_remedy() -> None:
    assert MEANINGS.keys() == REMEDIES.keys() == MATTERS


def test_every_rule_is_used() -> None:
    used: set[str] = set()
    for path in SOURCES:
        if path.parent.name == "rules":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "Rule":
                used.add(node.attr)
    assert {rule.name for rule in Rule} == used


@pytest.mark.parametrize("rule", Rule)
def test_words_of_a_rule_fit_into_a_sentence(rule: Rule) -> None:
    words = [table[rule] for table in (COUNTED, MEANINGS, REMEDIES) if rule in table]
    for text in (titled(rule, 1), titled(rule, 2), *words):
        assert text == text.strip() and not text.endswith((".", ";")) and "  " not in text
    assert titled(rule, 1).startswith("1 ") and titled(rule, 1) != titled(rule, 2).replace("2 ", "1 ")


def test_an_error_says_what_its_rule_means() -> None:
    error = FormatError("3 open edges", expected=0, rule=Rule.OPEN_EDGES, remedy=REMEDIES[Rule.OPEN_EDGES])
    assert str(error) == "3 open edges, expected 0; ships and shots pass through the hole; fill the hole"
    assert error.within("a.col").rule is Rule.OPEN_EDGES


def test_a_finding_becomes_a_row_of_plain_data() -> None:
    row = Finding(Severity.WARNING, Rule.OPEN_EDGES, "3 open edges", "edge", (1, 2)).row()
    assert row == {
        "severity": "warning",
        "check": "open edges",
        "message": "3 open edges",
        "kind": "edge",
        "elements": (1, 2),
    }
    assert type(row["check"]) is str


def test_the_worst_of_severities() -> None:
    assert worst([]) is Severity.INFO
    assert worst([Severity.INFO, Severity.ERROR, Severity.WARNING]) is Severity.ERROR is WORST_FIRST[0]


def test_no_text_of_a_rule_is_a_key_of_logic() -> None:
    texts = {rule.value for rule in Rule} | set(COUNTED.values())
    texts -= {"grid", "faces", "counts"}  # words that stand for other things too
    for path in SOURCES:
        if path.parent.name == "rules":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            compared = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
            keys = [key for key in node.keys if key] if isinstance(node, ast.Dict) else []
            for part in (*compared, *keys):
                for one in ast.walk(part):
                    known = isinstance(one, ast.Constant) and one.value in texts
                    assert not known, f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(one)}"
