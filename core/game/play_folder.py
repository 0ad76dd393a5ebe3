"""The copy of the game that is played: a mod's files are put there, and the originals put back.

Each file that a mod replaces is kept once as `NAME.orig`. `sylpheed-deployed.json` beside them records the digest of
what was deployed, so that a file that something else changed since isn't taken for an original.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from ..disk.same_file import is_inside, same_file
from ..disk.system_errors import system_error
from ..disk.transaction import JOURNAL, Writer, recover, replace_files
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
    """The files that were written, those of them whose originals were kept by this run, and the files of an earlier
    deployment that this mod lacks and that are as the game had them again."""

    files: tuple[Path, ...]
    kept: tuple[Path, ...]
    put_back: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    """The SHA-256 digests of what was deployed and of the file that it replaced, None where the game had none."""

    deployed: str
    original: str | None


def deploy(mod: str, play: str, game: str = "", progress: Progress | None = None) -> Deployed:
    """Copies the files of a mod folder into the play folder. Originals are kept as `NAME.orig`, once.

    The files of one folder are replaced as one; all folders are examined before the first is changed. Raises
    `SylpheedError`, and the folder is as it was then: if it is no game folder, is the game folder or the mod folder or
    lies in or around one of them, if the mod folder holds no mod or an interrupted write, if something else changed a
    file since the last deployment, if an original is gone, or for the system's reason.
    """
    root = _play_root(play, game, mod)
    sources = dict(_plan(mod, root))
    if not sources:
        raise RefusedError("the mod folder holds no mod yet", file=mod, remedy="export a mod into it first")
    report = _Progress(progress)
    plans = [_deployment(folder, sources.get(folder, {}), report) for folder in _folders(root)]
    for plan in plans:
        if plan.writers:
            replace_files(plan.folder, GROUP, plan.writers, backup=False)
    return Deployed(
        tuple(path for plan in plans for path in plan.written),
        tuple(path for plan in plans for path in plan.kept),
        tuple(path for plan in plans for path in plan.put_back),
    )


def restore(play: str, game: str = "", progress: Progress | None = None) -> tuple[Path, ...]:
    """Puts the originals back, and deletes what was deployed where the game had no file: the files concerned.

    Raises `SylpheedError`, and the play folder is as it was then: if it is no game folder, is the game folder, if
    nothing was deployed there, if a file or its original was changed by something else, or for the system's reason.
    """
    root = _play_root(play, game, "")
    report = _Progress(progress)
    finished = [recover(folder, GROUP) for folder in _folders(root)]
    plans = [_restoration(folder, report) for folder in _folders(root)]
    if not any(plan.writers for plan in plans) and not any(finished):
        raise RefusedError("nothing was deployed into this folder", file=str(root))
    for plan in plans:
        if plan.writers:
            replace_files(plan.folder, GROUP, plan.writers, backup=False)
    return tuple(path for plan in plans for path in plan.put_back)


@dataclass(slots=True)
class _FolderPlan:
    """What is to be written into one folder, by file name, and how that is reported."""

    folder: Path
    writers: dict[str, Writer | None] = field(default_factory=dict)
    written: list[Path] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)
    put_back: list[Path] = field(default_factory=list)

    def put_original_back(self, name: str, entry: _Entry, report: _Progress) -> None:
        """Adds what makes a file as it was before the first deployment. Raises `RefusedError` where that would lose
        what something else wrote, or there is no original."""
        target, original = self.folder / name, self.folder / (name + ORIGINAL)
        now = _digest(target) if target.exists() else None
        if entry.original is None:
            if now is not None:
                _require_ours(target, now, entry)
                self.writers[name] = None
        elif original.exists():
            if _digest(original) != entry.original:
                raise RefusedError("isn't the original that Deploy kept", file=str(original), remedy=_BY_HAND)
            if now is not None:
                _require_ours(target, now, entry)
            self.writers[name] = report.copy(original)
            self.writers[name + ORIGINAL] = None
        elif now in (None, entry.deployed):
            raise RefusedError("the original is gone", file=str(original), remedy=_BY_HAND)
        else:
            return  # it is the original, or a newer one
        self.put_back.append(target)


_BY_HAND = "copy the file from the game folder and delete " + RECORD


def _deployment(folder: Path, sources: dict[str, Path], report: _Progress) -> _FolderPlan:
    recover(folder, GROUP)
    plan, record = _FolderPlan(folder), _read_record(folder)
    if not sources and not record:
        return plan
    for name, entry in record.items():
        if name not in sources:
            plan.put_original_back(name, entry, report)
    entries = {name: _entry(plan, name, source, record.get(name), report) for name, source in sources.items()}
    for name, source in sources.items():
        plan.writers[name] = report.copy(source)
        plan.written.append(folder / name)
    content = {name: {"deployed": entry.deployed, "original": entry.original} for name, entry in entries.items()}
    if content:
        plan.writers[RECORD] = _text(json.dumps(content, indent=1, sort_keys=True))
    else:
        plan.writers[RECORD] = None
    return plan


def _entry(plan: _FolderPlan, name: str, source: Path, before: _Entry | None, report: _Progress) -> _Entry:
    """The record of a file that is deployed. Its original is kept if it isn't yet."""
    target, original = plan.folder / name, plan.folder / (name + ORIGINAL)
    deployed = _digest(source)
    if not target.exists():
        return _Entry(deployed, _digest(original) if original.exists() else None)
    now = _digest(target)
    if original.exists():
        kept = _digest(original)
        _require_ours(target, now, before or _Entry(deployed, kept), kept)
        return _Entry(deployed, kept)
    if before and now == before.deployed:
        if before.original is None:
            return _Entry(deployed, None)
        if now != before.original:
            raise RefusedError("the original is gone", file=str(original), remedy=_BY_HAND)
    plan.writers[name + ORIGINAL] = report.copy(target)
    plan.kept.append(original)
    return _Entry(deployed, now)


