"""Edited parts and their source library to a new library. docs/FORMATS.md, section 4.

A part that wasn't edited keeps its bytes, a part that isn't mentioned stays, and the order is the source's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import Finding, FormatError, RefusedError, Severity
from ..formats.collision_set import CollisionSet, Part, encode_name
from ..formats.hashes import file_id
from ..geometry.triangles import flat, repeated
from ..rules.remedies import REMEDIES
from ..rules.rule import Rule
from ..text import quoted, titled
from .assemble import assemble, is_unedited
from .claims import identify
from .compare import matches, moved
from .fault import Fault
from .faults import volume_faults
from .pieces import NEW, Edit, Mesh, Piece


@dataclass(frozen=True, eq=False)
class PartEdit:
    """What became of one part.

    `label` names it in messages. `record` is the source's record that it comes from, None for a new part.
    `name` is its new name, None where the source's stays. `pieces` are its geometry, and `claimed` is the part of
    the source whose numbers they claim, also where a copy of that part became a new one.
    """

    label: str
    record: int | None
    name: str | None
    pieces: tuple[Piece, ...]
    claimed: Part | None

    @property
    def unedited(self) -> bool:
        """Whether it is a part of the source as it was, but for its name."""
        return self.claimed is not None and is_unedited(self.pieces, self.claimed)

    @cached_property
    def edit(self) -> Edit:
        """The geometry as one mesh."""
        return assemble(self.pieces, self.claimed, sew=False)


@dataclass(frozen=True, slots=True, eq=False)
class RebuiltSet:
    """The new library, what is worth telling, and the labels of parts that differ from the source's."""

    library: CollisionSet
    findings: tuple[Finding, ...]
    changed: tuple[str, ...]


def rebuild_set(source: CollisionSet, edits: Sequence[PartEdit], removed: Sequence[int] = ()) -> RebuiltSet:
    """The collision set after the edits, less the records in `removed`. A new part takes the place of a removed one of
    its name; the others follow the last.

    Raises `RefusedError` that names the objects if a name can't be stored, if two objects are one part, or if
    a new name has the id of another, so that the game would drop the second part: two names that differ in case
    alone, or in rare cases others. A pair that the source has already stays, with a warning.
    """
    findings: list[Finding] = []
    edits, removed = _settle_places(source, edits, removed, findings)
    claimed: dict[int, str] = {}
    parts: list[Part | None] = list(source.parts)
    labels = [part.name for part in parts if part]
    changed: list[str] = []
    for number in removed:
        parts[number] = None
        message = f"{quoted(source.parts[number].name)} is missing and leaves the collision set"
        findings.append(Finding(Severity.WARNING, Rule.REMOVED_PART, message))
    for edit in edits:
        original = None if edit.record is None else source.parts[edit.record]
        if edit.record is not None:
            if edit.record in claimed:
                raise RefusedError(
                    f"{quoted(claimed[edit.record])} and {quoted(edit.label)} are both the part "
                    f"{source.parts[edit.record].name}",
                    remedy="join them, delete one, or give one a name of its own",
                )
            claimed[edit.record] = edit.label
        part = _rebuild_part(original, edit, findings)
        if part is None:
            continue
        if part is not original:
            changed.append(edit.label)
        if edit.record is None:
            parts.append(part)
            labels.append(edit.label)
        else:
            parts[edit.record], labels[edit.record] = part, edit.label
    findings += _check_names(source, parts, labels)
    kept = tuple(part for part in parts if part is not None)
    if not kept:
        raise RefusedError("the collision set has no parts left", remedy="keep at least one part")
    return RebuiltSet(CollisionSet(kept, source.trailing), tuple(findings), tuple(changed))


def _settle_places(
    source: CollisionSet, edits: Sequence[PartEdit], removed: Sequence[int], findings: list[Finding]
) -> tuple[list[PartEdit], list[int]]:
    """Gives a part whose name is new the place of a removed record of that name. What it was then leaves, unless
    another part still is that; so one replacement may allow another."""
    settled, gone = list(edits), list(removed)
    replaced = True
    while replaced:
        replaced = False
        held = Counter(edit.record for edit in settled)
        free = {source.parts[number].id: number for number in reversed(gone)}
        for place, edit in enumerate(settled):
            id_ = _new_id(edit)
            if id_ not in free or (edit.record is not None and source.parts[edit.record].id == id_):
                continue
            number = free.pop(id_)
            settled[place] = _replacing(edit, number, source.parts[number])
            gone.remove(number)
            if edit.record is not None and held[edit.record] == 1:
                gone.append(edit.record)
            message = f"{quoted(edit.label)} replaces the part {source.parts[number].name}"
            findings.append(Finding(Severity.WARNING, Rule.REPLACED_PART, message))
            replaced = True
    return settled, sorted(gone)


def _new_id(edit: PartEdit) -> int | None:
    """The id of a name that is new, None for the source's own and for what can't be stored."""
    if edit.name is None:
        return None
    try:
        return file_id(encode_name(edit.name).split(b"\0")[0])
    except FormatError:
        return None  # `_name_field` refuses it


def _replacing(edit: PartEdit, record: int, original: Part) -> PartEdit:
    """The edit in the place of a record. Of what claims no other part, all that lies exactly where the record has it
    keeps its number."""
    edit = replace(edit, record=record, name=None if edit.name == original.name else edit.name)
    if edit.claimed is not None:
        return edit
    pieces = tuple(identify(piece, original) for piece in edit.pieces)
    alike = any((piece.triangle_ids != NEW).any() for piece in pieces)
    return replace(edit, pieces=pieces, claimed=original) if alike else edit


