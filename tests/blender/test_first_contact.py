"""Files that differ from the game's own where docs/FORMATS.md only assumes: they are imported, checked without an
error, and exported byte for byte; an edit of them isn't refused for what the file had before."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import bpy
import numpy as np
import pytest

from tests.blender.helpers import MANY_ASTEROIDS, TWO_ASTEROIDS, export, import_hull, source, surfaces
from tests.blender.test_set import CORNERS, TETRAHEDRON, load, new_object, record, save
from tests.oracle.readers import read_col

HULL = source(TWO_ASTEROIDS)
PLAN = read_col(HULL)
POF0 = 16 + PLAN.payload_size
NAN = float("nan")


def put(data: bytes, form: str, offset: int, *values) -> bytes:
    changed = bytearray(data)
    struct.pack_into(">" + form, changed, offset, *values)
    return bytes(changed)


def nudged(steps: int) -> bytes:
    """The vertices in the box's last plane along x a few float steps outside."""
    data, top = HULL, np.float32(PLAN.bbox_max[0])
    for number in np.flatnonzero(PLAN.vertices[:, 0] == top):
        data = put(data, "f", PLAN.at["vertices"] + 12 * int(number), float(top + steps * np.spacing(top)))
    assert data != HULL
    return data


HULLS = {
    "no zero word at the end": HULL[:-16],
    "a further chunk": HULL[:-16] + b"MESH" + struct.pack(">3I", 4, 0, 0) + b"four" + bytes(4),
    "byte 0x73 the other way around": put(HULL, "B", 0x73, int(not HULL[0x73])),
    "vertices outside the box": nudged(4),
    "entries missing from lists": source("quirks/S13_missing.col"),
}


@pytest.fixture
def problems(addon: ModuleType) -> Callable:
    """The errors that the check finds below a root."""

    def errors(root: bpy.types.Object) -> list[str]:
        assert bpy.ops.sylpheed.check() == {"FINISHED"}
        checked = addon.blender_addon.checks.results.of(root).checked
        return [
            f"{problem.check}: {problem.message}" for problem in checked.problems if problem.severity.value == "error"
        ]

    return errors


@pytest.mark.parametrize("deviation", HULLS)
def test_a_hull_is_shown_checked_and_exported_as_it_came(deviation: str, problems: Callable, tmp_path: Path) -> None:
    (tmp_path / "odd.col").write_bytes(HULLS[deviation])
    root = import_hull(tmp_path / "odd.col")
    assert problems(root) == []
    assert export(tmp_path) == HULLS[deviation]


@pytest.mark.parametrize("deviation", HULLS)
def test_an_edit_of_it_is_not_refused(deviation: str, problems: Callable, tmp_path: Path) -> None:
    (tmp_path / "odd.col").write_bytes(HULLS[deviation])
    root = import_hull(tmp_path / "odd.col")
    rock = surfaces(root)["asteroid_01"]
    rock.location.x += 50.0
    assert problems(root) == []
    data = export(tmp_path)
    assert data != HULLS[deviation]
    assert data[-4:] == HULLS[deviation][-4:] or deviation.startswith("no zero")


@pytest.mark.parametrize("name", [TWO_ASTEROIDS, MANY_ASTEROIDS])
def test_a_new_rock_in_a_hull_that_contradicts_byte_73(name: str, problems: Callable, tmp_path: Path) -> None:
    data = source(name)
    (tmp_path / "odd.col").write_bytes(put(data, "B", 0x73, int(not data[0x73])))
    root = import_hull(tmp_path / "odd.col")
    corner = 0.9 * PLAN.bbox_max[0] if name == TWO_ASTEROIDS else 20_000.0
    new_object(root, "rock", np.add(np.float32(CORNERS) / 10, corner).tolist(), TETRAHEDRON)
    assert problems(root) == []
    export(tmp_path)


# --- sets -----------------------------------------------------------------------------------------

SOUND = record("first") + record("last")
ODD = {
    "an index past the vertices": record("odd", triangles=[*TETRAHEDRON, (0, 1, 9)]),
    "a used coordinate that is no number": record("odd", vertices=[*CORNERS[:3], (NAN, 0, 0)]),
    "unused coordinates that are no numbers": record("odd", vertices=[*CORNERS, (NAN, float("inf"), 0)]),
    "the name of an earlier one": record("FIRST"),
    "no triangles": record("odd", triangles=[]),
    "another size word": put(record("odd"), "I", 0, 12345),
}
HIDDEN = ("an index past the vertices", "a used coordinate that is no number")


@pytest.mark.parametrize("deviation", ODD)
def test_one_odd_mesh_leaves_the_others_usable(
    deviation: str, problems: Callable, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data = record("first") + ODD[deviation] + record("last")
    (tmp_path / "odd.bin").write_bytes(data)
    root = load(tmp_path / "odd.bin")
    shown = sorted(obj.name.partition(".")[0] for obj in root.children_recursive if obj.type == "MESH")
    assert ("odd" in shown) == (deviation not in HIDDEN and deviation != "the name of an earlier one")
    assert ("odd can't be shown: " in "".join(capfd.readouterr())) == (deviation in HIDDEN)
    assert problems(root) == []
    assert save(tmp_path) == data
    first = next(obj for obj in root.children_recursive if obj.name == "first")
    first.data.vertices[0].co.x += 10.0
    after = save(tmp_path)
    size = len(record("first"))
    assert after[:size] != data[:size] and after[size:] == data[size:]


def test_a_set_of_which_nothing_can_be_shown_is_kept(tmp_path: Path) -> None:
    data = ODD["an index past the vertices"]
    (tmp_path / "odd.bin").write_bytes(data)
    root = load(tmp_path / "odd.bin")
    assert not [obj for obj in root.children_recursive if obj.type == "MESH"]
    assert save(tmp_path) == data
