"""A fault of an edited mesh, and how it is told: named by its objects, refused or reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..errors import Finding, RefusedError, Severity
from ..text import some
from .assemble import Edit

Matched = tuple[np.ndarray, np.ndarray]
"""What `matches` tells of an edit and its source; all False where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """Something about an edited mesh: an ERROR is refused, a WARNING told, an INFO is for who asks.

    `elements` are the triangles or vertices meant, int64 (n,), or edges by their two vertices, int64 (n, 2),
    as `kind` says: "triangles", "vertices", "edges", or "" for none. Where they make up something larger that is
    at fault, `surfaces_or_cells` says how many.
    """

    severity: Severity
    check: str
    problem: str
    kind: str = ""
    elements: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    expected: object = None
    found: object = None
    remedy: str = ""
    surfaces_or_cells: int = 0

    @property
    def count(self) -> int:
        """How many there are of what the check is named for."""
        return self.surfaces_or_cells or max(len(self.elements), 1)

    @property
    def message(self) -> str:
        return f"{self.check}: {self.problem}"


def refuse(faults: Sequence[Fault]) -> list[Finding]:
    """Raises `RefusedError` for the first fault that is an ERROR, else returns those that are no INFO as findings."""
    for fault in faults:
        if fault.severity is Severity.ERROR:
            raise RefusedError(fault.message, expected=fault.expected, found=fault.found, remedy=fault.remedy)
    return [
        Finding(f.severity, f.check, f.problem, f.kind, tuple(map(int, f.elements.ravel())))
        for f in faults
        if f.severity is not Severity.INFO
    ]


def judge(edit: Edit, wrong: np.ndarray, inherited: np.ndarray, check: str, what: str, remedy: str) -> list[Fault]:
    """An ERROR for the triangles that the edit made wrong, a WARNING for those that the source has so."""
    faults = []
    new, kept = wrong & ~inherited, wrong & inherited
    if new.any():
        problem = f"{np.count_nonzero(new):,} triangles of {owners(edit, new)} {what}"
        faults.append(Fault(Severity.ERROR, check, problem, "triangles", np.flatnonzero(new), remedy=remedy))
    if kept.any():
        problem = kept_message(edit, np.count_nonzero(kept), kept)
        faults.append(Fault(Severity.WARNING, check, problem, "triangles", np.flatnonzero(kept)))
    return faults


def kept_message(edit: Edit, count: int, triangles: np.ndarray) -> str:
    """What to say of so many faults that the source has too."""
    return f"{count:,}, as in the source file, near {owners(edit, triangles)}"


def owners(edit: Edit, triangles: np.ndarray) -> str:
    """The names of the objects that these triangles, bool (nt,), are of."""
    names = [edit.names[owner] for owner in np.unique(edit.owners[triangles]) if owner >= 0]
    if not names:
        return "what was kept aside"
    return some([f"`{name}`" for name in names])
