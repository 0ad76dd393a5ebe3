"""Files and folders, for hulls and libraries alike: many at once, broken ones, odd paths, full disks, memory."""

from __future__ import annotations

import errno
import importlib
import json
import os
import struct
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType

import bpy
import numpy as np
import pytest

from tests.oracle.readers import read_col, read_set

DATA = Path(__file__).resolve().parents[1] / "data"
HULL, SET = DATA / "S13_AsteroidVolume_wp.col", DATA / "CollisionSet_small.bin"
OLD = b"what stood here before"
posix = os.name == "posix"


class Format:
    """One of the two formats: a good file, its operators, its ending."""

    def __init__(self, name: str, sample: Path):
        self.name, self.sample, self.ending = name, sample, sample.suffix
        self.data = sample.read_bytes()

    def load(self, path: str | Path | None = None, **options: object) -> set[str]:
        if path is not None:
            options["filepath"] = str(path)
        return getattr(bpy.ops.import_scene, f"sylpheed_{self.name}")(**options)

    def save(self, path: str | Path) -> set[str]:
        return getattr(bpy.ops.export_scene, f"sylpheed_{self.name}")(filepath=str(path))

    def roots(self) -> list[bpy.types.Object]:
        kind = "hull" if self.name == "col" else "set"
        return [obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == kind]


FORMATS = [Format("col", HULL), Format("set", SET)]
both = pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.name)


def failure(call, *arguments, **options) -> list[str]:
    """The lines of the error that a call reports."""
    with pytest.raises(RuntimeError) as caught:
        call(*arguments, **options)
    message = str(caught.value).removeprefix("Error: ").strip()
    assert "Traceback" not in message
    return message.splitlines()


def import_failure(kind: Format, path: str | Path, **options: object) -> str:
    """The one line of a failed import, which leaves nothing behind."""
    (line,) = failure(kind.load, path, **options)
    assert line.startswith(f"{path}: "), line
    assert_nothing_is_left()
    return line


def export_failure(kind: Format, path: str | Path) -> str:
    (line,) = failure(kind.save, path)
    return line


def assert_nothing_is_left() -> None:
    for blocks in (bpy.data.objects, bpy.data.meshes, bpy.data.collections, bpy.data.curves):
        assert list(blocks) == []


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def reports(capfd: pytest.CaptureFixture[str]) -> list[str]:
    """The warnings that Blender printed since the last call."""
    return [line.split("Warning: ", 1)[1] for line in "".join(capfd.readouterr()).splitlines() if "Warning: " in line]


