"""Fixing what a check found, object by object. An object that would be no better off is left as it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import bmesh
import bpy
import numpy as np

from ...core.rules.rule import Rule
from ..scene import custom_properties, sources
from ..scene.scene_rules import SceneRule
from ..translations import report_text
from . import mesh_fixes, problems, results
from .broken import Broken
from .editable import editable, reason_against, restore
from .fix_kinds import FixKind
from .selecting import gather, matching
from .zero_area import fix_zero_area

SHAPE = (Rule.ZERO_AREA, Rule.OPEN_EDGES, Rule.NON_MANIFOLD_EDGES, Rule.DOUBLED_TRIANGLES)
"""Checks of which a fix may not raise the sum."""

BY_HAND = {
    "elements": "can't be fixed automatically. Select it and fix it by hand",
    "holes": "has a hole that can't be filled automatically. Select its edges and fill it by hand (F)",
}
"""What to do about that which a fix leaves."""


@dataclass(frozen=True, slots=True)
class MeshFix:
    """How the problems of a kind are fixed. Objects with a warning of the check `first` are left alone until that
    is fixed. What `apply` doesn't improve is left as it was, by the count of these checks and, where it may spoil
    them, of those of `SHAPE`. `by_hand` is a key of `BY_HAND`."""

    kind: FixKind
    apply: Callable[[Broken], None]
    first: SceneRule | None = None
    may_spoil: bool = True
    by_hand: str = "elements"

    def found(self, checked: problems.Checked, severity: str = "") -> list[problems.Problem]:
        """The problems that it is for, of one severity or of all for ""."""
        return [problem for check in self.kind.value for problem in matching(checked, check, severity)]


MESH_FIXES = {
    fix.kind: fix
    for fix in (
        MeshFix(FixKind.TRIANGULATE, mesh_fixes.triangulate, may_spoil=False),  # it is exported as before
        MeshFix(FixKind.MERGE_VERTICES, mesh_fixes.merge_vertices),
        MeshFix(FixKind.ZERO_AREA, fix_zero_area),
        # along a crack, filling would make slivers
        MeshFix(FixKind.FILL_HOLES, mesh_fixes.fill_holes, first=SceneRule.DOUBLED_VERTICES, by_hand="holes"),
        MeshFix(FixKind.FLIP_FACES, mesh_fixes.flip_faces),
        MeshFix(FixKind.LOOSE_VERTICES, mesh_fixes.delete_vertices),
        MeshFix(FixKind.DOUBLED_FACES, mesh_fixes.delete_faces),
    )
}


@dataclass(frozen=True, slots=True)
class Fixed:
    """What a fix did, by the objects' names: how much it fixed in each, and why it left others as they were."""

    counts: dict[str, int]
    left_out: dict[str, str]


def fix_objects(context: bpy.types.Context, root: bpy.types.Object, fix: MeshFix, severity: str = "") -> Fixed:
    """Fixes each object of a root, for problems of one severity or of all for "", and keeps the check of the result.
    Raises `SylpheedError`."""
    before = results.run(context, root)
    found = fix.found(before, severity)
    objects = problems.by_session_uid(context.scene)
    left_out = {uid: _reason_not_own(objects[uid]) for problem in found for uid in problem.objects}
    before_it = matching(before, fix.first, "warning") if fix.first else []
    waiting = {uid for problem in before_it for uid in problem.elements}
    originals: dict[int, bmesh.types.BMesh] = {}
    try:
        for uid in gather(found):
            why = reason_against(objects[uid])
            if uid in waiting:
                why = report_text("has vertices in one place: merge them first")
            if why:
                left_out[uid] = why
                continue
            with editable(objects[uid]) as mesh:
                originals[uid] = mesh.copy()
                fix.apply(_broken(root, objects[uid], mesh, before, found))
        after = results.run(context, root)
        worse = [uid for uid in originals if not _is_better(fix, severity, before, after, uid)]
        for uid in worse:
            restore(objects[uid], originals[uid])
    finally:
        for mesh in originals.values():
            mesh.free()
    if worse:
        after = results.run(context, root)
    left = {uid: _count(fix.found(after, severity), uid) for uid in originals}
    left_out |= {uid: report_text(BY_HAND[fix.by_hand]) for uid, count in left.items() if count}
    fixed = {objects[uid].name: _count(found, uid) - count for uid, count in left.items() if uid not in worse}
    return Fixed(fixed, {objects[uid].name: why for uid, why in left_out.items()})


def _broken(
    root: bpy.types.Object,
    obj: bpy.types.Object,
    mesh: bmesh.types.BMesh,
    before: problems.Checked,
    found: list[problems.Problem],
) -> Broken:
    numbers = gather(found)[obj.session_uid]
    partners = {uid: kept for problem in found for uid, kept in problem.partners.items()}
    vertices, faces = ({element: element.index for element in sequence} for sequence in (mesh.verts, mesh.faces))
    return Broken(
        mesh,
        numbers,
        partners.get(obj.session_uid, numbers),
        before.shapes[obj.session_uid],
        _source_triangles(root, obj),
        vertices,
        faces,
    )


def _is_better(fix: MeshFix, severity: str, before: problems.Checked, after: problems.Checked, uid: int) -> bool:
    """Whether an object is better off now."""
    shape_before, shape_after = (
        _count([problem for check in SHAPE for problem in matching(checked, check)], uid) for checked in (before, after)
    )
    if fix.may_spoil and shape_after > shape_before:
        return False
    return _count(fix.found(after, severity), uid) < _count(fix.found(before, severity), uid)


def _count(found: list[problems.Problem], uid: int) -> int:
    """How many elements of an object some problems name."""
    return sum(len(problem.elements.get(uid, ())) for problem in found)


def _reason_not_own(obj: bpy.types.Object) -> str:
    if obj.type == "MESH":
        return report_text("shows faces that aren't its own: apply its modifiers first")
    if obj.type == "EMPTY":
        return report_text("is an instance of a collection: make it real first")
    return report_text("isn't a mesh: convert it to one first")


def _source_triangles(root: bpy.types.Object, obj: bpy.types.Object) -> np.ndarray:
    if custom_properties.kind(root) == custom_properties.HULL:
        return sources.hull_source(root).triangles.astype(np.int64)
    parts, record = sources.set_source(root).parts, obj.get(custom_properties.RECORD)
    if isinstance(record, int) and 0 <= record < len(parts) and custom_properties.came_with(obj, root):
        return parts[record].triangles.astype(np.int64)
    return np.zeros((0, 3), np.int64)
