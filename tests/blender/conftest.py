"""Tests in real Blender, against the built extension installed as a user would install it.

Run them by `python build.py test`: it makes the zip and the environment, one process for each Blender.
"""

from __future__ import annotations

import importlib
import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

if not os.environ.get("SYLPHEED_ZIP"):
    raise pytest.UsageError("the tests in Blender need the built zip, run them by: python build.py test")

# Blender reads this while it is imported, so it can't wait for a fixture. Without it the tests would install into
# the folder of the Blender that the developer works with.
USER_FOLDER = tempfile.TemporaryDirectory(prefix="sylpheed-blender-", ignore_cleanup_errors=True)
os.environ["BLENDER_USER_RESOURCES"] = USER_FOLDER.name

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # those of Blender's own modules
    import bpy

PACKAGE = "bl_ext.user_default.sylpheed_collision"


def pytest_report_header() -> str:
    """Names the Blender in pytest's first lines."""
    return f"Blender {bpy.app.version_string}, {os.environ['SYLPHEED_ZIP']}"


@pytest.fixture(scope="session")
def extension_zip() -> Path:
    """The built extension."""
    return Path(os.environ["SYLPHEED_ZIP"])


@pytest.fixture(scope="session")
def user_folder() -> Path:
    """Where this Blender keeps its settings and extensions: a new, empty folder."""
    return Path(USER_FOLDER.name)


@pytest.fixture(scope="session", autouse=True)
def addon(extension_zip: Path) -> ModuleType:
    """The add-on's package, installed from the zip and enabled."""
    bpy.ops.extensions.package_install_files(filepath=str(extension_zip), repo="user_default", enable_on_install=True)
    assert PACKAGE in bpy.context.preferences.addons, "the extension was not enabled, see Blender's lines above"
    return importlib.import_module(PACKAGE)


@pytest.fixture(autouse=True)
def empty_scene(addon: ModuleType) -> Iterator[None]:
    """Each test begins in an empty file and leaves the add-on enabled."""
    bpy.ops.wm.read_homefile(use_empty=True)
    assert not bpy.data.objects and not bpy.data.meshes
    yield
    assert PACKAGE in bpy.context.preferences.addons
