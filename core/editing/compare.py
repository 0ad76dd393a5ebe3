"""An edit held against its source."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..geometry.arrays import same_places
from ..geometry.vectors import pick
from .pieces import NEW, Edit, Mesh

Matched = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""The results of `matches` for an edit and its source."""


def matches(edit: Edit, source: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Which triangles have the corners of the source's triangle that they were, bool (nt,), and which of them
    are still wound the same way."""
    mine = edit.vertex_ids.take(edit.triangles.T)
    claims = np.flatnonzero(edit.triangle_ids >= 0)
    theirs = np.full_like(mine, NEW - 1)
    theirs[:, claims] = pick(source.triangles, edit.triangle_ids[claims]).T
    wound = (theirs == mine).all(axis=0)
    same = wound.copy()
    others = np.flatnonzero(~wound)
    a, b, c = mine[:, others]
    first, second, third = theirs[:, others]

    def are(one: np.ndarray, two: np.ndarray, three: np.ndarray) -> np.ndarray:
        return (first == one) & (second == two) & (third == three)

    wound[others] = are(b, c, a) | are(c, a, b)
    same[others] = wound[others] | are(a, c, b) | are(c, b, a) | are(b, a, c)
    return same, wound


def moved(vertices: np.ndarray, ids: np.ndarray, source: Mesh) -> np.ndarray:
    """Which vertices are new or not where the source has them, bool (n,)."""
    result = np.ones(len(ids), bool)
    known = np.flatnonzero(ids >= 0)
    result[known] = ~same_places(vertices[known], source.vertices[ids[known]])
    return result


@dataclass(frozen=True, eq=False)
class Comparison:
    """An edit with its source, None where it has none. What they have in common is found once, when it is asked for."""

    edit: Edit
    source: Mesh | None

    @cached_property
    def matched(self) -> Matched:
        """The results of `matches`; all False without a source."""
        if self.source is None:
            return np.zeros(len(self.edit.triangles), bool), np.zeros(len(self.edit.triangles), bool)
        return matches(self.edit, self.source)

    @cached_property
    def unchanged(self) -> NDArray[np.bool_]:
        """Which triangles have the source's corners where the source has them, whichever way around, bool (nt,)."""
        if self.source is None:
            return self.matched[0]
        in_place = ~moved(self.edit.vertices, self.edit.vertex_ids, self.source)
        return self.matched[0] & in_place.take(self.edit.triangles.T).all(axis=0)

    @cached_property
    def same(self) -> NDArray[np.bool_]:
        """Which of the unchanged triangles are wound the same way too, bool (nt,)."""
        return self.unchanged & self.matched[1]
