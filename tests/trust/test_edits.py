"""Any edit gives a file with exactly the edited geometry that passes every check, or is refused with a reason."""

from __future__ import annotations

from collections import Counter

import numpy as np
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from core.editing.assemble import assemble
from core.editing.options import Options, Outside, Rebuild
from core.editing.pieces import NEW, Piece
from core.editing.rebuild_hull import rebuild
from core.errors import Severity, SylpheedError
from core.formats import mcol
from core.geometry import surfaces
from core.inspect.check_hull import check_hull
from tests.oracle.readers import read_col
from tests.support.hulls import new, pieces, read, rock
from tests.support.tally import cases

SOURCES = {
    name: mcol.decode(read(name))
    for name in (
        "test.col",
        "S01_AsteroidVolume_wp.col",
        "S05_AsteroidVolume_wp.col",
        "S13_AsteroidVolume_wp.col",
        "S14_p1_AsteroidVolume_wp.col",
        "quirks/S13_ulps.col",
        "quirks/S01_firstempty_words.col",
        "quirks/test_descending_multilist.col",
        "quirks/test_words_sharedgap.col",
        "edges/index_gap.col",
        "edges/block_order.col",
    )
}


# --- edits, as a user makes them ------------------------------------------------------------------


def _move(piece: Piece, random: np.random.Generator, size: float) -> list[Piece]:
    by = random.normal(0, 0.3 * size, 3)
    return [_placed(piece, piece.vertices.astype(np.float64) + by)]


def _turn(piece: Piece, random: np.random.Generator, size: float) -> list[Piece]:
    """About its own middle, and a little larger or smaller."""
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn)) * random.uniform(0.7, 1.2)
    middle = piece.vertices.astype(np.float64).mean(axis=0)
    return [_placed(piece, (piece.vertices - middle) @ turn.T + middle)]


def _drag(piece: Piece, random: np.random.Generator, size: float) -> list[Piece]:
    """Some vertices, by little."""
    some = random.random(len(piece.vertices)) < random.choice([0.05, 0.5, 1])
    by = random.normal(0, 1e-3 * size, piece.vertices.shape)
    return [_placed(piece, np.where(some[:, None], piece.vertices + by, piece.vertices))]


def _delete(piece: Piece, random: np.random.Generator, size: float) -> list[Piece]:
    return []


def _copy(piece: Piece, random: np.random.Generator, size: float) -> list[Piece]:
    """The copy claims what the original claims."""
    return [piece, _placed(piece, piece.vertices.astype(np.float64) + random.normal(0, 0.5 * size, 3))]


def _add(piece: Piece, random: np.random.Generator, size: float) -> list[Piece]:
    shape = rock(random.uniform(-1, 1, 3) * size, random.uniform(0.05, 0.4) * size, 4, int(random.integers(2**31)))
    return [piece, new("new rock", *shape)]


def _split(piece: Piece, random: np.random.Generator, size: float) -> list[Piece]:
    """Into two objects, of which each has the vertices that it uses."""
    mine = random.random(len(piece.triangles)) < 0.5
    return [_part(piece, half) for half in (mine, ~mine) if half.any()]


def _split_and_move(piece: Piece, random: np.random.Generator, size: float) -> list[Piece]:
    (moved,) = _move(piece, random, 0.2 * size)
    return _split(moved, random, size)


def _subdivide(piece: Piece, random: np.random.Generator, size: float) -> list[Piece]:
    """Each triangle into four, that claim what the whole one was."""
    triangles = np.asarray(piece.triangles, np.int64)
    sides = np.sort(np.stack((triangles, np.roll(triangles, -1, axis=1)), axis=2).reshape(-1, 2), axis=1)
    edges, number = np.unique(sides, axis=0, return_inverse=True)
    middle = number.reshape(-1, 3) + len(piece.vertices)
    a, b, c = triangles.T
    ab, bc, ca = middle.T
    corners = np.stack(((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)), axis=0).transpose(2, 0, 1).reshape(-1, 3)
    between = piece.vertices[edges].astype(np.float64).mean(axis=1)
    vertices = np.concatenate((piece.vertices, between.astype(np.float32)))
    ids = np.concatenate((piece.vertex_ids, np.full(len(edges), NEW)))
    return [Piece(piece.name, vertices, corners, ids, np.repeat(piece.triangle_ids, 4))]


