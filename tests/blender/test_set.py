"""A library of collision meshes in Blender: every byte of what nobody edited, the right values of what somebody did."""

from __future__ import annotations

import struct
import warnings
from pathlib import Path

import bmesh
import bpy
import numpy as np
import pytest

from tests.oracle.readers import read_set

DATA = Path(__file__).resolve().parents[1] / "data"
SMALL = DATA / "CollisionSet_small.bin"

CORNERS = [(0, 0, 0), (1000.1, 0, 0), (0, 2000.2, 0), (0, 0, 3000.3)]
TETRAHEDRON = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
TURNED = [(a, c, b) for a, b, c in TETRAHEDRON]
OLD = b"what stood here before"


# --- files and what they hold ---------------------------------------------------------------------


def record(name: str | bytes, vertices=CORNERS, triangles=TETRAHEDRON, field: int = 0) -> bytes:
    """One record, written from docs/FORMATS.md."""
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


def shifted(*by: float) -> np.ndarray:
    """The corners moved in float64 and rounded once."""
    return np.add(np.float32(CORNERS), by, dtype=float).astype(np.float32)


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
    """Imports a library, laid out as in the file, and returns its root."""
    before = set(roots())
    options = {"layout_parts": "FILE", **options}
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
    assert sum("library: Blender can't hold 2 triangles with a repeated vertex" in line for line in reports(capfd)) == 1


@pytest.mark.parametrize("count", [4, 16, 2048])
def test_zero_bytes_behind_the_last_part_are_kept_and_warned_of(count: int, written, tmp_path: Path, capfd) -> None:
    data = record("a") + record("b") + bytes(count)
    load(written(data))
    assert [f"the last part is followed by {count:,} byte" in line for line in reports(capfd)] == [True]
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


# --- names in Blender -----------------------------------------------------------------------------


def test_the_same_library_twice_exports_without_suffixes(written, tmp_path: Path) -> None:
    load(written(ODD))
    second = load(written(ODD))
    assert any(obj.name.endswith(".001") for obj in second.children)
    select(second)
    assert save(tmp_path) == ODD


@pytest.mark.parametrize("after_reopening", [False, True])
def test_an_edit_of_the_second_import_keeps_its_name(after_reopening: bool, tmp_path: Path) -> None:
    load()
    second = load()
    obj = next(obj for obj in second.children if obj.name.startswith("mob_n040"))
    obj.location.z = 500
    assert obj.name == "mob_n040.001"
    select(second)
    if after_reopening:
        reopen(tmp_path)
    assert_others_unchanged(SMALL.read_bytes(), save(tmp_path), "mob_n040")


@pytest.mark.parametrize("letters", LENGTHS)
@pytest.mark.parametrize("letter", ["a", "ｱ", "b c"])
def test_a_renamed_object_is_a_renamed_part(letters: int, letter: str, tmp_path: Path) -> None:
    name = (letter * 31)[:letters]
    load()
    bpy.data.objects["mob_n040"].name = name
    if bpy.data.objects.get(name) is None:  # 63 bytes of UTF-8 are all that Blender 4 holds
        assert bpy.app.version < (5,) and len(name.encode()) > 63
        name = next(obj.name for obj in bpy.data.objects if name.startswith(obj.name))
    stored = name.encode("cp932")
    data = save(tmp_path)
    old, new = parts(SMALL.read_bytes()), parts(data)
    assert list(new) == [name, *list(old)[1:]]
    size = 16 if len(stored) < 16 else 24 if len(stored) < 24 else 32
    assert new[name][0][4 : 8 + size] == struct.pack(">I", size) + stored.ljust(size, b"\0")
    assert new[name][0][8 + size :] == old["mob_n040"][0][8 + 16 :]


