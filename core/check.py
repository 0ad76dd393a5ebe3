"""Every check of the format notes and of the measurements behind them, on hulls and on libraries.

A check counts: so many of so many. What is normal in the game's own files is INFO when it fails, what would be
a hole, a ghost wall or a crash in the game is an ERROR.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import mcol
from .binary import padding
from .chunk import DEFAULT_FLAGS, END_OF_ROW, Relocation
from .collision_set import CollisionSet, Part
from .errors import Finding, Severity
from .fill import layers_in_cells
from .geometry import corners, edge_census, flat, repeated
from .mcol import FREE, LIMIT, LISTED, ONE, SOLID, Hull, expand
from .overlap import overlaps
from .surfaces import facing_wrong, inconsistent, names, split

TIGHT = 0.99
"""A sphere is tight if its farthest corner lies at this part of the radius or beyond."""

NAMED_AT_MOST = 4
"""How many elements a message names before it says that there are more."""


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """How many of `total` things are as they should be.

    `name` says what is counted, `fault` what the others are. `elements` are the triangles, vertices, cells,
    surfaces or meshes, by `kind`, at which they are, and `labels` those elements' names if they have any.
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
            named = self.labels or tuple(f"{element:,}" for element in self.elements)
            more = ", …" if len(named) > NAMED_AT_MOST else ""
            message += f" ({self.kind} {', '.join(named[:NAMED_AT_MOST])}{more})"
        return Finding(self.severity, self.name, message, self.kind, self.elements)


def findings(checks: list[Check]) -> list[Finding]:
    """What the checks have to tell, the worst first."""
    order = (Severity.ERROR, Severity.WARNING, Severity.INFO)
    return sorted((f for f in (c.finding for c in checks) if f), key=lambda f: order.index(f.severity))


def _of(
    good: np.ndarray,
    name: str,
    fault: str,
    severity: Severity = Severity.INFO,
    kind: str = "",
    elements: np.ndarray | None = None,
    labels: list[str] | None = None,
) -> Check:
    """A check of one truth value an element. `elements` gives their numbers where these aren't 0, 1, 2, …"""
    good = np.asarray(good, bool)
    bad = np.flatnonzero(~good) if elements is None else np.unique(elements[~good])
    return Check(
        name,
        int(good.sum()),
        len(good),
        severity,
        fault,
        kind,
        tuple(bad.tolist()) if kind else (),
        tuple(labels[i] for i in bad) if labels else (),
    )


# --- hulls ----------------------------------------------------------------------------------------


def check_hull(hull: Hull) -> list[Check]:
    """Every check of a map hull, format notes section 3. A hull that was never in a file is checked as the
    file that it would become; raises `FormatError` if it can't be one."""
    if hull.carried is None:
        hull = mcol.decode(mcol.encode(hull))
    return [*_file_checks(hull), *_mesh_checks(hull), *_list_checks(hull), *_fill_checks(hull)]


def _file_checks(hull: Hull) -> list[Check]:
    carried = hull.carried
    header = carried.header
    corner_words = (header["minimum_w"], header["maximum_w"], header["extent_w"])
    # The same order as the header's, so that what is out of line shows.
    usual = ["spheres", "vertices", "triangles", "cells", "lists", "indices"]
    stored = [block.name for block in carried.blocks if block.size]
    lengths = {block.name: (block.size, len(block.spare)) for block in carried.blocks}
    padded = [lengths[name][1] == padding(lengths[name][0]) for name in ("vertices", "triangles", "spheres")]
    slots = len(mcol.HEADER_POINTERS) + len(hull.occupied) + len(hull.list_starts)
    spare = b"".join((carried.lead, *(block.spare for block in carried.blocks)))
    words, usual_words = _unknown_words(hull)
    return [
        Check("chunk shell, POF0 directly behind the payload", 1, 1, Severity.ERROR),
        Check("relocated words exactly those of the layout", slots, slots, Severity.ERROR),
        _of([corner_words == (ONE, ONE, 0)], "box pad words 1.0, 1.0, 0.0", "set of unusual pad words"),
        _of(
            [np.array_equal(header["extent"], header["maximum"] - header["minimum"])],
            "extent == max - min",
            "extent that isn't max - min",
        ),
        _of(padded, "array lengths align16(12 nv), align16(6 nt), 16 nt", "arrays with more or less behind them"),
        _of(
            [not carried.lead and stored == [name for name in usual if name in stored]],
            "spheres at 0x80, then vertices, triangles, cells, lists, indices",
            "unusual order of the arrays",
        ),
        _of(np.frombuffer(spare, np.uint8) == 0, "bytes between the arrays that are zero", "bytes of unknown meaning"),
        _of(words == usual_words, "unread words at their usual value", "words of unknown meaning"),
    ]


def _unknown_words(hull: Hull) -> tuple[np.ndarray, np.ndarray]:
    """Every word that the game doesn't read, and its usual value."""
    carried = hull.carried
    header, shell = carried.header, carried.shell
    usual_relocation = Relocation()
    relocation = (shell.relocation.flags, shell.relocation.unknown_0c)
    pairs = [
        ([shell.flags, shell.unknown_0c], [DEFAULT_FLAGS, 0]),
        (relocation, (usual_relocation.flags, usual_relocation.unknown_0c)),
        *((np.ravel(header[name]), 0) for name in ("unknown_4c", "unknown_60", "unknown_78")),
        (carried.cells["unknown_0c"], 0),
        (carried.list_words.ravel(), 0),
        ([shell.tail == END_OF_ROW], True),
    ]
    pairs = [(np.asarray(words, np.int64), value) for words, value in pairs]
    words = np.concatenate([words for words, _ in pairs])
    return words, np.concatenate([np.broadcast_to(value, words.shape) for words, value in pairs])


def _mesh_checks(hull: Hull) -> list[Check]:
    vertices, triangles = hull.vertices, hull.triangles
    edges, uses = edge_census(triangles)
    used = np.zeros(len(vertices), bool)
    used[triangles] = True
    ratio = _reach(hull.spheres, corners(vertices, triangles), np.arange(len(triangles)))
    return [
        Check(
            **_fields(
                _of(ratio <= 1, "spheres that enclose their triangle", "spheres too small", Severity.ERROR, "triangle")
            ),
            measured=ratio,
            unit="max|v-c| / r",
        ),
        _of(ratio >= TIGHT, "spheres tight within 1 %", "spheres larger than needed", kind="triangle"),
        _of(
            uses == 2,
            "edges shared by exactly two triangles",
            "edges that aren't shared by exactly two triangles",
            Severity.ERROR,
            "vertex",
            edges[:, :1] if len(edges) else None,
        )
        if False
        else _edge_check(edges, uses, Severity.ERROR),
    ]
