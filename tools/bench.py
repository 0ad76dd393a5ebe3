"""The speed table: `python build.py bench` runs this.

Each figure is a ratio to a peer, measured in turns with it in this one run; seconds would say more about the
machine than about the code. A run has three parts, each in processes of its own, since a process may be lucky or not
with its memory for as long as it lives: the figure is their median, the noise how far they lie from it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from tools.bench_imports import hull_import_row, mod_row, scene_rows, set_rows
from tools.bench_measuring import Row, quiet, quietly
from tools.bench_navigation import navigation_rows
from tools.bench_reading import memory_row, reading_rows
from tools.bench_rebuild import rebuild_rows
from tools.bench_start import start_up

PARTS = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zip", type=Path, required=True, help="the built extension")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if options.part is None:
            print_table(merge([run_part(number) for number in range(PARTS)]))
        else:
            os.environ["BLENDER_USER_RESOURCES"] = str(folder / "user")  # read by Blender while it is imported
            rows = start_up(options.zip.resolve()) + all_rows(options.zip.resolve(), folder, once=options.part == 0)
            print(json.dumps([asdict(row) for row in rows]))
    return 0


def run_part(number: int) -> list[Row]:
    done = subprocess.run([*sys.orig_argv, "--part", str(number)], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return [Row(**row) for row in json.loads(done.stdout.splitlines()[-1])]


def merge(parts: list[list[Row]]) -> list[Row]:
    """The rows of a whole run: for each line of the first part, the median of all of them, with its noise."""
    merged = []
    for first in parts[0]:
        alike = sorted(
            (row for part in parts for row in part if (row.work, row.against) == (first.work, first.against)),
            key=lambda row: row.ratio,
        )
        middle = alike[len(alike) // 2]
        noise = max(abs(row.ratio - middle.ratio) for row in alike) / middle.ratio if len(alike) > 1 else None
        merged.append(replace(middle, noise=noise))
    return merged


def all_rows(zip_path: Path, folder: Path, once: bool) -> list[Row]:
    """All but the start-up. `once` includes what takes too long to be measured in each part."""
    import bpy

    from core.samples.folder import write_sample

    quietly(
        bpy.ops.extensions.package_install_files, filepath=str(zip_path), repo="user_default", enable_on_install=True
    )
    write_sample(folder / "game")
    # As in a Blender that has worked for a while: memory that was free before is kept for later arrays.
    np.ones(30 << 20, np.uint8)
    with quiet():
        rows = set_rows(bpy, folder)
        rows += [hull_import_row(bpy, folder), mod_row(bpy, folder)]
        rows += scene_rows(bpy, folder) if once else []
    hull_rows, memory = rebuild_rows(once)
    rows += hull_rows + navigation_rows(once) + reading_rows(folder, memory)
    return rows + ([memory_row(memory)] if once else [])


def print_table(rows: list[Row]) -> None:
    cells = [("work", "against", "ratio", "reach", "noise", "")]
    for row in rows:
        noise = "" if row.noise is None else f"±{100 * row.noise:.0f} %"
        verdict = "" if row.ratio <= row.bound else "NOT REACHED"
        remark = ", ".join(filter(None, (verdict, row.note)))
        cells.append((row.work, row.against, f"{row.ratio:.2f}", f"{row.bound:.2f}", noise, remark))
    widths = [max(len(line[column]) for line in cells) for column in range(6)]
    for line in cells:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


if __name__ == "__main__":
    sys.exit(main())
