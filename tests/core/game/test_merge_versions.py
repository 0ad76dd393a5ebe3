"""What a mod gets where the game, the mod and several versions of an entry differ."""

from __future__ import annotations

import random

import numpy as np
import pytest

from core.errors import FormatError, RefusedError
from core.formats.collision_set import CollisionSet, Part, decode, encode, split
from core.formats.hashes import file_id
from core.game.merge_versions import WHOLE, Claim, Version, decide, mark, merge_sets, merge_whole
from tests.support.hulls import read

GAME, SOURCE, MINE, OTHER = b"game", b"source", b"mine", b"other"


def claim(value, source=SOURCE, exported=(), counts=False, author="a"):
    return Claim(author, value, mark(source), frozenset(map(mark, exported)), counts)


@pytest.mark.parametrize(
    "held, exported, result",
    [
        (GAME, (), MINE),
        (SOURCE, (), MINE),
        (MINE, (), MINE),
        (OTHER, (OTHER,), MINE),
        (OTHER, (GAME,), None),
        (OTHER, (), None),
    ],
)
def test_an_edit_replaces_what_its_author_knows(held, exported, result):
    if result is None:
        with pytest.raises(RefusedError, match=r'another session changed the hull in the mod.*"a".*overwrite'):
            decide("the hull", WHOLE, GAME, held, [claim(MINE, exported=exported)], False)
        result = MINE
        assert decide("the hull", WHOLE, GAME, held, [claim(MINE, exported=exported)], True) == MINE
    else:
        assert decide("the hull", WHOLE, GAME, held, [claim(MINE, exported=exported)], False) == result


@pytest.mark.parametrize(
    "held, exported, counts, result",
    [
        (SOURCE, (), False, SOURCE),
        (OTHER, (), False, OTHER),
        (OTHER, (OTHER,), False, SOURCE),
        (OTHER, (MINE,), False, OTHER),
        (GAME, (), False, GAME),
        (GAME, (), True, SOURCE),
        (OTHER, (), True, OTHER),
        (OTHER, (OTHER,), True, SOURCE),
    ],
)
@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_not_edited_replaces_what_its_author_exported(held, exported, counts, result, overwrite):
    claims = [claim(SOURCE, exported=exported, counts=counts)]
    assert decide("the hull", WHOLE, GAME, held, claims, overwrite) == result


def test_unedited_twins_never_block():
    unedited = [claim(SOURCE, author="b"), claim(GAME, GAME, author="c"), claim(OTHER, OTHER, author="d", counts=True)]
    for held in (GAME, SOURCE, MINE):
        assert decide("x", WHOLE, GAME, held, [*unedited, claim(MINE), claim(MINE, author="e")], False) == MINE
    both = [claim(SOURCE, counts=True), claim(OTHER, OTHER, counts=True)]
    assert decide("x", WHOLE, GAME, GAME, both, False) == GAME


def test_two_different_edits_are_refused_with_both_authors():
    for overwrite in (False, True):
        with pytest.raises(RefusedError, match='"a" and "b" hold two different edits of x'):
            decide("x", WHOLE, GAME, GAME, [claim(MINE), claim(OTHER, author="b")], overwrite)


def test_an_edit_counts_before_one_that_was_taken_back():
    claims = [claim(SOURCE, exported=(OTHER,)), claim(MINE, author="b", exported=(OTHER,))]
    assert decide("x", WHOLE, GAME, OTHER, claims, False) == MINE


def test_a_hull_reports_what_went_in_and_what_stayed_out():
    edited = Version("x.col", "a", MINE, mark(SOURCE))
    twin = Version("x.col", "b", SOURCE, mark(SOURCE))
    merged = merge_whole("x.col", GAME, SOURCE, [edited, twin], False)
    assert (merged.data, merged.marks, merged.withheld) == (MINE, ({mark(MINE)}, set()), ((), ()))
    merged = merge_whole("x.col", GAME, OTHER, [twin], False)
    assert (merged.data, merged.marks, merged.withheld) == (OTHER, (set(),), (("x.col",),))


def test_without_a_mod_all_that_is_shown_counts():
    assert merge_whole("x.col", GAME, None, [Version("x.col", "a", SOURCE, mark(SOURCE))], False).data == SOURCE
    assert merge_whole("x.col", GAME, GAME, [Version("x.col", "a", SOURCE, mark(SOURCE))], False).data == GAME


# --- sets -----------------------------------------------------------------------------------------


def library(**records: int) -> bytes:
    """A set of one-triangle parts whose coordinates are a number."""
    return encode(
        CollisionSet(
            tuple(
                Part(
                    name.encode().ljust(16, b"\0"),
                    np.full((3, 3), number, np.float32),
                    np.arange(3, dtype=np.uint32).reshape(1, 3),
                )
                for name, number in records.items()
            )
        )
    )


