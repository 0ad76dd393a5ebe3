"""Stand-in files: the counts of the game's files exactly, sound in every check, the same from the same seed."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from core.errors import FormatError, Severity
from core.formats import collision_set, mcol, regn
from core.formats.hashes import file_id
from core.game import game_folder
from core.game.archive import open_archive
from core.geometry.edges import edge_census
from core.geometry.surfaces import split, volumes
from core.inspect import check_game, check_hull, check_set
from core.inspect.check_navigation import check_navigation
from core.inspect.checks import findings
from core.samples import folder as folder_of_samples
from core.samples import hulls, sets, shapes
from core.samples.folder import write_sample
from core.samples.game import sample_navigation
from tests.oracle.readers import read_col, read_set
from tests.support.game_folder import make_game

# docs/FORMATS.md, section 3: id, vertices, triangles, blocks of vertices, triangles, spheres, Euler characteristic.
TABLE = {
    "test": (0x2CF7EB47, 34, 60, 416, 368, 960, 4),
    "mapmesh_box_500km": (0xCBB99D34, 8, 12, 96, 80, 192, 2),
    "S01_AsteroidVolume_wp": (0xD84A95FB, 111, 218, 1344, 1312, 3488, 2),
    "S04_AsteroidVolume_wp": (0xDB066592, 405, 790, 4864, 4752, 12640, 10),
    "S05_AsteroidVolume_wp": (0xDC44FE0C, 89, 174, 1072, 1056, 2784, 2),
    "S08_p1_AsteroidVolume_wp": (0xDF4628C2, 134, 260, 1616, 1568, 4160, 4),
    "S08_p2_AsteroidVolume_wp": (0xE084C13C, 8, 12, 96, 80, 192, 2),
    "S13_AsteroidVolume_wp": (0xDB61C506, 73, 134, 880, 816, 2144, 6),
    "S14_p1_AsteroidVolume_wp": (0xDC4B0896, 502, 924, 6032, 5552, 14784, 40),
    "S14_p2_AsteroidVolume_wp": (0xDD89A110, 632, 1164, 7584, 6992, 18624, 50),
    "S28_p1_AsteroidVolume_wp": (0xE16460CF, 554, 1020, 6656, 6128, 16320, 44),
}
ROWS = {row.name: row for row in hulls.MAPS}


SEEDS = 1, 20
"""No test uses another seed: dividing a seed's free space takes seconds, and is done once in a process."""
OTHER = dict(zip(SEEDS, reversed(SEEDS), strict=True))


@pytest.fixture(scope="module", params=SEEDS)
def seed(request):
    return request.param


@pytest.fixture(scope="module")
def folder(seed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder, seed)
    return folder / "loose"


@pytest.fixture(scope="module")
def library(folder):
    return collision_set.decode((folder / "CollisionSet_S01.bin").read_bytes())


def test_the_files_are_there_and_nothing_else(folder):
    assert {path.name for path in folder.iterdir()} == {f"{name}.col" for name in TABLE} | {"CollisionSet_S01.bin"}


@pytest.mark.parametrize("name", TABLE)
def test_counts_and_blocks_of_each_map(folder, name):
    id_, vertices, triangles, vertex_block, triangle_block, sphere_block, euler = TABLE[name]
    assert file_id(f"{name}.col") == id_
    hull = mcol.decode((folder / f"{name}.col").read_bytes())
    assert (len(hull.vertices), len(hull.triangles)) == (vertices, triangles)
    assert len(hull.vertices) - len(edge_census(hull.triangles)[0]) + len(hull.triangles) == euler
    blocks = {block.name: block.size + len(block.spare) for block in hull.carried.blocks}
    assert (blocks["vertices"], blocks["triangles"], blocks["spheres"]) == (vertex_block, triangle_block, sphere_block)


@pytest.mark.parametrize("name", TABLE)
def test_each_map_is_sound(folder, name):
    data = (folder / f"{name}.col").read_bytes()
    read_col(data)
    assert findings(check_hull.check_hull(mcol.decode(data))) == []


@pytest.mark.parametrize("name", TABLE)
def test_box_cells_and_surfaces_of_each_map(folder, name):
    row, hull = ROWS[name], mcol.decode((folder / f"{name}.col").read_bytes())
    assert hull.grid.minimum.tolist() == [-row.half] * 3
    assert hull.grid.cell_size.tolist() == [row.cell] * 3
    assert np.prod(np.multiply(hull.grid.dimensions, row.cell)) == (2 * row.half) ** 3
    volume = volumes(hull.vertices, hull.triangles, split(hull.triangles))
    outward = 0 if name.startswith("S05") else row.rocks
    assert (volume > 0).sum() == outward
    assert len(volume) == TABLE[name][-1] // 2
    if row.wall:
        # The wall comes last and is the box.
        assert volume[-1] == pytest.approx(-((2 * row.half) ** 3))
    first_use = np.unique(hull.triangles, return_index=True)[1]
    assert (np.diff(first_use) > 0).all()


