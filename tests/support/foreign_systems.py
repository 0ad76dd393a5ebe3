"""Answers of other systems, given by a layer over `os`, for what can't be run here."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


class NamesWithoutCase:
    """Below a folder, names are found in any case, as on Windows and usually on macOS."""

    CALLS = ("stat", "lstat", "open", "listdir", "scandir", "mkdir", "unlink", "remove", "chmod", "access", "readlink")

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.real = {name: getattr(os, name) for name in (*self.CALLS, "replace", "rename")}

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """From here on, until the test ends."""
        for name in self.CALLS:
            real = self.real[name]
            monkeypatch.setattr(
                os, name, lambda path=".", *rest, real=real, **more: real(self.found(path), *rest, **more)
            )
        for name in ("replace", "rename"):
            real = self.real[name]
            monkeypatch.setattr(os, name, lambda old, new, real=real: real(self.found(old), self.found(new)))

    def found(self, path: object) -> object:
        """The path in the spelling of what is there."""
        if not isinstance(path, str | os.PathLike):
            return path
        text = os.fspath(path)
        if not isinstance(text, str) or not text.startswith(self.folder + os.sep):
            return path
        place = self.folder
        for name in text[len(self.folder) + 1 :].split(os.sep):
            try:
                there = self.real["listdir"](place)
            except OSError:
                there = []
            alike = [other for other in there if other.casefold() == name.casefold()]
            place = os.path.join(place, name if name in there or not alike else alike[0])
        return place


class Blocked:
    """A file that another program holds open, as the game its archives or a virus scanner what was just written:
    Windows lets nobody replace it, for some seconds or for good."""

    def __init__(self, path: Path, seconds: float = float("inf")) -> None:
        self.path, self.end, self.answers = os.fspath(path), time.monotonic() + seconds, 0

    def install(self, monkeypatch: pytest.MonkeyPatch) -> Blocked:
        real = os.replace

        def replace(old: str, new: str) -> None:
            if self.path in (os.fspath(old), os.fspath(new)) and time.monotonic() < self.end:
                self.answers += 1
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), old, 32, new)
            real(old, new)

        monkeypatch.setattr(os, "replace", replace)
        return self


class NoNewFiles:
    """A folder in which a user of Windows may not create files, though `os.access` says so."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.answers = os.fspath(folder), 0

    def install(self, monkeypatch: pytest.MonkeyPatch) -> NoNewFiles:
        real = os.open

        def open_file(path: str, flags: int, *rest: int) -> int:
            if os.fspath(path).startswith(self.folder) and flags & os.O_CREAT:
                self.answers += 1
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
            return real(path, flags, *rest)

        monkeypatch.setattr(os, "open", open_file)
        return self


@contextlib.contextmanager
def nested(folder: Path, depth: int = 1000) -> Iterator[Path]:
    """The deepest of many folders in each other, which the test makes; they are gone afterwards: pytest's own cleaning
    up calls itself once a folder."""
    place = folder.joinpath(*["d"] * depth)
    try:
        yield place
    finally:
        while place != folder:
            if place.is_dir():
                for file in place.iterdir():
                    if not file.is_dir():
                        file.unlink()
                place.rmdir()
            place = place.parent
