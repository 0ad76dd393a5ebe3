"""The extension as a zip: what is in it, and what its manifest must say."""

from __future__ import annotations

import re
import tomllib
import zipfile
from pathlib import Path
from typing import Any

from tools.processes import ROOT, Failure, say

MANIFEST = "blender_manifest.toml"
REQUIRED_KEYS = (
    "schema_version", "id", "version", "name", "tagline", "maintainer", "type", "blender_version_min", "license"
)  # fmt: skip


def read_manifest() -> dict[str, Any]:
    """The extension's manifest."""
    return tomllib.loads((ROOT / "blender_addon" / MANIFEST).read_text(encoding="utf-8"))


def manifest_problems(manifest: dict[str, Any]) -> list[str]:
    """What Blender or its extension sites would refuse or, worse, silently accept."""
    problems = [f"{key} is missing" for key in REQUIRED_KEYS if not manifest.get(key)]
    if problems:
        return problems
    version, oldest = manifest["version"], manifest["blender_version_min"]
    if not all(re.fullmatch(r"\d+\.\d+\.\d+", number) for number in (version, oldest)):
        problems.append(f"versions must be three numbers, found {version!r} and {oldest!r}")
    elif tuple(map(int, oldest.split("."))) < (4, 2, 0):
        problems.append("blender_version_min must be at least 4.2.0, older ones have no extensions")
    if not manifest["id"].isidentifier():
        problems.append(f"id must be a Python identifier, found {manifest['id']!r}")
    exact = {"type": "add-on", "license": ["SPDX:GPL-3.0-or-later"], "tags": ["Import-Export"]}
    problems += [f"{key} must be {value!r}" for key, value in exact.items() if manifest.get(key) != value]
    permissions = manifest.get("permissions", {})
    if set(permissions) != {"files"}:
        problems.append("permissions must be files alone, the add-on uses no other")
    for text in (manifest["tagline"], *permissions.values()):
        if len(text) > 64 or not text[-1:].isalnum():
            problems.append(f"tagline and reasons have at most 64 letters and no closing punctuation, found {text!r}")
    return problems


ENTRY = """\
\"\"\"What Blender loads: the add-on beside the core that it uses.\"\"\"

from .blender_addon import register, unregister

__all__ = ["register", "unregister"]
"""
"""The zip's own `__init__.py`. The rest of the zip is laid out like the repository, so that the add-on's imports of
`...core` lead to the same files in both."""


def extension_files() -> dict[str, bytes]:
    """Name in the zip to contents: the two packages, the manual, and the manifest and the licence, which Blender wants
    at the top."""
    files = {"__init__.py": ENTRY.encode(), "LICENSE": (ROOT / "LICENSE").read_bytes()}
    for folder in (ROOT / "blender_addon", ROOT / "core"):
        for path in folder.rglob("*"):
            parts = path.relative_to(ROOT).parts
            hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
            if path.is_file() and not hidden and path.suffix != ".pyc":
                files["/".join(parts)] = path.read_bytes()
    for path in (ROOT / "docs" / "manual.html", *(ROOT / "docs").glob("*.png")):
        files[f"docs/{path.name}"] = path.read_bytes()
    files[MANIFEST] = files.pop(f"blender_addon/{MANIFEST}")
    return files


def build_zip() -> Path:
    """Writes the extension into dist/ and returns its path. The same sources give the same bytes."""
    manifest = read_manifest()
    problems = manifest_problems(manifest)
    files = extension_files()
    needed = ("blender_addon/__init__.py", "core/__init__.py")
    problems += [f"{name} is missing" for name in needed if name not in files]
    if problems:
        raise Failure("the extension can't be built: " + "; ".join(problems))
    target = ROOT / "dist" / f"{manifest['id']}-{manifest['version']}.zip"
    target.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, contents in sorted(files.items()):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # else it differs between Windows and the others
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, contents, zipfile.ZIP_DEFLATED)
    say(f"built {target.relative_to(ROOT)}: {len(files)} files, {target.stat().st_size:,} bytes")
    return target
