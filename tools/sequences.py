"""Tries random sequences of edits in real Blender, any number of them: what is exported must be what the view shows.

python build.py
python tools/sequences.py 1000                 seeds 0 to 999
python tools/sequences.py 1 --first 4711 -v    one sequence, its steps printed

Run it by a Python that has Blender's module, bpy, at the repository's root. The tests try 300 of them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ["BLENDER_USER_RESOURCES"] = folder  # read by Blender while it is imported
        return try_all(options.first, options.count, options.verbose)


def try_all(first: int, count: int, verbose: bool) -> int:
    """Tries that many sequences, prints the faults, and returns 1 if there is one."""
    import bpy

    from tests.blender.sequences import try_sequence

    archives = sorted((ROOT / "dist").glob("*.zip"), key=lambda path: path.stat().st_mtime)
    if not archives:
        sys.exit("error: dist holds no extension; run: python build.py")
    bpy.ops.extensions.package_install_files(filepath=str(archives[-1]), repo="user_default", enable_on_install=True)
    package = sys.modules["bl_ext.user_default.sylpheed_collision"]
    found: Counter = Counter()
    for seed in range(first, first + count):
        bpy.ops.wm.read_homefile(use_empty=True)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            outcome = try_sequence(seed, package)
        found["refused" if outcome.refused else "exported"] += 1
        if outcome.fault:
            found["faults"] += 1
        if outcome.fault or verbose:
            print(f"{seed}: {', '.join(outcome.steps)}: {outcome.fault or outcome.refused or 'as shown'}", flush=True)
    print(", ".join(f"{number:,} {what}" for what, number in found.items()))
    return int(bool(found["faults"]))


if __name__ == "__main__":
    sys.exit(main())
