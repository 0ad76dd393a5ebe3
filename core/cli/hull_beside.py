"""The hull that goes with a navigation volume: the `.col` of the same name in the same folder or archive."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import FormatError
from ..formats import mcol
from ..formats.kinds import Kind
from ..formats.mcol import Hull
from ..game.archive import Archive
from ..game.game_folder import HULL_ENDING
from .file_kinds import load

NOT_COMPARED = "so grid, free space and clearances weren't compared"


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """The hull, or why there is none to compare with: `note` in words. `data` are its bytes, which tell it apart."""

    hull: Hull | None = None
    note: str = ""
    data: bytes = b""


def beside_file(path: Path) -> Beside:
    """The hull beside a volume in a folder."""
    wanted = f"{path.stem}{HULL_ENDING}".lower()
    try:
        names = sorted(name for name in os.listdir(path.parent) if name.lower() == wanted)
    except OSError:
        names = []
    if not names:
        return Beside(note=f"no {path.stem}{HULL_ENDING} beside it, {NOT_COMPARED}")
    try:
        return Beside(load(path.parent / names[0], only=Kind.HULL)[1])
    except FormatError:
        return Beside(note=f"{names[0]} beside it can't be read, {NOT_COMPARED}")


def beside_entry(archive: Archive, label: str) -> Beside:
    """The hull beside a volume in an archive, by the volume's name there."""
    name = f"{os.path.splitext(label)[0]}{HULL_ENDING}"
    try:
        entry = archive.find(name)
    except FormatError:
        return Beside(note=f"no {name} in the archive, {NOT_COMPARED}")
    try:
        data = archive.read(entry)
        return Beside(mcol.decode(data), data=data)
    except FormatError:
        return Beside(note=f"{name} in the archive can't be read, {NOT_COMPARED}")
