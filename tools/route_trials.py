"""Random routes through navigation volumes of edited hulls. The test suite tries some; this tries as many as one likes.

python -m tools.route_trials --pairs 1000                       patched and rebuilt volumes of five edited hulls
python -m tools.route_trials --pairs 1000 --hull S14_p2_AsteroidVolume_wp
python -m tools.route_trials --volume F.rgn --hull NAME         patches this volume, not a rebuilt one

A line for each volume: routes, how many are straight, how many aren't found, how many a ship of radius 1 can't fly, and
for how many pairs the answer isn't what the regions of free space say.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def main() -> int:
    from core.formats import regn, regn_contents
    from core.navigation.build import build
    from core.navigation.patch import patch
    from tests.support.edited_hulls import EDITS, edited
    from tests.support.volumes import ROCKS, hull, volume

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hull", default=ROCKS, help="a hull in tests/data")
    parser.add_argument("--volume", type=Path, help="a volume of that hull")
    options = parser.parse_args()
    faults = 0
    source = options.volume.read_bytes() if options.volume else volume(options.hull)
    for name in EDITS:
        new = edited(name, options.hull)
        begun = time.perf_counter()
        patched = patch(regn.decode(source), hull(options.hull), new).data
        faults += report(f"{name}, patched", new, patched, time.perf_counter() - begun, options)
        begun = time.perf_counter()
        data = regn_contents.encode(build(new), new.grid)
        faults += report(f"{name}, rebuilt", new, data, time.perf_counter() - begun, options)
    return 1 if faults else 0


def report(what: str, hull, data: bytes, taken: float, options: argparse.Namespace) -> int:
    """Prints the line of a volume and returns how many routes are at fault. In a rebuilt volume a route has to exist
    where both ends lie in one region."""
    from tests.support.routes import blocked, routes, same_region

    found = routes(hull, data, options.pairs, options.seed)
    touching = blocked(hull, found)
    there = np.array([route.found for *_, route in found])
    wrong = np.flatnonzero(there != same_region(data, found)) if what.endswith("rebuilt") else np.zeros(0, int)
    straight = sum(route.straight for *_, route in found)
    print(
        f"{what:20} {taken:6.2f} s, {len(found):,} pairs: {straight:,} straight, {int((~there).sum()):,} not found, "
        f"{len(touching):,} touch rock, {len(wrong):,} against the regions {touching[:3]} {wrong[:3].tolist()}",
        flush=True,
    )
    return len(touching) + len(wrong)


if __name__ == "__main__":
    sys.exit(main())
