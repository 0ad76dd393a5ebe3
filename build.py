"""Builds, tests and shows the Sylpheed Collision extension. Needs Python 3.11 or newer and nothing else.

python build.py                        builds dist/sylpheed_collision-<version>.zip
python build.py test                   runs every test, with one Blender that fits this Python
python build.py test --blender all     ... with every Blender named in pyproject.toml
python build.py test --blender 4.2     ... with this one; may be repeated
python build.py test -- -k hull        ... and passes what follows `--` to pytest
python build.py demo                   the main job from end to end, in real Blender
python build.py bench                  the speed table
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info < (3, 11):  # noqa: UP036 - this file has to parse on older ones to say so
    sys.exit(f"build.py needs Python 3.11 or newer, this is {sys.version.split()[0]} ({sys.executable})")

import tomllib

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
WINDOWS = os.name == "nt"

# What `import bpy` of 4.2 to 5.3 lacks on a bare Debian 12, found by installing one after the other.
SYSTEM_LIBRARIES = "libgl1 libgomp1 libsm6 libx11-6 libxfixes3 libxi6 libxkbcommon0 libxrender1 libxxf86vm1".split()

REQUIRED_KEYS = (
    "schema_version", "id", "version", "name", "tagline", "maintainer", "type", "blender_version_min", "license"
)  # fmt: skip


class Failure(Exception):
    """A reason to stop or to count a part as failed, in words for whoever ran the command."""


@dataclass(frozen=True)
class Blender:
    """One of the Blenders in pyproject.toml: the Python it fits, and what to install."""

    version: str
    python: str
    requirements: list[str]


def say(text: str) -> None:
    """Prints at once, so that the order is right between our lines and those of what we start."""
    print(text, flush=True)


# ---- the extension ----


def manifest_problems(manifest: dict[str, Any]) -> list[str]:
    """What Blender or its extension sites would refuse or, worse, silently accept."""
    problems = [f"{key} is missing" for key in REQUIRED_KEYS if not manifest.get(key)]
    if problems:
        return problems
    version, oldest = manifest["version"], manifest["blender_version_min"]
    if not all(re.fullmatch(r"\d+\.\d+\.\d+", number) for number in (version, oldest)):
        problems.append(f"versions must be three numbers, found {version!r} and {oldest!r}")
    elif tuple(map(int, oldest.split("."))) < (4, 2, 0):
        problems.append("blender_version_min must be at least 4.2.0, older ones have no extensions")
    if not manifest["id"].isidentifier():
        problems.append(f"id must be a Python identifier, found {manifest['id']!r}")
    exact = {"type": "add-on", "license": ["SPDX:GPL-3.0-or-later"], "tags": ["Import-Export"]}
    problems += [f"{key} must be {value!r}" for key, value in exact.items() if manifest.get(key) != value]
    permissions = manifest.get("permissions", {})
    if set(permissions) != {"files"}:
        problems.append("permissions must be files alone, the add-on uses no other")
    for text in (manifest["tagline"], *permissions.values()):
        if len(text) > 64 or not text[-1:].isalnum():
            problems.append(f"tagline and reasons have at most 64 letters and no closing punctuation, found {text!r}")
    return problems


def extension_files() -> dict[str, Path]:
    """Name in the zip to source file: the add-on at the root, core/ inside it, the licence."""
    files = {"LICENSE": ROOT / "LICENSE"}
    for folder, prefix in ((ROOT / "blender_addon", ""), (ROOT / "core", "core/")):
        for path in folder.rglob("*"):
            parts = path.relative_to(folder).parts
            hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
            if path.is_file() and not hidden and path.suffix != ".pyc":
                files[prefix + "/".join(parts)] = path
    return files


def build_zip() -> Path:
    """Writes the extension into dist/ and returns its path. The same sources give the same bytes."""
    manifest = tomllib.loads((ROOT / "blender_addon" / "blender_manifest.toml").read_text(encoding="utf-8"))
    problems = manifest_problems(manifest)
    files = extension_files()
    problems += [f"{name} is missing" for name in ("__init__.py", "core/__init__.py") if name not in files]
    if problems:
        raise Failure("the extension can't be built: " + "; ".join(problems))
    target = ROOT / "dist" / f"{manifest['id']}-{manifest['version']}.zip"
    target.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(files.items()):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # else it differs between Windows and the others
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    say(f"built {target.relative_to(ROOT)}: {len(files)} files, {target.stat().st_size:,} bytes")
    return target


# ---- interpreters and environments ----


def run(command: list[str], capture: bool = False, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a command at the repository's root, without what an activated environment or a user's Blender set."""
    dropped = ("VIRTUAL_ENV", "PYTHON", "__PYVENV", "BLENDER_")
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(dropped)}
    return subprocess.run(
        command, cwd=ROOT, env=kept | variables, capture_output=capture, encoding="utf-8", errors="replace"
    )


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
    """The base interpreter of this version (never that of a virtual environment), able to make environments."""
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


