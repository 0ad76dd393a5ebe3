"""Versions of entries come into a mod folder: which entries they concern, what is damaged, what is read and packed."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest

from core.errors import FormatError, RefusedError
from core.formats import compression
from core.formats.collision_set import CollisionSet, Part, decode, encode
from core.game.archive import open_archive
from core.game.archive_write import write_archive
from core.game.game_folder import SETS, find_game
from core.game.merge_into_mod import Choices, merge_into_mod
from core.game.merge_versions import Version, mark
from tests.support.game_folder import make_game
from tests.support.hulls import read

HULL = "S14_p1_AsteroidVolume_wp.col"
OTHER_HULL = "S14_p2_AsteroidVolume_wp.col"
LIBRARY = read("CollisionSet_small.bin")


@pytest.fixture(scope="module")
def game(tmp_path_factory):
    return find_game(make_game(tmp_path_factory.mktemp("game")))


def moved(number: int, by: float) -> bytes:
    """The set with one part moved."""
    parts = list(decode(LIBRARY).parts)
    parts[number] = replace(parts[number], vertices=parts[number].vertices + by)
    return encode(CollisionSet(tuple(parts)))


def of_set(data: bytes, entry: str = SETS[0], author: str = "a", **more) -> Version:
    return Version(entry, author, data, mark(LIBRARY), LIBRARY, **more)


def of_hull(data: bytes, entry: str = HULL, author: str = "hull") -> Version:
    return Version(entry, author, data, mark(read(entry)))


def contents(mod) -> dict[str, bytes]:
    archive = open_archive(mod / "hidden" / "MiscBin.pak")
    return {name: archive.read(archive.find(name)) for name in (*SETS, HULL, OTHER_HULL)}


def test_edits_of_two_sets_meet_in_all_copies_and_each_is_remembered(game, tmp_path):
    versions = [of_set(moved(0, 1)), of_set(moved(1, 1), SETS[1], "b"), of_hull(read(HULL))]
    written, marks = merge_into_mod(game, str(tmp_path), versions)
    assert sorted(written.replaced) == sorted(SETS) and not written.warnings
    assert len(set(contents(tmp_path)[name] for name in SETS)) == 1
    assert [len(one) for one in marks] == [1, 1, 0]
    parts = decode(contents(tmp_path)[SETS[5]]).parts
    assert [parts[n].vertices[0, 0] - decode(LIBRARY).parts[n].vertices[0, 0] for n in (0, 1, 2)] == [1, 1, 0]


def test_alone_each_set_gets_its_own_edits(game, tmp_path):
    versions = [of_set(moved(0, 1)), of_set(moved(0, 2), SETS[1], "b")]
    written, _ = merge_into_mod(game, str(tmp_path), versions, Choices(all_sets=False))
    assert written.replaced == SETS[:2]
    assert [contents(tmp_path)[name] for name in SETS[:3]] == [moved(0, 1), moved(0, 2), LIBRARY]


def test_copies_that_differ_in_the_mod_stay_different(game, tmp_path):
    merge_into_mod(game, str(tmp_path), [of_set(moved(0, 1))], Choices(all_sets=False))
    merge_into_mod(game, str(tmp_path), [of_set(moved(1, 1), SETS[1])])
    found = contents(tmp_path)
    assert found[SETS[1]] == found[SETS[2]] == moved(1, 1) != found[SETS[0]]


def test_nothing_is_written_where_one_entry_is_refused(game, tmp_path):
    twins = [of_hull(b"one"), of_hull(b"two", author="twin")]
    with pytest.raises(RefusedError, match='"hull" and "twin" hold two different edits'):
        merge_into_mod(game, str(tmp_path), [of_set(moved(0, 1)), *twins])
    assert not list(tmp_path.iterdir())


def test_an_entry_is_one_in_any_spelling(game, tmp_path):
    twins = [of_hull(read(OTHER_HULL)), replace(of_hull(read("test.col")), entry=HULL.upper(), author="twin")]
    with pytest.raises(RefusedError, match="two different edits"):
        merge_into_mod(game, str(tmp_path), twins)


def damage(mod, name: str) -> None:
    archive = open_archive(mod / "hidden" / "MiscBin.pak")
    entry = archive.find(name)
    with open(archive.part_of(entry).path, "r+b") as stream:
        stream.seek(entry.offset + 20)
        stream.write(bytes(40))


@pytest.mark.parametrize("name", [HULL, SETS[0]])
def test_a_damaged_entry_of_the_mod_stays_or_is_overwritten(game, tmp_path, name):
    write_archive(open_archive(game.collision), {}, tmp_path / "hidden")
    damage(tmp_path, name)
    unedited, edited = (
        (of_hull(read(HULL)), of_hull(read(OTHER_HULL))) if name == HULL else (of_set(LIBRARY), of_set(moved(0, 1)))
    )
    written, _ = merge_into_mod(game, str(tmp_path), [unedited])
    assert written.replaced == () and any("is damaged in the mod" in text for text in written.warnings)
    with pytest.raises(FormatError, match=r"is damaged in the mod.*overwrite"):
        merge_into_mod(game, str(tmp_path), [edited])
    merge_into_mod(game, str(tmp_path), [edited], Choices(overwrite=True))
    assert contents(tmp_path)[name] == edited.data


def test_equal_contents_are_unpacked_and_packed_once(game, tmp_path, monkeypatch):
    merge_into_mod(game, str(tmp_path), [of_set(moved(0, 1))])
    sizes = {"packed": [], "unpacked": []}
    compress, unpack = zlib.compress, compression.unpack
    monkeypatch.setattr(
        zlib, "compress", lambda data, level: sizes["packed"].append(len(data)) or compress(data, level)
    )
    monkeypatch.setattr(compression, "unpack", lambda stored: sizes["unpacked"].append(len(stored)) or unpack(stored))
    edited = of_set(moved(0, 2), exported=frozenset(merge_into_mod(game, str(tmp_path), [of_set(moved(0, 1))])[1][0]))
    sizes["unpacked"].clear()
    merge_into_mod(game, str(tmp_path), [edited])
    assert len(sizes["packed"]) == 1
    assert sum(size > len(LIBRARY) // 4 for size in sizes["unpacked"]) <= 4  # game and mod, to compare and to write


def test_part_names_of_another_alphabet_are_told(game, tmp_path):
    parts = decode(LIBRARY).parts
    named = encode(CollisionSet((*parts, Part("表".encode("cp932").ljust(16, b"\0"), *_geometry(parts[0])))))
    other = encode(CollisionSet((*parts, Part("表".encode("cp932").ljust(16, b"\0"), *_geometry(parts[1])))))
    with pytest.raises(RefusedError, match="the part 表"):
        merge_into_mod(game, str(tmp_path), [of_set(named), of_set(other, SETS[1], "b")])


def _geometry(part: Part):
    return part.vertices, part.triangles
