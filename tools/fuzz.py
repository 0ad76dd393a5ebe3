"""Fuzzes the readers of core/ for as long as one likes. Not a test: what it finds becomes one.

python tools/fuzz.py mutate --minutes 5            mutates whole files, every reader in turn; needs nothing more
python tools/fuzz.py hull --minutes 5              coverage-guided, one reader; needs `pip install atheris`
python tools/fuzz.py hull --minutes 5 --corpus DIR ... and keeps in DIR what reached new code

Readers: hull, set, navigation, table, archive, packed, relocation, obj, journal, survey. Run it at the repository's
root with its folder in PYTHONPATH, or by `python -m`. An input at fault is written to fuzz-faults/; put it into
tests/data/fuzz/READER/, where every test run reads it.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import sys
import tempfile
import time
import traceback
import tracemalloc
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
FAULTS = Path("fuzz-faults")
LONGEST = 20_000  # bytes: larger inputs teach nothing and cost speed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.reader == "mutate":
        return mutate(options.minutes, options.seed)
    return explore(options.reader, options.minutes, options.corpus, options.seed)


def mutate(minutes: float, seed: int) -> int:
    """Every reader in turn on damaged files, with an eye on memory and time."""
    from tests.fuzz.corpus import start
    from tests.fuzz.mutate import mutations
    from tests.fuzz.readers import FREE_BYTES, HANGS_AFTER, READERS, TIMES_INPUT, readable

    end, tried, taken, faults, most = time.monotonic() + 60 * minutes, 0, 0, 0, 0.0
    inputs = {reader: start(reader) for reader in READERS}
    tracemalloc.start()
    while time.monotonic() < end:
        for reader, starts in inputs.items():
            for data in mutations(starts, seed, 50):
                faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
                tracemalloc.reset_peak()
                before = tracemalloc.get_traced_memory()[0]
                try:
                    taken += readable(reader, data)
                    used = tracemalloc.get_traced_memory()[1] - before
                    most = max(most, used / (FREE_BYTES + TIMES_INPUT * len(data)))
                    assert used <= FREE_BYTES + TIMES_INPUT * len(data), f"{used:,} bytes for {len(data):,}"
                except Exception:
                    faults += 1
                    traceback.print_exc()
                    keep(reader, data)
                tried += 1
        seed += 1
    faulthandler.cancel_dump_traceback_later()
    print(f"{tried:,} inputs, {taken:,} could be read, {faults} faults, at most {most:.1%} of the memory allowed")
    return 1 if faults else 0


def explore(reader: str, minutes: float, corpus: Path | None, seed: int) -> int:
    """One reader, by inputs that reach code which none has reached before."""
    import atheris

    with atheris.instrument_imports(include=["core"]):
        from tests.fuzz.corpus import start
        from tests.fuzz.readers import HANGS_AFTER, readable

    def read(data: bytes) -> None:
        try:
            readable(reader, data)
        except Exception:
            keep(reader, data)
            raise

    with tempfile.TemporaryDirectory() as folder:
        found = corpus or Path(folder, "found")
        found.mkdir(parents=True, exist_ok=True)
        starts = Path(folder, "starts")
        starts.mkdir()
        for data in start(reader):
            (starts / hashlib.sha1(data).hexdigest()).write_bytes(data)
        FAULTS.mkdir(exist_ok=True)
        limits = [f"-max_total_time={int(60 * minutes)}", f"-timeout={HANGS_AFTER:.0f}", "-rss_limit_mb=1024"]
        limits += [
            f"-max_len={LONGEST}",
            f"-seed={seed}",
            f"-artifact_prefix={FAULTS}/{reader}-",
            "-print_final_stats=1",
        ]
        atheris.Setup([sys.argv[0], *limits, str(found), str(starts)], read)
        atheris.Fuzz()
    return 0


def keep(reader: str, data: bytes) -> None:
    FAULTS.mkdir(exist_ok=True)
    (FAULTS / f"{reader}-{hashlib.sha1(data).hexdigest()[:12]}").write_bytes(data)


if __name__ == "__main__":
    sys.exit(main())
