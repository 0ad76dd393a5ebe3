"""What is encoded is decoded: any edit of any odd file. Every encoder compares by itself, see conftest.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.editing.assemble import assemble
from core.editing.options import Options, Outside, Rebuild
from core.editing.pieces import NEW, Piece
from core.editing.preserved import aside
from core.editing.rebuild_hull import rebuild
from core.editing.rebuild_set import PartEdit, rebuild_set
from core.errors import RefusedError
from core.formats import collision_set, ipfb, mcol
from core.formats.collision_set import CollisionSet, Part
from core.game.archive import open_archive
from core.game.archive_write import make_archive, write_archive
from tests.oracle.readers import read_col
from tests.support.hulls import pieces, read
from tests.support.tally import cases
from tests.trust.irregular_hulls import BLOCKS, odd_hull, rearranged
from tests.trust.test_edits import CHOICES, EDITS

PLAIN = ("test.col", "S01_AsteroidVolume_wp.col", "S13_AsteroidVolume_wp.col")
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=150)
@given(
    name=st.sampled_from(PLAIN),
    seed=SEEDS,
    plain=st.booleans(),
    choices=st.lists(CHOICES, min_size=1, max_size=2),
    options=st.builds(Options, st.sampled_from(Rebuild), st.sampled_from(Outside), st.booleans()),
)
def test_any_edit_of_a_hull_with_any_oddity_is_decoded_again(name, seed, plain, choices, options):
    random = np.random.default_rng(seed)
    if plain:
        order = [BLOCKS[i] for i in random.permutation(6)]
        spare = {block: random.bytes(int(random.integers(0, 40))) for block in ("", *BLOCKS)}
        source = mcol.decode(rearranged(read(name), order, spare))
    else:
        source = mcol.decode(odd_hull(read_col(read(name)), random))
    parts = pieces(source)
    for edit, number in choices:
        if parts:
            numbers = np.random.default_rng(number)
            chosen = int(numbers.integers(len(parts)))
            parts[chosen : chosen + 1] = EDITS[edit](parts[chosen], numbers, float(source.grid.maximum[0]))
    with cases("edits of odd hulls") as figure:
        try:
            hull = rebuild(source, assemble(parts, source), options).hull
        except RefusedError:
            figure.refused += 1
            return
        data = mcol.encode(hull)
        assert mcol.encode(rebuild(mcol.decode(data), assemble(pieces(hull), hull)).hull) == data, "unedited again"


NAMES = st.one_of(
    st.text("abAB表ソ予_01", min_size=1, max_size=10), st.sampled_from(["rou_ysafbnuj", "ROU_gksvduie", "rou_gksvduie"])
)
PARTS = st.lists(st.tuples(NAMES, st.integers(0, 4), st.integers(0, 40), st.integers(0, 12)), min_size=1, max_size=4)
DEEDS = ("keep", "move", "rename", "empty", "copy", "remove", "more")


def _part(name: str, field: int, vertex_count: int, triangle_count: int, random: np.random.Generator) -> Part:
    stored = name.encode("cp932")
    vertices = random.normal(0, 100, (vertex_count, 3)).astype(np.float32)
    triangles = random.integers(0, max(vertex_count, 1), (triangle_count if vertex_count else 0, 3)).astype(np.uint32)
    return Part(stored + bytes(1 + field), vertices, triangles)


def _edit(number: int, part: Part, deed: str, name: str, random: np.random.Generator) -> PartEdit:
    kept = np.flatnonzero(~aside(part)[0])
    used, corners = np.unique(part.triangles[kept].astype(np.int64), return_inverse=True)
    piece = Piece("object", part.vertices[used], corners.reshape(-1, 3), used, kept)
    if deed == "move":
        piece = replace(piece, vertices=piece.vertices + np.float32(random.normal()))
    elif deed == "empty":
        piece = replace(piece, triangles=piece.triangles[:0], triangle_ids=piece.triangle_ids[:0])
    elif deed == "more":
        more = random.normal(0, 9, (3, 3)).astype(np.float32)
        piece = Piece(
            "object",
            np.concatenate((piece.vertices, more)),
            np.concatenate((piece.triangles, [np.arange(3) + len(used)])),
            np.concatenate((used, np.full(3, NEW))),
            np.append(kept, NEW),
        )
    return PartEdit(
        part.name, None if deed == "copy" else number, name if deed in ("rename", "copy") else None, (piece,), part
    )


@settings(max_examples=300)
@given(parts=PARTS, trailing=st.sampled_from([b"", bytes(4), b"\xcd" * 17]), seed=SEEDS, data=st.data())
def test_any_edit_of_any_set_is_decoded_again(parts, trailing, seed, data):
    random = np.random.default_rng(seed)
    source = CollisionSet(tuple(_part(*part, random) for part in parts), trailing)
    edits, removed = [], []
    for number, part in enumerate(source.parts):
        deed = data.draw(st.sampled_from(DEEDS))
        if deed == "remove":
            removed.append(number)
        else:
            edits.append(_edit(number, part, deed, data.draw(NAMES), random))
    with cases("edits of sets") as figure:
        try:
            rebuilt = rebuild_set(source, edits, removed)
        except RefusedError:
            figure.refused += 1
            return
        again = collision_set.decode(collision_set.encode(rebuilt.library))
        ids = [part.id for part in again.parts]
        inherited = [part.id for part in source.parts]
        assert all(ids.count(one) == 1 or inherited.count(one) > 1 for one in ids)


@settings(max_examples=100)
@given(
    contents=st.lists(st.tuples(st.binary(max_size=60), st.booleans()), min_size=1, max_size=5),
    replaced=st.dictionaries(st.integers(0, 4), st.binary(max_size=90), max_size=3),
    alignment=st.sampled_from([1, 2, 16, 2048]),
)
def test_any_replaced_entry_is_read_again_and_every_other(tmp_path_factory, contents, replaced, alignment):
    folder = tmp_path_factory.mktemp("archive")
    entries = {f"e{number}": entry for number, entry in enumerate(contents)}
    make_archive(folder / "A.pak", entries, alignment=alignment)
    new = {f"e{number}": data for number, data in replaced.items() if number < len(contents)}
    with cases("edits of archives"):
        written = write_archive(open_archive(folder / "A.pak"), new, folder / "copy")
        assert ipfb.encode(ipfb.decode(written.path.read_bytes())) == written.path.read_bytes()
        for name, (data, _) in entries.items():
            assert written.read(written.find(name)) == new.get(name, data)
