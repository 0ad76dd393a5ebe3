"""What a root's file depends on as it was at a moment, and whether it still is so.

It reads the scene without changing it, so it may be asked while Blender draws. As long as Blender reports no change,
the answer is the last one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import bpy

from ...core.errors import SylpheedError
from . import custom_properties, left_out, reading, revision
from .evaluation import View, is_edited
from .mesh_digest import Digests, mesh_digests, place_digest
from .settings_digest import settings_digest

ROOT_PROPERTIES = (
    custom_properties.KIND,
    custom_properties.SOURCE,
    custom_properties.DIGEST,
    custom_properties.ROOT_ID,
    custom_properties.IMPORTED,
)
OBJECT_PROPERTIES = (
    custom_properties.KIND,
    custom_properties.ROOT_ID,
    custom_properties.RECORD,
    custom_properties.GIVEN_NAME,
    custom_properties.SHELF,
)

Key = tuple[int, int]
"""The session numbers of an object and of the collection instance that it shows in, 0 for none."""


@dataclass(frozen=True, slots=True)
class _State:
    """What the file depends on in an object. `shown` is the shape that is exported and `placed` where, None where that
    can't be read without changing the scene. Both are made from `own`, its mesh, and `places` and `settings`, its own
    and those of its parents."""

    identity: int
    shown: Digests | None
    placed: bytes | None
    own: Digests
    places: tuple[int, ...]
    settings: tuple[int, ...]


@dataclass(eq=False)
class Snapshot:
    """Of a root and all that is parented to it. `unseen` says whether Blender reports no change of some of it."""

    _root: int
    _states: dict[Key, _State]
    _unseen: bool
    _revision: int
    _differs: bool = False
    _last: Key | None = None

    @classmethod
    def take(cls, context: bpy.types.Context, root: bpy.types.Object) -> Snapshot:
        """The scene as it is now."""
        context.view_layer.update()
        view = View(context, root, True)
        states, unseen = {}, False
        for key, obj in _objects(context, root):
            states[key] = _state(context, view, obj)
            unseen |= not view.is_enabled(obj)
        return cls(_root_digest(root), states, unseen, revision.current())

    def differs(self, context: bpy.types.Context, root: bpy.types.Object) -> bool:
        """Whether something else would be exported than when this was taken. The root is given, since no reference to
        an object outlives an undo."""
        if self._unseen or self._revision != revision.current():
            self._revision = revision.current()
            self._differs = self._compare(context, root)
        return self._differs

    def _compare(self, context: bpy.types.Context, root: bpy.types.Object) -> bool:
        if _root_digest(root) != self._root:
            return True
        view = View(context, root, True, context.view_layer.depsgraph)
        objects = dict(_objects(context, root))
        if objects.keys() != self._states.keys():
            return True
        for key in sorted(objects, key=lambda key: key != self._last):  # what is being dragged is asked first
            if not _same(context, view, objects[key], self._states[key]):
                self._last = key
                return True
        return False


def _objects(context: bpy.types.Context, root: bpy.types.Object) -> Iterator[tuple[Key, bpy.types.Object]]:
    """What shows something of all that is parented to a root, and what collection instances among it show."""
    for obj in reading.below(context.scene, root):
        if obj.type in left_out.VISIBLE or reading.members(obj):
            yield (obj.session_uid, 0), obj
        for member in reading.members(obj):
            yield (member.session_uid, obj.session_uid), member


def _root_digest(root: bpy.types.Object) -> int:
    number = 0
    for name in ROOT_PROPERTIES:
        value = root.get(name)
        number = zlib.crc32(value if isinstance(value, bytes) else _text(value), number)
    return number


def _text(value: object) -> bytes:
    return repr(value.to_list() if hasattr(value, "to_list") else value).encode("utf-8", "replace")


def _state(context: bpy.types.Context, view: View, obj: bpy.types.Object) -> _State:
    shown = _shown(view, obj)
    own = _own(obj) if shown is None or view.evaluates_shape(obj) else shown
    return _State(
        _identity(view.root, obj), shown, _placed(view, obj), own, _places(view, obj), _settings(context, view, obj)
    )


def _same(context: bpy.types.Context, view: View, obj: bpy.types.Object, before: _State) -> bool:
    """Whether an object is exported as before: what is read now decides, or else what it is made from."""
    if _identity(view.root, obj) != before.identity:
        return False
    placed = _placed(view, obj)
    if placed is None or before.placed is None:
        if _places(view, obj) != before.places or _settings(context, view, obj) != before.settings:
            return False
    elif placed != before.placed:
        return False
    shown = _shown(view, obj)
    if shown is not None and before.shown is not None:
        return shown == before.shown
    return _agree(_own(obj), before.own) and _settings(context, view, obj) == before.settings


def _chain(view: View, obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """An object and its parents, up to the root."""
    above: bpy.types.Object | None = obj
    while above is not None and above != view.root:
        yield above
        above = above.parent


def _places(view: View, obj: bpy.types.Object) -> tuple[int, ...]:
    return tuple(place_digest(one) for one in _chain(view, obj))


def _settings(context: bpy.types.Context, view: View, obj: bpy.types.Object) -> tuple[int, ...]:
    return tuple(settings_digest(context, one) for one in _chain(view, obj))


def _agree(one: Digests, other: Digests) -> bool:
    """Whether digests are the same as far as both are known."""
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(None in (a, b) or a == b for a, b in pairs)


def _identity(root: bpy.types.Object, obj: bpy.types.Object) -> int:
    """A number for what an object came from, and for its name where the file depends on it: a part is named by it, and
    new pieces of a hull come in the order of their names."""
    values: list[object] = [obj.type, *(obj.get(name) for name in OBJECT_PROPERTIES)]
    if custom_properties.kind(root) == custom_properties.SET or not custom_properties.came_with(obj, root):
        values.append(obj.name)
    if obj.type == "MESH":
        values.append(obj.data.get(custom_properties.ORIGIN))
    if obj.instance_type == "COLLECTION" and obj.instance_collection:
        values += [obj.instance_collection.session_uid, *obj.instance_collection.instance_offset]
    return zlib.crc32(b"\n".join(map(_text, values)))


def _own(obj: bpy.types.Object) -> Digests:
    return mesh_digests(obj, obj.data) if obj.type == "MESH" else ()


def _shown(view: View, obj: bpy.types.Object) -> Digests | None:
    """The shape that is exported, None where only a change of the scene would let it be read."""
    if obj.type not in reading.GEOMETRY_TYPES:
        return ()
    if obj.mode == "SCULPT" or view.is_missing(obj):
        return None
    if not is_edited(obj):
        with view.mesh(obj) as mesh:
            return mesh_digests(obj, mesh)[:3]
    if view.evaluates_shape(obj) or not view.is_enabled(obj):
        return None
    shown = obj.evaluated_get(view.depsgraph)
    try:
        return mesh_digests(obj, shown.to_mesh())
    finally:
        shown.to_mesh_clear()


def _placed(view: View, obj: bpy.types.Object) -> bytes | None:
    """Where the export puts an object, None where only a change of the scene would let it be read."""
    if not view.is_placed(obj):
        return None
    try:
        return (view.placement(obj).matrix + 0.0).tobytes()  # no -0
    except SylpheedError as error:
        return str(error).encode()
