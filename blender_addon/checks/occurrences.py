"""The single occurrences of a problem: the groups of elements that touch each other, or whole objects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import bpy
import numpy as np

if TYPE_CHECKING:
    from . import problems

_reached: dict[tuple[int, str, str], int] = {}
"""Which occurrence was selected last, by root, check and severity."""


def of(scene: bpy.types.Scene, found: list[problems.Problem]) -> list[problems.Problem]:
    """A problem for each occurrence, by object name. An element of another object or kind is another occurrence."""
    from . import problems

    objects = problems.by_session_uid(scene)
    single: list[tuple[str, problems.Problem]] = []
    for problem in found:
        for uid, numbers in problem.elements.items():
            for group in _groups(objects[uid], problem.kind, numbers):
                alone = replace(problem, count=1, elements={uid: group}, objects=())
                single.append((objects[uid].name, alone))
        if not problem.elements and not problem.kind:
            for uid in problem.objects:
                single.append((problems.name_of(uid), replace(problem, count=1, objects=(uid,))))
    return [problem for _, problem in sorted(single, key=lambda item: item[0])]


def step(key: tuple[int, str, str], count: int, by: int) -> int:
    """The number of the occurrence that comes next, 0 to `count` - 1, or before for `by` -1, around the ends."""
    last = _reached.get(key, -1 if by > 0 else 0)
    _reached[key] = (last + by) % count
    return _reached[key]


def start_again(key: tuple[int, str, str]) -> None:
    """The next occurrence is the first one."""
    _reached.pop(key, None)


def forget(*_: object) -> None:
    """Starts again everywhere."""
    _reached.clear()


def _groups(obj: bpy.types.Object, kind: str, numbers: np.ndarray) -> list[np.ndarray]:
    """Elements of an object's mesh, int64, in groups that share vertices."""
    from ...core.geometry.arrays import components

    numbers = np.asarray(numbers, np.int64)
    if kind not in ("EDGE", "FACE") or obj.mode == "EDIT":
        return [numbers[place : place + 1] for place in range(len(numbers))]
    mesh = obj.data
    if kind == "EDGE":
        ends = np.empty(2 * len(mesh.edges), np.int32)
        mesh.edges.foreach_get("vertices", ends)
        corners = ends.reshape(-1, 2)[numbers].astype(np.int64)
        owners, vertices = np.repeat(np.arange(len(numbers)), 2), corners.ravel()
    else:
        starts, sizes = (np.empty(len(mesh.polygons), np.int32) for _ in range(2))
        mesh.polygons.foreach_get("loop_start", starts)
        mesh.polygons.foreach_get("loop_total", sizes)
        loops = np.empty(len(mesh.loops), np.int32)
        mesh.loops.foreach_get("vertex_index", loops)
        counts = sizes[numbers].astype(np.int64)
        owners = np.repeat(np.arange(len(numbers)), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        vertices = loops[np.repeat(starts[numbers].astype(np.int64), counts) + within].astype(np.int64)
    known, places = np.unique(vertices, return_inverse=True)
    label = components(len(numbers) + len(known), owners, len(numbers) + places.reshape(-1))[: len(numbers)]
    order = np.argsort(label, kind="stable")
    return np.split(numbers[order], np.flatnonzero(np.diff(label[order])) + 1)
