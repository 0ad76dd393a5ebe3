"""Fixes the meshes of objects, and puts back what is no better off by that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import bmesh
import bpy

from ..translations import report_text
from . import problems, results
from .mesh_surgery import Broken, source_triangles
from .selecting import gather, matching

SHAPE = ("zero-area triangles", "open edges", "crowded edges", "doubled triangles")
"""Checks of which a fix may not raise the sum."""


BY_HAND = {
    "elements": "can't be mended this way: select it and mend it by hand",
    "holes": "has a hole that can't be filled this way: select its edges and fill it by hand (F)",
}
"""What to do about that which a fix leaves."""


class MeshFix:
    """A fix of some checks' problems. Objects with a warning of the check `first` are left alone until that is fixed.
    What `mend` doesn't better is put back, by the count of these checks and, where it may spoil them, of those of
    `SHAPE`. `severity` limits it to errors, warnings or infos; "" stands for all."""

    checks: tuple[str, ...] = ()
    first = ""
    may_spoil = True
    by_hand = "elements"
    severity: str
    mend: Callable[[Broken], None]

    def found(self, checked: problems.Checked) -> list[problems.Problem]:
        """The problems that it is for."""
        return [problem for check in self.checks for problem in matching(checked, check, self.severity)]

    def betters(self, before: problems.Checked, after: problems.Checked, uid: int) -> bool:
        """Whether an object is better off now."""
        old = [problem for check in SHAPE for problem in matching(before, check)]
        new = [problem for check in SHAPE for problem in matching(after, check)]
        spoiled = self.may_spoil and _count(new, uid) > _count(old, uid)
        return not spoiled and _count(self.found(after), uid) < _count(self.found(before), uid)


def fix_objects(
    context: bpy.types.Context, root: bpy.types.Object, before: problems.Checked, fix: MeshFix
) -> tuple[dict[str, int], dict[str, str]]:
    """Mends each object and keeps the check of the result: by name, how much was mended, and what was left and why."""
    found = fix.found(before)
    partners = {uid: kept for problem in found for uid, kept in problem.partners.items()}
    waiting = {uid for problem in matching(before, fix.first, "warning") for uid in problem.elements}
    objects = problems.by_session_uid(context.scene)
    left_out = {uid: _reason_not_own(objects[uid]) for problem in found for uid in problem.objects}
    unmended: dict[int, bmesh.types.BMesh] = {}
    try:
        for uid, numbers in gather(found).items():
            obj = objects[uid]
            why = reason_against(obj)
            if uid in waiting:
                why = report_text("has vertices in one place: merge them first")
            if why:
                left_out[uid] = why
                continue
            with editable(obj) as mesh:
                unmended[uid] = mesh.copy()
                source = source_triangles(root, obj)
                shape, kept = before.shapes[uid], partners.get(uid, numbers)
                vertices, faces = ({element: element.index for element in all_} for all_ in (mesh.verts, mesh.faces))
                fix.mend(Broken(mesh, numbers, kept, shape, source, vertices, faces))
        after = results.run(context, root)
        worse = [uid for uid in unmended if not fix.betters(before, after, uid)]
        for uid in worse:
            _restore(objects[uid], unmended[uid])
    finally:
        for mesh in unmended.values():
            mesh.free()
    if worse:
        after = results.run(context, root)
    left = {uid: _count(fix.found(after), uid) for uid in unmended}
    left_out |= {uid: report_text(BY_HAND[fix.by_hand]) for uid, count in left.items() if count}
    mended = {objects[uid].name: _count(found, uid) - count for uid, count in left.items() if uid not in worse}
    return mended, {objects[uid].name: why for uid, why in left_out.items()}


def _count(found: list[problems.Problem], uid: int) -> int:
    """How many elements of an object some problems name."""
    return sum(len(problem.elements.get(uid, ())) for problem in found)


def _reason_not_own(obj: bpy.types.Object) -> str:
    if obj.type == "MESH":
        return report_text("shows faces that aren't its own: apply its modifiers first")
    if obj.type == "EMPTY":
        return report_text("is an instance of a collection: make it real first")
    return report_text("is no mesh: convert it to one first")


def reason_against(obj: bpy.types.Object) -> str:
    """Why a fix may not change an object's mesh, "" where it may."""
    if obj.library or obj.data.library or obj.data.override_library:
        return report_text("is linked from a library: make it local first")
    if sum(other.data == obj.data for other in bpy.data.objects) > 1:
        return report_text("shares its mesh with another object: make it a single user first")
    if obj.mode not in {"OBJECT", "EDIT"}:
        return report_text("is in another mode: go to object or edit mode first")
    return ""


@contextmanager
def editable(obj: bpy.types.Object) -> Iterator[bmesh.types.BMesh]:
    """The object's mesh to change, in object and in edit mode."""
    if obj.mode == "EDIT":
        mesh = bmesh.from_edit_mesh(obj.data)
        _number(mesh)
        yield mesh
        bmesh.update_edit_mesh(obj.data)
        return
    mesh = bmesh.new()
    try:
        mesh.from_mesh(obj.data)
        _number(mesh)
        yield mesh
        mesh.to_mesh(obj.data)
        obj.data.update()
    finally:
        mesh.free()


def _restore(obj: bpy.types.Object, mesh: bmesh.types.BMesh) -> None:
    """Gives an object the mesh that it had."""
    if obj.mode != "EDIT":
        mesh.to_mesh(obj.data)
        obj.data.update()
        return
    copy = bpy.data.meshes.new(obj.data.name)
    try:
        mesh.to_mesh(copy)
        edited = bmesh.from_edit_mesh(obj.data)
        edited.clear()
        edited.from_mesh(copy)
        bmesh.update_edit_mesh(obj.data)
    finally:
        bpy.data.meshes.remove(copy)


def _number(mesh: bmesh.types.BMesh) -> None:
    for sequence in (mesh.verts, mesh.edges, mesh.faces):
        sequence.index_update()
