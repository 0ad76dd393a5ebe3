"""The test run: lint, the core's tests, the tests in each Blender; as many parts at once as the machine has cores."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tools.environments import VENV, default_blender, find_python, missing_python, prepare, read_blenders
from tools.extension import build_zip
from tools.processes import Failure, run_into, say

BLENDER_TESTS, TRUST_TESTS = "tests/blender", "tests/trust"
HEAVY = "heavy"
"""The marker of tests on the largest files: where several Blenders are tested, the oldest and the newest run them."""


@dataclass(frozen=True)
class Part:
    """A part of the run: its name, and what does it. The work writes into a log and returns the summary's words."""

    name: str
    work: Callable[[IO[bytes]], str]


# ---- lint ----


def lint() -> None:
    """ruff, its formatter and mypy. Raises `Failure` that names what found something."""
    python = prepare(default_blender(), ("test", "lint"), with_bpy=False)
    _run_parts([_lint_part(python, build_zip())])


def _lint_part(python: str, archive: Path) -> Part:
    def work(log: IO[bytes]) -> str:
        stage = VENV / "stage"
        shutil.rmtree(stage, ignore_errors=True)
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(stage / "sylpheed_collision")
        failed = [
            f"{tool} {' '.join(arguments)}"
            for tool, arguments in (
                ("ruff", ["check", "."]),
                ("ruff", ["format", "--check", "-q", "."]),
                ("mypy", ["core", "build.py"]),
                ("mypy", ["-p", "sylpheed_collision"]),
            )
            if run_into(log, [python, "-I", "-m", tool, *arguments], MYPYPATH=str(stage))
        ]
        if failed:
            raise Failure("; ".join(failed))
        return "ruff, its formatter and mypy passed"

    return Part("lint", work)


# ---- tests ----


def test_quickly(arguments: list[str]) -> None:
    """Lint, and the core's tests without the trust tests. Raises `Failure` after the summary if anything failed."""
    python = prepare(default_blender(), ("test", "lint"), with_bpy=False)
    archive = build_zip()
    ignored = ["--ignore", BLENDER_TESTS, "--ignore", TRUST_TESTS]
    _run_parts(
        [_pytest_part("core tests", python, archive, ["tests", *ignored], arguments), _lint_part(python, archive)]
    )


def test(wanted: list[str], arguments: list[str]) -> None:
    """Every test. `wanted` are versions of Blender, or "all"; none is the default one. `arguments` go to pytest.

    Raises `Failure` after the summary if anything failed.
    """
    blenders = read_blenders()
    if unknown := set(wanted) - {"all", *blenders}:
        raise Failure(f"no Blender {', '.join(sorted(unknown))} in pyproject.toml, there are {', '.join(blenders)}")
    default = default_blender()
    chosen = [b for b in blenders.values() if b.version in (wanted or [default.version]) or "all" in wanted]
    left_out = [b for b in chosen if b.version not in wanted and not find_python(b.python)]
    for blender in left_out:
        say(f"Blender {blender.version} is left out: {missing_python(blender)}")
    archive = build_zip()
    python = prepare(default, ("test", "lint"))

    # The longest first, so that none of them is left alone at the end.
    present = [blender for blender in chosen if blender not in left_out]
    parts = []
    for blender in present:
        light = [] if blender in (present[0], present[-1]) else ["-m", f"not {HEAVY}"]
        own = python if blender == default else prepare(blender, ("test",))
        parts.append(_pytest_part(f"Blender {blender.version}", own, archive, [BLENDER_TESTS, *light], arguments))
    parts.append(_pytest_part("trust tests", python, archive, [TRUST_TESTS], arguments))
    others = ["tests", "--ignore", BLENDER_TESTS, "--ignore", TRUST_TESTS]
    parts.append(_pytest_part("core tests", python, archive, others, arguments))
    parts.append(_lint_part(python, archive))
    _run_parts(parts, [f"Blender {blender.version:<4} left out, {missing_python(blender)}" for blender in left_out])


def _pytest_part(name: str, python: str, archive: Path, tests: list[str], arguments: list[str]) -> Part:
    """A pytest process of its own, with a folder of its own for temporary files.

    The tests save their outcome in a file, because Blender's module may crash while Python shuts down, when
    everything has been tested; a crash before that leaves no file and is a failure.
    """

    def work(log: IO[bytes]) -> str:
        with tempfile.TemporaryDirectory(prefix="sylpheed-tests-", ignore_cleanup_errors=True) as folder:
            outcome_file = Path(folder) / "outcome.json"
            variables = {"SYLPHEED_ZIP": str(archive), "SYLPHEED_OUTCOME": str(outcome_file)}
            variables |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)
            exit_code = run_into(log, [python, "-I", "-m", "pytest", *tests, *arguments], **variables)
            if not outcome_file.is_file():
                raise Failure(f"stopped before the end of the tests, exit status {exit_code}")
            outcome = json.loads(outcome_file.read_text(encoding="utf-8"))
        counts = ", ".join(f"{count} {what}" for what, count in outcome["counts"].items()) or "no test"
        none_selected = outcome["status"] == 5 and arguments  # say `-k hull`, which only one part has
        if outcome["status"] != 0 and not none_selected:
            raise Failure(counts)
        return counts + (" (Python crashed on leaving, after the tests)" if exit_code != outcome["status"] else "")

    return Part(name, work)


# ---- parts ----


def _run_parts(parts: Sequence[Part], more_lines: Sequence[str] = ()) -> None:
    """Runs parts side by side, prints the output of each when it ends, then a summary in their order.

    Raises `Failure` that names the parts that failed, or if pytest's arguments select no test of any part.
    """
    lines: dict[str, str] = {}
    failures, tested = [], []
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        running = {pool.submit(_run_part, part): part for part in parts}
        for future in as_completed(running):
            part, (outcome, failed, output, seconds) = running[future], future.result()
            say(f"\n---- {part.name} ----\n{output.rstrip()}")
            lines[part.name] = f"{part.name:<12} {seconds:4.0f} s  {outcome}"
            failures += [part.name] if failed else []
            tested += [part.name] if part.name != "lint" and outcome != "no test" else []
    say("\n".join(["", "---- summary ----", *(lines[part.name] for part in parts), *more_lines]))
    if failures:
        raise Failure(f"failed: {', '.join(failures)}")
    if not tested and len(parts) > 1:
        raise Failure("the arguments for pytest select no test")


def _run_part(part: Part) -> tuple[str, bool, str, float]:
    """The summary's words, whether the part failed, its output, and the seconds that it took."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as log:
        try:
            outcome, failed = part.work(log), False
        except Failure as failure:
            outcome, failed = f"FAILED: {failure}", True
        log.seek(0)
        return outcome, failed, log.read().decode("utf-8", "replace"), time.monotonic() - start
