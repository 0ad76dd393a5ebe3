"""The arguments of the commands: their help, and options that may stand anywhere."""

import argparse
import json

import pytest

from core.cli import arguments
from tests.support.hulls import DATA

TEST = str(DATA / "test.col")
COMMANDS = "info verify list diff stages survey sample obj build extract replace navigation route".split()


def actions(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[argparse.Action]]:
    """By command, what its help explains; "" is the program itself."""
    parsers = []
    original = arguments._Parser.__init__

    def remember(self, **options):
        original(self, **options)
        parsers.append(self)

    monkeypatch.setattr(arguments._Parser, "__init__", remember)
    with pytest.raises(SystemExit):
        arguments.parse(["--help"])
    return {parser.prog.partition("core")[2].strip(): parser._actions for parser in parsers}


def test_every_command_and_argument_is_explained_by_a_sentence(monkeypatch, capsys):
    found = actions(monkeypatch)
    assert sorted(found) == sorted(["", *COMMANDS])
    for command, rows in found.items():
        for row in rows:
            if not isinstance(row, argparse._SubParsersAction):
                assert row.help and row.help[0].isupper() and not row.help.endswith("."), (command, row.dest)
    commands = next(row for row in found[""] if isinstance(row, argparse._SubParsersAction))
    assert all(row.help[0].isupper() and not row.help.endswith(".") for row in commands._choices_actions)


@pytest.mark.parametrize("given", [("--json", "info", TEST), ("info", "--json", TEST), ("info", TEST, "--json")])
def test_json_may_stand_before_and_after_the_command(run, given):
    status, out, _ = run(*given)
    assert status == 0 and json.loads(out)["kind"] == "map hull"


def test_a_command_without_a_document_refuses_json(refused, tmp_path):
    out = tmp_path / "a.obj"
    assert "no JSON document" in refused("--json", "obj", TEST, "-o", out)
    assert not out.exists()


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "1e31", "x"])
def test_a_size_is_a_positive_number(refused, value):
    assert "positive number" in refused("build", "a.obj", "-o", "a.col", f"--cell={value}")


@pytest.mark.parametrize("value", ["1,2", "1,2,3,4", "1,2,x", "1,2,inf", "1,2,nan", ""])
def test_a_point_is_three_numbers(refused, value):
    assert "X,Y,Z" in refused("route", TEST, f"--from={value}", "--to=1,2,3")


def test_a_point_may_begin_with_a_minus():
    options = arguments.parse(["route", TEST, "--from", "-1,2,3", "--to", "-.5,0,0"])
    assert (options.start, options.goal) == ((-1, 2, 3), (-0.5, 0, 0))


@pytest.mark.parametrize("value", ["name", "=file", "name="])
def test_a_replacement_has_a_name_and_a_file(refused, value):
    assert "NAME=FILE" in refused("replace", "a.pak", value, "-o", "out")
