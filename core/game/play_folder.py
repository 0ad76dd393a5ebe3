"""The copy of the game that is played: a mod's files are put there, and the originals put back.

Each file that a mod replaces is kept once as `NAME.orig`. `sylpheed-deployed.json` beside them records the digest of
what was deployed, so that a file that something else changed since isn't taken for an original.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..disk.same_file import is_inside, same_file
from ..disk.system_errors import system_error
from ..disk.transaction import Writer, replace_files
from ..errors import FormatError, RefusedError
from .game_folder import find_game

ORIGINAL = ".orig"
RECORD = "sylpheed-deployed.json"
GROUP = "sylpheed-deploy"
FOLDERS = ("hidden", "dat")
"""The folders of the disc that a mod may have files in."""

AT_ONCE = 1 << 20

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Deployed:
    """The files that were written, and those of them whose originals were kept by this run."""

    files: tuple[Path, ...]
    kept: tuple[Path, ...]


def deploy(mod: str, play: str, game: str = "", progress: Progress | None = None) -> Deployed:
    """Copies the files of a mod folder into the play folder. Originals are kept as `NAME.orig`, once.

    Raises `SylpheedError`, and the play folder is as it was then: if it is no game folder, is the game folder or the
    mod folder or lies in or around one of them, if the mod folder holds no mod, if something else changed a file there
    since the last deployment, or for the system's reason.
    """
    root = _play_root(play, game, mod)
    plan = dict(_plan(mod, root))
    if not plan:
        raise RefusedError("the mod folder holds no mod yet", file=mod, remedy="export a mod into it first")
    total = sum(source.stat().st_size for sources in plan.values() for source in sources.values())
    report = _counter(progress, total)
    files: list[Path] = []
    kept: list[Path] = []
    for folder, sources in plan.items():
        record = _read_record(folder)
        writers: dict[str, Writer | None] = {}
        digests = dict(record)
        for name, source in sources.items():
            target, original = folder / name, folder / (name + ORIGINAL)
            if target.exists() and not original.exists():
                writers[name + ORIGINAL] = _copy(target, report)
                kept.append(original)
            elif target.exists():
                _require_ours(target, original, record)
            digests[name] = _digest(source)
            writers[name] = _copy(source, report)
            files.append(target)
        writers[RECORD] = _text(json.dumps(digests, indent=1, sort_keys=True))
        replace_files(folder, GROUP, writers, backup=False)
    return Deployed(tuple(files), tuple(kept))


def restore(play: str, game: str = "", progress: Progress | None = None) -> tuple[Path, ...]:
    """Puts the originals back, and deletes what was deployed where the game had no file: the files concerned.

    Raises `SylpheedError`, and the play folder is as it was then: if it is no game folder, is the game folder, if
    nothing was deployed there, or for the system's reason.
    """
    root = _play_root(play, game, "")
    plan = {folder: _kept_in(folder) for folder in _folders(root)}
    names = {folder: [*originals, *(set(_read_record(folder)) - set(originals))] for folder, originals in plan.items()}
    if not any(names.values()):
        raise RefusedError("nothing was deployed into this folder", file=str(root))
    total = sum((folder / (name + ORIGINAL)).stat().st_size for folder, kept in plan.items() for name in kept)
    report = _counter(progress, total)
    restored: list[Path] = []
    for folder, kept in plan.items():
        if not names[folder]:
            continue
        writers: dict[str, Writer | None] = {}
        for name in names[folder]:
            original = folder / (name + ORIGINAL)
            if name in kept:
                writers[name] = _copy(original, report)
                writers[name + ORIGINAL] = None
            elif (folder / name).exists():
                writers[name] = None
            restored.append(folder / name)
        if (folder / RECORD).exists():
            writers[RECORD] = None
        replace_files(folder, GROUP, writers, backup=False)
    return tuple(restored)


def is_deployed(play: str) -> bool:
    """Whether a folder holds a deployed mod, as far as it can be read."""
    try:
        root = find_game(play).root
    except FormatError:
        return False
    return any(_kept_in(folder) or (folder / RECORD).is_file() for folder in _folders(root))


def _play_root(play: str, game: str, mod: str) -> Path:
    if not play:
        raise RefusedError("no play folder is named", remedy="choose the copy of the game that the emulator runs")
    root = find_game(play).root
    if not any(_folders(root)):
        raise FormatError("not a game folder", file=str(root), expected="the folder hidden in it")
    for other, what in ((game, "game folder"), (mod, "mod folder")):
        if other and os.path.exists(other) and (is_inside(root, other) or is_inside(other, root)):
            same = same_file(root, other)
            raise RefusedError(
                f"the play folder is the {what}" if same else f"play folder and {what} lie in each other",
                file=str(root),
                remedy="choose the copy of the game that the emulator runs",
            )
    return root


def _folders(root: Path) -> list[Path]:
    """The folders of a game that a mod may change, in whatever case they are written."""
    with os.scandir(root) as entries:
        return sorted(Path(entry.path) for entry in entries if entry.is_dir() and entry.name.lower() in FOLDERS)


def _plan(mod: str, root: Path) -> Iterator[tuple[Path, dict[str, Path]]]:
    """For each folder of the game the files of the mod that go there, by the names that they have there."""
    if not os.path.isdir(mod):
        raise FormatError("there is no such folder", file=mod, remedy="choose the folder of the mod")
    there = {folder.name.lower(): folder for folder in _folders(root)}
    for source in _folders(Path(mod)):
        target = there.get(source.name.lower())
        if target is None:
            raise RefusedError(f"the play folder has no folder {source.name}", file=str(root))
        known = {name.lower(): name for name in os.listdir(target)}
        files = {
            known.get(path.name.lower(), path.name): path for path in sorted(source.iterdir()) if _is_of_a_mod(path)
        }
        if files:
            yield target, files


def _is_of_a_mod(path: Path) -> bool:
    """Whether a file belongs to the game's layout: no backup, no journal, nothing hidden."""
    name = path.name
    left = name.startswith(".") or name.endswith(("~", ORIGINAL, ".bak")) or name == RECORD
    return path.is_file() and not left