def _rebuild_part(original: Part | None, edit: PartEdit, findings: list[Finding]) -> Part | None:
    """The new part: the original itself where nothing differs, None for a new one without triangles."""
    inherited = None if original is None else edit.claimed
    if original is not None and inherited is original and edit.name is None and edit.unedited:
        return original
    mesh = _without_flat(inherited, edit, findings)
    name_field = original.name_field if original and edit.name is None else _name_field(edit)
    if not _usable(mesh) and (original is None or _usable(original)):
        outcome = "is left out" if original is None else "stays as in the source file"
        message = f"{quoted(edit.label)} has no usable triangles and {outcome}"
        findings.append(Finding(Severity.WARNING, Rule.EMPTY_PART, message))
        return original if original is None or edit.name is None else replace(original, name_field=name_field)
    part = Part(name_field, mesh.vertices, mesh.triangles.astype(np.uint32))
    if original and _same(part, original):
        return original
    findings += [Finding(f.severity, f.check, str(f.error())) for f in new_volume_faults(edit.edit, inherited)]
    return part


def _without_flat(original: Part | None, edit: PartEdit, findings: list[Finding]) -> Edit:
    """The geometry less triangles without area that the source doesn't have: the physics would trip over them."""
    mesh = edit.edit
    if mesh.loose:
        message = f"{titled(Rule.LOOSE_VERTICES, mesh.loose)} of {quoted(edit.label)} left out"
        findings.append(Finding(Severity.WARNING, Rule.LOOSE_VERTICES, message))
    bad = ~np.isfinite(mesh.vertices).all(axis=1)
    if original is not None and bad.any():
        bad &= moved(mesh.vertices, mesh.vertex_ids, original)  # the source's own unused ones come back
    if bad.any():
        raise RefusedError(
            f"{titled(Rule.COORDINATES, np.count_nonzero(bad))} in {quoted(edit.label)}",
            expected="finite numbers",
            found=f"{mesh.vertices[bad][0]}",
            rule=Rule.COORDINATES,
        )
    thin = new_flat(mesh, original)
    if not thin.any():
        return mesh
    message = f"{titled(Rule.ZERO_AREA, np.count_nonzero(thin))} of {quoted(edit.label)} left out"
    findings.append(Finding(Severity.WARNING, Rule.ZERO_AREA, message))
    return _some(mesh, np.flatnonzero(~thin))


def new_flat(edit: Edit, original: Mesh | None) -> np.ndarray:
    """Which triangles have no area and aren't the source's, bool (nt,)."""
    thin = _thin(edit)
    if original is not None and thin.any():
        inherited = matches(edit, original)[0]
        inherited[inherited] = _thin(original)[edit.triangle_ids[inherited]]
        thin &= ~inherited
    return thin


def new_volume_faults(edit: Edit, original: Mesh | None) -> list[Fault]:
    """The closed surfaces without volume that aren't the source's."""
    kept = np.flatnonzero(~new_flat(edit, original))
    if not len(kept):
        return []
    mesh = _some(edit, kept) if len(kept) < len(edit.triangles) else edit
    none = np.zeros(len(kept), bool)
    found = volume_faults(mesh, original, matches(mesh, original) if original is not None else (none, none))
    return [
        replace(fault, severity=Severity.WARNING, elements=kept[fault.elements])
        for fault in found
        if fault.severity is not Severity.INFO
    ]


def _some(edit: Edit, kept: np.ndarray) -> Edit:
    """The edit with these of its triangles alone."""
    return replace(
        edit,
        triangles=edit.triangles[kept],
        triangle_ids=edit.triangle_ids[kept],
        owners=edit.owners[kept],
        origins=edit.origins[kept],
    )


def _thin(mesh: Mesh) -> np.ndarray:
    """Which triangles have no area, bool (nt,)."""
    return flat(mesh.vertices, mesh.triangles) | repeated(mesh.triangles)


def _usable(mesh: Mesh) -> bool:
    """Whether any triangle has an area. Preserved triangles come back even where all faces are deleted."""
    return not _thin(mesh).all()


def _name_field(edit: PartEdit) -> bytes:
    try:
        return encode_name(edit.name if edit.name is not None else edit.label)
    except FormatError as error:
        raise RefusedError(
            f"{quoted(edit.label)}: {error.problem}",
            expected=error.expected,
            found=error.found,
            remedy=error.remedy,
        ) from error


def _same(part: Part, original: Part) -> bool:
    return (
        part.name_field == original.name_field
        and part.vertices.tobytes() == original.vertices.tobytes()
        and part.triangles.tobytes() == original.triangles.tobytes()
    )


def _check_names(source: CollisionSet, parts: Sequence[Part | None], labels: Sequence[str]) -> list[Finding]:
    """Raises `RefusedError` for two names with one id, or warns of them where the source has both."""
    findings = []
    seen: dict[int, int] = {}
    for number, part in enumerate(parts):
        if part is None:
            continue
        first = seen.setdefault(part.id, number)
        if first == number:
            continue
        other = parts[first]
        assert other is not None
        if other.key == part.key:
            problem = f"{quoted(labels[first])} and {quoted(labels[number])} would both be stored as {part.name}"
        else:
            problem = f"{quoted(labels[first])} and {quoted(labels[number])} would be stored as {other.name} and "
            problem += f"{part.name}, two names with one id, 0x{part.id:08X}"
        inherited = all(place < len(source.parts) and source.parts[place].id == part.id for place in (first, number))
        if not inherited:
            raise RefusedError(problem, remedy=REMEDIES[Rule.SAME_PART_IDS], rule=Rule.SAME_PART_IDS)
        message = f"{other.name} and {part.name} have one id, as in the source file: the game drops the second"
        findings.append(Finding(Severity.WARNING, Rule.SAME_PART_IDS, message))
    return findings
