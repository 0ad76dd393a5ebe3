"""A library of collision meshes in Blender: every byte of what nobody edited, the right values of what somebody did."""

from __future__ import annotations

import struct
import warnings
from pathlib import Path

import bmesh
import bpy
import numpy as np
import pytest

from tests.oracle.reader import read_set

DATA = Path(__file__).resolve().parents[1] / "data"
SMALL = DATA / "CollisionSet_small.bin"

CORNERS = [(0, 0, 0), (1000.1, 0, 0), (0, 2000.2, 0), (0, 0, 3000.3)]
TETRAHEDRON = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
TURNED = [(a, c, b) for a, b, c in TETRAHEDRON]
OLD = b"what stood here before"


# --- files and what they hold ---------------------------------------------------------------------


def record(name: str | bytes, vertices=CORNERS, triangles=TETRAHEDRON, field: int = 0) -> bytes:
    """One record, written from the format notes."""
    spelled = name if isinstance(name, bytes) else name.encode("cp932")
    field = field or max(16, (len(spelled) + 8) // 8 * 8)
    body = spelled.ljust(field, b"\0") + struct.pack(">II", len(vertices), len(triangles))
    body += b"".join(struct.pack(">3f", *vertex) for vertex in vertices)
    body += b"".join(struct.pack(">3I", *triangle) for triangle in triangles)
    return struct.pack(">II", len(body), field) + body


def parts(data: bytes) -> dict[str, tuple[bytes, np.ndarray, np.ndarray]]:
    """Name to record, vertices and triangles, in file order, by an independent reader."""
    meshes = read_set(data)
    return {m.name: (data[m.offset : m.offset + 8 + m.size], m.vertices, m.triangles) for m in meshes}


def assert_others_unchanged(before: bytes, after: bytes, *edited: str) -> None:
    old, new = parts(before), parts(after)
    assert list(old) == list(new)
    assert [name for name in old if old[name][0] != new[name][0]] == list(edited)


ODD_CORNERS = [(7, 7, 7), *CORNERS, (8, 8, 8), (9, 9, 9), (-0.0, 1e-40, 2)]
ODD_TRIANGLES = [(a + 1, b + 1, c + 1) for a, b, c in [*TETRAHEDRON, *TURNED, TETRAHEDRON[0], TETRAHEDRON[3]]]
ODD_TRIANGLES[3:3] = [(1, 2, 2), (6, 6, 6)]
"""Two-sided, two triangles doubled, two with a repeated index, vertices 0, 5 and 7 without a triangle."""

KATAKANA = "ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏ"
LENGTHS = [7, 8, 15, 16, 23, 24, 31]
ODD = (
    record("odd", ODD_CORNERS, ODD_TRIANGLES)
    + record("same")
    + record("same", [(x + 1, y, z) for x, y, z in CORNERS])
    + record("Same", triangles=TURNED)
    + record("sAME_2")
    + record("SAME_2")
    + record("no_triangles", triangles=[])
    + record("nothing", [], [])
    + record(b"lone_lead_byte\x83")
    + record(b"garbage\0\xff\xfe\x83\0junk...", field=24)
    + record(KATAKANA)
    + record(KATAKANA)
    + record("two words and a blank ")
    + record("part.001")
    + record("part.001.002")
    + record("日本/語\\ü".replace("ü", "u"))
    + record(b"")
    + record(b"line\nfeed\ttab")
    + b"".join(record("n" * n) for n in LENGTHS)
    + record("wide_field", field=64)
    + record("narrow", field=8)
)


# --- in and out -----------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path: Path):
    """Writes bytes as a file and returns its path."""

    def write(data: bytes, name: str = "library.bin") -> Path:
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


def roots() -> list[bpy.types.Object]:
    return [obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "set"]


def load(path: Path = SMALL, **options: object) -> bpy.types.Object:
    """Imports a library and returns its root."""
    before = set(roots())
    assert bpy.ops.import_scene.sylpheed_set(filepath=str(path), **options) == {"FINISHED"}
    (root,) = set(roots()) - before
    return root


def save(folder: Path, **options: object) -> bytes:
    """The bytes that the export wrote."""
    path = folder / "exported.bin"
    path.unlink(missing_ok=True)
    assert bpy.ops.export_scene.sylpheed_set(filepath=str(path), **options) == {"FINISHED"}
    return path.read_bytes()


def refusal(folder: Path) -> str:
    """What a refused export says; the file that was there is as it was."""
    path = folder / "refused.bin"
    path.write_bytes(OLD)
    before = sorted(folder.iterdir())
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.export_scene.sylpheed_set(filepath=str(path))
    assert path.read_bytes() == OLD and sorted(folder.iterdir()) == before
    message = str(caught.value).removeprefix("Error: ").strip()
    assert "Traceback" not in message and "\n" not in message
    return message


def reports(capfd: pytest.CaptureFixture[str]) -> list[str]:
    """The warnings that Blender printed since the last call."""
    lines = "".join(capfd.readouterr()).splitlines()
    return [line.split("Warning: ", 1)[1] for line in lines if "Warning: " in line]


def select(*objects: bpy.types.Object) -> None:
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[-1]


def copy_of(obj: bpy.types.Object, linked: bool = False) -> bpy.types.Object:
    """Shift D, or Alt D."""
    select(obj)
    bpy.ops.object.duplicate(linked=linked)
    return bpy.context.view_layer.objects.active


def new_object(root: bpy.types.Object, name: str, vertices=CORNERS, faces=TETRAHEDRON) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(map(float, vertex)) for vertex in vertices], [], [tuple(face) for face in faces])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.parent = root
    return obj


