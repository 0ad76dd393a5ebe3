"""Wavefront OBJ: exact coordinates both ways, what other programs write, and what is refused."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FormatError, Severity
from core.formats import obj
from tests.support.hulls import read

TETRAHEDRON = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])


def mesh(name="a", offset=0.0):
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32) + np.float32(offset)
    return obj.Mesh(name, points, TETRAHEDRON)


def assert_same_meshes(found, expected):
    assert [m.name for m in found] == [m.name for m in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.vertices.dtype == np.float32
        assert one.vertices.tobytes() == np.asarray(other.vertices, np.float32).tobytes()
        assert np.array_equal(one.triangles, other.triangles)


def test_text_of_a_small_mesh():
    text = obj.encode([mesh(offset=0.1)], "two\nlines").decode()
    assert text.splitlines()[:4] == ["# two", "# lines", "o a", "v 0.1 0.1 0.1"]
    assert text.splitlines()[-1] == "f 3 1 4"


def test_meshes_come_back():
    meshes = [mesh("hull.wall"), mesh("hull.asteroid_01", 25000.3), mesh("two words", -1e-20)]
    assert_same_meshes(obj.decode(obj.encode(meshes)), meshes)


def test_unused_vertices_stay_where_they_stood():
    points = np.arange(21, dtype=np.float32).reshape(7, 3)
    source = [obj.Mesh("one", points, np.array([[1, 3, 5]])), obj.Mesh("no_faces", points[:2], np.zeros((0, 3), int))]
    assert_same_meshes(obj.decode(obj.encode(source)), source)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=3, max_size=30))
def test_every_float32_comes_back(values):
    values = np.array((values * 3)[: len(values) // 3 * 9], np.float32).reshape(-1, 3)
    source = [obj.Mesh("a", values, np.array([[0, 1, 2]]))]
    assert_same_meshes(obj.decode(obj.encode(source)), source)


def test_negative_zero_and_the_extremes_come_back():
    limits = np.finfo(np.float32)
    points = np.array([[-0.0, limits.max, limits.min], [limits.tiny, limits.smallest_subnormal, 0.1], [1, 2, 3]])
    source = [obj.Mesh("a", points.astype(np.float32), np.array([[0, 1, 2]]))]
    assert_same_meshes(obj.decode(obj.encode(source)), source)


def test_what_other_programs_write():
    text = (
        "\ufeff# a comment\r\nmtllib x.mtl\r\no first # 1\r\nv 0 0 0 1.0\r\nv 1 0 0 0.5 0.5 0.5\r\n"
        "vt 0 0\r\nvn 0 0 1\r\n\tv  1 1 0 # behind\r\nv 0 1e0 0\r\ns off\r\nusemtl m\r\nf 1/1/1 2//1 \\\r\n3/1 4\r\n"
        "g second\r\nv 5 5 5\r\nf -1 -5 -4\r\n"
    )
    first, second = obj.decode(text.encode())
    assert first.name == "first # 1"
    assert first.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert first.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert second.name == "second"
    # Its faces reach back to the first object's vertices, which stand first here too.
    assert second.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [5, 5, 5]]
    assert second.triangles.tolist() == [[2, 0, 1]]


def test_faces_without_an_object_line():
    (only,) = obj.decode(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert only.name == ""
    assert only.triangles.tolist() == [[0, 1, 2]]


def test_mixed_polygons_become_fans():
    corners = "".join(f"v {i} {i * i} 0\n" for i in range(6))
    (only,) = obj.decode((corners + "f 1 2 3\nf 1 2 3 4 5 6\nf 2 3 4 5\n").encode())
    fans = [[0, 1, 2], [0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4]]
    assert only.triangles.tolist() == fans


@pytest.mark.parametrize(
    ("text", "problem", "found"),
    [
        ("", "no faces", None),
        ("v 0 0 0\n", "no faces", None),
        ("v 0 0 0\nv 0 0 nan\nf 1 1 1\n", "line 2:", "0 0 nan"),
        ("v 0 0 0\nv 0 inf 0\nf 1 1 1\n", "line 2:", "0 inf 0"),
        ("v 0 0 0\n\nv 1e39 0 0\nf 1 1 1\n", "line 3:", "1e39 0 0"),
        ("v 0 0\nv 0 0 0 0\nf 1 1 1\n", "line 1:", "0 0"),
        ("v 0 0 0\nv 0 zero 0\nf 1 1 1\n", "line 2:", "0 zero 0"),
        ("v\nf 1 1 1\n", "line 1:", "nothing"),
        ("v 0 0 0\nf 1 1 1\nf 1 1\n", "line 3: a face with too few", "2"),
        ("v 0 0 0\nf\n", "line 2: a face with too few", "0"),
        ("v 0 0 0\nf 1 1 2\n", "line 2: a face corner", "2"),
        ("v 0 0 0\nf 1 1 1 1\nf 1 0 1\n", "line 3: a face corner", "0"),
        ("v 0 0 0\nf 1 1 -2\nv 0 0 0\n", "line 2: a face corner", "-2"),
        ("v 0 0 0\nf 1 1 1\nf 1 one 1\n", "line 3: a face corner", "one"),
        ("v 0 0 0\nf 1 /2 1\n", "line 2: a face corner", "nothing"),
        ("v 0 0 0\nf 1 1 99999999999999999999\n", "line 2: a face corner", "99999999999999999999"),
    ],
)
def test_refused(text, problem, found):
    with pytest.raises(FormatError) as caught:
        obj.decode(text.encode())
    assert problem in caught.value.problem
    assert caught.value.found == found


def test_bytes_that_are_no_text_raise_nothing_else():
    numbers = np.random.default_rng(1)
    alphabet = np.frombuffer(b"vfog 0123456789-/.e#\n\r\\\t\xff\x00", np.uint8)
    for _ in range(2000):
        text = b"v 0 0 0\n" * 3 + alphabet[numbers.integers(len(alphabet), size=60)].tobytes() + b"\nf 1 2 3\n"
        with contextlib.suppress(FormatError):
            obj.decode(text)


def test_a_whole_library_comes_back():
    numbers = np.random.default_rng(1)
    points = (numbers.normal(size=(48241, 3)) * 1000).astype(np.float32)
    source = [obj.Mesh("a", points, numbers.integers(0, 48241, (90836, 3)))]
    assert_same_meshes(obj.decode(obj.encode(source)), source)


# --- lines that go on, names, polygons ------------------------------------------------------------

BOX = obj.decode(read("edges/comment_backslash.obj"))[0]


def test_a_comment_that_ends_in_a_backslash_ends_there():
    """The box's first vertex is on the line behind the comment; without it all faces would shift to another hull."""
    assert BOX.vertices.tolist()[:2] == [[0, 0, 0], [100, 0, 0]] and len(BOX.triangles) == 12
    (silent,) = obj.decode(read("edges/comment_backslash_silent.obj"))
    assert silent.triangles.tolist() == BOX.triangles.tolist()
    assert np.array_equal(silent.vertices[:8], BOX.vertices) and len(silent.vertices) == 9


