"""The judge judged: on hand-made shapes with answers worked out by hand, on figures printed in docs/FORMATS.md, and on
sample files of the real layout."""

import collections
import pathlib
import struct
from fractions import Fraction

import numpy as np
import pytest

from tests.oracle import exact
from tests.oracle import game_queries as game
from tests.oracle.readers import Cell, Col, List, OracleError, decode_pof0, read_col, read_set

DATA = pathlib.Path(__file__).parent / "data"
PLAIN = sorted(p.name for p in DATA.glob("*.col"))
QUIRKS = sorted(f"quirks/{p.name}" for p in (DATA / "quirks").glob("*.col"))
INCOMPLETE = "quirks/S13_missing.col"
loaded = {}
spheres_made = {}


def sample(name):
    if name not in loaded:
        loaded[name] = read_col((DATA / name).read_bytes())
    return loaded[name]


def box(size, inward=False):
    """(8, 3) corners of ±size, corner number = x + 2y + 4z, and (12, 3) triangles; outward unless `inward`."""
    corners = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=float) * size
    quads = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]
    triangles = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    return corners, triangles[:, ::-1] if inward else triangles


TETRAHEDRON = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])  # outward for corners 0, x, y, z


def hull(vertices, triangles, low, high, dims, outside=0):
    """A Col straight from a shape, without a file: exact lists and right fill states."""
    vertices, triangles = np.asarray(vertices, np.float32), np.asarray(triangles)
    low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
    size = (high - low) / np.array(dims, np.float32)
    nx, ny, _ = dims
    cells = []
    for number, indices in enumerate(exact.cell_lists(vertices, triangles, low, size, dims)):
        x, y, z = number % nx, number // nx % ny, number // nx // ny
        sphere = np.zeros(4, np.float32)
        state = 1
        if indices:
            sphere = around(vertices[triangles[indices]].reshape(-1, 3), 1.001)
        else:
            centre = low + size * (np.array([x, y, z]) + 0.5)
            state = 2 * int(game.solid(vertices, triangles, outside, centre)[0])
        lists = [List(sphere=sphere, indices=indices)] if indices else []
        cells.append(Cell(x=x, y=y, z=z, state=state, count=len(lists), sphere=sphere, lists=lists))
    spheres = np.array([around(vertices[t], 1.0001) for t in triangles])
    return Col(
        bbox_min=np.append(low, 1), bbox_max=np.append(high, 1), cell_size=size, dims=dims, outside=outside,
        vertices=vertices, triangles=triangles, spheres=spheres, cells=cells, nv=len(vertices), nt=len(triangles),
    )  # fmt: skip


def around(points, factor):
    centre, radius = exact.enclosing_sphere(points)
    return np.append(centre, radius * factor).astype(np.float32)


def same_times(a, b):
    """(n,) bool; a hit within 1e-7 of the way counts as the same."""
    both = np.isfinite(a) & np.isfinite(b)
    return np.where(both, np.abs(np.where(both, a, 0) - np.where(both, b, 0)) < 1e-7, np.isinf(a) & np.isinf(b))


# ---------------------------------------------------------------------------------------------------------------------
# the reader of hulls


@pytest.mark.parametrize("name", PLAIN + QUIRKS)
def test_samples_satisfy_the_reader(name):
    col = sample(name)
    assert col.nt == len(col.triangles) and col.nv == len(col.vertices)
    assert len(col.cells) == np.prod(col.dims)
    assert col.slots[0] == 0x54


def test_reader_hands_out_what_a_hex_dump_shows():
    """S14_p1: offsets as derived in section 3, values as in the header's bytes."""
    col = sample("S14_p1_AsteroidVolume_wp.col")
    assert (col.nv, col.nt, col.dims, col.outside) == (502, 924, (5, 5, 5), 1)
    assert col.at["vertices"] == 0x80 + 14784
    assert col.at["triangles"] == 0x80 + 14784 + 6032
    assert col.at["cells"] == 0x6780
    assert col.at["lists"] == 0x7720
    assert col.at["indices"] == 0x7720 + 32 * sum(c.count > 0 for c in col.cells)
    assert col.slots[:5] == [0x54, 0x58, 0x5C, 0x74, 0x6788]
    assert col.flags == b"\0\1\0\5"
    assert list(col.bbox_min) == [-25000, -25000, -25000, 1]
    assert list(col.cell_size) == [10000] * 3


def test_reader_hands_out_the_unread_words():
    col = sample("quirks/test_words_sharedgap.col")
    assert col.flags == bytes([0, 2, 3, 7]) and col.word_0c == 0x0C0C0C0C and col.word_4c == 0x11223344
    assert col.words_60 == (0x60606060, 0x64646464, 0x68686868, 0x6C6C6C6C)
    assert col.words_78 == (0x78787878, 0x7C7C7C7C)
    assert col.gap == b"\xcd" * 10 + bytes(range(0xA0, 0xB0))
    assert len({tuple(r.words8) for c in col.cells for r in c.lists}) == 522