def read_settings() -> tuple[dict[str, Blender], dict[str, list[str]]]:
    """The Blenders, oldest first, and the groups of requirements in pyproject.toml."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    table = settings["tool"]["sylpheed"]["blender"]
    blenders = {version: Blender(version, **row) for version, row in table.items()}
    return blenders, settings["dependency-groups"]


def default_blender() -> Blender:
    """The newest Blender that fits the running Python, else one whose Python is on the machine."""
    running = "{}.{}".format(*sys.version_info[:2])
    newest_first = list(reversed(read_settings()[0].values()))
    for blender in sorted(newest_first, key=lambda blender: blender.python != running):
        if find_python(blender.python):
            return blender
    pythons = " or ".join(sorted({blender.python for blender in newest_first}))
    raise Failure(
        f"Blender's module needs Python {pythons} with venv and ensurepip, and this machine has none: "
        f"install one of them, from python.org or your system's packages (this is {running})"
    )


def prepare(blender: Blender, home: Path = VENV) -> str:
    """Makes or reuses the environment of a Blender, sees that `import bpy` works, returns its interpreter.

    Requirements are written into the environment last of all: one that was left half-made has no such file, one that
    was made for others has a different one, and either is made anew.
    """
    groups = read_settings()[1]
    requirements = groups["test"] + (groups["lint"] if home == VENV else []) + blender.requirements
    base = find_python(blender.python)
    if base is None:
        raise Failure(missing_python(blender))
    python = str(home / ("Scripts/python.exe" if WINDOWS else "bin/python"))
    stamp = home / "sylpheed-requirements.txt"
    wanted = "\n".join([f"# Python {blender.python}", *requirements, ""])
    if not (stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted and starts(python)):
        remove_environment(home)
        say(f"installing into {home.relative_to(ROOT)} (Python {blender.python}): {', '.join(requirements)}")
        install = [python, "-I", "-m", "pip", "install", "-q", "-q", "--disable-pip-version-check", *requirements]
        for command in ([base, "-I", "-m", "venv", str(home)], install):
            if run(command).returncode:
                raise Failure(f"the environment of Blender {blender.version} can't be made, see the lines above")
        stamp.write_text(wanted, encoding="utf-8")
    check_bpy(python, blender)
    return python


def missing_python(blender: Blender) -> str:
    """Why a Blender can't run here, and what would change that."""
    return f"it needs Python {blender.python} with venv and ensurepip, which isn't on this machine"


def starts(python: str) -> bool:
    """Whether an environment's interpreter still works: its base may have been uninstalled since."""
    return Path(python).is_file() and run([python, "-I", "-c", ""]).returncode == 0


def remove_environment(home: Path) -> None:
    """Empties an environment's folder, but for the other Blenders' environments inside .venv."""
    for path in home.iterdir() if home.is_dir() else []:
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif not path.name.startswith("blender-"):
            shutil.rmtree(path)


def check_bpy(python: str, blender: Blender) -> None:
    """Imports bpy in a process of its own, and gets the system libraries where that is what's missing."""
    command = [python, "-I", "-c", "import bpy; print('imported', flush=True)"]
    result = run(command, capture=True)
    missing = re.search(r"(lib\S+): cannot open shared object file", result.stderr)
    if missing and "imported" not in result.stdout:
        install_system_libraries(missing[1])
        result = run(command, capture=True)
    if "imported" not in result.stdout:
        reason = (result.stderr.strip().splitlines() or [f"exit status {result.returncode}"])[-1]
        raise Failure(f"`import bpy` of Blender {blender.version} fails: {reason}")


def install_system_libraries(missing: str) -> None:
    """Installs what bpy needs from Debian's packages if that is allowed here, else says how."""
    install = ["apt-get", "install", "-y", "--no-install-recommends", *SYSTEM_LIBRARIES]
    if not shutil.which("apt-get") or os.geteuid() != 0:
        raise Failure(f"Blender needs {missing}; on Debian or Ubuntu run: sudo {' '.join(install)}")
    say(f"Blender needs {missing}, installing: {' '.join(SYSTEM_LIBRARIES)}")
    for command in (["apt-get", "update", "-q"], install):
        if run(command, DEBIAN_FRONTEND="noninteractive").returncode:
            raise Failure(f"`{' '.join(command)}` failed, see the lines above")


# ---- tests ----


