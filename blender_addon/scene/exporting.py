"""Objects to files: a hull from the objects that are parented to its root, a collision set from its parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import bpy

from ...core.editing.assemble import assemble
from ...core.editing.compare import Comparison
from ...core.editing.fault import refuse
from ...core.editing.faults import judge_edit, long_list_faults
from ...core.editing.options import Options
from ...core.editing.pieces import Edit, Piece
from ...core.editing.placement import pull_inside
from ...core.editing.rebuild_hull import Rebuilt, rebuild_judged
from ...core.editing.rebuild_set import PartEdit, rebuild_set
from ...core.errors import Finding
from ...core.formats import collision_set, mcol
from ...core.text import plural
from . import custom_properties, left_out, object_names, sources
from .applied_transforms import refuse_applied
from .blender_remedies import blender_remedies
from .crossings import intersection_faults
from .left_out import LeftOut
from .reading import GEOMETRY_TYPES, Origin, claim_by_position, family, read_objects


@dataclass(frozen=True, slots=True)
class Exported:
    """A file's bytes, what to say about it, and what to warn of."""

    data: bytes
    summary: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class HullEdit:
    """The objects that are parented to a hull's root, as one mesh: the source, whether its box is that of the
    imported file, the edit, its pieces and where each comes from, and what was left out and why."""

    source: mcol.Hull
    own_box: bool
    edit: Edit
    pieces: tuple[Piece, ...]
    origins: tuple[Origin, ...]
    left_out: tuple[LeftOut, ...]

    @cached_property
    def comparison(self) -> Comparison:
        """The edit with its source, compared once."""
        return Comparison(self.edit, self.source)


def read_hull(context: bpy.types.Context, root: bpy.types.Object, apply_modifiers: bool) -> HullEdit:
    """The edit of a hull. Raises `SylpheedError` for a source that can't be read."""
    source = sources.hull_source(root)
    parts = family(context.scene, root)
    readings = read_objects(context, root, parts.exported, apply_modifiers, lambda _: source)
    pieces = [piece for reading in readings for piece in reading.pieces]
    refuse_applied(root, ((piece, source.vertices) for piece in pieces))
    box = source.grid.minimum, source.grid.maximum
    pieces = [replace(piece, vertices=pull_inside(piece.vertices, piece.slack, *box)) for piece in pieces]
    pieces = claim_by_position(pieces, source)
    origins = [origin for reading in readings for origin in reading.origins]
    found = [left for reading in readings for left in reading.left_out]
    order = sorted(range(len(pieces)), key=lambda number: _first_claim(pieces[number]))
    pieces = [pieces[number] for number in order]
    return HullEdit(
        source,
        custom_properties.is_imported(root, custom_properties.source(root)),
        assemble(pieces, source),
        tuple(pieces),
        tuple(origins[number] for number in order),
        (*found, *left_out.around(context.scene, root, parts)),
    )


def rebuild_root(
    context: bpy.types.Context, root: bpy.types.Object, options: Options, apply_modifiers: bool
) -> tuple[HullEdit, Rebuilt]:
    """The edit of a hull, and the hull that an export writes. Raises `SylpheedError` that names the objects."""
    hull = read_hull(context, root, apply_modifiers)
    return hull, rebuild_edit(hull, options)


def rebuild_edit(hull: HullEdit, options: Options) -> Rebuilt:
    """The hull that an export of an edit writes. Raises `SylpheedError` that names the objects."""
    with blender_remedies():
        options = replace(options, own_box=hull.own_box)
        return rebuild_judged(hull.source, judge_edit(hull.comparison, hull.source, options), options)


def export_hull(
    context: bpy.types.Context, root: bpy.types.Object, options: Options, apply_modifiers: bool
) -> Exported:
    """The `.col` of a hull. Raises `SylpheedError` that names the objects."""
    hull, rebuilt = rebuild_root(context, root, options, apply_modifiers)
    findings = [*rebuilt.findings, *_advice(hull, rebuilt)]
    summary = f"{root.name}: {_summary(rebuilt)}" + ("" if hull.own_box else ", in another grid than it came with")
    return Exported(mcol.encode(rebuilt.hull), summary, (*map(str, hull.left_out), *map(str, findings)))


def _advice(hull: HullEdit, rebuilt: Rebuilt) -> list[Finding]:
    """What the edit did that the game can take and that is better otherwise."""
    rows, _, triangles = rebuilt.hull.entries()
    listed = triangles, rebuilt.hull.occupied[rows]
    faults = [
        *intersection_faults(hull.comparison, only_new=True),
        *long_list_faults(hull.edit, hull.source, rebuilt.hull.grid, listed),
    ]
    return refuse(faults)


