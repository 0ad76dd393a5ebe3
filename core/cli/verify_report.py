"""What `python -m core verify` prints: a line per file, the totals, or one JSON document."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ..errors import Severity
from ..inspect import describe
from ..inspect.checks import Check
from ..text import plural
from .verify import COUNTED, Verified


def is_worth_a_line(result: Verified) -> bool:
    """Whether a result is reported by itself. An archive may hold thousands of entries: those in which nothing was
    found and nothing was left out are in the totals only."""
    return (
        not result.entry
        or bool(result.note)
        or any(finding.severity is not Severity.INFO for finding in result.findings)
    )


def verdict(result: Verified) -> str:
    """One line: OK or FAIL, the file, and what is wrong with it."""
    if result.error:
        return f"FAIL {result.error}"
    faults = [f"{f.severity.value}: {f.message}" for f in result.findings if f.severity is not Severity.INFO]
    note = f" ({result.note})" if result.note else ""
    return f"{'OK  ' if result.passed else 'FAIL'} {result.name}: {'; '.join(faults) or result.kind}{note}"


def total_lines(results: list[Verified]) -> Iterator[str]:
    """For each kind of file an empty line, how many there are, and a line for each check."""
    for kind, count, rows in totals(results):
        yield ""
        yield plural(count, kind)
        width = max((len(row.name) for row in rows), default=0)  # none if no file of this kind could be read
        for row in rows:
            mark = f"   {row.missed.value}" if row.missed else ""
            median = f"   median {row.unit} {row.median:.5f}" if row.median is not None else ""
            yield f"{row.name:{width}} {row.good:>11,} / {row.total:<9,} {_percent(row):>9}{median}{mark}"


def _percent(row: describe.Total) -> str:
    if not row.total:
        return "-"
    # Never rounded up to a hundred: one hole in a million is a hole.
    return f"{int(10000 * row.good / row.total) / 100:.2f} %" if row.good < row.total else "100.00 %"


def totals(results: list[Verified]) -> list[tuple[str, int, list[describe.Total]]]:
    """For each kind how many there are, and the checks added up."""
    by_kind: dict[str, list[list[Check]]] = {}
    for result in results:
        if result.kind:
            by_kind.setdefault(result.kind, []).append(result.checks)
    return [(kind, len(checks), describe.totals(checks)) for kind, checks in by_kind.items()]


def document(results: list[Verified]) -> dict:
    """The results and totals, ready for JSON."""
    return {
        "passed": all(result.passed for result in results),
        "files": [
            {
                "file": result.file,
                "entry": result.entry or None,
                "kind": result.kind or None,
                "passed": result.passed,
                "error": result.error or None,
                "note": result.note or None,
                "checks": [
                    {"name": c.name, "good": c.good, "total": c.total, "severity": c.severity.value}
                    for c in result.checks
                ],
                "findings": _finding_rows(result),
            }
            for result in results
        ],
        "totals": [
            {"kind": kind, **dataclasses.asdict(row), "missed": row.missed.value if row.missed else None}
            for kind, _, rows in totals(results)
            for row in rows
        ],
    }


def _finding_rows(result: Verified) -> list[dict]:
    """Findings, ready for JSON. What was counted is named by what it counts, as in the checks."""
    names = {} if result.kind in COUNTED else {check.rule: check.name for check in result.checks}
    return [finding.row() | {"check": names.get(finding.check, finding.check.value)} for finding in result.findings]
