"""What every command of build.py needs: where the repository is, running programs, and failing with a reason."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
WINDOWS = os.name == "nt"

DROPPED = ("VIRTUAL_ENV", "PYTHON", "__PYVENV", "BLENDER_")
"""Variables that an activated environment or a user's Blender sets, by their beginnings."""


class Failure(Exception):
    """A reason to stop or to count a part as failed, in words for whoever ran the command."""


def say(text: str) -> None:
    """Prints at once, so that lines of programs that we start come in the right order."""
    print(text, flush=True)


def run(command: list[str], *, capture: bool = False, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a command at the repository's root, without the `DROPPED` variables. `variables` are added."""
    return subprocess.run(
        command, cwd=ROOT, env=environment(variables), capture_output=capture, encoding="utf-8", errors="replace"
    )


def run_into(log: IO[bytes], command: list[str], **variables: str) -> int:
    """Runs a command like `run`, its output and errors appended to an open file. Returns the exit status."""
    return subprocess.run(command, cwd=ROOT, env=environment(variables), stdout=log, stderr=log).returncode


def environment(variables: dict[str, str]) -> dict[str, str]:
    """The variables of this process less `DROPPED`, with others added."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(DROPPED)}
    return kept | variables