@dataclass(frozen=True, slots=True, eq=False)
class SetEdit:
    """The objects that are parented to a collision set's root: the source, an edit of each part and where its
    pieces come from, the numbers of deleted parts, and what was left out and why."""

    source: collision_set.CollisionSet
    edits: tuple[PartEdit, ...]
    origins: tuple[tuple[Origin, ...], ...]
    removed: tuple[int, ...]
    left_out: tuple[LeftOut, ...]


def export_set(context: bpy.types.Context, root: bpy.types.Object, apply_modifiers: bool) -> Exported:
    """The `.bin` of a collision set. Raises `SylpheedError` that names the objects."""
    edited = read_set(context, root, apply_modifiers)
    with blender_remedies():
        rebuilt = rebuild_set(edited.source, edited.edits, edited.removed)
    count = len(rebuilt.changed)
    changed = (
        f"{count} edited: {', '.join(rebuilt.changed[:4])}{', …' if count > 4 else ''}" if count else "none edited"
    )
    return Exported(
        collision_set.encode(rebuilt.library),
        f"{root.name}: {plural(len(rebuilt.library.parts), 'part')}, {changed}",
        (*map(str, edited.left_out), *map(str, rebuilt.findings)),
    )


def read_set(context: bpy.types.Context, root: bpy.types.Object, apply_modifiers: bool) -> SetEdit:
    """The edit of a collision set. Raises `SylpheedError` for a source that can't be read."""
    source = sources.set_source(root)
    imported = custom_properties.imported_records(root)
    if not custom_properties.root_id(root):
        raise custom_properties.lost_source(root, custom_properties.ROOT_ID)
    edits, origins, found = [], [], []
    children = family(context.scene, root)
    objects = children.exported

    def source_of(obj: bpy.types.Object) -> collision_set.Part | None:
        record = _identity(obj, root, len(source.parts))[0]
        return None if record is None else source.parts[record]

    readings = read_objects(context, root, objects, apply_modifiers, source_of)
    parts = [
        (piece, source_of(obj)) for obj, reading in zip(objects, readings, strict=True) for piece in reading.pieces
    ]
    refuse_applied(root, ((piece, part and part.vertices) for piece, part in parts))
    for obj, reading in zip(objects, readings, strict=True):
        found += reading.left_out
        if obj.type not in GEOMETRY_TYPES and not reading.pieces:
            continue
        record, name = _identity(obj, root, len(source.parts))
        original = None if record is None else source.parts[record]
        pieces = claim_by_position(reading.pieces, original) if original else reading.pieces
        edits.append(PartEdit(obj.name, record, name, tuple(pieces), original))
        origins.append(tuple(reading.origins))
    edits = _settle_records(edits)
    removed = sorted(imported - {edit.record for edit in edits})
    found += left_out.around(context.scene, root, children)
    return SetEdit(source, tuple(edits), tuple(origins), tuple(removed), tuple(found))


def _identity(obj: bpy.types.Object, root: bpy.types.Object, count: int) -> tuple[int | None, str | None]:
    """Which record of the root's source an object is, and its name where that is new.

    The name in the file stays until the user changes the object's, whatever Blender did to it.
    """
    name, record = obj.name, obj.get(custom_properties.RECORD)
    if not isinstance(record, int) or not 0 <= record < count or not custom_properties.came_with(obj, root):
        return None, object_names.without_suffix(name)
    given = str(obj.get(custom_properties.GIVEN_NAME, name))
    return record, object_names.without_suffix(name) if object_names.is_renamed(name, given) else None


def _settle_records(edits: list[PartEdit]) -> list[PartEdit]:
    """A renamed copy is a part of its own as long as another object still is the one that it was copied from. Of
    several renamed ones without such an object the first is it."""
    kept = {edit.record for edit in edits if edit.name is None}
    settled = []
    for edit in edits:
        if edit.name is not None and edit.record in kept:
            edit = replace(edit, record=None)
        elif edit.record is not None:
            kept.add(edit.record)
        settled.append(edit)
    return settled


def _first_claim(piece: Piece) -> tuple[int, str]:
    """Pieces in the order of the source's triangles, new ones last."""
    known = piece.triangle_ids[piece.triangle_ids >= 0]
    return (int(known.min()) if len(known) else 1 << 62, piece.name)


def _summary(rebuilt: Rebuilt) -> str:
    changes = [
        f"{plural(count, 'triangle')} {what}"
        for count, what in ((rebuilt.moved, "changed"), (rebuilt.added, "added"), (rebuilt.removed, "removed"))
        if count
    ]
    if len(rebuilt.cells):
        changes.append(f"{plural(len(rebuilt.cells), 'cell')} rebuilt")
    hull = rebuilt.hull
    size = f"{plural(len(hull.vertices), 'vertex')}, {plural(len(hull.triangles), 'triangle')}"
    return f"{size}, " + (", ".join(changes) or "unchanged")