@pytest.mark.parametrize("letter", "表ソ能十予")
@pytest.mark.parametrize("encoding", ["cp932", "utf-8"])
@pytest.mark.parametrize("keyword", ["o", "g"])
def test_a_name_that_ends_in_the_byte_of_a_backslash_ends_there(letter, encoding, keyword):
    body = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    (mesh,) = obj.decode(f"{keyword} rock {letter}\n".encode(encoding) + body)
    assert mesh.name == f"rock {letter}" and mesh.triangles.tolist() == [[0, 1, 2]]
    (again,) = obj.decode(obj.encode([mesh]))
    assert again.name == mesh.name


def test_the_name_of_the_file_in_cp932():
    (mesh,) = obj.decode(read("edges/sjis_name_backslash.obj"))
    assert mesh.name == "表" and np.array_equal(mesh.vertices, BOX.vertices)


@pytest.mark.parametrize(
    "before", ["# C:\\", "o a\\", "g a\\", "usemtl C:\\", "mtllib a\\", "s off\\", "vt 0 0 \\", "\\"]
)
def test_lines_whose_content_is_not_read_never_go_on(before):
    text = f"{before}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    (mesh,) = obj.decode(text.encode())
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_vertices_and_faces_go_on_but_not_behind_a_comment():
    text = "v 0 \\\n0 0\nv 1 0 0 # C:\\\nv \\\n0 1 \\\n0\nf 1 \\\n2 \\\n3 # end\\\nf 3 2 \\\r\n1\nf 1 2 x\\\n"
    with pytest.raises(FormatError, match="line 12: a face corner"):
        obj.decode(text.encode())
    (mesh,) = obj.decode(text.removesuffix("f 1 2 x\\\n").encode())
    assert mesh.triangles.tolist() == [[0, 1, 2], [2, 1, 0]]
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_a_line_that_goes_on_a_million_times_takes_no_longer():
    text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 " + b"\\\n" * 1_000_000 + b"3"
    assert obj.decode(text)[0].triangles.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("name", ["a\\", "a \u3000b", "é\u00a0x", "ｱ\\ \\"])
def test_names_survive_and_other_programs_see_no_continuation(name):
    mesh = obj.Mesh(name, np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]]))
    data = obj.encode([mesh], "made from C:\\maps\\")
    assert b"\\\n" not in data
    assert obj.decode(data)[0].name == name


def test_a_concave_face_gets_no_lid_over_its_notch():
    """A prism over an arrow: its volume is known, and the lid of a fan would add to it."""
    meshes, findings = obj.read(read("edges/concave_ngon.obj"))
    (mesh,) = meshes
    assert not findings and len(mesh.triangles) == 16 and len(mesh.vertices) == 10
    a, b, c = np.moveaxis(mesh.vertices.astype(float)[mesh.triangles], 1, 0)
    assert (a * np.cross(b, c)).sum() / 6 == pytest.approx(6000 * 50)
    sides = np.sort(np.stack((mesh.triangles, np.roll(mesh.triangles, -1, axis=1)), axis=2).reshape(-1, 2), axis=1)
    assert (np.unique(sides, axis=0, return_counts=True)[1] == 2).all()


def test_a_face_that_is_not_flat_is_reported_with_its_line():
    _, (finding,) = obj.read(b"v 0 0 0\nv 9 0 0\nv 9 9 3\nv 0 9 0\nf 1 2 3\nf 1 2 3 4\n")
    assert finding.severity is Severity.WARNING
    assert str(finding) == "faces: 1 that isn't flat, which another program may cut in another way (line 6)"


def test_a_face_that_crosses_itself_is_refused_with_its_line():
    with pytest.raises(FormatError, match="line 5: a face whose outline crosses"):
        obj.decode(b"v 0 0 0\nv 9 9 0\nv 9 0 0\nv 0 5 0\nf 1 2 3 4\n")
