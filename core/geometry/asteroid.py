"""A made-up asteroid: closed, outward, the same for the same numbers on every machine."""

from __future__ import annotations

import numpy as np

from .solids import ball

FEWEST_TRIANGLES = 8
MOST_TRIANGLES = 20_000
"""A third of what a whole hull may have."""

STEPS = 1 << 20
"""Coordinates are whole multiples of this part of the size: the last bits of sines differ between machines."""

DEEPEST = 0.75
"""How far a valley may reach toward the centre, as a part of the radius, at roughness 1."""


def make_asteroid(seed: int, size: float, roughness: float, triangles: int) -> tuple[np.ndarray, np.ndarray]:
    """An asteroid around the origin: vertices float32 (n, 3) in game units, triangles int64 (m, 3).

    Its farthest vertex lies at half of `size`. `roughness` runs from 0, a ball, to 1; `triangles` is the most
    that it may have, of which one is left over if the number is odd.

    Every triangle is seen from the centre from its back, so each line from there leaves the rock once: the
    surface doesn't intersect itself.
    """
    numbers = np.random.default_rng(seed)
    budget = min(max(triangles, FEWEST_TRIANGLES), MOST_TRIANGLES)
    directions, corners = ball(budget // 2 + 2)
    # Turned, so that the poles of the rings lie elsewhere for each seed.
    directions = _scattered(directions @ _rotation(numbers).T, corners, roughness, numbers)
    heights = _heights(directions, numbers)
    lowest, highest = heights.min(), heights.max()
    depth = (highest - heights) / max(highest - lowest, 1e-9)
    vertices = directions * (1 - DEEPEST * roughness * depth)[:, None]
    return (np.round(vertices / 2 * STEPS) * (size / STEPS)).astype(np.float32), corners


def _scattered(
    directions: np.ndarray, corners: np.ndarray, roughness: float, numbers: np.random.Generator
) -> np.ndarray:
    """Directions moved aside at random, as far as no triangle turns over and none gets very thin."""
    aside = numbers.normal(size=directions.shape)
    smallest = 0.2 * _sides(directions, corners).min()
    reach = roughness * np.sqrt(4 / len(directions))
    for _ in range(8):
        moved = directions + reach * aside
        moved /= np.linalg.norm(moved, axis=1)[:, None]
        if _sides(moved, corners).min() > smallest:
            return moved
        reach /= 2
    return directions


def _sides(directions: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Six times the volume between each triangle and the centre, positive where it shows the centre its back."""
    a, b, c = np.moveaxis(directions[corners], 1, 0)
    return np.einsum("ni,ni->n", a, np.cross(b, c))


def _heights(directions: np.ndarray, numbers: np.random.Generator) -> np.ndarray:
    """Hills and valleys over the directions: waves that double in frequency and halve in height."""
    total = np.zeros(len(directions))
    for octave in range(5):
        waves = numbers.normal(size=(5, 3)) * 1.5 * 2**octave
        phases = numbers.uniform(0, 2 * np.pi, 5)
        total += np.cos(directions @ waves.T + phases).mean(axis=1) / 2**octave
    return total


def _rotation(numbers: np.random.Generator) -> np.ndarray:
    """A random rotation (3, 3), from a random unit quaternion."""
    w, x, y, z = _unit(numbers.normal(size=4))
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)
