"""Surfaces: volumes and names of those that have next to none."""

from __future__ import annotations

import numpy as np
import pytest

from core.geometry import surfaces
from tests.support.hulls import box

PLATE = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])
"""Four corners in a plane, its two sides cut along different diagonals: closed, and nothing within."""


def plates(count: int) -> list[np.ndarray]:
    """Corners in planes that lie any way, exactly there, with more digits than a float64 keeps of their products."""
    numbers = np.random.default_rng(5)
    sides = numbers.integers(-2_000_000, 2_000_000, (count, 2, 3))
    starts = numbers.integers(-2_000_000, 2_000_000, (count, 3))
    return [np.float32([o, o + u, o + u + v, o + v]) for o, (u, v) in zip(starts, sides, strict=True)]


@pytest.mark.parametrize("triangles", [PLATE, PLATE[:, [0, 2, 1]]], ids=["as it is", "turned"])
@pytest.mark.parametrize("unit", [1, 1 / 128])
def test_a_plate_without_volume_faces_both_ways(triangles: np.ndarray, unit: float) -> None:
    """Rounding must not make a wall of it, which would be refused."""
    for corners in plates(400):
        corners *= np.float32(unit)
        surface = surfaces.split(triangles)
        assert surfaces.volumes(corners, triangles, surface).tolist() == [0.0]
        assert surfaces.names(corners, triangles, surface) == ["asteroid_01"]
        assert surfaces.facing(corners, triangles, surface, False).tolist() == [surfaces.Facing.RIGHT]


@pytest.mark.parametrize("thickness", [1e-3, 0.5])
def test_a_thin_box_far_away_keeps_its_volume(thickness: float) -> None:
    vertices, triangles = box((-1000, -1000, 0), (1000, 1000, thickness))
    found = surfaces.volumes(vertices, triangles, np.zeros(len(triangles), np.int64))
    assert found == pytest.approx([4e6 * np.float64(np.float32(thickness))])
    inward = surfaces.volumes(vertices + np.float32([1e5, 1e5, 0]), triangles[:, ::-1], np.zeros(12, np.int64))
    assert inward == pytest.approx([-4e6 * np.float64(np.float32(thickness))])
