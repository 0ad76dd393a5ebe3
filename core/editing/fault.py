"""A fault of an edited mesh, which is refused or reported with the names of its pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import Finding, RefusedError, Severity
from ..rules.remedies import REMEDIES
from ..rules.rule import Rule
from ..text import quoted, some, titled
from .pieces import Edit


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """What breaks a rule in an edited mesh: an ERROR is refused, a WARNING reported, an INFO is for who asks.

    `elements` are the triangles or vertices meant, int64 (n,), or edges by their two vertices, int64 (n, 2),
    as `kind` says: "triangles", "vertices", "edges", or "" for none. Where they make up something larger that is
    at fault, `surfaces_or_cells` says how many. `remedy` is for this fault alone; the rule's own follows from `check`.
    """

    severity: Severity
    check: Rule
    problem: str
    kind: str = ""
    elements: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    expected: object = field(default=None, kw_only=True)
    found: object = field(default=None, kw_only=True)
    remedy: str = field(default="", kw_only=True)
    surfaces_or_cells: int = field(default=0, kw_only=True)

    @property
    def count(self) -> int:
        """How many there are of what the rule is about."""
        return self.surfaces_or_cells or max(len(self.elements), 1)

    def error(self) -> RefusedError:
        """The fault as what is raised, with the remedy at the command line."""
        return RefusedError(
            self.problem,
            expected=self.expected,
            found=self.found,
            remedy=self.remedy or REMEDIES.get(self.check, ""),
            rule=self.check,
        )


def refuse(faults: Sequence[Fault]) -> list[Finding]:
    """Raises `RefusedError` for the first fault that is an ERROR, else returns those that are no INFO as findings."""
    for fault in faults:
        if fault.severity is Severity.ERROR:
            raise replace(fault.error(), problem=f"{fault.check}: {fault.problem}")
    return [
        Finding(f.severity, f.check, f.problem, f.kind, tuple(map(int, f.elements.ravel())))
        for f in faults
        if f.severity is not Severity.INFO
    ]


def judge(
    edit: Edit, rule: Rule, wrong: NDArray[np.bool_], inherited: NDArray[np.bool_], remedy: str = ""
) -> list[Fault]:
    """An ERROR for the triangles that the edit made wrong, bool (nt,), a WARNING for those that the source has so."""
    faults = []
    new, kept = wrong & ~inherited, wrong & inherited
    if new.any():
        problem = f"{titled(rule, np.count_nonzero(new))} in {owners(edit, new)}"
        faults.append(Fault(Severity.ERROR, rule, problem, "triangles", np.flatnonzero(new), remedy=remedy))
    if kept.any():
        problem = kept_message(edit, rule, np.count_nonzero(kept), kept)
        faults.append(Fault(Severity.WARNING, rule, problem, "triangles", np.flatnonzero(kept)))
    return faults


def kept_message(edit: Edit, rule: Rule, count: int, triangles: NDArray[np.bool_]) -> str:
    """What to say of so many faults that the source has too."""
    return f"{titled(rule, count)} in {owners(edit, triangles)}, as in the source file"


def owners(edit: Edit, triangles: NDArray[np.bool_]) -> str:
    """The names of the pieces that these triangles, bool (nt,), are of."""
    names = [edit.names[owner] for owner in np.unique(edit.owners[triangles]) if owner >= 0]
    return some([quoted(name) for name in names]) if names else "excluded triangles"
