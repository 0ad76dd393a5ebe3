"""Vertices are where float64 puts them, and exactly where the source has them if rounding alone parts the two."""

import numpy as np
import pytest

from core.editing.placement import EXACT, between, place, rounded
from core.formats import mcol
from tests.support.hulls import LARGE, read

SOURCE = mcol.decode(read(LARGE)).vertices
CLAIMS = np.arange(len(SOURCE))


STRAIGHT = np.eye(3)


def matrix(linear=STRAIGHT, offset=(0, 0, 0)) -> np.ndarray:
    """A 4 x 4 matrix as Blender stores it."""
    result = np.eye(4, dtype=np.float32)
    result[:3, :3], result[:3, 3] = linear, offset
    return result


def turn(angle: float) -> np.ndarray:
    """About z, with the sines and cosines that float32 has."""
    c, s = np.cos(np.float32(angle)), np.sin(np.float32(angle))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]], np.float32)


def test_what_nothing_moves_keeps_its_bits():
    vertices, slack = place(SOURCE, CLAIMS, EXACT, SOURCE)
    assert vertices is SOURCE and slack is None


def test_a_vertex_one_step_of_float32_off_is_the_sources():
    local = SOURCE.copy()
    local[7, 0] = np.nextafter(local[7, 0], np.float32(np.inf))
    vertices, _ = place(local, CLAIMS, EXACT, SOURCE)
    assert vertices.tobytes() == SOURCE.tobytes()


def test_a_small_move_along_a_small_coordinate_is_kept():
    """It is less than a step of the largest coordinate."""
    far = np.float32([(250_000, 3, 0), *SOURCE[:40]])
    local = far.copy()
    local[0, 1] = 3.01
    vertices, _ = place(local, np.arange(len(far)), EXACT, far)
    assert vertices.tobytes() == local.tobytes()


@pytest.mark.parametrize("offset", [(0.01, 0, 0), (-10_000, 20_000, 0.5), (1 / 3, 0, 1e6)])
def test_a_move_is_made_in_float64_and_rounded_once(offset):
    vertices, _ = place(SOURCE, CLAIMS, rounded(matrix(offset=offset)), SOURCE)
    expected = (SOURCE.astype(np.float64) + np.float32(offset).astype(np.float64)).astype(np.float32)
    assert vertices.tobytes() == expected.tobytes()


@pytest.mark.parametrize("origin", [(100.5, -3, 77_777.7), (1 / 3, 25_000, 0)])
def test_an_origin_that_was_moved_and_comes_back_leaves_the_source(origin):
    origin = np.float32(origin)
    local = (SOURCE - origin).astype(np.float32)
    assert (local + origin != SOURCE).any(), "the origin loses bits"
    vertices, _ = place(local, CLAIMS, rounded(matrix(offset=origin)), SOURCE)
    assert vertices.tobytes() == SOURCE.tobytes()


def test_a_mesh_that_was_imported_about_an_origin_moves_from_the_sources_coordinates():
    origin = np.float32((1 / 3, 25_000, 1e5)).astype(np.float64)
    local = (SOURCE.astype(np.float64) - origin).astype(np.float32)
    by = np.array([10_000.25, 0, -0.125])
    vertices, _ = place(local, CLAIMS, rounded(matrix(offset=origin + by)), SOURCE, origin)
    offset = (origin + by).astype(np.float32).astype(np.float64) - origin
    assert vertices.tobytes() == (SOURCE.astype(np.float64) + offset).astype(np.float32).tobytes()


@pytest.mark.parametrize("times", [1, 2, -3])
def test_whole_turns_lead_back(times):
    turned = rounded(matrix(turn(2 * np.pi * times)))
    assert (SOURCE.astype(np.float64) @ turned.matrix[:3, :3].T).astype(np.float32).tobytes() != SOURCE.tobytes()
    assert place(SOURCE, CLAIMS, turned, SOURCE)[0].tobytes() == SOURCE.tobytes()


def test_an_inverse_and_its_matrix_lead_back():
    place_of_root = matrix(0.001 * turn(1.1), (3, -40, 5))
    inverse = np.linalg.inv(place_of_root).astype(np.float32)
    there_and_back = rounded(inverse).after(rounded(place_of_root))
    assert place(SOURCE, CLAIMS, there_and_back, SOURCE)[0].tobytes() == SOURCE.tobytes()


def test_an_applied_transform_that_led_back_leaves_the_source():
    local = (SOURCE @ turn(0.8).T).astype(np.float32)
    local = (local @ turn(-0.8).T).astype(np.float32)
    assert local.tobytes() != SOURCE.tobytes()
    assert place(local, CLAIMS, EXACT, SOURCE)[0].tobytes() == SOURCE.tobytes()


def test_one_space_in_another_is_known_up_to_rounding():
    root = matrix(0.001 * turn(0.7), (10, 20, 30))
    inner = (root.astype(np.float64) @ matrix(offset=(5000, 0, 0)).astype(np.float64)).astype(np.float32)
    found = between(root, inner)
    assert (np.abs(found.matrix - matrix(offset=(5000, 0, 0))) <= found.error).all()
    assert found.error.max() < 0.1


def test_a_larger_edit_of_a_turned_object_is_kept():
    local = SOURCE.copy()
    local[3] += 5
    vertices, _ = place(local, CLAIMS, rounded(matrix(turn(2 * np.pi))), SOURCE)
    assert np.abs(vertices[3] - local[3]).max() < 0.1
    rest = np.delete(CLAIMS, 3)
    assert vertices[rest].tobytes() == SOURCE[rest].tobytes()


def test_claims_beyond_the_source_and_odd_numbers_do_no_harm():
    local = SOURCE[:4].copy()
    local[1] = np.nan
    local[2] = np.inf
    claims = np.array([len(SOURCE), 1, 2, -1])
    vertices, _ = place(local, claims, rounded(matrix(turn(0.1))), SOURCE)
    assert np.isfinite(vertices[[0, 3]]).all() and not np.isfinite(vertices[[1, 2]]).any(axis=1).any()
