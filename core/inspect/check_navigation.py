"""Checks of what a navigation volume holds: records, cells, and the rock of its hull. docs/FORMATS.md, section 5.

What the game is known to read must be right. What makes a search worse without making it fail is a warning, since
nobody has seen how the game's own volumes are in this respect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError, Severity
from ..formats import regn, regn_contents
from ..formats.mcol import Hull
from ..formats.regn import NO_TETRAHEDRON, Navigation
from ..formats.regn_contents import Graph
from ..geometry.clearance import clearances
from ..geometry.fill import is_free
from ..geometry.grid import Grid
from ..geometry.tetrahedra import cell_spans, cells_within, reached
from ..geometry.triangles import corners
from ..rules.rule import Rule
from ..rules.severity import SEVERITIES
from .checks import Check, Where, count

CLOSE = 1e-4
"""How far off a stored place may be, as a part of the largest coordinate."""

ROUNDING = 1e-6
"""What rounding to float32 explains, as a part of the largest coordinate."""

MOST_CELLS = 1 << 22
"""Pairs of a tetrahedron and a cell that are looked at; a file may claim that each tetrahedron reaches everywhere."""

MOST_PAIRS = 1 << 28
"""Pairs of a tetrahedron and a triangle whose distance is measured. Of more, tetrahedra from all over the file are
taken."""

TETRAHEDRON = "tetrahedron"


@dataclass(frozen=True, slots=True, eq=False)
class _Volume:
    """What the checks look at.

    number  int64 (m,): the tetrahedra with four corners and usable numbers
    shape   float64 (m, 4, 3): their corners
    scale   the largest coordinate
    """

    graph: Graph
    number: NDArray[np.int64]
    shape: NDArray[np.float64]
    scale: float

    def good(self, values: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Values of the tetrahedra above as those of all, which are good otherwise, bool (all,)."""
        result = np.ones(len(self.graph.tetrahedra), bool)
        result[self.number] = values
        return result


def check_navigation(navigation: Navigation, hull: Hull | None = None) -> list[Check]:
    """Every check of a volume's contents. `hull` is the one that goes with it; without it, what depends on cells and
    rock is checked as far as the volume's own header allows."""
    checks = []
    if hull is not None:
        checks.append(_fit(navigation, hull.grid))
        if not checks[0].passed and checks[0].severity is Severity.ERROR:
            hull = None
    grid = hull.grid if hull else navigation.grid
    try:
        graph = regn_contents.decode(navigation, grid)
    except FormatError as error:
        rule = Rule.NAVIGATION_CONTENTS
        return [Check(rule, 0, 1, SEVERITIES[rule], note=f": {error}"), *checks]
    volume = _volume(graph)
    checks = [count(Rule.NAVIGATION_CONTENTS, [True]), *checks, *_record_checks(volume), *_shape_checks(volume)]
    if grid:
        checks += _cell_checks(volume, grid)
    rock = _in_rock(volume, hull) if hull else None
    checks.append(_unreached(volume, rock, hull))
    if hull and rock is not None:
        checks += _rock_checks(volume, hull, rock)
    return checks


def _fit(navigation: Navigation, grid: Grid) -> Check:
    """Whether box, cell size and the cell table's room are those of the hull. What else differs is only assumed."""
    reasons, doubts = regn.fits(navigation, grid), regn.doubts(navigation, grid)
    severity = SEVERITIES[Rule.NAVIGATION_FIT] if reasons else Severity.INFO
    note = f": {'; '.join(reasons or doubts)}" if reasons or doubts else ""
    return Check(Rule.NAVIGATION_FIT, 0 if note else 1, 1, severity, note=note)


def _volume(graph: Graph) -> _Volume:
    with np.errstate(invalid="ignore"):
        places = graph.vertices.astype(np.float64)
        finite = np.isfinite(places).all(axis=1)
        number = np.flatnonzero(graph.have_corners())
        named = graph.corners()[number]
        usable = finite[named].all(axis=1)
        scale = float(np.abs(places[finite]).max(initial=0))
    return _Volume(graph, number[usable], places[named[usable]], max(scale, 1e-30))


# --- records --------------------------------------------------------------------------------------


def _record_checks(volume: _Volume) -> list[Check]:
    """Numbers, neighbours, and what pairs hold."""
    graph = volume.graph
    tetrahedra, faces = graph.tetrahedra, graph.faces
    pairs = tetrahedra["pairs"]
    beside = faces["tetrahedra"].astype(np.int64)
    own = [records["number"] == np.arange(len(records)) for records in (tetrahedra, faces)]
    with np.errstate(invalid="ignore"):
        usable = np.isfinite(pairs["cost"]) & (pairs["cost"] >= 0) & (pairs["clearance"] >= 0)
    agreed, elements = _agreed(graph, beside)
    return [
        count(Rule.NAVIGATION_NUMBERS, np.concatenate(own)),
        count(Rule.NAVIGATION_ADJACENCY, agreed, Where(TETRAHEDRON, elements)),
        count(Rule.NAVIGATION_LOOSE_FACES, (beside != NO_TETRAHEDRON).any(axis=1), Where("face")),
        count(Rule.NAVIGATION_CORNERS, graph.have_corners(), Where(TETRAHEDRON)),
        count(Rule.NAVIGATION_PAIRS, usable.ravel(), Where(TETRAHEDRON, np.repeat(np.arange(len(pairs)), 6))),
    ]


