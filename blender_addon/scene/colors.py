"""Colours that tell surfaces and parts apart in the default Solid view, which shows the colours of materials."""

from __future__ import annotations

import colorsys
from typing import Literal

import bpy

from .custom_properties import KIND, SHOWN

Color = tuple[float, float, float, float]

Tag = Literal["COLOR_04", "COLOR_05", "COLOR_08"]

HULL_TAG: Tag = "COLOR_05"
SET_TAG: Tag = "COLOR_04"
CELLS_TAG: Tag = "COLOR_08"
"""Colour tags of collections: hulls, collision sets, and what only shows something."""

WALL = (0.32, 0.42, 0.55, 1.0)
CELL = (0.55, 0.55, 0.55, 1.0)

SHADES = 8
"""How many asteroids or families of parts have colours of their own before the first one comes again."""

ASTEROID_HUES = (0.02, 0.14)
PART_HUES = (0.45, 0.75)
"""Ranges of hues: brown to yellow, green to violet."""


def color_surface(obj: bpy.types.Object, name: str) -> None:
    """Colours a hull's surface, called `wall`, `asteroid_01`, … or `hull`."""
    kind, _, number = name.partition("_")
    if kind == "wall":
        _color(obj, "Sylpheed Wall", WALL)
    else:
        color_asteroid(obj, int(number) if number.isdigit() else 0)


def color_asteroid(obj: bpy.types.Object, number: int) -> None:
    """Colours an asteroid so that it differs from those with the next numbers."""
    shade = number % SHADES
    _color(obj, f"Sylpheed Asteroid {shade + 1}", _shade(ASTEROID_HUES, shade))


def color_part(obj: bpy.types.Object, groups: tuple[str, ...]) -> None:
    """Colours a part of a collision set by the family that it belongs to."""
    shade = sum(map(ord, groups[-1])) % SHADES
    _color(obj, f"Sylpheed Part {shade + 1}", _shade(PART_HUES, shade))


def _shade(hues: tuple[float, float], number: int) -> Color:
    """Neighbouring numbers lie apart in hue and brightness."""
    first, last = hues
    hue = first + (last - first) * (number * 3 % SHADES) / (SHADES - 1)
    return (*colorsys.hsv_to_rgb(hue, 0.45, 0.4 + 0.3 * (number % 2)), 1.0)


def _color(obj: bpy.types.Object, name: str, color: Color) -> None:
    """Gives an object a material of the extension's. A material in the same slot replaces it."""
    obj.color = color
    obj.data.materials.append(_material(name, color))


def _material(name: str, color: Color) -> bpy.types.Material:
    for material in bpy.data.materials:
        if material.get(KIND) == SHOWN and material.name.startswith(name) and not material.library:
            return material
    material = bpy.data.materials.new(name)
    material.diffuse_color = color
    material[KIND] = SHOWN
    return material
