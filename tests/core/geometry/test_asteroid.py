"""Made-up asteroids: closed, outward, free of self-intersection, the same everywhere, and good in a hull."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.editing.rebuild_hull import rebuild
from core.errors import Severity
from core.formats import mcol
from core.geometry.asteroid import FEWEST_TRIANGLES, MOST_TRIANGLES, make_asteroid
from core.geometry.edges import edge_census
from core.geometry.surfaces import split, volumes
from core.geometry.triangles import flat
from core.inspect.check_hull import check_hull
from core.inspect.checks import findings
from tests.support import hulls

SEED_7 = "3db9bbe095457605757012dfb8669916e8ad660354118123e5a9e2d84b7b0371"


def solid_angles(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """What each triangle covers of the view from the origin, positive where its back is seen."""
    a, b, c = np.moveaxis(vertices.astype(np.float64)[triangles], 1, 0)
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    dot = [(p * q).sum(axis=1) for p, q in ((a, b), (b, c), (c, a))]
    volume = (a * np.cross(b, c)).sum(axis=1)
    return 2 * np.arctan2(volume, la * lb * lc + dot[0] * lc + dot[1] * la + dot[2] * lb)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**31 - 1),
    size=st.floats(1, 100_000),
    roughness=st.floats(0, 1),
    triangles=st.integers(FEWEST_TRIANGLES, 600),
)
def test_any_asteroid_is_one_closed_surface_without_self_intersection(seed, size, roughness, triangles):
    vertices, corners = make_asteroid(seed, size, roughness, triangles)
    assert vertices.dtype == np.float32
    assert triangles - 1 <= len(corners) <= triangles and len(vertices) == len(corners) // 2 + 2
    _, counts = edge_census(corners)
    assert (counts == 2).all() and not split(corners).any()
    assert not flat(vertices, corners).any()
    # The whole view from the centre is covered, once: every line from there leaves the rock once.
    angles = solid_angles(vertices, corners)
    assert (angles > 0).all() and angles.sum() == pytest.approx(4 * np.pi)


@pytest.mark.parametrize("triangles", [FEWEST_TRIANGLES, 47, 48, 1_000, MOST_TRIANGLES])
def test_the_farthest_vertex_lies_at_half_the_size(triangles):
    vertices, _ = make_asteroid(3, 5_000, 0.6, triangles)
    assert np.linalg.norm(vertices.astype(np.float64), axis=1).max() == pytest.approx(2_500, rel=1e-5)


def test_roughness_makes_it_less_round():
    fill = []
    for roughness in (0.0, 0.5, 1.0):
        vertices, corners = make_asteroid(3, 2, roughness, 2_000)
        fill.append(volumes(vertices, corners, split(corners))[0] / (4 / 3 * np.pi))
    assert fill[0] > 0.99 and fill[0] > fill[1] > fill[2] > 0.02


def test_a_seed_is_one_asteroid_on_every_machine():
    vertices, corners = make_asteroid(7, 4_000, 0.5, 80)
    digest = hashlib.sha256(vertices.astype(">f4").tobytes() + corners.astype(">u2").tobytes()).hexdigest()
    assert digest == SEED_7


def test_other_seeds_are_other_asteroids():
    made = {make_asteroid(seed, 4_000, 0.5, 80)[0].tobytes() for seed in range(20)}
    assert len(made) == 20


def test_an_asteroid_in_a_hull_passes_every_check():
    hull = mcol.decode(hulls.read("mapmesh_box_500km.col"))
    vertices, corners = make_asteroid(5, 120_000, 1.0, 300)
    rebuilt = rebuild(hull, hulls.edited(hull, {}, (hulls.new("asteroid", vertices + 40_000, corners),)))
    assert rebuilt.added == len(corners) and not rebuilt.findings
    found = findings(check_hull(mcol.decode(mcol.encode(rebuilt.hull))))
    assert [finding for finding in found if finding.severity is not Severity.INFO] == []
