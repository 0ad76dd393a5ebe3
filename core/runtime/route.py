"""The way of a computer-flown ship: the game's own search through a navigation volume. docs/FORMATS.md, section 9.

It takes a straight line where the hull leaves one free. Otherwise start and goal need a tetrahedron each, the search
goes from face to face, and what it finds is shortened by straight lines. It trusts the volume: only the line and the
shortening ask the hull.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from ..formats.mcol import Hull
from ..formats.regn import NO_TETRAHEDRON
from ..formats.regn_contents import Graph
from ..formats.regn_pairs import PAIRS
from ..geometry.grid import Grid
from .queries import is_solid, shoot

_PAIRS = [(one, two) for one, two in PAIRS.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """Why a search stops: `reason` in words; `step` float64 (2, 3), the refused way that leads nearest to the goal, and
    its `clearance`, where a step is the reason."""

    reason: str
    step: np.ndarray | None = None
    clearance: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """A way from a start to a goal, lengths in game units.

    points    float64 (n, 3), start and goal included; none where no way is found
    straight  whether it is the straight line
    faces     the numbers of the faces that the search went through
    """

    points: np.ndarray
    straight: bool = False
    faces: tuple[int, ...] = ()
    refused: Refusal | None = None

    @property
    def found(self) -> bool:
        return len(self.points) > 0

    @property
    def length(self) -> float:
        return float(np.linalg.norm(np.diff(self.points, axis=0), axis=1).sum())


def find_route(hull: Hull, graph: Graph, start: np.ndarray, goal: np.ndarray, radius: float = 1.0) -> Route:
    """The way from a start (3,) to a goal (3,) of a ship with this radius, in game units. The cells of the graph are
    those of the hull's grid."""
    start, goal = np.asarray(start, np.float64), np.asarray(goal, np.float64)
    if is_clear(hull, start, goal, radius):
        return Route(np.stack((start, goal)), straight=True)
    first, last = locate(graph, hull.grid, start), locate(graph, hull.grid, goal)
    if first is None or last is None:
        return _refused(f"the {'start' if first is None else 'goal'} lies in no tetrahedron")
    if is_solid(hull, goal):
        return _refused("the goal lies in rock")
    settled = graph.settled(hull.vertices, hull.triangles)
    faces, refusal = _search(settled, (start, first), (goal, last), radius)
    if refusal:
        return Route(np.zeros((0, 3)), refused=refusal)
    centres = graph.faces["centre"][faces].astype(np.float64).reshape(-1, 3)
    points = _shortened(hull, np.concatenate((start[None], centres, goal[None])), radius)
    return Route(points, faces=tuple(faces))


def is_clear(hull: Hull, start: np.ndarray, end: np.ndarray, radius: float) -> bool:
    """Whether a sphere flies from start to end without touching the hull."""
    return shoot(hull, start, end - start, radius).triangle is None


def locate(graph: Graph, grid: Grid, point: np.ndarray) -> int | None:
    """The tetrahedron in which the game finds a point (3,): the first that holds it of those that its cell leads to."""
    position = grid.locate(point[None])[0]
    if (position < 0).any() or (position >= grid.dimensions).any():
        return None
    cell = int(grid.number(position[None])[0])
    first_item = int(graph.cells[:cell].sum())
    first_reference = int(graph.sizes[:first_item].sum())
    for item in range(first_item, first_item + int(graph.cells[cell])):
        last = first_reference + int(graph.sizes[item])
        if _in_sphere(graph.items["sphere"][item], point):
            near = graph.references[first_reference:last]
            near = near[_in_sphere(graph.tetrahedra["sphere"][near], point)]
            held = near[holds(graph, near, point)]
            if len(held):
                return int(held[0])
        first_reference = last
    return None