def test_reader_takes_several_lists_a_cell():
    col = sample("quirks/test_descending_multilist.col")
    two = {(c.x, c.y, c.z) for c in col.cells if c.count == 2}
    assert len(two) == 23 and {(4, 0, 0), (9, 5, 0), (0, 7, 0), (2, 9, 0)} <= two
    plain = [sorted(i for r in c.lists for i in r.indices) for c in sample("test.col").cells]
    assert [sorted(i for r in c.lists for i in r.indices) for c in col.cells] == plain


def test_pof0_widths():
    assert decode_pof0(bytes([0x51])) == [0x54]
    assert decode_pof0(bytes([0x51, 0x41, 0x41, 0x46, 0x00, 0x3F])) == [0x54, 0x58, 0x5C, 0x74]
    assert decode_pof0(bytes([0x80, 0x40])) == [0x10 + 4 * 0x40]
    assert decode_pof0(bytes([0xBF, 0xFF])) == [0x10 + 4 * 0x3FFF]
    assert decode_pof0(bytes([0xC0, 0x40, 0x00])) == [0x10 + 4 * 0x4000]
    for coded in ([0x01], [0x51, 0x3F], [0x80], [0xC0, 0x40], [0x51, 0x40]):
        with pytest.raises(OracleError, match="POF0"):
            decode_pof0(bytes(coded))


def put(data, offset, fields, *values):
    struct.pack_into(">" + fields, data, offset, *values)


def first_occupied(data):
    """File offset of the first cell record of test.col that lists triangles."""
    cells = 16 + struct.unpack_from(">I", data, 0x74)[0]
    return next(o for o in range(cells, len(data), 32) if struct.unpack_from(">I", data, o + 4)[0])


def first_empty(data):
    cells = 16 + struct.unpack_from(">I", data, 0x74)[0]
    return next(o for o in range(cells, len(data), 32) if not struct.unpack_from(">I", data, o + 4)[0])


def first_list(data):
    return 16 + struct.unpack_from(">I", data, first_occupied(data) + 8)[0]


def swap_first_lists(data):
    """Cells 0 and 1 of test.col swap their lists; the set of pointers stays the same."""
    first, second = (bytes(data[first_occupied(data) + o :][:4]) for o in (8, 40))
    put(data, first_occupied(data) + 8, "4s", second)
    put(data, first_occupied(data) + 40, "4s", first)


def pof0_at(data):
    return 16 + struct.unpack_from(">I", data, 4)[0]


BREAKS = {
    "magic": (lambda d: put(d, 0, "4s", b"REGN"), "magic"),
    "relocated flag": (lambda d: put(d, 8, "B", 1), "already relocated"),
    "payload size": (lambda d: put(d, 4, "I", len(d)), "past the end"),
    "POF0 elsewhere": (lambda d: put(d, pof0_at(d), "4s", b"\0POF"), "directly behind"),
    "POF0 size": (lambda d: put(d, pof0_at(d) + 4, "I", 16), "file length"),
    "file too long": (lambda d: d.extend(b"\0" * 16), "file length"),
    "file cut": (lambda d: d.__delitem__(slice(-16, None)), "file length"),
    "zero word": (lambda d: put(d, len(d) - 16, "I", 1), "zero word"),
    "hanging byte": (lambda d: put(d, pof0_at(d) + 17, "B", 0x21), "hangs"),
    "slot too few": (lambda d: put(d, pof0_at(d) + 19, "B", 0), "not relocated"),
    "slot moved": (lambda d: put(d, pof0_at(d) + 16, "BB", 0x50, 0x42), "not relocated"),
    "null pointer": (lambda d: put(d, 0x54, "I", 0), "null"),
    "spheres elsewhere": (lambda d: put(d, 0x5C, "I", 0x80), "0x80"),
    "vertices outside": (lambda d: put(d, 0x54, "I", len(d)), "outside the payload"),
    "cells outside": (lambda d: put(d, 0x72, "B", 255), "outside the payload"),
    "no grid": (lambda d: put(d, 0x70, "B", 0), "no cells"),
    "cell size": (lambda d: put(d, 0x44, "f", 0), "cell size"),
    "vertex index": (lambda d: put(d, 16 + struct.unpack_from(">I", d, 0x58)[0], "H", 34), "vertex that isn't there"),
    "not finite": (lambda d: put(d, 16 + struct.unpack_from(">I", d, 0x54)[0], "f", float("nan")), "finite"),
    "cell state 0": (lambda d: put(d, first_occupied(d) + 3, "B", 0), "fill state is not 1"),
    "cell state 3": (lambda d: put(d, first_empty(d) + 3, "B", 3), "not 0, 1 or 2"),
    "cell coordinates": (lambda d: put(d, first_occupied(d) + 32, "B", 7), "coordinates"),
    "list pointer": (lambda d: put(d, first_occupied(d) + 8, "I", len(d)), "outside the payload"),
    "list order": (swap_first_lists, "list records"),
    "triangle index": (
        lambda d: put(d, 16 + struct.unpack_from(">I", d, first_list(d) + 4)[0], "H", 60),
        "triangle that isn't there",
    ),
    "packing": (lambda d: put(d, first_list(d), "I", 1), "packed"),
    "list radius": (lambda d: put(d, first_list(d) + 28, "f", -1), "negative"),
    "extra slot": (
        # 0x58 has its own slot after 0x54 (delta 1); two slots more fit where the padding of the code is.
        lambda d: put(d, pof0_at(d) + 16 + bytes(d[pof0_at(d) + 16 :]).index(0), "B", 0x41),
        "hold no pointer",
    ),
}


