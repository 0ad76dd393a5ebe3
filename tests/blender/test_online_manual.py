"""Right-click > Online Manual: every operator, option and setting leads to a section of the installed manual."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType
from urllib.parse import urlparse
from urllib.request import url2pathname

import bpy
import pytest

from tests.blender.interface_texts import modules_of


@pytest.fixture
def page(addon: ModuleType) -> Path:
    return importlib.import_module(f"{addon.__name__}.blender_addon.interface.online_manual").PAGE


def look_up(identifier: str) -> str:
    """The address that Blender opens, by Blender's own search."""
    operator = importlib.import_module("bl_operators.wm").WM_OT_doc_view_manual
    return operator._lookup_rna_url(identifier, verbose=False)


def operators(addon: ModuleType) -> list[type]:
    found = [cls for module in modules_of(addon) for cls in vars(module).values()]
    return [
        cls
        for cls in found
        if isinstance(cls, type) and issubclass(cls, bpy.types.Operator) and hasattr(cls, "bl_idname")
    ]


def test_the_page_came_with_the_extension(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<h1" in text and "Your first mod" in text
    for picture in re.findall(r'src="([^"]+)"', text):
        assert (page.parent / picture).is_file()


def test_every_operator_and_option_has_a_section(addon: ModuleType, page: Path) -> None:
    anchors = set(re.findall(r' id="([^"]+)"', page.read_text(encoding="utf-8")))
    classes = operators(addon)
    assert len(classes) > 20
    for cls in classes:
        for name in ("", ".root"):
            address = urlparse(look_up(f"bpy.ops.{cls.bl_idname}{name}"))
            assert Path(url2pathname(address.path)) == page, cls.bl_idname
            assert address.fragment in anchors, cls.bl_idname


@pytest.mark.parametrize("name", ["SylpheedGridSettings.cells", "SylpheedPreferences.game_folder"])
def test_settings_have_a_section(page: Path, name: str) -> None:
    assert urlparse(look_up(f"bpy.types.{name}")).fragment in page.read_text(encoding="utf-8")


def test_links_within_the_page_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    anchors = set(re.findall(r' id="([^"]+)"', text))
    links = set(re.findall(r'href="#([^"]+)"', text))
    assert links and links <= anchors
    assert not re.findall(r'href="(?!#|https?:)', text)
