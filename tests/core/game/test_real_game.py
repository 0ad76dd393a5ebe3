"""A whole game folder: the stand-in, and with SYLPHEED_GAME=DIR the extracted disc in DIR too."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.cli.main import main
from core.editing.rebuild_hull import rebuild
from core.formats import collision_set, mcol, regn
from core.formats.mcol import Hull
from core.game.archive import Archive, open_archive
from core.game.game_folder import find_game, known_names, stages
from core.samples.folder import write_sample
from tests.support.hulls import edited

FORMATS = {".col": mcol, ".rgn": regn, ".bin": collision_set}
OWN = os.environ.get("SYLPHEED_GAME", "")


@pytest.fixture(scope="module", params=["stand-in", *([OWN] if OWN else [])])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param != "stand-in":
        return Path(request.param)
    made = tmp_path_factory.mktemp("game")
    write_sample(made)
    return made


@pytest.fixture(scope="module")
def archive(folder: Path) -> Archive:
    game = find_game(folder)
    return open_archive(game.require_collision(), known_names(game))


def entries(archive: Archive) -> list[tuple[str, bytes]]:
    return [(archive.label(entry), archive.read(entry)) for entry in archive.entries]


def test_every_stage_names_what_the_archive_has(folder: Path, archive: Archive) -> None:
    found = stages(find_game(folder))
    assert found and not [stage.problem for stage in found if stage.problem]
    named = {phase.hull for stage in found for phase in stage.phases if phase.hull}
    assert named and named <= {name for name, _ in entries(archive)}


def test_every_file_is_encoded_to_the_bytes_that_it_was_decoded_from(archive: Archive) -> None:
    known = [(name, data) for name, data in entries(archive) if Path(name).suffix in FORMATS]
    assert known
    for name, data in known:
        form = FORMATS[Path(name).suffix]
        assert form.encode(form.decode(data)) == data, name


def test_an_unedited_hull_is_rebuilt_to_the_same_bytes(archive: Archive) -> None:
    hulls: list[tuple[str, bytes, Hull]] = [
        (name, data, mcol.decode(data)) for name, data in entries(archive) if name.endswith(".col")
    ]
    for name, data, hull in hulls:
        assert mcol.encode(rebuild(hull, edited(hull, {})).hull) == data, name


@pytest.mark.parametrize("command", ["verify", "survey", "stages"])
def test_the_commands_find_nothing_wrong(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(folder)]) == 0, capsys.readouterr().out
