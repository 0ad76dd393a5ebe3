"""What an edited hull may not have when it is written, because the game would have a hole or a ghost wall.

Format notes, section 3. A fault that the source file has already, untouched by the edit, is reported and
kept: refusing it would keep its owner from editing anything else.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import surfaces
from .assemble import Edit, Mesh, matches, moved
from .errors import Finding, FormatError, Severity, some
from .geometry import edge_census, flat, undirected_edges
from .mcol import LIMIT
from .surfaces import Facing


def check_counts(edit: Edit, source: Mesh | None) -> None:
    """Raises `FormatError` if the mesh is empty or larger than the header's counts can say, or if it has more
    vertices than triangles, for which the game has no room. Runtime notes, section 5."""
    vertices, triangles = len(edit.vertices), len(edit.triangles)
    if not triangles:
        raise FormatError("the hull has no triangles", remedy="parent at least one closed mesh to the hull's root")
    for what, count in (("vertices", vertices), ("triangles", triangles)):
        if count > LIMIT:
            raise FormatError(
                f"the hull has {count:,} {what}",
                expected=f"{LIMIT:,} at most",
                found=f"{_largest(edit)} among them",
                remedy="simplify it, for example with a Decimate modifier",
            )
    spare = len(source.vertices) - len(source.triangles) if source else 0
    if vertices - triangles > max(spare, 0):
        raise FormatError(
            f"the hull has more vertices ({vertices:,}) than triangles ({triangles:,}), which the game has no room for",
            remedy="merge vertices by distance, closed surfaces have about twice as many triangles as vertices",
        )


def check_shape(edit: Edit, source: Mesh | None) -> list[Finding]:
    """Raises `FormatError` that names the objects if a coordinate is no number, a triangle has no area, or an
    edge isn't shared by exactly two triangles. Returns findings for faults that the source has already."""
    findings: list[Finding] = []
    bad = ~np.isfinite(edit.vertices).all(axis=1)
    if bad.any():
        triangles = np.flatnonzero(bad[edit.triangles].any(axis=1))
        raise FormatError(
            f"{np.count_nonzero(bad):,} vertices of {_owners(edit, triangles)} have no usable coordinates",
            expected="finite numbers",
            found=f"{edit.vertices[bad][0]}",
        )
    known = matches(edit, source)[0] if source else np.zeros(len(edit.triangles), bool)

    thin = flat(edit.vertices, edit.triangles)
    inherited = np.zeros_like(thin)
    if thin.any() and source:
        inherited[known] = flat(source.vertices, source.triangles)[edit.triangle_ids[known]]
    _judge(
        edit,
        np.flatnonzero(thin & ~inherited),
        np.flatnonzero(thin & inherited),
        findings,
        "zero-area triangles",
        "without area",
        "the game would hit them everywhere; merge vertices by distance or dissolve degenerate faces",
    )

    edges, sides = undirected_edges(edit.triangles)
    counts = np.bincount(sides, minlength=len(edges))
    old = _source_counts(edit, edges, source)
    for wrong, check, what, remedy in (
        (counts == 1, "open edges", "at open edges", "fill the hole: the game would have a hole there too"),
        (
            counts > 2,
            "crowded edges",
            "at edges with three or more faces",
            "remove inner or doubled faces; is an object there twice?",
        ),
    ):
        new, kept = wrong & (counts != old), wrong & (counts == old)
        _judge(
            edit,
            np.flatnonzero(new[sides].reshape(-1, 3).any(axis=1)),
            np.flatnonzero(kept[sides].reshape(-1, 3).any(axis=1)),
            findings,
            check,
            what,
            remedy,
            edges=(np.count_nonzero(new), np.count_nonzero(kept)),
        )
    return findings


def check_facing(edit: Edit, source: Mesh | None, outside_solid: bool, turn: bool) -> tuple[Edit, list[Finding]]:
    """Whether the front of every triangle faces free space. `turn` turns those that don't.

    Raises `FormatError` that names the objects otherwise, unless the source has the fault already.
    """
    known, wound = matches(edit, source) if source else (np.zeros(len(edit.triangles), bool),) * 2
    wrong, buried, all_rock = _judge_sides(edit.vertices, edit.triangles, outside_solid, known, wound)
    before_wrong, before_all_rock = np.zeros((2, len(wrong)), bool)
    if source and (wrong | all_rock).any():
        everything = np.ones(len(source.triangles), bool)
        theirs = _judge_sides(source.vertices, source.triangles.astype(np.int64), outside_solid, everything, everything)
        before_wrong[wound], before_all_rock[wound] = (theirs[i][edit.triangle_ids[wound]] for i in (0, 2))
    findings: list[Finding] = []
    _judge(
        edit,
        np.flatnonzero(all_rock & ~before_all_rock),
        np.flatnonzero(all_rock & before_all_rock),
        findings,
        "winding",
        "in the solid outside, and no surface leaves free space",
        "keep a wall around them: without one the whole map would be rock",
    )
    if buried.any():
        message = f"{_owners(edit, np.flatnonzero(buried))} lie wholly in rock, where no ship gets"
        findings.append(
            Finding(Severity.WARNING, "winding", message, "triangles", tuple(np.flatnonzero(buried).tolist()))
        )
    if turn and wrong.any():
        triangles = edit.triangles.copy()
        triangles[wrong] = triangles[wrong][:, [0, 2, 1]]
        message = f"turned {np.count_nonzero(wrong):,} triangles of {_owners(edit, np.flatnonzero(wrong))}"
        return replace(edit, triangles=triangles), [*findings, Finding(Severity.WARNING, "winding", message)]
    _judge(
        edit,
        np.flatnonzero(wrong & ~before_wrong),
        np.flatnonzero(wrong & before_wrong),
        findings,
        "winding",
        "whose front doesn't face free space",
        "flip their normals (asteroids face outward, a wall inward) or export with Turn",
    )
    return edit, findings


