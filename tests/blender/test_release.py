"""A release: what has to agree, and that Blender installs and updates from the repository that is written."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import bpy
import pytest

from tools.release import release_problems, write_repository

CHANGELOG = "# Changelog\n\n## 1.2.3 (2026-01-31)\n\n* New.\n\n## 1.2.2 (2025-12-24)\n\n* Old.\n"
ID = "sylpheed_collision"


def test_a_release_needs_one_version_in_three_places() -> None:
    assert release_problems("1.2.3", CHANGELOG, ["latest", "v1.2.3"]) == []


@pytest.mark.parametrize(
    ("version", "changelog", "tags", "problem"),
    [
        ("1.2.4", CHANGELOG, ["v1.2.4"], "the newest in CHANGELOG.md is 1.2.3"),
        ("1.2.3", CHANGELOG, [], "no tag v1.2.3 (found: none)"),
        ("1.2.3", CHANGELOG, ["1.2.3"], "no tag v1.2.3 (found: 1.2.3)"),
        ("1.2.3", CHANGELOG.replace(" (2026-01-31)", ""), ["v1.2.3"], "no date"),
        ("1.2.3", "# Changelog\n", ["v1.2.3"], "the newest in CHANGELOG.md is none"),
    ],
)
def test_a_release_names_what_disagrees(version: str, changelog: str, tags: list[str], problem: str) -> None:
    (found,) = release_problems(version, changelog, tags)
    assert problem in found


def with_version(archive: Path, version: str, folder: Path) -> Path:
    """A copy of the extension that says it is another version."""
    target = folder / f"{ID}-{version}.zip"
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "blender_manifest.toml":
                lines = data.decode().splitlines(keepends=True)
                data = "".join(f'version = "{version}"\n' if x.startswith("version") else x for x in lines).encode()
            new.writestr(name, data)
    return target


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Path]:
    """The folder of a repository that this Blender's preferences name, as a user adds one.

    Blender installs from remote repositories only with online access, so the other ones are disabled meanwhile.
    """
    folder = tmp_path / "served"
    repos, system = bpy.context.preferences.extensions.repos, bpy.context.preferences.system
    others = [repo for repo in repos if repo.enabled and repo.use_remote_url]
    for other in others:
        other.enabled = False
    system.use_online_access = True
    repo = repos.new(
        name="Sylpheed test", module="sylpheed_test", remote_url=(folder / "index.json").as_uri(), source="USER"
    )
    yield folder
    repos.remove(repo)
    system.use_online_access = False
    for other in others:
        other.enabled = True


def directory() -> str:
    """Where this Blender keeps what it has from the repository."""
    (repo,) = [repo for repo in bpy.context.preferences.extensions.repos if repo.module == "sylpheed_test"]
    return repo.directory


def installed_version() -> str:
    """The version of the extension that this Blender has from the repository."""
    manifest = Path(directory(), ID, "blender_manifest.toml").read_text(encoding="utf-8")
    return next(line.split('"')[1] for line in manifest.splitlines() if line.startswith("version"))


def test_blender_installs_and_updates_from_the_repository(
    extension_zip: Path, repository: Path, tmp_path: Path
) -> None:
    write_repository(sys.executable, with_version(extension_zip, "7.0.0", tmp_path), repository)
    assert {path.suffix for path in repository.iterdir()} == {".zip", ".json"}
    assert bpy.ops.extensions.repo_sync(repo_directory=directory()) == {"FINISHED"}
    bpy.ops.extensions.package_install(repo_directory=directory(), pkg_id=ID, enable_on_install=False)
    assert installed_version() == "7.0.0"

    write_repository(sys.executable, with_version(extension_zip, "7.1.0", tmp_path), repository)
    assert bpy.ops.extensions.repo_sync(repo_directory=directory()) == {"FINISHED"}
    bpy.ops.extensions.package_upgrade_all(use_active_only=False)
    assert installed_version() == "7.1.0"
    bpy.ops.extensions.package_uninstall(repo_directory=directory(), pkg_id=ID)
