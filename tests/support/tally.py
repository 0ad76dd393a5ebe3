"""Figures that a test run shows at its end: for each promise how many cases were tried, and how many broke it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class Figure:
    """Cases tried, the refusals among them that an edit or a file deserved, and faults found."""

    tried: int = 0
    refused: int = 0
    faults: int = 0


FIGURES: dict[str, Figure] = {}


@contextmanager
def cases(promise: str, count: int = 1) -> Iterator[Figure]:
    """Counts the cases that the block tries, and a fault if it raises."""
    figure = FIGURES.setdefault(promise, Figure())
    figure.tried += count
    try:
        yield figure
    except Exception:
        figure.faults += 1
        raise


def table() -> list[str]:
    """A line a promise and one that adds them up; nothing if none was tried."""
    if not FIGURES:
        return []
    rows = [(name, figure.tried, figure.refused, figure.faults) for name, figure in FIGURES.items()]
    rows.append(("all", *(sum(row[i] for row in rows) for i in (1, 2, 3))))
    width = max(len(name) for name, *_ in rows)
    return [
        f"{'':{width}} {'tried':>9} {'refused':>9} {'faults':>7}",
        *(f"{name:{width}} {tried:9,} {refused or '-':>9} {faults:7,}" for name, tried, refused, faults in rows),
    ]
