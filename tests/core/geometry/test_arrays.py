"""Array tools against slow, plain answers."""

import numpy as np
import pytest

from core.geometry import arrays


def plain_components(count, pairs):
    label = list(range(count))
    for one, two in pairs:
        low, high = sorted((label[one], label[two]))
        label = [low if which == high else which for which in label]
    return label


@pytest.mark.parametrize("seed", range(20))
def test_components_are_named_by_their_lowest_node(seed):
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 60))
    left, right = random.integers(0, count, (2, random.integers(0, 80)))
    expected = plain_components(count, zip(left.tolist(), right.tolist(), strict=True))
    assert arrays.components(count, left, right).tolist() == expected


@pytest.mark.parametrize("order", ["up", "down", "shuffled"])
def test_a_chain_is_one_component_however_it_is_given(order):
    nodes = np.random.default_rng(1).permutation(1000) if order == "shuffled" else np.arange(1000)
    nodes = nodes[::-1] if order == "down" else nodes
    assert not arrays.components(1000, nodes[:-1], nodes[1:]).any()


@pytest.mark.parametrize("largest, kind", [(0, np.uint8), (255, np.uint8), (256, np.uint16), (65_536, np.uint32)])
def test_numbers_are_kept_in_the_smallest_type_that_holds_them(largest, kind):
    numbers = arrays.narrow(np.array([0, largest]))
    assert numbers.dtype == kind
    assert numbers.tolist() == [0, largest]
