"""Pieces of edited geometry put together as one mesh, numbered like the source as far as they come from it.

A piece says of each vertex and triangle which one of the source it was. That is a claim and no more: copies
claim what their original claims, subdivided triangles claim what the whole one was. Here the claims are
settled, so that what the edit didn't touch keeps its number and its order, and what is new comes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..geometry.arrays import components, place_keys, same_bits
from ..geometry.edges import edge_census
from ..geometry.triangles import close_pairs, repeated
from .claims import corner_key, match_keys, turning_key
from .compare import matches, moved
from .pieces import NEW, Edit, Mesh, Piece
from .preserved import aside


def assemble(pieces: Sequence[Piece], source: Mesh | None, *, sew: bool = True) -> Edit:
    """Puts pieces together. `sew` joins open edges that lie on each other exactly, where at least one side is
    new or has moved: what was split into two objects is one surface again."""
    if source is not None and is_unedited(pieces, source):
        return _unedited(pieces[0], source)
    vertices = _joined([piece.vertices for piece in pieces], np.float32)
    vertex_ids = _claims([piece.vertex_ids for piece in pieces], len(source.vertices) if source else 0)
    triangle_ids = _claims([piece.triangle_ids for piece in pieces], len(source.triangles) if source else 0)
    offsets = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
    triangles = _joined(
        [np.asarray(p.triangles, np.int64) + o for p, o in zip(pieces, offsets, strict=False)], np.int64
    )
    owners = np.repeat(np.arange(len(pieces)), [len(piece.triangles) for piece in pieces])

    if source is not None:
        vertex_ids, triangle_ids = _refuse_aside(vertices, vertex_ids, triangles, triangle_ids, source)
    if any(piece.slack is not None for piece in pieces):
        vertices = _unite(vertices, vertex_ids, triangles, pieces)
    group, first = _merge_claims(vertices, vertex_ids)
    used = np.zeros(len(first), bool)
    used[group[triangles]] = True
    loose = int((~used).sum())
    vertices, vertex_ids, triangles = vertices[first], vertex_ids[first], group[triangles]
    vertex_ids = _settle_vertices(vertices, np.where(used, vertex_ids, NEW), source)
    if source is not None:
        kept = np.flatnonzero(~moved(vertices, vertex_ids, source))
        vertices[kept] = source.vertices[vertex_ids[kept]]  # with the sign of every zero
    if sew:
        joined = _sew(vertices, vertex_ids, triangles, source)
        group, triangles = joined[group], joined[triangles]
        used[:] = False
        used[triangles] = True

    order = np.flatnonzero(used)
    order = order[np.lexsort((order, np.where(vertex_ids[order] < 0, np.iinfo(np.int64).max, vertex_ids[order])))]
    number = np.full(len(vertices), NEW)
    number[order] = np.arange(len(order))
    edit = Edit(
        vertices=vertices[order],
        triangles=number[triangles],
        vertex_ids=vertex_ids[order],
        triangle_ids=triangle_ids,
        owners=owners,
        origins=np.arange(len(triangles)),
        places=number[group],
        names=tuple(piece.name for piece in pieces),
        loose=loose,
    )
    if source is None:
        return edit
    return _settle_triangles(_put_back(edit, source), source)


def is_unedited(pieces: Sequence[Piece], source: Mesh) -> bool:
    """Whether one piece holds all of the source, with or without what is kept `aside`, every number, place and corner
    as it was."""
    if len(pieces) != 1:
        return False
    piece = pieces[0]
    places, kept = np.arange(len(source.vertices)), np.arange(len(source.triangles))
    vertices, corners = source.vertices, source.triangles
    if (len(piece.vertices), len(piece.triangles)) != (len(places), len(kept)):
        aside_triangles, aside_vertices = aside(source)
        places, kept = np.flatnonzero(~aside_vertices), np.flatnonzero(~aside_triangles)
        vertices, corners = vertices[places], (np.cumsum(~aside_vertices) - 1)[corners[kept]]
    return (
        same_bits(piece.vertex_ids, places)
        and same_bits(piece.triangle_ids, kept)
        and same_bits(piece.vertices, vertices)
        and same_bits(piece.triangles, corners)
    )


def _unedited(piece: Piece, source: Mesh) -> Edit:
    """The edit that such a piece is."""
    triangle_ids = origins = np.arange(len(source.triangles))
    if len(piece.triangles) < len(triangle_ids):
        origins = np.full(len(triangle_ids), -1)
        origins[piece.triangle_ids] = np.arange(len(piece.triangles))
    return Edit(
        vertices=source.vertices,
        triangles=source.triangles.astype(np.int64),
        vertex_ids=np.arange(len(source.vertices)),
        triangle_ids=triangle_ids,
        owners=np.minimum(origins, 0),
        origins=origins,
        places=piece.vertex_ids,
        names=(piece.name,),
    )


def _refuse_aside(
    vertices: np.ndarray, vertex_ids: np.ndarray, triangles: np.ndarray, triangle_ids: np.ndarray, source: Mesh
) -> tuple[np.ndarray, np.ndarray]:
    """Claims less those to what was preserved: they come from another source's numbers, and granting them would
    drop what waits to be put back. One that is what it claims to be stays."""
    aside_triangles, aside_vertices = aside(source)
    foreign = np.isin(vertex_ids, np.flatnonzero(aside_vertices)) & moved(vertices, vertex_ids, source)
    strange = np.isin(triangle_ids, np.flatnonzero(aside_triangles)) & ~repeated(triangles)
    return np.where(foreign, NEW, vertex_ids), np.where(strange, NEW, triangle_ids)


# --- vertices -------------------------------------------------------------------------------------


def _unite(vertices: np.ndarray, ids: np.ndarray, triangles: np.ndarray, pieces: Sequence[Piece]) -> np.ndarray:
    """Vertices in one place, up to rounding, get the coordinates of the first of them: those with one claim, and those
    without a claim at open edges of different pieces."""
    slack = np.concatenate([np.zeros(len(p.vertices)) if p.slack is None else p.slack for p in pieces])
    vertices = vertices.copy()
    order = np.argsort(ids, kind="stable")
    waiting = order[ids[order] >= 0]
    while len(waiting):
        fresh = np.ones(len(waiting), bool)
        fresh[1:] = ids[waiting[1:]] != ids[waiting[:-1]]
        first = waiting[np.maximum.accumulate(np.where(fresh, np.arange(len(waiting)), 0))]
        near = _near(vertices, slack, waiting, first)
        vertices[waiting[near]] = vertices[first[near]]
        waiting = waiting[~near & ~fresh]

    edges, counts = edge_census(triangles)
    rim = np.unique(edges[counts == 1])
    rim = rim[(ids[rim] < 0) & np.isfinite(vertices[rim]).all(axis=1)]
    pairs = rim[close_pairs(vertices[rim], 4 * float(slack[rim].max(initial=0)))]
    owner = np.repeat(np.arange(len(pieces)), [len(piece.vertices) for piece in pieces])
    pairs = pairs[owner[pairs[:, 0]] != owner[pairs[:, 1]]]
    pairs = pairs[_near(vertices, slack, pairs[:, 1], pairs[:, 0])]
    return vertices[components(len(vertices), pairs[:, 0], pairs[:, 1])]


def _near(vertices: np.ndarray, slack: np.ndarray, some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which of some vertices lie where the others are, up to rounding, bool (n,)."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(vertices[some].astype(np.float64) - vertices[others]).max(axis=1, initial=0)
    return apart <= slack[some] + slack[others]


def _merge_claims(vertices: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices with one claim at one place are one vertex. The group of each, and each group's first vertex."""
    claims = np.where(ids < 0, -1 - np.arange(len(ids)), ids)
    place = place_keys(vertices)
    order = np.lexsort((np.arange(len(ids)), place["z"], place["y"], place["x"], claims))
    fresh = np.ones(len(order), bool)
    fresh[1:] = (claims[order][1:] != claims[order][:-1]) | (place[order][1:] != place[order][:-1])
    # Numbered by first vertex, so that the order of what is new stays that of the pieces.
    firsts = order[fresh]
    rank = np.empty(len(firsts), np.int64)
    by_first = np.argsort(firsts)
    rank[by_first] = np.arange(len(firsts))
    group = np.empty(len(order), np.int64)
    group[order] = rank[np.cumsum(fresh) - 1]
    return group, firsts[by_first]


