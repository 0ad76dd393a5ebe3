"""Mends what a check found, one undo step each: exactly the elements that the check names, and nothing else. An object
that would be no better off is left as it was.

A mesh's claims to the source's numbers stay with what stays. What a fix makes is new, unless it is a triangle that
the source has on the same vertices: then it is that one again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import bmesh
import bpy
import numpy as np
from bpy.props import StringProperty

from ...core.errors import SylpheedError
from ...core.geometry.triangles import FLATTEST, flat
from ...core.text import some
from ..checks import problems, results, ring_fill, rings
from ..scene import custom_properties, mesh_arrays, sources
from ..scene.roots import find_any_root
from ..translations import report_text
from .check_operators import RootProperties, gather, matching, redraw_sidebars

Result = set[str]

Corners = tuple[bmesh.types.BMVert, ...]
Triangles = list[Corners]


SHAPE = ("zero-area triangles", "open edges", "crowded edges", "doubled triangles")
"""Checks of which a fix may not raise the sum."""

BY_HAND = {
    "elements": "can't be mended this way: select it and mend it by hand",
    "holes": "has a hole that can't be filled this way: select its edges and fill it by hand (F)",
}
"""What to do about that which a fix leaves."""


@dataclass(frozen=True, eq=False)
class Broken:
    """What a fix works on: the mesh of one object, the numbers of its broken elements, for each doubled vertex
    the one to keep, the mesh as it would be exported, and the source's triangles, int64 (nt, 3), none for what is
    new. `vertices` and `faces` have the numbers that the elements began with, which Blender's own forget."""

    mesh: bmesh.types.BMesh
    numbers: np.ndarray
    partners: np.ndarray
    shape: problems.Shape
    source: np.ndarray
    vertices: dict[bmesh.types.BMVert, int]
    faces: dict[bmesh.types.BMFace, int]

    @cached_property
    def numbers_by_corners(self) -> dict[tuple[int, ...], int]:
        """The number of each of the source's triangles, by its vertices in ascending order: the first of several."""
        corners = map(tuple, np.sort(self.source, axis=1)[::-1].tolist())
        return dict(zip(corners, range(len(self.source) - 1, -1, -1), strict=True))

    def pick(self, sequence: Any) -> list:
        """The elements of these numbers among the mesh's vertices, edges or faces."""
        sequence.ensure_lookup_table()
        return [sequence[number] for number in self.numbers.tolist()]


def report_fixed(
    context: bpy.types.Context,
    operator: bpy.types.Operator,
    root: bpy.types.Object,
    fixed: dict[str, int],
    left_out: dict[str, str],
) -> Result:
    """Reports how much was fixed of each object, and why others are as they were. Returns the operator's result."""
    redraw_sidebars(context)
    if left_out:
        operator.report({"WARNING"}, "; ".join(f"`{name}` {why}" for name, why in left_out.items()))
    elif not fixed:
        operator.report({"INFO"}, report_text("{name}: nothing to mend", name=root.name))
    if not fixed:
        return {"CANCELLED"}
    names = some([f"`{name}`" for name in fixed])
    operator.report({"INFO"}, report_text("{count:,} mended in {names}", count=sum(fixed.values()), names=names))
    return {"FINISHED"}


class Fix(RootProperties):
    """An operator that mends some checks' problems. Objects with a warning of the check `first` are left alone until
    that is mended. What `mend` doesn't better is left as it was, by the count of these checks and, where it may spoil
    them, of those of `SHAPE`."""

    bl_options = {"REGISTER", "UNDO"}
    checks: tuple[str, ...] = ()
    first = ""
    may_spoil = True
    by_hand = "elements"
    mend: Callable[[Broken], None]

    severity: StringProperty(
        name="Severity", description="Only what is an error, warning or info. Empty: all of it", default=""
    )

    def execute(self, context: bpy.types.Context) -> Result:
        try:
            root = find_any_root(context, self.root, self.root_uid)
            checked = results.run(context, root)
            mended, left_out = mend_objects(context, root, checked, self)
        except SylpheedError as error:
            self.report({"WARNING"}, str(error))
            return {"CANCELLED"}
        return report_fixed(context, self, root, mended, left_out)

    def found(self, checked: problems.Checked) -> list[problems.Problem]:
        """The problems that it is for."""
        return [problem for check in self.checks for problem in matching(checked, check, self.severity)]

    def betters(self, before: problems.Checked, after: problems.Checked, uid: int) -> bool:
        """Whether an object is better off now."""
        told = [problem for check in SHAPE for problem in matching(before, check)]
        now = [problem for check in SHAPE for problem in matching(after, check)]
        spoiled = self.may_spoil and _count(now, uid) > _count(told, uid)
        return not spoiled and _count(self.found(after), uid) < _count(self.found(before), uid)


