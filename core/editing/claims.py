"""Claims to the numbers of a source, made by position."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..geometry.arrays import bits, place_keys, ranks
from .pieces import NEW, Mesh, Piece
from .preserved import aside


def identify(piece: Piece, source: Mesh) -> Piece:
    """The same piece with claims made by position: a vertex claims the source's vertex at exactly its
    place, a triangle the source's triangle with the same corners in the same order of turning."""
    # Preserved elements reached no editor, so they are matched last.
    unused = aside(source)[1]
    known = np.full(len(piece.vertices), NEW)
    for candidates in (~unused, unused):
        for key in (bits, place_keys):  # of two vertices at 0.0 and -0.0, each claims its own
            free = candidates.copy()
            free[known[known >= 0]] = False
            theirs, mine = np.flatnonzero(free), np.flatnonzero(known < 0)
            found = match_keys(key(source.vertices[theirs]), key(piece.vertices[mine]))
            known[mine[found >= 0]] = theirs[found[found >= 0]]
    mapped = known[piece.triangles]
    span = len(source.vertices) + 1
    wanted = np.where((mapped < 0).any(axis=1), -1 - np.arange(len(mapped)), turning_key(mapped, span))
    triangle_ids = match_keys(turning_key(source.triangles, span), wanted)
    return replace(piece, vertex_ids=known, triangle_ids=triangle_ids)


def first_corner_first(triangles: np.ndarray) -> np.ndarray:
    """Triangles turned to begin at their lowest corner, the way around kept."""
    turn = triangles.argmin(axis=1)
    return np.take_along_axis(triangles, (turn[:, None] + np.arange(3)) % 3, axis=1)


def turning_key(triangles: np.ndarray, span: int) -> np.ndarray:
    a, b, c = first_corner_first(np.asarray(triangles, np.int64)).T
    return (a * span + b) * span + c


def corner_key(triangles: np.ndarray, span: int) -> np.ndarray:
    a, b, c = np.sort(np.asarray(triangles, np.int64), axis=1).T
    return (a * span + b) * span + c


def match_keys(theirs: np.ndarray, mine: np.ndarray) -> np.ndarray:
    """For each of my keys the number of an equal one of theirs, the first for the first, or NEW."""
    _, codes = np.unique(np.concatenate((theirs, mine)), return_inverse=True)
    their_codes, my_codes = codes.reshape(-1)[: len(theirs)], codes.reshape(-1)[len(theirs) :]
    span = len(codes) + 1
    their_keys = their_codes * span + ranks(their_codes)
    my_keys = my_codes * span + ranks(my_codes)
    if not len(their_keys):
        return np.full(len(mine), NEW)
    order = np.argsort(their_keys)
    at = np.minimum(np.searchsorted(their_keys[order], my_keys), len(order) - 1)
    return np.where(their_keys[order][at] == my_keys, order[at], NEW)