def missing_surfaces(edit: Edit, source: Mesh) -> list[Finding]:
    """A finding for each surface of the source of which no triangle is left: a deletion may be a slip, such as an
    object that left the scene with its collection."""
    kept = edit.triangle_ids[edit.triangle_ids >= 0]
    gone = np.setdiff1d(np.arange(len(source.triangles)), kept)
    if not len(gone):
        return []
    triangles = source.triangles.astype(np.int64)
    surface = surfaces.split(triangles)
    names = surfaces.names(source.vertices, triangles, surface)
    left = np.bincount(surface[kept], minlength=len(names))
    lost = [name for name, count in zip(names, left, strict=True) if not count]
    if not lost:
        return []
    message = f"nothing is left of the source's {some(lost)} below the root"
    return [Finding(Severity.WARNING, "removed surfaces", message, "triangles", tuple(gone.tolist()))]


def outside_box(edit: Edit, source: Mesh | None, outside: np.ndarray) -> str:
    """The objects with vertices outside the bounding box, bool (nv,), that the source hasn't there already."""
    if source:
        outside = outside & moved(edit.vertices, edit.vertex_ids, source)
    triangles = np.flatnonzero(outside[edit.triangles].any(axis=1))
    return _owners(edit, triangles) if len(triangles) else ""


def _judge_sides(
    vertices: np.ndarray, triangles: np.ndarray, outside_solid: bool, known: np.ndarray, wound: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which triangles don't face free space and must be turned, which face rock because their surface lies in it,
    and which because no surface leaves free space, bool (nt,) each.

    A surface in rock all around is one that was moved there, unless the source had it the other way around
    (`known` but not `wound`), or it is new with nothing but the solid outside around it.
    """
    surface = surfaces.split(triangles)
    odd = surfaces.inconsistent(triangles, surface)
    agreeing = np.where(odd[:, None], triangles[:, [0, 2, 1]], triangles)
    facing = surfaces.facing(vertices, agreeing, surface, outside_solid)
    was_turned, is_new = np.zeros(len(facing), bool), np.ones(len(facing), bool)
    was_turned[surface[known & (wound == odd)]] = True
    is_new[surface[known]] = False
    in_rock = np.isin(facing, (Facing.BURIED, Facing.OUTSIDE))
    wrong = (facing == Facing.WRONG) | (in_rock & was_turned) | (is_new & (facing == Facing.OUTSIDE))
    in_rock &= ~wrong
    facing = np.where(wrong, Facing.WRONG, facing)
    all_rock = in_rock & surfaces.all_rock(vertices, agreeing, surface, facing)
    return odd ^ wrong[surface], (in_rock & ~all_rock)[surface], all_rock[surface]


def _judge(
    edit: Edit,
    new: np.ndarray,
    kept: np.ndarray,
    findings: list[Finding],
    check: str,
    what: str,
    remedy: str,
    edges: tuple[int, int] | None = None,
) -> None:
    """Raises for new faults, notes inherited ones."""
    if len(new):
        amount = f"{edges[0]:,} edges, triangles" if edges else f"{len(new):,} triangles"
        raise FormatError(f"{check}: {amount} of {_owners(edit, new)} {what}", remedy=remedy)
    if len(kept):
        count = edges[1] if edges else len(kept)
        findings.append(
            Finding(
                Severity.WARNING,
                check,
                f"{count:,}, as in the source file, near {_owners(edit, kept)}",
                "triangles",
                tuple(kept.tolist()),
            )
        )


def _source_counts(edit: Edit, edges: np.ndarray, source: Mesh | None) -> np.ndarray:
    """How many of the source's triangles use each edge, int64 (e,); 0 where it has no such edge."""
    if source is None:
        return np.zeros(len(edges), np.int64)
    theirs, counts = edge_census(source.triangles)
    span = len(source.vertices) + 1
    keys = theirs[:, 0] * span + theirs[:, 1]
    ids = np.sort(edit.vertex_ids[edges], axis=1)
    wanted = np.where(ids[:, 0] < 0, -1, ids[:, 0] * span + ids[:, 1])
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, counts[at], 0)


def _owners(edit: Edit, triangles: np.ndarray) -> str:
    names = [edit.names[owner] for owner in np.unique(edit.owners[triangles]) if owner >= 0]
    if not names:
        return "what was kept aside"
    return some([f"`{name}`" for name in names])


def _largest(edit: Edit) -> str:
    counts = np.bincount(edit.owners[edit.owners >= 0], minlength=len(edit.names))
    return f"{counts.max():,} triangles in `{edit.names[int(counts.argmax())]}`"
