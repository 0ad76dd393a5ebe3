"""How near segments come to triangles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.geometry import clearance
from core.geometry.clearance import clearances, segment_to_triangle
from tests.support.volumes import hull


def test_distances_are_those_of_many_sampled_points() -> None:
    rng = np.random.default_rng(3)
    segments, faces = rng.uniform(-1, 1, (200, 2, 3)), rng.uniform(-1, 1, (200, 3, 3))
    part = np.linspace(0, 1, 60)
    along = segments[:, :1] + part[:, None] * (segments[:, 1:] - segments[:, :1])
    u, v = (grid.ravel() for grid in np.meshgrid(part, part))
    inside = u + v <= 1
    weights = np.stack((1 - u - v, u, v), axis=1)[inside]
    points = np.einsum("wk,nki->nwi", weights, faces)
    sampled = np.array([np.linalg.norm(a[:, None] - b, axis=2).min() for a, b in zip(along, points, strict=True)])
    exact = segment_to_triangle(segments, faces)
    assert (exact <= sampled + 1e-12).all() and (sampled - exact < 0.05).all()
    assert (exact[sampled > 0.05] > 0).all()


def test_the_nearest_triangle_is_found_among_many() -> None:
    one = hull()
    rng = np.random.default_rng(4)
    segments = rng.uniform(-50_000, 50_000, (30, 1, 3))[:, :, None] + rng.uniform(-4000, 4000, (30, 6, 2, 3))
    shape = one.vertices.astype(float)[one.triangles]
    brute = [[segment_to_triangle(np.repeat(s[None], len(shape), 0), shape).min() for s in row] for row in segments]
    assert clearances(segments, one.vertices, one.triangles) == pytest.approx(np.array(brute))
    limits = np.full((30, 6), 3000.0)
    assert clearances(segments, one.vertices, one.triangles, limits) == pytest.approx(np.minimum(brute, 3000))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.01, 1.0, 100.0]), st.booleans())
def test_leaving_out_far_triangles_changes_nothing(seed: int, spread: float, limited: bool) -> None:
    """Large and tiny triangles, flat ones and points, segments of no length: the same as every pair measured."""
    rng = np.random.default_rng(seed)
    vertices = (rng.normal(size=(30, 3)) * rng.choice([0.01, 1, 50], (30, 1))).astype(np.float32)
    triangles = rng.integers(0, 30, (25, 3))
    segments = rng.normal(size=(12, 1, 1, 3)) * spread + rng.normal(size=(12, 3, 2, 3)) * rng.choice([0, 0.1, 5])
    shape = vertices.astype(float)[triangles]
    every = [[segment_to_triangle(np.repeat(s[None], len(shape), 0), shape).min() for s in row] for row in segments]
    limits = rng.uniform(0, 3, (12, 3)) if limited else None
    expected = np.array(every) if limits is None else np.minimum(every, limits)
    assert clearances(segments, vertices, triangles, limits) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_nothing_is_near_nothing() -> None:
    nothing = np.zeros((0, 3))
    assert clearances(np.zeros((0, 6, 2, 3)), hull().vertices, hull().triangles).shape == (0, 6)
    assert np.isinf(clearances(np.zeros((2, 6, 2, 3)), nothing, nothing.astype(int))).all()


def test_a_large_hull_is_gone_through_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    segments = np.random.default_rng(7).uniform(-40_000, 40_000, (40, 1, 2, 3))
    whole = clearances(segments, hull().vertices, hull().triangles)
    monkeypatch.setattr(clearance, "PAIRS_AT_ONCE", 300)
    monkeypatch.setattr(clearance, "EXACT_AT_ONCE", 7)
    assert clearances(segments, hull().vertices, hull().triangles) == pytest.approx(whole)
