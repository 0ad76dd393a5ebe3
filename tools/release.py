"""A release: version, changelog and tag agree, Blender accepts the zip, and a static repository offers it.

The folder dist/repository holds the zip and the index that Blender's own tool writes. Whoever hosts it on any web
server gives users one address for *Preferences > Get Extensions > Repositories*, from which they get updates.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tools.environments import default_blender, prepare
from tools.extension import build_zip, read_manifest
from tools.processes import ROOT, Failure, run, say

REPOSITORY = ROOT / "dist" / "repository"

FIND_TOOL = (
    "import bpy, pathlib; "
    "print(pathlib.Path(bpy.utils.system_resource('SCRIPTS'), 'addons_core', 'bl_pkg', 'cli', 'blender_ext.py'))"
)
"""Blender's command line for extensions is a script, which the module build has too."""


def release() -> None:
    """Writes dist/repository. Raises `Failure` if the version isn't ready or Blender refuses the zip."""
    version = read_manifest()["version"]
    if problems := release_problems(version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), _tags_of_head()):
        raise Failure("this isn't a release: " + "; ".join(problems))
    archive = build_zip()
    python = prepare(default_blender())
    run_extension_tool(python, "validate", str(archive))
    say(f"validated {archive.name}")
    write_repository(python, archive, REPOSITORY)
    say(f"wrote {REPOSITORY.relative_to(ROOT)}: {', '.join(sorted(path.name for path in REPOSITORY.iterdir()))}")


def release_problems(version: str, changelog: str, tags: list[str]) -> list[str]:
    """What doesn't agree: the manifest's version, the changelog's newest heading, the tags of the commit."""
    problems = []
    headings = re.findall(r"^## (\S+)(.*)$", changelog, re.MULTILINE)
    newest, date = headings[0] if headings else ("none", "")
    if newest != version:
        problems.append(f"the manifest's version is {version}, the newest in CHANGELOG.md is {newest}")
    elif not re.search(r"\d{4}-\d\d-\d\d", date):
        problems.append(f"version {version} has no date in CHANGELOG.md; write `## {version} (YYYY-MM-DD)`")
    if f"v{version}" not in tags:
        found = ", ".join(tags) or "none"
        problems.append(f"the commit has no tag v{version} (found: {found}); run `git tag v{version}`")
    return problems


def write_repository(python: str, archive: Path, folder: Path) -> None:
    """Fills a folder with the zip and the index of a static repository. What was in the folder is removed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy2(archive, folder)
    run_extension_tool(python, "server-generate", "--repo-dir", str(folder))


def run_extension_tool(python: str, *arguments: str) -> str:
    """Runs Blender's command line for extensions. Returns what it prints; raises `Failure` if it refuses."""
    found = run([python, "-I", "-c", FIND_TOOL], capture=True)
    tool = (found.stdout.strip().splitlines() or [""])[-1]
    result = run([python, "-I", tool, *arguments], capture=True)
    if result.returncode:
        raise Failure(f"Blender refuses `extension {arguments[0]}`: {(result.stdout + result.stderr).strip()}")
    return result.stdout


def _tags_of_head() -> list[str]:
    """The tags of the commit that is checked out."""
    try:
        return run(["git", "tag", "--points-at", "HEAD"], capture=True).stdout.split()
    except OSError:
        raise Failure("git isn't installed, and without it nobody knows the commit's tag") from None
