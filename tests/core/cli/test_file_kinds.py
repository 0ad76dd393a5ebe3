"""What can be done with each kind of file, and what a refusal names instead."""

import dataclasses

import pytest

from core.cli.file_kinds import FORMATS, INSTEAD, Format, article, load
from core.errors import FormatError
from core.formats.kinds import Kind
from core.samples.folder import write_sample
from tests.support.hulls import DATA

TEST = DATA / "test.col"


@pytest.fixture(scope="module")
def game(tmp_path_factory):
    folder = tmp_path_factory.mktemp("game")
    write_sample(folder)
    return folder


def refusal(path, ability="decode", only=None) -> str:
    with pytest.raises(FormatError) as caught:
        load(path, ability, only)
    assert caught.value.file == str(path)
    return str(caught.value)


def test_every_kind_has_a_format():
    assert set(FORMATS) == set(Kind)


def test_where_a_command_cannot_use_a_kind_another_command_can():
    for kind, use in FORMATS.items():
        for field in dataclasses.fields(Format):
            if field.name in ("describe", "contents", "meshes", "diff"):
                assert (getattr(use, field.name) is None) == ((field.name, kind) in INSTEAD), (kind, field.name)
    for (_, kind), command in INSTEAD.items():
        if command in ("info", "list"):
            assert getattr(FORMATS[kind], {"info": "describe", "list": "contents"}[command]), (kind, command)


def test_list_of_a_hull_names_info():
    assert "`info`" in refusal(TEST, "contents")


def test_a_game_folder_names_stages(game):
    for folder in (game, game / "hidden"):
        assert "`stages`" in refusal(folder, "describe")


def test_any_other_folder_names_what_reads_folders(tmp_path):
    assert "`stages`" not in refusal(tmp_path) and "`verify`" in refusal(tmp_path)


@pytest.mark.parametrize("only", [None, Kind.ARCHIVE, Kind.HULL])
def test_a_data_file_names_its_archive(game, only):
    assert "choose MiscBin.pak" in refusal(game / "hidden" / "MiscBin.p00", only=only)


def test_a_hull_named_like_a_data_file_is_a_hull(tmp_path):
    path = tmp_path / "a.p00"
    path.write_bytes(TEST.read_bytes())
    assert load(path)[0] is Kind.HULL


def test_another_kind_names_both():
    assert "expected an archive, found a map hull" in refusal(TEST, only=Kind.ARCHIVE)


def test_articles():
    assert [article(kind.value).split()[0] for kind in Kind] == ["a", "a", "a", "an", "a"]
