"""Objects to files: a hull from what hangs below its root, a library from its parts."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from . import carry, scene_names
from .core import collision_set, mcol
from .core.assemble import assemble
from .core.errors import Finding, FormatError, some
from .core.rebuild import Options, Rebuilt, rebuild
from .core.rebuild_set import PartEdit, rebuild_set
from .scene_read import GEOMETRY_TYPES, below, claim_by_position, find_roots, read_objects, strays


@dataclass(frozen=True, slots=True)
class Exported:
    """A file's bytes, what to say about it, and what to warn of."""

    data: bytes
    summary: str
    warnings: tuple[str, ...]


def find_root(context: bpy.types.Context, kind: str, name: str = "", collection: str = "") -> bpy.types.Object:
    """The root of that name, or that of the active object, or the only one in the scene, or in the collection of
    the scene that is named.

    Raises `FormatError` that lists the choices.
    """
    roots = find_roots(context.scene, kind)
    what = "hull" if kind == carry.HULL else "library"
    if collection:
        return _root_in(roots, collection, what, name)
    if not roots:
        raise FormatError(f"the scene holds no {what}", remedy=f"import one with File > Import > Sylpheed {what}")
    if name:
        named = [root for root in roots if root.name == name]
        if named:
            return named[0]
        raise FormatError(f"the scene holds no {what} called {name!r}", expected=_names(roots))
    active = context.view_layer.objects.active
    while active is not None:
        if active in roots:
            return active
        active = active.parent
    if len(roots) == 1:
        return roots[0]
    raise FormatError(
        f"the scene holds {len(roots)} of that kind, {_names(roots)}",
        remedy="select one of its objects, or name it in the options",
    )


def _root_in(roots: list[bpy.types.Object], collection: str, what: str, name: str) -> bpy.types.Object:
    held = set(bpy.data.collections[collection].all_objects) if collection in bpy.data.collections else set()
    found = [root for root in roots if root in held and name in ("", root.name)]
    if len(found) == 1:
        return found[0]
    raise FormatError(
        f"the collection {collection!r} holds {_names(found) or f'no {what}'}",
        expected=f"one {what}",
        remedy=f"put the exporter on the collection that the {what}'s root is in",
    )


def export_hull(
    context: bpy.types.Context, root: bpy.types.Object, options: Options, apply_modifiers: bool
) -> Exported:
    """The `.col` of a hull. Raises `FormatError` that names the objects."""
    source = mcol.decode(carry.source(root))
    reading = read_objects(context, root, below(context.scene, root), apply_modifiers)
    pieces = sorted(claim_by_position(reading.pieces, source), key=_first_claim)
    rebuilt = rebuild(source, assemble(pieces, source), options)
    return Exported(
        mcol.encode(rebuilt.hull),
        f"{root.name}: {_summary(rebuilt)}",
        (*reading.warnings, *_stray_warnings(context, root), *map(_text, rebuilt.findings)),
    )


def export_set(context: bpy.types.Context, root: bpy.types.Object, apply_modifiers: bool) -> Exported:
    """The `.bin` of a library. Raises `FormatError` that names the objects."""
    source = collision_set.decode(carry.source(root))
    imported = set(root.get(carry.IMPORTED, ()))
    edits, warnings = [], []
    for obj in below(context.scene, root):
        reading = read_objects(context, root, [obj], apply_modifiers)
        warnings += reading.warnings
        if obj.type not in GEOMETRY_TYPES and not reading.pieces:
            continue
        record, name = _identity(obj, root, len(source.parts))
        original = None if record is None else source.parts[record]
        pieces = claim_by_position(reading.pieces, original) if original else reading.pieces
        edits.append(PartEdit(obj.name, record, name, assemble(pieces, original, sew=False)))
    edits = _settle_records(edits)
    removed = sorted(imported - {edit.record for edit in edits})
    rebuilt = rebuild_set(source, edits, removed)
    count = len(rebuilt.changed)
    changed = (
        f"{count} edited: {', '.join(rebuilt.changed[:4])}{', …' if count > 4 else ''}" if count else "none edited"
    )
    return Exported(
        collision_set.encode(rebuilt.library),
        f"{root.name}: {len(rebuilt.library.parts):,} parts, {changed}",
        (*warnings, *_stray_warnings(context, root), *map(_text, rebuilt.findings)),
    )


def _identity(obj: bpy.types.Object, root: bpy.types.Object, count: int) -> tuple[int | None, str | None]:
    """Which record of the root's source an object is, and its name where that is new.

    The name in the file stays until the user changes the object's, whatever Blender did to it.
    """
    name = scene_names.without_suffix(obj.name)
    record = obj.get(carry.RECORD)
    if not isinstance(record, int) or not 0 <= record < count or obj.get(carry.ROOT_ID) != root.get(carry.ROOT_ID):
        return None, name
    given = str(obj.get(carry.GIVEN_NAME, obj.name))
    return record, name if scene_names.is_renamed(obj.name, given) else None


def _settle_records(edits: list[PartEdit]) -> list[PartEdit]:
    """A renamed copy is a part of its own as long as another object still is the one that it was copied from. Of
    several renamed ones without such an object the first is it."""
    kept = {edit.record for edit in edits if edit.name is None}
    settled = []
    for edit in edits:
        if edit.name is not None and edit.record in kept:
            edit = PartEdit(edit.label, None, edit.name, edit.edit)
        elif edit.record is not None:
            kept.add(edit.record)
        settled.append(edit)
    return settled


def _first_claim(piece) -> tuple[int, str]:
    """Pieces in the order of the source's triangles, new ones last."""
    known = piece.triangle_ids[piece.triangle_ids >= 0]
    return (int(known.min()) if len(known) else 1 << 62, piece.name)


def _summary(rebuilt: Rebuilt) -> str:
    changes = [
        f"{count:,} triangles {what}"
        for count, what in ((rebuilt.moved, "changed"), (rebuilt.added, "added"), (rebuilt.removed, "removed"))
        if count
    ]
    if len(rebuilt.cells):
        changes.append(f"{len(rebuilt.cells):,} cells rebuilt")
    hull = rebuilt.hull
    return f"{len(hull.vertices):,} vertices, {len(hull.triangles):,} triangles, " + (", ".join(changes) or "unchanged")


def _stray_warnings(context: bpy.types.Context, root: bpy.types.Object) -> list[str]:
    names = strays(context.scene, root)
    if not names:
        return []
    return [
        f"{some([f'`{name}`' for name in names])} came with {root.name} but no longer hang below it and aren't exported"
    ]


def _text(finding: Finding) -> str:
    return str(finding)


def _names(roots: list[bpy.types.Object]) -> str:
    return ", ".join(root.name for root in roots)
