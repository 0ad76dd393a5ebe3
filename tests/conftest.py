"""Saves how the tests went where build.py asks for it, shows what was promised and tried, and fixes every seed."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.tally import table

# The same cases in every run and on every machine, and none of them timed.
settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
settings.load_profile("repeatable")

DATA = Path(__file__).parent / "data"
STATUS = pytest.StashKey[int]()


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of small collision files made for the tests."""
    return DATA


@pytest.fixture(scope="session", autouse=True)
def own_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The system's folder for temporary files, for this run alone: all writers of a user share a lock in it."""
    folder = str(tmp_path_factory.mktemp("system"))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("TMPDIR", "TEMP", "TMP"):
            patch.setenv(name, folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remembers pytest's exit status."""
    session.config.stash[STATUS] = int(exitstatus)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Shows what was promised, how many cases were tried, and how many broke the promise."""
    lines = table()
    if lines:
        terminalreporter.section("promises")
        for line in lines:
            terminalreporter.line(line)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Writes status and counts after pytest's closing line: from here on a crash loses nothing that was tested."""
    target = os.environ.get("SYLPHEED_OUTCOME")
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if not target or reporter is None:
        return
    outcomes = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
    counts = {outcome: len(reporter.stats[outcome]) for outcome in outcomes if reporter.stats.get(outcome)}
    sys.stdout.flush()
    status = config.stash.get(STATUS, int(pytest.ExitCode.INTERNAL_ERROR))
    Path(target).write_text(json.dumps({"status": status, "counts": counts}), encoding="utf-8")
