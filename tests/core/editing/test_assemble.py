"""Claims are settled so that what the edit didn't touch keeps its number and its order."""

import dataclasses

import numpy as np
import pytest

from core.editing.assemble import assemble, is_unedited
from core.editing.claims import identify
from core.editing.compare import matches
from core.editing.pieces import NEW, Piece
from core.editing.preserved import aside
from core.formats import collision_set, mcol
from tests.support.hulls import HULLS, LARGE, moved, new, pieces, read, rock


@pytest.fixture(scope="module")
def hull() -> mcol.Hull:
    return mcol.decode(read(LARGE))


def same_as_source(edit, source) -> bool:
    return (
        np.array_equal(edit.vertices, source.vertices)
        and np.array_equal(edit.triangles, source.triangles)
        and edit.vertex_ids.tolist() == list(range(len(source.vertices)))
        and edit.triangle_ids.tolist() == list(range(len(source.triangles)))
    )


@pytest.mark.parametrize("path", HULLS, ids=lambda path: path.name)
def test_pieces_in_any_order_and_turned_anyhow_give_the_source_back(path):
    source = mcol.decode(path.read_bytes())
    random = np.random.default_rng(1)
    shuffled = []
    for piece in pieces(source):
        vertices, triangles = random.permutation(len(piece.vertices)), random.permutation(len(piece.triangles))
        corners = np.argsort(vertices)[piece.triangles[triangles]]
        turned = np.take_along_axis(corners, (random.integers(3, size=(len(corners), 1)) + np.arange(3)) % 3, axis=1)
        shuffled.append(
            Piece(
                piece.name,
                piece.vertices[vertices],
                turned,
                piece.vertex_ids[vertices],
                piece.triangle_ids[triangles],
            )
        )
    random.shuffle(shuffled)
    assert same_as_source(assemble(shuffled, source), source)


@pytest.mark.parametrize("path", HULLS, ids=lambda path: path.name)
def test_pieces_without_claims_are_recognised_by_position(path):
    source = mcol.decode(path.read_bytes())
    bare = [new(piece.name, piece.vertices, piece.triangles) for piece in pieces(source)]
    assert same_as_source(assemble([identify(piece, source) for piece in bare], source), source)


def split(piece: Piece, rows) -> list[Piece]:
    """A piece cut in two along its triangles, with vertices of the cut in both, as Blender separates."""
    parts = []
    for mask in (rows, ~rows):
        used, corners = np.unique(piece.triangles[mask], return_inverse=True)
        parts.append(
            Piece(
                f"{piece.name}.{len(parts)}",
                piece.vertices[used],
                corners.reshape(-1, 3),
                piece.vertex_ids[used],
                piece.triangle_ids[mask],
            )
        )
    return parts


def test_a_surface_split_into_two_objects_is_one_again(hull):
    first, *others = pieces(hull)
    halves = split(first, np.arange(len(first.triangles)) % 3 == 0)
    assert same_as_source(assemble([*halves, *others], hull), hull)


def test_a_split_copy_closes_up_too(hull):
    copy = [moved(half, (100, 0, 0)) for half in split(pieces(hull)[0], np.arange(len(pieces(hull)[0].triangles)) < 9)]
    edit = assemble([*pieces(hull), *copy], hull)
    original = pieces(hull)[0]
    assert len(edit.vertices) == len(hull.vertices) + len(original.vertices)
    assert (edit.vertex_ids[len(hull.vertices) :] == NEW).all()


def test_a_copy_is_new_and_comes_last_even_if_the_original_moved(hull):
    original, *others = pieces(hull)
    copy = dataclasses.replace(original, name="copy")
    edit = assemble([moved(original, (50, 0, 0)), *others, copy], hull)
    # The copy stayed where the source has it, so it is the one that keeps the numbers.
    assert np.array_equal(edit.vertices[: len(hull.vertices)], hull.vertices)
    assert edit.owners[0] == len(others) + 1
    assert (edit.triangle_ids[len(hull.triangles) :] == NEW).all()


