"""The stand-in collision set has the names and counts of the game's own."""

from core.samples.sets import TRIANGLES, VERTICES, sample_set, set_names


def test_names_by_family():
    names = set_names()
    assert len(names) == len(set(names)) == 158
    counts = {start: sum(name.startswith(start) for name in names) for start in ("mob_", "rob_", "rou_", "S")}
    assert counts == {"mob_": 30, "rob_": 4, "rou_": 78, "S": 46}


def test_counts():
    parts = sample_set(1).parts
    assert [part.name for part in parts] == set_names()
    assert sum(len(part.vertices) for part in parts) == VERTICES == 48_241
    assert sum(len(part.triangles) for part in parts) == TRIANGLES == 90_836
