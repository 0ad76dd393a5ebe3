"""Replaces several files of a folder in one step that a crash or a full disk can't leave half done.

The files of a group (an archive's table and its data files) belong together, and a file system renames one at a time.
So a journal, `GROUP.journal~`, says how far the switch is. The steps, each on the disk before the next:

1. the journal is written: "writing", with the names of the files;
2. each new file is written beside its target as `NAME.new~`;
3. the journal is replaced: "switching". From here on the new files count, before, the old ones;
4. each target is renamed to `NAME.old~` and its new file to the target's name;
5. the old files are deleted or become `NAME.bak`, and the journal is deleted.

A failure before 3 deletes the new files; one in 4 renames everything back, as far as the system lets it. After a crash
`recover` does the same from the journal: before 3 it deletes the new files, from 3 on it finishes. `pending` lets a
reader that may not write see the files that count. The journal itself is replaced in one rename, so it is never half
written. Programs of one machine wait for each other (`file_lock`); those of two must not write one group at once.

A `.bak` is never overwritten: where a group has one, it holds the files as they were before the first change, and
backups of different ages would fit together no more.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from ..errors import FormatError
from .files import TRIES, UNBLOCK, BlockedError, replace_patiently
from .lock import alone
from .system_errors import system_error

Writer = Callable[[BinaryIO], object]

JOURNAL, NEW, OLD, BACKUP = ".journal~", ".new~", ".old~", ".bak"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What the journal holds. `sizes`: by file name the bytes of the new file, None where the file goes."""

    folder: Path
    group: str
    sizes: Mapping[str, int | None]
    backup: bool
    switching: bool = False

    def at(self, name: str, suffix: str = "") -> Path:
        return self.folder / (name + suffix)


def replace_files(folder: Path, group: str, writers: Mapping[str, Writer | None], *, backup: bool) -> None:
    """Writes the named files of `folder` through the given functions; None deletes the file. All or nothing.

    `group` names the journal. With `backup` the files that were there become `NAME.bak`, unless the group has a backup.
    Raises `FormatError` with the system's reason, and whatever a writer raises; the files are then as they were.
    """
    with alone(folder / group):
        _replace(folder, group, writers, backup)


def _replace(folder: Path, group: str, writers: Mapping[str, Writer | None], backup: bool) -> None:
    try:
        recover(folder, group)
        _require_writable(folder, writers)
        keep = backup and not any((folder / (name + BACKUP)).exists() for name in writers)
        plan = _Plan(folder, group, dict.fromkeys(writers), keep)
    except OSError as error:
        raise _refused(folder, group, error) from error
    try:
        _write_journal(plan)
        plan = replace(plan, sizes={name: _write_new(plan, name, writer) for name, writer in writers.items()})
        _sync(folder)
    except BaseException as error:
        _attempt(lambda: _discard(plan))
        if isinstance(error, OSError):
            raise _refused(folder, group, error) from error
        raise
    _commit(replace(plan, switching=True))


def recover(folder: Path, group: str) -> bool:
    """Finishes, or undoes, a switch that was interrupted. Says whether there was one.

    Raises `FormatError` if that can't be done; the journal then stays for another attempt.
    """
    if not any(os.path.lexists(folder / (group + JOURNAL + end)) for end in ("", "~")):
        return False
    with alone(folder / group):
        return _recover(folder, group)


def _recover(folder: Path, group: str) -> bool:
    plan = _read_journal(folder, group)
    try:
        if plan is None:
            _unlink(folder / (group + JOURNAL + "~"))
            return False
        if plan.switching:
            _forward(plan)
            _tidy(plan)
        else:
            _discard(plan)
    except OSError as error:
        raise _half_way(folder, group, error) from error
    return True


def pending(folder: Path, group: str) -> dict[str, Path | None]:
    """The files of an interrupted switch that count, by their names; None for a file that goes. Writes nothing.

    Raises `FormatError` if its journal can't be understood, or the folder can't be read.
    """
    plan = _read_journal(folder, group)
    if plan is None or not plan.switching:
        return {}
    files: dict[str, Path | None] = {}
    try:
        for name, size in plan.sizes.items():
            new = plan.at(name, NEW)
            files[name] = None if size is None else new if new.exists() else plan.at(name)
    except OSError as error:
        raise system_error(error, "can't be read", folder / group) from error
    return files


def _write_new(plan: _Plan, name: str, writer: Writer | None) -> int | None:
    if writer is None:
        return None
    new, target = plan.at(name, NEW), plan.at(name)
    with _create(new) as stream:
        writer(stream)
        size = stream.tell()
        stream.flush()
        os.fsync(stream.fileno())
    if target.exists():
        os.chmod(new, target.stat().st_mode)
    return size


def _create(path: Path) -> BinaryIO:
    """A new file of this name, whatever stood there: a link of that name is deleted, never followed."""
    if os.path.lexists(path):
        os.unlink(path)
    return open(path, "xb")


def _commit(plan: _Plan) -> None:
    try:
        _write_journal(plan)
        _forward(plan)
    except BaseException as error:
        # also if only the journal failed: it may say "switching" already, and then no new file may be deleted first
        kept: list[Path] = []
        blocked = isinstance(error, BlockedError)
        if not _attempt(lambda: _back(plan, kept, keep=blocked)):
            raise _half_way(plan.folder, plan.group, error) from error
        if isinstance(error, OSError):
            raise _refused(plan.folder, plan.group, error, *kept) from error
        raise
    if not _attempt(lambda: _tidy(plan)):
        # the new files are in place and count; the next write, or `recover`, ends this
        _log.warning("%s: temporary files could not be removed yet", plan.folder / plan.group)


