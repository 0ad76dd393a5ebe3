"""Apply > All Transforms on a root: what is parented to it is then scaled and turned in the file's space.

Blender gives the root a scale of 1 and no rotation, and makes up for it in every child, so the view shows no
difference. An export can't know which of the two was meant. By hand, a root may be moved, turned and scaled: its
children stay as they are in its space.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import bpy
import numpy as np
from mathutils import Euler, Matrix

from ...core.editing.pieces import Piece
from ...core.errors import RefusedError
from . import axes, custom_properties

ALIKE = 1e-3
"""How far two turns or scales may differ to be the same."""

SPARED = 0.9
"""A piece of which more vertices than this part are where the source has them was spared by what happened to others."""

FACTOR = 10
"""Nobody makes everything so many times smaller or larger by hand and sets the root's scale to 1 besides."""


def refuse_applied(root: bpy.types.Object, pieces: Iterable[tuple[Piece, np.ndarray | None]]) -> None:
    """Raises `SylpheedError` where a root's scale or rotation went to its children. `pieces` come with the vertices,
    float32 (n, 3), that their claims are about."""
    displaced = []
    for piece, source in pieces:
        if source is None:
            continue
        mine, theirs = _known(piece, source)
        if not len(mine) or np.mean((mine == theirs).all(axis=1)) <= SPARED:
            displaced.append((mine, theirs))
        elif _is_thick(theirs):
            return  # a transform that is applied spares nothing
    changes = [change for pair in displaced for change in _changes(*pair)]
    if not changes:
        return
    usual = np.median(changes, axis=0)
    alike = [np.abs(change - usual).max() <= ALIKE * np.abs(usual).max() for change in changes]
    if 2 * sum(alike) <= len(changes):
        return
    given = custom_properties.view(root)
    before = np.array(Matrix(given) if given else _default_view(), np.float64)
    now = np.array(root.matrix_basis.to_3x3(), np.float64)
    if _is_applied(before, now, usual):
        raise RefusedError(
            f'the transform of "{root.name}" was applied: its children would be scaled or rotated in the file',
            expected=f"the root's {_described(before)}",
            found=f"its {_described(now)}",
            remedy="undo it, or use Parent > Clear and Keep Transformation on the root's children, give these back to "
            "the root, and parent them again with Keep Transform",
        )


def _known(piece: Piece, source: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A piece's vertices that claim one of the source, and those of the source, float64 (n, 3)."""
    known = np.flatnonzero((piece.vertex_ids >= 0) & (piece.vertex_ids < len(source)))
    mine = piece.vertices[known].astype(np.float64)
    theirs = source[piece.vertex_ids[known]].astype(np.float64)
    usable = np.isfinite(mine).all(axis=1) & np.isfinite(theirs).all(axis=1)
    return mine[usable], theirs[usable]


def _is_thick(points: np.ndarray) -> bool:
    """Whether points (n, 3) reach in all three directions."""
    if len(points) < 4:
        return False
    around = points - points.mean(axis=0)
    spread = np.linalg.eigvalsh(around.T @ around)
    return bool(spread[0] > ALIKE**2 * spread[2])


def _changes(mine: np.ndarray, theirs: np.ndarray) -> Iterator[np.ndarray]:
    """The linear map that leads from the source's vertices to a piece's, (3, 3), if there is one."""
    rows = np.ones(len(mine), bool)
    for _ in range(2):  # without the vertices that were moved besides
        if not _is_thick(theirs[rows]):
            return
        start, end = theirs - theirs[rows].mean(axis=0), mine - mine[rows].mean(axis=0)
        change = np.linalg.lstsq(start[rows], end[rows], rcond=None)[0].T
        off = np.abs(end - start @ change.T).max(axis=1)
        rows = off <= np.quantile(off, 0.9)
    if np.median(off) <= ALIKE * np.abs(end).max():
        yield change


def _is_applied(before: np.ndarray, now: np.ndarray, change: np.ndarray) -> bool:
    """Whether children that changed so have what the root had and no longer has."""
    old, new, made = (abs(np.linalg.det(matrix)) ** (1 / 3) for matrix in (before, now, change))
    if not made or not old:
        return False
    if abs(old - 1) > ALIKE:
        if abs(made / old - 1) <= ALIKE:
            return True
        if abs(new - 1) <= ALIKE and not 1 / FACTOR < made < FACTOR:
            return True
    if not new or _same_turn(now / new, before / old):
        return False
    straight = np.eye(3)
    unturned = _same_turn(np.abs(now / new), straight) and not _same_turn(np.abs(change / made), straight)
    return unturned or _same_turn(now @ change / (new * made), before / old)


def _same_turn(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.abs(one - other).max() <= ALIKE)


def _default_view() -> Matrix:
    """That of a root which says nothing of it: an earlier version made it."""
    rotation, scale = axes.root_transform(0.001, "Y", False)
    return Matrix.LocRotScale(None, Euler(rotation), scale).to_3x3()


def _described(matrix: np.ndarray) -> str:
    _, rotation, scale = Matrix(matrix.tolist()).to_4x4().decompose()
    sizes = ", ".join(f"{size:.6g}" for size in np.array(scale))
    angles = ", ".join(f"{round(math.degrees(angle), 3) + 0:g}°" for angle in np.array(rotation.to_euler()))
    return f"scale of ({sizes}) and rotation of ({angles})"