def _cut_an_edge(piece: Piece, random: np.random.Generator, size: float) -> list[Piece]:
    """A new vertex on one edge, so that its two triangles become four."""
    triangles = np.asarray(piece.triangles, np.int64)
    a, b = triangles[random.integers(len(triangles))][:2]
    rest, ids, added = [], [], len(piece.vertices)
    for corners, claim in zip(triangles.tolist(), piece.triangle_ids.tolist(), strict=True):
        turned = [corners[i:] + corners[:i] for i in range(3)]
        first = next((t for t in turned if {t[0], t[1]} == {int(a), int(b)}), None)
        cut = [corners] if first is None else [[first[0], added, first[2]], [added, first[1], first[2]]]
        rest += cut
        ids += [claim] * len(cut)
    place = (piece.vertices[a].astype(np.float64) + piece.vertices[b]) / 2 + random.normal(0, 1e-3 * size, 3)
    vertices = np.concatenate((piece.vertices, place[None].astype(np.float32)))
    return [Piece(piece.name, vertices, np.array(rest), np.append(piece.vertex_ids, NEW), np.array(ids))]


def _shuffle(piece: Piece, random: np.random.Generator, size: float) -> list[Piece]:
    """Another order of everything, each triangle started anywhere: what edit mode may leave."""
    order = random.permutation(len(piece.vertices))
    rows = random.permutation(len(piece.triangles))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    turn = (random.integers(0, 3, (len(rows), 1)) + np.arange(3)) % 3
    triangles = np.take_along_axis(number[piece.triangles][rows], turn, axis=1)
    return [Piece(piece.name, piece.vertices[order], triangles, piece.vertex_ids[order], piece.triangle_ids[rows])]


def _forget(piece: Piece, random: np.random.Generator, size: float) -> list[Piece]:
    """Claims that a tool has lost, or made up."""
    claims = [
        np.where(random.random(len(ids)) < 0.3, random.integers(-1, 2000, len(ids)), ids)
        for ids in (piece.vertex_ids, piece.triangle_ids)
    ]
    return [Piece(piece.name, piece.vertices, piece.triangles, *claims)]


def _turn_inside_out(piece: Piece, random: np.random.Generator, size: float) -> list[Piece]:
    return [Piece(piece.name, piece.vertices, piece.triangles[:, ::-1], piece.vertex_ids, piece.triangle_ids)]


def _open(piece: Piece, random: np.random.Generator, size: float) -> list[Piece]:
    """Must be refused: a triangle is gone."""
    mine = np.ones(len(piece.triangles), bool)
    mine[random.integers(len(mine))] = False
    return [_part(piece, mine)]


EDITS = {
    function.__name__.strip("_").replace("_", " "): function
    for function in (
        *(_move, _turn, _drag, _delete, _copy, _add, _split, _split_and_move, _subdivide, _cut_an_edge, _shuffle),
        *(_forget, _turn_inside_out, _open),
    )
}


def _placed(piece: Piece, vertices: np.ndarray) -> Piece:
    return Piece(piece.name, vertices.astype(np.float32), piece.triangles, piece.vertex_ids, piece.triangle_ids)


def _part(piece: Piece, rows: np.ndarray) -> Piece:
    used, corners = np.unique(np.asarray(piece.triangles)[rows], return_inverse=True)
    corners = corners.reshape(-1, 3)
    return Piece(piece.name, piece.vertices[used], corners, piece.vertex_ids[used], piece.triangle_ids[rows])