@pytest.mark.parametrize("what", BREAKS)
def test_reader_names_the_broken_rule(what):
    change, message = BREAKS[what]
    data = bytearray((DATA / "test.col").read_bytes())
    change(data)
    with pytest.raises(OracleError, match=message):
        read_col(data)


def test_every_cut_of_a_hull_is_an_oracle_error():
    data = (DATA / "test.col").read_bytes()
    for size in [*range(0, 0x90), *range(0x90, len(data), 97)]:
        with pytest.raises(OracleError):
            read_col(data[:size])


# ---------------------------------------------------------------------------------------------------------------------
# the reader of libraries


def census(mesh):
    """Counts: vertices without triangle, repeated indices, others without area, rims, edges of 3 triangles or more."""
    t = mesh.triangles.astype(int)
    pairs = [(r[i], r[i - 1]) for r in t.tolist() for i in range(3)]
    edges = collections.Counter((min(p), max(p)) for p in pairs if p[0] != p[1])
    repeated = np.array([len(set(r)) < 3 for r in t.tolist()])
    flat = ~game.unit_normals(mesh.vertices.astype(float)[t]).any(axis=1)
    uses = edges.values()
    return (
        len(mesh.vertices) - len(np.unique(t)),
        int(repeated.sum()),
        int((flat & ~repeated).sum()),
        sum(n == 1 for n in uses),
        sum(n > 2 for n in uses),
    )


def test_library_sample_holds_what_its_readme_says():
    meshes = read_set((DATA / "CollisionSet_small.bin").read_bytes())
    assert meshes[0].name == "mob_n040" and len(meshes[0].raw_name) == 16 and meshes[0].size == 0x810
    assert {len(m.raw_name) for m in meshes} == {16, 24, 32}
    found = {m.name: census(m) for m in meshes}
    assert found == {
        "mob_n040": (0, 0, 0, 0, 0),
        "mob_n110_bdy": (0, 0, 0, 0, 0),
        "mob_n310_part_03": (262, 0, 0, 69, 0),
        "mob_n310_part_04": (261, 0, 0, 0, 483),
        "rou_e106_wep_02_L": (261, 0, 0, 72, 0),
        "rou_e107_wep_03_L": (261, 0, 0, 0, 7),
        "S01_Asteroid_cmesh_01a": (0, 0, 0, 0, 0),
        "S14_p1_Asteroid_cmesh_07": (261, 0, 0, 0, 483),
        "S14_p1_Asteroid_cmesh_08": (0, 0, 0, 0, 0),
        # the line 0-4, 4-1, 1-0 on edge 0-1, and 1-2 once more
        "rou_e999_wep_01_degenerate": (1, 1, 1, 2, 2),
    }


def mesh_bytes(name=b"a\0\0\0\0\0\0\0", size=None, nv=3, triangle=(0, 1, 2)):
    body = struct.pack(">I", len(name)) + name + struct.pack(">II", nv, 1) + bytes(12 * nv)
    body += struct.pack(">3I", *triangle)
    return struct.pack(">I", len(body) - 4 if size is None else size) + body


def test_library_walk_ends_at_the_end_of_the_file():
    data = mesh_bytes() + mesh_bytes(b"b" * 15 + b"\0")
    assert [m.name for m in read_set(data)] == ["a", "b" * 15]
    assert read_set(b"") == []
    for bad, message in (
        (data + b"\0", "past the end"),
        (data + bytes(8), "name_len 0"),
        (data[:-1], "past the end"),
        (mesh_bytes(size=60), "size word"),
        (mesh_bytes(b"abcdefgh"), "NUL"),
        (mesh_bytes(b"ab\0"), "multiple of 8"),
        (mesh_bytes(triangle=(0, 1, 3)), "vertex that isn't there"),
    ):
        with pytest.raises(OracleError, match=message):
            read_set(bad)


# ---------------------------------------------------------------------------------------------------------------------
# exact overlap