def mend_objects(
    context: bpy.types.Context, root: bpy.types.Object, before: problems.Checked, fix: Fix
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
                source = _source_triangles(root, obj)
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


def _source_triangles(root: bpy.types.Object, obj: bpy.types.Object) -> np.ndarray:
    if custom_properties.kind(root) == custom_properties.HULL:
        return sources.hull_source(root).triangles.astype(np.int64)
    parts, record = sources.set_source(root).parts, obj.get(custom_properties.RECORD)
    if isinstance(record, int) and 0 <= record < len(parts) and custom_properties.came_with(obj, root):
        return parts[record].triangles.astype(np.int64)
    return np.zeros((0, 3), np.int64)


def _claim(broken: Broken, faces: Iterable[bmesh.types.BMFace]) -> None:
    """Makes faces new, or those triangles of the source again that have their vertices."""
    layer = broken.mesh.faces.layers.int.get(mesh_arrays.TRIANGLE_ATTRIBUTE)
    vertex_layer = broken.mesh.verts.layers.int.get(mesh_arrays.VERTEX_ATTRIBUTE)
    if layer is None:
        return
    for face in faces:
        face[layer] = 0
        if vertex_layer is not None and len(face.verts) == 3:
            corners = sorted(vertex[vertex_layer] - 1 for vertex in face.verts)
            face[layer] = broken.numbers_by_corners.get(tuple(corners), -1) + 1


def _cut(broken: Broken, face: bmesh.types.BMFace, triangles: Triangles) -> list[bmesh.types.BMFace]:
    """Replaces a face by triangles of its vertices. Leaves it, and returns none, where there are none, one of them is
    there already, or the face uses a vertex twice."""
    there = any(broken.mesh.faces.get(corners) for corners in triangles)
    if not triangles or there or len(set(face.verts)) < len(face.verts):
        return []
    loops = {loop.vert: loop for loop in face.loops}
    made = []
    for corners in triangles:
        piece = broken.mesh.faces.new(corners, face)
        for loop in piece.loops:
            loop.copy_from(loops[loop.vert])
        piece.select = face.select
        made.append(piece)
    bmesh.ops.delete(broken.mesh, geom=[face], context="FACES_ONLY")
    _claim(broken, made)
    return made


def _exported(broken: Broken, face: bmesh.types.BMFace) -> Triangles:
    """The triangles that a face is exported as, running around like the face; none for a face that the fix changed
    already."""
    turn = {broken.vertices[vertex]: place for place, vertex in enumerate(face.verts)}
    vertices = list(face.verts)
    rows = broken.shape.triangles[broken.shape.faces == broken.faces.get(face, -1)].tolist()
    if any(number not in turn for row in rows for number in row):
        return []
    return [tuple(vertices[place] for place in sorted(turn[number] for number in row)) for row in rows]


class SYLPHEED_OT_fix_triangulate(bpy.types.Operator, Fix):
    """Cut faces with four or more corners into triangles"""

    bl_idname = "sylpheed.fix_triangulate"
    bl_label = "Triangulate Sylpheed Faces"
    checks = ("large faces",)
    may_spoil = False  # it is exported as before

    @staticmethod
    def mend(broken: Broken) -> None:
        faces = broken.pick(broken.mesh.faces)
        for face, triangles in [(face, _exported(broken, face)) for face in faces]:
            _cut(broken, face, triangles)


class SYLPHEED_OT_fix_doubled_vertices(bpy.types.Operator, Fix):
    """Merge vertices of one object that lie in one place"""

    bl_idname = "sylpheed.fix_doubled_vertices"
    bl_label = "Merge Sylpheed Vertices by Distance"
    checks = ("doubled vertices",)

    @staticmethod
    def mend(broken: Broken) -> None:
        broken.mesh.verts.ensure_lookup_table()
        pairs = zip(broken.numbers.tolist(), broken.partners.tolist(), strict=True)
        vertices = broken.mesh.verts
        targets = {vertices[number]: vertices[kept] for number, kept in pairs if number != kept}
        bmesh.ops.weld_verts(broken.mesh, targetmap=targets)


class SYLPHEED_OT_fix_flat(bpy.types.Operator, Fix):
    """Merge corners that lie in one place, and turn the longest edge of other faces without area"""

    bl_idname = "sylpheed.fix_flat"
    bl_label = "Mend Sylpheed Faces without Area"
    checks = ("zero-area triangles",)

    @staticmethod
    def mend(broken: Broken) -> None:
        faces = broken.pick(broken.mesh.faces)
        waiting = [face for face in faces if len(face.verts) == 3]
        for face in faces:
            if len(face.verts) > 3:
                waiting += _cut(broken, face, _turn_within(broken, _exported(broken, face)))
        progress = True
        while progress:  # a face may become mendable when its neighbour is
            progress = False
            for face in waiting:
                if face.is_valid and _flat(broken, [tuple(face.verts)])[0]:
                    progress |= _merge_corners(broken, face) or _turn_longest(broken, face)


def _flat(broken: Broken, triangles: Triangles) -> list[bool]:
    numbers = [[broken.vertices[vertex] for vertex in corners] for corners in triangles]
    return [bool(answer) for answer in flat(broken.shape.vertices, np.array(numbers, np.int64).reshape(-1, 3))]


def _turn_within(broken: Broken, triangles: Triangles) -> Triangles:
    """The triangles of one face with edges between them turned, so that as few as possible have no area."""
    turned = True
    while turned:
        turned = False
        for one, is_flat in zip(triangles, _flat(broken, triangles), strict=True):
            if not is_flat:
                continue
            a, b, c = _longest_last(broken, one)
            for other in triangles:
                if other is not one and {b, c} < set(other):
                    (d,) = set(other) - {b, c}
                    new: Triangles = [(a, b, d), (a, d, c)]
                    turned = sum(_flat(broken, new)) < sum(_flat(broken, [one, other]))
                    if turned:
                        triangles = [kept for kept in triangles if kept not in (one, other)] + new
                    break
            if turned:
                break
    return triangles


def _turn_longest(broken: Broken, face: bmesh.types.BMFace) -> bool:
    """Turns a face's longest edge toward the corner opposite, where that leaves fewer faces without area."""
    a, b, c = _longest_last(broken, tuple(face.verts))
    edge = broken.mesh.edges.get((b, c))
    if len(edge.link_faces) == 2 and any(len(other.verts) > 3 for other in edge.link_faces):
        (large,) = (other for other in edge.link_faces if other != face)
        _cut(broken, large, _exported(broken, large))
    if len(edge.link_faces) != 2 or not edge.is_contiguous:
        return False
    (other,) = (other for other in edge.link_faces if other != face)
    if len(other.verts) > 3:
        return False
    (d,) = set(other.verts) - {b, c}
    if d == a or broken.mesh.edges.get((a, d)):
        return False
    if sum(_flat(broken, [(a, b, d), (a, d, c)])) >= sum(_flat(broken, [(a, b, c), (b, c, d)])):
        return False
    turned = bmesh.utils.edge_rotate(edge)
    if turned is None:
        return False
    _claim(broken, turned.link_faces)
    return True


def _merge_corners(broken: Broken, face: bmesh.types.BMFace) -> bool:
    """Merges the ends of a face's shortest edge if they lie in one place and nothing folds up around them."""
    places = broken.shape.vertices.astype(np.float64)

    def length(edge: bmesh.types.BMEdge) -> float:
        return float(np.linalg.norm(places[broken.vertices[edge.verts[0]]] - places[broken.vertices[edge.verts[1]]]))

    edge = min(face.edges, key=length)
    if length(edge) > 4 * FLATTEST * float(np.abs(places).max()):
        return False
    near, far = ({edge.other_vert(vertex) for edge in vertex.link_edges} for vertex in edge.verts)
    if near & far - {vertex for other in edge.link_faces for vertex in other.verts}:
        return False
    layer = broken.mesh.verts.layers.int.get(mesh_arrays.VERTEX_ATTRIBUTE)
    kept, gone = sorted(edge.verts, key=lambda vertex: (layer is None or vertex[layer] == 0, broken.vertices[vertex]))
    bmesh.ops.weld_verts(broken.mesh, targetmap={gone: kept})
    _claim(broken, kept.link_faces)
    return True


def _longest_last(broken: Broken, corners: Corners) -> Corners:
    """The corners of a triangle, turned so that its longest side is that from the second to the third."""
    places = broken.shape.vertices[[broken.vertices[vertex] for vertex in corners]].astype(np.float64)
    first = int(np.linalg.norm(np.roll(places, -1, axis=0) - np.roll(places, 1, axis=0), axis=1).argmax())
    return corners[first:] + corners[:first]


class SYLPHEED_OT_fix_holes(bpy.types.Operator, Fix):
    """Fill the holes at open edges with triangles"""

    bl_idname = "sylpheed.fix_holes"
    bl_label = "Fill Sylpheed Holes"
    checks = ("open edges",)
    first = "doubled vertices"  # along a crack, filling would make slivers
    by_hand = "holes"

    @staticmethod
    def mend(broken: Broken) -> None:
        for ring in rings.find_rings(broken.pick(broken.mesh.edges)):
            if len(ring) < 3 or any(set(ring) == set(face.verts) for face in ring[0].link_faces):
                continue
            numbers = [broken.vertices[vertex] for vertex in ring]
            triangles = ring_fill.fill_ring(broken.shape.vertices[numbers], rings.joined(ring))
            corners = [] if triangles is None else [tuple(ring[at] for at in row) for row in triangles.tolist()]
            if any(broken.mesh.faces.get(three) for three in corners):
                continue
            faces = [broken.mesh.faces.new(three) for three in corners]
            for face in faces:
                face.smooth = False
            _claim(broken, faces)


class SYLPHEED_OT_fix_facing(bpy.types.Operator, Fix):
    """Turn faces so that their front faces free space"""

    bl_idname = "sylpheed.fix_facing"
    bl_label = "Turn Sylpheed Faces"
    checks = ("flipped triangles", "winding")

    @staticmethod
    def mend(broken: Broken) -> None:
        bmesh.ops.reverse_faces(broken.mesh, faces=broken.pick(broken.mesh.faces))


class SYLPHEED_OT_fix_loose_vertices(bpy.types.Operator, Fix):
    """Delete vertices and edges that belong to no face"""

    bl_idname = "sylpheed.fix_loose_vertices"
    bl_label = "Drop Unused Sylpheed Vertices"
    checks = ("loose vertices",)

    @staticmethod
    def mend(broken: Broken) -> None:
        bmesh.ops.delete(broken.mesh, geom=broken.pick(broken.mesh.verts), context="VERTS")


class SYLPHEED_OT_fix_doubled_faces(bpy.types.Operator, Fix):
    """Delete faces that lie on the vertices of another"""

    bl_idname = "sylpheed.fix_doubled_faces"
    bl_label = "Delete Doubled Sylpheed Faces"
    checks = ("doubled triangles",)

    @staticmethod
    def mend(broken: Broken) -> None:
        bmesh.ops.delete(broken.mesh, geom=broken.pick(broken.mesh.faces), context="FACES")


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