def _joined(all_pieces: list[Piece]) -> list[Piece]:
    offsets = np.cumsum([0, *(len(piece.vertices) for piece in all_pieces)])
    corners = [np.asarray(p.triangles) + first for p, first in zip(all_pieces, offsets, strict=False)]
    arrays = [[getattr(piece, name) for piece in all_pieces] for name in ("vertices", "vertex_ids", "triangle_ids")]
    vertices, vertex_ids, triangle_ids = map(np.concatenate, arrays)
    return [Piece("joined", vertices, np.concatenate(corners), vertex_ids, triangle_ids)]


# --- what must come of them -----------------------------------------------------------------------


def turning(vertices: np.ndarray, triangles: np.ndarray) -> Counter:
    """The triangles by the bits of their corners, wherever each starts."""
    bits = np.ascontiguousarray(vertices, np.float32).view(np.uint32)[np.asarray(triangles, np.int64)]
    found: Counter = Counter()
    for a, b, c in bits.tolist():
        a, b, c = tuple(a), tuple(b), tuple(c)
        found[min((a, b, c), (b, c, a), (c, a, b))] += 1
    return found


def errors(hull: mcol.Hull) -> set[str]:
    return {check.name for check in check_hull(hull) if not check.passed and check.severity is Severity.ERROR}


CHOICES = st.tuples(st.sampled_from(sorted(EDITS)), st.integers(0, 2**32 - 1))


@settings(max_examples=450)
@given(
    name=st.sampled_from(sorted(SOURCES)),
    choices=st.lists(CHOICES, min_size=1, max_size=3),
    join=st.booleans(),
    options=st.builds(Options, st.sampled_from(Rebuild), st.sampled_from(Outside), st.booleans()),
)
def test_any_edit_is_in_the_file_and_passes_every_check_or_is_refused(name, choices, join, options):
    source = SOURCES[name]
    size = float(source.grid.maximum[0])
    parts = pieces(source)
    for edit, seed in choices:
        if parts:
            random = np.random.default_rng(seed)
            chosen = int(random.integers(len(parts)))
            parts[chosen : chosen + 1] = EDITS[edit](parts[chosen], random, size)
    parts = _joined(parts) if join and parts else parts
    wanted = sum((turning(piece.vertices, piece.triangles) for piece in parts), Counter())

    with cases("edits of hulls") as figure:
        try:
            data = mcol.encode(rebuild(source, assemble(parts, source), options).hull)
        except SylpheedError as error:
            assert "\n" not in str(error)
            figure.refused += 1
            return
        assert "open" not in [edit for edit, _ in choices] or not wanted
        col = read_col(data, strict=False)
        found = turning(col.vertices, col.triangles)
        if options.turn:
            found, wanted = (_either_way(triangles) for triangles in (found, wanted))
        assert found == wanted
        hull = mcol.decode(data)
        assert mcol.encode(hull) == data
        assert errors(hull) <= errors(source), errors(hull)
        mesh = trimesh.Trimesh(hull.vertices, hull.triangles, process=False, validate=False)
        assert mesh.is_watertight and mesh.is_winding_consistent
        volume = surfaces.volumes(hull.vertices, hull.triangles, surfaces.split(hull.triangles)).sum()
        assert abs(volume - mesh.volume) <= 1e-6 * (np.abs(mesh.volume) + size**3)


def _either_way(triangles: Counter) -> Counter:
    found: Counter = Counter()
    for corners, count in triangles.items():
        found[tuple(sorted(corners))] += count
    return found


@settings(max_examples=60)
@given(name=st.sampled_from(sorted(SOURCES)), seed=st.integers(0, 2**32 - 1), join=st.booleans())
def test_an_edit_that_changes_nothing_gives_the_same_bytes(name, seed, join):
    """Whatever the order, however it was split or joined."""
    source, random = SOURCES[name], np.random.default_rng(seed)
    parts = pieces(source)
    parts = [part for piece in parts for part in _shuffle(piece, random, 1.0)]
    parts = [part for piece in parts for part in (_split(piece, random, 1.0) if random.random() < 0.3 else [piece])]
    random.shuffle(parts)
    with cases("edits of hulls"):
        edit = assemble(_joined(parts) if join else parts, source)
        assert mcol.encode(rebuild(source, edit).hull) == read(name)