def test_subdivided_triangles_that_all_claim_one_number_leave_it_to_one(hull):
    piece = pieces(hull)[0]
    middle = len(piece.vertices)
    a, b, c = piece.triangles[0]
    centre = piece.vertices[[a, b, c]].mean(axis=0, keepdims=True)
    finer = Piece(
        piece.name,
        np.concatenate((piece.vertices, centre)),
        np.concatenate(([[a, b, middle], [b, c, middle], [c, a, middle]], piece.triangles[1:])),
        np.append(piece.vertex_ids, piece.vertex_ids[a]),
        np.concatenate((np.repeat(piece.triangle_ids[:1], 3), piece.triangle_ids[1:])),
    )
    edit = assemble([finer, *pieces(hull)[1:]], hull)
    assert len(edit.triangles) == len(hull.triangles) + 2
    assert np.count_nonzero(edit.triangle_ids == piece.triangle_ids[0]) == 1
    assert np.array_equal(edit.vertices[:-1], hull.vertices)
    assert not matches(edit, hull)[0][piece.triangle_ids[0]]
    untouched = np.arange(len(hull.triangles)) != piece.triangle_ids[0]
    assert np.array_equal(edit.triangles[: len(hull.triangles)][untouched], hull.triangles[untouched])


def test_deleted_vertices_close_ranks_and_the_others_keep_their_order(hull):
    edit = assemble(pieces(hull)[1:], hull)
    gone = pieces(hull)[0]
    assert edit.vertex_ids.tolist() == np.setdiff1d(np.arange(len(hull.vertices)), gone.vertex_ids).tolist()
    assert edit.triangle_ids.tolist() == np.setdiff1d(np.arange(len(hull.triangles)), gone.triangle_ids).tolist()


def test_new_pieces_come_last_in_their_own_order(hull):
    vertices, triangles = rock((0, 0, 0), 100)
    edit = assemble([new("rock", vertices, triangles), *pieces(hull)], hull)
    assert np.array_equal(edit.vertices[len(hull.vertices) :], vertices)
    assert np.array_equal(edit.triangles[len(hull.triangles) :], triangles + len(hull.vertices))


def test_open_edges_that_coincide_are_sewn_where_one_side_is_new():
    vertices, triangles = rock((0, 0, 0), 1)
    top, bottom = split(new("rock", vertices, triangles), np.arange(len(triangles)) < 150)
    edit = assemble([top, bottom], None)
    assert len(edit.vertices) == len(vertices)
    assert len(assemble([top, bottom], None, sew=False).vertices) > len(vertices)


def test_surfaces_that_touch_without_being_open_are_not_sewn():
    one, two = rock((0, 0, 0), 1), rock((0, 0, 0), 1)
    edit = assemble([new("a", *one), new("b", *two)], None)
    assert len(edit.vertices) == 2 * len(one[0])


def test_loose_vertices_are_counted_and_left_out():
    vertices, triangles = rock((0, 0, 0), 1)
    edit = assemble([new("a", np.concatenate((vertices, [[9, 9, 9]])), triangles)], None)
    assert (len(edit.vertices), edit.loose) == (len(vertices), 1)


@pytest.fixture(scope="module")
def library():
    return collision_set.decode(read("CollisionSet_small.bin"))


def editable(part, name="part") -> Piece:
    kept = np.flatnonzero(~aside(part)[0])
    used, corners = np.unique(part.triangles[kept].astype(np.int64), return_inverse=True)
    return Piece(name, part.vertices[used], corners.reshape(-1, 3), used, kept)


def test_what_was_kept_aside_returns_to_its_place(library):
    kept_aside = 0
    for part in library.parts:
        kept_aside += aside(part)[0].sum() + aside(part)[1].sum()
        assert same_as_source(assemble([editable(part)], part, sew=False), part)
    assert kept_aside > 1000


def test_a_triangle_kept_aside_goes_with_its_vertices(library):
    part = next(part for part in library.parts if aside(part)[0].any())
    number = int(np.flatnonzero(aside(part)[0])[0])
    piece = editable(part)
    used = np.isin(piece.vertex_ids[piece.triangles], part.triangles[number]).any(axis=1)
    fewer = dataclasses.replace(piece, triangles=piece.triangles[~used], triangle_ids=piece.triangle_ids[~used])
    edit = assemble([fewer], part, sew=False)
    assert number not in edit.triangle_ids
    moved_along = assemble([moved(piece, (1, 1, 1))], part, sew=False)
    assert number in moved_along.triangle_ids


