"""0.0 and -0.0 are one place, and what wasn't edited keeps the sign of each of its zeros."""

from dataclasses import replace

import numpy as np
import pytest

from core.editing.assemble import assemble
from core.editing.build import build_from_nothing, build_like, hull_meshes, part_meshes
from core.editing.claims import identify
from core.editing.pieces import Piece
from core.editing.rebuild_hull import build, rebuild
from core.editing.rebuild_set import PartEdit, rebuild_set
from core.formats import collision_set, mcol, obj
from core.formats.collision_set import CollisionSet, Part
from core.geometry.arrays import place_keys, same_places
from core.inspect.diff_hull import diff_hulls, diff_sets
from tests.support.hulls import box, cubic_grid, new, pieces, read

OTHER_SIGNS = np.float32([0.0, -0.0])


def with_signs(vertices: np.ndarray, seed: int) -> np.ndarray:
    """The same places, with a sign drawn for each zero."""
    drawn = np.random.default_rng(seed).choice(OTHER_SIGNS, vertices.shape)
    return np.where(vertices == 0, drawn, vertices).astype(np.float32)


def source() -> mcol.Hull:
    """A wall and a stone with many zeros of both signs."""
    wall, stone = box((-9, -9, -9), (9, 9, 9), inward=True), box((0, 0, -3), (3, 3, 0))
    vertices = np.concatenate((wall[0], with_signs(stone[0], 1)))
    triangles = np.concatenate((wall[1], stone[1] + 8))
    return mcol.decode(mcol.encode(build(vertices, triangles, cubic_grid(10, 4), True)))


def signs(vertices: np.ndarray) -> list:
    return np.signbit(vertices).tolist()


@pytest.mark.parametrize("name", ["mirrored_halves_zero", "mirrored_halves_negzero"])
def test_two_halves_that_meet_at_zero_are_one_surface(name):
    hull = build_from_nothing(obj.decode(read(f"edges/{name}.obj")), 50)
    assert len(hull.vertices) == 12 and len(hull.triangles) == 20
    again = mcol.decode(mcol.encode(hull))
    assert [mesh.name for mesh in hull_meshes(again, "x")] == ["x.asteroid_01"]


@pytest.mark.parametrize("seed", range(5))
def test_an_obj_with_other_signs_of_zeros_gives_the_same_bytes(seed):
    hull = source()
    meshes = [replace(mesh, vertices=with_signs(mesh.vertices, seed)) for mesh in hull_meshes(hull, "x")]
    rebuilt, findings = build_like(meshes, hull)
    assert mcol.encode(rebuilt) == mcol.encode(hull) and not findings


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("claims", [True, False])
def test_pieces_with_other_signs_of_zeros_are_unedited(seed, claims):
    hull = source()
    parts = [replace(piece, vertices=with_signs(piece.vertices, seed)) for piece in pieces(hull)]
    if not claims:
        parts = [identify(new(piece.name, piece.vertices, piece.triangles), hull) for piece in parts]
    edit = assemble(parts, hull)
    assert mcol.encode(rebuild(hull, edit).hull) == mcol.encode(hull)


def test_an_edit_elsewhere_leaves_every_sign():
    hull = source()
    wall, stone = sorted(pieces(hull), key=lambda piece: piece.name != "wall")
    parts = [replace(wall, vertices=wall.vertices * np.float32(0.98)), replace(stone, vertices=stone.vertices + 0)]
    after = rebuild(hull, assemble(parts, hull)).hull
    rows = stone.vertex_ids
    assert signs(after.vertices[rows]) == signs(hull.vertices[rows])
    assert np.array_equal(after.spheres[stone.triangle_ids], hull.spheres[stone.triangle_ids])


def test_two_vertices_of_one_place_and_other_signs_claim_each_its_own():
    """A source may keep two surfaces apart at one place; whatever the order, each finds its own vertices."""
    halves = [box((0, 0, 0), (3, 3, 3)), box((-3, 0, 0), (-0.0, 3, 3))]
    vertices = np.concatenate((halves[0][0], np.where(halves[1][0] == 0, np.float32(-0.0), halves[1][0])))
    hull = build(vertices, np.concatenate((halves[0][1], halves[1][1] + 8)), cubic_grid(10, 4), False)
    hull = mcol.decode(mcol.encode(hull))
    parts = pieces(hull)
    bare = [identify(new("x", *_joined(parts[::step])), hull) for step in (1, -1)]
    for piece in bare:
        assert mcol.encode(rebuild(hull, assemble([piece], hull)).hull) == mcol.encode(hull)


def _joined(parts: list[Piece]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *(len(part.vertices) for part in parts)])
    corners = [part.triangles + first for part, first in zip(parts, offsets, strict=False)]
    return np.concatenate([part.vertices for part in parts]), np.concatenate(corners)


def test_a_part_with_other_signs_of_zeros_is_unchanged():
    vertices, triangles = box((0, 0, 0), (1, 1, 1))
    part = Part(b"part\0\0\0\0", with_signs(vertices, 3), triangles.astype(np.uint32))
    library = CollisionSet((part,))
    piece = Piece("part", with_signs(vertices, 4), triangles, np.arange(8), np.arange(12))
    rebuilt = rebuild_set(library, [PartEdit("part", 0, None, (piece,), part)])
    assert collision_set.encode(rebuilt.library) == collision_set.encode(library) and not rebuilt.changed


def test_a_difference_in_signs_alone_is_called_that():
    hull = source()
    other = replace(hull, vertices=with_signs(hull.vertices, 9))
    (line,) = map(str, diff_hulls(hull, other))
    assert line.startswith("surface asteroid_01: ") and "another sign of a zero coordinate" in line
    part = Part(b"part\0\0\0\0", np.float32([[0, 1, 2]]), np.zeros((0, 3), np.uint32))
    changed = replace(part, vertices=-np.float32([[0, -1, -2]]))
    assert "another sign" in str(diff_sets(CollisionSet((part,)), CollisionSet((changed,)))[0])


def test_an_obj_keeps_the_sign_of_each_zero():
    mesh = part_meshes(CollisionSet((Part(b"a\0", np.float32([[0, -0.0, 1]] * 3), np.uint32([[0, 1, 2]])),)), "x")
    assert signs(obj.decode(obj.encode(mesh))[0].vertices) == signs(mesh[0].vertices)


def test_places():
    one = np.float32([[0.0, 1, np.nan], [0, 0, 0], [1, 2, 3]])
    other = np.float32([[-0.0, 1, np.nan], [-0.0, 0, 1e-45], [1, 2, 3]])
    assert same_places(one, other).tolist() == [True, False, True]
    assert (place_keys(one) == place_keys(other)).tolist() == [True, False, True]