def _kept_in(folder: Path) -> list[str]:
    """The names of the files whose originals a folder keeps."""
    names = [name for name in os.listdir(folder) if name.endswith(ORIGINAL) and name != ORIGINAL]
    return sorted(name.removesuffix(ORIGINAL) for name in names if (folder / name).is_file())


def _require_ours(target: Path, original: Path, record: dict[str, str]) -> None:
    """Raises `RefusedError` where a file is neither what was deployed nor the original."""
    digest = _digest(target)
    if digest not in (record.get(target.name), _digest(original)):
        raise RefusedError(
            "was changed by something else since the last Deploy",
            file=str(target),
            remedy=f"restore the originals first, or delete {original.name} if the file is the new original",
        )


def _read_record(folder: Path) -> dict[str, str]:
    """The digests of what was deployed into a folder, by name; none where the record is missing or damaged."""
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    plain = {name: digest for name, digest in found.items() if isinstance(digest, str)}
    return {name: digest for name, digest in plain.items() if name == os.path.basename(name) and name not in ("", "..")}


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise system_error(error, "can't be read", path) from error


def _copy(source: Path, report: Callable[[int], None]) -> Writer:
    def write(target: BinaryIO) -> None:
        with source.open("rb") as stream:
            while block := stream.read(AT_ONCE):
                target.write(block)
                report(len(block))

    return write


def _text(text: str) -> Writer:
    return lambda stream: stream.write(text.encode())


def _counter(progress: Progress | None, total: int) -> Callable[[int], None]:
    done = 0

    def report(count: int) -> None:
        nonlocal done
        done += count
        if progress:
            progress(min(done / max(total, 1), 1.0))

    return report