@pytest.mark.parametrize(("name", "says"), [("x" * 32, "31 bytes"), ("星" * 16, "31 bytes"), ("rock_é", "CP932")])
def test_a_name_that_cannot_be_stored_is_refused(name: str, says: str, tmp_path: Path) -> None:
    root = load()
    obj = bpy.data.objects["mob_n040"]
    obj.name = name
    message = refusal(tmp_path)
    assert f'"{name}"' in message and says in message
    obj.name = "mob_n040"
    new_object(root, name)
    message = refusal(tmp_path)
    assert f'"{name}"' in message and says in message


def test_a_suffix_of_blenders_never_reaches_the_file(tmp_path: Path) -> None:
    root = load()
    bpy.data.objects.new("rock", None), bpy.data.objects.new("Cube", None)
    bpy.data.objects["mob_n040"].name = "rock"
    new_object(root, "Cube")
    assert {"rock.001", "Cube.001"} <= {obj.name for obj in root.children}
    assert list(parts(save(tmp_path)))[::10] == ["rock", "Cube"]


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("name", ["mob_n040", KATAKANA])
def test_a_duplicated_object_is_refused_until_it_is_renamed(name: str, linked: bool, written, tmp_path: Path) -> None:
    data = record("first") + record(name) + record("last")
    load(written(data))
    original = next(obj for obj in roots()[0].children if obj.name not in ("first", "last"))
    copy = copy_of(original, linked)
    copy.location.x = 100
    message = refusal(tmp_path)
    assert f'"{original.name}"' in message and f'"{copy.name}"' in message
    copy.name = "a new part"
    result = save(tmp_path)
    assert result.startswith(data)
    (new,) = read_set(result[len(data) :])
    assert new.name == "a new part"
    assert np.array_equal(new.vertices, shifted(100, 0, 0))
    assert new.triangles.tolist() == [list(t) for t in TETRAHEDRON]


def test_the_copy_is_the_part_when_the_original_is_renamed(tmp_path: Path) -> None:
    load()
    original = bpy.data.objects["mob_n040"]
    copy_of(original)
    original.name = "a new part"
    data = save(tmp_path)
    assert data.startswith(SMALL.read_bytes())
    assert [mesh.name for mesh in read_set(data[SMALL.stat().st_size :])] == ["a new part"]


def test_of_two_renamed_copies_one_is_the_part_and_the_other_a_new_one(tmp_path: Path) -> None:
    load()
    original = bpy.data.objects["mob_n040"]
    copy = copy_of(original)
    original.name, copy.name = "left", "right"
    old, new = parts(SMALL.read_bytes()), parts(save(tmp_path))
    assert list(new) == ["left", *list(old)[1:], "right"]
    assert new["left"][0][24:] == new["right"][0][24:] == old["mob_n040"][0][24:]


def test_names_can_be_swapped(tmp_path: Path) -> None:
    load()
    one, other = bpy.data.objects["mob_n040"], bpy.data.objects["rou_e999_wep_01_degenerate"]
    one.name, other.name = "aside", "mob_n040"
    one.name = "rou_e999_wep_01_degenerate"
    old, new = parts(SMALL.read_bytes()), parts(save(tmp_path))
    assert list(new) == ["rou_e999_wep_01_degenerate", *list(old)[1:-1], "mob_n040"]
    assert np.array_equal(new["mob_n040"][1], old["rou_e999_wep_01_degenerate"][1])


@pytest.mark.parametrize("name", ["MOB_n040", "Mob_N040"])
def test_a_name_equal_but_for_case_is_refused(name: str, tmp_path: Path) -> None:
    root = load()
    added = new_object(root, name)
    message = refusal(tmp_path)
    assert f'"{name}"' in message and '"mob_n040"' in message
    added.parent = None
    other = bpy.data.objects["mob_n110_bdy"]
    other.name = name if name not in bpy.data.objects else name + ".001"
    assert '"mob_n040"' in refusal(tmp_path)


def test_a_name_of_a_part_that_was_not_imported_is_refused(tmp_path: Path) -> None:
    root = load(name_filter="rou_*")
    new_object(root, "MOB_N040")
    assert "MOB_N040" in refusal(tmp_path)


