"""What is wrong below a root, by object and element: what the exporter refuses or warns of, and what else is worth
knowing before an export."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

import bpy
import numpy as np

from ...core.editing.compare import Comparison
from ...core.editing.fault import Fault
from ...core.editing.faults import judge_edit, long_list_faults, unplaced
from ...core.editing.options import Options
from ...core.editing.pieces import Edit, Piece
from ...core.editing.rebuild_hull import Rebuilt, count_changes, rebuild_judged
from ...core.editing.rebuild_set import RebuiltSet, new_flat, new_volume_faults, rebuild_set
from ...core.errors import Severity, SylpheedError
from ...core.formats.mcol import LIMIT, Hull
from ...core.geometry.arrays import components
from ...core.geometry.surfaces import split
from ...core.geometry.triangles import NEAR, close_pairs
from ...core.rules.rule import Rule
from ...core.rules.severity import WORST_FIRST
from ...core.text import some
from ..scene import custom_properties
from ..scene.blender_remedies import in_blender
from ..scene.crossings import intersection_faults
from ..scene.exporting import HullEdit, SetEdit, read_hull, read_set
from ..scene.left_out import LeftOut
from ..scene.reading import Origin
from ..scene.scene_rules import SceneRule
from ..translations import label_text
from .navigation_check import navigation_problems

ELEMENTS = {"vertices": "VERT", "edges": "EDGE", "triangles": "FACE", "": ""}


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One kind of fault: how bad, how often, and where.

    `check` is the rule, a key of `titles.TITLES`. `elements` are indices into each object's own mesh, int64, of
    vertices, edges or faces as `kind` says (VERT, EDGE, FACE, "" for none). `objects` are those with the fault whose
    own elements it isn't at, because modifiers or instances make others, or because the whole object is meant (`kind`
    is "").
    `partners` has for each doubled vertex the one to keep.

    Objects are held by their session number: an object and one linked from a library may have the same name.
    """

    severity: Severity
    check: Rule | SceneRule
    message: str
    count: int
    kind: str = ""
    elements: dict[int, np.ndarray] = field(default_factory=dict)
    objects: tuple[int, ...] = ()
    partners: dict[int, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of the sidebar: a label, its value, and the limit that it is held against. A heading has no value."""

    label: str
    value: str = ""
    limit: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """An object's own mesh as it would be exported: vertices float32 (n, 3) in the root's space, triangles int (m, 3),
    and the face that each is cut from, int32 (m,)."""

    vertices: np.ndarray
    triangles: np.ndarray
    faces: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """A root, what is to be said of it, its problems, the worst first, the objects' shapes by session number, and
    whether anything differs from the source."""

    root: str
    kind: str
    facts: tuple[Fact, ...]
    problems: tuple[Problem, ...]
    shapes: dict[int, Shape] = field(default_factory=dict)
    changed: bool = True

    def count(self, severity: Severity) -> int:
        return sum(problem.severity is severity for problem in self.problems)

    @property
    def sound(self) -> bool:
        """Whether it can be exported."""
        return not self.count(Severity.ERROR)


def by_session_uid(scene: bpy.types.Scene) -> dict[int, bpy.types.Object]:
    """A scene's objects by what tells them apart, through undo and renaming, and from those of libraries."""
    return {obj.session_uid: obj for obj in scene.objects}


def name_of(session_uid: int) -> str:
    """The name of an object that may be in another scene."""
    return next((obj.name for obj in bpy.data.objects if obj.session_uid == session_uid), "")


def check_root(context: bpy.types.Context, root: bpy.types.Object) -> Checked:
    """Checks everything parented to a root, without changing anything."""
    shapes: dict[int, Shape] = {}
    changed = True
    try:
        if custom_properties.kind(root) == custom_properties.HULL:
            hull = read_hull(context, root, apply_modifiers=True)
            shapes = _shapes(hull.pieces, hull.origins)
            facts, problems = _check_hull(context, root, hull)
            changed = not hull.own_box or any(count_changes(hull.source, hull.comparison))
        else:
            library = read_set(context, root, apply_modifiers=True)
            shapes = _shapes(chain.from_iterable(edit.pieces for edit in library.edits), chain(*library.origins))
            facts, problems = _check_set(context, library)
            changed = bool(library.removed) or not all(edit.unedited for edit in library.edits)
    except SylpheedError as error:
        facts, problems = [], [_refused(error)]
    problems.sort(key=lambda problem: WORST_FIRST.index(problem.severity))
    return Checked(
        root.name, custom_properties.kind(root), (*_source_facts(root), *facts), tuple(problems), shapes, changed
    )


def _source_facts(root: bpy.types.Object) -> list[Fact]:
    try:
        size = len(custom_properties.source(root))
    except SylpheedError:
        return []  # a problem says so
    return [Fact("Source", label_text("{name}, {count:,} bytes", name=custom_properties.stem(root), count=size))]


def _shapes(pieces: Iterable[Piece], origins: Iterable[Origin]) -> dict[int, Shape]:
    return {
        origin.session_uid: Shape(piece.vertices, piece.triangles, origin.faces)
        for piece, origin in zip(pieces, origins, strict=True)
        if origin.own
    }


# --- hulls ----------------------------------------------------------------------------------------


def _check_hull(context: bpy.types.Context, root: bpy.types.Object, hull: HullEdit) -> tuple[list[Fact], list[Problem]]:
    edit, source = hull.edit, hull.source
    where = _Where(context.scene, edit, hull.pieces, hull.origins)
    options = Options(own_box=hull.own_box)
    judged = judge_edit(hull.comparison, source, options)
    faults = list(judged.faults)
    if len(edit.triangles) and not unplaced(edit).any():
        faults += intersection_faults(judged.comparison) + long_list_faults(edit, source, source.grid)
    problems = [where.problem(fault) for fault in faults if fault.check is not Rule.LOOSE_VERTICES]
    problems += where.loose() + where.doubled() + where.large()
    problems += _left_out(hull.left_out)
    rebuilt = None
    if not any(problem.severity is Severity.ERROR for problem in problems):
        try:
            rebuilt = rebuild_judged(source, judged, options)
        except SylpheedError as error:
            problems.append(_refused(error))
        else:
            problems += navigation_problems(root, hull, rebuilt.hull, where)
    return _hull_facts(judged.comparison, source, rebuilt), problems


def _hull_facts(comparison: Comparison, source: Hull, rebuilt: Rebuilt | None) -> list[Fact]:
    grid = source.grid
    edit = comparison.edit
    changed, added, removed = count_changes(source, comparison)
    sizes = [f"{size:,.7g}" for size in grid.cell_size]
    facts = [
        Fact("Vertices", f"{len(edit.vertices):,}", f"{LIMIT:,}"),
        Fact("Triangles", f"{len(edit.triangles):,}", f"{LIMIT:,}"),
        Fact("Surfaces", f"{_surfaces(edit.triangles):,}"),
        Fact("Cells", " x ".join(map(str, grid.dimensions))),
        Fact("Cell Size", sizes[0] if len(set(sizes)) == 1 else " x ".join(sizes)),
        Fact("Triangles, compared with the source:"),
        Fact("Unchanged", f"{len(source.triangles) - changed - removed:,}"),
        Fact("Moved", f"{changed:,}"),
        Fact("Added", f"{added:,}"),
        Fact("Removed", f"{removed:,}"),
    ]
    if rebuilt is not None:
        facts.append(Fact("Rebuilt Cells", f"{len(rebuilt.cells):,}"))
    return facts


def _surfaces(triangles: np.ndarray) -> int:
    return int(split(triangles).max(initial=-1)) + 1


class _Where:
    """From the numbers of an assembled mesh back to the elements of each object."""

    def __init__(self, scene: bpy.types.Scene, edit: Edit, pieces: Sequence[Piece], origins: Sequence[Origin]) -> None:
        self.objects, self.edit, self.pieces, self.origins = by_session_uid(scene), edit, pieces, origins
        vertex_bounds = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
        self.triangle_bounds = np.cumsum([0, *(len(piece.triangles) for piece in pieces)])
        self.places = [edit.places[a:b] for a, b in pairwise(vertex_bounds)]

    def problem(self, fault: Fault) -> Problem:
        find = {"vertices": self._vertices, "edges": self._edges, "triangles": self.faces}.get(fault.kind)
        found = list(find(fault.elements)) if find else []
        return self.located(fault.severity, fault.check, _message(fault), fault.kind, found, fault.count)

    def loose(self) -> list[Problem]:
        """Vertices that no face uses, as `loose_faults` counts them."""
        found = [np.flatnonzero(place < 0) for place in self.places]
        if not any(map(len, found)):
            return []
        message = "they belong to no face and are left out"
        return [self.located(Severity.WARNING, Rule.LOOSE_VERTICES, message, "vertices", found)]

    def doubled(self) -> list[Problem]:
        """Vertices of one object in one place. INFO where the exporter joins them anyway or the source has them."""
        found, partners, apart = [], {}, False
        for piece, place, origin in zip(self.pieces, self.places, self.origins, strict=True):
            if not np.isfinite(piece.vertices).all():  # another row says so
                found.append(np.zeros(0, np.int64))
                continue
            pairs = close_pairs(piece.vertices, NEAR * float(np.abs(piece.vertices).max(initial=0)))
            pairs = pairs[(place[pairs] >= 0).all(axis=1)]
            vertices, kept = _grouped(pairs, piece.vertex_ids)
            found.append(vertices)
            if len(vertices) and origin.own:
                partners[origin.session_uid] = kept
            apart |= bool((place[vertices] != place[kept]).any())
        if not any(map(len, found)):
            return []
        severity = Severity.WARNING if apart else Severity.INFO
        remedy = "merge them by distance" if apart else "the export joins them"
        message = f"vertices of one object in one place; {remedy}"
        problem = self.located(severity, SceneRule.DOUBLED_VERTICES, message, "vertices", found)
        problem.partners.update(partners)
        return [problem]

    def large(self) -> list[Problem]:
        """Faces that are cut into triangles on export."""
        found = []
        for origin in self.origins:
            faces, triangles = np.unique(origin.faces, return_counts=True)
            found.append(faces[triangles > 1])
        if not any(map(len, found)):
            return []
        message = "they are cut into triangles the way Blender shows them"
        return [self.located(Severity.INFO, SceneRule.LARGE_FACES, message, "triangles", found)]

    def located(
        self,
        severity: Severity,
        check: Rule | SceneRule,
        message: str,
        kind: str,
        found: list[np.ndarray],
        count: int | None = None,
    ) -> Problem:
        """A problem with the elements of each piece."""
        elements: dict[int, np.ndarray] = {}
        others: set[int] = set()
        for origin, numbers in zip(self.origins, found, strict=False):
            if len(numbers) and origin.own:
                elements[origin.session_uid] = numbers
            elif len(numbers):
                others.add(origin.session_uid)
        if count is None:
            count = sum(map(len, found))
        return Problem(severity, check, message, max(count, 1), ELEMENTS[kind], elements, tuple(sorted(others)))

    def _vertices(self, numbers: np.ndarray) -> Iterable[np.ndarray]:
        for place in self.places:
            yield np.flatnonzero(np.isin(place, numbers) & (place >= 0))

    def faces(self, numbers: np.ndarray) -> Iterable[np.ndarray]:
        origins = self.edit.origins[numbers]
        for piece, origin in enumerate(self.origins):
            first, last = self.triangle_bounds[piece : piece + 2]
            mine = origins[(origins >= first) & (origins < last)] - first
            yield np.unique(origin.faces[mine]).astype(np.int64)

    def _edges(self, pairs: np.ndarray) -> Iterable[np.ndarray]:
        span = len(self.edit.vertices) + 1
        wanted = pairs[:, 0] * span + pairs[:, 1]
        for place, origin in zip(self.places, self.origins, strict=True):
            if not origin.own:
                yield np.flatnonzero(np.isin(place, pairs) & (place >= 0))  # enough to know that there are some
                continue
            edges = self.objects[origin.session_uid].data.edges
            ends = np.empty(2 * len(edges), np.int32)
            edges.foreach_get("vertices", ends)
            mine = np.sort(place[ends].reshape(-1, 2), axis=1)
            yield np.flatnonzero(np.isin(mine[:, 0] * span + mine[:, 1], wanted) & (mine[:, 0] >= 0))


def _grouped(pairs: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All vertices of the pairs, and for each the one of its group to keep: one of the source before a new one."""
    vertices, local = np.unique(pairs, return_inverse=True)
    local = local.reshape(-1, 2)
    group = components(len(vertices), local[:, 0], local[:, 1])
    order = np.lexsort((np.arange(len(vertices)), ids[vertices] < 0, group))
    first = np.unique(group[order], return_index=True)
    return vertices, vertices[order[first[1]]][np.searchsorted(first[0], group)]


# --- libraries ------------------------------------------------------------------------------------


def _check_set(context: bpy.types.Context, edited: SetEdit) -> tuple[list[Fact], list[Problem]]:
    source = edited.source
    found: list[Problem] = []
    for edit, origins in zip(edited.edits, edited.origins, strict=True):
        original = None if edit.record is None else source.parts[edit.record]
        where = _Where(context.scene, edit.edit, edit.pieces, origins)
        found += where.loose()
        placed = not unplaced(edit.edit).any()
        if placed and not edit.unedited:
            found += [where.problem(fault) for fault in new_volume_faults(edit.edit, original)]
        thin = np.flatnonzero(new_flat(edit.edit, original)) if placed else ()
        if len(thin):
            message = "they have no area and are left out"
            found.append(where.problem(Fault(Severity.WARNING, Rule.ZERO_AREA, message, "triangles", thin)))
    problems = _merged(found)
    problems += _left_out(edited.left_out)
    rebuilt = None
    try:
        rebuilt = rebuild_set(source, edited.edits, edited.removed)
        problems += [
            Problem(finding.severity, finding.check, finding.message, 1)
            for finding in rebuilt.findings
            if finding.check in (Rule.EMPTY_PART, Rule.REMOVED_PART)
        ]
    except SylpheedError as error:
        problems.append(_refused(error))
    return _set_facts(edited, rebuilt), problems


def _set_facts(edited: SetEdit, rebuilt: RebuiltSet | None) -> list[Fact]:
    facts = [
        Fact("Parts", f"{len(edited.edits):,}", f"{len(edited.source.parts):,}"),
        Fact("Triangles", f"{sum(len(edit.edit.triangles) for edit in edited.edits):,}"),
    ]
    if rebuilt is not None:
        facts.append(Fact("Edited", some(rebuilt.changed) if rebuilt.changed else "0"))
    return facts


def _merged(problems: list[Problem]) -> list[Problem]:
    """Problems of several parts, one for each check."""
    merged = []
    for check in dict.fromkeys(problem.check for problem in problems):
        same = [problem for problem in problems if problem.check == check]
        merged.append(
            Problem(
                same[0].severity,
                check,
                same[0].message,
                sum(problem.count for problem in same),
                same[0].kind,
                {uid: numbers for problem in same for uid, numbers in problem.elements.items()},
                tuple(sorted({uid for problem in same for uid in problem.objects})),
            )
        )
    return merged


def _left_out(found: Iterable[LeftOut]) -> list[Problem]:
    return [
        Problem(Severity.WARNING, left.check, left.message, max(len(left.objects), 1), objects=left.objects)
        for left in found
    ]


def _refused(error: SylpheedError) -> Problem:
    return Problem(Severity.ERROR, SceneRule.REFUSED, str(in_blender(error)), 1)


def _message(fault: Fault) -> str:
    return str(in_blender(fault.error()))
