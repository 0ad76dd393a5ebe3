"""The folder of stand-in files that `sample` writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..disk.files import make_folder, write_file
from ..formats import collision_set, mcol
from .game import ARCHIVE_FILES, sample_navigation, write_collision, write_tables
from .hulls import MAPS, sample_hull
from .sets import sample_set
from .stand_in_record import digest, digests, record, require_stand_in

Progress = Callable[[int, int, str], None]
"""Called before each file with its number from 0, how many there are, and its name."""


def write_sample(folder: str | Path, seed: int = 1, progress: Progress | None = None) -> list[Path]:
    """Writes the stand-in files below `folder`, which is created if it is missing: the paths that were written.

    Raises `FormatError` if the folder holds anything but a stand-in that was written here, if it can't be created, or
    if a file can't be written.
    """
    root = Path(folder)
    loose = [f"loose/{name}" for name in (*(f"{row.name}.col" for row in MAPS), "CollisionSet_S01.bin")]
    known = require_stand_in(root, (*loose, *ARCHIVE_FILES))
    for place in ("loose", "hidden", "dat"):
        make_folder(root / place)
    report = progress or (lambda number, count, name: None)
    count = len(MAPS) + 3
    hulls: dict[str, tuple[bytes, bytes]] = {}
    files: dict[str, bytes] = {}
    for number, (row, name) in enumerate(zip(MAPS, loose, strict=False)):
        report(number, count, f"{row.name}.col")
        files[name] = mcol.encode(sample_hull(row, seed))
        hulls[row.name] = files[name], sample_navigation(files[name])
    report(count - 3, count, "CollisionSet_S01.bin")
    set_data = files[loose[-1]] = collision_set.encode(sample_set(seed))
    record(root, known | set(map(digest, files.values())))  # what is half done when it is stopped stays known
    for name, data in files.items():
        write_file(root / name, data)
    report(count - 2, count, "MiscBin.pak")
    collision = write_collision(root, hulls, set_data)
    record(root, known | digests(root, (*loose, *ARCHIVE_FILES)))
    report(count - 1, count, "GP_MAIN_GAME_E.pak")
    tables = write_tables(root)
    record(root, digests(root, (*loose, *ARCHIVE_FILES)))
    return [*(root / name for name in files), collision, tables]
