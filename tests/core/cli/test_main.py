"""The command line: what it prints, exit status, and one line for whatever goes wrong."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.editing.build import empty_hull
from core.errors import FormatError
from core.formats import collision_set, mcol, obj
from core.formats.kinds import Kind, detect
from core.game.loose_files import detect_file
from tests.support.foreign_systems import NamesWithoutCase
from tests.support.hulls import DATA, HULLS, LARGE, box, read, rock

ROOT = DATA.parents[1]
TEST, SET = str(DATA / "test.col"), str(DATA / "CollisionSet_small.bin")
MISSING_ENTRIES = str(DATA / "quirks" / "S13_missing.col")


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


# --- info, list -----------------------------------------------------------------------------------


def test_info_of_a_hull(run):
    status, out, error = run("info", DATA / LARGE)
    assert (status, error) == (0, "")
    lines = out.splitlines()
    for line in (
        "kind: map hull",
        "bytes: 37,664",
        "vertices: 502",
        "triangles: 924",
        "euler characteristic: 40",
        "box minimum: (-25000, -25000, -25000)",
        "cells along x y z: (5, 5, 5)",
        "outside the box: solid",
        "cells with triangles: 114",
        "surfaces: 20",
        "  wall         8 vertices, 12 triangles, faces inward",
    ):
        assert line in lines


def test_info_as_json(run):
    status, out, _ = run("info", DATA / LARGE, "--json")
    about = json.loads(out)
    assert status == 0
    assert (about["vertices"], about["triangles"], len(about["surfaces"])) == (502, 924, 20)
    assert about["surfaces"][-1] == {"name": "wall", "vertices": 8, "triangles": 12, "faces": "inward"}
    assert sum(surface["triangles"] for surface in about["surfaces"]) == 924
    assert about["cells"] == about["cells_with_triangles"] + about["cells_in_free_space"] + about["cells_in_rock"]


def test_info_of_a_set(run):
    _, out, _ = run("info", SET)
    assert "meshes: 10" in out
    assert "  stage asteroids  3 meshes, 642 vertices, 1,072 triangles" in out


def test_list_of_a_set(run):
    status, out, _ = run("list", SET)
    assert status == 0
    assert len(out.splitlines()) == 10
    assert out.splitlines()[0].split() == "mob_n040 58 vertices, 112 triangles, closed yes".split()
    rows = json.loads(run("list", SET, "--json")[1])["contents"]
    assert rows[2] == {"name": "mob_n310_part_03", "vertices": 461, "triangles": 371, "closed": False}


# --- verify ---------------------------------------------------------------------------------------


def test_verify_a_sound_hull(run):
    status, out, error = run("verify", DATA / LARGE)
    assert (status, error) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == f"OK {DATA / LARGE}: map hull"
    assert "1 map hull" in lines
    assert "edges shared by exactly two triangles 1,386 / 1,386 100.00 %" in lines
    assert "spheres tight within 1 % 924 / 924 100.00 % median max|v-c| / r 0.99990" in lines


def test_verify_a_hull_with_a_hole(run):
    status, out, error = run("verify", MISSING_ENTRIES)
    assert (status, error) == (0, "")
    assert out.startswith(f"OK   {MISSING_ENTRIES}: warning: 3 triangles absent from the list")
    assert out.splitlines()[0].count(" units deep") == 3
    # Never rounded up to 100 %.
    (line,) = (line for line in out.splitlines() if line.startswith("overlapping triangles that the cell lists"))
    assert line.split()[-3:] == ["99.75", "%", "warning"]


def test_verify_a_folder_adds_up(run, tmp_path):
    shutil.copytree(DATA, tmp_path / "data", ignore=shutil.ignore_patterns("fuzz", "edges"))
    status, out, _ = run("verify", tmp_path / "data")
    assert status == 0
    lines = out.splitlines()
    hulls = len(list((tmp_path / "data").rglob("*.col")))
    assert sum(line.startswith("OK   ") for line in lines) == hulls + 1
    assert f"{hulls:,} map hulls" in lines
    assert "1 collision set" in lines
    assert not any("README" in line for line in lines)


def test_verify_as_json(run):
    status, out, _ = run("verify", TEST, MISSING_ENTRIES, SET, "--json")
    document = json.loads(out)
    assert status == 0
    assert document["passed"] is True
    assert [row["passed"] for row in document["files"]] == [True, True, True]
    (finding,) = (row for row in document["files"][1]["findings"] if row["severity"] == "warning")
    assert finding["kind"] == "cell"
    assert finding["elements"] == [356, 357, 358]
    edges = [row for row in document["totals"] if row["name"] == "edges shared by exactly two triangles"]
    assert [(row["kind"], row["good"], row["total"]) for row in edges] == [
        ("map hull", 291, 291),
        ("collision set", 3588, 4707),
    ]


def test_verify_goes_on_behind_an_unreadable_file(run, tmp_path):
    broken = tmp_path / "a.col"
    broken.write_bytes(read("test.col")[:1000])
    shutil.copy(TEST, tmp_path / "b.col")
    status, out, error = run("verify", tmp_path)
    assert status == 2
    assert out.startswith(f"FAIL {broken}: ")
    assert f"OK   {tmp_path / 'b.col'}" in out
    assert error.startswith(f"error: {broken}: ")
    assert error.count("\n") == 1
    shutil.copy(broken, tmp_path / "c.col")
    assert "and 1 more file can't be read" in run("verify", tmp_path)[2]


def test_the_name_of_a_file_does_not_matter(run, tmp_path):
    shutil.copy(TEST, tmp_path / "hull.txt")
    shutil.copy(SET, tmp_path / "hull.col")
    status, out, _ = run("verify", tmp_path)
    assert status == 0
    assert out.count("OK   ") == 2


def test_verify_a_folder_without_such_files(refused, tmp_path):
    write(tmp_path / "note.txt", "nothing")
    assert f"{tmp_path}: no file in this folder that can be verified" in refused("verify", tmp_path)


# --- obj, build -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", HULLS, ids=lambda path: path.name)
def test_an_unchanged_obj_gives_the_same_hull(run, tmp_path, path):
    text, result = tmp_path / "a.obj", tmp_path / "a.col"
    assert run("obj", path, "-o", text)[0] == 0
    assert run("build", text, "-o", result, "--like", path)[0] == 0
    assert result.read_bytes() == path.read_bytes()


def test_obj_names_its_objects(run, tmp_path):
    _, out, _ = run("obj", TEST, "-o", tmp_path / "a.obj")
    assert out == f"{tmp_path / 'a.obj'}: 2 objects, 60 triangles\n"
    meshes = obj.decode((tmp_path / "a.obj").read_bytes())
    assert [mesh.name for mesh in meshes] == ["test.asteroid_01", "test.wall"]


@pytest.mark.parametrize("name", ["wall", "test.wall", "WALL"])
def test_obj_of_one_surface(run, tmp_path, name):
    assert run("obj", TEST, "-o", tmp_path / "a.obj", "--mesh", name)[0] == 0
    (only,) = obj.decode((tmp_path / "a.obj").read_bytes())
    assert len(only.triangles) == 12


def test_obj_of_a_set_keeps_unused_vertices(run, tmp_path):
    assert run("obj", SET, "-o", tmp_path / "a.obj")[0] == 0
    library = collision_set.decode(read("CollisionSet_small.bin"))
    meshes = obj.decode((tmp_path / "a.obj").read_bytes())
    assert len(meshes) == len(library.parts)
    for mesh, part in zip(meshes, library.parts, strict=True):
        assert mesh.name == part.name
        assert np.array_equal(mesh.vertices, part.vertices)
        assert np.array_equal(mesh.triangles, part.triangles)


def test_obj_of_a_mesh_that_is_not_there(refused, tmp_path):
    error = refused("obj", SET, "-o", tmp_path / "a.obj", "--mesh", "nothing")
    assert "holds nothing named nothing" in error
    assert not (tmp_path / "a.obj").exists()


def test_build_from_nothing(run, tmp_path):
    run("obj", DATA / "mapmesh_box_500km.col", "-o", tmp_path / "a.obj")
    status, out, _ = run("build", tmp_path / "a.obj", "-o", tmp_path / "a.col", "--cell", 50000)
    assert status == 0
    assert "8 vertices, 12 triangles, 488 of 1,000 cells with triangles" in out
    assert run("diff", DATA / "mapmesh_box_500km.col", tmp_path / "a.col")[0] == 0
    assert run("verify", tmp_path / "a.col")[0] == 0


@pytest.mark.parametrize(
    ("choice", "inward", "solid"), [("auto", True, 1), ("auto", False, 0), ("yes", True, 1), ("no", False, 0)]
)
def test_build_settles_the_outside(run, tmp_path, choice, inward, solid):
    shape = obj.Mesh("box", *box([-100] * 3, [200, 50, 70], inward))
    (tmp_path / "a.obj").write_bytes(obj.encode([shape]))
    arguments = ("build", tmp_path / "a.obj", "-o", tmp_path / "a.col", "--cell", 64, "--outside-solid", choice)
    assert run(*arguments)[0] == 0
    hull = mcol.decode((tmp_path / "a.col").read_bytes())
    assert hull.outside_solid == solid
    # 300, 150 and 170 along the axes, widened to whole cells around their middle.
    assert hull.grid.dimensions == (5, 3, 3)
    assert hull.grid.minimum.tolist() == [-110, -121, -111]
    assert run("verify", tmp_path / "a.col")[0] == 0


def test_build_refuses_what_faces_rock(refused, tmp_path):
    shape = obj.Mesh("my box", *box([-100] * 3, [100] * 3, inward=True))
    (tmp_path / "a.obj").write_bytes(obj.encode([shape]))
    refused("build", tmp_path / "a.obj", "-o", tmp_path / "a.col", "--cell", 64, "--outside-solid", "no")
    assert not (tmp_path / "a.col").exists()


def test_build_refuses_an_open_edge_and_names_the_object(refused, run, tmp_path):
    vertices, triangles = box([-100] * 3, [100] * 3)
    (tmp_path / "a.obj").write_bytes(obj.encode([obj.Mesh("my_rock", vertices, triangles[:-1])]))
    error = refused("build", tmp_path / "a.obj", "-o", tmp_path / "a.col", "--cell", 64)
    assert '"my_rock"' in error and "the mesh" not in error
    assert str(tmp_path / "a.obj") in error
    assert not (tmp_path / "a.col").exists()


def test_build_names_the_one_object_of_three_that_is_open(refused, tmp_path):
    for way in (("--cell", 25), ("--like", TEST)):
        error = refused("build", DATA / "edges/one_of_three_open.obj", "-o", tmp_path / "a.col", *way)
        assert "open edges" in error and '"rock_B"' in error
        assert "`wall`" not in error and "rock_A" not in error


def test_build_names_an_object_without_a_name(refused, tmp_path):
    vertices, triangles = box([-100] * 3, [100] * 3)
    text = obj.encode([obj.Mesh("", vertices, triangles[:-1])]).replace(b"o \n", b"")
    (tmp_path / "a.obj").write_bytes(text)
    assert '"object without a name"' in refused("build", tmp_path / "a.obj", "-o", tmp_path / "a.col", "--cell", 64)


def test_build_from_nothing_warns_turns_and_grows_as_build_like_does(run, refused, tmp_path):
    meshes = [
        obj.Mesh("my wall", *box([-100] * 3, [100] * 3, inward=True)),
        obj.Mesh("my rock", box([-50] * 3, [50] * 3)[0], box([-50] * 3, [50] * 3)[1][:, ::-1]),
        obj.Mesh("my core", *box([-20] * 3, [20] * 3)),
    ]
    loose = np.concatenate((meshes[0].vertices, np.float32([[1, 2, 3]])))
    meshes[0] = obj.Mesh("my wall", loose, meshes[0].triangles)
    (tmp_path / "a.obj").write_bytes(obj.encode(meshes))
    arguments = ("build", tmp_path / "a.obj", "-o", tmp_path / "a.col", "--cell", 40)
    assert 'winding: 1 inside-out surface: "my rock"' in refused(*arguments)
    status, out, _ = run(*arguments, "--turn", "--grow")
    assert status == 0
    assert 'warning: winding: 12 triangles of "my rock" flipped' in out
    assert "warning: loose vertices: 1 unused vertex left out" in out
    assert 'warning: buried surfaces: 1 surface of "my core" buried in rock' in out
    assert run("verify", tmp_path / "a.col")[0] == 0
    assert mcol.decode((tmp_path / "a.col").read_bytes()).outside_solid == 1


@pytest.mark.parametrize("way", [("--cell", 40), ("--like", DATA / "S01_AsteroidVolume_wp.col")])
def test_build_warns_of_faces_that_are_not_flat(run, tmp_path, way):
    vertices, _ = box([-50] * 3, [50] * 3)
    corners = "".join(f"v {x} {y} {z}\n" for x, y, z in (vertices + [[9, 0, 0]] + np.eye(8, 3) * 5).tolist())
    quads = "f 1 5 7 3\nf 2 4 8 6\nf 1 2 6 5\nf 3 7 8 4\nf 1 3 4 2\nf 5 6 8 7\n"
    (tmp_path / "a.obj").write_text(f"o a\n{corners}{quads}")
    status, out, _ = run("build", tmp_path / "a.obj", "-o", tmp_path / "a.col", *way)
    assert status == 0 and "warning: faces: " in out and "aren't flat" in out


def test_build_from_nothing_and_like_an_empty_hull_are_one_path(run, tmp_path):
    (tmp_path / "a.obj").write_bytes(obj.encode([obj.Mesh("a", *rock((0, 0, 0), 100))]))
    assert run("build", tmp_path / "a.obj", "-o", tmp_path / "a.col", "--cell", 30)[0] == 0
    made = mcol.decode((tmp_path / "a.col").read_bytes())
    (tmp_path / "empty.col").write_bytes(mcol.encode(empty_hull(made.grid, False)))
    arguments = ("build", tmp_path / "a.obj", "-o", tmp_path / "b.col", "--like", tmp_path / "empty.col")
    assert run(*arguments)[0] == 0
    like = mcol.decode((tmp_path / "b.col").read_bytes())
    one, other = (mcol.encode(dataclasses.replace(hull, carried=None)) for hull in (made, like))
    assert one == other, "but for the order of the arrays, which an empty file doesn't show"


def test_build_an_edit(run, refused, tmp_path):
    source = DATA / "S01_AsteroidVolume_wp.col"
    run("obj", source, "-o", tmp_path / "a.obj")
    (mesh,) = obj.decode((tmp_path / "a.obj").read_bytes())
    shifted = obj.Mesh(mesh.name, mesh.vertices + np.float32([10000, 0, 0]), mesh.triangles)
    (tmp_path / "b.obj").write_bytes(obj.encode([shifted]))
    arguments = ("build", tmp_path / "b.obj", "-o", tmp_path / "b.col", "--like", source)
    assert "outside the bounding box" in refused(*arguments)
    status, out, _ = run(*arguments, "--grow")
    assert status == 0
    assert out.startswith("warning: grid: ")
    assert run("verify", tmp_path / "b.col")[0] == 0
    turned = obj.Mesh(mesh.name, mesh.vertices, mesh.triangles[:, ::-1])
    (tmp_path / "c.obj").write_bytes(obj.encode([turned]))
    arguments = ("build", tmp_path / "c.obj", "-o", tmp_path / "c.col", "--like", source)
    assert "front" in refused(*arguments)
    assert run(*arguments, "--turn")[0] == 0
    assert run("verify", tmp_path / "c.col")[0] == 0


def test_build_keeps_the_numbers_of_a_surface_that_moved(run, tmp_path):
    source = DATA / LARGE
    run("obj", source, "-o", tmp_path / "a.obj")
    meshes = obj.decode((tmp_path / "a.obj").read_bytes())
    place = next(n for n, mesh in enumerate(meshes) if mesh.vertices[:, 0].max() < 15000)
    chosen = meshes[place]
    meshes[place] = obj.Mesh(chosen.name, chosen.vertices + np.float32([10000, 0, 0]), chosen.triangles)
    (tmp_path / "b.obj").write_bytes(obj.encode(meshes[::-1]))
    assert run("build", tmp_path / "b.obj", "-o", tmp_path / "b.col", "--like", source)[0] == 0
    before, after = mcol.decode(source.read_bytes()), mcol.decode((tmp_path / "b.col").read_bytes())
    assert np.array_equal(before.triangles, after.triangles)
    assert (before.vertices != after.vertices).any(axis=1).sum() == len(chosen.vertices)


def test_build_knows_what_stands_where_it_stood_whatever_its_name(run, tmp_path):
    source = DATA / LARGE
    run("obj", source, "-o", tmp_path / "a.obj")
    meshes = obj.decode((tmp_path / "a.obj").read_bytes())
    renamed = [obj.Mesh(f"thing {n}", mesh.vertices, mesh.triangles) for n, mesh in enumerate(meshes)]
    (tmp_path / "b.obj").write_bytes(obj.encode(renamed[::-1]))
    assert run("build", tmp_path / "b.obj", "-o", tmp_path / "b.col", "--like", source)[0] == 0
    assert (tmp_path / "b.col").read_bytes() == source.read_bytes()


def test_build_needs_one_way_and_a_sensible_size(refused, tmp_path):
    (tmp_path / "a.obj").write_bytes(obj.encode([obj.Mesh("a", *rock((0, 0, 0), 1000))]))
    start = ("build", tmp_path / "a.obj", "-o", tmp_path / "a.col")
    refused(*start)
    refused(*start, "--cell", 10, "--like", TEST)
    for size in ("0", "-5", "nan", "inf", "wide"):
        assert "positive number" in refused(*start, f"--cell={size}")
    assert "255 at most" in refused(*start, "--cell", 1)
    assert "collision set" in refused(*start, "--like", SET)
    assert not (tmp_path / "a.col").exists()


def test_build_tells_the_line_of_a_broken_obj(refused, tmp_path):
    text = write(tmp_path / "a.obj", "v 0 0 0\nf 1 2 3\n")
    error = refused("build", text, "-o", tmp_path / "a.col", "--cell", 10)
    assert error.startswith(f"error: {text}: line 2: ")


def test_an_output_never_replaces_its_source(refused, tmp_path):
    copy = tmp_path / "test.col"
    shutil.copy(TEST, copy)
    assert "source file itself" in refused("obj", copy, "-o", tmp_path / "." / "test.col")
    assert "source file itself" in refused("build", tmp_path / "x.obj", "-o", copy, "--like", copy)
    (tmp_path / "link.obj").symlink_to(copy)
    os.link(copy, tmp_path / "hard.obj")
    (tmp_path / "around").symlink_to(tmp_path)
    before = copy.read_bytes()
    for output in ("link.obj", "hard.obj", "around/test.col"):
        assert "source file itself" in refused("obj", copy, "-o", tmp_path / output)
        assert "source file itself" in refused("build", copy, "-o", tmp_path / output, "--like", TEST)
        assert "source file itself" in refused("build", tmp_path / output, "-o", copy, "--cell", 10)
    assert copy.read_bytes() == before


def test_an_output_never_replaces_its_source_under_a_name_in_another_case(refused, tmp_path, monkeypatch):
    copy = tmp_path / "Test.col"
    shutil.copy(TEST, copy)
    NamesWithoutCase(tmp_path).install(monkeypatch)
    assert "source file itself" in refused("obj", copy, "-o", tmp_path / "tEST.COL")
    assert "source file itself" in refused("build", tmp_path / "x.obj", "-o", tmp_path / "TEST.col", "--like", copy)
    assert copy.read_bytes() == read("test.col")


# --- diff, sample ---------------------------------------------------------------------------------


def test_diff(run):
    status, out, _ = run("diff", TEST, TEST)
    assert (status, out) == (0, "no difference, the same bytes\n")
    status, out, _ = run("diff", DATA / "S13_AsteroidVolume_wp.col", MISSING_ENTRIES)
    assert status == 1
    assert out.startswith("cells: 3 with other triangles in their lists")
    document = json.loads(run("diff", TEST, MISSING_ENTRIES, "--json")[1])
    assert document["kind"] == "map hull"
    assert document["differences"][0].keys() == {"where", "message"}
    assert run("diff", SET, SET)[0] == 0


def test_diff_of_different_kinds(refused):
    assert "expected a map hull, found a collision set" in refused("diff", TEST, SET)


def test_sample_and_verify(run, tmp_path):
    status, out, error = run("sample", tmp_path / "game", "--seed", 20)
    assert (status, error) == (0, "")
    assert "14 stand-in files, made up from seed 20" in out
    status, out, _ = run("verify", tmp_path / "game" / "loose")
    assert status == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "edges shared by exactly two triangles 7,152 / 7,152 100.00 %" in lines
    assert "edges shared by exactly two triangles 132,167 / 134,529 98.24 % info" in lines
    assert "meshes with every edge shared by two (manifold) 147 / 158 93.03 % info" in lines


# --- what can go wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["info", "list", "verify"])
def test_a_file_that_is_not_there(refused, tmp_path, command):
    assert f"{tmp_path / 'nothing.col'}: can't be read" in refused(command, tmp_path / "nothing.col")


def test_a_folder_in_place_of_a_file(refused, tmp_path):
    assert f"{tmp_path}: this is a folder" in refused("info", tmp_path)


@pytest.mark.parametrize("content", [b"", b"MC", b"PK\3\4 something else", bytes(100), b"\0\0\x08\x10" * 20])
def test_a_file_of_another_kind(refused, tmp_path, content):
    (tmp_path / "a.col").write_bytes(content)
    assert "not a file of this game's collision data" in refused("info", tmp_path / "a.col")


@pytest.mark.parametrize("magic", [b"REGN", b"IPFB", b"IDXD", b"IXUD"])
def test_a_kind_that_a_command_has_no_use_for(refused, tmp_path, magic):
    (tmp_path / "a").write_bytes(magic + bytes(60))
    refused("obj", tmp_path / "a", "-o", tmp_path / "b")


def test_a_hull_cut_anywhere_is_refused_in_one_line(refused, tmp_path):
    data = read("test.col")
    path = tmp_path / "cut.col"
    for length in [*range(4, 0x90), *range(0x90, len(data) - 16, 97), *range(len(data) - 40, len(data) - 16)]:
        path.write_bytes(data[:length])
        assert str(path) in refused("info", path)


def test_every_shorter_hull_and_set_is_refused():
    for length in range(len(read("test.col")) - 16):  # the zero words at the end are missed and not needed
        with pytest.raises(FormatError):
            mcol.decode(read("test.col")[:length])
    # A set has no end mark: cut between two records it is a shorter set.
    data = collision_set.encode(
        collision_set.CollisionSet(collision_set.decode(read("CollisionSet_small.bin")).parts[:1])
    )
    for length in range(len(data)):
        with pytest.raises(FormatError):
            collision_set.decode(data[:length])


@pytest.mark.parametrize(
    ("module", "name", "least"),
    [(mcol, "test.col", 100), (collision_set, "CollisionSet_small.bin", 0)],  # most of a set is coordinates
)
def test_flipped_bits_are_read_or_refused(module, name, least):
    random = np.random.default_rng(12)
    data, refusals = bytearray(read(name)), 0
    for offset, bit in zip(random.integers(0, len(data), 3000), random.integers(0, 8, 3000), strict=True):
        data[offset] ^= 1 << bit
        try:
            assert module.encode(module.decode(bytes(data))) == data
        except FormatError:
            refusals += 1
        data[offset] ^= 1 << bit
    assert least < refusals < 2900


@pytest.mark.parametrize("name", ["test.col", "quirks/test_descending_multilist.col", "CollisionSet_small.bin"])
def test_damage_never_gets_past_the_commands(run, tmp_path, name):
    """Bytes, and whole words with awkward numbers: whatever a file holds, no command fails in another way."""
    random = np.random.default_rng(11)
    words = [bytes.fromhex(word) for word in ("7f7fffff", "7f800000", "7fc00000", "00000001", "ffffffff", "80000000")]
    data, path = read(name), tmp_path / "damaged"
    statuses = set()
    for turn in range(120):
        damaged = bytearray(data)
        if turn % 2:
            damaged[random.integers(len(data))] ^= 1 << random.integers(8)
        else:
            offset = 4 * random.integers(1, len(data) // 4 if turn % 4 else 0x20)
            damaged[offset : offset + 4] = words[random.integers(len(words))]
        path.write_bytes(damaged)
        for command in (("verify", path), ("info", path), ("diff", DATA / name, path)):
            status, _, error = run(*command)
            statuses.add(status)
            assert status in (0, 1, 2)
            assert (status == 2) == error.startswith("error: ")
            assert error.count("\n") <= 1
        if turn % 4 < 2:
            status, out, error = run("survey", path)
            assert (status, error) == (0, "") and "Traceback" not in out
    assert statuses == {0, 1, 2}


def test_unwritable_targets(refused, tmp_path):
    assert "can't be written" in refused("obj", TEST, "-o", tmp_path)
    assert "can't be written" in refused("obj", TEST, "-o", tmp_path / "no" / "a.obj")
    assert "the folder can't be created" in refused("sample", write(tmp_path / "file", ""))


@pytest.mark.parametrize(
    "arguments", [(), ("nonsense",), ("info",), ("obj", TEST), ("sample", "x", "--seed", "-1"), ("info", TEST, "--no")]
)
def test_wrong_usage_is_one_line_too(refused, arguments):
    assert "--help" in refused(*arguments)


def test_help_names_every_command(run):
    status, out, _ = run("--help")
    assert status == 0
    for command in "info verify obj build list extract replace stages diff survey sample".split():
        assert command in out


# --- as a program ---------------------------------------------------------------------------------


def program(*arguments: str, folder: Path = ROOT, **options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-W", "error", "-m", *arguments], cwd=folder, text=True, **options)


def test_it_runs_as_a_module():
    result = program("core", "info", TEST, capture_output=True)
    assert (result.returncode, result.stderr) == (0, "")


def test_it_runs_inside_an_installed_extension(tmp_path):
    shutil.copytree(ROOT / "core", tmp_path / "some_extension" / "core")
    result = program("some_extension.core", "verify", TEST, folder=tmp_path, capture_output=True)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [("info", TEST), ("--help",), ()])
def test_without_numpy_one_line_says_so(tmp_path, arguments):
    (tmp_path / "numpy.py").write_text("raise ImportError('No module\\nnamed numpy')")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    result = program("core", *arguments, capture_output=True, env=environment)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: numpy: ") and "-m pip install numpy" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_console_without_the_letters_shows_something_else(tmp_path):
    shutil.copy(MISSING_ENTRIES, tmp_path / "höhle.col")
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    result = program("core", "verify", str(tmp_path), capture_output=True, env=environment)
    assert result.returncode == 0
    assert "h?hle.col" in result.stdout
    assert result.stderr == ""


if sys.platform == "linux":  # elsewhere a pipe ends otherwise, and no device is always full

    def test_a_reader_that_goes_away():
        start = [sys.executable, "-m", "core", "verify", str(DATA)]
        process = subprocess.Popen(start, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        with process.stderr:
            assert process.stderr.read() == b""
        assert process.wait() == 141

    def test_a_full_disk():
        with open("/dev/full", "w") as full:
            result = program("core", "info", TEST, stdout=full, stderr=subprocess.PIPE)
        assert result.returncode == 2
        assert result.stderr.startswith("error: output: ")
        assert result.stderr.count("\n") == 1


# --- kinds of file --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"MCOL", Kind.HULL),
        (b"REGN....", Kind.NAVIGATION),
        (b"IPFB", Kind.ARCHIVE),
        (b"IDXD", Kind.TABLE),
        (b"IXUD", Kind.TABLE),
        (b"mcol", None),
        (b"", None),
        (bytes(64), None),
        (b"\xff" * 64, None),
    ],
)
def test_kinds_by_content(data, kind):
    assert detect(data) is kind


def test_a_set_is_known_by_its_first_record(tmp_path):
    data = read("CollisionSet_small.bin")
    assert detect(data) is Kind.COLLISION_SET
    assert detect(data[:64]) is Kind.COLLISION_SET
    assert detect(data[:20]) is None
    another_size = data[:3] + b"\x11" + data[4:]
    assert detect(another_size) is Kind.COLLISION_SET  # the game only logs it
    assert detect(another_size.replace(b"mob_n040", b"mob\x80n040")) is None
    assert detect(another_size.replace(b"\0\0\x10mob_n040", b"\0\0\x0fmob_n040")) is None
    assert detect_file(SET) is Kind.COLLISION_SET
    with pytest.raises(FormatError) as caught:
        detect_file(tmp_path)
    assert caught.value.file == str(tmp_path)
