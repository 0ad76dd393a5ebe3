"""Saves how the tests went where build.py asks for it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
STATUS = pytest.StashKey[int]()


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of small collision files made for the tests."""
    return DATA


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remembers pytest's exit status."""
    session.config.stash[STATUS] = int(exitstatus)


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