@pytest.mark.parametrize(
    "triangle, expected",
    [
        ([(-1, 0.5, 0.5), (2, 0.5, 0.5), (0.5, 3, 0.5)], True),  # through the middle
        ([(1, 0, 0), (2, 0, 0), (2, 1, 0)], True),  # touches the corner (1, 0, 0)
        ([(np.nextafter(np.float32(1), np.float32(2)), 0, 0), (2, 0, 0), (2, 1, 0)], False),  # one unit further
        ([(1, 0.2, 0.2), (1, 0.8, 0.2), (1, 0.2, 0.8)], True),  # in a face
        ([(3, 0, 0), (0, 3, 0), (0, 0, 3)], True),  # its plane x + y + z = 3 goes through the corner (1, 1, 1)
        ([(3.0001, 0, 0), (0, 3.0001, 0), (0, 0, 3.0001)], False),  # within the box of the bounds, beyond the corner
        ([(2, 0, 0.5), (0, 2, 0.5), (3, 3, 0.5)], True),  # an edge touches the box's edge x = y = 1
        ([(2.0002, 0, 0.5), (0, 2.0002, 0.5), (3, 3, 0.5)], False),  # only a cross product of edges separates it
        ([(-1, -1, 0.5), (2, 2, 0.5), (2, 2, 0.5)], True),  # without area: a segment through the middle
        ([(1.1, 0, 0), (0, -1.1, 0), (1.1, 0, 0)], False),  # a segment past the corner
        ([(1, 1, 1)] * 3, True),  # a point on the corner
    ],
)
def test_overlap_by_hand(triangle, expected):
    assert exact.overlaps(triangle, (0, 0, 0), (1, 1, 1)) is expected


def clipped(triangle, low, high):
    """Overlap by another way: what the six half spaces leave of the triangle, in fractions."""
    polygon = [[Fraction(v) for v in p] for p in triangle]
    for axis in range(3):
        for limit, sign in ((low[axis], 1), (high[axis], -1)):
            kept = []
            for p, q in zip(polygon, polygon[1:] + polygon[:1], strict=True):
                a, b = sign * (p[axis] - limit), sign * (q[axis] - limit)
                if a >= 0:
                    kept.append(p)
                if a * b < 0:
                    kept.append([u + (v - u) * a / (a - b) for u, v in zip(p, q, strict=True)])
            polygon = kept
    return bool(polygon)


def test_overlap_agrees_with_clipping():
    """Small whole numbers, so that touching and degenerate cases are frequent."""
    rng = np.random.default_rng(11)
    seen = collections.Counter()
    for _ in range(800):
        triangle = rng.integers(-5, 6, (3, 3)).tolist()
        expected = clipped(triangle, (-1, -1, -2), (1, 2, 1))
        assert exact.overlaps(triangle, (-1, -1, -2), (1, 2, 1)) == expected, triangle
        seen[expected] += 1
    assert min(seen.values()) > 200


