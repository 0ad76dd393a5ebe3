"""The kind of a file by its first bytes."""

import pytest

from core.formats.kinds import ENOUGH, MAGIC, Kind, detect
from tests.support.hulls import HULLS, read


@pytest.mark.parametrize("path", HULLS, ids=lambda path: path.name)
def test_every_hull_is_one_by_its_beginning(path):
    assert detect(path.read_bytes()[:ENOUGH]) is Kind.HULL


def test_every_kind_but_the_set_has_its_magic():
    assert set(MAGIC.values()) == set(Kind) - {Kind.COLLISION_SET}
    for magic, kind in MAGIC.items():
        assert detect(magic) is kind and detect(magic.lower()) is None and detect(b" " + magic) is None


def test_the_first_bytes_of_a_set_are_enough():
    data = read("CollisionSet_small.bin")
    assert detect(data[:ENOUGH]) is detect(data) is Kind.COLLISION_SET