def numbers(data: bytes) -> dict[str, int]:
    return {part.name: int(part.vertices[0, 0]) for part in decode(data).parts}


def version(data: bytes, source: bytes, author="a", **more) -> Version:
    return Version("CollisionSet_S14.bin", author, data, mark(source), source, **more)


BASE = library(one=1, two=2, three=3)


def test_records_of_several_versions_and_of_the_mod_come_together_in_order():
    mod = library(one=1, two=22, three=3, theirs=4)
    versions = [
        version(library(one=11, two=2, three=3), BASE, "a"),
        version(library(one=1, mine=5, two=2, last=6), BASE, "b"),
    ]
    merged = merge_sets(BASE, mod, versions, False)
    assert list(numbers(merged.data).items()) == [("one", 11), ("mine", 5), ("two", 22), ("last", 6), ("theirs", 4)]
    assert merged.withheld == (("two",), ("two",))


def test_an_edit_of_a_record_that_is_gone_and_the_removal_of_an_edited_one_are_refused():
    gone, edited = library(one=1, three=3), library(one=1, two=22, three=3)
    for mine, theirs in ((gone, edited), (edited, gone)):
        with pytest.raises(RefusedError, match="another session changed the part two in the mod"):
            merge_sets(BASE, theirs, [version(mine, BASE)], False)
        assert merge_sets(BASE, theirs, [version(mine, BASE)], True).data == mine
        with pytest.raises(RefusedError, match='"a" and "b" hold two different edits of the part two'):
            merge_sets(BASE, BASE, [version(mine, BASE), version(theirs, BASE, "b")], True)


def test_names_that_differ_in_case_are_one_record():
    mine, theirs = library(one=1, two=2, three=3, new=4), library(one=1, two=2, three=3, NEW=5)
    with pytest.raises(RefusedError, match="two different edits of the part new"):
        merge_sets(BASE, BASE, [version(mine, BASE), version(theirs, BASE, "b")], False)


def test_new_names_of_one_id_are_refused():
    mine, theirs = library(one=1, two=2, three=3, rou_ysafbnuj=4), library(one=1, two=2, three=3, rou_gksvduie=4)
    with pytest.raises(RefusedError, match="another session changed the part rou_gksvduie"):
        merge_sets(BASE, theirs, [version(mine, BASE)], False)


def test_a_record_that_was_taken_back_leaves_the_mod_and_the_others_stay():
    edited = library(one=11, two=22, three=3)
    marks = merge_sets(BASE, BASE, [version(edited, BASE)], False).marks[0]
    held = library(one=11, two=22, three=33)
    back = version(library(one=1, two=22, three=3), BASE, exported=marks)
    assert numbers(merge_sets(BASE, held, [back], False).data) == {"one": 1, "two": 22, "three": 33}


def test_an_edit_that_the_mod_holds_already_is_remembered():
    edited = library(one=11, three=3, new=4)
    first, second = (merge_sets(BASE, held, [version(edited, BASE)], False) for held in (BASE, edited))
    assert first.data == second.data == edited and first.marks == second.marks and len(first.marks[0]) == 3


def test_a_removed_and_an_added_record_can_be_taken_back():
    edited = library(one=1, three=3, new=4)
    marks = merge_sets(BASE, BASE, [version(edited, BASE)], False).marks[0]
    assert merge_sets(BASE, edited, [version(BASE, BASE, exported=marks)], False).data == BASE


def test_a_loose_set_brings_what_it_holds_and_removes_what_it_held_alone():
    loose = library(one=1, two=22, mine=5)
    merged = merge_sets(BASE, BASE, [version(loose, loose, loose=True)], False)
    assert numbers(merged.data) == {"one": 1, "two": 22, "mine": 5, "three": 3}
    without = version(library(one=1, mine=5), loose, loose=True)
    assert numbers(merge_sets(BASE, BASE, [without], False).data) == {"one": 1, "mine": 5, "three": 3}


def test_only_records_that_are_shown_are_reported_as_left_out():
    held = library(one=11, two=22, three=3)
    merged = merge_sets(BASE, held, [version(BASE, BASE, shows=frozenset([file_id("two")]))], False)
    assert merged.data == held and merged.withheld == (("two",),)


def test_bytes_behind_the_last_record_and_damage():
    held = BASE + bytes(16)
    assert merge_sets(BASE, held, [version(library(one=11, two=2, three=3), BASE)], False).data.endswith(bytes(16))
    with pytest.raises(FormatError):
        merge_sets(BASE, b"\0" * 7, [version(BASE, BASE)], False)


