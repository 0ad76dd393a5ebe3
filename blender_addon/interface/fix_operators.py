"""Mends what a check found, one undo step each: exactly the elements that the check names, and nothing else. An object
that would be no better off is left as it was.

A mesh's claims to the source's numbers stay with what stays. What a fix makes is new, unless it is a triangle that
the source has on the same vertices: then it is that one again.
"""

from __future__ import annotations

import bmesh
import bpy
from bpy.props import StringProperty

from ...core.errors import SylpheedError
from ..checks import results, ring_fill, rings
from ..checks.fixing import MeshFix, fix_objects
from ..checks.mesh_surgery import Broken, claim, cut, exported, flat_triangles, merge_corners, turn_longest, turn_within
from ..scene.roots import find_any_root
from .check_operators import RootProperties
from .reporting import Result, report_fixed


class Fix(MeshFix, RootProperties):
    """An operator that fixes some checks' problems."""

    bl_options = {"REGISTER", "UNDO"}

    severity: StringProperty(
        name="Severity", description="Only what is an error, warning or info. Empty: all of it", default=""
    )

    def execute(self, context: bpy.types.Context) -> Result:
        try:
            root = find_any_root(context, self.root, self.root_uid)
            checked = results.run(context, root)
            fixed, left_out = fix_objects(context, root, checked, self)
        except SylpheedError as error:
            self.report({"WARNING"}, str(error))
            return {"CANCELLED"}
        return report_fixed(context, self, root, fixed, left_out)


class SYLPHEED_OT_fix_triangulate(bpy.types.Operator, Fix):
    """Cut faces with four or more corners into triangles"""

    bl_idname = "sylpheed.fix_triangulate"
    bl_label = "Triangulate Sylpheed Faces"
    checks = ("large faces",)
    may_spoil = False  # it is exported as before

    @staticmethod
    def mend(broken: Broken) -> None:
        faces = broken.pick(broken.mesh.faces)
        for face, triangles in [(face, exported(broken, face)) for face in faces]:
            cut(broken, face, triangles)


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
                waiting += cut(broken, face, turn_within(broken, exported(broken, face)))
        progress = True
        while progress:  # a face may become mendable when its neighbour is
            progress = False
            for face in waiting:
                if face.is_valid and flat_triangles(broken, [tuple(face.verts)])[0]:
                    progress |= merge_corners(broken, face) or turn_longest(broken, face)


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
            claim(broken, faces)


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
