"""Counting: how many of how many, and which ones a message names."""

from core.errors import Severity
from core.inspect.checks import NAMED_AT_MOST, Where, count, findings
from core.rules.rule import Rule


def test_a_message_names_a_few_elements() -> None:
    few = count(Rule.UNUSED_VERTICES, [True, False], Where("vertex"))
    assert str(few.finding) == "unused vertices: 1 vertex that no triangle uses (vertex 1)"
    assert few.severity is Severity.ERROR
    many = count(Rule.SEVERAL_LISTS, [False] * 9, Where("cell", label=lambda n: f"no. {n}"))
    assert many.finding.message == "9 cells with several list records (cell no. 0, no. 1, no. 2, no. 3, …)"
    assert len(many.labels) == NAMED_AT_MOST
    assert many.elements == tuple(range(9))
    good = count(Rule.UNUSED_VERTICES, [True])
    assert good.finding is None
    assert findings([many, few, good]) == [few.finding, many.finding]
