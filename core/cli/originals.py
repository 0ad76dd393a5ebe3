"""A checked file against the one that it was made from: what the original has too is a warning, no error.

Elements are the same where what they name is: a vertex by its place, a triangle by its corners, a cell by its place,
a mesh by its name. Numbers may have changed.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..disk.files import walk
from ..errors import Finding, FormatError, Severity, naming
from ..formats.collision_set import CollisionSet
from ..formats.kinds import Kind, detect
from ..formats.mcol import Hull
from ..game.archive import Archive
from ..game.loose_files import read_known
from ..inspect.checks import Check
from ..rules.rule import Rule
from .file_kinds import FORMATS, open_named

AS_BEFORE = ", as in the original"


class Originals:
    """What the files and entries to check were made from: a file, an archive, or a folder of the same layout.

    Raises `FormatError` if there is no such file or folder.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.archives: dict[Path, Archive] = {}
        if not self.path.exists():
            raise FormatError("there is no such file or folder", file=path, remedy="choose what the file was made from")

    def file(self, file: Path, below: Path) -> Path | None:
        """The original of a file, found below a folder or named itself; None if there is none."""
        if not self.path.is_dir():
            return self.path if file == below or self.path.name.lower() == file.name.lower() else None
        same_place = self.path / (file.relative_to(below) if file != below else file.name)
        if same_place.is_file():
            return same_place
        named = [one for one in self._below() if one.name.lower() == file.name.lower()]
        return named[0] if len(named) == 1 else None

    @functools.cache  # noqa: B019 - lives as long as the run
    def _below(self) -> list[Path]:
        return walk(self.path)[0]

    def data(self, kind: Kind, original: Path | None, name: str) -> bytes | None:
        """The bytes of an original file, or of the entry of that name if it is an archive; None if they are of another
        kind or the archive has no such entry. Raises `FormatError` if the file can't be read."""
        if original is None:
            return None
        found, data = read_known(original)
        if found is Kind.ARCHIVE and kind is not Kind.ARCHIVE:
            archive = self.archive(original)
            try:
                data = archive.read(archive.find(name))
            except FormatError:
                return None
        return data if detect(data) is kind else None

    def decode(self, kind: Kind, data: bytes | None) -> Any:
        """The model of these bytes, None of none. Raises `FormatError` that names the original."""
        with naming(self.path):
            return None if data is None else FORMATS[kind].decode(data)

    def archive(self, path: Path) -> Archive:
        """An original archive, opened once."""
        if path not in self.archives:
            self.archives[path] = open_named(path)
        return self.archives[path]


def tolerate_checks(checks: list[Check], model: Any, original_checks: list[Check], original: Any) -> list[Check]:
    """The checks, with a warning instead of an error where the original fails at the same elements."""
    before = {check.rule: check for check in original_checks}
    return [_tolerate(check, model, before.get(check.rule), original) for check in checks]


def tolerate_findings(found: Iterable[Finding], before: Iterable[Finding]) -> list[Finding]:
    """The findings, with a warning instead of an error where the original has the same."""
    known = {(finding.check, finding.message) for finding in before}
    return [
        dataclasses.replace(finding, severity=Severity.WARNING, message=finding.message + AS_BEFORE)
        if finding.severity is Severity.ERROR and (finding.check, finding.message) in known
        else finding
        for finding in found
    ]


def _tolerate(check: Check, model: Any, before: Check | None, original: Any) -> Check:
    if check.passed or check.severity is not Severity.ERROR or check.rule is Rule.MISSING_ENTRIES or before is None:
        return check
    if check.elements:
        mine, theirs = _keys(check, model), _keys(before, original)
        inherited = all(key in theirs for key in mine)
    else:
        inherited = check.total - check.good <= before.total - before.good
    if not inherited:
        return check
    return dataclasses.replace(check, severity=Severity.WARNING, note=check.note + AS_BEFORE)


def _keys(check: Check, model: Any) -> set[Hashable]:
    if isinstance(model, Hull):
        name = _HULL_KEYS.get(check.kind)
    elif isinstance(model, CollisionSet):
        return {model.parts[number].key for number in check.elements}
    else:
        name = None
    return set(name(model, np.array(check.elements, np.int64)) if name else check.elements)


def _vertices(hull: Hull, numbers: np.ndarray) -> list[Hashable]:
    return [row.tobytes() for row in hull.vertices[numbers]]


def _triangles(hull: Hull, numbers: np.ndarray) -> list[Hashable]:
    return [tuple(sorted(row.tobytes() for row in hull.vertices[corners])) for corners in hull.triangles[numbers]]


def _cells(hull: Hull, numbers: np.ndarray) -> list[Hashable]:
    return [tuple(corner) for corner in hull.grid.lower_corner(hull.grid.position(numbers)).tolist()]


def _lists(hull: Hull, numbers: np.ndarray) -> list[Hashable]:
    rows, lists, _ = hull.entries()
    lists, first = np.unique(lists, return_index=True)
    return _cells(hull, hull.occupied[rows[first[np.searchsorted(lists, numbers)]]])


_HULL_KEYS: dict[str, Callable[[Hull, np.ndarray], list[Hashable]]] = {
    "vertex": _vertices,
    "triangle": _triangles,
    "cell": _cells,
    "list": _lists,
}
