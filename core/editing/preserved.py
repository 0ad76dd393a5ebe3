"""What of a source is kept out of editable meshes."""

from __future__ import annotations

import numpy as np

from ..geometry.triangles import repeated
from .pieces import Mesh


def aside(source: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """What of a source is kept out of editable meshes and put back when they are assembled.

    Its triangles that use a vertex twice (Blender hangs on them), bool (nt,), and the vertices that no other
    triangle uses, bool (nv,).
    """
    triangles = repeated(source.triangles)
    vertices = np.ones(len(source.vertices), bool)
    vertices[source.triangles[~triangles]] = False
    return triangles, vertices