def _agreed(graph: Graph, beside: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Sides of faces that name a tetrahedron which names the face, and faces of tetrahedra that name the tetrahedron
    once, bool (n,), and the tetrahedron of each."""
    named = graph.tetrahedra["faces"].astype(np.int64)
    face, side = np.nonzero(beside != NO_TETRAHEDRON)
    inside = beside[face, side]
    forward = (named[inside] == face[:, None]).sum(axis=1) == 1
    number = np.arange(len(named))
    backward = (beside[named] == number[:, None, None]).sum(axis=2) == 1
    return np.concatenate((forward, backward.ravel())), np.concatenate((inside, np.repeat(number, 4)))


def _shape_checks(volume: _Volume) -> list[Check]:
    """Planes, centres, sides and spheres beside the vertices."""
    graph, number, scale = volume.graph, volume.number, volume.scale
    places = graph.vertices.astype(np.float64)
    points = places[graph.faces["vertices"].astype(np.int64)]
    plane = graph.faces["plane"].astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        heights = np.einsum("fki,fi->fk", points, plane[:, :3]) + plane[:, 3:]
        planes = np.abs(np.linalg.norm(plane[:, :3], axis=1) - 1) < CLOSE
        planes &= np.abs(heights).max(axis=1, initial=0) <= CLOSE * scale
        away = np.abs(points.mean(axis=1) - graph.faces["centre"]).max(axis=1, initial=0)
        records = graph.tetrahedra[number]
        own = plane[records["faces"].astype(np.int64)]
        side = np.einsum("tki,ti->tk", own[..., :3], volume.shape.mean(axis=1)) + own[..., 3]
        sides = ((side > 0) == (records["sides"] != 0)) | (np.abs(side) <= ROUNDING * scale)
        spheres = records["sphere"].astype(np.float64)
        reach = np.linalg.norm(volume.shape - spheres[:, None, :3], axis=2).max(axis=1, initial=0)
        enclosed = reach <= spheres[:, 3] * (1 + ROUNDING) + ROUNDING * scale
    return [
        count(Rule.NAVIGATION_PLANES, planes, Where("face")),
        count(Rule.NAVIGATION_CENTRES, away <= CLOSE * scale, Where("face")),
        count(Rule.NAVIGATION_SIDES, sides.ravel(), Where(TETRAHEDRON, np.repeat(number, 4))),
        count(Rule.NAVIGATION_SPHERES, enclosed, Where(TETRAHEDRON, number)),
    ]


# --- cells ----------------------------------------------------------------------------------------


def _cell_checks(volume: _Volume, grid: Grid) -> list[Check]:
    """Whether a search finds each tetrahedron from each cell that it overlaps, by the cell's items and their spheres.
    A tetrahedron that no cell leads to was taken out on purpose, see `_unreached`."""
    graph = volume.graph
    cell, tetrahedron = graph.cell_references()
    known = np.unique(cell * len(graph.tetrahedra) + tetrahedron)
    led_to = np.zeros(len(graph.tetrahedra), bool)
    led_to[tetrahedron] = True
    judged = np.flatnonzero(led_to[volume.number])
    spans = cell_spans(grid, volume.shape[judged])
    looked_at = judged[np.cumsum(spans) <= MOST_CELLS]
    listed, elements = [np.zeros(0, bool)], [np.zeros(0, np.int64)]
    for row, overlapped in cells_within(grid, volume.shape[looked_at]):
        number = volume.number[looked_at[row]]
        key = overlapped * len(graph.tetrahedra) + number
        place = np.minimum(np.searchsorted(known, key), max(len(known) - 1, 0))
        listed.append(known[place] == key)
        elements.append(number)
    where = Where(TETRAHEDRON, np.concatenate(elements))
    return [count(Rule.NAVIGATION_CELLS, np.concatenate(listed), where), _item_spheres(volume, grid)]


def _item_spheres(volume: _Volume, grid: Grid) -> Check:
    """Whether the sphere in front of each reference encloses the tetrahedron's corners that lie in the cell."""
    graph = volume.graph
    row = np.full(len(graph.tetrahedra), -1)
    row[volume.number] = np.arange(len(volume.number))
    cell, tetrahedron = graph.cell_references()
    item = np.repeat(np.arange(len(graph.sizes)), graph.sizes)
    usable = np.flatnonzero(row[tetrahedron] >= 0)
    good = np.ones(len(graph.items), bool)
    size = grid.cell_size.astype(np.float64)
    for start in range(0, len(usable), 1 << 16):
        part = usable[start : start + (1 << 16)]
        points = volume.shape[row[tetrahedron[part]]]
        low = grid.lower_corner(grid.position(cell[part]))[:, None]
        inside = ((points > low + CLOSE * size) & (points < low + (1 - CLOSE) * size)).all(axis=2)
        sphere = graph.items["sphere"][item[part]].astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            away = np.linalg.norm(points - sphere[:, None, :3], axis=2)
            within = away <= sphere[:, 3:] * (1 + ROUNDING) + ROUNDING * volume.scale
        good[item[part[(inside & ~within).any(axis=1)]]] = False
    return count(Rule.NAVIGATION_ITEM_SPHERES, good, Where("item"))


def _unreached(volume: _Volume, rock: NDArray[np.bool_] | None, hull: Hull | None) -> Check:
    """Tetrahedra that no cell leads to. Where rock reaches into them, even barely, they were taken out on purpose."""
    led_to = np.zeros(len(volume.graph.tetrahedra), bool)
    led_to[volume.graph.references] = True
    on_purpose = led_to | rock if rock is not None else np.ones(len(led_to), bool)
    if hull is not None and not on_purpose.all():
        rows = np.intersect1d(np.flatnonzero(~on_purpose[volume.number]), _measured(volume, hull))
        on_purpose[volume.number[rows]] = reached(volume.shape[rows], corners(hull.vertices, hull.triangles))
    severity = Severity.INFO if on_purpose.all() else SEVERITIES[Rule.NAVIGATION_UNREACHED]
    note = "" if rock is None or led_to.all() else f", {np.count_nonzero(~led_to & rock):,} of them in rock"
    check = count(Rule.NAVIGATION_UNREACHED, led_to, Where(TETRAHEDRON), severity)
    return Check(check.rule, check.good, check.total, severity, check.kind, check.elements, note=note)


# --- rock -----------------------------------------------------------------------------------------


def _measured(volume: _Volume, hull: Hull) -> NDArray[np.int64]:
    """Rows of the tetrahedra that are compared with the hull, int64 (n,): all, or some from all over the file."""
    most = max(MOST_PAIRS // max(len(hull.triangles), 1), 1)
    if len(volume.number) <= most:
        return np.arange(len(volume.number))
    return np.unique(np.linspace(0, len(volume.number) - 1, most).astype(np.int64))


def _in_rock(volume: _Volume, hull: Hull) -> NDArray[np.bool_]:
    """Which of all tetrahedra rock reaches into, or lie in it, bool (m,)."""
    rows = _measured(volume, hull)
    shape = volume.shape[rows]
    depth = CLOSE * volume.scale
    rock = reached(shape, corners(hull.vertices, hull.triangles), depth)
    left = np.flatnonzero(~rock)
    rock[left] = ~is_free(shape[left].mean(axis=1), hull.vertices, hull.triangles, bool(hull.outside_solid))
    result = np.zeros(len(volume.graph.tetrahedra), bool)
    result[volume.number[rows]] = rock
    return result


def _rock_checks(volume: _Volume, hull: Hull, rock: NDArray[np.bool_]) -> list[Check]:
    """Tetrahedra in rock to which cells lead, and clearances that are more than the distance to it. Which clearance is
    that of which pair may be open: then the least distance counts for all that may be meant."""
    graph = volume.graph.asking(hull.vertices, hull.triangles)
    number = volume.number[_measured(volume, hull)]
    led_to = np.unique(graph.references)
    stored = graph.tetrahedra["pairs"]["clearance"][number].astype(np.float64)
    segments = graph.pair_segments()[number]
    usable = np.isfinite(segments).all(axis=(1, 2, 3)) & ~np.isnan(stored).any(axis=1)
    number, stored, segments = number[usable], stored[usable], segments[usable]
    distance = clearances(segments, hull.vertices, hull.triangles, graph.order.highest(stored))
    distance = graph.order.lowest_at(distance)
    near = stored <= distance * (1 + CLOSE) + ROUNDING * volume.scale
    order = count(Rule.NAVIGATION_PAIR_ORDER, [graph.order.known])
    note = f": {graph.order.reason}" if not graph.order.known else ""
    return [
        count(Rule.NAVIGATION_ROCK, ~rock[led_to], Where(TETRAHEDRON, led_to)),
        count(Rule.NAVIGATION_CLEARANCES, near.ravel(), Where(TETRAHEDRON, np.repeat(number, 6))),
        Check(order.rule, order.good, order.total, order.severity, note=note),
    ]
