"""Whether two paths lead to one file: through links, hard links, and names that a file system doesn't distinguish."""

from __future__ import annotations

import contextlib
import os
import unicodedata

from ..errors import FormatError

AnyPath = str | os.PathLike[str]


def same_file(one: AnyPath, other: AnyPath) -> bool:
    """Whether both paths are one file or folder. One that doesn't exist yet is judged by its folder and its name."""
    if not (os.path.exists(one) and os.path.exists(other)):
        return _same_place(os.path.realpath(one), os.path.realpath(other))
    try:
        if os.stat(one).st_ino:
            return os.path.samefile(one, other)
    except OSError:
        return False  # one of them was deleted meanwhile
    # a drive that numbers no files gives 0 to all
    return os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(other))


def is_inside(path: AnyPath, folder: AnyPath) -> bool:
    """Whether a path is a folder, or lies in it at any depth, wherever links lead."""
    place, last = os.path.realpath(path), ""
    while place != last:
        if same_file(place, folder):
            return True
        place, last = os.path.dirname(place), place
    return False


def refuse_same(output: AnyPath, *inputs: AnyPath | None) -> None:
    """Raises `FormatError` if the output is one of the inputs; None and empty names are no input."""
    for path in inputs:
        if path and same_file(output, path):
            remedy = "choose another name for the output"
            raise FormatError("is the source file itself", file=str(output), remedy=remedy)


def refuse_inside(output: AnyPath, game: AnyPath | None) -> None:
    """Raises `FormatError` if the output lies in the game folder; None and an empty name are no folder."""
    if game and is_inside(output, game):
        remedy = "choose a folder outside the game, whose files are never changed"
        raise FormatError("lies in the game folder", file=str(output), remedy=remedy)


def _same_place(one: str, other: str) -> bool:
    """Of real paths: whether their last existing folders are one, and the names below it are alike."""
    (folder, names), (other_folder, other_names) = _split(one), _split(other)
    if len(names) != len(other_names) or not os.path.exists(folder) or not os.path.exists(other_folder):
        return False
    if not names:  # both came into being meanwhile
        return same_file(folder, other_folder)
    if names == other_names:
        return same_file(folder, other_folder)
    folded, other_folded = (os.sep.join(some) for some in (names, other_names))
    return _fold(folded) == _fold(other_folded) and same_file(folder, other_folder) and _ignores_case(folder)


def _split(path: str) -> tuple[str, list[str]]:
    """The last folder of a path that exists, and the names below it, at least the path's own."""
    folder, name = os.path.split(path)
    names = [name]
    while name and not os.path.isdir(folder):
        folder, name = os.path.split(folder)
        names.insert(0, name)
    return folder, names


def _fold(name: str) -> str:
    """macOS takes letters with accents for alike, composed or not."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def _ignores_case(folder: str) -> bool:
    """Whether names in a folder are found in another case, by something in it, else by the folder's own name."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.swapcase() != entry.name:
                return _found_in_another_case(folder, entry.name)
    parent, name = os.path.split(folder)
    return _found_in_another_case(parent, name) if name else os.path.normcase("A") == "a"


def _found_in_another_case(folder: str, name: str) -> bool:
    try:
        return os.path.samefile(os.path.join(folder, name), os.path.join(folder, name.swapcase()))
    except OSError:
        return False
