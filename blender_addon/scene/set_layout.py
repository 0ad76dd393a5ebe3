"""Where the parts of a collision set are shown: in rows by family, or as in the file, all about one point.

In rows, each part stands on a shelf of its own between the root and itself. The shelf only shows: what is exported is
the part's own transform, so a part that nobody moved is unedited, and one that was moved is moved by as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ...core.formats.collision_set import Part
from . import custom_properties, object_names

ROWS, FILE = "ROWS", "FILE"
GAP = 0.2
"""Room between two parts, as a part of the size of a usual one."""
WIDER = 1.5
"""How much wider than deep the rows are together, about."""


def lay_out(root: bpy.types.Object, parts: Sequence[Part], layout: str) -> None:
    """Shows the parts of a set, all those of its file, in rows or as in the file. A part that was moved stays moved."""
    root[custom_properties.PARTS_LAYOUT] = layout
    shown = [
        (obj, record)
        for obj in root.children
        if isinstance(record := obj.get(custom_properties.RECORD), int) and 0 <= record < len(parts)
    ]
    numbers = sorted({record for _, record in shown})
    shelves: dict[int, np.ndarray] = {}
    if layout == ROWS and numbers:
        families = [object_names.part_groups(parts[number].name) for number in numbers]
        rows = row_shelves(*_boxes([parts[number].vertices for number in numbers]), families, _up(root)) + _start(root)
        shelves = dict(zip(numbers, rows.astype(np.float32), strict=True))
    for obj, record in shown:
        custom_properties.set_shelf(obj, shelves.get(record))


def start_beside(root: bpy.types.Object, low: np.ndarray, high: np.ndarray) -> None:
    """Has the rows of a set begin beside a box of the file's space, (3,) and (3,), instead of at its origin."""
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    root[custom_properties.PARTS_START] = [float(high[0] + GAP * (high[0] - low[0])), float(low[1]), float(low[2])]


def _start(root: bpy.types.Object) -> np.ndarray:
    values: Any = root.get(custom_properties.PARTS_START)
    numbers = values.to_list() if hasattr(values, "to_list") else []
    return np.array(numbers) if len(numbers) == 3 else np.zeros(3)


def row_shelves(low: np.ndarray, high: np.ndarray, families: list[tuple[str, ...]], up: int) -> np.ndarray:
    """The shelf of each part, float32 (n, 3), for boxes from `low` to `high`, (n, 3), in the file's space. A family
    starts a row of its own and goes on in the next where the row is full. All stand on one level, `up` is the axis."""
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    size = high - low
    across, away = (axis for axis in range(3) if axis != up)
    gap = GAP * float(np.median(size[:, [across, away]].max(axis=1)))
    widest = np.sqrt(WIDER * ((size[:, across] + gap) * (size[:, away] + gap)).sum())
    shelves = np.empty_like(low)
    shelves[:, up] = -low[:, up]
    place = depth = row = 0.0
    last: tuple[str, ...] | None = None
    for number in sorted(range(len(families)), key=lambda number: (families[number], number)):
        full = place > 0 and place + size[number, across] > widest
        if last is not None and (families[number][:1] != last or full):
            row, place, depth = row + depth + gap, 0.0, 0.0
        shelves[number, across] = place - low[number, across]
        shelves[number, away] = row - low[number, away]
        place += size[number, across] + gap
        depth, last = max(depth, size[number, away]), families[number][:1]
    return shelves.astype(np.float32)


def _boxes(shapes: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The corners of the box around each of some vertices, float64 (n, 3) each; of none, and of coordinates that are no
    numbers, at the origin."""
    corners = np.zeros((len(shapes), 2, 3))
    filled = [number for number, shape in enumerate(shapes) if len(shape)]
    if filled:
        vertices = np.concatenate([shapes[number] for number in filled])
        vertices[~np.isfinite(vertices)] = np.nan
        starts = np.cumsum([0, *(len(shapes[number]) for number in filled[:-1])])
        corners[filled, 0] = np.fmin.reduceat(vertices, starts, axis=0)
        corners[filled, 1] = np.fmax.reduceat(vertices, starts, axis=0)
    corners = np.nan_to_num(corners, nan=0.0)
    return corners[:, 0], corners[:, 1]


def _up(root: bpy.types.Object) -> int:
    """The file's axis that points up where the root shows it."""
    return int(np.abs(np.array(root.matrix_basis.to_3x3())[2]).argmax())
