"""The navigation volumes beside the hulls that go into a mod."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..errors import SylpheedError
from .entry_cache import Contents
from .game_folder import HULL_ENDING, NAVIGATION_ENDING

Remake = Callable[[bytes, bytes, bytes], tuple[bytes, list[str]]]
"""Makes a volume: from an old one, the hull that it was made for and the hull that it shall be for, the new one, and
what to warn of. Raises `SylpheedError`."""


def merge_volumes(
    game: Contents | None, mod: Contents | None, hulls: Mapping[str, bytes], remake: Remake
) -> tuple[dict[str, bytes], list[str]]:
    """For each hull that a mod gets, by the name of its entry, the volume beside it, and what to warn of.

    A hull as the game has it gets the game's volume. An edited one gets a volume made from the game's, which tells
    most, or from the mod's where somebody else made that. One that the mod holds already keeps its volume.
    """
    volumes: dict[str, bytes] = {}
    warnings: list[str] = []
    for name, data in hulls.items():
        if not name.lower().endswith(HULL_ENDING):
            continue
        beside = name[: -len(HULL_ENDING)] + NAVIGATION_ENDING
        try:
            found = _volume(game, mod, name, beside, data, remake)
        except SylpheedError as error:
            warnings.append(f"{beside} isn't changed: {error}")
            continue
        if found is not None:
            volumes[beside], said = found
            warnings += [f"{beside}: {text}" for text in said]
    return volumes, warnings


def _volume(
    game: Contents | None, mod: Contents | None, name: str, beside: str, data: bytes, remake: Remake
) -> tuple[bytes, list[str]] | None:
    ours = (game.read(name), game.read(beside)) if game else None
    held = (mod.read(name), mod.read(beside)) if mod else ours
    if held is None:
        return None
    if ours and data == ours[0]:
        return ours[1], []
    if data == held[0]:
        return None
    source = held
    if ours and (held[1] == ours[1] or _is_made_from(ours, held, remake)):
        source = ours
    return remake(source[1], source[0], data)


def _is_made_from(ours: tuple[bytes, bytes], held: tuple[bytes, bytes], remake: Remake) -> bool:
    """Whether the mod's volume is what an earlier export made from the game's."""
    try:
        return remake(ours[1], ours[0], held[0])[0] == held[1]
    except SylpheedError:
        return False