def test_cell_lists_of_a_box():
    """A ±25,000 wall in 5x5x5 cells: the outer layer; its corner cells reach three walls."""
    vertices, triangles = box(25000, inward=True)
    lists = exact.cell_lists(vertices, triangles, [-25000] * 3, [10000] * 3, (5, 5, 5))
    assert sum(bool(cell) for cell in lists) == 98
    assert len({int(i) // 2 for i in lists[0]}) == 3
    assert not lists[62]


def test_cell_lists_count_a_border_plane_on_both_sides():
    vertices = np.array([[10, 2, 2], [10, 4, 2], [10, 2, 4]])
    lists = exact.cell_lists(vertices, [[0, 1, 2]], [0] * 3, [10] * 3, (3, 1, 1))
    assert lists == [[0], [0], []]


# ---------------------------------------------------------------------------------------------------------------------
# smallest spheres


@pytest.mark.parametrize("sphere_of", [exact.smallest_sphere, exact.enclosing_sphere])
def test_smallest_sphere_by_hand(sphere_of):
    for points, centre, radius in (
        ([(1, 2, 3)], (1, 2, 3), 0),
        ([(1, 2, 3)] * 3, (1, 2, 3), 0),
        ([(0, 0, 0), (2, 0, 0)], (1, 0, 0), 1),
        ([(0, 0, 0), (4, 0, 0), (1, 1, 0)], (2, 0, 0), 2),  # obtuse: the longest edge decides
        ([(0, 0, 0), (1, 0, 0), (3, 0, 0)], (1.5, 0, 0), 1.5),  # on a line
        ([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], (0, 0, 0), np.sqrt(3)),
        (box(5)[0], (0, 0, 0), 5 * np.sqrt(3)),
        ([(3, 4, 0), (-3, 4, 0), (0, -5, 0), (0, 0, 1)], (0, 0, 0), 5),  # a circle and a point within
    ):
        found = sphere_of(points)
        np.testing.assert_allclose(found[0], centre, atol=1e-12)
        assert found[1] == pytest.approx(radius, abs=1e-12)


def test_figures_of_the_format_notes():
    """Section 3, how the builder works: spheres of cells (2,0,0) and (0,0,0) in a ±25,000 box."""
    size = 25000
    corners = np.array([(-1, -1, -1), (1, -1, -1), (1, -1, 1), (1, 1, -1)]) * size
    centre, radius = exact.smallest_sphere(corners)
    np.testing.assert_allclose(centre, (size / 3, -size / 3, -size / 3), rtol=1e-12)
    assert radius == pytest.approx(size * np.sqrt(8 / 3), rel=1e-12)
    assert np.float32(radius * 1.001) == pytest.approx(40865.652, abs=0.002)
    centre, radius = exact.smallest_sphere(np.delete(box(size)[0], 7, axis=0))
    np.testing.assert_allclose(centre, 0, atol=1e-8)
    assert np.float32(radius * 1.001) == pytest.approx(43344.570, abs=0.002)

    cells = sample("S14_p1_AsteroidVolume_wp.col").cells
    np.testing.assert_allclose(cells[2].sphere, (8333.333, -8333.333, -8333.333, 40865.652), rtol=1e-7)
    np.testing.assert_allclose(cells[0].sphere, (0, 0, 0, 43344.570), atol=0.002)


def test_triangle_spheres_of_the_500_km_box():
    spheres = sample("mapmesh_box_500km.col").spheres
    np.testing.assert_allclose(spheres[:, 3], 250000 * np.sqrt(2) * 1.0001, rtol=1e-7)


def test_both_smallest_spheres_agree():
    rng = np.random.default_rng(12)
    for _ in range(60):
        points = rng.normal(size=(rng.integers(2, 9), 3)) * rng.uniform(0.01, 1, 3) * 1000 + rng.normal(size=3) * 5000
        centre, radius = exact.smallest_sphere(points)
        other = exact.enclosing_sphere(points)
        np.testing.assert_allclose(other[0], centre, atol=1e-7)
        assert other[1] == pytest.approx(radius, rel=1e-11)
        assert np.linalg.norm(points - centre, axis=1).max() == pytest.approx(radius, rel=1e-11)


def test_no_smaller_sphere_nearby():
    """Around many points: whichever way the centre moves, a point falls out."""
    rng = np.random.default_rng(13)
    for points in (rng.normal(size=(300, 3)) * (1, 3, 2), np.round(rng.uniform(-4, 4, (300, 3)))):
        centre, radius = exact.enclosing_sphere(points)
        assert np.linalg.norm(points - centre, axis=1).max() <= radius * (1 + 1e-12)
        for step in rng.normal(size=(200, 3)) * 1e-3:
            assert np.linalg.norm(points - centre - step, axis=1).max() > radius


def sphere_around(points):
    """`enclosing_sphere`, remembered: walls and variants of a hull repeat the same sets of points."""
    key = points.tobytes()
    if key not in spheres_made:
        spheres_made[key] = exact.enclosing_sphere(points)
    return spheres_made[key]


def assert_spheres(spheres, made, factor, off_centre):
    """Spheres (n, 4) of a file are the smallest ones, n pairs (centre, radius), with radius * factor."""
    spheres = np.asarray(spheres, dtype=float)
    centres, radii = np.array([c for c, _ in made]), np.array([r for _, r in made])
    assert (np.abs(spheres[:, :3] - centres).max(axis=1) <= off_centre * radii).all()
    np.testing.assert_allclose(spheres[:, 3], radii * factor, rtol=2e-7)


@pytest.mark.parametrize("name", PLAIN + QUIRKS)
def test_spheres_and_lists_of_the_samples(name):
    """Spheres as the builder makes them; no entry missing, few extra, apart from the file that has some missing."""
    col = sample(name)
    vertices, triangles = col.vertices.astype(float), col.triangles.astype(int)
    made = [sphere_around(vertices[triangle]) for triangle in triangles]
    assert_spheres(col.spheres, made, 1.0001, 2e-6)
    wanted = exact.cell_lists(col.vertices, triangles, col.bbox_min[:3], col.cell_size, col.dims)
    missing, extra, entries, spheres, made = [], 0, 0, [], []
    for number, (cell, exactly) in enumerate(zip(col.cells, wanted, strict=True)):
        listed = [i for r in cell.lists for i in r.indices]
        missing += [(number, i) for i in exactly if i not in listed]
        extra += len(set(listed) - set(exactly))
        entries += len(listed)
        for record in cell.lists:
            points = vertices[np.unique(triangles[record.indices])]
            assert np.linalg.norm(points - record.sphere[:3], axis=1).max() <= record.sphere[3]
            spheres.append(record.sphere)
            made.append(sphere_around(points))
    # The spheres of S13_missing are those of the full lists.
    if name != INCOMPLETE:
        assert_spheres(spheres, made, 1.001, 1e-6)
    assert missing == ([(356, 93), (357, 84), (358, 105)] if name == INCOMPLETE else [])
    assert extra <= entries * 730 / 18577


# ---------------------------------------------------------------------------------------------------------------------
# queries, by hand


@pytest.fixture(scope="module")
def cube():
    """A ±10 cube of rock in free space, in a ±25 grid of 5x5x5."""
    return hull(*box(10), [-25] * 3, [25] * 3, (5, 5, 5))


@pytest.fixture(scope="module")
def cavern():
    """A ±25 wall around free space, the outside solid."""
    return hull(*box(25, inward=True), [-25] * 3, [25] * 3, (5, 5, 5), outside=1)


def test_ray_on_a_cube(cube):
    time, triangle = game.ray(cube, (-20, 1, 2), (40, 0, 0))
    assert time == pytest.approx(0.25) and triangle in (0, 1)
    assert game.ray(cube, (-20, 1, 2), (9.9, 0, 0)) is None
    assert game.ray(cube, (0, 1, 2), (0, 0, 20))[0] == pytest.approx(0.4)  # from the back as well
    assert game.ray(cube, (-20, 11, 2), (40, 0, 0)) is None
    assert game.ray(cube, (-20, 10, 10), (40, 0, 0))[0] == pytest.approx(0.25)  # an edge counts as inside
    assert game.ray(cube, (-20, 3, 3), (40, 0, 0))[0] == pytest.approx(0.25)  # the diagonal, too
    assert game.ray(cube, (-1000, 1, 2), (2000, 0, 0))[0] == pytest.approx(0.495)  # from outside the grid
    assert game.ray(cube, (-1000, 1, 2), (900, 0, 0)) is None
    for find in (game.ray, lambda c, s, m: game.first_hit(c.vertices, c.triangles, s, m)):
        assert find(cube, (-20, 1, 2), (40, 0, 0))[0] == pytest.approx(0.25)
        assert find(cube, (-20, 1, 2), (-40, 0, 0)) is None


def test_index_truncates_toward_zero(cube):
    assert game.cell_index(cube, (-34.9, -25, 24.9)).tolist() == [0, 0, 4]
    assert game.cell_index(cube, (-35, -15, 25)).tolist() == [-1, 1, 5]
    assert game.fill_state(cube, (-34, 0, 0)) == 0
    cube_outside = hull(*box(10), [-25] * 3, [25] * 3, (5, 5, 5), outside=1)
    assert game.fill_state(cube_outside, (-36, 0, 0)) == 2


def test_gives_up_only_when_both_ends_lie_beyond_the_same_border():
    """What sticks out of the grid is met through the border cell, unless both indices of the path are below 0."""
    vertices = np.array([[-30, -5, -5], [-30, 5, -5], [-30, 0, 5], [-24, 0, 0]])
    col = hull(vertices, [[0, 1, 2], [1, 3, 2], [3, 0, 2], [0, 3, 1]], [-25] * 3, [25] * 3, (5, 5, 5))
    for cell in col.cells:
        if cell.lists:
            cell.lists[0].indices = [0, 1, 2, 3]
            cell.lists[0].sphere = around(vertices, 1.001)
    assert game.ray(col, (-34, 0, 0), (8, 0, 0))[0] == pytest.approx(0.5)  # index 0 is less than one cell away
    assert game.ray(col, (-31, 0, 0), (2, 0, 0))[0] == pytest.approx(0.5)
    assert game.ray(col, (-37, 0, 0), (-8, 0, 0)) is None
    assert game.first_hit(vertices, col.triangles, (-37, 0, 0), (20, 0, 0))[0] == pytest.approx(0.35)


def test_sweep_on_a_cube(cube):
    for find in (game.sweep, lambda c, s, m, r: game.first_sweep_hit(c.vertices, c.triangles, s, m, r)):
        assert find(cube, (-20, 1, 2), (40, 0, 0), 2)[0] == pytest.approx(8 / 40)  # face
        # edge x = -10, y = 10: 3 beside it, so first touched 4 in front of it
        assert find(cube, (-20, 13, 2), (40, 0, 0), 5)[0] == pytest.approx(6 / 40)
        # corner (-10, 10, 10): 2 and 1 beside it, so 2 in front of it
        assert find(cube, (-20, 12, 11), (40, 0, 0), 3)[0] == pytest.approx(8 / 40)
        assert find(cube, (-20, 13.1, 2), (40, 0, 0), 3) is None
        assert find(cube, (-11, 0, 0), (-5, 0, 0), 2)[0] == 0  # touches at the start
        assert find(cube, (-20, 0, 0), (0, 0, 0), 11)[0] == 0  # without movement
        assert find(cube, (-20, 0, 0), (0, 0, 0), 9) is None
        assert find(cube, (-20, 0, 0), (7, 0, 0), 2) is None  # stops before it
        assert find(cube, (-20, 0, 0), (9, 0, 0), 2)[0] == pytest.approx(8 / 9)


def test_sweep_skips_cells_of_state_0_and_rays_do_not():
    col = hull(*box(10), [-25] * 3, [25] * 3, (5, 5, 5))
    for cell in col.cells:
        if cell.lists:
            cell.state = 0
    assert game.sweep(col, (-20, 1, 2), (40, 0, 0), 1) is None
    assert game.ray(col, (-20, 1, 2), (40, 0, 0))[0] == pytest.approx(0.25)


def test_spheres_stand_in_front_of_lists_and_triangles():
    def fresh():
        return hull(*box(10), [-25] * 3, [25] * 3, (5, 5, 5))

    col = fresh()
    for cell in col.cells:
        for record in cell.lists:
            record.sphere = np.array([0, 200, 0, 1], np.float32)
    assert game.ray(col, (-20, 1, 2), (40, 0, 0)) is None
    assert game.sweep(col, (-20, 1, 2), (40, 0, 0), 1) is None
    col = fresh()
    for cell in col.cells:
        cell.sphere = np.array([0, 200, 0, 1], np.float32)  # no query reads the cell's own
    assert game.ray(col, (-20, 1, 2), (40, 0, 0))[0] == pytest.approx(0.25)
    col = fresh()
    col.spheres[:4] = (0, 200, 0, 1)  # both walls in x
    assert game.ray(col, (-20, 1, 2), (40, 0, 0)) is None
    col = fresh()
    # A sphere that is entered too late: the front wall (met first in cell order) is best by then.
    col.spheres[2:4] = (30, 0, 0, 1)
    assert game.ray(col, (-20, 1, 2), (60, 0, 0))[0] == pytest.approx(10 / 60)


def test_triangle_without_area_is_hit_at_time_0():
    """Section 5: a wall that isn't there. The brute-force truth knows nothing of it, so the comparison finds it."""
    vertices = np.array([[0, 0, 0], [4, 0, 0], [8, 0, 0]])
    col = hull(vertices, [[0, 1, 2]], [-25] * 3, [25] * 3, (5, 5, 5))
    assert game.ray(col, (4, 10, 0), (0, -20, 1)) == (0, 0)
    assert game.ray(col, (4, 10, 0), (0, -2, 0)) is None
    assert game.sweep(col, (4, 10, 0), (0, -20, 1), 1) == (0, 0)
    assert game.first_hit(vertices, col.triangles, (4, 10, 0), (0, -20, 1)) is None


def test_inside_by_hand(cube, cavern):
    for col, points in (
        (cube, {(0, 0, 0): True, (9, 9, 9): True, (-9.5, 3, 9.9): True, (10.5, 0, 0): False, (20, 20, 20): False}),
        (cavern, {(0, 0, 0): False, (24, 24, 24): False, (-24, 3, 7): False, (26, 0, 0): True, (100, 0, 0): True}),
    ):
        for point, expected in points.items():
            assert game.inside(col, point) is expected, point
            assert game.solid(col.vertices, col.triangles, col.outside, point)[0] == expected, point
    # Turned over, rock and free space change places.
    turned = hull(*box(10, inward=True), [-25] * 3, [25] * 3, (5, 5, 5), outside=0)
    assert game.inside(turned, (9, 9, 9)) is False


def test_inside_reads_fill_states():
    col = hull(*box(10), [-25] * 3, [25] * 3, (5, 5, 5))
    middle = col.cells[62]
    assert middle.state == 2 and not middle.lists
    middle.state = 0
    assert game.inside(col, (0, 0, 0)) is False


def test_winding_signs():
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    points = [(0.1, 0.1, 0.1), (0.5, 0.5, 0.5), (-1, 0, 0)]
    np.testing.assert_allclose(game.winding(vertices, TETRAHEDRON, points), [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(game.winding(vertices, TETRAHEDRON[:, ::-1], points), [-1, 0, 0], atol=1e-12)
    assert game.solid(vertices, TETRAHEDRON, False, points).tolist() == [True, False, False]
    assert game.solid(vertices, TETRAHEDRON[:, ::-1], True, points).tolist() == [False, True, True]
    # A wall and an asteroid in it
    wall, wall_triangles = box(5, inward=True)
    both = np.vstack([vertices, wall]), np.vstack([TETRAHEDRON, wall_triangles + 4])
    assert game.solid(*both, True, [*points, (6, 0, 0)]).tolist() == [True, False, False, True]


def test_distance_by_hand():
    corners = np.array([[(0, 0, 0), (4, 0, 0), (0, 4, 0)]] * 6, dtype=float)
    points = np.array([(1, 1, 3), (1, 1, -3), (-3, -4, 0), (2, -2, 0), (4, 4, 0), (7, 0, 4)], dtype=float)
    np.testing.assert_allclose(game.Faces(corners).distance(points), [3, 3, 5, 2, np.sqrt(8), 5])


# ---------------------------------------------------------------------------------------------------------------------
# queries on sample hulls


def random_rays(col, count, seed):
    """(3 * count, 3) starts and movements: from within the grid, from outside, along planes and lines of the grid."""
    rng = np.random.default_rng(seed)
    low, size = col.bbox_min[:3].astype(float), col.extent[:3].astype(float)
    cell, dims = col.cell_size.astype(float), np.array(col.dims)
    length = size[0] * rng.choice([0.02, 0.1, 0.5, 1.5], (count, 1))
    starts = [low + size * rng.uniform(size=(count, 3))]
    movements = [rng.normal(size=(count, 3)) * length]
    outside = low + size * 0.5 + size * rng.uniform(0.51, 1, (count, 3)) * rng.choice([-1, 1], (count, 3))
    starts.append(outside)
    movements.append((low + size * rng.uniform(size=(count, 3)) - outside) * rng.uniform(0.5, 2, (count, 1)))
    along = low + size * rng.uniform(size=(count, 3))
    moving = rng.normal(size=(count, 3)) * length
    plane = low + cell * rng.integers(1, dims, (count, 3))
    on_plane = np.zeros((count, 3), dtype=bool)
    on_plane[np.arange(count), rng.integers(0, 3, count)] = True
    on_plane[: count // 3] ^= True  # for a third two axes: along a line of the grid
    starts.append(np.where(on_plane, plane, along))
    movements.append(np.where(on_plane, 0, moving))
    return np.concatenate(starts), np.concatenate(movements)


@pytest.mark.parametrize("name", PLAIN + QUIRKS)
def test_rays_agree_with_the_truth(name):
    """Entries missing in the one file are too small for random rays; see the next test."""
    col = sample(name)
    starts, movements = random_rays(col, 400 if name in PLAIN else 100, 21)
    found = game.rays(col, starts, movements)
    truth = game.first_hits(col.vertices, col.triangles, starts, movements)
    wrong = np.flatnonzero(~same_times(found, truth))
    assert len(wrong) == 0, (starts[wrong[0]], movements[wrong[0]], found[wrong[0]], truth[wrong[0]])
    assert np.isfinite(truth).sum() > len(truth) / 6


def rays_through(col, number, triangle, count, seed):
    """Short rays across a triangle that stay within cell `number`: (n, 3) starts, (n, 3) movements."""
    rng = np.random.default_rng(seed)
    nx, ny, _ = col.dims
    low = col.bbox_min[:3] + col.cell_size.astype(float) * (number % nx, number // nx % ny, number // nx // ny)
    high = low + col.cell_size
    corners = col.vertices.astype(float)[col.triangles[triangle].astype(int)]
    weights = rng.dirichlet((0.3, 0.3, 0.3), 60_000)
    points = weights[weights.min(axis=1) > 1e-6] @ corners  # not on an edge, where the neighbour is met as well
    points = points[((points > low) & (points < high)).all(axis=1)][:count]
    gap = np.minimum(points - low, high - points).min(axis=1, keepdims=True)
    movement = rng.normal(size=points.shape)
    movement *= gap / np.linalg.norm(movement, axis=1, keepdims=True)
    return points - movement / 2, movement


def test_missing_entries_are_found_out():
    """S13_missing: rays within the cell go through the rock; the same rays on the complete file don't."""
    col, whole = sample(INCOMPLETE), sample("S13_AsteroidVolume_wp.col")
    tested = 0
    for number, triangle in ((356, 93), (357, 84), (358, 105)):
        starts, movements = rays_through(col, number, triangle, 100, 31)
        pairs = list(zip(starts, movements, strict=True))
        first = [game.first_hit(col.vertices, col.triangles, s, m) for s, m in pairs]
        truth = np.array([time for time, _ in first])
        assert same_times(game.rays(whole, starts, movements), truth).all()
        missed = ~same_times(game.rays(col, starts, movements), truth)
        # Another triangle, one that is listed, may be met before it.
        assert missed[[hit[1] == triangle for hit in first]].all()
        assert missed.any()
        tested += int(missed.sum())
    assert tested >= 100


@pytest.mark.parametrize("name", PLAIN + QUIRKS)
def test_inside_agrees_with_the_winding_number(name):
    col = sample(name)
    rng = np.random.default_rng(41)
    low, size = col.bbox_min[:3].astype(float), col.extent[:3].astype(float)
    points = low + size * rng.uniform(-0.05, 1.05, (300, 3))
    # and some around the surface, where cells list triangles
    corners = col.vertices.astype(float)[col.triangles.astype(int)][rng.integers(0, col.nt, 200)]
    near = np.einsum("nk,nkx->nx", rng.dirichlet((1, 1, 1), 200), corners) + rng.normal(size=(200, 3)) * size * 0.01
    points = np.concatenate([points, near])
    found = game.insides(col, points)
    truth = game.solid(col.vertices, col.triangles, col.outside, points)
    wrong = np.flatnonzero(found != truth)
    # A missing entry may hide the nearest triangle from the game.
    assert len(wrong) == 0 or name == INCOMPLETE, (points[wrong[0]], found[wrong[0]])
    assert len(wrong) <= 3
    assert truth.any() and not truth.all()


@pytest.mark.parametrize("name", PLAIN + QUIRKS)
def test_fill_states_of_the_samples(name):
    """Section 3: without triangles, 2 in rock and 0 in free space, decided at the cell's centre."""
    col = sample(name)
    empty = [c for c in col.cells if not c.lists]
    centres = col.bbox_min[:3] + col.cell_size.astype(float) * ([(c.x + 0.5, c.y + 0.5, c.z + 0.5) for c in empty])
    solid = game.solid(col.vertices, col.triangles, col.outside, centres)
    assert [c.state for c in empty] == (2 * solid.astype(int)).tolist()


@pytest.mark.parametrize("name", PLAIN + QUIRKS)
def test_sweeps_agree_with_the_truth(name):
    col = sample(name)
    starts, movements = (a[::7] for a in random_rays(col, 100, 51))
    for part in (0.001, 0.03):
        radius = float(col.extent[0]) * part
        found = game.sweeps(col, starts, movements, radius)
        truth = game.first_sweep_hits(col.vertices, col.triangles, starts, movements, radius)
        wrong = np.flatnonzero(~same_times(found, truth))
        assert len(wrong) == 0, (starts[wrong[0]], movements[wrong[0]], found[wrong[0]], truth[wrong[0]])
        assert np.isfinite(truth).sum() > 8
