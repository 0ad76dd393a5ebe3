"""Names of objects and collections, and back from them to what they stand for."""

from __future__ import annotations

import re

SUFFIX = re.compile(r"\.\d{3,}$")
FAMILIES = ("rou", "mob", "rob")


def surface(stem: str, name: str) -> str:
    """`wall.S14_p1`: what differs comes first, so that it is seen in a narrow outliner."""
    return f"{name}.{stem}"


def cell(stem: str, position: tuple[int, int, int]) -> str:
    """`cell_02_00_00.S14_p1`"""
    return "cell_{1:02}_{2:02}_{3:02}.{0}".format(stem, *position)


def sphere(stem: str, position: tuple[int, int, int]) -> str:
    """`sphere_02_00_00.S14_p1`"""
    return "sphere_{1:02}_{2:02}_{3:02}.{0}".format(stem, *position)


def asteroid_number(name: str) -> int:
    """The number in `asteroid_05` or `asteroid_05.S14_p1`, 0 in any other name."""
    found = re.match(r"asteroid_(\d+)", name)
    return int(found[1]) if found else 0


def printable(text: str) -> str:
    """The text with what Blender takes for no text, from a path in another encoding, as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def without_suffix(name: str) -> str:
    """A name less the `.001` that Blender appends where a name is taken."""
    return SUFFIX.sub("", name)


def is_renamed(name: str, given: str) -> bool:
    """Whether somebody changed an object's name since it was given. Blender itself appends suffixes, and before
    version 5 cuts names to 63 bytes of UTF-8, to fewer where it needs room to tell two apart."""
    if name == given:
        return False
    name, given = without_suffix(name), without_suffix(given)
    cut = given.startswith(name) and 54 <= len(name.encode()) <= 63
    return name != given and not cut


def part_groups(name: str) -> tuple[str, ...]:
    """The collections of a part of a collision set: its family and its ship, or stage for an asteroid.

    `rou_e101_brg_01` → rou, rou_e101; `S14_p1_Asteroid_cmesh_05` → asteroids, S14_p1.
    """
    family, _, rest = name.partition("_")
    if family in FAMILIES and rest:
        return family, f"{family}_{rest.partition('_')[0]}"
    stage, found, _ = name.partition("_Asteroid")
    return ("asteroids", stage) if found else ("other",)
