"""What a folder tree holds, for tests that nothing in it changes but what a command was asked to write."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def tree(folder: Path) -> dict[str, str]:
    """Each file's digest, each link's target and each folder, by path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"link to {os.readlink(path)}"
        elif path.is_dir():
            found[name] = "folder"
        else:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """The paths that came, went or changed."""
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
