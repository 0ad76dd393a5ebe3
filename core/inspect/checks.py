"""The result of a check: how many of how many follow a rule, and which ones break it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import Finding, Severity
from ..rules.counted import COUNTED
from ..rules.rule import Rule
from ..rules.severity import SEVERITIES, WORST_FIRST
from ..text import titled

NAMED_AT_MOST = 4
"""How many elements a message names before it says that there are more."""


class Where(NamedTuple):
    """What a check's values are about: a `kind` of elements, (n, …) the numbers of each one's elements where these
    aren't simply 0, 1, 2, …, and what an element is called."""

    kind: str
    elements: NDArray[np.integer] | None = None
    label: Callable[[int], str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """How many of `total` things follow a rule.

    `elements` are the triangles, vertices, cells, surfaces or parts, by `kind`, at which the others are, and `labels`
    the first ones' names if they have any. `note` is what else to say of them. `measured` float64 holds a quantity
    whose median is worth reporting; its meaning stands in `unit`.
    """

    rule: Rule
    good: int
    total: int
    severity: Severity
    kind: str = ""
    elements: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    note: str = ""
    measured: NDArray[np.float64] | None = field(default=None, kw_only=True)
    unit: str = field(default="", kw_only=True)

    @property
    def name(self) -> str:
        """What is counted."""
        return COUNTED[self.rule]

    @property
    def passed(self) -> bool:
        return self.good == self.total

    @property
    def finding(self) -> Finding | None:
        """What to report about those that break the rule; None if none do."""
        if self.passed:
            return None
        message = titled(self.rule, self.total - self.good) + self.note
        if self.elements:
            named = self.labels or tuple(f"{element:,}" for element in self.elements[:NAMED_AT_MOST])
            more = ", …" if len(self.elements) > len(named) else ""
            message += f" ({self.kind} {', '.join(named)}{more})"
        return Finding(self.severity, self.rule, message, self.kind, self.elements)


def findings(checks: list[Check]) -> list[Finding]:
    """What the checks have to report, the worst first."""
    return worst_first([f for f in (c.finding for c in checks) if f])


def worst_first(found: list[Finding]) -> list[Finding]:
    """Findings by severity, otherwise in their order."""
    return sorted(found, key=lambda finding: WORST_FIRST.index(finding.severity))


def used(vertices: NDArray[np.float32], triangles: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which vertices (nv, 3) a triangle (nt, 3) uses, bool (nv,)."""
    result = np.zeros(len(vertices), bool)
    result[triangles] = True
    return result


def count(rule: Rule, good: ArrayLike, where: Where | None = None, severity: Severity | None = None) -> Check:
    """A check from one truth value each. `severity` is the rule's own unless circumstances make it another."""
    good = np.asarray(good, bool)
    missed = np.flatnonzero(~good)
    severity = severity or SEVERITIES[rule]
    if where is None:
        return Check(rule, len(good) - len(missed), len(good), severity)
    bad = tuple((missed if where.elements is None else np.unique(where.elements[missed])).tolist())
    labels = tuple(map(where.label, bad[:NAMED_AT_MOST])) if where.label else ()
    return Check(rule, len(good) - len(missed), len(good), severity, where.kind, bad, labels)
