"""The survey's facts about a hull's surfaces, fill states and vertices. docs/FORMATS.md, section 3."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..formats.mcol import LISTED, SOLID
from ..geometry.edges import edge_census
from ..geometry.fill import layers_in_cells
from ..geometry.surfaces import Facing, facing, orient, split, volumes
from ..geometry.triangles import corners, doubled, flat
from ..geometry.vectors import cross
from .facts import Amounts, Answer, Fact, Measured, NothingThere, NotMeasurable, Same, Subject, Tally, named
from .hulls import Hull

MOST_WORK = 1 << 26
"""Most cells times triangles for which fill states are computed."""

# --- surfaces -------------------------------------------------------------------------------------


def _usable(hull: Hull) -> tuple[int, int]:
    return int(hull.usable.sum()), int(hull.header["triangle_count"])


def _closed(hull: Hull) -> tuple[int, int]:
    uses = edge_census(hull.triangles)[1]
    return int((uses == 2).sum()), len(uses)


def _consistent(hull: Hull) -> tuple[int, int]:
    odd = orient(hull.triangles)[1]
    return int((~odd).sum()), len(odd)


def outside_by_winding(hull: Hull) -> bool:
    """Whether the winding says that all outside is rock: the largest surface then faces inward.

    Raises `NotMeasurable` if it has no volume.
    """
    volume = volumes(hull.vertices, hull.triangles, split(hull.triangles))
    largest = float(volume[np.abs(volume).argmax()])
    if not largest:
        raise NotMeasurable("a largest surface without volume")
    return largest < 0


def _outside(hull: Hull) -> str:
    says, found = int(hull.header["outside_solid"]), outside_by_winding(hull)
    wall = "an inward largest surface" if found else "an outward largest surface"
    return f"{says} with {wall}"


def _fronts(hull: Hull) -> tuple[int, int, int]:
    """Surfaces whose front faces free space, as the largest surface says what is outside; those for which that holds
    if outside is the opposite; and all."""
    surface, _ = orient(hull.triangles)
    outside = outside_by_winding(hull)
    right, opposite = (
        int((facing(hull.vertices, hull.triangles, surface, solid) == Facing.RIGHT).sum())
        for solid in (outside, not outside)
    )
    return right, opposite, int(surface.max()) + 1


def _fronts_answer(measured: Sequence[Measured], whole: bool) -> Answer:
    return _both_ways(measured, "with byte 0x73 read the other way")


def _both_ways(measured: Sequence[Measured], other_way: str) -> Answer:
    """An answer of values (good, good the other way, total)."""
    good, opposite, total = (sum(value[place] for _, value in measured) for place in range(3))
    odd = [id for id, value in measured if value[0] != value[2]]
    text = f"all in {len(measured) - len(odd):,} of {len(measured):,}"
    if odd:
        text = f"{good:,} of {total:,}, {text}"
    return Answer(f"{text}, {other_way} {opposite:,}{named(odd)}", bool(odd))


# --- fill states ----------------------------------------------------------------------------------


def _listed_states(hull: Hull) -> tuple[int, int]:
    states = hull.cells["state"][hull.occupied]
    return int((states == LISTED).sum()), len(states)


def _put_right(hull: Hull) -> np.ndarray:
    """The triangles with every surface turned so that its front faces free space: winding is another fact's."""
    surface, odd = orient(hull.triangles)
    triangles = np.where(odd[:, None], hull.triangles[:, ::-1], hull.triangles)
    wrong = facing(hull.vertices, triangles, surface, outside_by_winding(hull)) == Facing.WRONG
    return np.where(wrong[surface][:, None], triangles[:, ::-1], triangles)


def _empty_states(hull: Hull) -> tuple[int, int, int]:
    """Cells without triangles whose state follows the winding rule, those that follow its opposite, and all."""
    grid = hull.grid
    if grid.cell_count * len(hull.triangles) > MOST_WORK:
        raise NothingThere("too many cells and triangles")
    empty = hull.cells["list_count"] == 0
    rock = layers_in_cells(grid, hull.vertices, _put_right(hull)) + int(outside_by_winding(hull)) >= 1
    states = hull.cells["state"][empty]
    follows = states == np.where(rock[empty], SOLID, 0)
    opposite = states == np.where(rock[empty], 0, SOLID)
    return int(follows.sum()), int(opposite.sum()), len(states)


def _states_answer(measured: Sequence[Measured], whole: bool) -> Answer:
    return _both_ways(measured, "with rock and free space exchanged")


# --- vertices -------------------------------------------------------------------------------------


