"""Mends what a check found, one undo step each: exactly the elements that the check names, and nothing else.

A mesh's claims to the source's numbers stay with what stays. What a fix makes is new, unless it is a triangle that
the source has on the same vertices: then it is that one again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bmesh
import bpy
import numpy as np
from bpy.props import StringProperty

from . import carry, last_check
from .check_operators import find_checked_root, matching, redraw_sidebars
from .core import collision_set, mcol
from .core.errors import FormatError, some
from .core.geometry import FLATTEST
from .mesh_bridge import TRIANGLE_ATTRIBUTE, VERTEX_ATTRIBUTE
from .problems import Problem
from .translations import report_text

Result = set[str]


@dataclass(frozen=True, slots=True, eq=False)
class Broken:
    """What a fix works on: the mesh of one object, the numbers of its broken elements, for each doubled vertex
    the one to keep, and the source's triangles, int64 (nt, 3), none for what is new."""

    mesh: bmesh.types.BMesh
    numbers: np.ndarray
    partners: np.ndarray
    source: np.ndarray

    def pick(self, sequence: Any) -> list:
        """The elements of these numbers among the mesh's vertices, edges or faces."""
        sequence.ensure_lookup_table()
        return [sequence[number] for number in self.numbers.tolist()]


class Fix:
    """An operator that mends some checks' problems. `mend` returns how many things it mended. Objects with a warning
    of the check `first` are left alone until that is mended."""

    bl_options = {"REGISTER", "UNDO"}
    checks: tuple[str, ...] = ()
    first = ""

    severity: StringProperty(
        name="Severity", description="Only what is an error, warning or info. Empty: all of it", default=""
    )

    root: StringProperty(
        name="Root", description="Name of the hull's root. Empty: that of the active object", default=""
    )

    @staticmethod
    def mend(broken: Broken) -> int:
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> Result:
        try:
            root = find_checked_root(context, self.root)
            checked = last_check.run(context, root)
            found = [problem for check in self.checks for problem in matching(checked, check, self.severity)]
            waiting = {name for problem in matching(checked, self.first, "warning") for name in problem.elements}
            mended, names, left_out = mend_objects(context, root, found, self.mend, waiting)
        except FormatError as error:
            self.report({"WARNING"}, str(error))
            return {"CANCELLED"}
        if left_out:
            self.report({"WARNING"}, "; ".join(f"`{name}` {why}" for name, why in left_out.items()))
        elif not names:
            self.report({"INFO"}, report_text("{name}: nothing to mend", name=root.name))
        if not names:
            return {"CANCELLED"}
        context.view_layer.update()
        last_check.run(context, root)
        redraw_sidebars(context)
        where = some([f"`{name}`" for name in names])
        self.report({"INFO"}, report_text("{count:,} mended in {names}", count=mended, names=where))
        return {"FINISHED"}


def mend_objects(
    context: bpy.types.Context,
    root: bpy.types.Object,
    problems: list[Problem],
    mend: Callable[[Broken], int],
    waiting: set[str],
) -> tuple[int, list[str], dict[str, str]]:
    """Mends each object: how much was mended, in which objects, and which were left alone and why."""
    elements: dict[str, np.ndarray] = {}
    partners: dict[str, np.ndarray] = {}
    left_out: dict[str, str] = {}
    for problem in problems:
        why = report_text("shows faces that aren't its own: apply its modifiers first")
        left_out |= dict.fromkeys(problem.objects, why)
        partners |= problem.partners
        for name, numbers in problem.elements.items():
            elements[name] = np.union1d(elements.get(name, np.zeros(0, np.int64)), numbers)
    total, names = 0, []
    for name, numbers in elements.items():
        obj = context.scene.objects[name]
        why = _reason_against(obj)
        if name in waiting:
            why = report_text("has vertices in one place: merge them first")
        if why:
            left_out[name] = why
            continue
        with _editable(obj) as mesh:
            count = mend(Broken(mesh, numbers, partners.get(name, numbers), _source_triangles(root, obj)))
        total += count
        names += [name] if count else []
    return total, names, left_out