def _restoration(folder: Path, report: _Progress) -> _FolderPlan:
    plan, record = _FolderPlan(folder), _read_record(folder)
    for name, entry in record.items():
        plan.put_original_back(name, entry, report)
    if not record:  # it is lost: what is kept are originals
        for name in _kept_in(folder):
            plan.writers[name] = report.copy(folder / (name + ORIGINAL))
            plan.writers[name + ORIGINAL] = None
            plan.put_back.append(folder / name)
    if (folder / RECORD).exists():
        plan.writers[RECORD] = None
    return plan


def is_deployed(play: str) -> bool:
    """Whether a folder holds a deployed mod or an interrupted deployment, as far as it can be read."""
    try:
        root = find_game(play).root
    except FormatError:
        return False
    return any(
        _kept_in(folder) or (folder / RECORD).is_file() or (folder / (GROUP + JOURNAL)).is_file()
        for folder in _folders(root)
    )


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
        if other and os.path.isdir(other):
            _require_other_folders(root, Path(other), what)
    return root


def _require_other_folders(root: Path, other: Path, what: str) -> None:
    """Raises `RefusedError` where a folder in the play folder is a link to one of another folder."""
    for folder in _folders(root):
        if any(same_file(folder, theirs) for theirs in _folders(other)):
            raise RefusedError(f"is the {what}'s own folder", file=str(folder), remedy="copy it, don't link it")


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
        if any(JOURNAL in name for name in os.listdir(source)):
            raise RefusedError("a write into it was interrupted", file=str(source), remedy="export the mod again")
        recover(target, GROUP)
        known = {name.lower(): name for name in os.listdir(target)}
        found = [path for path in sorted(source.iterdir()) if _is_of_a_mod(path)]
        files = {known.get(path.name.lower(), path.name): path for path in found}
        if len(files) < len(found):
            raise RefusedError("holds two files whose names differ in case alone", file=str(source))
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


def _require_ours(target: Path, now: str, entry: _Entry, kept: str | None = None) -> None:
    """Raises `RefusedError` where a file is neither what was deployed nor the original, by its digest `now`."""
    if now in (entry.deployed, entry.original, kept):
        return
    original = target.name + ORIGINAL
    raise RefusedError(
        "was changed by something else since the last Deploy",
        file=str(target),
        remedy=f"delete {original} if the file is a newer original; otherwise delete {target.name}, and try again",
    )


def _read_record(folder: Path) -> dict[str, _Entry]:
    """What was deployed into a folder, by name; nothing where the record is missing or damaged."""
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    entries: dict[str, _Entry] = {}
    for name, value in found.items():
        if not isinstance(value, dict) or not name or set(name) & set("/\\:\0") or name in (".", ".."):
            continue
        deployed, original = value.get("deployed"), value.get("original")
        if isinstance(deployed, str) and (original is None or isinstance(original, str)):
            entries[name] = _Entry(deployed, original)
    return entries


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise system_error(error, "can't be read", path) from error


def _text(text: str) -> Writer:
    return lambda stream: stream.write(text.encode())


class _Progress:
    """Makes the writers that copy files, and reports how much of all of them is done, from 0 to 1."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress, self.total, self.done = progress, 0, 0

    def copy(self, source: Path) -> Writer:
        """A writer that copies a file."""
        self.total += source.stat().st_size

        def write(target: BinaryIO) -> None:
            with source.open("rb") as stream:
                while block := stream.read(AT_ONCE):
                    target.write(block)
                    self.done += len(block)
                    if self.progress:
                        self.progress(min(self.done / max(self.total, 1), 1.0))

        return write
