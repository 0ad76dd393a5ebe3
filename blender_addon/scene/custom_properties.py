"""What travels inside the .blend: a source file's bytes on its root, and what each object came from.

Plain custom properties, which stay readable where the extension isn't installed.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...core.errors import RefusedError, SylpheedError

LAYOUT = 1
"""Counts up when the properties below change their meaning. A later one is refused."""

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
FILE = "sylpheed_file"
EXPORTED = "sylpheed_exported"
VIEW = "sylpheed_view"
ORIGIN = "sylpheed_origin"
LAST = "sylpheed_last_"
NEW = "sylpheed_new"
SHELF = "sylpheed_shelf"
ASSET = "sylpheed_asset"
NAVIGATION = "sylpheed_navigation"
NAVIGATION_FOR = "sylpheed_navigation_for"
NAVIGATION_SOURCE = "sylpheed_navigation_source"
PARTS_LAYOUT = "sylpheed_parts_layout"
PARTS_START = "sylpheed_parts_start"

HULL, SET, SHOWN = "hull", "set", "shown"
"""Kinds: the root of a hull, the root of a collision set, and objects that show something and are never exported."""

ENDINGS = {HULL: ".col", SET: ".bin"}
"""What the names of their files end in."""


def make_root(kind: str, stem: str, data: bytes) -> bpy.types.Object:
    """An empty that carries a source file."""
    root = bpy.data.objects.new(stem, None)
    root.empty_display_type = "PLAIN_AXES"
    root[KIND], root[VERSION], root[STEM], root[SOURCE] = kind, LAYOUT, stem, data
    root[ROOT_ID] = os.urandom(16).hex()
    root[DIGEST] = digest_of(data)
    return root


def kind(obj: bpy.types.Object) -> str:
    """What an object is to this extension, "" for any other."""
    shown = obj.data is not None and obj.data.get(KIND) == SHOWN
    found = SHOWN if shown else obj.get(KIND, "")
    return found if isinstance(found, str) else ""


def source(root: bpy.types.Object) -> bytes:
    """The source file's bytes. Raises `SylpheedError` where they are gone, or where a later extension made the root."""
    layout = root.get(VERSION, LAYOUT)
    if not isinstance(layout, int):
        raise lost_source(root, VERSION)
    if layout > LAYOUT:
        raise RefusedError(
            f'"{root.name}" was imported with a later version of this extension',
            expected=f"layout {LAYOUT} at most",
            found=layout,
            remedy="update the extension",
        )
    data = root.get(SOURCE)
    if not isinstance(data, bytes):
        raise lost_source(root, SOURCE)
    return data


def lost_source(root: bpy.types.Object, what: str) -> SylpheedError:
    """The error for a root of which a property is gone or can't be used."""
    return RefusedError(f'"{root.name}" lost its source ({what})', remedy="import the file again")


def is_damaged_root(obj: bpy.types.Object) -> bool:
    """Whether an object was a root and lost the property that says which."""
    return kind(obj) not in (HULL, SET) and any(obj.get(name) is not None for name in (SOURCE, DIGEST))


def stem(root: bpy.types.Object) -> str:
    """The source file's name without its ending, or the root's own where it is lost."""
    given = root.get(STEM)
    return given if isinstance(given, str) and given else root.name


def root_id(root: bpy.types.Object) -> str:
    """What tells the objects that came with a root, "" where it is lost."""
    given = root.get(ROOT_ID)
    return given if isinstance(given, str) else ""


def set_view(root: bpy.types.Object) -> None:
    """Remembers how a root is scaled and turned on import."""
    matrix = root.matrix_basis.to_3x3()
    root[VIEW] = [matrix[row][column] for row in range(3) for column in range(3)]


def view(root: bpy.types.Object) -> list[list[float]] | None:
    """The rows of the matrix that scaled and turned a root on import, None where that isn't known."""
    values: Any = root.get(VIEW)
    numbers = values.to_list() if hasattr(values, "to_list") else []
    if len(numbers) != 9 or not all(isinstance(number, float) for number in numbers):
        return None
    return [numbers[0:3], numbers[3:6], numbers[6:9]]


def set_mesh_origin(mesh: bpy.types.Mesh, origin: np.ndarray) -> None:
    """Remembers the point of the file, (3,) numbers, about which an imported mesh has its coordinates."""
    mesh[ORIGIN] = [float(number) for number in origin]


def mesh_origin(data: bpy.types.ID | None) -> np.ndarray | None:
    """The point of the file about which an imported mesh has its coordinates, float64 (3,); None where that isn't
    known."""
    values: Any = None if data is None else data.get(ORIGIN)
    numbers = values.to_list() if hasattr(values, "to_list") else []
    if len(numbers) != 3 or not all(isinstance(number, float) for number in numbers):
        return None
    return np.array(numbers)


