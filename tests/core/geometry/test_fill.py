"""Where rock is: layers that surfaces lay over points and cells."""

import numpy as np

from core.geometry.fill import is_free, layers_at, layers_in_cells
from core.geometry.grid import Grid
from tests.support.hulls import box

HALF = np.float32([8, 8, 8])
GRID = Grid(-HALF, HALF, np.float32([2, 2, 2]), (8, 8, 8))
ROCK = box((-3.5, -3.5, -3.5), (3.5, 3.5, 3.5))
WALL = box((-7.5, -7.5, -7.5), (7.5, 7.5, 7.5), inward=True)
PLACES = np.array([(0.3, 0.2, 0.1), (5.1, 0.2, 0.3), (7.9, 0.1, 0.2)])


def both():
    return np.concatenate((ROCK[0], WALL[0])), np.concatenate((ROCK[1], WALL[1] + len(ROCK[0])))


def test_a_rock_adds_a_layer_and_a_wall_takes_one():
    assert layers_at(PLACES, *ROCK).tolist() == [1, 0, 0]
    assert layers_at(PLACES, *WALL).tolist() == [-1, -1, 0]
    assert layers_at(PLACES, *both()).tolist() == [0, -1, 0]


def test_free_space_lies_between_rock_and_wall():
    assert is_free(PLACES, *both(), True).tolist() == [False, True, False]
    assert is_free(PLACES, *ROCK, False).tolist() == [False, True, True]


def test_cells_have_the_layers_of_their_centres():
    centres = GRID.lower_corner(GRID.position(np.arange(GRID.cell_count))) + 1
    inside = (np.abs(centres) < 3.5).all(axis=1)
    assert np.array_equal(layers_in_cells(GRID, *ROCK), inside)
    assert np.array_equal(layers_at(centres, *ROCK), inside)
