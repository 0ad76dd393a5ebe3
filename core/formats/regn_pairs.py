"""Which two faces of a tetrahedron each of its six pairs of cost with clearance is for.

The table of the game that says so wasn't read (format notes, section 5), so the file itself is asked: in the right
order, costs are the distances between the faces' centres, and clearances the distances to rock, or both a fixed part of
them. Where neither decides,
any pair may be any two faces, and whoever uses pairs takes the lowest clearance and the highest cost of those in
question.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

PAIRS = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
"""The faces of a tetrahedron that each of its six pairs joins, in the order that this package writes."""

ORDERS = np.array(list(permutations(range(len(PAIRS)))))
"""Every order of the pairs: for each place in the file the number of its pair."""

MOSTLY = 0.9
"""At each place this part of the stored values must be the computed ones."""

CLOSE = 1e-3
"""How far off a stored value may be, as a part of the computed one."""

ROUNDING = 1e-6
"""The same as a part of the largest computed value."""

TIE = 0.01
"""Orders whose shares of right values differ by less than this are equally good."""


@dataclass(frozen=True, slots=True, eq=False)
class PairOrder:
    """Which pair of faces each of the six places in a tetrahedron may be for.

    may     bool (6, 6): by place in the file, and by pair in the order of `PAIRS`
    reason  what decided: `costs`, `clearances`, both, or why nothing did
    asked   whether the rock was asked, by the clearances
    """

    may: np.ndarray
    reason: str
    asked: bool = False

    @property
    def known(self) -> bool:
        """Whether each place is for one pair."""
        return bool((self.may.sum(axis=1) == 1).all())

    @property
    def text(self) -> str:
        """The faces of each place in the file, `01 02 03 12 13 23`; `01/23` where two may be meant, `?` where any."""
        names = ["".join(map(str, pair)) for pair in PAIRS.tolist()]
        rows = [[name for name, possible in zip(names, row, strict=True) if possible] for row in self.may.tolist()]
        return " ".join("?" if len(row) == len(PAIRS) else "/".join(row) for row in rows)

    def lowest(self, stored: np.ndarray) -> np.ndarray:
        """For each pair (n, 6) the lowest of the stored values (n, 6) that may be its own, float64."""
        return self._over_places(stored, np.inf).min(axis=1)

    def highest(self, stored: np.ndarray) -> np.ndarray:
        """For each pair (n, 6) the highest of the stored values (n, 6) that may be its own, float64."""
        return self._over_places(stored, -np.inf).max(axis=1)

    def lowest_at(self, computed: np.ndarray) -> np.ndarray:
        """For each place (n, 6) the lowest of the pairs' values (n, 6) that it may be for, float64."""
        if self.known:
            return computed.astype(np.float64)[:, self.may.argmax(axis=1)]
        return np.where(self.may, computed[:, None, :], np.inf).min(axis=2)

    def _over_places(self, stored: np.ndarray, other: float) -> np.ndarray:
        """Values by tetrahedron, place and pair; `other` where the place isn't for the pair."""
        if self.known:
            return stored.astype(np.float64)[:, None, self.may.argmax(axis=0)]
        return np.where(self.may, stored.astype(np.float64)[:, :, None], other)


WRITTEN = PairOrder(np.eye(len(PAIRS), dtype=bool), "written here", True)
"""The order in which this package writes pairs."""

Measured = tuple[np.ndarray, np.ndarray]
"""Stored values by place in the file, and computed values by pair, (n, 6) each."""


def find_order(costs: Measured, clearances: Measured | None = None) -> PairOrder:
    """The order of the pairs: costs beside the distances between the faces' centres, and clearances beside those to
    rock, of the same tetrahedra or of others."""
    candidates = {"costs": _orders_of(*costs)}
    if clearances is not None:
        candidates["clearances"] = _orders_of(*clearances)
    asked = clearances is not None
    said = {name: orders for name, orders in candidates.items() if orders.any()}
    everything = np.ones((len(PAIRS), len(PAIRS)), bool)
    if not said:
        return PairOrder(everything, f"{' and '.join(candidates)} aren't distances in any order", asked)
    possible = np.logical_and.reduce(list(said.values()))
    if not possible.any():
        return PairOrder(everything, "costs and clearances say different orders", asked)
    may = np.zeros_like(everything)
    places = np.broadcast_to(np.arange(len(PAIRS)), ORDERS.shape)
    may[places[possible], ORDERS[possible]] = True
    return PairOrder(may, " and ".join(said), asked)


def _orders_of(stored: np.ndarray, computed: np.ndarray) -> np.ndarray:
    """Which of the `ORDERS` make stored values the computed ones, bool (720,); none where the values say nothing."""
    stored, computed = stored.astype(np.float64), computed.astype(np.float64)
    real = np.isfinite(stored).all(axis=1) & np.isfinite(computed).all(axis=1)
    stored, computed = stored[real], computed[real]
    whole = computed.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = float(np.median((stored.sum(axis=1) / whole)[whole > 0])) if (whole > 0).any() else 0.0
    if not 0 < factor < np.inf:
        return np.zeros(len(ORDERS), bool)
    computed = factor * computed  # the sum of six values is the same in any order
    near = CLOSE * computed + ROUNDING * np.abs(computed).max()
    fits = (np.abs(stored[:, :, None] - computed[:, None, :]) <= near[:, None, :]).mean(axis=0)
    shares = fits[np.arange(len(PAIRS)), ORDERS]
    good = shares.min(axis=1) >= MOSTLY
    total = np.where(good, shares.sum(axis=1), 0.0)
    return good & (total >= total.max() - TIE)
