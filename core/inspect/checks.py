"""The result of a check: so many of so many are as they should be, and which ones are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..errors import Finding, Severity

NAMED_AT_MOST = 4
"""How many elements a message names before it says that there are more."""

WORST_FIRST = (Severity.ERROR, Severity.WARNING, Severity.INFO)


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """How many of `total` things are as they should be.

    `name` says what is counted, `fault` what the others are. `elements` are the triangles, vertices, cells,
    surfaces or meshes, by `kind`, at which they are, and `labels` the first ones' names if they have any.
    `measured` float64 holds a quantity whose median is worth telling; its meaning stands in `unit`.
    """

    name: str
    good: int
    total: int
    severity: Severity = Severity.INFO
    fault: str = ""
    kind: str = ""
    elements: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    measured: np.ndarray | None = None
    unit: str = ""

    @property
    def passed(self) -> bool:
        return self.good == self.total

    @property
    def finding(self) -> Finding | None:
        """What to tell about the ones that are not as they should be; None if all are."""
        if self.passed:
            return None
        message = f"{self.total - self.good:,} {self.fault}"
        if self.elements:
            named = self.labels or tuple(f"{element:,}" for element in self.elements[:NAMED_AT_MOST])
            more = ", …" if len(self.elements) > len(named) else ""
            message += f" ({self.kind} {', '.join(named)}{more})"
        return Finding(self.severity, self.name, message, self.kind, self.elements)


def findings(checks: list[Check]) -> list[Finding]:
    """What the checks have to tell, the worst first."""
    return worst_first([f for f in (c.finding for c in checks) if f])


def worst_first(found: list[Finding]) -> list[Finding]:
    """Findings by severity, otherwise in their order."""
    return sorted(found, key=lambda finding: WORST_FIRST.index(finding.severity))


def worst(severities: Iterable[Severity]) -> Severity:
    """The worst of some severities, INFO without any."""
    return min(severities, key=WORST_FIRST.index, default=Severity.INFO)


def count(
    good: np.ndarray | list[bool],
    name: str,
    fault: str,
    severity: Severity = Severity.INFO,
    kind: str = "",
    elements: np.ndarray | None = None,
    label: Callable[[int], str] | None = None,
) -> Check:
    """A check from one truth value each. `elements` (n, …) says which elements each of them is about where
    these aren't simply 0, 1, 2, …, and `label` what an element is called."""
    good = np.asarray(good, bool)
    missed = np.flatnonzero(~good)
    bad = () if not kind else tuple(missed.tolist() if elements is None else np.unique(elements[missed]).tolist())
    labels = tuple(map(label, bad[:NAMED_AT_MOST])) if label else ()
    return Check(name, len(good) - len(missed), len(good), severity, fault, kind, bad, labels)
