"""Fixing what a check found about whole objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import bmesh
import bpy
import numpy as np
from mathutils import Matrix

from ..scene import custom_properties, evaluation
from ..translations import report_text
from . import problems, results
from .editable import editable, reason_against
from .fix_kinds import FixKind
from .fixing import Fixed
from .selecting import matching


@dataclass(frozen=True, slots=True)
class ObjectFix:
    """How the objects with problems of a kind are fixed. `apply` takes the context, the root and an
    object, and returns why it leaves the object as it is, "" where it fixes it."""

    kind: FixKind
    apply: Callable[[bpy.types.Context, bpy.types.Object, bpy.types.Object], str]


def fix_whole_objects(context: bpy.types.Context, root: bpy.types.Object, fix: ObjectFix, severity: str = "") -> Fixed:
    """Fixes each object of a root, for problems of one severity or of all for "", and keeps the check of the result.
    Raises `SylpheedError`."""
    fixed, left_out = [], {}
    checked = results.run(context, root)
    found = [problem for check in fix.kind.value for problem in matching(checked, check, severity)]
    objects = problems.by_session_uid(context.scene)
    for uid in {uid for problem in found for uid in problem.objects}:
        why = fix.apply(context, root, objects[uid])
        if why:
            left_out[objects[uid].name] = why
        else:
            fixed.append(objects[uid].name)
    context.view_layer.update()
    results.run(context, root)
    return Fixed(dict.fromkeys(sorted(fixed), 1), left_out)


def move_cutter(context: bpy.types.Context, root: bpy.types.Object, obj: bpy.types.Object) -> str:
    """Takes an object that only cuts others out of the hull: it stays where it is and goes on cutting."""
    if obj.library or obj.override_library:
        return report_text("is linked from a library: make it local first")
    with evaluation.evaluated(context, root, [obj], True) as view:
        place = view.placement(obj).matrix.copy()
    shelf = custom_properties.shelf(obj)
    if shelf is not None:
        place[:3, 3] += shelf
    world = np.array(root.matrix_world, np.float64) @ place
    obj.parent = None
    obj.matrix_world = Matrix(world.tolist())
    return ""


def include_cell(context: bpy.types.Context, root: bpy.types.Object, obj: bpy.types.Object) -> str:
    """Makes a cell box with faces part of the hull, without what is left of the box."""
    why = reason_against(obj)
    if why:
        return why
    with editable(obj) as mesh:
        bmesh.ops.delete(mesh, geom=[vertex for vertex in mesh.verts if not vertex.link_faces], context="VERTS")
    del obj.data[custom_properties.KIND]
    return ""


OBJECT_FIXES = {
    fix.kind: fix for fix in (ObjectFix(FixKind.CUTTERS, move_cutter), ObjectFix(FixKind.CELLS, include_cell))
}
