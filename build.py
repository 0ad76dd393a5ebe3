"""Builds, tests and shows the Sylpheed Collision extension. Needs Python 3.11 or newer and nothing else.

python build.py                        builds dist/sylpheed_collision-<version>.zip
python build.py lint                   runs ruff, its formatter and mypy
python build.py test                   runs every test, with one Blender that fits this Python
python build.py test --blender all     ... with every Blender named in pyproject.toml
python build.py test --blender 4.2     ... with this one; may be repeated
python build.py test --quick           lint and the core's tests only, without Blender and the trust tests
python build.py test -- -k hull        ... and passes what follows `--` to pytest
python build.py demo                   the main job from end to end, in real Blender
python build.py bench                  the speed table
python build.py manual                 writes docs/manual.html, the page of docs/MANUAL.md that the extension holds
python build.py release                checks a release and writes the repository that users get updates from

With SYLPHEED_GAME=DIR, the folder of an extracted disc, the tests run on the game's own files too.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - this file has to parse on older ones to say so
    sys.exit(f"build.py needs Python 3.11 or newer, this is {sys.version.split()[0]} ({sys.executable})")

from tools.environments import default_blender, prepare
from tools.extension import build_zip
from tools.processes import ROOT, Failure, run
from tools.release import release
from tools.testing import lint, test, test_quickly


def run_tool(name: str, arguments: list[str]) -> int:
    """Runs a script of tools/ in the default Blender's environment; the repository root is importable."""
    python = prepare(default_blender())
    return run([python, str(Path("tools", name)), *arguments], PYTHONPATH=str(ROOT)).returncode


def main(arguments: list[str]) -> int:
    """Runs one command, returns the exit status."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    own, for_pytest = arguments[:split], arguments[split + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = ["zip", "lint", "test", "demo", "bench", "manual", "release"]
    parser.add_argument("command", nargs="?", default="zip", choices=commands)
    parser.add_argument("--blender", action="append", default=[], metavar="VERSION", help="for test: 4.2, ... or all")
    parser.add_argument("--quick", action="store_true", help="for test: without Blender and the trust tests")
    options = parser.parse_args(own)
    if options.command != "test" and (options.blender or options.quick or for_pytest):
        parser.error("--blender, --quick and -- go with test only")
    if options.quick and options.blender:
        parser.error("--quick runs no Blender")
    try:
        return run_command(options, for_pytest)
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr, flush=True)
        return 1


def run_command(options: argparse.Namespace, for_pytest: list[str]) -> int:
    """Runs the command of parsed options, returns the exit status. Raises `Failure`."""
    match options.command:
        case "zip":
            build_zip()
        case "lint":
            lint()
        case "test" if options.quick:
            test_quickly(for_pytest)
        case "test":
            test(options.blender, for_pytest)
        case "demo":
            return run_tool("demo.py", ["--zip", str(build_zip()), "--out", "demo"])
        case "bench":
            return run_tool("bench.py", ["--zip", str(build_zip())])
        case "manual":
            prepare(default_blender(), ("test",), with_bpy=False)
            return run_tool("manual_page.py", [])
        case "release":
            release()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
