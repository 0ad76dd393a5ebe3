"""Which triangles of an edited mesh face rock. docs/FORMATS.md, section 3."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import Severity
from ..geometry import surfaces
from ..geometry.surfaces import Facing
from ..rules.rule import Rule
from ..text import plural, titled
from .compare import Matched
from .fault import Fault, judge, owners
from .pieces import Edit, Mesh


def facing_faults(
    edit: Edit, source: Mesh | None, outside_solid: bool, matched: Matched, beyond: np.ndarray
) -> tuple[Edit, list[Fault]]:
    """The edit as it is, with triangles whose front doesn't face free space, alone or with their surface, and surfaces
    buried in rock.
    `beyond`, bool (nt,): those that reach outside the source's box.

    Where the source's own surfaces contradict byte 0x73, an edit is held against either reading of that byte.
    """
    sides = _judge(edit, source, outside_solid, matched, beyond)
    return edit, [
        *_faults_of_place(edit, sides),
        *judge(edit, Rule.FLIPPED, sides.flipped, sides.inherited),
        *_inside_out_faults(edit, sides),
    ]


def turn_faces(
    edit: Edit, source: Mesh | None, outside_solid: bool, matched: Matched, beyond: np.ndarray
) -> tuple[Edit, list[Fault]]:
    """Flips the triangles whose front doesn't face free space. `beyond`: see `facing_faults`."""
    sides = _judge(edit, source, outside_solid, matched, beyond)
    faults = _faults_of_place(edit, sides)
    turned = sides.flipped | sides.wrong
    if not turned.any():
        return edit, faults
    triangles = edit.triangles.copy()
    triangles[turned] = triangles[turned][:, [0, 2, 1]]
    message = f"{plural(np.count_nonzero(turned), 'triangle')} of {owners(edit, turned)} flipped"
    return replace(edit, triangles=triangles), [*faults, Fault(Severity.WARNING, Rule.INSIDE_OUT, message)]


@dataclass(frozen=True, slots=True, eq=False)
class _Sides:
    """Triangles that don't face free space, bool (nt,) each.

    flipped    against the rest of their surface
    wrong      with their surface
    buried     because their surface lies in rock
    lost       because no surface leaves free space
    inherited  of the flipped and wrong ones, those that the source has so
    was_lost   of the lost ones, those that the source has so
    excused    neither wrong nor lost, because the source's own surfaces contradict byte 0x73
    """

    flipped: np.ndarray
    wrong: np.ndarray
    buried: np.ndarray
    lost: np.ndarray
    inherited: np.ndarray
    was_lost: np.ndarray
    excused: np.ndarray


def _judge(edit: Edit, source: Mesh | None, outside_solid: bool, matched: Matched, beyond: np.ndarray) -> _Sides:
    known, wound = matched
    flipped, wrong, buried, lost = _judge_sides(edit, outside_solid, known, wound, beyond)
    inherited = was_lost = excused = np.zeros_like(wrong)
    if source and (flipped | wrong | lost).any():
        inherited, was_lost, contradicts = _source_sides(edit, source, outside_solid, wound)
        if contradicts:
            excused = _excused(edit, outside_solid, matched, beyond, wrong | lost) & ~(inherited | was_lost)
            wrong, lost = wrong & ~excused, lost & ~excused
    return _Sides(flipped, wrong, buried, lost, inherited, was_lost, excused)


def _faults_of_place(edit: Edit, sides: _Sides) -> list[Fault]:
    """What flipping doesn't change."""
    return [
        *_excused_faults(edit, sides.excused),
        *_lost_faults(edit, sides.lost, sides.was_lost),
        *_buried_faults(edit, sides.buried),
    ]


