"""Every check of a hull. docs/FORMATS.md, section 3.

A check counts: how many of how many. What is normal in the game's own files is INFO when it fails, what would be a
hole, a ghost wall or a crash in the game is an ERROR.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import Severity
from ..formats.mcol import LIMIT, Hull
from ..geometry.edges import edge_census
from ..geometry.surfaces import Facing, all_rock, facing, names, orient
from ..geometry.triangles import corners, doubled, flat
from ..rules.rule import Rule
from ..rules.severity import SEVERITIES
from .check_cells import check_cells
from .check_file import check_file
from .check_lists import ROUNDING, check_lists, distances
from .checks import Check, Where, count, used
from .stored import as_stored

TIGHT = 0.99
"""A sphere is tight if its farthest corner lies at this part of the radius or beyond."""


def check_hull(hull: Hull, like: Hull | None = None) -> list[Check]:
    """Every check of a map hull. A hull that was never in a file is checked as the file that it would become; raises
    `FormatError` if it can't be one. `like`: see `check_lists`."""
    hull = as_stored(hull)
    usable = np.isfinite(hull.vertices).all(axis=1)
    # Decoding refuses a file in which a triangle uses such a vertex.
    checks = [*check_file(hull), count(Rule.COORDINATES, usable, Where("vertex"), Severity.WARNING)]
    if not len(hull.triangles):
        return [*checks, Check(Rule.NO_TRIANGLES, 0, 1, Severity.WARNING)]  # the game's loader takes it
    if not usable.all():
        hull = replace(hull, vertices=np.where(usable[:, None], hull.vertices, hull.vertices[hull.triangles[0, 0]]))
    return [
        *checks,
        *_mesh_checks(hull),
        *_sphere_checks(hull),
        *_surface_checks(hull),
        *check_cells(hull),
        *check_lists(hull, like),
    ]


def _mesh_checks(hull: Hull) -> list[Check]:
    vertices, triangles = hull.vertices, hull.triangles
    edges, uses = edge_census(triangles)
    counts = np.array((len(vertices), len(triangles)))
    return [
        count(Rule.LIMITS, counts <= LIMIT),
        count(Rule.VERTEX_COUNT, counts[:1] <= counts[1:]),
        _box_check(hull),
        count(Rule.UNUSED_VERTICES, used(vertices, triangles), Where("vertex")),
        count(Rule.SHARED_EDGES, uses == 2, Where("vertex", edges)),
        count(Rule.ZERO_AREA, ~flat(vertices, triangles), Where("triangle")),
        # The game tests both, to no harm.
        count(Rule.DOUBLED_TRIANGLES, ~doubled(triangles), Where("triangle"), Severity.WARNING),
    ]


def _sphere_checks(hull: Hull) -> list[Check]:
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = distances(corners(hull.vertices, hull.triangles), hull.spheres).max(axis=1) / hull.spheres[:, 3]
    triangle = Where("triangle")
    return [
        count(Rule.TRIANGLE_SPHERES, reach <= 1 + ROUNDING, triangle),
        count(Rule.SPHERE_ROUNDING, (reach <= 1) | ~(reach <= 1 + ROUNDING), triangle),
        replace(count(Rule.SPHERE_SIZE, reach >= TIGHT, triangle), measured=reach, unit="max|v-c| / r"),
    ]


def _box_check(hull: Hull) -> Check:
    """The cells at the border serve what lies outside; the game finds them from outside for one cell more."""
    grid = hull.grid
    beyond = np.maximum(grid.minimum - hull.vertices, hull.vertices - grid.maximum)
    far = (beyond > grid.cell_size).any()
    severity = SEVERITIES[Rule.BOUNDING_BOX] if far else Severity.WARNING
    check = count(Rule.BOUNDING_BOX, ~grid.outside(hull.vertices), Where("vertex"), severity)
    return replace(check, note=f" by up to {max(beyond.max(), 0):.6g}")


def _surface_checks(hull: Hull) -> list[Check]:
    vertices, triangles = hull.vertices, hull.triangles
    surface, odd = orient(triangles)
    faces = facing(vertices, triangles, surface, bool(hull.outside_solid))
    # A rock beyond the wall harms nobody; with nothing around all of it, a wall or cavern is inside out or missing.
    inside_out = (faces == Facing.WRONG) | ((faces == Facing.OUTSIDE) & all_rock(vertices, triangles, surface, faces))
    touching = ~np.isin(faces, (Facing.BURIED, Facing.OUTSIDE)) | inside_out
    named = Where("surface", label=lambda number: names(vertices, triangles, surface)[number])
    return [
        count(Rule.FLIPPED, ~odd, Where("triangle")),
        # It may be byte 0x73 that is wrong.
        replace(count(Rule.INSIDE_OUT, ~inside_out, named, Severity.WARNING), note=" by byte 0x73"),
        count(Rule.BURIED_SURFACES, touching, named),
    ]