def test_the_case_of_a_name_can_be_changed(tmp_path: Path) -> None:
    load()
    bpy.data.objects["mob_n040"].name = "MOB_N040"
    assert list(parts(save(tmp_path))) == ["MOB_N040", *PARTS[1:]]


def test_a_long_name_that_another_blender_has_cut_is_no_new_name(written, tmp_path: Path) -> None:
    """A file saved in 5 keeps 255 bytes of a name, the same file opened in 4 keeps 63."""
    data = record(KATAKANA) + record("b")
    root = load(written(data))
    obj = next(obj for obj in root.children if obj.name != "b")
    obj["sylpheed_given_name"] = KATAKANA
    obj.name = KATAKANA.encode()[:63].decode()
    assert save(tmp_path) == data


# --- the filter -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*", 10),
        ("", 10),
        ("mob_*", 4),
        ("MOB_*", 4),
        ("mob_n310_part_0?", 2),
        ("rou_*,S01_*", 4),
        (" rou_* , s01_* , ", 4),
        ("mob_n040", 1),
        ("*_0[78]", 2),
        ("mob_n040,mob_*", 4),
    ],
)
def test_the_filter_chooses_parts_and_the_export_writes_all(pattern: str, expected: int, tmp_path: Path) -> None:
    root = load(name_filter=pattern)
    assert len(root.children) == expected
    assert save(tmp_path) == SMALL.read_bytes()


@pytest.mark.parametrize("pattern", ["nothing_like_this", "mob", ",", "*.col"])
def test_a_filter_without_match_is_an_error_and_leaves_nothing(pattern: str) -> None:
    if pattern == ",":
        assert len(load(name_filter=pattern).children) == 10
        return
    with pytest.raises(RuntimeError, match=r"CollisionSet_small\.bin: no part has a name like") as caught:
        bpy.ops.import_scene.sylpheed_set(filepath=str(SMALL), name_filter=pattern)
    assert pattern in str(caught.value)
    assert not (bpy.data.objects or bpy.data.meshes or bpy.data.collections)


def test_an_edit_with_a_filter_changes_that_part_alone(tmp_path: Path) -> None:
    load(name_filter="mob_n110_bdy")
    bpy.data.objects["mob_n110_bdy"].location.y = 77
    assert_others_unchanged(SMALL.read_bytes(), save(tmp_path), "mob_n110_bdy")


# --- edits ----------------------------------------------------------------------------------------

PARTS = list(parts(SMALL.read_bytes()))


@pytest.mark.parametrize("name", PARTS)
def test_one_moved_vertex_changes_twelve_bytes_of_one_record(name: str, tmp_path: Path) -> None:
    """Unused vertices, two-sided, doubled and degenerate triangles, numbers and order all stay."""
    root = load()
    mesh = root.children[[obj.name for obj in root.children].index(name)].data
    place = coordinates(mesh)[2].copy()
    mesh.vertices[2].co = (1.5, -2.25, 30.1)
    before, after = SMALL.read_bytes(), save(tmp_path)
    assert_others_unchanged(before, after, name)
    old, new = parts(before)[name], parts(after)[name]
    assert np.array_equal(old[2], new[2])
    used = np.unique(old[2])
    moved = np.flatnonzero((old[1] != new[1]).any(axis=1))
    assert len(moved) == 1 and moved[0] in used
    assert np.array_equal(old[1][moved[0]], place)
    assert np.array_equal(new[1][moved[0]], np.float32((1.5, -2.25, 30.1)))


TURN = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]], float)
EDITS = {
    "moved": ({"location": (10.1, -20.2, 30.3)}, np.eye(3), (10.1, -20.2, 30.3)),
    "rotated": ({"rotation_euler": (0, 0, np.pi / 2)}, TURN, (0, 0, 0)),
    "scaled on one axis": ({"scale": (1, 3, 1)}, np.diag([1, 3, 1]), (0, 0, 0)),
    "mirrored": ({"scale": (-1, 1, 1)}, np.diag([-1, 1, 1]), (0, 0, 0)),
    "mirrored thrice and moved": ({"scale": (-1, -1, -1), "location": (5, 0, 0)}, -np.eye(3), (5, 0, 0)),
}


