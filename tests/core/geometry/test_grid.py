"""The grid: cells have numbers, places and corners, and points are found as the game finds them."""

import numpy as np

from core.geometry.grid import Grid

GRID = Grid(np.float32([-10, 0, 5]), np.float32([20, 20, 25]), np.float32([10, 10, 5]), (3, 2, 4))


def test_x_counts_first():
    assert GRID.cell_count == 24
    assert GRID.number(np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 1, 3)])).tolist() == [1, 3, 6, 23]


def test_numbers_and_positions_are_one_to_one():
    numbers = np.arange(GRID.cell_count)
    assert np.array_equal(GRID.number(GRID.position(numbers)), numbers)


def test_the_middle_of_each_cell_is_located_in_it():
    position = GRID.position(np.arange(GRID.cell_count))
    middles = GRID.lower_corner(position) + GRID.cell_size / 2
    assert np.array_equal(GRID.locate(middles), position) and not GRID.outside(middles).any()


def test_the_game_truncates_toward_zero():
    assert GRID.locate(np.array([(-19.0, 0, 5), (-21.0, 0, 5)])).tolist() == [[0, 0, 0], [-1, 0, 0]]


def test_the_border_belongs_to_the_box():
    places = np.float32([(-10, 0, 5), (20, 20, 25), (20.5, 0, 5), (0, -1, 5), (0, 0, 26)])
    assert GRID.outside(places).tolist() == [False, False, True, True, True]
