"""Which boxes of two groups meet: the same pairs as when each is compared with each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.geometry import boxes
from core.geometry.boxes import boxes_of, meeting


def all_pairs(one: boxes.Boxes, other: boxes.Boxes) -> list[tuple[int, int]]:
    found = [np.stack(pair, axis=1) for pair in meeting(one, other)]
    return sorted(map(tuple, np.concatenate(found).tolist() if found else []))


def brute(one: boxes.Boxes, other: boxes.Boxes) -> list[tuple[int, int]]:
    near = ((one[0][:, None] <= other[1]) & (one[1][:, None] >= other[0])).all(axis=2)
    return sorted(map(tuple, np.argwhere(near).tolist()))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 20), st.integers(0, 20), st.sampled_from([3, 1000]))
def test_each_pair_is_found_once(seed: int, count: int, other_count: int, span: int) -> None:
    """With a small span many boxes begin or end at one place, or have no size."""
    rng = np.random.default_rng(seed)
    groups = [rng.integers(0, span, (number, 2, 3)).astype(float) for number in (count, other_count)]
    one, other = (boxes_of(points) if len(points) else (np.zeros((0, 3)), np.zeros((0, 3))) for points in groups)
    assert all_pairs(one, other) == brute(one, other)


def test_portions_of_any_size_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(3).uniform(0, 1, (60, 2, 3))
    one, other = boxes_of(points[:25]), boxes_of(points[25:])
    monkeypatch.setattr(boxes, "PAIRS_AT_ONCE", 7)
    assert all_pairs(one, other) == brute(one, other)