def test_outside_is_solid_but_around_s01(folder):
    for name in TABLE:
        assert mcol.decode((folder / f"{name}.col").read_bytes()).outside_solid == (not name.startswith("S01"))


def test_the_box_of_500_km_occupies_its_outer_layer(folder):
    hull = mcol.decode((folder / "mapmesh_box_500km.col").read_bytes())
    assert len(hull.occupied) == 488
    assert np.allclose(hull.spheres[:, 3], 250_000 * 2**0.5 * 1.0001, rtol=1e-7)


def test_addresses_and_spheres_of_s14_p1_are_those_of_the_notes(folder):
    data = (folder / "S14_p1_AsteroidVolume_wp.col").read_bytes()
    hull = mcol.decode(data)
    assert int(hull.carried.header["cells"]) + 0x10 == 0x6780
    assert int(hull.carried.cells["lists"][0]) + 0x10 == 0x7720
    # Cells (0,0,0) and (2,0,0), as far as their values are known.
    assert hull.occupied[[0, 2]].tolist() == [0, 2]
    assert hull.cell_spheres[0].tolist() == pytest.approx([0, 0, 0, 43344.570], abs=2e-3)
    assert hull.cell_spheres[2].tolist() == pytest.approx([8333.333, -8333.333, -8333.333, 40865.652], abs=2e-3)


def test_counts_of_the_library(folder, library):
    data = (folder / "CollisionSet_S01.bin").read_bytes()
    assert len(data) == 1_675_148
    assert data[:4] == bytes.fromhex("00000810")
    assert len(read_set(data)) == len(library.parts) == 158
    assert sum(len(part.vertices) for part in library.parts) == 48_241
    assert sum(len(part.triangles) for part in library.parts) == 90_836
    names = [part.name for part in library.parts]
    assert {prefix: sum(name.startswith(prefix) for name in names) for prefix in ("rou_", "mob_", "rob_")} == {
        "rou_": 78,
        "mob_": 30,
        "rob_": 4,
    }
    assert sum("_Asteroid_cmesh_" in name for name in names) == 46
    assert len({name.lower() for name in names}) == 158


def test_what_is_open_and_doubled_in_the_library(library):
    checks = {one.name: one for one in check_set.check_set(library)}
    assert checks["meshes with every edge shared by two (manifold)"].good == 147
    edges = checks["edges shared by exactly two triangles"]
    assert (edges.good, edges.total) == (132_167, 134_529)
    assert not checks["triangles unlike every other"].passed
    assert not checks["vertices that a triangle uses"].passed
    assert checks["triangles with an area"].passed
    assert all(one.passed for one in checks.values() if one.severity is not Severity.INFO)


def test_ninety_two_meshes_are_one_closed_surface(library):
    characteristics = [
        len(part.vertices) - len(edge_census(part.triangles)[0]) + len(part.triangles) for part in library.parts
    ]
    assert characteristics.count(2) == 92


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others():
    row = ROWS["S13_AsteroidVolume_wp"]
    first, again, other = (mcol.encode(hulls.sample_hull(row, number)) for number in (3, 3, 4))
    assert first == again
    assert first != other
    one, two = (collision_set.encode(sets.sample_set(number)) for number in (3, 4))
    assert one == collision_set.encode(sets.sample_set(3))
    assert one != two


def test_progress_names_each_file(tmp_path):
    said = []
    paths = write_sample(tmp_path / "deep" / "below", 1, lambda *step: said.append(step))
    assert said == [(number, 14, path.name) for number, path in enumerate(paths)]


def test_a_folder_that_can_not_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FormatError) as caught:
        write_sample(tmp_path / "file")
    assert caught.value.file.endswith("loose")


@pytest.mark.parametrize("size", [5, 6, 7, 8, 12, 13, 26, 58, 100, 301, 1999])
def test_a_rock_is_closed_and_outward_at_any_size(size):
    vertices, triangles = shapes.rock(size, np.random.default_rng(size))
    assert len(vertices) == size
    assert len(triangles) == 2 * size - 4
    assert (edge_census(triangles)[1] == 2).all()
    assert (volumes(vertices, triangles, split(triangles)) > 0).all()
    assert split(triangles).max() == 0


