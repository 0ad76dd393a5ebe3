"""What changed between two meshes, in words, and which of their parts correspond."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Protocol

import numpy as np

from ..geometry.arrays import place_keys, ranks, same_places


class Mesh(Protocol):
    """`vertices` float32 (nv, 3) and `triangles`, unsigned or signed integers (nt, 3)."""

    @property
    def vertices(self) -> np.ndarray: ...
    @property
    def triangles(self) -> np.ndarray: ...


def diff_meshes(a: Mesh, b: Mesh) -> list[str]:
    """What changed between two meshes, in words."""
    if np.array_equal(a.triangles, b.triangles) and len(a.vertices) == len(b.vertices):
        moved = ~same_places(a.vertices, b.vertices)
        texts = [_movement(a.vertices[moved], b.vertices[moved], len(moved))] if moved.any() else []
        signs = np.count_nonzero(different(a.vertices, b.vertices) & ~moved)
        return [*texts, f"{signs:,} vertices with another sign of a zero coordinate"] if signs else texts
    key_a, key_b = corner_keys(a, b)
    same_a, same_b = common(key_a, key_b)
    rest_a = np.delete(np.arange(len(key_a)), same_a)
    rest_b = np.delete(np.arange(len(key_b)), same_b)
    back_a, back_b = corner_keys(a, b, reverse_first=True)
    turned = len(common(back_a[rest_a], back_b[rest_b])[0])
    texts = [
        f"{number:,} triangles {word}"
        for number, word in (
            (len(rest_b) - turned, "added"),
            (len(rest_a) - turned, "removed"),
            (turned, "turned around"),
        )
        if number
    ]
    if len(a.vertices) != len(b.vertices):
        texts.append(f"vertices {len(a.vertices):,} -> {len(b.vertices):,}")
    return [", ".join(texts)] if texts else ["the same triangles, numbered in another order"]


def _movement(before: np.ndarray, after: np.ndarray, of: int) -> str:
    """How vertices moved: by what, if all by the same as far as float32 can tell."""
    who = f"{len(before):,} vertices" if len(before) == of else f"{len(before):,} of {of:,} vertices"
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        return f"{who} moved, some of them from or to coordinates that aren't numbers"
    reach = max(np.abs(before).max(), np.abs(after).max(), np.finfo(np.float32).tiny)
    step = after.astype(np.float64) - before
    middle = np.median(step, axis=0)
    finest = float(reach) * 2.0**-23
    # No more decimals than float32 has at this distance from the origin.
    move = np.round(middle, int(np.floor(-np.log10(finest)))) + 0.0
    if move.any() and np.abs(step - middle).max() <= 2 * finest:
        return f"{who} moved by {vector(move)}"
    return f"{who} moved, by up to {np.sqrt((step * step).sum(axis=1)).max():.6g}"


def corner_keys(a: Mesh, b: Mesh, *, reverse_first: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """A number for each triangle of both that is equal where the corners' places and the way around are."""
    place = np.unique(place_keys(np.concatenate((a.vertices, b.vertices))), return_inverse=True)[1].reshape(-1)
    corners = np.concatenate(
        (place[a.triangles.astype(np.int64)], place[len(a.vertices) + b.triangles.astype(np.int64)])
    )
    if reverse_first:
        corners[: len(a.triangles)] = corners[: len(a.triangles), ::-1]
    turn = corners.argmin(axis=1)
    corners = np.take_along_axis(corners, (turn[:, None] + np.arange(3)) % 3, axis=1)
    key = np.unique(corners, axis=0, return_inverse=True)[1].reshape(-1)
    return key[: len(a.triangles)], key[len(a.triangles) :]


def pair(a: list, b: list, keys: Iterable[Callable]) -> tuple[list[tuple], list, list]:
    """Pairs things that agree in the first key, of the others those that agree in the second, and so on.

    The pairs in the order of `a`, and what of each is left over.
    """
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for key in keys:
        waiting: dict[Hashable, list[int]] = {}
        for place in reversed([place for place in range(len(b)) if place not in taken]):
            waiting.setdefault(key(b[place]), []).append(place)
        for place, item in enumerate(a):
            if place not in pairs and waiting.get(key(item)):
                pairs[place] = waiting[key(item)].pop()
                taken.add(pairs[place])
    return (
        [(a[place], b[pairs[place]]) for place in sorted(pairs)],
        [item for place, item in enumerate(a) if place not in pairs],
        [item for place, item in enumerate(b) if place not in taken],
    )


def common(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places in `a` and in `b` that hold equal numbers, the first with the first, the second with the second."""
    span = max(len(a), len(b)) + 1
    _, in_a, in_b = np.intersect1d(a * span + ranks(a), b * span + ranks(b), assume_unique=True, return_indices=True)
    return in_a, in_b


def vector(values: Iterable[float]) -> str:
    return f"({', '.join(f'{value:.9g}' for value in values)})"


def different(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which rows of two float32 arrays differ in any bit, bool (n,)."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return (a.view(np.uint32) != b.view(np.uint32)).any(axis=1)