@pytest.mark.parametrize(("change", "matrix", "offset"), EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("name", ["mob_n110_bdy", "mob_n310_part_04"])
def test_a_transformed_part(name: str, change: dict, matrix, offset, tmp_path: Path) -> None:
    load(mirror=True, scale=0.0254)
    for key, value in change.items():
        setattr(bpy.data.objects[name], key, value)
    before, after = SMALL.read_bytes(), save(tmp_path)
    assert_others_unchanged(before, after, name)
    old, new = parts(before)[name], parts(after)[name]
    used = np.unique(old[2])
    expected = old[1].astype(float) @ matrix.T + np.float32(offset)
    np.testing.assert_allclose(new[1][used], expected[used], rtol=0, atol=1e-6 * np.abs(old[1]).max())
    if name == "mob_n110_bdy" and "rotation_euler" not in change:
        assert np.array_equal(new[1], expected.astype(np.float32))
    turned = np.linalg.det(matrix) < 0
    assert np.array_equal(new[2], old[2][:, [0, 2, 1]] if turned else old[2])
    assert len(new[1]) == len(old[1])


def test_a_new_object_below_the_root_is_a_new_part_at_the_end(tmp_path: Path) -> None:
    root = load()
    new_object(root, "new_rock", CORNERS, TETRAHEDRON).location = (1, 2, 3)
    data = save(tmp_path)
    assert data == SMALL.read_bytes() + record("new_rock", shifted(1, 2, 3))


def test_a_new_objects_quads_are_cut_into_triangles(tmp_path: Path) -> None:
    root = load()
    corners = [(0, 0, 0), (9, 0, 0), (9, 9, 0), (0, 9, 0), (4, 4, 9)]
    new_object(root, "roof", corners, [(3, 2, 1, 0), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)])
    mesh = read_set(save(tmp_path))[-1]
    assert np.array_equal(mesh.vertices, np.float32(corners))
    (first, second), sides = mesh.triangles[:2].tolist(), mesh.triangles[2:].tolist()
    assert {*first, *second} == {0, 1, 2, 3} and len({*first} & {*second}) == 2
    assert sides == [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]


