"""Which triangles an edit moved, made and cut away, as the export sees it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .compare import Comparison


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """The changed triangles by their corners, float32 (n, 3, 3), in the file's axes and game units.

    moved     triangles of the source with a corner elsewhere or another winding, as they are now
    ghost     the same triangles, in the same order, as they are in the source
    new       triangles that come from no triangle of the source
    removed   triangles of the source that are gone
    """

    moved: NDArray[np.float32]
    ghost: NDArray[np.float32]
    new: NDArray[np.float32]
    removed: NDArray[np.float32]


def find_changes(comparison: Comparison) -> Changes:
    """The triangles in which an edit differs from its source; without one, all are new."""
    edit, source = comparison.edit, comparison.source
    known = edit.triangle_ids >= 0
    if source is None:
        nothing = np.zeros((0, 3, 3), np.float32)
        return Changes(nothing, nothing, edit.vertices[edit.triangles], nothing)
    changed = np.flatnonzero(known & ~comparison.same)
    gone = np.ones(len(source.triangles), bool)
    gone[edit.triangle_ids[known]] = False
    theirs = source.triangles.astype(np.int64)
    return Changes(
        edit.vertices[edit.triangles[changed]],
        source.vertices[theirs[edit.triangle_ids[changed]]],
        edit.vertices[edit.triangles[~known]],
        source.vertices[theirs[gone]],
    )