def coordinates(mesh: bpy.types.Mesh) -> np.ndarray:
    values = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", values)
    return values.reshape(-1, 3)


def reopen(folder: Path) -> None:
    path = str(folder / "scene.blend")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.read_homefile(use_empty=True)
        bpy.ops.wm.open_mainfile(filepath=path)


MADE = {"sample": SMALL.read_bytes(), "odd": ODD, "padded": ODD + bytes(16)}


# --- unedited -------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", MADE.values(), ids=MADE)
def test_unedited_bytes(data: bytes, written, tmp_path: Path) -> None:
    load(written(data))
    assert save(tmp_path) == data


@pytest.mark.parametrize("data", MADE.values(), ids=MADE)
def test_unedited_bytes_after_save_and_reopen_without_the_source(data: bytes, written, tmp_path: Path) -> None:
    path = written(data)
    load(path)
    path.unlink()
    reopen(tmp_path)
    assert save(tmp_path) == data


@pytest.mark.parametrize(
    "view", [{"scale": 1.0}, {"scale": 0.0254, "up": "Z"}, {"mirror": True}, {"up": "Z", "mirror": True}]
)
def test_the_view_does_not_reach_the_file(view: dict, written, tmp_path: Path) -> None:
    load(written(ODD), **view)
    assert save(tmp_path) == ODD


def test_moving_turning_and_renaming_the_root_does_not_reach_the_file(written, tmp_path: Path) -> None:
    root = load(written(ODD))
    root.location, root.rotation_euler, root.scale = (1, 2, 3), (0.3, 0.4, 0.5), (2, -3, 0.7)
    root.name = "something else"
    assert save(tmp_path) == ODD


@pytest.mark.parametrize("data", MADE.values(), ids=MADE)
def test_all_parts_through_edit_mode_are_the_same_bytes(data: bytes, written, tmp_path: Path) -> None:
    root = load(written(data))
    select(*root.children)
    bpy.ops.object.mode_set(mode="EDIT")
    assert save(tmp_path) == data
    assert bpy.context.mode == "EDIT_MESH"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert save(tmp_path) == data


def test_an_export_changes_nothing_in_the_scene(written, tmp_path: Path) -> None:
    root = load(written(ODD))
    new_object(root, "new").modifiers.new("m", "SUBSURF")
    before = {kind: sorted(block.name for block in getattr(bpy.data, kind)) for kind in ("objects", "meshes", "scenes")}
    save(tmp_path)
    assert before == {kind: sorted(b.name for b in getattr(bpy.data, kind)) for kind in before}


def test_mesh_data_are_the_files_float32_in_order(written) -> None:
    root = load(SMALL)
    for obj in root.children:
        _, vertices, triangles = parts(SMALL.read_bytes())[obj.name]
        kept = np.array([t for t in triangles if len(set(t.tolist())) == 3])
        used, corners = np.unique(kept, return_inverse=True)
        assert coordinates(obj.data).tobytes() == vertices[used].tobytes()
        assert np.array_equal([list(face.vertices) for face in obj.data.polygons], corners.reshape(-1, 3))
        assert obj.matrix_local.is_identity


def test_no_mesh_holds_a_repeated_index_and_the_report_tells(written, capfd) -> None:
    root = load(written(ODD))
    for obj in root.children:
        assert all(len(set(face.vertices)) == 3 for face in obj.data.polygons)
    assert ["library: 2 triangles use a vertex twice" in line for line in reports(capfd)] == [True]


@pytest.mark.parametrize("count", [4, 16, 2048])
def test_zero_bytes_behind_the_last_part_are_kept_and_warned_of(count: int, written, tmp_path: Path, capfd) -> None:
    data = record("a") + record("b") + bytes(count)
    load(written(data))
    assert [f"{count:,} bytes follow the last part" in line for line in reports(capfd)] == [True]
    assert save(tmp_path) == data


def test_collections_by_family_and_ship(written) -> None:
    names = "rou_e101_bdy rou_e101_brg_01 rou_e106_wep_02_L mob_n040 rob_x1_a S14_p1_Asteroid_cmesh_07 test".split()
    root = load(written(b"".join(map(record, names)), "CollisionSet_S01.bin"))
    (top,) = root.users_collection
    assert top.name == root.name == "CollisionSet_S01"

    def tree(collection: bpy.types.Collection) -> dict:
        found = {child.name: tree(child) for child in collection.children}
        return found | {obj.name: None for obj in collection.objects if obj != root}

    assert tree(top) == {
        "rou": {
            "rou_e101": {"rou_e101_bdy": None, "rou_e101_brg_01": None},
            "rou_e106": {"rou_e106_wep_02_L": None},
        },
        "mob": {"mob_n040": {"mob_n040": None}},
        "rob": {"rob_x1": {"rob_x1_a": None}},
        "asteroids": {"S14_p1": {"S14_p1_Asteroid_cmesh_07": None}},
        "other": {"test": None},
    }