def test_new_objects_under_an_empty_or_another_part_count(tmp_path: Path) -> None:
    root = load()
    empty = bpy.data.objects.new("group", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.parent, empty.location = root, (100, 0, 0)
    new_object(empty, "new_a")
    new_object(bpy.data.objects["mob_n040"], "new_b")
    meshes = read_set(save(tmp_path))
    assert [mesh.name for mesh in meshes[10:]] == ["new_a", "new_b"]
    assert np.array_equal(meshes[10].vertices, shifted(100, 0, 0))
    assert np.array_equal(meshes[11].vertices, np.float32(CORNERS))


def test_what_hangs_below_no_root_is_not_exported(tmp_path: Path) -> None:
    root = load()
    new_object(root, "stranger").parent = None
    assert save(tmp_path) == SMALL.read_bytes()


@pytest.mark.parametrize("kind", ["CAMERA", "LIGHT", "EMPTY", "LATTICE", "ARMATURE"])
def test_what_has_no_faces_by_nature_is_ignored(kind: str, tmp_path: Path, capfd) -> None:
    root = load()
    data = {
        "CAMERA": lambda: bpy.data.cameras.new("x"),
        "LIGHT": lambda: bpy.data.lights.new("x", "SUN"),
        "EMPTY": lambda: None,
        "LATTICE": lambda: bpy.data.lattices.new("x"),
        "ARMATURE": lambda: bpy.data.armatures.new("x"),
    }[kind]()
    obj = bpy.data.objects.new("a name that is far too long for a part of a library", data)
    bpy.context.scene.collection.objects.link(obj)
    obj.parent = root
    reports(capfd)
    assert save(tmp_path) == SMALL.read_bytes()
    assert reports(capfd) == []


def test_a_deleted_part_leaves_with_a_warning(tmp_path: Path, capfd) -> None:
    load()
    bpy.data.objects.remove(bpy.data.objects["mob_n310_part_03"])
    reports(capfd)
    old, new = parts(SMALL.read_bytes()), parts(save(tmp_path))
    del old["mob_n310_part_03"]
    assert list(old) == list(new) and all(old[name][0] == new[name][0] for name in old)
    (warning,) = reports(capfd)
    assert '"mob_n310_part_03"' in warning and "leaves the collision set" in warning


def test_a_deleted_part_of_a_filtered_import_leaves_alone(tmp_path: Path) -> None:
    load(name_filter="mob_*")
    bpy.data.objects.remove(bpy.data.objects["mob_n040"])
    assert list(parts(save(tmp_path))) == PARTS[1:]


@pytest.mark.parametrize("name", ["mob_n310_part_03", "mob_n310_part_03.001", "MOB_n310_part_03"])
def test_a_part_made_again_takes_the_place_of_the_old_one(name: str, tmp_path: Path, capfd) -> None:
    root = load()
    old_object = bpy.data.objects["mob_n310_part_03"]
    again = new_object(root, name)
    bpy.data.objects.remove(old_object)
    again.name = name
    reports(capfd)
    old, new = parts(SMALL.read_bytes()), parts(save(tmp_path))
    stored = name.removesuffix(".001")
    assert list(new) == [stored if one == "mob_n310_part_03" else one for one in old]
    assert np.array_equal(new[stored][1], np.float32(CORNERS))
    assert all(new[one][0] == old[one][0] for one in old if one in new and one != stored)
    (warning,) = reports(capfd)
    assert f'"{name}" replaces the part mob_n310_part_03' in warning


def test_a_part_joined_into_a_new_object_of_its_name_keeps_its_place(tmp_path: Path, capfd) -> None:
    root = load()
    old_object = bpy.data.objects["mob_n040"]
    new_one = new_object(root, "joined", np.array(CORNERS) + 1e5)
    select(old_object, new_one)
    bpy.ops.object.join()
    new_one.name = "mob_n040"
    reports(capfd)
    old, new = parts(SMALL.read_bytes()), parts(save(tmp_path))
    assert_others_unchanged(SMALL.read_bytes(), (tmp_path / "exported.bin").read_bytes(), "mob_n040")
    count = len(old["mob_n040"][1])
    assert np.array_equal(new["mob_n040"][1][:count], old["mob_n040"][1])
    assert np.array_equal(new["mob_n040"][2][: len(old["mob_n040"][2])], old["mob_n040"][2])
    (warning,) = reports(capfd)
    assert '"mob_n040" replaces the part mob_n040' in warning


def test_a_part_renamed_to_a_deleted_one_takes_its_place(tmp_path: Path, capfd) -> None:
    load()
    bpy.data.objects.remove(bpy.data.objects["mob_n040"])
    bpy.data.objects["mob_n310_part_03"].name = "mob_n040"
    reports(capfd)
    old, new = parts(SMALL.read_bytes()), parts(save(tmp_path))
    assert list(new) == [name for name in old if name != "mob_n310_part_03"]
    assert np.array_equal(new["mob_n040"][1], old["mob_n310_part_03"][1])
    said = reports(capfd)
    assert any('"mob_n040" replaces' in text for text in said)
    assert any('"mob_n310_part_03" is missing' in text for text in said)


def test_the_data_of_a_deleted_part_on_a_new_object_are_the_same_bytes(tmp_path: Path) -> None:
    root = load()
    old_object = bpy.data.objects["mob_n040"]
    mesh = old_object.data
    bpy.data.objects.remove(old_object)
    again = bpy.data.objects.new("mob_n040", mesh)
    bpy.context.scene.collection.objects.link(again)
    again.parent = root
    assert save(tmp_path) == SMALL.read_bytes()


def test_without_any_part_nothing_is_written(tmp_path: Path) -> None:
    root = load()
    for obj in list(root.children):
        bpy.data.objects.remove(obj)
    assert "no parts left" in refusal(tmp_path)


def remove_faces(mesh: bpy.types.Mesh) -> None:
    mesh.clear_geometry()


def keep_vertices(mesh: bpy.types.Mesh) -> None:
    bm = bmesh.new()
    bm.from_mesh(mesh)
    bmesh.ops.delete(bm, geom=bm.faces, context="FACES_ONLY")
    bm.to_mesh(mesh)
    bm.free()


def flatten(mesh: bpy.types.Mesh) -> None:
    for vertex in mesh.vertices:
        vertex.co.y = vertex.co.z = 0


def shrink(mesh: bpy.types.Mesh) -> None:
    for vertex in mesh.vertices:
        vertex.co = (1, 2, 3)


@pytest.mark.parametrize("change", [remove_faces, keep_vertices, flatten, shrink])
@pytest.mark.parametrize("name", ["mob_n040", "mob_n310_part_04", "rou_e999_wep_01_degenerate"])
def test_a_part_without_usable_faces_stays_and_is_named(change, name: str, tmp_path: Path, capfd) -> None:
    load()
    change(bpy.data.objects[name].data)
    bpy.data.objects["mob_n110_bdy"].location.x = 3
    reports(capfd)
    assert_others_unchanged(SMALL.read_bytes(), save(tmp_path), "mob_n110_bdy")
    assert any(f'"{name}" has no usable triangles' in line for line in reports(capfd))


def test_a_new_object_without_usable_faces_is_left_out_and_named(tmp_path: Path, capfd) -> None:
    root = load()
    new_object(root, "no faces", CORNERS, [])
    new_object(root, "flat faces", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)])
    reports(capfd)
    assert save(tmp_path) == SMALL.read_bytes()
    lines = reports(capfd)
    for name in ("no faces", "flat faces"):
        assert any(f'"{name}" has no usable triangles and is left out' in line for line in lines)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e38])
