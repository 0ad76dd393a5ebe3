"""Rows of the bench: what start-up takes, of the core and of the extension."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.bench_measuring import Row, ratio_of

START = """
import time, sys
{before}
start = time.perf_counter()
{work}
print(time.perf_counter() - start)
"""


def start_up(zip_path: Path) -> list[Row]:
    """What importing core and enabling the extension take, each in Pythons of their own."""

    def measure(work: str, before: str = "") -> float:
        command = [sys.executable, "-c", START.format(work=work, before=before)]
        # As for a user, who has compiled code from the second start on.
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, env=kept)
        return float(done.stdout.split()[-1])

    def alternate(first: tuple[str, str], second: tuple[str, str], rounds: int) -> float:
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            for taken, (work, before) in zip(times, (first, second), strict=True):
                taken.append(measure(work, before))
        return ratio_of(*times)

    install = f"""
import bpy, numpy, addon_utils
bpy.ops.extensions.package_install_files(filepath={str(zip_path)!r}, repo="user_default", enable_on_install=False)
"""
    enable = 'assert addon_utils.enable("bl_ext.user_default.sylpheed_collision")'
    measure("pass", install)
    ready = "import bpy, numpy, addon_utils"
    imported = alternate(("import core, core.formats.mcol", ""), ("import numpy", ""), 15)
    milliseconds = min(1000 * measure(enable, ready) for _ in range(10))
    return [
        Row("import core and its hulls", "importing numpy", 1.2, imported),
        Row("enable the extension", "60 ms of its own", 1.0, milliseconds / 60, f"{milliseconds:.1f} ms"),
    ]
