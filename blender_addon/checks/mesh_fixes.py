"""Fixes of a mesh: exactly the elements that a check names, and nothing else."""

from __future__ import annotations

import bmesh

from . import ring_fill, rings
from .broken import Broken, claim, cut, exported


def triangulate(broken: Broken) -> None:
    """Cuts faces with four or more corners into triangles."""
    faces = broken.pick(broken.mesh.faces)
    for face, triangles in [(face, exported(broken, face)) for face in faces]:
        cut(broken, face, triangles)


def merge_vertices(broken: Broken) -> None:
    """Merges vertices that lie in one place."""
    broken.mesh.verts.ensure_lookup_table()
    pairs = zip(broken.numbers.tolist(), broken.partners.tolist(), strict=True)
    vertices = broken.mesh.verts
    targets = {vertices[number]: vertices[kept] for number, kept in pairs if number != kept}
    bmesh.ops.weld_verts(broken.mesh, targetmap=targets)


def fill_holes(broken: Broken) -> None:
    """Fills the holes at open edges with triangles."""
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


def flip_faces(broken: Broken) -> None:
    """Flips faces."""
    bmesh.ops.reverse_faces(broken.mesh, faces=broken.pick(broken.mesh.faces))


def delete_vertices(broken: Broken) -> None:
    """Deletes vertices, with the edges at them."""
    bmesh.ops.delete(broken.mesh, geom=broken.pick(broken.mesh.verts), context="VERTS")


def delete_faces(broken: Broken) -> None:
    """Deletes faces and keeps their vertices."""
    bmesh.ops.delete(broken.mesh, geom=broken.pick(broken.mesh.faces), context="FACES")
