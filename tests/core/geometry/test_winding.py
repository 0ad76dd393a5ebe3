"""Which way surfaces face, against exact winding numbers of overlapping and nested boxes, and of rocks that poke in."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.editing.build import build_from_nothing, build_like, build_new, hull_meshes
from core.errors import RefusedError, Severity
from core.formats import mcol, obj
from core.geometry import surfaces
from core.geometry.surfaces import Facing
from core.inspect.check_hull import check_hull
from tests.oracle import game_queries as game
from tests.support.hulls import box, read, rock


def facings(shapes, outside):
    vertices = np.concatenate([shape[0] for shape in shapes])
    offsets = np.cumsum([0, *(len(shape[0]) for shape in shapes)])
    triangles = np.concatenate([shape[1] + offset for shape, offset in zip(shapes, offsets, strict=False)])
    return surfaces.facing(vertices, triangles, surfaces.split(triangles), outside)


def layers_in_front(boxes, signs, outside):
    """The layers of rock in front of each box, exactly: at the middle of all pieces that the others cut its sides into.
    `boxes` are pairs of corners on whole numbers, no two with a coordinate in common."""
    result = []
    for number, (low, high) in enumerate(boxes):
        found = set()
        cuts = [sorted({c[axis] for b in boxes for c in b if low[axis] <= c[axis] <= high[axis]}) for axis in range(3)]
        middles = [[(a + b) / 2 for a, b in pairwise(cut)] for cut in cuts]
        for axis in range(3):
            places = [list(values) for values in middles]
            places[axis] = [low[axis], high[axis]]
            for point in product(*places):
                inside = [
                    sign
                    for other, (sign, (one, two)) in enumerate(zip(signs, boxes, strict=True))
                    if other != number and all(one[i] < point[i] < two[i] for i in range(3))
                ]
                found.add(int(outside) + sum(inside) - (signs[number] < 0))
        result.append(found)
    return result


def sound(boxes, signs, outside):
    return all(min(found) == 0 for found in layers_in_front(boxes, signs, outside))


def random_boxes(random, count):
    """Nested, overlapping and apart, of very different sizes."""
    axes = [
        random.permutation(np.concatenate((np.arange(1, 4 * count), 40 * np.arange(1, 2 * count)))) for _ in range(3)
    ]
    axes = [list(dict.fromkeys(axis.tolist())) for axis in axes]
    boxes = []
    for number in range(count):
        pairs = [sorted(axis[2 * number : 2 * number + 2]) for axis in axes]
        boxes.append(tuple(zip(*pairs, strict=True)))
    return boxes


def shapes_of(boxes, signs):
    return [box(low, high, inward=sign < 0) for (low, high), sign in zip(boxes, signs, strict=True)]


@settings(max_examples=60)
@given(count=st.integers(1, 5), outside=st.booleans(), seed=st.integers(0, 2**32 - 1))
def test_what_is_right_by_winding_numbers_is_never_refused(count, outside, seed):
    random = np.random.default_rng(seed)
    boxes = random_boxes(random, count)
    for signs in product((1, -1), repeat=count):
        if sound(boxes, signs, outside):
            assert (facings(shapes_of(boxes, signs), outside) == Facing.RIGHT).all(), (boxes, signs)


@settings(max_examples=25)
@given(count=st.integers(1, 4), outside=st.booleans(), seed=st.integers(0, 2**32 - 1))
def test_of_surfaces_that_are_right_the_one_that_is_turned_is_named(count, outside, seed):
    boxes = random_boxes(np.random.default_rng(seed), count)
    for signs in product((1, -1), repeat=count):
        if not sound(boxes, signs, outside):
            continue
        for turned in range(count):
            changed = tuple(-sign if n == turned else sign for n, sign in enumerate(signs))
            ways_back = [
                n
                for n in range(count)
                if sound(boxes, tuple(-sign if n == i else sign for i, sign in enumerate(changed)), outside)
            ]
            if sound(boxes, changed, outside) or ways_back != [turned]:
                continue  # it has no fault, or another one may be meant
            found = np.flatnonzero(facings(shapes_of(boxes, changed), outside) != Facing.RIGHT)
            assert found.tolist() == [turned], (boxes, signs, turned)


WALL = box((-100,) * 3, (100,) * 3, inward=True)
GIANT = rock((200, 0, 0), 150, 10)


@pytest.mark.parametrize(
    "shapes, outside, expected",
    [
        ([WALL, GIANT], True, [Facing.RIGHT, Facing.RIGHT]),
        ([GIANT, WALL], True, [Facing.RIGHT, Facing.RIGHT]),
        ([WALL, GIANT, rock((-250, 0, 0), 170, 10)], True, [Facing.RIGHT] * 3),
        ([WALL, GIANT, rock((0, 0, 0), 20)], True, [Facing.RIGHT] * 3),
        ([WALL, GIANT, rock((90, 0, 0), 5)], True, [Facing.RIGHT, Facing.RIGHT, Facing.BURIED]),
        # A face far larger than the wall, of which only a piece between its corners and middles looks in.
        ([WALL, box((50, -5000, -4000), (9000, 7000, 8000))], True, [Facing.RIGHT, Facing.RIGHT]),
        # A cavern in a giant rock, and a rock that is larger than the cavern and pokes into it.
        ([rock((0, 0, 0), 900, 16), WALL, GIANT], False, [Facing.RIGHT] * 3),
        # Beside a giant that is right, what is turned is still found.
        ([WALL, GIANT, (lambda v, t: (v, t[:, ::-1]))(*rock((0, 0, 0), 20))], True, [0, 0, Facing.WRONG]),
        ([WALL, GIANT], False, None),
    ],
)
def test_rocks_larger_than_the_wall(shapes, outside, expected):
    found = facings(shapes, outside)
    if expected is None:
        assert Facing.WRONG in found
    else:
        assert found.tolist() == expected


def test_the_giant_rock_that_pokes_in_is_built_as_it_is():
    meshes = obj.decode(read("edges/giant_rock_pokes_in.obj"))
    hull, findings = build_new(meshes, 25)
    again = mcol.decode(mcol.encode(hull))
    assert hull.outside_solid == 1 and not findings
    assert all(check.passed for check in check_hull(again) if check.severity is Severity.ERROR)
    points = np.random.default_rng(1).uniform(-99, 99, (300, 3))
    rocks = game.solid(hull.vertices, hull.triangles, True, points)
    assert 0 < rocks.sum() < 300
    rebuilt, findings = build_like(hull_meshes(again, "x"), again)
    assert mcol.encode(rebuilt) == mcol.encode(again) and not findings
    with pytest.raises(RefusedError, match="winding"):
        build_from_nothing(meshes, 25, "no")


def test_a_giant_rock_in_the_solid_outside_leaves_the_wall_free():
    """It is named as what lies in rock; the map is no rock for that."""
    shapes = [WALL, rock((400, 0, 0), 200, 10)]
    vertices = np.concatenate([shape[0] for shape in shapes])
    triangles = np.concatenate((shapes[0][1], shapes[1][1] + 8))
    surface = surfaces.split(triangles)
    found = surfaces.facing(vertices, triangles, surface, True)
    assert found.tolist() == [Facing.RIGHT, Facing.OUTSIDE]
    assert not surfaces.all_rock(vertices, triangles, surface, found)
    alone = np.array([Facing.OUTSIDE])
    assert surfaces.all_rock(shapes[1][0], shapes[1][1], np.zeros(len(shapes[1][1]), int), alone)
