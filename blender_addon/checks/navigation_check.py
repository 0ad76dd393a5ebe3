"""Whether the navigation volume of a hull still fits it, and which of its links run through rock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...core.editing.rebuild_hull import count_changes
from ...core.errors import Severity, SylpheedError
from ...core.formats import mcol, regn, regn_contents
from ...core.formats.mcol import Hull
from ...core.navigation.patch import patch
from ...core.text import plural
from ..scene import custom_properties, navigation, navigation_object
from ..scene.scene_rules import SceneRule

if TYPE_CHECKING:
    from ..scene.exporting import HullEdit
    from .problems import Problem, _Where

SHIP = 1.0
"""The radius of every ship in the game's search, in game units. docs/FORMATS.md, section 9."""

REMEDY = "an export of the mod patches it; Fix patches it now"


def navigation_problems(root: bpy.types.Object, edit: HullEdit, hull: Hull, where: _Where) -> list[Problem]:
    """The problems of an edited hull's navigation volume, `hull` being what would be exported: at the faces that were
    edited, and at the links in the object that shows them."""
    if edit.own_box and not any(count_changes(edit.source, edit.comparison)):
        return []
    found = _blocked_links(root, hull)
    if found is None:
        return []
    faces = list(where.faces(np.flatnonzero(~(edit.comparison.same & (edit.edit.triangle_ids >= 0)))))
    message = f"ships still fly by the map as it was before the edit; {REMEDY}"
    problems = [where.located(Severity.INFO, SceneRule.NAVIGATION_OLD, message, "triangles", faces, 1)]
    count, links = found
    if count:
        message = (
            f"{plural(count, 'link')} of the navigation volume {'runs' if count == 1 else 'run'} through rock; {REMEDY}"
        )
        row = where.located(Severity.WARNING, SceneRule.NAVIGATION_BLOCKED, message, "triangles", faces, count)
        problems.append(replace(row, kind="EDGE", elements=links, objects=()) if links else row)
    return problems


def _blocked_links(root: bpy.types.Object, hull: Hull) -> tuple[int, dict[int, np.ndarray]] | None:
    """How many links of the volume that a root came with run through rock now, and which edges of the object that
    shows them these are, int64, by its session number. None where the volume isn't known, or was made for this hull."""
    if custom_properties.stored_navigation(root, mcol.encode(hull)) is not None:
        return None
    try:
        source = navigation.find_navigation(root)
        patched = patch(source.navigation, source.hull, hull, fill=False)
        before, after = (regn_contents.decode(one) for one in (source.navigation, regn.decode(patched.data)))
    except SylpheedError:
        return None  # what can't be read can't be compared; an export says so
    if len(before.tetrahedra) != len(after.tetrahedra):
        return 0, {}
    blocked = (before.pair_clearances() >= SHIP) & (after.pair_clearances() < SHIP)
    links = navigation_object.links_of(before)
    edges = np.unique(links.of_pair[blocked & (links.of_pair >= 0)])
    shown = navigation_object.find(root)
    located = shown is not None and len(shown.data.edges) == len(links.faces) and len(edges)
    return len(edges), {shown.session_uid: edges} if shown is not None and located else {}
