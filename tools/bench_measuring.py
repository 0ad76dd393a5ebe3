"""How the bench measures: work and a peer in turns, and the memory that work takes."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Work = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """A line of the table. `noise` is a part of the ratio, None where it was measured once."""

    work: str
    against: str
    bound: float
    ratio: float
    note: str = ""
    noise: float | None = None


def compare(ours: Work, peer: Work, rounds: int, prepare: Work = lambda: None, least: float = 0.0) -> float:
    """The ratio of `rounds` runs each, taken in turns. `prepare` goes before each run, untimed; a run repeats the work
    until it takes `least` seconds."""
    times: tuple[list[float], list[float]] = ([], [])
    repeats = []
    for work in (ours, peer):
        if rounds > 1:  # the first run is slower
            prepare()
            repeats.append(max(1, int(least / seconds(work))))
        else:
            repeats.append(1)
    for _ in range(rounds):
        for work, count, taken in zip((ours, peer), repeats, times, strict=True):
            prepare()
            gc.collect()
            taken.append(seconds(lambda work=work, count=count: repeat(work, count)) / count)
    return ratio_of(*times)


def ratio_of(ours: list[float], peer: list[float]) -> float:
    """The median of the rounds' own ratios: what else the machine does slows both of a round, but seldom the fastest of
    each by as much."""
    return statistics.median(one / other for one, other in zip(ours, peer, strict=True))


def repeat(work: Work, count: int) -> None:
    for _ in range(count):
        work()


def seconds(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_memory(work: Callable[[], object]) -> tuple[int, object]:
    """Bytes that Python and numpy held at most while the work ran, beyond those before it, and its result."""
    gc.collect()
    tracemalloc.start()
    try:
        result = work()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Blender prints each report, some of them past Python."""
    sys.stdout.flush()
    saved = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        ctypes.CDLL("msvcrt" if os.name == "nt" else None).fflush(None)
        os.dup2(saved, 1)
        os.close(saved)


def quietly(operator: Callable[..., object], **options: object) -> None:
    with quiet():
        operator(**options)
