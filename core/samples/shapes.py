"""Shapes of stand-in meshes: lumpy rocks of an exact number of vertices."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from ..geometry.solids import ball


def rock(size: int, numbers: np.random.Generator, rim: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A lumpy ball of exactly `size` vertices, or a bowl, within a distance of 1 from its centre; see `ball`."""
    directions, triangles = ball(size, rim)
    return directions * _lumps(directions, numbers)[:, None], triangles


def _lumps(directions: np.ndarray, numbers: np.random.Generator) -> np.ndarray:
    """Distances from the centre, 0.6 to 1, that vary smoothly over the directions."""
    waves = numbers.normal(size=(6, 3)) * 2
    phases = numbers.uniform(0, 2 * np.pi, 6)
    return 0.8 + 0.2 * np.cos(directions @ waves.T + phases).mean(axis=1)


def random_numbers(seed: int, name: str) -> np.random.Generator:
    """Random numbers that depend on nothing but the seed and the name."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def rounded(vertices: NDArray[np.floating]) -> np.ndarray:
    """Two decimals: the last bits of sines differ between machines."""
    return np.round(vertices, 2).astype(np.float32)


def joined(meshes: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    return (
        np.concatenate([vertices for vertices, _ in meshes]),
        np.concatenate([triangles + offset for (_, triangles), offset in zip(meshes, offsets, strict=False)]),
    )