def _forward(plan: _Plan) -> None:
    """Step 4, from whatever point it or its undoing had reached."""
    for name, size in plan.sizes.items():
        target, new, old = plan.at(name), plan.at(name, NEW), plan.at(name, OLD)
        if new.exists() if size is not None else target.exists():
            if target.exists() and not old.exists():
                replace_patiently(target, old)
            if size is not None:
                replace_patiently(new, target)
        elif size is not None and (not target.exists() or target.stat().st_size != size):
            raise FormatError(
                "an interrupted write can't be finished, a file of it is missing",
                expected=f"{name}{NEW} of {size:,} bytes",
                remedy=f"bring back the files ending in {OLD} or {BACKUP}, and delete {plan.group}{JOURNAL}",
                file=str(plan.folder / plan.group),
            )
    _sync(plan.folder)


def _back(plan: _Plan, kept: list[Path], keep: bool) -> None:
    """Undoes step 4. Each state on the way is one that `_forward` can go on from, until the journal is replaced.
    With `keep` the new files go to a folder, which is added to `kept`."""
    for name, size in reversed(list(plan.sizes.items())):
        target, new, old = plan.at(name), plan.at(name, NEW), plan.at(name, OLD)
        if size is not None and target.exists() and not new.exists():
            replace_patiently(target, new)
        if old.exists():
            replace_patiently(old, target)
    _sync(plan.folder)
    plan = replace(plan, switching=False)
    _write_journal(plan)
    if keep:
        kept += _keep(plan)
    _discard(plan)


def _keep(plan: _Plan) -> list[Path]:
    """Moves the new files to a folder of their own beside their places, `GROUP.new`: that folder, or none."""
    for number in ("", *range(2, TRIES + 1)):
        folder = plan.folder / f"{plan.group}.new{number}"
        try:
            os.mkdir(folder)
        except FileExistsError:
            continue
        except OSError:
            break
        with contextlib.suppress(OSError):
            for name, size in plan.sizes.items():
                if size is not None:
                    os.rename(plan.at(name, NEW), folder / name)
            return [folder]
    return []


def _tidy(plan: _Plan) -> None:
    for name in plan.sizes:
        old = plan.at(name, OLD)
        if old.exists():
            if plan.backup:
                replace_patiently(old, plan.at(name, BACKUP))
            else:
                os.unlink(old)
    _end(plan)


def _discard(plan: _Plan) -> None:
    for name in plan.sizes:
        _unlink(plan.at(name, NEW))
    _end(plan)


def _end(plan: _Plan) -> None:
    _sync(plan.folder)  # else a power cut could leave the renames undone and the journal gone
    _unlink(plan.at(plan.group, JOURNAL + "~"))
    _unlink(plan.at(plan.group, JOURNAL))
    _sync(plan.folder)


def _write_journal(plan: _Plan) -> None:
    journal, temporary = plan.at(plan.group, JOURNAL), plan.at(plan.group, JOURNAL + "~")
    content = {"switching": plan.switching, "backup": plan.backup, "sizes": dict(plan.sizes)}
    with _create(temporary) as stream:
        stream.write(json.dumps(content).encode())
        stream.flush()
        os.fsync(stream.fileno())
    replace_patiently(temporary, journal)
    _sync(plan.folder)


def _read_journal(folder: Path, group: str) -> _Plan | None:
    journal = folder / (group + JOURNAL)
    try:
        content = json.loads(journal.read_text(encoding="utf-8"))
        sizes = {str(name): None if size is None else int(size) for name, size in content["sizes"].items()}
        plan = _Plan(folder, group, sizes, bool(content["backup"]), bool(content["switching"]))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise system_error(error, "can't be read", journal) from error
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise FormatError("not a journal of this program", file=str(journal), remedy="delete or rename it") from error
    # the names decide what is renamed and deleted, so none may lead out of the folder
    if any(not name or set(name) & set("/\\:\0") or name in (".", "..") for name in sizes):
        raise FormatError("names files of other folders", file=str(journal), remedy="delete or rename it")
    return plan


def _require_writable(folder: Path, names: Mapping[str, object]) -> None:
    for name in names:
        target = folder / name
        if target.is_dir():
            raise FormatError("can't be written (a folder has this name)", file=str(target))
        if target.exists() and not os.access(target, os.W_OK):
            remedy = "choose another folder or allow writing"
            raise FormatError("can't be written (the file is read-only)", file=str(target), remedy=remedy)


def _attempt(step: Callable[[], None]) -> bool:
    """Whether a step of cleaning up worked; the failure that made it necessary is the one to report."""
    try:
        step()
    except OSError as error:
        _log.debug("cleaning up failed: %s", error)
        return False
    return True


def _unlink(path: Path) -> None:
    if path.exists():
        os.unlink(path)


def _sync(folder: Path) -> None:
    """Makes the renames in a folder last through a power cut. Windows has no such call for folders, and needs none."""
    if os.name != "nt":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network drives can't do it for folders
                raise
        finally:
            os.close(handle)


def _refused(folder: Path, group: str, error: OSError, *kept: Path) -> FormatError:
    problem = f"can't be written ({error.strerror or error})"
    remedy = f"{UNBLOCK}; nothing was changed" if isinstance(error, BlockedError) else "nothing was changed"
    remedy += "".join(f", and the new files are kept in {place}" for place in kept)
    return FormatError(problem, file=str(folder / group), remedy=remedy)


def _half_way(folder: Path, group: str, error: BaseException) -> FormatError:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return FormatError(
        f"replacing the files stopped half way ({reason})",
        file=str(folder / group),
        remedy="close other programs that use them and write again: that finishes it; nothing is lost",
    )
