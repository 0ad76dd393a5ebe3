"""Which hull or collision set is meant: roots in a scene, by name, by the active object, or the only one."""

from __future__ import annotations

from collections.abc import Container

import bpy
from bpy.app.handlers import persistent

from ...core.errors import RefusedError, SylpheedError
from . import custom_properties

NAMES = {custom_properties.HULL: "hull", custom_properties.SET: "collision set"}
"""What messages call a root's kind."""

_roots: dict[int, list[bpy.types.Object]] = {}
"""By a scene's session number, its roots. Blender asks `poll` at each redraw, which must not look through the scene."""

_found: dict[tuple[int, int], bpy.types.Object] = {}
"""Objects of a scene, by its session number and theirs, until something in the scene is rearranged."""


def find_roots(scene: bpy.types.Scene, kind: str) -> list[bpy.types.Object]:
    """The roots of one kind in a scene, hidden ones included."""
    return [obj for obj in scene.objects if obj.get(custom_properties.KIND) == kind]


def find_all_roots(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The roots of hulls in a scene, then those of collision sets."""
    found = {kind: [] for kind in NAMES}
    for obj in scene.objects:
        if (kind := obj.get(custom_properties.KIND)) is not None and custom_properties.kind(obj) in found:
            found[kind].append(obj)
    return found[custom_properties.HULL] + found[custom_properties.SET]


def root_of(obj: bpy.types.Object | None) -> bpy.types.Object | None:
    """The root that an object is or is parented to, None if there is none."""
    while obj is not None and custom_properties.kind(obj) not in NAMES:
        obj = obj.parent
    return obj


def known_roots(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The roots of hulls in a scene, then those of collision sets. Asked again, it doesn't look through the scene. A
    root that left the scene but not the file may still count."""
    roots = _roots.get(scene.session_uid)
    try:
        if roots is not None and all(custom_properties.kind(root) in NAMES for root in roots):
            return roots
    except ReferenceError:
        pass  # one was deleted
    _roots[scene.session_uid] = find_all_roots(scene)
    return _roots[scene.session_uid]


def has_root(scene: bpy.types.Scene, kind: str) -> bool:
    """Whether a scene holds a root of a kind, as `known_roots` knows it."""
    return any(custom_properties.kind(root) == kind for root in known_roots(scene))


def shown_root(context: bpy.types.Context) -> bpy.types.Object | None:
    """The root that panels are about: that of the active object, or the scene's only one."""
    root = root_of(context.view_layer.objects.active)
    if root is None:
        roots = known_roots(context.scene)
        root = roots[0] if len(roots) == 1 else None
    return root


def by_uid(scene: bpy.types.Scene, session_uid: int) -> bpy.types.Object | None:
    """The object of a scene with that session number. Asked again, it doesn't look through the scene."""
    key = scene.session_uid, session_uid
    try:
        if key in _found and _found[key].session_uid == session_uid:
            return _found[key]
    except ReferenceError:
        pass  # it was deleted
    _found.pop(key, None)
    obj = next((obj for obj in scene.objects if obj.session_uid == session_uid), None)
    if obj is not None:
        _found[key] = obj
    return obj


def find_root(
    context: bpy.types.Context,
    kind: str | None = None,
    name: str = "",
    *,
    collection: str = "",
    session_uid: int = 0,
) -> bpy.types.Object:
    """The root of a kind, or of either. It is the one of that session number or of that name, that of the active
    object, or the only one in the scene, or in the collection of the scene that is named. Of several with one name,
    the local one.

    Raises `SylpheedError` that lists the choices.
    """
    kinds = tuple(NAMES) if kind is None else (kind,)
    if not collection and not session_uid:
        root = _at_hand(context, kinds, name)
        if root is not None:
            return root
    roots = [root for root in find_all_roots(context.scene) if custom_properties.kind(root) in kinds]
    if collection:
        return _root_in(roots, collection, kinds, name)
    if session_uid:
        roots = [root for root in roots if root.session_uid == session_uid]
    return _choose(context, roots, kinds, name)


def _at_hand(context: bpy.types.Context, kinds: tuple[str, ...], name: str) -> bpy.types.Object | None:
    """The local root of a name, or that of the active object, without looking through the scene."""
    found = bpy.data.objects.get((name, None)) if name else root_of(context.view_layer.objects.active)
    if found is None or custom_properties.kind(found) not in kinds or context.scene.objects.get(found.name) != found:
        return None
    return found


def _choose(
    context: bpy.types.Context, roots: list[bpy.types.Object], kinds: tuple[str, ...], name: str
) -> bpy.types.Object:
    named = [root for root in roots if name in ("", root.name)]
    if not named:
        raise explain_none(context.scene, kinds, name, roots)
    if name:
        named = local_ones(named)
    active = root_of(context.view_layer.objects.active)
    if active in named:
        return active
    if len(named) == 1:
        return named[0]
    remedy = "select one of its objects, or name it in the options"
    if name:
        remedy = "select one of its objects and name none in the options"
    raise RefusedError(f"the scene has {len(named)} of this kind: {names(named)}", remedy=remedy)


def _root_in(roots: list[bpy.types.Object], collection: str, kinds: tuple[str, ...], name: str) -> bpy.types.Object:
    held = {
        obj
        for candidate in bpy.data.collections
        if candidate.name == collection  # one of a library may have the same name
        for obj in candidate.all_objects
    }
    found = [root for root in roots if root in held and name in ("", root.name)]
    found = local_ones(found)
    if len(found) == 1:
        return found[0]
    what = " or ".join(NAMES[kind] for kind in kinds)
    raise RefusedError(
        f'the collection "{collection}" has {names(found) or f"no {what}"}',
        expected=f"one {what}",
        remedy=f"put the exporter on the collection that the {what}'s root is in",
    )


def local_ones(roots: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """The roots that aren't linked, or all where all are: a linked one may have the name of a local one."""
    return [root for root in roots if root.library is None] or roots


def names(roots: list[bpy.types.Object]) -> str:
    """The roots' names, with the library of those that are linked."""
    return ", ".join(
        f"{root.name} (linked from {root.library.filepath})" if root.library else root.name for root in roots
    )


# --- why there is none ----------------------------------------------------------------------------


def explain_none(
    scene: bpy.types.Scene, kinds: tuple[str, ...], name: str, roots: list[bpy.types.Object]
) -> SylpheedError:
    """Why a scene holds no root of these kinds and of a name, and what to do."""
    damaged = [obj for obj in find_damaged(scene) if name in ("", obj.name)]
    if damaged:
        return custom_properties.lost_source(damaged[0], custom_properties.KIND)
    what = " or ".join(NAMES[kind] for kind in kinds)
    problem = f'the scene has no {what} named "{name}"' if name else f"the scene has no {what}"

    def wanted(obj: bpy.types.Object) -> bool:
        return custom_properties.kind(obj) in kinds and name in ("", obj.name)

    for empty in scene.objects:
        held = _instanced(empty, wanted)
        if held is not None:
            return RefusedError(f"{problem}: {_describe_instance(empty, held)}", remedy=_make_real(empty))
    for other in bpy.data.scenes:
        held = next((obj for obj in other.objects if wanted(obj)), None) if other != scene else None
        if held is not None:
            return RefusedError(
                f'{problem}: "{held.name}" is in the scene "{other.name}"', remedy="switch to that scene"
            )
    held = next((obj for obj in bpy.data.objects if wanted(obj) and not obj.users_scene), None)
    if held is not None:
        remedy = "link its collection to the scene in the Outliner's Blender File view"
        return RefusedError(f'{problem}: "{held.name}" is in the file, but in no scene', remedy=remedy)
    if roots:
        return RefusedError(problem, expected=names(roots))
    return RefusedError(problem, remedy="import one with File > Import")


def find_damaged(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Objects that were roots and lost the property that says so."""
    return [obj for obj in scene.objects if custom_properties.is_damaged_root(obj)]


def instances_of_others(scene: bpy.types.Scene, known: Container[bpy.types.Object]) -> list[str]:
    """What a scene shows of roots that aren't among the known ones, by empties that show their collection."""
    found = []
    for empty in scene.objects:
        held = _instanced(empty, lambda obj: custom_properties.kind(obj) in NAMES and obj not in known)
        if held is not None:
            found.append(f"{_describe_instance(empty, held)}, which isn't exported; {_make_real(empty)}")
    return found


def _instanced(empty: bpy.types.Object, wanted, depth: int = 8) -> bpy.types.Object | None:
    """A root in the collection that an empty shows, in instances within it too."""
    if empty.instance_type != "COLLECTION" or empty.instance_collection is None or not depth:
        return None
    for obj in empty.instance_collection.all_objects:
        found = obj if wanted(obj) else _instanced(obj, wanted, depth - 1)
        if found is not None:
            return found
    return None


def _describe_instance(empty: bpy.types.Object, held: bpy.types.Object) -> str:
    collection = empty.instance_collection
    text = f'"{empty.name}" only shows the collection "{collection.name}" that holds "{held.name}"'
    library = collection.library or held.library
    return f"{text}, linked from {library.filepath}" if library else text


def _make_real(empty: bpy.types.Object) -> str:
    if empty.instance_collection.library:
        return "select it and use Object > Library Override > Make"
    return "link that collection itself to the scene, in the Outliner's Blender File view"


# --- what is remembered ---------------------------------------------------------------------------


@persistent
def _forget_missing(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Looks again where there was no root, and where an object may have left its scene. Never looks at the updates
    themselves: their number is that of the scene's objects where one is new."""
    if depsgraph.id_type_updated("SCENE"):
        forget()
    elif depsgraph.id_type_updated("OBJECT"):
        for key in [key for key, roots in _roots.items() if not roots]:
            del _roots[key]


@persistent
def forget(*_: object) -> None:
    """Drops what is known: no reference to an object outlives an undo."""
    _roots.clear()
    _found.clear()


HANDLERS = (
    ("depsgraph_update_post", _forget_missing),
    ("undo_pre", forget),
    ("redo_pre", forget),
    ("undo_post", forget),
    ("redo_post", forget),
    ("load_pre", forget),
    ("load_post", forget),
)


def register() -> None:
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
    forget()
