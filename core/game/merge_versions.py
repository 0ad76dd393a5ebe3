"""Versions of one entry put together: what the game has, what the mod holds, and what each author shows.

A hull is decided as a whole, a collision set record by record. An edit goes into the mod where the mod holds nothing
that its author doesn't know: the source of the edit, what the author exported before, or what the game has. What
another session put into the mod stays where nobody edited the same, and blocks an edit of the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import FormatError, RefusedError
from ..formats.collision_set import HEAD, spelled, split

Key = tuple[int, int]
"""What the game knows a part by, its `Part.id`, and how many parts of that id come before it."""

WHOLE: Key = (0, 0)
"""The key of an entry that is decided as a whole."""


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """What one author makes of an entry.

    entry        the name of the entry in the archive
    author       names the version in messages
    data         the bytes of the file
    source_mark  the `mark` of the bytes that it was made from
    source       these bytes; only collision sets need them
    exported     marks of what the author put into a mod before
    loose        whether it comes from a file of its own: it also counts where it isn't edited
    shows        ids (`Part.id`) of the records that the author sees, None for all
    """

    entry: str
    author: str
    data: bytes
    source_mark: str
    source: bytes = b""
    exported: frozenset[str] = frozenset()
    loose: bool = False
    shows: frozenset[int] | None = None

    @property
    def edited(self) -> bool:
        """Whether it differs from its source."""
        return mark(self.data) != self.source_mark


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """The bytes of an entry. For each version: marks of the edits that went in, and the names of what it shows and the
    entry holds otherwise, because another session made it so."""

    data: bytes
    marks: tuple[frozenset[str], ...]
    withheld: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """What one version makes of a hull or a record, None if it has none. `source`, `exported`: marks, as in `Version`.
    `counts`: also where it isn't edited."""

    author: str
    value: bytes | None
    source: str
    exported: frozenset[str]
    counts: bool


def mark(value: bytes | None, key: Key = WHOLE) -> str:
    """What identifies a value of a hull or a record later: its SHA-256 in hexadecimal. None: a record that isn't
    there."""
    return hashlib.sha256(b"no record %d" % key[0] if value is None else value).hexdigest()


def decide(
    name: str, key: Key, game: bytes | None, held: bytes | None, claims: Sequence[Claim], overwrite: bool
) -> bytes | None:
    """The value of a hull or a record, from its values in the game and in the mod and what versions make of it.

    Raises `RefusedError` for two different edits, and, unless `overwrite` allows it, for an edit of what another
    session changed in the mod.
    """
    there = mark(held, key)
    edits = [claim for claim in claims if mark(claim.value, key) != claim.source]
    if not edits:
        # An edit that was taken back leaves the mod.
        wanted = {
            claim.value
            for claim in claims
            if there in claim.exported or (claim.counts and there in (claim.source, mark(game, key)))
        }
        return wanted.pop() if len(wanted) == 1 else held
    first = edits[0]
    for other in edits[1:]:
        if other.value != first.value:
            raise RefusedError(
                f'"{first.author}" and "{other.author}" hold two different edits of {name}',
                remedy="take one of the edits back, or remove one of the two",
            )
    known = {mark(game, key), mark(first.value, key)}.union(*({claim.source} | claim.exported for claim in edits))
    if there not in known and not overwrite:
        raise RefusedError(
            f'another session changed {name} in the mod: it is neither what "{first.author}" was imported from '
            "nor what it exported last",
            remedy="import it from the mod and repeat the edit, or replace it with the option `overwrite`",
        )
    return first.value


def merge_whole(
    name: str, game: bytes | None, held: bytes | None, versions: Sequence[Version], overwrite: bool
) -> Merged:
    """A hull, decided as a whole. `held` is None where the mod has no archive yet: then all versions count.

    Raises `RefusedError`, see `decide`, and `FormatError` for an entry without any bytes.
    """
    present = game if held is None else held
    claims = [
        Claim(version.author, version.data, version.source_mark, version.exported, held is None or version.loose)
        for version in versions
    ]
    data = decide(name, WHOLE, game, present, claims, overwrite)
    if data is None:
        raise FormatError(f"{name} can't be read", remedy="extract the archive from the disc again")
    return Merged(
        data,
        tuple(
            frozenset({mark(data)}) if version.edited and version.data == data else frozenset() for version in versions
        ),
        tuple((name,) if version.data != data and (version.loose or data == present) else () for version in versions),
    )