def set_shelf(obj: bpy.types.Object, shelf: np.ndarray | None) -> None:
    """Shows a part of a collision set away from its place in the file by a shelf, float32 (3,) in the file's space, or
    at its place. The shelf lies between the root and the part: the part's own transform is as it was."""
    if shelf is None:
        obj.pop(SHELF, None)
        obj.matrix_parent_inverse = Matrix()
    else:
        obj[SHELF] = [float(number) for number in shelf]
        obj.matrix_parent_inverse = Matrix.Translation(obj[SHELF].to_list())


def shelf(obj: bpy.types.Object) -> np.ndarray | None:
    """How far a part is shown from its place in the file, float64 (3,); None where nothing lies between it and the
    root of a collision set."""
    values: Any = obj.get(SHELF)
    if values is None or obj.parent is None or kind(obj.parent) != SET:
        return None
    numbers = values.to_list() if hasattr(values, "to_list") else []
    if len(numbers) != 3 or not all(isinstance(number, float) for number in numbers):
        return None
    return np.array(numbers)


def store_navigation(root: bpy.types.Object, volume: bytes, hull: bytes) -> None:
    """Keeps a navigation volume, and for which hull it was made: the bytes of a `.rgn` and of a `.col`."""
    root[NAVIGATION], root[NAVIGATION_FOR] = volume, digest_of(hull)


def stored_navigation(root: bpy.types.Object, hull: bytes) -> bytes | None:
    """The navigation volume that was made for a hull, given the bytes of its `.col`; None where there is none."""
    volume = root.get(NAVIGATION)
    return volume if isinstance(volume, bytes) and root.get(NAVIGATION_FOR) == digest_of(hull) else None


def came_with(obj: bpy.types.Object, root: bpy.types.Object) -> bool:
    """Whether an object was imported with a root, or is a copy of one that was."""
    return root_id(root) != "" and obj.get(ROOT_ID) == root_id(root)


def imported_records(root: bpy.types.Object) -> set[int]:
    """The records of a collision set that were imported with a root. Raises `SylpheedError` where that is lost."""
    records: Any = root.get(IMPORTED)
    numbers = records.to_list() if hasattr(records, "to_list") else records
    if not isinstance(numbers, list) or not all(isinstance(number, int) for number in numbers):
        raise lost_source(root, IMPORTED)
    return set(numbers)


def set_source(root: bpy.types.Object, data: bytes) -> None:
    """Replaces the source file's bytes; the imported file's are still known, see `is_imported`."""
    root[DIGEST] = _known_digest(root) or digest_of(source(root))
    del root[SOURCE]  # Blender cuts bytes at the first NUL where a property is there already
    root[SOURCE] = data
    root.update_tag()  # Blender tells nobody of an edit to a property


def is_imported(root: bpy.types.Object, data: bytes) -> bool:
    """Whether bytes are those of the file that was imported, also after `set_source`."""
    return digest_of(data) == digest(root)


def digest(root: bpy.types.Object) -> str:
    """The SHA-256 of the file that was imported, in hexadecimal. Raises `SylpheedError` as `source` does."""
    return _known_digest(root) or digest_of(source(root))


def _known_digest(root: bpy.types.Object) -> str:
    digest = root.get(DIGEST)
    return digest if isinstance(digest, str) else ""


def digest_of(data: bytes) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def set_origin(root: bpy.types.Object, game: str, entry: str) -> None:
    """Remembers the game folder and the archive's entry that a root came from."""
    root[GAME], root[ENTRY] = game, entry


def origin(root: bpy.types.Object) -> tuple[str, str]:
    """The game folder and the archive's entry that a root came from, "" for a file from elsewhere."""
    return str(root.get(GAME, "")), str(root.get(ENTRY, ""))


def set_file(root: bpy.types.Object, path: str) -> None:
    """Remembers the file that a root came from, where it is no archive's entry."""
    root[FILE] = os.fsencode(os.path.abspath(path))  # not every path is text


def file(root: bpy.types.Object) -> str:
    """The path of the file that a root came from, "" for an archive's entry, and where it isn't known."""
    path = root.get(FILE)
    return os.fsdecode(path) if isinstance(path, bytes) else ""


def remember(scene: bpy.types.Scene, **choices: str) -> None:
    """Remembers a user's last choices by name, such as a stage, in the .blend. "" forgets one."""
    if scene.library is not None:
        return  # another file's to change
    for name, value in choices.items():
        if value:
            scene[LAST + name] = value
        else:
            scene.pop(LAST + name, None)


def remembered(scene: bpy.types.Scene, name: str) -> str:
    """The last choice of that name, "" for none."""
    value = scene.get(LAST + name, "")
    return value if isinstance(value, str) else ""