def _settle_vertices(vertices: np.ndarray, ids: np.ndarray, source: Mesh | None) -> np.ndarray:
    """Leaves each number to one claimant: to the one that is where the source's vertex is, else to the first."""
    if source is None:
        return ids
    order = np.lexsort((np.arange(len(ids)), moved(vertices, ids, source), ids))
    winner = np.ones(len(order), bool)
    winner[1:] = ids[order][1:] != ids[order][:-1]
    settled = np.full(len(ids), NEW)
    settled[order[winner]] = ids[order[winner]]
    return settled


def _sew(vertices: np.ndarray, ids: np.ndarray, triangles: np.ndarray, source: Mesh | None) -> np.ndarray:
    """For each vertex the one that takes its place: those of open edges are joined where they coincide."""
    target = np.arange(len(vertices))
    edges, counts = edge_census(triangles)
    rim = np.unique(edges[counts == 1])
    if not len(rim):
        return target
    place = place_keys(vertices[rim])
    _, where = np.unique(place, return_inverse=True)
    fixed = np.zeros(len(rim), bool) if source is None else ~moved(vertices[rim], ids[rim], source)
    # The first of a place stands for all, numbered ones before new ones; what the source keeps apart stays apart.
    order = np.lexsort((rim, ids[rim] < 0, ~fixed, where))
    first = np.ones(len(order), bool)
    first[1:] = where[order][1:] != where[order][:-1]
    stands_for = rim[order][np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))]
    target[rim[order]] = np.where(fixed[order], rim[order], stands_for)
    return target


