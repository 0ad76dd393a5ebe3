"""Only what is needed is read of a file, walks end, and names can't disturb what is printed."""

import json
import os
import tracemalloc
from pathlib import Path

import pytest

from core.disk import files
from core.disk.files import read_file, walk
from core.errors import FormatError
from core.formats import idxd
from core.formats.kinds import ENOUGH, MAGIC, Kind
from core.game.archive_write import make_archive
from core.game.loose_files import MOST, read_known
from core.text import printable
from tests.support.foreign_systems import nested
from tests.support.hulls import DATA

BOX = DATA / "mapmesh_box_500km.col"


# --- sizes ----------------------------------------------------------------------------------------


def sparse(path: Path, start: bytes, size: int = 5 << 30) -> Path:
    """A file that claims gigabytes and takes a block of the disk."""
    with open(path, "wb") as stream:
        stream.write(start)
        stream.truncate(size)
    return path


A_SET = BOX.parent.joinpath("CollisionSet_small.bin").read_bytes()[:200]


@pytest.mark.parametrize("start", [*MAGIC, A_SET, b"", b"huge"])
def test_a_file_of_gigabytes_takes_no_memory(refused, tmp_path, start):
    big = sparse(tmp_path / "big", start)
    tracemalloc.start()
    try:
        commands = [
            ("info", big),
            ("list", big),
            ("verify", big),
            ("extract", big, "-o", tmp_path / "out"),
            ("diff", big, big),
        ]
        commands += [("obj", big, "-o", tmp_path / "x.obj"), ("build", big, "-o", tmp_path / "x.col", "--cell", 10)]
        for command in commands[: 3 if start else None]:
            assert str(big) in refused(*command)
        assert tracemalloc.get_traced_memory()[1] < 30 << 20
    finally:
        tracemalloc.stop()
    assert [path.name for path in tmp_path.iterdir()] == ["big"]


def test_a_game_with_a_table_of_gigabytes(refused, tmp_path):
    (tmp_path / "hidden").mkdir()
    sparse(tmp_path / "hidden" / "MiscBin.pak", b"IPFB")
    assert "larger than any of its kind" in refused("verify", tmp_path)
    assert "MAIN_GAME" in refused("stages", tmp_path)


def test_limits_are_exact(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 100)
    assert read_file(tmp_path / "a", 100) == b"x" * 100
    with pytest.raises(
        FormatError, match=r"a: the file is larger than any of its kind, expected at most 99 bytes, found 100"
    ):
        read_file(tmp_path / "a", 99)


def test_of_an_unknown_kind_the_beginning_is_read(tmp_path):
    (tmp_path / "a").write_bytes(b"unknown " * 10_000)
    kind, data = read_known(tmp_path / "a")
    assert (kind, data) == (None, (b"unknown " * 10_000)[:ENOUGH])
    assert read_known(BOX) == (Kind.HULL, BOX.read_bytes())


if os.name == "posix":

    @pytest.mark.parametrize("size", [0, 10, 100_000, 3 << 20])
    def test_a_pipe_is_read_whole(tmp_path, size):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            with os.fdopen(writer, "wb") as stream:
                stream.write(b"MCOL" + b"x" * size)
            os._exit(0)
        os.close(writer)
        try:
            assert read_known(f"/dev/fd/{reader}") == (Kind.HULL, b"MCOL" + b"x" * size)
        finally:
            os.close(reader)
            os.waitpid(child, 0)

    def test_a_pipe_without_end_is_given_up(monkeypatch):
        monkeypatch.setitem(MOST, Kind.HULL, 1 << 20)
        with pytest.raises(FormatError, match="larger than any of its kind"):
            read_file("/dev/zero", 3 << 20)


# --- walks ----------------------------------------------------------------------------------------


def test_links_that_lead_in_circles(run, refused, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "around").symlink_to(tmp_path)
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    for command in ("verify", "info", "list"):
        assert "Too many levels of symbolic links" in refused(command, tmp_path / "loop")
    assert "loop" in refused("stages", tmp_path / "loop")
    assert "loop" in refused("sample", tmp_path / "loop")
    assert "loop" in refused("obj", BOX, "-o", tmp_path / "loop")
    assert "no file in this folder that can be verified" in refused("verify", tmp_path)
    (tmp_path / "a.col").write_bytes(BOX.read_bytes())
    status, out, error = run("verify", tmp_path)
    assert (status, error, out.count("a.col")) == (0, "", 1)
    assert (tmp_path / "loop").is_symlink()


