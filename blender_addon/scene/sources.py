"""The source files that roots carry, decoded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import bpy

from ...core.errors import SylpheedError
from ...core.formats import collision_set, mcol
from . import custom_properties

Decoded = TypeVar("Decoded")


def hull_source(root: bpy.types.Object) -> mcol.Hull:
    """The hull that a root was imported from. Raises `SylpheedError` where it is lost."""
    return _decode(root, mcol.decode)


def set_source(root: bpy.types.Object) -> collision_set.CollisionSet:
    """The collision set that a root was imported from. Raises `SylpheedError` where it is lost."""
    return _decode(root, collision_set.decode)


def _decode(root: bpy.types.Object, decode: Callable[[bytes], Decoded]) -> Decoded:
    data = custom_properties.source(root)
    try:
        return decode(data)
    except SylpheedError as error:
        raise custom_properties.lost_source(root, str(error)) from None
