"""The way that a computer-flown ship takes through a hull, before and after its edit."""

from __future__ import annotations

import bpy
import numpy as np

from ...core.errors import naming
from ...core.formats import regn, regn_contents
from ...core.formats.mcol import Hull
from ...core.runtime.route import Route, find_route
from .navigation import find_navigation, patch_for


def find_ways(
    root: bpy.types.Object, edited: Hull, ends: tuple[np.ndarray, np.ndarray], radius: float, mod: str
) -> tuple[Route, Route]:
    """The way between two points, float64 (3,) each, in game units: through the hull and the volume that a root came
    with, and through the edited hull with the volume patched for it.

    Raises `SylpheedError` where the root has no volume, or it can't be read.
    """
    source = find_navigation(root, mod)
    patched = patch_for(source, edited)
    with naming(source.place):
        before = regn_contents.decode(source.navigation)
        after = regn_contents.decode(regn.decode(patched.data))
    return find_route(source.hull, before, *ends, radius), find_route(edited, after, *ends, radius)
