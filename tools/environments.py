"""Python environments: one for each Blender of pyproject.toml, in .venv, with no more than a command needs."""

from __future__ import annotations

import functools
import os
import re
import shutil
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tools.processes import ROOT, WINDOWS, Failure, run, say

VENV = ROOT / ".venv"

# What `import bpy` of 4.2 to 5.3 lacks on a bare Debian 12, found by installing one after the other.
SYSTEM_LIBRARIES = "libgl1 libgomp1 libsm6 libx11-6 libxfixes3 libxi6 libxkbcommon0 libxrender1 libxxf86vm1".split()


@dataclass(frozen=True)
class Blender:
    """One of the Blenders in pyproject.toml: the Python it fits, and what to install."""

    version: str
    python: str
    requirements: list[str]


def read_blenders() -> dict[str, Blender]:
    """The Blenders in pyproject.toml by version, oldest first."""
    table = _settings()["tool"]["sylpheed"]["blender"]
    return {version: Blender(version, **row) for version, row in table.items()}


def _settings() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


# ---- interpreters ----


def python_candidates(version: str) -> list[list[str]]:
    """Commands that may start this version of Python, best first."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    pyenv_versions = pyenv / ("pyenv-win/versions" if WINDOWS and (pyenv / "pyenv-win").is_dir() else "versions")
    commands = [[sys.executable]]
    for folder in sorted(pyenv_versions.glob(f"{version}.*"), reverse=True):
        commands.append([str(folder / ("python.exe" if WINDOWS else "bin/python"))])
    for name in (f"python{version}", "python3", "python"):
        if found := shutil.which(name):
            commands.append([found])
    if WINDOWS and (launcher := shutil.which("py")):
        commands.append([launcher, f"-{version}"])
    return commands


@functools.cache
def find_python(version: str) -> str | None:
    """The base interpreter of this version (never that of a virtual environment), able to create environments."""
    probe = "import sys, ensurepip, venv; print('%d.%d' % sys.version_info[:2], sys._base_executable)"
    for command in python_candidates(version):
        try:
            answer = run([*command, "-I", "-c", probe], capture=True)
        except OSError:
            continue
        found, _, path = answer.stdout.strip().partition(" ")
        if answer.returncode == 0 and found == version:
            return path
    return None


def default_blender() -> Blender:
    """The newest Blender that fits the running Python, else one whose Python is on the machine."""
    running = "{}.{}".format(*sys.version_info[:2])
    newest_first = list(reversed(read_blenders().values()))
    for blender in sorted(newest_first, key=lambda blender: blender.python != running):
        if find_python(blender.python):
            return blender
    pythons = " or ".join(sorted({blender.python for blender in newest_first}))
    raise Failure(
        f"Blender's module needs Python {pythons} with venv and ensurepip, and this machine has none: "
        f"install one of them, from python.org or your system's packages (this is {running})"
    )


def missing_python(blender: Blender) -> str:
    """Why a Blender can't run here, and what would change that."""
    return f"it needs Python {blender.python} with venv and ensurepip, which isn't on this machine"


# ---- environments ----


def prepare(blender: Blender, groups: tuple[str, ...] = (), *, with_bpy: bool = True) -> str:
    """Creates, completes or reuses the environment of a Blender, and returns its interpreter.

    `groups` are those of pyproject.toml that are needed beside the Blender's own requirements, of which `bpy` is left
    out without `with_bpy`. The list of what is installed is written last: an environment that was interrupted has no
    such list, and is created from the beginning.
    """
    home = VENV if blender == default_blender() else VENV / f"blender-{blender.version}"
    requirements = [name for name in blender.requirements if with_bpy or not name.startswith("bpy==")]
    for group in groups:
        requirements += _settings()["dependency-groups"][group]
    base = find_python(blender.python)
    if base is None:
        raise Failure(missing_python(blender))
    python = str(home / ("Scripts/python.exe" if WINDOWS else "bin/python"))
    stamp = home / "sylpheed-requirements.txt"
    first_line = f"# Python {blender.python}"
    installed = _installed(stamp, first_line) if _starts(python) else None
    if installed is None or _conflicts(installed, requirements):
        _remove(home)
        if run([base, "-I", "-m", "venv", str(home)]).returncode:
            raise Failure(f"the environment of Blender {blender.version} can't be created, see the lines above")
        installed = []
    if missing := [name for name in requirements if name not in installed]:
        say(f"installing into {home.relative_to(ROOT)} (Python {blender.python}): {', '.join(missing)}")
        stamp.unlink(missing_ok=True)
        # Everything that is wanted is named, so that pip keeps the versions of what is there.
        command = [python, "-I", "-m", "pip", "install", "-q", "-q", "--disable-pip-version-check"]
        if run([*command, *installed, *missing]).returncode:
            raise Failure(f"the environment of Blender {blender.version} can't be installed, see the lines above")
        stamp.write_text("\n".join([first_line, *installed, *missing, ""]), encoding="utf-8")
    if with_bpy:
        _check_bpy(python, blender)
    return python


def _installed(stamp: Path, first_line: str) -> list[str] | None:
    """What an environment's list says is installed, None without a list for this Python."""
    lines = stamp.read_text(encoding="utf-8").splitlines() if stamp.is_file() else []
    return lines[1:] if lines[:1] == [first_line] else None


def _conflicts(installed: list[str], requirements: list[str]) -> bool:
    """Whether another version of something that is wanted is installed."""
    there = {name.partition("==")[0]: name for name in installed}
    return any(there.get(name.partition("==")[0], name) != name for name in requirements)


def _starts(python: str) -> bool:
    """Whether an environment's interpreter still works: its base may have been uninstalled since."""
    return Path(python).is_file() and run([python, "-I", "-c", ""]).returncode == 0


def _remove(home: Path) -> None:
    """Empties an environment's folder, but for the other Blenders' environments inside .venv."""
    for path in home.iterdir() if home.is_dir() else []:
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif not path.name.startswith("blender-"):
            shutil.rmtree(path)


# ---- Blender's module ----


def _check_bpy(python: str, blender: Blender) -> None:
    """Imports bpy in a process of its own, and installs the system's libraries where those are missing."""
    command = [python, "-I", "-c", "import bpy; print('imported', flush=True)"]
    result = run(command, capture=True)
    missing = re.search(r"(lib\S+): cannot open shared object file", result.stderr)
    if missing and "imported" not in result.stdout:
        _install_system_libraries(missing[1])
        result = run(command, capture=True)
    if "imported" not in result.stdout:
        reason = (result.stderr.strip().splitlines() or [f"exit status {result.returncode}"])[-1]
        raise Failure(f"`import bpy` of Blender {blender.version} fails: {reason}")


def _install_system_libraries(missing: str) -> None:
    """Installs what bpy needs from Debian's packages if that is allowed here, else says how."""
    install = ["apt-get", "install", "-y", "--no-install-recommends", *SYSTEM_LIBRARIES]
    if not shutil.which("apt-get") or os.geteuid() != 0:
        raise Failure(f"Blender needs {missing}; on Debian or Ubuntu run: sudo {' '.join(install)}")
    say(f"Blender needs {missing}, installing: {' '.join(SYSTEM_LIBRARIES)}")
    for command in (["apt-get", "update", "-q"], install):
        if run(command, DEBIAN_FRONTEND="noninteractive").returncode:
            raise Failure(f"`{' '.join(command)}` failed, see the lines above")