def merge_sets(game: bytes | None, held: bytes | None, versions: Sequence[Version], overwrite: bool) -> Merged:
    """A collision set, decided record by record: changed, added and removed ones. `held` is None where the mod has no
    archive yet: then all versions count.

    Records keep the order of the mod, and those that are new follow what they follow in their version.
    Raises `RefusedError`, see `decide`, and where no record would be left; `FormatError` for a set that can't be read.
    """
    present = game if held is None else held
    of_game, (of_mod, trailing) = _records(game)[0], _records(present)
    sources = [_records(version.source)[0] for version in versions]
    edits = [_records(version.data)[0] for version in versions]
    result = dict(of_mod)
    marks: list[set[str]] = [set() for _ in versions]
    withheld: list[list[str]] = [[] for _ in versions]
    for key in dict.fromkeys(key for records in (of_mod, *edits, *sources) for key in records):
        there = of_mod.get(key)
        value = there
        if not all(edit.get(key) == there for edit in edits):
            name = _name(next(records[key] for records in (of_mod, *edits) if key in records))
            claims = {
                number: Claim(
                    version.author,
                    edits[number].get(key),
                    mark(sources[number].get(key), key),
                    version.exported,
                    held is None or version.loose,
                )
                for number, version in enumerate(versions)
                # a loose set may hold a part of the records only: what it never had isn't removed by it
                if not version.loose or key in sources[number] or key in edits[number]
            }
            value = decide(f"the part {name}", key, of_game.get(key), there, list(claims.values()), overwrite)
            for number, claim in claims.items():
                kept = claim.value != value and (versions[number].loose or value == there)
                if kept and _is_shown(versions[number], key, edits[number]):
                    withheld[number].append(name)
        if value is None:
            result.pop(key, None)
        else:
            result[key] = value
        for edit, source, new in zip(edits, sources, marks, strict=True):
            if edit.get(key) == value != source.get(key):
                new.add(mark(value, key))
    if not result:
        raise RefusedError("these edits together leave no part in the collision set", remedy="keep at least one")
    differing = [version for version in versions if version.data != present]
    if len(differing) == 1 and differing[0].source == present:
        data = differing[0].data  # also where records share a name, or other bytes follow the last one
    else:
        data = b"".join((*_in_order(result, of_mod, edits), trailing))
    return Merged(data, tuple(map(frozenset, marks)), tuple(map(tuple, withheld)))


def _records(data: bytes | None) -> tuple[dict[Key, bytes], bytes]:
    """The bytes of each record, and what follows the last one. Nothing for None."""
    if data is None:
        return {}, b""
    records, trailing = split(data)
    found: dict[Key, bytes] = {}
    counts: dict[int, int] = {}
    for id_, record in records:
        number = counts[id_] = counts.get(id_, -1) + 1
        found[id_, number] = record
    return found, trailing


def _is_shown(version: Version, key: Key, edit: Mapping[Key, bytes]) -> bool:
    return key in edit and (version.shows is None or key[0] in version.shows)


def _in_order(
    result: Mapping[Key, bytes], of_mod: Mapping[Key, bytes], edits: Sequence[Mapping[Key, bytes]]
) -> list[bytes]:
    """The records in the order of the mod; a new one follows what it follows in its version."""
    followers: dict[Key | None, list[Key]] = {}
    placed = set(of_mod)
    for edit in edits:
        before = None
        for key in edit:
            if key in of_mod:
                before = key
            elif key in result and key not in placed:
                placed.add(key)
                followers.setdefault(before, []).append(key)
    order = list(followers.get(None, ()))
    for key in of_mod:
        order += (key, *followers.get(key, ()))
    return [result[key] for key in order if key in result]


def _name(record: bytes) -> str:
    return spelled(record[HEAD.size :])
