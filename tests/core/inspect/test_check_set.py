"""Checks of collision sets: each fault is found by the check that is meant for it, with its place."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import Severity
from core.formats import collision_set
from core.formats.collision_set import CollisionSet, Part
from core.inspect.check_set import check_set
from core.inspect.checks import Check
from tests.support.hulls import box, read


def by_name(checks: list[Check]) -> dict[str, Check]:
    return {one.name: one for one in checks}


def failed(checks: list[Check], severity: Severity | None = None) -> list[str]:
    return [one.name for one in checks if not one.passed and severity in (None, one.severity)]


def part(name=b"rou_e101_bdy\0\0\0\0", triangles=None, vertex=None):
    vertices, faces = box([0] * 3, [1] * 3)
    if vertex is not None:
        vertices = np.concatenate((vertices, np.full((1, 3), vertex, np.float32)))
    return Part(name, vertices, (faces if triangles is None else np.array(triangles)).astype(np.uint32))


def test_what_is_normal_in_a_library_is_no_fault():
    checks = check_set(collision_set.decode(read("CollisionSet_small.bin")))
    assert failed(checks, Severity.ERROR) == []
    found = by_name(checks)
    assert found["meshes with every edge shared by two (manifold)"].good == 4
    degenerate = found["triangles with three different vertices"]
    assert degenerate.labels == ("rou_e999_wep_01_degenerate",)
    assert degenerate.severity is Severity.WARNING


def test_a_sound_mesh_passes_everything():
    assert failed(check_set(CollisionSet((part(),)))) == []


@pytest.mark.parametrize(
    ("library", "name", "severity"),
    [
        (CollisionSet((part(), part(b"ROU_e101_BDY\0\0\0\0"))), "names that no mesh before has", Severity.WARNING),
        (CollisionSet((part(),), bytes(16)), "files that end with their last mesh", Severity.ERROR),
        (CollisionSet((part(b"rou_e101_bdy_001"),)), "names closed by NUL", Severity.WARNING),
        (CollisionSet((part(b"\x81\0\0\0\0\0\0\0" * 2),)), "names in CP932", Severity.WARNING),
        (CollisionSet((part(b"short\0\0\0"),)), "name fields of 16, 24 or 32 bytes", Severity.INFO),
        (CollisionSet((part(b"name\0 and more \0"),)), "name fields with zeros behind the name", Severity.INFO),
        (
            CollisionSet((replace(part(), size_excess=4),)),
            "size words that match the counts",
            Severity.ERROR,
        ),
        (
            CollisionSet((part(triangles=[[0, 1, 99]]),)),
            "meshes whose triangles have usable corners",
            Severity.ERROR,
        ),
        (CollisionSet((part(vertex=np.nan),)), "vertices with usable coordinates", Severity.WARNING),
        (CollisionSet((part(triangles=np.zeros((0, 3))),)), "meshes with triangles", Severity.WARNING),
        (CollisionSet((part(triangles=[[0, 1, 2]]),)), "edges shared by exactly two triangles", Severity.INFO),
        (CollisionSet((part(triangles=[[0, 1, 2]]),)), "vertices that a triangle uses", Severity.INFO),
        (CollisionSet((part(triangles=[[0, 1, 2], [2, 1, 0]]),)), "triangles unlike every other", Severity.INFO),
        (CollisionSet((part(triangles=[[0, 1, 1]]),)), "triangles with three different vertices", Severity.WARNING),
        (CollisionSet((part(triangles=[[0, 1, 1]]),)), "triangles with an area", Severity.WARNING),
    ],
)
def test_a_fault_of_a_library_is_found(library, name, severity):
    found = by_name(check_set(library))[name]
    assert not found.passed
    assert found.finding.severity is severity


def test_of_equal_names_the_second_is_named():
    library = CollisionSet((part(), part(b"mob_n040\0\0\0\0\0\0\0\0"), part(b"ROU_E101_BDY\0\0\0\0")))
    assert by_name(check_set(library))["names that no mesh before has"].elements == (2,)
