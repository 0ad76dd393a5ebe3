"""Shapes of stand-in meshes."""

import numpy as np

from core.samples.shapes import joined, random_numbers, rock, rounded


def test_a_rock_lies_within_a_distance_of_one():
    vertices, triangles = rock(100, random_numbers(1, "a"))
    far = np.linalg.norm(vertices, axis=1)
    assert (len(vertices), len(triangles)) == (100, 196) and far.min() > 0.5 and far.max() <= 1


def test_seed_and_name_decide():
    one, same, other, named = (random_numbers(*key).random() for key in ((1, "a"), (1, "a"), (2, "a"), (1, "b")))
    assert one == same and len({one, other, named}) == 3


def test_rounded_numbers_have_two_decimals():
    assert rounded(np.array([1.23456, -7.0])).tolist() == [np.float32(1.23), -7]


def test_joined_meshes_keep_their_shapes():
    meshes = [rock(6, random_numbers(1, "a")), rock(9, random_numbers(1, "b"))]
    vertices, triangles = joined(meshes)
    assert np.array_equal(vertices[triangles], np.concatenate([points[corners] for points, corners in meshes]))
