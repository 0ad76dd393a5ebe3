"""Hostile input, a short seeded part of what `tools/fuzz.py` does: nothing but the documented refusal, no hang, no
memory beyond measure. tests/data/fuzz holds what earlier runs found, faults and inputs that reached rare code."""

from __future__ import annotations

import faulthandler
import tracemalloc
from pathlib import Path

import pytest

from core.cli.main import main
from tests.fuzz.corpus import made, start
from tests.fuzz.mutate import mutations
from tests.fuzz.readers import FREE_BYTES, HANGS_AFTER, READERS, TIMES_INPUT, readable
from tests.support.hulls import DATA
from tests.support.tally import cases

TRIED = {"archive": 150, "journal": 500, "hull": 600, "packed": 2000, "relocation": 2000, "survey": 400}


NEVER_REFUSES = ("survey",)
"""What reports on any bytes."""


@pytest.fixture
def memory():
    tracemalloc.start()
    yield tracemalloc
    tracemalloc.stop()
    faulthandler.cancel_dump_traceback_later()


def try_one(memory, reader: str, data: bytes) -> bool:
    faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
    memory.reset_peak()
    before = memory.get_traced_memory()[0]
    taken = readable(reader, data)
    used = memory.get_traced_memory()[1] - before
    assert used <= FREE_BYTES + TIMES_INPUT * len(data), f"{used:,} bytes of memory for {len(data):,}"
    return taken


@pytest.mark.parametrize("reader", READERS)
def test_damaged_files_are_refused_or_written_back(reader, memory):
    assert any([try_one(memory, reader, data) for data in made(reader)])
    inputs = start(reader)
    refused = 0
    for data in inputs + list(mutations(inputs, 7, TRIED.get(reader, 1500))):
        with cases(f"damaged input, {reader}") as figure:
            is_refused = not try_one(memory, reader, data)
            figure.refused += is_refused
            refused += is_refused
    assert (refused == 0) == (reader in NEVER_REFUSES)


SAMPLES = ("test.col", "S13_AsteroidVolume_wp.col", "quirks/test_words_sharedgap.col", "CollisionSet_small.bin")


@pytest.mark.parametrize("name", SAMPLES)
def test_no_command_fails_in_another_way_than_documented(name, tmp_path, capsys):
    source = (DATA / name).read_bytes()
    file: Path = tmp_path / f"damaged{Path(name).suffix}"
    commands = (
        ["info", file],
        ["verify", file],
        ["obj", file, "-o", tmp_path / "out.obj"],
        ["diff", DATA / name, file],
        ["survey", file],
    )
    for number, data in enumerate(mutations([source], 3, 75)):
        file.write_bytes(data)
        command = commands[number % len(commands)]
        with cases("damaged input, commands") as figure:
            status = main([str(word) for word in command])
            output, error = capsys.readouterr()
            assert status in ((0,) if command[0] == "survey" else (0, 1, 2)), command
            assert "Traceback" not in output + error
            if status == 2:
                figure.refused += 1
                assert error.startswith("error: ") and error.count("\n") == 1