def test_a_folder_behind_a_link_is_verified_once(run, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.col").write_bytes(BOX.read_bytes())
    (tmp_path / "view").mkdir()
    (tmp_path / "view" / "hidden").symlink_to(tmp_path / "real")
    assert str(tmp_path / "view" / "hidden" / "a.col") in run("verify", tmp_path / "view")[1]
    out = run("verify", tmp_path)[1]
    assert out.count("a.col") == 1 and str(tmp_path / "real" / "a.col") in out


@pytest.mark.parametrize("command", ["verify", "stages", "info", "list", "sample"])
def test_a_thousand_folders_in_each_other(run, tmp_path, command):
    with nested(tmp_path) as deepest:
        files.make_folder(deepest)
        status, out, error = run(command, tmp_path)
        assert (status, out) == (2, "")
        assert error.startswith("error: ") and error.count("\n") == 1


def test_a_file_below_a_thousand_folders_is_found(run, tmp_path):
    with nested(tmp_path) as deepest:
        files.make_folder(deepest)
        (deepest / "a.col").write_bytes(BOX.read_bytes())
        assert run("verify", tmp_path)[0] == 0


def test_folders_too_deep_for_a_path(run, tmp_path, monkeypatch):
    """Made step by step, they reach beyond the longest path that the system takes."""
    name, depth = "n" * 200, 30
    here = os.getcwd()
    try:
        os.chdir(tmp_path)
        for _ in range(depth):
            os.mkdir(name)
            os.chdir(name)
        status, _, error = run("verify", tmp_path)
        assert status == 2 and "File name too long" in error and error.count("\n") == 1
        for _ in range(depth):
            os.chdir("..")
            os.rmdir(name)
    finally:
        os.chdir(here)


def test_what_cannot_be_looked_into_is_told_and_the_rest_is_verified(run, tmp_path, monkeypatch):
    (tmp_path / "locked").mkdir()
    (tmp_path / "a.col").write_bytes(BOX.read_bytes())
    (tmp_path / "b.col").write_bytes(BOX.read_bytes())
    real_list = os.listdir

    def listdir(path="."):
        if os.fspath(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return real_list(path)

    monkeypatch.setattr(os, "listdir", listdir)
    assert [str(problem) for problem in walk(tmp_path)[1]] == [
        f"{tmp_path / 'locked'}: can't be read (Permission denied)"
    ]
    status, out, error = run("verify", tmp_path)
    assert status == 2 and "OK   " in out and "2 map hulls" in out
    assert error == f"error: {tmp_path / 'locked'}: can't be read (Permission denied)\n"


# --- names ----------------------------------------------------------------------------------------

EVIL = {
    "a\nOK   b.col": r"a\nOK   b.col",
    "red\x1b[31m.col": r"red\x1b[31m.col",
    "bell\a\r\t\x7f.col": r"bell\x07\r\t\x7f.col",
    "loc\u202e.exe": r"loc\u202e.exe",
    "zero\u200bwidth\u2066\ufeff": r"zero\u200bwidth\u2066\ufeff",
    "lines\u2028and\u2029\x85": r"lines\u2028and\u2029\x85",
    "lone\udce9": r"lone\udce9",
}
PLAIN = ["plain.col", "日本 語é　ü.bin", "C:\\game\\new.col", "岩.col", "😀"]


@pytest.mark.parametrize("name", EVIL)
def test_what_disturbs_is_escaped_once(name):
    assert printable(name) == EVIL[name] == printable(printable(name))
    assert str(FormatError("is bad", file=name)) == f"{EVIL[name]}: is bad"


@pytest.mark.parametrize("name", PLAIN)
def test_what_can_be_read_stays(name):
    assert printable(name) == name


def clean(text: str) -> bool:
    return all(printable(line) == line for line in text.split("\n"))


@pytest.mark.parametrize("name", EVIL)
def test_names_of_files_are_escaped_by_every_command(run, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    hull, pak = folder / name, folder / f"{name}.pak"
    hull.write_bytes(BOX.read_bytes())
    make_archive(pak, {"test.col": (BOX.read_bytes(), True)})
    commands = [
        ("info", hull),
        ("verify", hull),
        ("verify", folder),
        ("obj", hull, "-o", folder / "x.obj"),
        ("build", folder / "x.obj", "-o", folder / "x.col", "--like", hull),
        ("list", pak),
        ("extract", pak, "-o", folder / "out"),
        ("replace", pak, f"test.col={hull}", "-o", folder / "mod"),
        ("replace", pak, f"{name}={hull}", "-o", folder / "mod"),
        ("extract", pak, "-o", folder / "out", name),
        ("diff", pak, folder / "mod" / pak.name),
        ("stages", folder),
        ("info", folder / "missing"),
        ("obj", hull, "-o", folder / "x.obj", "--mesh", name),
        ("obj", hull, "-o", folder / "missing" / "x.obj"),
        (name,),
        ("sample", folder),
        ("info", hull, "--json"),
        ("verify", folder, "--json"),
    ]
    for command in commands:
        status, out, error = run(*command)
        assert clean(out) and clean(error), command
        assert error.count("\n") == (status == 2), command
    assert json.loads(out)["files"][0]["file"].startswith(str(folder))


def test_names_inside_files_are_escaped(run, tmp_path):
    """A table of stages names files, and an archive has entries of such names."""
    phases = [("MapMesh", "\x1b[2J.col"), ("MapPath", "a\nb.rgn"), ("CollisionMeshes", "bell\a\x7f.bin")]
    table = idxd.encode(idxd.build([("StageResource", []), ("Phase_1\r", phases)], wide=True))
    make_archive(tmp_path / "dat" / "GP_MAIN_GAME_E.pak", {"StageResource_S01.tbl": (table, True)})
    entries = {"\x1b[2J.col": (BOX.read_bytes(), True), "a\nb.rgn": (b"x", False), "bell\a\x7f.bin": (b"x", False)}
    pak = make_archive(tmp_path / "hidden" / "MiscBin.pak", entries).path
    (tmp_path / "table").write_bytes(table)
    for command in (
        ("list", pak),
        ("info", pak),
        ("verify", tmp_path),
        ("stages", tmp_path),
        ("list", tmp_path / "table"),
        ("info", tmp_path / "table"),
        ("extract", pak, "-o", tmp_path / "out"),
        ("replace", pak, f"a\nb.rgn={BOX}", "-o", tmp_path / "mod"),
        ("extract", pak, "-o", tmp_path / "out", "a\nc.rgn"),
    ):
        status, out, error = run(*command)
        assert clean(out) and clean(error) and (out or error), command
        assert error.count("\n") == (status == 2), command
    assert r"\x1b[2J.col" in run("list", pak)[1]
