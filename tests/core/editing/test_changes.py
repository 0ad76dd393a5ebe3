"""Which triangles an edit moved, made and cut away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.editing.changes import find_changes
from core.editing.compare import Comparison
from core.formats import mcol
from core.geometry.arrays import bits
from tests.support.hulls import HULLS, LARGE, edited, moved, new, pieces, read, rock


@pytest.fixture(scope="module")
def hull():
    return mcol.decode(read(LARGE))


def changes_of(hull, changes, extra=()):
    return find_changes(Comparison(edited(hull, changes, extra), hull))


def piece(hull, name):
    return next(piece for piece in pieces(hull) if piece.name == name)


@pytest.mark.parametrize("path", HULLS, ids=lambda path: path.name)
def test_an_unedited_hull_has_no_changes(path):
    source = mcol.decode(path.read_bytes())
    found = changes_of(source, {})
    assert [len(part) for part in (found.moved, found.ghost, found.new, found.removed)] == [0, 0, 0, 0]


def test_a_moved_rock_is_shown_where_it_is_and_where_it_was(hull):
    asteroid = piece(hull, "asteroid_02")
    found = changes_of(hull, {"asteroid_02": moved(asteroid, (10_000, 0, 0))})
    assert len(found.moved) == len(asteroid.triangles)
    assert np.array_equal(bits(found.ghost), bits(hull.vertices[hull.triangles[asteroid.triangle_ids]]))
    assert np.allclose(found.moved - found.ghost, (10_000, 0, 0))
    assert not len(found.new) and not len(found.removed)


def test_one_vertex_moves_the_triangles_around_it_alone(hull):
    asteroid = piece(hull, "asteroid_02")
    vertices = asteroid.vertices.copy()
    vertices[0] += (900, 0, 0)
    found = changes_of(hull, {"asteroid_02": replace(asteroid, vertices=vertices)})
    assert len(found.moved) == np.count_nonzero((asteroid.triangles == 0).any(axis=1))


def test_a_flipped_triangle_is_a_change(hull):
    asteroid = piece(hull, "asteroid_02")
    triangles = asteroid.triangles.copy()
    triangles[3] = triangles[3][::-1]
    found = changes_of(hull, {"asteroid_02": replace(asteroid, triangles=triangles)})
    assert len(found.moved) == 1 and not len(found.new) and not len(found.removed)


def test_an_added_rock_is_new(hull):
    vertices, triangles = rock((0, 0, 0), 4000)
    found = changes_of(hull, {}, (new("mine", vertices, triangles),))
    assert np.array_equal(found.new, vertices[triangles])
    assert not len(found.moved) and not len(found.removed)


def test_a_deleted_rock_is_removed(hull):
    asteroid = piece(hull, "asteroid_02")
    found = changes_of(hull, {"asteroid_02": None})
    assert np.array_equal(bits(found.removed), bits(hull.vertices[hull.triangles[asteroid.triangle_ids]]))
    assert not len(found.moved) and not len(found.new)