def test_the_game_folder_has_the_entries_and_phases_of_the_game(tmp_path):
    write_sample(tmp_path)
    game = game_folder.find_game(tmp_path)
    archive = open_archive(game.require_collision(), game_folder.known_names(game))
    assert len(archive.entries) == 40
    assert all(entry.hash in archive.names for entry in archive.entries)
    stages = game_folder.stages(game)
    assert (len(stages), sum(len(found.phases) for found in stages)) == (29, 87)
    users = {name.removesuffix(".col"): len(phases) for name, phases in game_folder.hull_users(stages).items()}
    assert users["mapmesh_box_500km"] == 70
    assert (users["test"], users["S01_AsteroidVolume_wp"], users["S04_AsteroidVolume_wp"]) == (3, 3, 2)
    assert sum(users.values()) == 86
    findings = check_game.check(game)
    assert [str(finding) for finding in findings] == [
        "phase files: S20 Phase_1 names no MapMesh",
        "phase files: S20 Phase_1 names no MapPath",
    ]


@pytest.mark.parametrize("row", hulls.MAPS, ids=lambda row: row.name)
def test_a_navigation_volume_has_no_fault_and_fits_its_hull(row):
    hull = hulls.sample_hull(row, 1)
    data = sample_navigation(mcol.encode(hull))
    navigation = regn.decode(data)
    assert regn.encode(navigation) == data
    assert regn.check(navigation) == []
    assert all(check.passed for check in check_navigation(navigation, hull))


# --- nothing of the user's is overwritten ---------------------------------------------------------


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def stand_in(folder, tmp_path):
    """A stand-in of the test's own."""
    return Path(shutil.copytree(folder.parent, tmp_path / "stand-in"))


def refused(folder) -> str:
    before = tree(folder)
    with pytest.raises(FormatError, match="choose an empty folder, or one with nothing but a stand-in game") as caught:
        write_sample(folder, 7)
    assert tree(folder) == before
    return caught.value.problem


def test_a_stand_in_is_written_again_in_its_folder(stand_in, seed):
    before = tree(stand_in)
    (stand_in / "hidden" / ".DS_Store").write_bytes(b"of the file manager")
    write_sample(stand_in, OTHER[seed])
    other = tree(stand_in)
    assert other.keys() == before.keys() | {"hidden/.DS_Store"}
    write_sample(stand_in, seed)
    assert tree(stand_in) == before | {"hidden/.DS_Store": b"of the file manager"}


@pytest.mark.parametrize(
    "name", ["notes.txt", "hidden/MiscBin.p01", "hidden/MiscBin.pak.bak", "loose/mine.col", "deep/a/b"]
)
def test_another_file_is_not_overwritten(stand_in, name):
    (stand_in / name).parent.mkdir(parents=True, exist_ok=True)
    (stand_in / name).write_bytes(b"mine")
    assert refused(stand_in) == f"the folder holds {name.partition('/a')[0]}, which isn't as this command writes it"


@pytest.mark.parametrize(
    "name", ["hidden/MiscBin.pak", "hidden/MiscBin.p00", "dat/GP_MAIN_GAME_E.p00", "loose/test.col"]
)
@pytest.mark.parametrize("linked", [False, True])
def test_what_took_the_place_of_a_made_up_file_is_not_overwritten(stand_in, tmp_path, name, linked):
    path, outside = stand_in / name, tmp_path / "outside"
    if linked:
        path.rename(outside)
        path.symlink_to(outside)
    else:
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert name in refused(stand_in)


def test_a_real_game_or_mod_folder_is_refused(tmp_path):
    make_game(tmp_path / "game")
    assert "the folder holds dat/GP_MAIN_GAME_J.p00" in refused(tmp_path / "game")
    (tmp_path / "mod").mkdir()
    shutil.move(tmp_path / "game" / "hidden", tmp_path / "mod" / "hidden")
    assert "the folder holds hidden/MiscBin.p00" in refused(tmp_path / "mod")
    (tmp_path / "view").symlink_to(tmp_path / "mod")
    refused(tmp_path / "view")


def test_a_record_alone_proves_nothing(stand_in, tmp_path):
    make_game(tmp_path / "game")
    shutil.copy(stand_in / "stand-in.json", tmp_path / "game")
    assert "dat/GP_MAIN_GAME_J.p00" in refused(tmp_path / "game")
    for content in (b"", b"[]", b'{"sha256": 1}', b"[" * 100_000, b"\xff"):
        (stand_in / "stand-in.json").write_bytes(content)
        refused(stand_in)


def test_a_folder_behind_a_link_is_not_written(stand_in, tmp_path):
    shutil.move(stand_in / "hidden", tmp_path / "real")
    (stand_in / "hidden").symlink_to(tmp_path / "real")
    before = tree(tmp_path / "real")
    assert "the folder holds hidden, which" in refused(stand_in)
    assert tree(tmp_path / "real") == before


def test_a_stand_in_that_was_stopped_half_way_is_written_again(stand_in, seed, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    for name in ("write_file", "write_collision", "write_tables"):
        with monkeypatch.context() as patch:
            patch.setattr(folder_of_samples, name, stop)
            with pytest.raises(KeyboardInterrupt):
                write_sample(stand_in, OTHER[seed])
    write_sample(stand_in, seed)