def holds(graph: Graph, tetrahedra: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Which of the tetrahedra (n,) hold a point (3,), by the planes of their faces, bool (n,)."""
    records = graph.tetrahedra[tetrahedra]
    planes = graph.faces["plane"][records["faces"].astype(np.int64)].astype(np.float64)
    heights = planes[..., :3] @ point + planes[..., 3]
    return np.where(records["sides"] != 0, heights >= 0, heights <= 0).all(axis=1)


def _in_sphere(spheres: np.ndarray, point: np.ndarray) -> np.ndarray:
    spheres = np.asarray(spheres, np.float64)
    away = spheres[..., :3] - point
    return np.einsum("...i,...i->...", away, away) <= spheres[..., 3] ** 2


def _refused(reason: str) -> Route:
    return Route(np.zeros((0, 3)), refused=Refusal(reason))


# --- the search -----------------------------------------------------------------------------------


def _search(
    graph: Graph, start: tuple[np.ndarray, int], goal: tuple[np.ndarray, int], radius: float
) -> tuple[list[int], Refusal | None]:
    """The faces of the cheapest way, or why there is none. What a step costs is its length and its pair's cost; no
    clearance is asked from the start to the first face, and from the last one to the goal."""
    centres = graph.faces["centre"].astype(np.float64)
    to_goal = np.linalg.norm(centres - goal[0], axis=1)
    steps = _Steps(graph, centres)
    cost: dict[int, float] = {}
    before: dict[int, int] = {}
    waiting: list[tuple[float, int]] = []
    for face in graph.tetrahedra["faces"][start[1]].tolist():
        cost[face] = float(np.linalg.norm(centres[face] - start[0]))
        heapq.heappush(waiting, (cost[face] + to_goal[face], face))
    goals = set(graph.tetrahedra["faces"][goal[1]].tolist())
    done: set[int] = set()
    refused: tuple[float, int, int, float] | None = None
    best: tuple[float, int] | None = None
    while waiting:
        estimate, face = heapq.heappop(waiting)
        if best is not None and estimate >= best[0]:
            break
        if face in done:
            continue
        done.add(face)
        if face in goals and (best is None or estimate < best[0]):
            best = (estimate, face)
        for other, length, clearance in steps.of(face):
            if radius > clearance:
                if refused is None or to_goal[other] < refused[0]:
                    refused = (float(to_goal[other]), face, other, clearance)
            elif other not in done and cost[face] + length < cost.get(other, np.inf):
                cost[other], before[other] = cost[face] + length, face
                heapq.heappush(waiting, (cost[other] + float(to_goal[other]), other))
    if best is None:
        if refused is None:
            return [], Refusal("no way leads from the start's part of free space to the goal's")
        _, one, two, clearance = refused
        step = centres[[one, two]]
        reason = f"a step needs a clearance of {radius:g}, and the volume gives it {clearance:g}"
        return [], Refusal(reason, step, clearance)
    way = [best[1]]
    while way[-1] in before:  # which ends, since a face that is done is never reached again
        way.append(before[way[-1]])
    return way[::-1], None


class _Steps:
    """What leads from each face to the others of the tetrahedra beside it."""

    def __init__(self, graph: Graph, centres: np.ndarray) -> None:
        self.beside = graph.faces["tetrahedra"]
        self.faces = graph.tetrahedra["faces"].astype(np.int64)
        self.clearance = graph.pair_clearances()
        ends = self.faces[:, PAIRS]
        self.length = graph.pair_costs() + np.linalg.norm(centres[ends[..., 1]] - centres[ends[..., 0]], axis=2)

    def of(self, face: int) -> list[tuple[int, float, float]]:
        """The faces that a face leads to, with the length and cost of each step, and its clearance."""
        found = []
        for number in dict.fromkeys(self.beside[face].tolist()):
            if number == NO_TETRAHEDRON:
                continue
            faces = self.faces[number].tolist()
            lengths, clearances = self.length[number].tolist(), self.clearance[number].tolist()
            for (one, two), length, clearance in zip(_PAIRS, lengths, clearances, strict=True):
                if faces[one] == face and faces[two] != face:
                    found.append((faces[two], length, clearance))
                elif faces[two] == face and faces[one] != face:
                    found.append((faces[one], length, clearance))
        return found


def _shortened(hull: Hull, points: np.ndarray, radius: float) -> np.ndarray:
    """A way without the points that straight lines past them make needless."""
    kept, at = [0], 0
    while at < len(points) - 1:
        after = len(points) - 1
        while after > at + 1 and not is_clear(hull, points[at], points[after], radius):
            after -= 1
        kept.append(after)
        at = after
    return points[kept]