def _judge_sides(
    mesh: Mesh, outside_solid: bool, known: np.ndarray, wound: np.ndarray, beyond: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Which triangles don't face free space, bool (nt,) each: against the rest of their surface, or with it; which
    face rock because their surface lies in it, and which because no surface leaves free space.

    A surface in rock all around is one that was moved there, unless the source had it the other way around
    (`known` but not `wound`), or it is new with nothing but the solid outside around it. What is new `beyond` the box
    is misplaced rather than turned, but for the largest surface, which is the wall.
    """
    triangles = np.asarray(mesh.triangles, np.int64)
    surface, odd = mesh.oriented if isinstance(mesh, Edit) else surfaces.orient(triangles)
    agreeing = np.where(odd[:, None], triangles[:, [0, 2, 1]], triangles) if odd.any() else triangles
    facing = surfaces.facing(mesh.vertices, agreeing, surface, outside_solid)
    was_turned, is_new = np.zeros(len(facing), bool), np.ones(len(facing), bool)
    was_turned[surface[known & (wound == odd)]] = True
    is_new[surface[known]] = False
    if beyond.any():
        misplaced = np.zeros(len(facing), bool)
        misplaced[surface[beyond]] = True
        misplaced[np.abs(surfaces.volumes(mesh.vertices, agreeing, surface)).argmax()] = False
        is_new &= ~misplaced
    in_rock = np.isin(facing, (Facing.BURIED, Facing.OUTSIDE))
    wrong = (facing == Facing.WRONG) | (in_rock & was_turned) | (is_new & (facing == Facing.OUTSIDE))
    in_rock &= ~wrong
    if wrong.any():  # rounding alone says which way a body without volume faces
        wrong &= ~surfaces.encloses_nothing(mesh.vertices, agreeing, surface)
    facing = np.where(wrong, Facing.WRONG, facing)
    lost = in_rock & (in_rock.any() and surfaces.all_rock(mesh.vertices, agreeing, surface, facing))
    return odd & ~wrong[surface], ~odd & wrong[surface], (in_rock & ~lost)[surface], lost[surface]


def _source_sides(
    edit: Edit, source: Mesh, outside_solid: bool, wound: np.ndarray
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Which triangles the source has the same way around, facing rock; and without any free space, bool (nt,) each;
    and whether any of the source's surfaces contradicts byte 0x73."""
    everything = np.ones(len(source.triangles), bool)
    flipped, wrong, _, lost = _judge_sides(source, outside_solid, everything, everything, ~everything)
    ids = edit.triangle_ids[wound]
    result = np.zeros((2, len(wound)), bool)
    result[:, wound] = (flipped | wrong)[ids], lost[ids]
    return result[0], result[1], bool((wrong | lost).any())


def _excused(edit: Edit, outside_solid: bool, matched: Matched, beyond: np.ndarray, doubtful: np.ndarray) -> np.ndarray:
    """Which of the doubtful triangles face free space if byte 0x73 said the opposite, bool (nt,)."""
    _, wrong, _, lost = _judge_sides(edit, not outside_solid, *matched, beyond)
    return doubtful & ~(wrong | lost)


def _excused_faults(edit: Edit, excused: np.ndarray) -> list[Fault]:
    if not excused.any():
        return []
    message = (
        f"free space lies in front of {owners(edit, excused)} only if byte 0x73 is wrong; the source file's own "
        "surfaces contradict that byte too"
    )
    return [Fault(Severity.WARNING, Rule.INSIDE_OUT, message, "triangles", np.flatnonzero(excused))]


def _inside_out_faults(edit: Edit, sides: _Sides) -> list[Fault]:
    faults = []
    for severity, chosen in (
        (Severity.ERROR, sides.wrong & ~sides.inherited),
        (Severity.WARNING, sides.wrong & sides.inherited),
    ):
        if chosen.any():
            problem = f"{titled(Rule.INSIDE_OUT, _surface_count(edit, chosen))}: {owners(edit, chosen)}"
            if severity is Severity.WARNING:
                problem += ", as in the source file"
            faults.append(Fault(severity, Rule.INSIDE_OUT, problem, "triangles", np.flatnonzero(chosen)))
    return faults


def _lost_faults(edit: Edit, lost: NDArray[np.bool_], inherited: NDArray[np.bool_]) -> list[Fault]:
    faults = []
    for severity, chosen in ((Severity.ERROR, lost & ~inherited), (Severity.WARNING, lost & inherited)):
        if chosen.any():
            problem = f"no surface leaves free space around {owners(edit, chosen)}"
            if severity is Severity.WARNING:
                problem += ", as in the source file"
            faults.append(Fault(severity, Rule.NO_FREE_SPACE, problem, "triangles", np.flatnonzero(chosen)))
    return faults


def _buried_faults(edit: Edit, buried: NDArray[np.bool_]) -> list[Fault]:
    if not buried.any():
        return []
    message = f"{plural(_surface_count(edit, buried), 'surface')} of {owners(edit, buried)} buried in rock"
    return [Fault(Severity.WARNING, Rule.BURIED_SURFACES, message, "triangles", np.flatnonzero(buried))]


def _surface_count(edit: Edit, triangles: NDArray[np.bool_]) -> int:
    """How many surfaces some triangles, bool (nt,), are of."""
    return len(np.unique(edit.oriented[0][triangles]))