def lint(python: str, archive: Path) -> str:
    """ruff on everything, mypy on core/ and on the add-on as shipped. Returns the summary's words."""
    stage = VENV / "stage"
    shutil.rmtree(stage, ignore_errors=True)
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(stage / "sylpheed_collision")
    failed = []
    for tool, arguments in (
        ("ruff", ["check", "."]),
        ("mypy", ["core", "build.py"]),
        ("mypy", ["-p", "sylpheed_collision"]),
    ):
        result = run([python, "-I", "-m", tool, *arguments], capture=True, MYPYPATH=str(stage))
        # Findings are about the copy, the reader wants the source.
        say(result.stdout.replace(str(Path(".venv", "stage", "sylpheed_collision")), "blender_addon") + result.stderr)
        if result.returncode:
            failed.append(f"{tool} {' '.join(arguments)}")
    if failed:
        raise Failure("; ".join(failed))
    return "ruff, mypy passed"


def run_pytest(python: str, archive: Path, tests: list[str], arguments: list[str]) -> str:
    """One pytest process. Returns the counts for the summary.

    The tests save their outcome in a file, because Blender's module may crash while Python shuts down, when
    everything has been tested; a crash before that leaves no file and is a failure.
    """
    with tempfile.TemporaryDirectory() as folder:
        outcome_file = Path(folder) / "outcome.json"
        command = [python, "-I", "-m", "pytest", *tests, *arguments]
        exit_code = run(command, SYLPHEED_ZIP=str(archive), SYLPHEED_OUTCOME=str(outcome_file)).returncode
        if not outcome_file.is_file():
            raise Failure(f"stopped before the end of the tests, exit status {exit_code}")
        outcome = json.loads(outcome_file.read_text(encoding="utf-8"))
    counts = ", ".join(f"{count} {what}" for what, count in outcome["counts"].items()) or "no test"
    none_selected = outcome["status"] == 5 and arguments  # say `-k hull`, which only one part has
    if outcome["status"] != 0 and not none_selected:
        raise Failure(counts)
    return counts + (" (Python crashed on leaving, after the tests)" if exit_code != outcome["status"] else "")


def test(wanted: list[str], pytest_arguments: list[str]) -> None:
    """Every test. Raises `Failure` after the summary if anything failed."""
    blenders, _ = read_settings()
    if unknown := set(wanted) - {"all", *blenders}:
        raise Failure(f"no Blender {', '.join(sorted(unknown))} in pyproject.toml, there are {', '.join(blenders)}")
    default = default_blender()
    chosen = [b for b in blenders.values() if b.version in (wanted or [default.version]) or "all" in wanted]
    left_out = [b for b in chosen if b.version not in wanted and not find_python(b.python)]
    for blender in left_out:
        say(f"Blender {blender.version} is left out: {missing_python(blender)}")
    archive = build_zip()
    python = prepare(default)
    summary, failures = [], []

    def part(name: str, work: Callable[..., str], *arguments: object) -> None:
        say(f"\n---- {name} ----")
        start = time.monotonic()
        try:
            outcome = work(*arguments)
        except Failure as failure:
            outcome = f"FAILED: {failure}"
            failures.append(name)
            say(f"{name}: {outcome}")
        summary.append(f"{name:<11}  {time.monotonic() - start:4.0f} s  {outcome}")

    def tests_in(blender: Blender) -> str:
        own = python if blender == default else prepare(blender, VENV / f"blender-{blender.version}")
        return run_pytest(own, archive, ["tests/blender"], pytest_arguments)

    part("lint", lint, python, archive)
    part("core tests", run_pytest, python, archive, ["tests", "--ignore", "tests/blender"], pytest_arguments)
    for blender in chosen:
        if blender not in left_out:
            part(f"Blender {blender.version}", tests_in, blender)

    if pytest_arguments and not failures and all("no test" in line for line in summary[1:]):
        failures.append(f"{' '.join(pytest_arguments)} selects no test")
    summary += [f"Blender {blender.version:<3}  left out, {missing_python(blender)}" for blender in left_out]
    say("\n".join(["", "---- summary ----", *summary]))
    if failures:
        raise Failure(f"failed: {', '.join(failures)}")


def run_tool(name: str, arguments: list[str]) -> int:
    """Runs a script of tools/ in the default Blender's environment; the repository root is importable."""
    python = prepare(default_blender())
    return run([python, str(Path("tools", name)), *arguments], PYTHONPATH=str(ROOT)).returncode


def main(arguments: list[str]) -> int:
    """Runs one command, returns the exit status."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    own, for_pytest = arguments[:split], arguments[split + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", default="zip", choices=["zip", "test", "demo", "bench"])
    parser.add_argument("--blender", action="append", default=[], metavar="VERSION", help="for test: 4.2, ... or all")
    options = parser.parse_args(own)
    if options.command != "test" and (options.blender or for_pytest):
        parser.error("--blender and -- go with test only")
    try:
        if options.command == "test":
            test(options.blender, for_pytest)
        elif options.command == "demo":
            return run_tool("demo.py", ["--zip", str(build_zip()), "--out", "demo"])
        elif options.command == "bench":
            return run_tool("bench.py", ["--zip", str(build_zip())])
        else:
            build_zip()
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
