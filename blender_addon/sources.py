"""The source files that roots carry, decoded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import bpy

from . import carry
from .core import collision_set, mcol
from .core.errors import FormatError

Decoded = TypeVar("Decoded")


def hull_source(root: bpy.types.Object) -> mcol.Hull:
    """The hull that a root was imported from. Raises `FormatError` where it is lost."""
    return _decode(root, mcol.decode)


def set_source(root: bpy.types.Object) -> collision_set.CollisionSet:
    """The collision set that a root was imported from. Raises `FormatError` where it is lost."""
    return _decode(root, collision_set.decode)


def _decode(root: bpy.types.Object, decode: Callable[[bytes], Decoded]) -> Decoded:
    data = carry.source(root)
    try:
        return decode(data)
    except FormatError as error:
        raise carry.lost_source(root, str(error)) from None