# --- triangles ------------------------------------------------------------------------------------


def _put_back(edit: Edit, source: Mesh) -> Edit:
    """Adds what was preserved: unused vertices, and triangles that use a vertex twice, while their vertices last."""
    aside_triangles, aside_vertices = aside(source)
    returning = np.setdiff1d(np.flatnonzero(aside_vertices), edit.vertex_ids)
    known = np.count_nonzero(edit.vertex_ids >= 0)
    all_ids = np.concatenate((edit.vertex_ids[:known], returning))
    order = np.argsort(all_ids)
    number = np.empty(len(edit.vertices) + len(returning), np.int64)
    number[order] = np.arange(len(all_ids))
    moved = np.concatenate((number[:known], np.arange(len(all_ids), len(number))))
    vertices = np.concatenate((edit.vertices[:known], source.vertices[returning]))[order]
    places = edit.places.copy()
    places[places >= 0] = moved[places[places >= 0]]

    place_of = np.full(len(source.vertices), NEW)
    place_of[all_ids[order]] = np.arange(len(all_ids))
    numbers = np.setdiff1d(np.flatnonzero(aside_triangles), edit.triangle_ids)
    corners = place_of[source.triangles[numbers].astype(np.int64)]
    whole = (corners >= 0).all(axis=1)
    return replace(
        edit,
        vertices=np.concatenate((vertices, edit.vertices[known:])),
        triangles=np.concatenate((moved[edit.triangles], corners[whole])).astype(np.int64),
        vertex_ids=np.concatenate((all_ids[order], edit.vertex_ids[known:])),
        triangle_ids=np.concatenate((edit.triangle_ids, numbers[whole])),
        owners=np.concatenate((edit.owners, np.full(np.count_nonzero(whole), -1))),
        origins=np.concatenate((edit.origins, np.full(np.count_nonzero(whole), -1))),
        places=places,
    )


def _settle_triangles(edit: Edit, source: Mesh) -> Edit:
    """Leaves each number to one claimant, the one with the source's corners before others, orders the
    triangles by number, new ones last, and starts each at the corner that the source starts it at."""
    same, _ = matches(edit, source)
    if not same.all():
        edit = _reclaim(edit, same, source)
        same, _ = matches(edit, source)
    claims = edit.triangle_ids
    by_claim = np.lexsort((np.arange(len(claims)), ~same, claims))
    winner = np.ones(len(claims), bool)
    winner[1:] = claims[by_claim][1:] != claims[by_claim][:-1]
    settled = np.full(len(claims), NEW)
    settled[by_claim[winner]] = claims[by_claim[winner]]
    order = np.lexsort((np.arange(len(claims)), np.where(settled < 0, len(source.triangles), settled)))

    triangles, settled, same = edit.triangles[order], settled[order], (same & (settled == claims))[order]
    same &= settled >= 0
    start = source.triangles[settled[same]][:, 0]
    turn = (edit.vertex_ids[triangles[same]] == start[:, None]).argmax(axis=1)
    # A triangle with a repeated corner never reached an editor and is unchanged.
    turn[repeated(triangles[same])] = 0
    triangles[same] = np.take_along_axis(triangles[same], (turn[:, None] + np.arange(3)) % 3, axis=1)
    return replace(
        edit,
        triangles=np.asfortranarray(triangles),  # faster to go through by corner
        triangle_ids=settled,
        owners=edit.owners[order],
        origins=edit.origins[order],
    )


def _reclaim(edit: Edit, same: np.ndarray, source: Mesh) -> Edit:
    """Triangles on the three vertices of a source triangle that is gone are that triangle, whatever they claim: a face
    that was deleted and filled by hand claims nothing, or what its neighbour claims. Those that run the same way around
    come first."""
    others = np.flatnonzero(~same)
    corners = edit.vertex_ids[edit.triangles[others]]
    others = others[(corners >= 0).all(axis=1) & ~repeated(corners)]
    gone = np.setdiff1d(np.arange(len(source.triangles)), edit.triangle_ids[same])
    claims = edit.triangle_ids.copy()
    span = len(source.vertices) + 1
    for key in (turning_key, corner_key):
        if len(others) and len(gone):
            corners = edit.vertex_ids[edit.triangles[others]]
            found = match_keys(key(source.triangles[gone], span), key(corners, span))
            claims[others[found >= 0]] = gone[found[found >= 0]]
            others, gone = others[found < 0], np.delete(gone, found[found >= 0])
    return replace(edit, triangle_ids=claims)


def _joined(arrays: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.zeros((0, 3), dtype), *(np.asarray(array, dtype).reshape(-1, 3) for array in arrays)])


def _claims(arrays: list[np.ndarray], count: int) -> np.ndarray:
    claims = np.concatenate([np.zeros(0, np.int64), *(np.asarray(array, np.int64) for array in arrays)])
    return np.where((claims < 0) | (claims >= count), NEW, claims)