def test_wrong_claims_do_no_harm(hull):
    piece = pieces(hull)[0]
    random = np.random.default_rng(3)
    nonsense = dataclasses.replace(
        piece,
        vertex_ids=random.integers(-5, 2000, len(piece.vertices)),
        triangle_ids=random.integers(-5, 2000, len(piece.triangles)),
    )
    edit = assemble([nonsense, *pieces(hull)[1:]], hull)
    assert sorted(map(tuple, edit.vertices.tolist())) == sorted(map(tuple, hull.vertices.tolist()))
    corners = sorted(map(str, np.sort(edit.vertices[edit.triangles], axis=1).tolist()))
    assert corners == sorted(map(str, np.sort(hull.vertices[hull.triangles], axis=1).tolist()))
    known = edit.vertex_ids[edit.vertex_ids >= 0]
    assert len(np.unique(known)) == len(known)


def test_numbers_of_another_source_take_nothing_from_what_was_kept_aside(library):
    part = next(part for part in library.parts if aside(part)[0].any())
    stranger = editable(next(other for other in library.parts if len(other.vertices) > 200), "stranger")
    alone, joined = assemble([editable(part)], part, sew=False), assemble([editable(part), stranger], part, sew=False)
    assert len(joined.vertices) == len(alone.vertices) + len(stranger.vertices)
    assert len(joined.triangles) == len(alone.triangles) + len(stranger.triangles)
    assert np.array_equal(joined.vertices[: len(part.vertices)], part.vertices)


def test_without_claims_a_place_is_that_of_the_vertex_in_use(hull):
    """Unused vertices in front, at the places of others, as in some of the game's meshes."""
    doubled = dataclasses.replace(
        hull, vertices=np.concatenate((hull.vertices[:4], hull.vertices)), triangles=hull.triangles + np.uint16(4)
    )
    bare = [new(piece.name, piece.vertices, piece.triangles) for piece in pieces(doubled)]
    assert same_as_source(assemble([identify(piece, doubled) for piece in bare], doubled), doubled)


@pytest.mark.parametrize("path", HULLS, ids=lambda path: path.stem)
def test_an_unedited_piece_is_recognized_and_gives_what_assembling_gives(path):
    source = mcol.decode(path.read_bytes())
    unused = aside(source)
    used, kept = np.flatnonzero(~unused[1]), np.flatnonzero(~unused[0])
    place = np.cumsum(~unused[1]) - 1
    whole = Piece("hull", source.vertices[used], place[source.triangles[kept].astype(np.int64)], used, kept)
    assert is_unedited([whole], source)
    quick = assemble([whole], source)
    nothing = Piece("nothing", np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int64), used[:0], kept[:0])
    assert not is_unedited([whole, nothing], source)
    slow = assemble([whole, nothing], source)
    for name in ("vertices", "triangles", "vertex_ids", "triangle_ids", "owners", "origins", "places"):
        assert np.array_equal(getattr(quick, name), getattr(slow, name)), name
    assert quick.loose == slow.loose == 0


def test_what_only_looks_unedited_is_edited():
    source = mcol.decode(read("test.col"))
    ids, numbers = np.arange(len(source.vertices)), np.arange(len(source.triangles))
    triangles = source.triangles.astype(np.int64)
    negative = source.vertices.copy()
    negative[0, 0] = np.nextafter(negative[0, 0], np.float32(0))
    turned = triangles.copy()
    turned[3] = turned[3][[1, 2, 0]]
    swapped = triangles[[1, 0, *range(2, len(triangles))]]
    for vertices, corners in ((negative, triangles), (source.vertices, turned), (source.vertices, swapped)):
        assert not is_unedited([Piece("hull", vertices, corners, ids, numbers)], source)
    more = Piece(
        "hull", np.append(source.vertices, source.vertices[:1], axis=0), triangles, np.append(ids, -1), numbers
    )
    assert assemble([more], source).loose == 1


# --- rounding -------------------------------------------------------------------------------------


def loosened(piece: Piece, seed: int, reach: float = 0.01) -> Piece:
    """The piece with each vertex off by some rounding, and a slack that says so."""
    noise = np.random.default_rng(seed).uniform(-reach, reach, piece.vertices.shape)
    vertices = (piece.vertices + noise).astype(np.float32)
    return dataclasses.replace(piece, vertices=vertices, slack=np.full(len(vertices), 1.5 * reach))


