"""`verify` compares a navigation volume with the hull beside it, and says so where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli.hull_beside import beside_entry, beside_file
from core.cli.main import main
from core.formats import mcol, obj
from core.game.archive import open_archive
from core.game.archive_write import make_archive
from tests.support.edited_hulls import edited
from tests.support.volumes import NO_WALL, ROCKS, hull, volume, with_pairs

LEFT_OUT = "so grid, free space and clearances weren't compared"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    def call(*arguments: object) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        output = capsys.readouterr()
        return status, output.out, output.err

    return call


def pair(folder: Path, col: bytes | None, rgn: bytes, stem: str = "map") -> Path:
    if col is not None:
        (folder / f"{stem}.COL").write_bytes(col)
    (folder / f"{stem}.rgn").write_bytes(rgn)
    return folder / f"{stem}.rgn"


def test_a_volume_that_fits_its_hull(run, tmp_path: Path) -> None:
    status, out, error = run("verify", pair(tmp_path, mcol.encode(hull()), volume()))
    assert (status, error) == (0, "") and LEFT_OUT not in out
    assert "volumes that fit the grid of their hull" in out and "clearances up to the distance to rock" in out


def test_a_volume_alone(run, tmp_path: Path) -> None:
    path = pair(tmp_path, None, volume())
    status, out, _ = run("verify", path)
    assert status == 0 and f"(no map.col beside it, {LEFT_OUT})" in out.splitlines()[0]
    assert beside_file(path).hull is None
    document = json.loads(run("verify", path, "--json")[1])
    assert LEFT_OUT in document["files"][0]["note"]


def test_a_hull_that_cant_be_read(run, tmp_path: Path) -> None:
    status, out, _ = run("verify", pair(tmp_path, mcol.encode(hull())[:99], volume()))
    assert status == 0 and f"(map.COL beside it can't be read, {LEFT_OUT})" in out.splitlines()[0]


def test_the_volume_of_an_edited_hull(run, tmp_path: Path) -> None:
    status, out, _ = run("verify", pair(tmp_path, mcol.encode(edited("moved")), volume()))
    assert status == 0
    assert "tetrahedra that rock reaches into" in out and "clearances of more than the distance to rock" in out


def test_the_volume_of_a_hull_with_another_grid(run, tmp_path: Path) -> None:
    status, out, _ = run("verify", pair(tmp_path, mcol.encode(edited("grown")), volume()))
    assert status == 1 and out.startswith("FAIL ") and "for another grid than the hull's: its box is" in out


def test_volumes_in_an_archive_are_compared_with_the_hulls_there(run, tmp_path: Path) -> None:
    entries: dict[int | str, tuple[bytes, bool]] = {
        f"{ROCKS}.rgn": (volume(), True),
        f"{ROCKS}.col": (mcol.encode(edited("moved")), True),
        f"{NO_WALL}.rgn": (volume(NO_WALL), True),
        "test.rgn": (volume(), True),
        "test.col": (b"MCOL", False),
    }
    path = make_archive(tmp_path / "MiscBin.pak", entries).path
    _, out, _ = run("verify", path)
    lines = {name: line for line in out.splitlines() for name in (ROCKS, NO_WALL, "test") if f"{name}.rgn:" in line}
    assert "that rock reaches into" in lines[ROCKS]
    assert lines[NO_WALL].endswith(f"(no {NO_WALL}.col in the archive, {LEFT_OUT})")
    assert lines["test"].endswith(f"(test.col in the archive can't be read, {LEFT_OUT})")
    archive = open_archive(path)
    assert beside_entry(archive, f"{ROCKS}.rgn").hull is not None


def test_faults_of_the_original_are_warnings(run, tmp_path: Path) -> None:
    broken = bytearray(volume(NO_WALL))
    at = int.from_bytes(broken[0x74:0x78], "big") + 0x10
    broken[at + 0x50 : at + 0x54] = b"\0\0\0\5"
    path = pair(tmp_path, mcol.encode(hull(NO_WALL)), bytes(broken))
    assert run("verify", path)[0] == 1
    original = tmp_path / "original.rgn"
    original.write_bytes(bytes(broken))
    status, out, _ = run("verify", path, "--like", original)
    assert status == 0 and "with the number of another, as in the original" in out


# --- info, obj and diff ---------------------------------------------------------------------------


def test_info_obj_and_diff_of_a_volume(run, tmp_path: Path) -> None:
    path = pair(tmp_path, None, volume(NO_WALL))
    about = json.loads(run("info", path, "--json")[1])
    assert about["kind"] == "navigation volume" and [row["name"] for row in about["regions"]] == ["region_01"]
    assert "region_01" in run("info", path)[1]
    status, out, _ = run("obj", path, "-o", tmp_path / "out.obj")
    (mesh,) = obj.decode((tmp_path / "out.obj").read_bytes())
    assert status == 0 and mesh.name == "map.region_01" and len(mesh.triangles) == about["border_faces"]
    assert run("obj", path, "-o", tmp_path / "one.obj", "--mesh", "region_01")[0] == 0
    status, _, error = run("obj", path, "-o", tmp_path / "two.obj", "--mesh", "region_02")
    assert status == 2 and "holds nothing named region_02" in error and not (tmp_path / "two.obj").exists()
    other = pair(tmp_path, None, with_pairs(volume(NO_WALL), list(range(6)), 0.0), "other")
    status, out, _ = run("diff", path, other)
    assert status == 1 and out.startswith("costs: ") and run("diff", path, path)[0] == 0
    differences = json.loads(run("diff", path, other, "--json")[1])["differences"]
    assert [row["where"] for row in differences] == ["costs"]


def test_a_hostile_volume_is_one_line_and_nothing_is_written(run, tmp_path: Path) -> None:
    broken = bytearray(volume(NO_WALL))
    at = int.from_bytes(broken[0x74:0x78], "big") + 0x10 + 0x18
    broken[at : at + 2] = b"\xff\xf0"
    path = pair(tmp_path, mcol.encode(hull(NO_WALL)), bytes(broken))
    before = sorted(tmp_path.iterdir())
    status, out, _ = run("verify", path)
    assert status == 1 and "1 volume with unreadable contents: tetrahedron 0 names one of the faces" in out
    col, ends = path.with_suffix(".COL"), ("--from", "0,0,0", "--to", "1,1,1")
    for arguments in (
        ("obj", path, "-o", tmp_path / "out.obj"),
        ("route", col, *ends, "--navigation", path),
        ("navigation", col, "-o", tmp_path / "o.rgn", "--from", path, "--old", col),
    ):
        status, out, error = run(*arguments)
        if status == 0:
            assert arguments[0] == "route"  # a straight way asks no volume
            continue
        assert status == 2 and out == "" and error.count("\n") == 1 and str(path) in error, (arguments, error)
        assert "tetrahedron 0 names one of the faces" in error
    assert sorted(tmp_path.iterdir()) == before
