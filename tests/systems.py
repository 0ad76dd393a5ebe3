"""Answers of other systems, given by a layer over `os`, for what can't be run here."""

from __future__ import annotations

import os
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