def test_a_coordinate_that_is_no_number_is_refused_by_name(value: float, tmp_path: Path) -> None:
    load()
    obj = bpy.data.objects["mob_n110_bdy"]
    obj.data.vertices[0].co.x = value
    obj.scale = (100, 1, 1)
    message = refusal(tmp_path)
    assert '"mob_n110_bdy"' in message and "finite" in message


def test_joined_objects_are_one_part_and_the_others_leave(tmp_path: Path, capfd) -> None:
    load()
    one, other = bpy.data.objects["mob_n040"], bpy.data.objects["S01_Asteroid_cmesh_01a"]
    select(other, one)
    bpy.ops.object.join()
    reports(capfd)
    old, new = parts(SMALL.read_bytes()), parts(save(tmp_path))
    assert list(new) == [name for name in old if name != "S01_Asteroid_cmesh_01a"]
    assert np.array_equal(new["mob_n040"][1], np.vstack([old["mob_n040"][1], old["S01_Asteroid_cmesh_01a"][1]]))
    triangles = np.vstack([old["mob_n040"][2], old["S01_Asteroid_cmesh_01a"][2] + np.uint32(58)])
    assert np.array_equal(new["mob_n040"][2], triangles)
    assert [name for name in new if new[name][0] != old[name][0]] == ["mob_n040"]
    (warning,) = reports(capfd)
    assert '"S01_Asteroid_cmesh_01a"' in warning