def test_seam_vertices_with_one_claim_that_rounding_parts_are_one(hull):
    rock = next(piece for piece in pieces(hull) if piece.name == "asteroid_01")
    halves = split(moved(rock, (10_000, 0, 0)), np.arange(len(rock.triangles)) % 2 == 0)
    edit = assemble([loosened(half, seed) for seed, half in enumerate(halves)], hull)
    assert len(edit.vertices) == len(rock.vertices) and len(edit.triangles) == len(rock.triangles)
    assert (edit.edges.counts == 2).all()


def test_two_copies_in_two_places_stay_two(hull):
    rock = next(piece for piece in pieces(hull) if piece.name == "asteroid_01")
    copies = [
        loosened(half, number)
        for number, by in enumerate(((0, 0, 10_000), (0, 10_000, 0)))
        for half in split(moved(rock, by), np.arange(len(rock.triangles)) % 2 == 0)
    ]
    edit = assemble(copies, hull)
    assert len(edit.vertices) == 2 * len(rock.vertices)
    assert (edit.edges.counts == 2).all()


def test_new_vertices_on_a_seam_that_rounding_parts_are_one(hull):
    vertices, triangles = rock((0, 0, 0), 5000.0)
    whole = new("rock", vertices, triangles)
    halves = split(whole, np.arange(len(triangles)) % 2 == 0)
    edit = assemble([loosened(half, seed) for seed, half in enumerate(halves)], hull)
    assert len(edit.vertices) == len(vertices) and (edit.edges.counts == 2).all()


def test_exact_vertices_are_never_moved_together(hull):
    rock = next(piece for piece in pieces(hull) if piece.name == "asteroid_01")
    near = moved(rock, (0.02, 0, 0))
    assert len(assemble([rock, near], hull).vertices) > len(rock.vertices)


# --- triangles that were filled again -------------------------------------------------------------


@pytest.mark.parametrize("claim", ["none", "a neighbour's", "its own"])
@pytest.mark.parametrize("turned", [0, 1, 2])
def test_a_face_deleted_and_filled_by_hand_is_the_sources_triangle(hull, claim, turned):
    changed = pieces(hull)
    piece = changed[1]
    rows = np.r_[1 : len(piece.triangles), 0]  # it comes last, as a new face does
    triangles, ids = piece.triangles[rows].copy(), piece.triangle_ids[rows].copy()
    triangles[-1] = np.roll(triangles[-1], turned)
    ids[-1] = {"none": NEW, "a neighbour's": ids[0], "its own": ids[-1]}[claim]
    changed[1] = dataclasses.replace(piece, triangles=triangles, triangle_ids=ids)
    assert same_as_source(assemble(changed, hull), hull)


def test_a_face_filled_the_wrong_way_around_is_the_sources_triangle_flipped(hull):
    changed = pieces(hull)
    piece = changed[1]
    triangles, ids = piece.triangles.copy(), piece.triangle_ids.copy()
    triangles[5], ids[5] = triangles[5][::-1], NEW
    changed[1] = dataclasses.replace(piece, triangles=triangles, triangle_ids=ids)
    edit = assemble(changed, hull)
    assert edit.triangle_ids.tolist() == list(range(len(hull.triangles)))
    same, wound = matches(edit, hull)
    assert same.all() and np.flatnonzero(~wound).tolist() == [piece.triangle_ids[5]]


def test_two_faces_filled_across_both_get_their_numbers(hull):
    """They claim each other's numbers."""
    changed = pieces(hull)
    piece = changed[1]
    ids = piece.triangle_ids.copy()
    ids[[2, 9]] = ids[[9, 2]]
    changed[1] = dataclasses.replace(piece, triangle_ids=ids)
    assert same_as_source(assemble(changed, hull), hull)


def test_of_two_faces_on_one_triangle_one_is_new(hull):
    changed = pieces(hull)
    piece = changed[1]
    triangles = np.concatenate((piece.triangles, piece.triangles[:1]))
    ids = np.append(piece.triangle_ids, NEW)
    ids[0] = NEW
    changed[1] = dataclasses.replace(piece, triangles=triangles, triangle_ids=ids)
    edit = assemble(changed, hull)
    assert len(edit.triangles) == len(hull.triangles) + 1
    assert sorted(edit.triangle_ids.tolist()) == [NEW, *range(len(hull.triangles))]