def _changed(random_: random.Random, base: dict[str, int], names: list[str]) -> dict[str, int]:
    result = dict(base)
    for name in random_.sample(names, random_.randint(0, 3)):
        if name in result and random_.random() < 0.4:
            del result[name]
        else:
            result[name] = random_.randint(100, 103)
    return result


def _three_way(name, base, held, versions):
    """The same by a naive rule: the result, or None where two changes meet."""
    changed = {v.get(name) for v in versions if v.get(name) != base.get(name)}
    if held.get(name) != base.get(name):
        changed.add(held.get(name))
    if len(changed) > 1:
        return "conflict"
    return changed.pop() if changed else base.get(name)


@pytest.mark.parametrize("seed", range(300))
def test_records_merge_as_a_naive_three_way_merge_does(seed):
    random_ = random.Random(seed)
    base = {f"part{number}": number for number in range(6)}
    names = [*base, "new0", "new1", "new2"]
    held = _changed(random_, base, names)
    shown = [_changed(random_, base, names) for _ in range(random_.randint(1, 3))]
    wanted = {name: _three_way(name, base, held, shown) for name in names}
    versions = [version(library(**v), library(**base), f"v{n}") for n, v in enumerate(shown)]
    if "conflict" in wanted.values():
        with pytest.raises(RefusedError, match=r"two different edits|another session"):
            merge_sets(library(**base), library(**held), versions, False)
        return
    if not any(value is not None for value in wanted.values()):
        with pytest.raises(RefusedError, match="leave no part"):
            merge_sets(library(**base), library(**held), versions, False)
        return
    merged = merge_sets(library(**base), library(**held), versions, False)
    assert numbers(merged.data) == {name: value for name, value in wanted.items() if value is not None}
    if held == base and len(shown) == 1:
        assert sorted(split(merged.data)[0]) == sorted(split(versions[0].data)[0])


def test_an_edit_of_the_real_stand_in_set_comes_out_byte_for_byte():
    data = read("CollisionSet_small.bin")
    source = decode(data)
    first, *rest = source.parts
    edited = encode(CollisionSet((Part(first.name_field, first.vertices + 1, first.triangles), *rest)))
    assert merge_sets(data, data, [version(edited, data)], False).data == edited
    renamed = encode(CollisionSet((Part(b"other".ljust(16, b"\0"), first.vertices, first.triangles), *rest)))
    assert merge_sets(data, data, [version(renamed, data)], False).data == renamed


class Session:
    """One file that exports into a mod: what it imported, what it shows, and by record all that it exported."""

    def __init__(self, source: dict[str, int]) -> None:
        self.source, self.shown = source, dict(source)
        self.exported: dict[str, set[int | None]] = {}
        self.marks: frozenset[str] = frozenset()

    def wanted(self, game: dict[str, int], held: dict[str, int]) -> dict[str, int] | None:
        """The mod after an export by a naive rule, None where that is refused."""
        result = dict(held)
        for name in {*held, *self.source, *self.shown}:
            there, mine, source = held.get(name), self.shown.get(name), self.source.get(name)
            own = self.exported.get(name, set())
            if mine != source:
                if there not in {game.get(name), mine, source, *own}:
                    return None
            elif there not in own:
                continue
            result[name] = mine
        return {name: value for name, value in result.items() if value is not None}


@pytest.mark.parametrize("seed", range(150))
def test_sessions_that_take_turns_lose_no_edit_of_each_other(seed):
    random_ = random.Random(seed)
    game = {f"part{number}": number for number in range(4)}
    names = [*game, "new0", "new1"]
    held, sessions = dict(game), [Session(game), Session(game)]
    for _ in range(25):
        session = random_.choice(sessions)
        step = random_.random()
        if step < 0.35:
            session.shown = _changed(random_, session.shown, names)
        elif step < 0.5:
            name = random_.choice(names)
            session.shown.pop(name, None)
            session.shown |= {name: session.source[name]} if name in session.source else {}
        elif step < 0.55:
            sessions[sessions.index(session)] = Session(held)  # imported again, from the mod
        elif session.shown and held:
            wanted = session.wanted(game, held)
            shown = version(library(**session.shown), library(**session.source), exported=session.marks)
            if not wanted:
                with pytest.raises(RefusedError, match="leave no part" if wanted is not None else "another session"):
                    merge_sets(library(**game), library(**held), [shown], False)
                continue
            merged = merge_sets(library(**game), library(**held), [shown], False)
            assert numbers(merged.data) == wanted
            held = wanted
            session.marks |= merged.marks[0]
            for name in {*session.source, *session.shown}:
                if session.shown.get(name) != session.source.get(name):
                    session.exported.setdefault(name, set()).add(session.shown.get(name))
