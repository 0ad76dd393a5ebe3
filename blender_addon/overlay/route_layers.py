"""What the overlay shows of the way that a computer-flown ship takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.runtime.route import Route
from .shapes import Color, Layer, circles, drawn

BEFORE: Color = (1.0, 0.6, 0.1, 0.9)
AFTER: Color = (0.2, 0.95, 0.45, 1.0)
REFUSED: Color = (1.0, 0.1, 0.15, 1.0)
ENDS: Color = (1.0, 1.0, 1.0, 1.0)

MARK = 1 / 100
"""How large the ends are drawn at least, as a part of their distance."""


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """The way from `start` to `goal`, float64 (3,), of a ship of a radius, in game units: before the edit through hull
    and volume of the source, and after it."""

    start: np.ndarray
    goal: np.ndarray
    radius: float
    before: Route
    after: Route

    def refused_steps(self) -> list[np.ndarray | None]:
        """The step, float64 (2, 3), at which the search ends, before and after the edit; None where it is no step."""
        return [way.refused.step if way.refused else None for way in (self.before, self.after)]


def route_layers(ways: Ways) -> list[Layer]:
    """Both ways, their ends, and the steps that are refused."""
    size = max(ways.radius, MARK * float(np.linalg.norm(ways.goal - ways.start)))
    ends = np.array([(*ways.start, size), (*ways.goal, size)])
    steps = [step for step in ways.refused_steps() if step is not None]
    return drawn(
        Layer("LINES", _legs(ways.before.points), BEFORE, 5.0, in_front=True),
        Layer("LINES", _legs(ways.after.points), AFTER, 2.5, in_front=True),
        Layer("LINES", np.array(steps, np.float32).reshape(-1, 3), REFUSED, 5.0, in_front=True),
        Layer("LINES", circles(ends), ENDS, 1.5, in_front=True),
    )


def _legs(points: np.ndarray) -> np.ndarray:
    """Both ends of each leg of a way, float32 (n, 3)."""
    return np.repeat(points, 2, axis=0)[1:-1].astype(np.float32)
