"""Navigation volumes by file: one is rebuilt, patched, or searched for the way that a ship takes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..disk.files import write_file
from ..disk.same_file import refuse_same
from ..errors import FormatError, RefusedError, naming
from ..formats import regn, regn_contents
from ..formats.kinds import Kind
from ..formats.mcol import Hull
from ..formats.regn_contents import Graph
from ..navigation.build import build
from ..navigation.patch import patch
from ..runtime.route import Route, find_route
from .file_kinds import load

Paths = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Sources:
    """What a volume is made from: the hull, and to patch one, the old volume and the hull that it was made for."""

    hull: Paths
    old_navigation: Paths | None = None
    old_hull: Paths | None = None


def write_navigation(sources: Sources, output: Paths, progress: Callable[[float], None]) -> list[str]:
    """Writes a `.rgn` for a hull, and returns what to say about it, a line each.

    Raises `FormatError` for files that can't be read or belong to other hulls, and writes nothing then.
    """
    refuse_same(output, sources.hull, sources.old_navigation, sources.old_hull)
    hull = load(sources.hull, only=Kind.HULL)[1]
    if sources.old_navigation is None:
        graph = build(hull, progress)
        data = regn_contents.encode(graph, hull.grid)
        lines = [f"rebuilt: {len(graph.tetrahedra):,} tetrahedra, {len(graph.faces):,} faces"]
    else:
        data, lines = _patched(sources, hull)
    write_file(output, data)
    return lines


def _patched(sources: Sources, hull: Hull) -> tuple[bytes, list[str]]:
    if sources.old_navigation is None or sources.old_hull is None:
        raise RefusedError(
            "a patch needs the old volume and the hull that it was made for", remedy="name both, or none to rebuild"
        )
    navigation = load(sources.old_navigation, only=Kind.NAVIGATION)[1]
    old = load(sources.old_hull, only=Kind.HULL)[1]
    if reasons := regn.fits(navigation, old.grid):
        raise FormatError(
            f"the volume doesn't fit {sources.old_hull}: {'; '.join(reasons)}",
            file=str(sources.old_navigation),
            remedy="name the hull that the volume was made for",
        )
    with naming(sources.old_navigation):
        result = patch(navigation, old, hull)
    if result.data == regn.encode(navigation):
        return result.data, ["patched: nothing to change"]
    lines = [
        f"patched: {result.lowered:,} clearances lowered ({result.closed:,} to nothing), {result.raised:,} raised, "
        f"{result.dropped:,} tetrahedra taken out of the cell table"
    ]
    if result.new_table:
        lines.append("the cell table is rebuilt for the hull's grid")
    return result.data, lines + [f"{finding.severity.value}: {finding.message}" for finding in result.findings]


def route_between(
    hull_path: Paths, navigation_path: Paths | None, start: np.ndarray, goal: np.ndarray, radius: float
) -> Route:
    """The way through the volume beside a hull, or another one that is named.

    Raises `FormatError` if a file can't be read, or the volume doesn't fit the hull.
    """
    hull = load(hull_path, only=Kind.HULL)[1]
    return find_route(hull, _graph_for(hull, hull_path, navigation_path), start, goal, radius)


def _graph_for(hull: Hull, hull_path: Paths, navigation_path: Paths | None) -> Graph:
    path = navigation_path or os.path.splitext(hull_path)[0] + ".rgn"
    navigation = load(path, only=Kind.NAVIGATION)[1]
    if reasons := regn.fits(navigation, hull.grid):
        raise FormatError(
            f"doesn't fit {hull_path}: {'; '.join(reasons)}", file=str(path), remedy="make one with `navigation`"
        )
    with naming(path):
        return regn_contents.decode(navigation, hull.grid).settled(hull.vertices, hull.triangles)


def describe_route(route: Route) -> dict:
    """A route, ready for JSON; `refused` is there where no way is found."""
    about: dict = {
        "found": route.found,
        "straight": route.straight,
        "points": route.points.tolist(),
        "length": route.length,
    }
    if route.refused:
        about["refused"] = {"reason": route.refused.reason}
        if route.refused.step is not None:
            about["refused"] |= {"step": route.refused.step.tolist(), "clearance": route.refused.clearance}
    return about