def _reason_against(obj: bpy.types.Object) -> str:
    if obj.library or obj.data.library or obj.data.override_library:
        return report_text("is linked from a library: make it local first")
    if sum(other.data == obj.data for other in bpy.data.objects) > 1:
        return report_text("shares its mesh with another object: make it a single user first")
    if obj.mode not in {"OBJECT", "EDIT"}:
        return report_text("is in another mode: go to object or edit mode first")
    return ""


@contextmanager
def _editable(obj: bpy.types.Object) -> Iterator[bmesh.types.BMesh]:
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


def _number(mesh: bmesh.types.BMesh) -> None:
    for sequence in (mesh.verts, mesh.edges, mesh.faces):
        sequence.index_update()


def _source_triangles(root: bpy.types.Object, obj: bpy.types.Object) -> np.ndarray:
    data = carry.source(root)
    if carry.kind(root) == carry.HULL:
        return mcol.decode(data).triangles.astype(np.int64)
    parts, record = collision_set.decode(data).parts, obj.get(carry.RECORD)
    if isinstance(record, int) and 0 <= record < len(parts) and obj.get(carry.ROOT_ID) == root.get(carry.ROOT_ID):
        return parts[record].triangles.astype(np.int64)
    return np.zeros((0, 3), np.int64)


def _claim(broken: Broken, faces: Iterable[bmesh.types.BMFace]) -> None:
    """Makes faces new, or those triangles of the source again that have their vertices."""
    layer = broken.mesh.faces.layers.int.get(TRIANGLE_ATTRIBUTE)
    vertex_layer = broken.mesh.verts.layers.int.get(VERTEX_ATTRIBUTE)
    if layer is None:
        return
    sorted_source = np.sort(broken.source, axis=1)
    for face in faces:
        face[layer] = 0
        if vertex_layer is not None and len(face.verts) == 3:
            corners = sorted(vertex[vertex_layer] - 1 for vertex in face.verts)
            (same,) = np.nonzero((sorted_source == corners).all(axis=1))
            face[layer] = int(same[0]) + 1 if len(same) else 0


def _triangulate(broken: Broken, faces: list[bmesh.types.BMFace]) -> None:
    """Cuts faces into triangles, as Blender shows them where they have four corners."""
    large = [face for face in faces if len(face.verts) > 3]
    made = bmesh.ops.triangulate(broken.mesh, faces=large, quad_method="FIXED", ngon_method="BEAUTY")["faces"]
    _claim(broken, {*made, *(face for face in faces if face.is_valid)})


class SYLPHEED_OT_fix_triangulate(bpy.types.Operator, Fix):
    """Cut faces with four or more corners into triangles"""

    bl_idname = "sylpheed.fix_triangulate"
    bl_label = "Triangulate Sylpheed Faces"
    checks = ("large faces",)

    @staticmethod
    def mend(broken: Broken) -> int:
        faces = broken.pick(broken.mesh.faces)
        _triangulate(broken, faces)
        return len(broken.numbers)


class SYLPHEED_OT_fix_doubled_vertices(bpy.types.Operator, Fix):
    """Merge vertices of one object that lie in one place"""

    bl_idname = "sylpheed.fix_doubled_vertices"
    bl_label = "Merge Sylpheed Vertices by Distance"
    checks = ("doubled vertices",)

    @staticmethod
    def mend(broken: Broken) -> int:
        broken.mesh.verts.ensure_lookup_table()
        pairs = zip(broken.numbers.tolist(), broken.partners.tolist(), strict=True)
        vertices = broken.mesh.verts
        targets = {vertices[number]: vertices[kept] for number, kept in pairs if number != kept}
        bmesh.ops.weld_verts(broken.mesh, targetmap=targets)
        return len(targets)