def save_scene(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bpy.ops.wm.save_as_mainfile(filepath=str(path))


# --- several files at once ------------------------------------------------------------------------


def copies(kind: Format, folder: Path, count: int) -> list[dict[str, str]]:
    for number in range(count):
        (folder / f"file_{number}{kind.ending}").write_bytes(kind.data)
    return [{"name": f"file_{number}{kind.ending}"} for number in range(count)]


@both
def test_several_files_are_all_imported(kind: Format, tmp_path: Path) -> None:
    files = copies(kind, tmp_path, 3)
    assert kind.load(directory=str(tmp_path), files=files) == {"FINISHED"}
    assert sorted(root.name for root in kind.roots()) == ["file_0", "file_1", "file_2"]
    selected = set(bpy.context.selected_objects)
    assert {obj.name for obj in selected if obj.parent is None} == {"file_0", "file_1", "file_2"}
    assert selected == set(kind.roots()) and bpy.context.object in selected


def test_all_sample_hulls_are_imported_at_once_and_each_comes_back(tmp_path: Path) -> None:
    paths = sorted(DATA.glob("*.col"))
    bpy.ops.import_scene.sylpheed_col(directory=str(DATA), files=[{"name": path.name} for path in paths], cells="NONE")
    for path in paths:
        bpy.ops.export_scene.sylpheed_col(filepath=str(tmp_path / path.name), hull=path.stem)
    assert contents(tmp_path) == {path.name: path.read_bytes() for path in paths}


@both
def test_the_files_go_before_the_path(kind: Format, tmp_path: Path) -> None:
    """As the file browser calls: the path is one of the files, or the folder."""
    files = copies(kind, tmp_path, 2)
    for path in (tmp_path / files[0]["name"], str(tmp_path) + os.sep):
        before = len(kind.roots())
        assert kind.load(path, directory=str(tmp_path), files=files) == {"FINISHED"}
        assert len(kind.roots()) == before + 2


@both
def test_the_files_of_one_import_are_not_those_of_the_next(kind: Format, tmp_path: Path) -> None:
    kind.load(directory=str(tmp_path), files=copies(kind, tmp_path, 2))
    kind.load(kind.sample)
    assert len(kind.roots()) == 3


@both
@pytest.mark.parametrize("broken", [0, 1, 2])
def test_one_broken_file_is_warned_of_and_the_others_come_in(kind: Format, broken: int, tmp_path: Path, capfd) -> None:
    files = copies(kind, tmp_path, 3)
    (tmp_path / files[broken]["name"]).write_bytes(kind.data[:1000])
    assert kind.load(directory=str(tmp_path), files=files) == {"FINISHED"}
    good = [file["name"].split(".")[0] for number, file in enumerate(files) if number != broken]
    assert sorted(root.name for root in kind.roots()) == good
    named = [line for line in reports(capfd) if files[broken]["name"] in line]
    assert len(named) == 1 and named[0].startswith(str(tmp_path / files[broken]["name"]))


@both
def test_only_broken_files_are_an_error_with_a_line_for_each(kind: Format, tmp_path: Path) -> None:
    files = copies(kind, tmp_path, 3)
    for file in files[:2]:
        (tmp_path / file["name"]).write_bytes(b"")
    (tmp_path / files[2]["name"]).unlink()
    lines = failure(kind.load, directory=str(tmp_path), files=files)
    assert [line.split(":")[0] for line in lines] == [str(tmp_path / file["name"]) for file in files]
    assert "empty" in lines[0] and "No such file" in lines[2]
    assert_nothing_is_left()


# --- not such a file ------------------------------------------------------------------------------

OTHERS = {
    "nothing": b"",
    "one byte": b"M",
    "text": b"Hello, this is a list of things to do.\n" * 40,
    "zeros": bytes(4096),
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8,
    "a navigation volume": b"REGN" + HULL.read_bytes()[4:],
    "an archive": b"IPFB" + struct.pack(">III", 0, 0x800, 0x10000000),
}


@both
@pytest.mark.parametrize("data", OTHERS.values(), ids=OTHERS)
def test_something_else_is_refused_in_one_line(kind: Format, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"other{kind.ending}"
    path.write_bytes(data)
    import_failure(kind, path)


@pytest.mark.parametrize(("kind", "other"), [FORMATS, FORMATS[::-1]], ids=["set as hull", "hull as set"])
def test_a_file_of_the_other_format_is_refused_whatever_its_name(kind: Format, other: Format, tmp_path: Path) -> None:
    path = tmp_path / f"wrong{kind.ending}"
    path.write_bytes(other.data)
    import_failure(kind, other.sample)
    import_failure(kind, path)


@both
def test_a_good_file_with_a_foreign_ending_is_imported(kind: Format, tmp_path: Path) -> None:
    (tmp_path / "mod.backup").write_bytes(kind.data)
    assert kind.load(tmp_path / "mod.backup") == {"FINISHED"}
    assert [root.name for root in kind.roots()] == ["mod"]


@both
@pytest.mark.parametrize(
    ("name", "reason"), [("missing", "No such file"), ("folder", "Is a directory"), ("file/x", "Not a directory")]
)
def test_what_cannot_be_read_is_named_with_the_reason(kind: Format, name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(kind.data)
    assert reason in import_failure(kind, tmp_path / name)


@both
def test_no_path_at_all_is_refused(kind: Format) -> None:
    assert len(failure(kind.load)) == 1
    assert_nothing_is_left()


# --- damaged --------------------------------------------------------------------------------------


@both
def test_a_cut_anywhere_is_refused_and_leaves_nothing(kind: Format, tmp_path: Path) -> None:
    path = tmp_path / f"cut{kind.ending}"
    size = len(kind.data)
    lengths = {*range(1, 140), *range(140, size, size // 60), *range(size - 20, size)}
    if kind.name == "col":  # without its last zeros a hull can still be read
        lengths -= set(range(size - 16, size))
    for length in sorted(lengths):
        path.write_bytes(kind.data[:length])
        line = import_failure(kind, path)
        assert " at 0x" in line or "short" in line or "expected" in line, f"{length}: {line}"


def put(data: bytes, offset: int, fields: str, *values: object) -> bytes:
    return data[:offset] + struct.pack(f">{fields}", *values) + data[offset + struct.calcsize(f">{fields}") :]


def hull_place(what: int) -> int:
    return 16 + struct.unpack_from(">I", HULL.read_bytes(), what)[0]


BAD_FLOATS = [("nan", float("nan")), ("inf", float("inf")), ("-inf", float("-inf"))]
FIRST_VERTEX = {"col": hull_place(0x54), "set": 8 + 16 + 8}


@pytest.mark.parametrize(("shown", "value"), BAD_FLOATS, ids=[name for name, _ in BAD_FLOATS])
@pytest.mark.parametrize(("vertex", "axis"), [(0, 0), (3, 1), (57, 2)])
def test_a_hulls_coordinate_that_is_no_number_is_named(
    vertex: int, axis: int, shown: str, value: float, tmp_path: Path
) -> None:
    at = hull_place(0x54) + 12 * vertex + 4 * axis
    (tmp_path / "bad.col").write_bytes(put(HULL.read_bytes(), at, "f", value))
    line = import_failure(FORMATS[0], tmp_path / "bad.col")
    for part in (f"vertex {vertex}", f"{'xyz'[axis]} coordinate", f"0x{at:X}", f"found {shown}"):
        assert part in line


@pytest.mark.parametrize(("shown", "value"), BAD_FLOATS, ids=[name for name, _ in BAD_FLOATS])
@pytest.mark.parametrize(("vertex", "axis"), [(0, 0), (3, 1), (57, 2)])
def test_a_part_with_a_coordinate_that_is_no_number_is_left_out_by_name_and_preserved(
    vertex: int, axis: int, shown: str, value: float, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    at = FIRST_VERTEX["set"] + 12 * vertex + 4 * axis
    assert_left_out_and_preserved(put(SET.read_bytes(), at, "f", value), tmp_path, capfd)


def assert_left_out_and_preserved(data: bytes, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The set's first part isn't shown, a warning names it, and the unedited export has it byte for byte."""
    (folder / "odd.bin").write_bytes(data)
    capfd.readouterr()
    assert bpy.ops.import_scene.sylpheed_set(filepath=str(folder / "odd.bin")) == {"FINISHED"}
    assert "mob_n040" in capfd.readouterr().out
    assert not [obj for obj in bpy.data.objects if obj.name == "mob_n040"]
    assert bpy.ops.export_scene.sylpheed_set(filepath=str(folder / "out.bin")) == {"FINISHED"}
    assert (folder / "out.bin").read_bytes() == data


@pytest.mark.parametrize("value", [73, 0xFFFF])
@pytest.mark.parametrize(("triangle", "corner"), [(0, 0), (133, 2)])
def test_a_hulls_index_past_the_vertices_is_named(triangle: int, corner: int, value: int, tmp_path: Path) -> None:
    at = hull_place(0x58) + 6 * triangle + 2 * corner
    (tmp_path / "bad.col").write_bytes(put(HULL.read_bytes(), at, "H", value))
    line = import_failure(FORMATS[0], tmp_path / "bad.col")
    for part in (f"triangle {triangle}", f"0x{at:X}", "below 73", f"found {value:,}"):
        assert part in line


@pytest.mark.parametrize("value", [58, 0xFFFFFFFF])
@pytest.mark.parametrize(("triangle", "corner"), [(0, 0), (111, 2)])
def test_a_part_with_an_index_past_its_vertices_is_left_out_by_name_and_preserved(
    triangle: int, corner: int, value: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    at = 8 + 16 + 8 + 58 * 12 + 12 * triangle + 4 * corner
    assert_left_out_and_preserved(put(SET.read_bytes(), at, "I", value), tmp_path, capfd)


@both
def test_random_damage_raises_nothing_but_one_line(kind: Format, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    path = tmp_path / f"damaged{kind.ending}"
    for _ in range(60):
        data = bytearray(kind.data)
        for at in random.integers(0, min(len(data), 2000), 4):
            data[at] = random.integers(256)
        path.write_bytes(data)
        try:
            kind.load(path, **({"cells": "NONE"} if kind.name == "col" else {}))
        except RuntimeError as error:
            assert "Traceback" not in str(error)
            assert len(str(error).removeprefix("Error: ").strip().splitlines()) == 1
        bpy.ops.wm.read_homefile(use_empty=True)


# --- paths ----------------------------------------------------------------------------------------

FOLDERS = ["日本 語é", "Größe ü ß", " blank in front", "trailing blank ", "f" * 240, "100% `x` 'y' $HOME ; & #"]
STEMS = ["日本 語é", "ünïcödé", " blank in front", "trailing blank ", "n" * 240, "日" * 80, "a.b.c", "-o", "%d %s {0}"]


@both
@pytest.mark.parametrize("folder", FOLDERS)
def test_any_folder(kind: Format, folder: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir()
    path = tmp_path / folder / f"in{kind.ending}"
    path.write_bytes(kind.data)
    assert kind.load(path) == {"FINISHED"}
    assert kind.save(path.with_stem("out")) == {"FINISHED"}
    assert contents(path.parent) == {path.name: kind.data, f"out{kind.ending}": kind.data}


@both
@pytest.mark.parametrize("stem", STEMS)
def test_any_file_name(kind: Format, stem: str, tmp_path: Path) -> None:
    path = tmp_path / (stem + kind.ending)
    path.write_bytes(kind.data)
    assert kind.load(path) == {"FINISHED"}
    (root,) = kind.roots()
    assert stem.startswith(root.name)
    assert kind.save(path) == kind.save(tmp_path / f"out{kind.ending}") == {"FINISHED"}
    assert contents(tmp_path) == {path.name: kind.data, f"out{kind.ending}": kind.data}


@both
def test_a_path_longer_than_blenders_usual_limit(kind: Format, tmp_path: Path) -> None:
    """Blender's own helper cuts a path to 1,024 bytes without a word."""
    folder = tmp_path.joinpath(*["f" * 240] * 5)
    folder.mkdir(parents=True)
    path = folder / f"in{kind.ending}"
    path.write_bytes(kind.data)
    assert kind.load(path) == kind.save(folder / "out") == {"FINISHED"}
    assert contents(folder) == {path.name: kind.data, f"out{kind.ending}": kind.data}


@both
def test_files_with_names_beyond_blenders_limit_do_not_mix(kind: Format, tmp_path: Path) -> None:
    """Their objects' names are cut to the same letters."""
    names = ["n" * 239 + letter + kind.ending for letter in "ab"]
    for name in names:
        (tmp_path / name).write_bytes(kind.data)
    kind.load(directory=str(tmp_path), files=[{"name": name} for name in names])
    roots = kind.roots()
    for root in roots:
        bpy.context.view_layer.objects.active = root
        assert kind.save(tmp_path / f"out{kind.ending}") == {"FINISHED"}
        assert (tmp_path / f"out{kind.ending}").read_bytes() == kind.data
    assert len(roots) == 2


if posix:

    @both
    def test_a_path_that_is_no_text_is_read_and_named_in_errors(kind: Format, tmp_path: Path) -> None:
        """Names from a Shift-JIS system unpacked on one with UTF-8."""
        path = os.fsdecode(os.fsencode(tmp_path) + b"/\x93\xfa\x96{" + kind.ending.encode())
        Path(path).write_bytes(kind.data)
        assert kind.load(path) == {"FINISHED"}
        assert len(kind.roots()) == 1
        assert kind.save(path) == {"FINISHED"}
        assert kind.save(tmp_path / "sub") == {"FINISHED"}
        assert (tmp_path / f"sub{kind.ending}").read_bytes() == Path(path).read_bytes() == kind.data
        Path(path).write_bytes(b"broken")
        (line,) = failure(kind.load, path)
        assert kind.ending in line


@both
def test_paths_relative_to_the_blend(kind: Format, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / f"in{kind.ending}").write_bytes(kind.data)
    save_scene(tmp_path / "scene.blend")
    assert kind.load(f"//sub/in{kind.ending}") == {"FINISHED"}
    assert kind.load(directory="//sub/", files=[{"name": f"in{kind.ending}"}]) == {"FINISHED"}
    assert len(kind.roots()) == 2
    bpy.context.view_layer.objects.active = kind.roots()[0]
    assert kind.save(f"//sub/out{kind.ending}") == {"FINISHED"}
    assert kind.save("//out") == {"FINISHED"}
    assert contents(tmp_path / "sub")[f"out{kind.ending}"] == kind.data
    assert contents(tmp_path)[f"out{kind.ending}"] == kind.data


@both
def test_a_relative_path_without_a_saved_blend_is_an_error_or_the_working_folder(
    kind: Format, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (line,) = failure(kind.load, f"//missing{kind.ending}")
    assert f"missing{kind.ending}" in line
    assert contents(tmp_path) == {}


# --- export ---------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("given", "written"),
    [("out", "out{}"), ("out{}", "out{}"), ("out.backup", "out.backup{}"), ("S14.p1", "S14.p1{}"), ("{}", "STEM{}")],
)
def test_the_ending_is_added_where_it_is_missing(kind: Format, given: str, written: str, tmp_path: Path) -> None:
    kind.load(kind.sample)
    assert kind.save(tmp_path / given.format(kind.ending)) == {"FINISHED"}
    name = written.format(kind.ending).replace("STEM", kind.sample.stem)
    assert contents(tmp_path) == {name: kind.data}


@both
def test_an_ending_in_capitals_stays(kind: Format, tmp_path: Path) -> None:
    kind.load(kind.sample)
    kind.save(tmp_path / f"OUT{kind.ending.upper()}")
    assert contents(tmp_path) == {f"OUT{kind.ending.upper()}": kind.data}


@both
def test_a_folder_with_a_slash_gets_the_sources_name(kind: Format, tmp_path: Path) -> None:
    kind.load(kind.sample)
    assert kind.save(f"{tmp_path}{os.sep}") == {"FINISHED"}
    assert contents(tmp_path) == {kind.sample.name: kind.data}


@both
def test_no_path_at_all_writes_nothing(kind: Format, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    kind.load(kind.sample)
    assert "file" in export_failure(kind, "")
    assert contents(tmp_path) == {}


@both
def test_an_existing_file_is_replaced(kind: Format, tmp_path: Path) -> None:
    path = tmp_path / kind.sample.name
    path.write_bytes(OLD * 100000)
    kind.load(kind.sample)
    assert kind.save(path) == {"FINISHED"}
    assert contents(tmp_path) == {path.name: kind.data}


@both
def test_the_source_itself_can_be_replaced(kind: Format, tmp_path: Path) -> None:
    path = tmp_path / kind.sample.name
    path.write_bytes(kind.data)
    kind.load(path)
    assert kind.save(path) == kind.save(path) == {"FINISHED"}
    assert contents(tmp_path) == {path.name: kind.data}


@both
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("folder{}", "a folder has this name"),
        ("missing/out{}", "No such file or directory"),
        ("old{}/out{}", "Not a directory"),
        ("x" * 300, "File name too long"),
        ("日" * 100, "File name too long"),
    ],
)
def test_what_cannot_be_written_is_named_with_the_reason(kind: Format, name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / f"folder{kind.ending}").mkdir()
    (tmp_path / f"old{kind.ending}").write_bytes(OLD)
    kind.load(kind.sample)
    path = tmp_path / name.format(*[kind.ending] * 2)
    line = export_failure(kind, path)
    assert line.startswith(str(path)) and reason in line
    assert contents(tmp_path) == {f"old{kind.ending}": OLD}
    assert contents(tmp_path / f"folder{kind.ending}") == {}


@pytest.fixture
def files(addon: ModuleType) -> ModuleType:
    """The installed module that writes."""
    return importlib.import_module(f"{addon.__name__}.core.disk.files")


@both
def test_a_read_only_file_is_refused(kind: Format, files: ModuleType, tmp_path: Path, monkeypatch) -> None:
    """The permission itself doesn't bind the super-user, so the answer to the question is set."""
    path = tmp_path / kind.sample.name
    path.write_bytes(OLD)
    kind.load(kind.sample)
    monkeypatch.setattr(files.os, "access", lambda name, mode: Path(name) != path)
    line = export_failure(kind, path)
    assert line.startswith(str(path)) and "read-only" in line
    assert contents(tmp_path) == {path.name: OLD}


@both
@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize(
    ("step", "code"),
    [("open", errno.EACCES), ("fdopen", errno.ENOSPC), ("fsync", errno.ENOSPC), ("replace", errno.EROFS)],
)
def test_a_full_disk_or_a_read_only_folder_leaves_the_old_file_and_no_temporary(
    kind: Format, step: str, code: int, exists: bool, files: ModuleType, tmp_path: Path, monkeypatch
) -> None:
    path = tmp_path / kind.sample.name
    if exists:
        path.write_bytes(OLD)
    before = contents(tmp_path)
    kind.load(kind.sample)

    def fail(*arguments: object, **options: object) -> None:
        raise OSError(code, os.strerror(code))

    def half(handle: int, mode: str) -> object:
        os.write(handle, kind.data[:100])
        os.close(handle)
        fail()

    monkeypatch.setattr(files.os, step, half if step == "fdopen" else fail)
    line = export_failure(kind, path)
    monkeypatch.undo()
    assert line == f"{path}: can't be written ({os.strerror(code)})"
    assert contents(tmp_path) == before
    assert kind.save(path) == {"FINISHED"}
    assert contents(tmp_path) == {path.name: kind.data}


# --- memory ---------------------------------------------------------------------------------------

MEASURE = """
import json, sys
import bpy
bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True)
kind, path, out, first, options = sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5], json.loads(sys.argv[6])
load = getattr(bpy.ops.import_scene, "sylpheed_" + kind)
save = getattr(bpy.ops.export_scene, "sylpheed_" + kind)

def memory(which):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(which))

bpy.ops.wm.read_homefile(use_empty=True)
load(filepath=first)  # what Python and Blender need once is no part of the growth
save(filepath=out)
bpy.ops.wm.read_homefile(use_empty=True)
start = memory("VmRSS")
open("/proc/self/clear_refs", "w").write("5")  # the peak begins again
load(filepath=path)
imported = memory("VmHWM")
for obj in bpy.data.objects:
    if obj.type == "MESH" and not obj.name.partition(".")[2].startswith("cell"):
        obj.location.x += 100
save(filepath=out, **options)
print("MEASURED", json.dumps([imported - start, memory("VmHWM") - start]))
"""


def growth(kind: Format, path: Path, extension_zip: Path, **options: object) -> tuple[int, int]:
    """Bytes by which a new process grows at most while it imports, and until it has moved and exported everything."""
    folder = path.parent
    arguments = [str(extension_zip), kind.name, str(path), str(folder / f"out{kind.ending}"), str(kind.sample)]
    environment = os.environ | {"BLENDER_USER_RESOURCES": str(folder / "user")}
    command = [sys.executable, "-W", "ignore", "-c", MEASURE, *arguments, json.dumps(options)]
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("MEASURED ")]
    imported, exported = json.loads(line.removeprefix("MEASURED "))
    return imported, exported


def ball(rings: int, around: int, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """A closed surface that faces outward, of 2 x rings x around triangles."""
    polar = np.pi * np.arange(1, rings + 1) / (rings + 1)
    turn = 2 * np.pi * np.arange(around) / around
    points = [np.outer(np.sin(polar), np.cos(turn)), np.outer(np.sin(polar), np.sin(turn))]
    points.append(np.repeat(np.cos(polar)[:, None], around, axis=1))
    vertices = np.vstack([np.stack(points, axis=-1).reshape(-1, 3), (0, 0, 1), (0, 0, -1)]) * radius
    here, there = np.arange(around), np.roll(np.arange(around), -1)
    north, south, last = rings * around, rings * around + 1, (rings - 1) * around
    faces = [np.stack([np.full(around, north), here, there], axis=1)]
    for start in range(0, last, around):
        a, b, c, d = start + here, start + there, start + around + here, start + around + there
        faces += [np.stack([a, c, b], axis=1), np.stack([b, c, d], axis=1)]
    faces.append(np.stack([np.full(around, south), last + there, last + here], axis=1))
    return vertices.astype(np.float32), np.vstack(faces)


@pytest.fixture(scope="module")
def largest_hull(addon: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """65,534 triangles: a closed surface has an even number of them, and 65,535 is the limit."""
    core = f"{addon.__name__}.core"
    names = ("formats.mcol", "editing.rebuild_hull", "geometry.grid")
    mcol, rebuild, grid = (importlib.import_module(f"{core}.{name}") for name in names)
    vertices, triangles = ball(217, 151, 45000.0)
    assert len(triangles) == 65534
    box = grid.Grid(*(np.full(3, value, np.float32) for value in (-50000, 50000, 10000)), (10, 10, 10))
    path = tmp_path_factory.mktemp("largest") / "largest.col"
    path.write_bytes(mcol.encode(rebuild.build(vertices, triangles, box, False)))
    return path


def shifted(vertices: np.ndarray, *by: float) -> np.ndarray:
    """float32 vertices moved, rounded once."""
    return np.add(vertices, by, dtype=float).astype(np.float32)


def limit(path: Path) -> int:
    return 20 * path.stat().st_size + 200_000_000


if sys.platform == "linux":  # which tells a process its peak, and lets it begin again

    @pytest.mark.heavy
    @pytest.mark.parametrize("rebuild", ["CHANGED", "ALL"])
    def test_the_largest_hull_takes_little_memory_and_comes_out_moved(
        largest_hull: Path, extension_zip: Path, rebuild: str
    ) -> None:
        grown = growth(FORMATS[0], largest_hull, extension_zip, rebuild=rebuild)
        assert largest_hull.stat().st_size < min(grown)  # else nothing was measured
        assert max(grown) < limit(largest_hull), f"{largest_hull.stat().st_size:,}: {grown}"
        before, after = (read_col(path.read_bytes()) for path in (largest_hull, largest_hull.with_name("out.col")))
        assert np.array_equal(before.triangles, after.triangles)
        assert np.array_equal(after.vertices, shifted(before.vertices, 100, 0, 0))

    @pytest.mark.heavy
    def test_a_large_library_takes_little_memory_and_comes_out_moved(tmp_path: Path, extension_zip: Path) -> None:
        vertices, triangles = ball(16, 18, 500.0)
        body = struct.pack(">II", len(vertices), len(triangles))
        body += vertices.astype(">f4").tobytes() + triangles.astype(">u4").tobytes()
        path = tmp_path / "large.bin"
        heads = [struct.pack(">II", 16 + len(body), 16) + (b"part_%03d" % n).ljust(16, b"\0") for n in range(158)]
        path.write_bytes(b"".join(head + body for head in heads))
        assert path.stat().st_size > 1_600_000
        grown = growth(FORMATS[1], path, extension_zip)
        assert path.stat().st_size < min(grown)  # else nothing was measured
        assert max(grown) < limit(path), f"{path.stat().st_size:,}: {grown}"
        for mesh in read_set((tmp_path / "out.bin").read_bytes()):
            assert np.array_equal(mesh.triangles, triangles)
            assert np.array_equal(mesh.vertices, shifted(vertices, 100, 0, 0))