def _outside_box(hull: Hull) -> np.ndarray:
    """How many float32 steps of the box's own number each vertex outside lies beyond it, along its farthest axis."""
    minimum, maximum = (hull.header[name].astype(np.float32) for name in ("minimum", "maximum"))
    used = np.unique(hull.triangles)
    points = hull.vertices[used].astype(np.float64)
    beyond = np.maximum(minimum - points, points - maximum)
    step = np.spacing(np.maximum(np.abs(minimum), np.abs(maximum)))
    outside = (beyond > 0).any(axis=1)
    return np.asarray((beyond / step)[outside].max(axis=1), np.float64)


def _numbering(hull: Hull) -> str:
    first = np.unique(hull.triangles, return_index=True)[1]
    in_order = (np.diff(first) > 0).all()
    return "by first use" if in_order else f"{int((np.diff(first) < 0).sum()):,} steps back"


def _surface_order(hull: Hull) -> str:
    surface = split(hull.triangles)
    volume = volumes(hull.vertices, hull.triangles, surface)
    if len(volume) == 1:
        return "one surface"
    largest = int(np.abs(volume).argmax())
    runs = 1 + int((np.diff(surface) != 0).sum())
    if runs != len(volume):
        return "surfaces mixed"
    return {len(volume) - 1: "largest last", 0: "largest first"}.get(largest, "largest within")


def _unused(hull: Hull) -> int:
    return len(hull.vertices) - len(np.unique(hull.triangles))


def _same_place(hull: Hull) -> int:
    return len(hull.vertices) - len(np.unique(hull.vertices.view(np.uint32).reshape(-1, 3), axis=0))


def _thinnest(hull: Hull) -> np.ndarray:
    """Each triangle's height over its longest side as a part of that side."""
    points = corners(hull.vertices, hull.triangles)
    sides = np.roll(points, -1, axis=1) - points
    longest = np.linalg.norm(sides, axis=2).max(axis=1)
    area = np.linalg.norm(cross(sides[:, 0], sides[:, 1]), axis=1)
    return np.divide(area, longest**2, out=np.zeros(len(area)), where=longest > 0)


def _thinnest_answer(measured: Sequence[Measured], whole: bool) -> Answer:
    least = min(float(value.min()) for _, value in measured)
    ids = [id for id, value in measured if value.min() == least]
    ratio = f"1 to {1 / least:,.0f}" if least else "no height"
    return Answer(f"{ratio}, height to longest side, in {len(measured):,}{named(ids)}", False)


def _without_area(hull: Hull) -> int:
    return int(flat(hull.vertices, hull.triangles).sum())


def _doubled(hull: Hull) -> int:
    return int(doubled(hull.triangles).sum())


def _more_vertices(hull: Hull) -> str:
    return "yes" if hull.header["vertex_count"] <= hull.header["triangle_count"] else "no"


_H = Subject.HULL
OUTSIDE_NOTES = ("1 with an inward largest surface", "0 with an outward largest surface")
FACTS = (
    Fact("F20", "M", "edges shared by two triangles", _H, "all", _closed, Tally()),
    Fact("F21", "C", "triangles wound like their surface", _H, "all", _consistent, Tally()),
    Fact("F22", "C", "byte 0x73", _H, "1 if all outside is rock, else 0", _outside, Same(OUTSIDE_NOTES)),
    Fact("F23", "C", "surfaces whose front faces free space", _H, "all", _fronts, _fronts_answer),
    Fact("F24", "M", "triangles of vertices that exist and are numbers", _H, "all", _usable, Tally()),
    Fact("F25", "C", "fill state 1 in cells with triangles", _H, "all", _listed_states, Tally()),
    Fact(
        "F26",
        "I",
        "fill states by the winding rule in the other cells",
        _H,
        "all",
        _empty_states,
        _states_answer,
    ),
)
VERTEX_FACTS = (
    Fact("F47", "A", "vertices outside the box", _H, "none", _outside_box, Amounts("float steps")),
    Fact("F48", "D", "vertices numbered", _H, "by first use", _numbering, Same(("by first use",))),
    Fact(
        "F49",
        "D",
        "order of the surfaces",
        _H,
        "largest last",
        _surface_order,
        Same(("largest last", "one surface")),
    ),
    Fact("F50", "M", "vertices that no triangle uses", _H, "0", _unused, Same(("0",))),
    Fact("F51", "A", "vertices at the place of another", _H, "0", _same_place, Same(("0",))),
    Fact("F52", "M", "thinnest triangle", _H, "has an area", _thinnest, _thinnest_answer),
    Fact("F53", "M", "triangles without area", _H, "0", _without_area, Same(("0",))),
    Fact("F54", "M", "doubled triangles", _H, "0", _doubled, Same(("0",))),
    Fact("F55", "C", "no more vertices than triangles", _H, "yes", _more_vertices, Same(("yes",))),
)