class SYLPHEED_OT_fix_flat(bpy.types.Operator, Fix):
    """Dissolve faces without area"""

    bl_idname = "sylpheed.fix_flat"
    bl_label = "Dissolve Degenerate Sylpheed Faces"
    checks = ("zero-area triangles",)

    @staticmethod
    def mend(broken: Broken) -> int:
        faces = broken.pick(broken.mesh.faces)
        edges = list({edge for face in faces for edge in face.edges})
        around = {face for edge in edges for vertex in edge.verts for face in vertex.link_faces}
        reach = max(abs(value) for face in faces for vertex in face.verts for value in vertex.co)
        bmesh.ops.dissolve_degenerate(broken.mesh, dist=4 * FLATTEST * reach, edges=edges)
        _triangulate(broken, [face for face in broken.mesh.faces if face in around or len(face.verts) > 3])
        return len(broken.numbers)


class SYLPHEED_OT_fix_holes(bpy.types.Operator, Fix):
    """Fill the holes at open edges with triangles"""

    bl_idname = "sylpheed.fix_holes"
    bl_label = "Fill Sylpheed Holes"
    checks = ("open edges",)
    first = "doubled vertices"  # along a crack, filling would make slivers

    @staticmethod
    def mend(broken: Broken) -> int:
        edges = broken.pick(broken.mesh.edges)
        faces = bmesh.ops.holes_fill(broken.mesh, edges=edges, sides=0)["faces"]
        for face in faces:
            if _runs_along(face):
                face.normal_flip()
            face.smooth = False
        _triangulate(broken, faces)
        return len(faces)


def _runs_along(face: bmesh.types.BMFace) -> bool:
    """Whether a neighbour's side leads the same way as the face's own, so that their fronts disagree."""
    for loop in face.loops:
        other = loop.link_loop_radial_next
        if other.face != face:
            return other.vert == loop.vert
    return False


class SYLPHEED_OT_fix_facing(bpy.types.Operator, Fix):
    """Turn faces so that their front faces free space"""

    bl_idname = "sylpheed.fix_facing"
    bl_label = "Turn Sylpheed Faces"
    checks = ("flipped triangles", "winding")

    @staticmethod
    def mend(broken: Broken) -> int:
        bmesh.ops.reverse_faces(broken.mesh, faces=broken.pick(broken.mesh.faces))
        return len(broken.numbers)


class SYLPHEED_OT_fix_loose_vertices(bpy.types.Operator, Fix):
    """Delete vertices and edges that belong to no face"""

    bl_idname = "sylpheed.fix_loose_vertices"
    bl_label = "Drop Unused Sylpheed Vertices"
    checks = ("loose vertices",)

    @staticmethod
    def mend(broken: Broken) -> int:
        bmesh.ops.delete(broken.mesh, geom=broken.pick(broken.mesh.verts), context="VERTS")
        return len(broken.numbers)


class SYLPHEED_OT_fix_doubled_faces(bpy.types.Operator, Fix):
    """Delete faces that lie on the vertices of another"""

    bl_idname = "sylpheed.fix_doubled_faces"
    bl_label = "Delete Doubled Sylpheed Faces"
    checks = ("doubled triangles",)

    @staticmethod
    def mend(broken: Broken) -> int:
        bmesh.ops.delete(broken.mesh, geom=broken.pick(broken.mesh.faces), context="FACES")
        return len(broken.numbers)


CLASSES = (
    SYLPHEED_OT_fix_triangulate,
    SYLPHEED_OT_fix_doubled_vertices,
    SYLPHEED_OT_fix_flat,
    SYLPHEED_OT_fix_holes,
    SYLPHEED_OT_fix_facing,
    SYLPHEED_OT_fix_loose_vertices,
    SYLPHEED_OT_fix_doubled_faces,
)

FIXES = {check: cls.bl_idname for cls in CLASSES for check in cls.checks}
"""The operator that mends a check's problems, where one does."""


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