def test_a_part_separated_in_two_keeps_its_number_and_gains_a_new_part(tmp_path: Path) -> None:
    load()
    obj = bpy.data.objects["mob_n040"]
    select(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bm = bmesh.from_edit_mesh(obj.data)
    for face in bm.faces:
        face.select_set(face.index >= 60)
    bmesh.update_edit_mesh(obj.data)
    bpy.ops.mesh.separate(type="SELECTED")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert "mob_n040.001" in refusal(tmp_path)
    bpy.data.objects["mob_n040.001"].name = "other_half"
    old, new = parts(SMALL.read_bytes()), parts(save(tmp_path))
    assert list(new) == [*old, "other_half"]
    corners = [new[name][1][new[name][2]] for name in ("mob_n040", "other_half")]
    assert np.array_equal(np.vstack(corners), old["mob_n040"][1][old["mob_n040"][2]])


def test_a_part_of_another_library_is_a_new_part(written, tmp_path: Path) -> None:
    """Its record number means something else there."""
    root = load(written(ODD), name_filter="odd")
    load()
    stranger = bpy.data.objects["mob_n110_bdy"]
    stranger.parent = root
    select(root)
    data = save(tmp_path)
    assert data.startswith(ODD)
    (new,) = read_set(data[len(ODD) :])
    _, vertices, triangles = parts(SMALL.read_bytes())["mob_n110_bdy"]
    assert new.name == "mob_n110_bdy"
    assert np.array_equal(new.vertices, vertices) and np.array_equal(new.triangles, triangles)


def test_a_face_of_two_corners_adds_nothing(written, tmp_path: Path) -> None:
    """A script can make one; here as many corners as two triangles have."""
    root = load(written(ODD))
    part = new_object(root, "script", CORNERS, [(0, 1, 2, 3)])
    mesh = bpy.data.meshes.new("script")
    mesh.vertices.add(4), mesh.loops.add(6), mesh.polygons.add(2)
    mesh.vertices.foreach_set("co", np.array([(0, 0, 0), (9, 0, 0), (9, 9, 1), (0, 9, 0)], np.float32).ravel())
    mesh.loops.foreach_set("vertex_index", [0, 1, 2, 3, 0, 1])
    mesh.polygons.foreach_set("loop_start", [0, 4])
    mesh.update(calc_edges=True)
    part.data = mesh
    (new,) = read_set(save(tmp_path)[len(ODD) :])
    assert len(new.triangles) == 2 and set(new.triangles.ravel()) == {0, 1, 2, 3}


# --- what the scene around it does ----------------------------------------------------------------


def hide(root: bpy.types.Object) -> None:
    """The first part in an excluded collection, the next three hidden in the other ways."""
    objects = sorted(root.children, key=lambda obj: obj.name)
    excluded = bpy.data.collections.new("excluded")
    bpy.context.scene.collection.children.link(excluded)
    for obj in objects[:5]:
        for collection in obj.users_collection:
            collection.objects.unlink(obj)
        excluded.objects.link(obj)
    bpy.context.view_layer.layer_collection.children["excluded"].exclude = True
    for obj in objects[5:10]:
        obj.hide_viewport = True
    for obj in objects[10:15]:
        obj.hide_set(True)
    for obj in objects[15:]:
        obj.hide_select = obj.hide_render = True


MANY = b"".join(record(f"part_{n:02}", [(x + n, y, z) for x, y, z in CORNERS]) for n in range(18))


def test_hidden_and_excluded_parts_are_the_same_bytes(written, tmp_path: Path) -> None:
    hide(load(written(MANY)))
    assert save(tmp_path) == MANY
    reopen(tmp_path)
    assert save(tmp_path) == MANY


def test_an_excluded_library_is_the_same_bytes(tmp_path: Path) -> None:
    root = load()
    bpy.context.view_layer.layer_collection.children[root.users_collection[0].name].exclude = True
    assert save(tmp_path) == SMALL.read_bytes()


@pytest.mark.parametrize("place", [2, 7, 12, 17], ids=["excluded", "hide_viewport", "hide_set", "hide_select"])
def test_edits_and_modifiers_of_hidden_parts_count(place: int, written, tmp_path: Path) -> None:
    root = load(written(MANY))
    obj = sorted(root.children, key=lambda obj: obj.name)[place]
    obj.location = (0, 0, 50)
    modifier = obj.modifiers.new("m", "TRIANGULATE")
    modifier = obj.modifiers.new("m", "DISPLACE")
    modifier.direction, modifier.strength, modifier.mid_level = "X", 1000, 0
    hide(root)
    data = save(tmp_path)
    assert_others_unchanged(MANY, data, obj.name)
    expected = np.add(parts(MANY)[obj.name][1], (1000, 0, 50), dtype=float)
    np.testing.assert_allclose(parts(data)[obj.name][1], expected, rtol=1e-6)
    assert np.array_equal(parts(data)[obj.name][2], TETRAHEDRON)


def test_modifiers_are_left_out_where_that_is_asked_for(tmp_path: Path) -> None:
    load()
    bpy.data.objects["mob_n040"].modifiers.new("m", "SUBSURF")
    assert save(tmp_path, apply_modifiers=False) == SMALL.read_bytes()
    data = save(tmp_path)
    assert_others_unchanged(SMALL.read_bytes(), data, "mob_n040")
    assert len(parts(data)["mob_n040"][2]) == 112 * 6


def test_an_edit_in_progress_is_exported(tmp_path: Path) -> None:
    load()
    obj = bpy.data.objects["mob_n040"]
    select(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bm = bmesh.from_edit_mesh(obj.data)
    bm.verts.ensure_lookup_table()
    bm.verts[7].co = (1, 2, 3)
    data = save(tmp_path)
    assert bpy.context.mode == "EDIT_MESH"
    assert_others_unchanged(SMALL.read_bytes(), data, "mob_n040")
    expected = parts(SMALL.read_bytes())["mob_n040"][1].copy()
    expected[7] = (1, 2, 3)
    assert np.array_equal(parts(data)["mob_n040"][1], expected)


def test_an_edit_of_a_linked_duplicate_reaches_both(tmp_path: Path) -> None:
    load()
    obj = bpy.data.objects["mob_n040"]
    copy_of(obj, linked=True).name = "twin"
    obj.data.vertices[0].co = (1, 2, 3)
    meshes = {mesh.name: mesh for mesh in read_set(save(tmp_path))}
    assert np.array_equal(meshes["twin"].vertices, meshes["mob_n040"].vertices)
    assert np.array_equal(meshes["twin"].vertices[0], (1, 2, 3))


def test_of_two_libraries_the_active_objects_is_exported(written, tmp_path: Path) -> None:
    first, second = load(written(ODD, "first.bin")), load(SMALL)
    select(first)
    assert save(tmp_path) == ODD
    select(second.children[0])
    assert save(tmp_path) == SMALL.read_bytes()
    bpy.context.view_layer.objects.active = None
    message = refusal(tmp_path)
    assert "first" in message and "CollisionSet_small" in message


def test_a_scene_without_a_library_says_so(tmp_path: Path) -> None:
    assert "has no collision set" in refusal(tmp_path)
    root = load()
    bpy.data.objects.remove(root)
    assert "has no collision set" in refusal(tmp_path)


def nothing_active() -> None:
    bpy.context.view_layer.objects.active = None


def hidden_active() -> None:
    obj = bpy.data.objects.new("hidden", bpy.data.meshes.new("hidden"))
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.hide_set(True)


def editing() -> None:
    obj = bpy.data.objects.new("edited", bpy.data.meshes.new("edited"))
    bpy.context.scene.collection.objects.link(obj)
    select(obj)
    bpy.ops.object.mode_set(mode="EDIT")


def excluded_active_collection() -> None:
    collection = bpy.data.collections.new("excluded")
    bpy.context.scene.collection.children.link(collection)
    layer = bpy.context.view_layer.layer_collection.children["excluded"]
    bpy.context.view_layer.active_layer_collection = layer
    layer.exclude = True


@pytest.mark.parametrize("prepare", [nothing_active, hidden_active, editing, excluded_active_collection])
def test_the_import_works_whatever_is_active(prepare, tmp_path: Path) -> None:
    prepare()
    mode = bpy.context.mode
    root = load()
    assert bpy.context.mode == mode
    assert {obj.name for obj in root.children} == set(PARTS)
    select(root) if mode == "OBJECT" else None
    assert save(tmp_path) == SMALL.read_bytes()
