"""How the add-on's texts are written: as Blender's own are, in the words of this project."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.blender.interface_texts import Kind, Text, all_texts, modules_of

WORDS = Path(__file__).resolve().parents[1] / "data" / "interface_words.txt"
"""Every word that the texts use, a line each. A new word is a decision: is it the one that the others use?"""

SMALL = set("a an and as at but by for from in of on or out over per than the through to under with without".split())
"""Words that begin with a small letter within a title."""

FRAGMENTS = re.compile(
    r"(is|isn't|can't|has|shares|shows) .*|free space|holds triangles|solid rock|of \{sides\} units|at \(.*|after \{.*"
    r"|and \{count.*|no way.*|a straight line.*|length \{.*|\.\.\..*"
)
"""Messages that follow the name of an object, or are put into others: they begin with a small letter."""

NOT_OURS = re.compile(
    r"\b(mend\w*|anew|hang\w* below|sound|told|tell|tells|librar\w+ part|record|without a word|kept aside|"
    r"stands? for|is no multiple|(?<!there )is no (?!longer)|centre|colour\w*|CollisionSet)(?!\w)"
)
"""Words for which the project has another, and spellings that Blender doesn't use."""

COUNTED = re.compile(r"\{[^{}]*:,[^{}]*\} (?!is\b|has\b|this\b)([a-z]+s)\b")
ALWAYS_SEVERAL = {"bytes": "a file has more than one", "triangles": "so has an asteroid", "units": "as in '0.5 units'"}
"""Nouns that follow a number which is never 1."""


@pytest.fixture(scope="module")
def texts(addon: ModuleType) -> list[Text]:
    found = all_texts(addon)
    assert len(found) > 200, "the texts weren't found"
    return found


@pytest.fixture(scope="module")
def prose(addon: ModuleType, texts: list[Text]) -> dict[str, str]:
    """The texts, and what else the source writes for people: errors, warnings, help. Each with its place."""
    written = {text: where for module in modules_of(addon) for text, where in sentences(module)}
    return written | {text.text: text.where for text in texts}


def sentences(module: ModuleType) -> Iterator[tuple[str, str]]:
    """The strings of two or more words in a module's source, but for docstrings. A value in one is `{}`."""
    path = Path(module.__file__ or "")
    if path.parent.name == "translations" and path.name != "__init__.py":
        return  # another language
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            silent |= {id(part) for part in ast.walk(node) if part is not node}
    for node in ast.walk(tree):
        if id(node) in silent:
            continue
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else field(part) for part in node.values)
        if re.search(r"[A-Za-z]{2,},? \(?[A-Za-z]{2,}", text) and "void main" not in text:
            yield text, f"{path.name}:{node.lineno}"


def field(part: ast.expr) -> str:
    """A value in a string, as in a template: `{:,}`."""
    spec = getattr(part, "format_spec", None)
    return "{:,}" if spec and "," in ast.unparse(spec) else "{}"


def reject(wrong: list[str]) -> None:
    assert not wrong, "\n" + "\n".join(wrong)


def is_title(text: str) -> bool:
    """Whether each word but small ones begins with a capital letter. What isn't a word, such as `(.col)`, may not."""
    words = [word for word in re.findall(r"[A-Za-z][\w'’-]*(?:\.\w+)?|\.\w+", text) if "." not in word]
    small = [word for word in words if not word[0].isupper()]
    ends = words[:1] + words[-1:]
    return all(word in SMALL for word in small) and all(word[0].isupper() for word in ends)


def test_labels_are_in_title_case(texts: list[Text]) -> None:
    labels = [text for text in texts if text.kind is Kind.LABEL and not text.text.endswith(":")]
    assert len(labels) > 60
    reject([f"{text.where}: {text.text}" for text in labels if not is_title(text.text)])


@pytest.mark.parametrize("wrong", ["Sylpheed hull (.col)", "Merge by distance", "the Hull", "Move It to"])
def test_other_case_is_seen(wrong: str) -> None:
    assert not is_title(wrong)


def test_descriptions_are_sentences_without_a_closing_period(texts: list[Text]) -> None:
    found = [text for text in texts if text.kind is Kind.DESCRIPTION]
    assert len(found) > 60
    wrong = [text for text in found if not text.text[:1].isupper() or text.text.endswith(".")]
    reject([f"{text.where}: {text.text}" for text in wrong])


def test_messages_begin_with_a_capital_letter(texts: list[Text]) -> None:
    messages = [text for text in texts if text.kind is Kind.MESSAGE and not FRAGMENTS.fullmatch(text.text)]
    assert len(messages) > 60
    reject([f"{text.where}: {text.text}" for text in messages if text.text[0].islower()])


def test_sentences_begin_with_a_capital_letter(prose: dict[str, str]) -> None:
    reject([f"{where}: {text}" for text, where in prose.items() if re.search(r"[a-z)]\. [a-z]", text)])


def test_texts_use_straight_quotes_and_single_spaces(prose: dict[str, str]) -> None:
    odd = re.compile("[`“”„‘’]|[^ ]  +[^ ]")
    reject([f"{where}: {text}" for text, where in prose.items() if odd.search(text)])


def test_texts_use_the_words_of_the_project(prose: dict[str, str]) -> None:
    wrong = {text: found[0] for text in prose if (found := NOT_OURS.search(text))}
    reject([f"{prose[text]}: {word}: {text}" for text, word in wrong.items()])


def test_numbers_agree_with_their_nouns(prose: dict[str, str]) -> None:
    wrong = []
    for text, where in prose.items():
        nouns = {found[1] for found in COUNTED.finditer(text)}
        if re.search(r"\w\(s\)|(?<![.,\d])\b1 [a-z]+s\b", text) or nouns - ALWAYS_SEVERAL.keys():
            wrong.append(f"{where}: {text}")
    reject(wrong)


def test_every_word_is_known(prose: dict[str, str]) -> None:
    """A word that isn't in the list is misspelt, or is to be added to it; one that nothing uses is to be dropped."""
    used: dict[str, str] = {}
    for text, where in prose.items():
        plain = re.sub(r"\{[^{}]*\}", " ", text)
        for word in re.findall(r"(?<![\w./*_-])[A-Za-z][a-z]+(?:'[a-z]+)?(?![\w_*/])", plain):
            used.setdefault(word.lower(), where)
    known = set(WORDS.read_text("utf-8").split())
    reject([f"{word} ({used[word]})" for word in sorted(used.keys() - known)])
    reject([f"{word} (nowhere)" for word in sorted(known - used.keys())])
