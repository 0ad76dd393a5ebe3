"""What travels inside the .blend: a source file's bytes on its root, and what each object came from.

Plain custom properties, which stay readable where the extension isn't installed.
"""

from __future__ import annotations

import hashlib
import os

import bpy

LAYOUT = 1
"""Counts up when the properties below change their meaning."""

KIND = "sylpheed_kind"
SOURCE = "sylpheed_source"
DIGEST = "sylpheed_digest"
STEM = "sylpheed_stem"
VERSION = "sylpheed_layout"
ROOT_ID = "sylpheed_root"
IMPORTED = "sylpheed_imported"
RECORD = "sylpheed_record"
GIVEN_NAME = "sylpheed_given_name"
GAME = "sylpheed_game"
ENTRY = "sylpheed_entry"

HULL, SET, SHOWN = "hull", "set", "shown"
"""Kinds: the root of a hull, the root of a library, and objects that show something and are never exported."""


def make_root(kind: str, stem: str, data: bytes) -> bpy.types.Object:
    """An empty that carries a source file."""
    root = bpy.data.objects.new(stem, None)
    root.empty_display_type = "PLAIN_AXES"
    root[KIND], root[VERSION], root[STEM], root[SOURCE] = kind, LAYOUT, stem, data
    root[ROOT_ID] = os.urandom(16).hex()
    root[DIGEST] = _digest(data)
    return root


def kind(obj: bpy.types.Object) -> str:
    """What an object is to this extension, "" for any other."""
    shown = obj.data is not None and obj.data.get(KIND) == SHOWN
    return SHOWN if shown else str(obj.get(KIND, ""))


def source(root: bpy.types.Object) -> bytes:
    """The source file's bytes."""
    return bytes(root[SOURCE])


def set_source(root: bpy.types.Object, data: bytes) -> None:
    """Replaces the source file's bytes; the imported file's are still known, see `is_imported`."""
    root[DIGEST] = root.get(DIGEST) or _digest(source(root))
    del root[SOURCE]  # Blender cuts bytes at the first NUL where a property is there already
    root[SOURCE] = data
    root.update_tag()  # Blender tells nobody of an edit to a property


def is_imported(root: bpy.types.Object, data: bytes) -> bool:
    """Whether bytes are those of the file that was imported, also after `set_source`."""
    digest = root.get(DIGEST)
    return _digest(data) == (_digest(source(root)) if digest is None else digest)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def set_origin(root: bpy.types.Object, game: str, entry: str) -> None:
    """Remembers the game folder and the archive's entry that a root came from."""
    root[GAME], root[ENTRY] = game, entry


def origin(root: bpy.types.Object) -> tuple[str, str]:
    """The game folder and the archive's entry that a root came from, "" for a file from elsewhere."""
    return str(root.get(GAME, "")), str(root.get(ENTRY, ""))
