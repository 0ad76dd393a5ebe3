"""Writing archives: what isn't replaced keeps its bytes, and no failure leaves a mixture behind."""

import contextlib
import errno
import itertools
import os
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.disk import transaction
from core.errors import FormatError, Severity
from core.formats import ipfb
from core.formats.compression import pack
from core.formats.hashes import file_id
from core.formats.ipfb import Entry, Table
from core.game.archive import open_archive
from core.game.archive_write import make_archive, write_archive
from core.inspect.check_archive import check

SMALL = {"alignment": 16, "limit": 64}


def files_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def contents(opened):
    return {entry.hash: opened.read(entry) for entry in opened.entries}


@pytest.fixture
def source(tmp_path):
    """Eight raw entries and a packed one over several data files of 64 bytes."""
    (tmp_path / "game").mkdir()
    entries = {
        f"{letter}.col": (letter.encode() * size, False)
        for letter, size in zip("abcdefgh", range(9, 41, 4), strict=True)
    }
    return make_archive(tmp_path / "game" / "A.pak", {**entries, "z.col": (b"z" * 500, True)}, **SMALL)


def test_made_bytes_by_hand(tmp_path):
    make_archive(tmp_path / "A.pak", {"b": (b"raw", False), "a": (b"packed", True), 7: (b"", False)})
    stored = pack(b"packed")
    rows = [(7, 0, 0), (file_id("a"), 0, len(stored)), (file_id("b"), 0x800, 3)]
    table = b"IPFB" + struct.pack(">III", 3, 0x800, 0x10000000) + b"".join(struct.pack(">III", *row) for row in rows)
    data = stored.ljust(0x800, b"\0") + b"raw".ljust(0x800, b"\0")
    assert files_of(tmp_path) == {"A.pak": table, "A.p00": data}


def test_an_empty_archive(tmp_path):
    made = make_archive(tmp_path / "A.pak", {})
    assert made.entries == ()
    assert files_of(tmp_path) == {"A.pak": b"IPFB" + struct.pack(">III", 0, 0x800, 0x10000000), "A.p00": b""}


def test_made_archives_are_split_at_the_limit(source):
    assert len(source.parts) > 3
    assert all(part.size <= 64 for part in source.parts.values())
    assert [entry.hash for entry in source.entries] == sorted(entry.hash for entry in source.entries)
    assert [finding.check for finding in check(source)] == ["archive header"]


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ({"a.col": (b"", False), "A.COL": (b"", False)}, "A.COL and a.col have the same hash"),
        ({"a.col": (b"Z1 font of some length", False)}, "a.col begins with Z1"),
        ({"": (b"x", False)}, "the id of '' is 0"),
        ({"a.col": (b"x" * 65, False)}, "a.col is too large for a data file"),
        ({f"{number}.col": (b"x" * 60, False) for number in range(17)}, "the archive is too large"),
    ],
)
def test_what_cannot_be_made(tmp_path, entries, problem):
    with pytest.raises(FormatError, match=problem) as caught:
        make_archive(tmp_path / "A.pak", entries, **SMALL)
    assert caught.value.file == str(tmp_path / "A.pak")
    assert files_of(tmp_path) == {}


def test_without_a_change_the_files_are_the_same(source, tmp_path):
    write_archive(source, {}, tmp_path / "mod")
    assert files_of(tmp_path / "mod") == files_of(tmp_path / "game")


def test_equal_bytes_are_no_change(source, tmp_path):
    stored = source.path.with_suffix(".p00").read_bytes()
    same = {name: source.read(source.find(name)) for name in ("a.col", "z.col")}
    write_archive(source, same, tmp_path / "mod")
    assert files_of(tmp_path / "mod") == files_of(tmp_path / "game")
    assert source.path.with_suffix(".p00").read_bytes() == stored


def by_hand(folder, rows, parts, tail=b""):
    head = b"IPFB" + struct.pack(">III", len(rows), 16, 64)
    (folder / "A.pak").write_bytes(head + b"".join(struct.pack(">III", *row) for row in rows) + tail)
    for number, data in parts.items():
        (folder / f"A.p{number:02d}").write_bytes(data)
    return open_archive(folder / "A.pak")


ODD = {
    "filled gaps": ([(1, 16, 3), (2, 32, 4)], {0: b"leading filler..aaaGAP GAP GAP..bbbbTAIL"}, b""),
    "no padding": ([(1, 0, 3)], {0: b"aaa"}, b""),
    "unaligned": ([(1, 0, 3), (2, 5, 4)], {0: b"aaa--bbbb-"}, b""),
    "over its limit": ([(1, 0, 80)], {0: b"a" * 80}, b""),
    "later part first": ([(1, 1 << 28, 3), (2, 0, 3)], {0: b"bbb", 1: b"aaa"}, b""),
    "a part without entries": ([(1, 0, 3)], {0: b"aaa", 1: b"unused", 3: b"more"}, b""),
    "bytes behind the table": ([(1, 0, 3)], {0: b"aaa"}, b"tail"),
    "unsorted": ([(2, 0, 1), (1, 16, 1)], {0: b"a".ljust(16) + b"b"}, b""),
    "overlapping": ([(1, 0, 8), (2, 0, 8), (3, 4, 8)], {0: b"abcdefghijkl"}, b""),
    "beyond the data file": ([(1, 0, 3), (2, 16, 400)], {0: b"aaa".ljust(20, b"x")}, b""),
    "a data file that is missing": ([(1, 0, 3), (2, 3 << 28, 4)], {0: b"aaa"}, b""),
    "empty entries beyond everything": ([(1, 0, 3), (2, 0x4000, 0), (3, 5 << 28, 0)], {0: b"aaa"}, b""),
    "a row with hash 0": ([(1, 0, 3), (0, 5, 5), (3, 1, 1)], {0: b"aaa"}, b"tail"),
    "raw that begins with Z1": ([(1, 0, 7)], {0: b"Z1 font"}, b""),
    "empty entries": ([(1, 0, 0), (2, 0, 3), (3, 16, 0)], {0: b"aaa".ljust(16, b"\0")}, b""),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_archives_stay_as_they_are(tmp_path, name):
    (tmp_path / "game").mkdir()
    write_archive(by_hand(tmp_path / "game", *ODD[name]), {}, tmp_path / "mod")
    assert files_of(tmp_path / "mod") == files_of(tmp_path / "game")


def test_a_replacement_in_its_old_room_changes_nothing_else(tmp_path):
    (tmp_path / "game").mkdir()
    rows, parts, _ = ODD["filled gaps"]
    made = write_archive(by_hand(tmp_path / "game", rows, parts), {1: b"longer"}, tmp_path / "mod")
    assert (tmp_path / "mod" / "A.p00").read_bytes() == b"leading filler..longer" + bytes(10) + b"bbbbTAIL"
    assert contents(made) == {1: b"longer", 2: b"bbbb"}


def test_what_follows_a_longer_replacement_moves(tmp_path):
    (tmp_path / "game").mkdir()
    made = by_hand(
        tmp_path / "game", [(1, 0, 3), (2, 16, 4), (3, 48, 2)], {0: b"aaa".ljust(16) + b"bbbb".ljust(32) + b"cc"}
    )
    changed = write_archive(made, {1: b"x" * 17}, tmp_path / "mod")
    assert [entry.position for entry in changed.entries] == [0, 32, 48]
    assert (tmp_path / "mod" / "A.p00").read_bytes() == b"x" * 17 + bytes(15) + b"bbbb".ljust(16, b"\0") + b"cc"


OVERLAPPING = [(1, 0, 8), (2, 0, 8), (3, 4, 8), (4, 16, 4)]
OVERLAPPED = {0: b"abcdefghijkl....tailTAIL"}


def test_entries_that_overlap_stay_together(tmp_path):
    """Where one in front of them grows they move together; where one of them is replaced it gets bytes of its own."""
    (tmp_path / "game").mkdir()
    rows = [(9, 0, 3), *((number, at + 16, size) for number, at, size in OVERLAPPING)]
    made = by_hand(tmp_path / "game", rows, {0: b"old".ljust(16, b"\0") + OVERLAPPED[0]})
    write_archive(made, {}, tmp_path / "copy")
    assert files_of(tmp_path / "copy") == files_of(tmp_path / "game")
    moved = write_archive(made, {9: b"n" * 20}, tmp_path / "moved")
    assert contents(moved) == contents(made) | {9: b"n" * 20}
    assert [entry.position for entry in moved.entries] == [0, 32, 32, 36, 48]
    own = write_archive(made, {2: b"new"}, tmp_path / "own")
    assert contents(own) == contents(made) | {2: b"new"}
    assert [entry.position for entry in own.entries] == [0, 16, 48, 20, 32]


def test_shared_data_stay_shared_and_are_copied_on_write(tmp_path):
    (tmp_path / "game").mkdir()
    rows = [(1, 0, 4), (2, 16, 6), (3, 16, 6), (4, 16, 6), (5, 32, 4)]
    made = by_hand(tmp_path / "game", rows, {0: b"aaaa".ljust(16, b"\0") + b"shared".ljust(16, b"\0") + b"bbbbTAIL"})
    write_archive(made, {3: b"shared"}, tmp_path / "copy")
    assert files_of(tmp_path / "copy") == files_of(tmp_path / "game"), "equal bytes are no change"
    one = write_archive(made, {3: b"own"}, tmp_path / "one")
    assert [tuple(entry) for entry in one.entries] == [*rows[:2], (3, 48, 3), *rows[3:]]
    part = (tmp_path / "one" / "A.p00").read_bytes()
    assert part == (tmp_path / "game" / "A.p00").read_bytes().ljust(48, b"\0") + b"own", "nothing else moves or goes"
    every = write_archive(made, dict.fromkeys((2, 3, 4), b"new"), tmp_path / "every")
    assert [entry.position for entry in every.entries] == [0, 16, 16, 16, 32]
    assert contents(every) == {1: b"aaaa", 2: b"new", 3: b"new", 4: b"new", 5: b"bbbb"}
    two = write_archive(made, {2: b"x", 4: b"y"}, tmp_path / "two")
    assert contents(two) == {1: b"aaaa", 2: b"x", 3: b"shared", 4: b"y", 5: b"bbbb"}
    assert two.find(3).position == 16
    empty = write_archive(made, {3: b""}, tmp_path / "empty")
    assert contents(empty) == {1: b"aaaa", 2: b"shared", 3: b"", 4: b"shared", 5: b"bbbb"}


def test_a_table_keeps_its_order(tmp_path):
    (tmp_path / "game").mkdir()
    made = by_hand(tmp_path / "game", [(2, 0, 1), (1, 16, 1)], {0: b"a".ljust(16) + b"b"})
    write_archive(made, {}, tmp_path / "copy")
    assert files_of(tmp_path / "copy") == files_of(tmp_path / "game")
    written = write_archive(made, {1: b"B"}, tmp_path / "mod")
    assert [entry.hash for entry in written.entries] == [2, 1]
    assert contents(written) == {1: b"B", 2: b"a"}


def test_what_follows_the_table_and_its_count_are_carried_by_an_edit(tmp_path):
    (tmp_path / "game").mkdir()
    tail = struct.pack(">6I", 0, 7, 9, 5, 6, 7) + b"more"
    made = by_hand(tmp_path / "game", [(1, 0, 3), (2, 16, 3)], {0: b"one".ljust(16, b"\0") + b"two"}, tail)
    data = bytearray(made.path.read_bytes())
    data[7] = 200
    made.path.write_bytes(data)
    opened = open_archive(made.path)
    assert contents(opened) == {1: b"one", 2: b"two"}
    write_archive(opened, {1: b"uno"}, tmp_path / "mod")
    assert (tmp_path / "mod" / "A.pak").read_bytes() == data
    assert (tmp_path / "mod" / "A.p00").read_bytes() == b"uno".ljust(16, b"\0") + b"two"


def test_an_empty_entry_may_lie_anywhere(tmp_path):
    (tmp_path / "game").mkdir()
    rows = [(1, 0, 3), (2, 0x4000, 0), (3, 5 << 28, 0)]
    made = by_hand(tmp_path / "game", rows, {0: b"one"})
    assert contents(made) == {1: b"one", 2: b"", 3: b""}
    assert [finding.severity for finding in check(made) if finding.severity is Severity.ERROR] == []
    write_archive(made, {}, tmp_path / "copy")
    assert files_of(tmp_path / "copy") == files_of(tmp_path / "game")
    edited = write_archive(made, {1: b"uno", 3: b"full"}, tmp_path / "mod")
    assert contents(edited) == {1: b"uno", 2: b"", 3: b"full"}
    assert sum(part.size for part in edited.parts.values()) < 100


def test_replaced_entries_stay_packed_or_raw(source, tmp_path):
    written = write_archive(source, {"z.col": b"y" * 900, "a.col": b"raw"}, tmp_path / "mod")
    assert written.stored(written.find("z.col")) == pack(b"y" * 900)
    assert written.stored(written.find("a.col")) == b"raw"
    for name in "bcdefgh":
        entry = source.find(f"{name}.col")
        assert written.stored(written.find(entry.hash)) == source.stored(entry)


def test_raw_data_that_look_packed_are_packed(source, tmp_path):
    for data in (b"Z1 raw", b"Z1 raw of some length"):
        written = write_archive(source, {"a.col": data}, tmp_path / f"mod{len(data)}")
        assert written.read(written.find("a.col")) == data


def test_a_damaged_entry_may_be_replaced_but_not_copied(source, tmp_path):
    entry = source.find("z.col")
    with open(source.parts[entry.part].path, "r+b") as stream:
        stream.truncate(entry.offset + 5)
    broken = open_archive(source.path, source.names)
    written = write_archive(broken, {"z.col": b"healed"}, tmp_path / "mod")
    assert written.read(written.find("z.col")) == b"healed"
    with pytest.raises(FormatError, match="beyond the end") as caught:
        write_archive(broken, {"a.col": b"x"}, tmp_path / "other")
    assert "z.col" in caught.value.file
    assert not (tmp_path / "other").exists()


def test_an_unknown_name(source, tmp_path):
    with pytest.raises(FormatError, match=r"did you mean .*\.col"):
        write_archive(source, {"aa.col": b""}, tmp_path / "mod")


def test_growing_past_all_data_files(source, tmp_path):
    with pytest.raises(FormatError, match=r"a\.col is too large for a data file") as caught:
        write_archive(source, {"a.col": b"x" * 65}, tmp_path / "mod")
    assert (caught.value.expected, caught.value.found) == ("at most 64 bytes", "65")


def test_data_files_of_a_larger_archive_go(source, tmp_path):
    make_archive(source.path, {"a.col": (b"alone", False)}, **SMALL)
    assert sorted(files_of(tmp_path / "game")) == ["A.p00", "A.pak"]


def test_the_source_needs_permission_and_gets_a_backup(source, tmp_path):
    before = files_of(tmp_path / "game")
    with pytest.raises(FormatError, match="folder of the source itself"):
        write_archive(source, {"a.col": b"x"}, tmp_path / "game")
    assert files_of(tmp_path / "game") == before
    written = write_archive(source, {"a.col": b"x"}, tmp_path / "game", overwrite_source=True)
    again = write_archive(written, {"a.col": b"y"}, tmp_path / "game", overwrite_source=True)
    assert again.read(again.find("a.col")) == b"y"
    after = files_of(tmp_path / "game")
    assert {name: after[name + ".bak"] for name in before} == before, "a backup is the first state"
    assert set(after) == {*before, *(name + ".bak" for name in before)}
    with pytest.raises(FormatError, match="changed since it was opened"):
        source.read(source.find("a.col"))


def test_progress(source, tmp_path):
    calls = []
    write_archive(source, {}, tmp_path / "mod", progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (sum(part.size for part in source.parts.values()),) * 2
    assert calls == sorted(calls)


def test_a_failing_progress_leaves_the_target(source, tmp_path):
    def cancel(done, total):
        raise KeyboardInterrupt

    before = files_of(tmp_path / "game")
    with pytest.raises(KeyboardInterrupt):
        write_archive(source, {"a.col": b"x"}, tmp_path / "game", overwrite_source=True, progress=cancel)
    assert files_of(tmp_path / "game") == before


# --- failures at every step -----------------------------------------------------------------------------------------


class Trouble:
    """Lets `good` calls of the functions that change a folder pass, then fails: once, or from then on like a crash."""

    def __init__(self, monkeypatch, good, lasting, error):
        self.good, self.lasting, self.error, self.calls = good, lasting, error, 0
        for name in ("replace", "unlink", "fsync"):
            monkeypatch.setattr(os, name, self.guard(getattr(os, name)))

    def guard(self, function):
        def call(*arguments):
            self.calls += 1
            if self.calls == self.good + 1 or (self.lasting and self.calls > self.good):
                raise self.error
            return function(*arguments)

        return call


class PowerCut(BaseException):
    """No handler for errors sees it."""


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), PowerCut()], ids=["full", "crash"])
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("shrinks", [False, True], ids=["grows", "shrinks"])
def test_an_interrupted_write_leaves_the_old_or_the_new_archive(tmp_path, lasting, shrinks, error):
    data = {"a": b"a" * 40, "b": b"b" * 40, "c": b"c" * 40}
    outcomes = set()
    for good in itertools.count():
        folder = tmp_path / str(good)
        folder.mkdir()
        old = make_archive(folder / "A.pak", {name: (text, False) for name, text in data.items()}, **SMALL)
        before, wanted = contents(old), {"a": b"", "b": b"", "c": b"tiny"} if shrinks else {"b": b"B" * 64}
        after = {**before, **{file_id(name): text for name, text in wanted.items()}}
        with pytest.MonkeyPatch.context() as patch:
            trouble = Trouble(patch, good, lasting, error)
            try:
                if shrinks:  # a smaller archive in the same place: data files go
                    make_archive(folder / "A.pak", {name: (text, False) for name, text in wanted.items()}, **SMALL)
                else:
                    write_archive(old, wanted, folder, overwrite_source=True)
                failed = False
            except (FormatError, PowerCut):
                failed = True
        if failed and not lasting and isinstance(error, OSError):  # it said that nothing was changed
            assert contents(open_archive(folder / "A.pak")) == before
            assert not list(folder.glob("*~")), good
        unwritten = contents(open_archive(folder / "A.pak"))  # a reader that may not write
        opened = open_archive(folder / "A.pak", recover=True)
        assert contents(opened) == unwritten
        assert unwritten in (before, after), good
        assert failed or unwritten == after, good
        assert not list(folder.glob("*~")), good
        backups = {path.name for path in folder.glob("*.bak")}
        assert backups == (
            {"A.pak.bak", "A.p00.bak", "A.p01.bak", "A.p02.bak"}
            if unwritten == after != before and not shrinks
            else set()
        ), good
        if unwritten == before:
            assert sorted(path.name for path in folder.iterdir()) == ["A.p00", "A.p01", "A.p02", "A.pak"]
        outcomes.add((failed, unwritten == after))
        if trouble.calls <= good:
            break  # it went through: every step has failed once
    assert good > 15
    assert outcomes >= {(True, False), (False, True)}


def test_a_crash_while_a_failure_is_undone(tmp_path):
    """The disk fails once, and the power goes while everything is renamed back: old or new, never a mixture."""
    for good in range(9, 16):  # the renames of a switch of four files
        for later in range(1, 14):
            folder = tmp_path / f"{good}-{later}"
            folder.mkdir()
            old = make_archive(folder / "A.pak", {name: (name.encode() * 40, False) for name in "abc"}, **SMALL)
            before = contents(old)
            with pytest.MonkeyPatch.context() as patch:
                Trouble(patch, good, False, OSError(errno.EIO, "Input/output error"))
                Trouble(patch, good + later, True, PowerCut())
                with contextlib.suppress(FormatError, PowerCut):
                    write_archive(old, {"b": b"B" * 64}, folder, overwrite_source=True)
            opened = open_archive(folder / "A.pak", recover=True)
            assert contents(opened) in (before, {**before, file_id("b"): b"B" * 64}), (good, later)
            assert not list(folder.glob("*~")), (good, later)


def test_a_write_after_a_crash_begins_by_finishing_it(source, tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        files = len(source.parts) + 1
        Trouble(patch, 3 + files + 1 + 3 + 3, True, PowerCut())  # journal, new files, folder, journal, three renames
        with pytest.raises(PowerCut):
            write_archive(source, {"a.col": b"first"}, tmp_path / "game", overwrite_source=True)
    assert list((tmp_path / "game").glob("*.new~"))
    opened = open_archive(source.path, source.names)
    first = opened.read(opened.find("a.col"))
    written = write_archive(opened, {"b.col": b"second"}, tmp_path / "game", overwrite_source=True)
    assert not list((tmp_path / "game").glob("*~"))
    assert written.read(written.find("b.col")) == b"second"
    assert written.read(written.find("a.col")) == first


def test_a_read_only_target(source, tmp_path, monkeypatch):
    # To the superuser no file is read-only, so the system's answer is made up.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(FormatError, match="read-only"):
        write_archive(source, {"a.col": b"x"}, tmp_path / "game", overwrite_source=True)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_random_edits(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("edits")
    names = data.draw(st.lists(st.integers(1, 2**32 - 1), unique=True, max_size=6))
    entry = st.tuples(st.binary(max_size=50).filter(lambda text: text[:2] != b"Z1"), st.booleans())
    made = make_archive(folder / "A.pak", {name: data.draw(entry) for name in names}, alignment=16, limit=128)
    edits = {name: data.draw(st.binary(max_size=60)) for name in names if data.draw(st.booleans())}
    written = write_archive(made, edits, folder / "mod")
    assert contents(written) == {**contents(made), **edits}
    assert [finding.check for finding in check(written)] == ["archive header"]
    for entry in made.entries:
        if entry.hash not in edits:
            assert written.stored(written.find(entry.hash)) == made.stored(entry)
    back = write_archive(written, contents(made), folder / "back")
    assert contents(back) == contents(made)
    assert transaction.pending(folder / "back", "A.pak") == {}


def test_of_two_equal_hashes_the_first_still_counts_in_a_copy(tmp_path):
    """Also where its data lie behind the other's."""
    entries = (Entry(5, 0x10, 3), Entry(5, 0, 2))
    (tmp_path / "A.pak").write_bytes(ipfb.encode(Table(entries, 16)))
    (tmp_path / "A.p00").write_bytes(b"no" + bytes(14) + b"yes")
    written = write_archive(open_archive(tmp_path / "A.pak"), {}, tmp_path / "mod")
    assert written.read(written.find(5)) == b"yes"
    assert files_of(tmp_path / "mod") == {name: (tmp_path / name).read_bytes() for name in ("A.pak", "A.p00")}


def test_a_damaged_alignment_does_not_fill_the_disk(tmp_path):
    """Two entries overlap, so one moves: to the next multiple of the alignment, which the table says is 3.6 GB."""
    entries = (Entry(5, 0, 3), Entry(6, 2, 3))
    (tmp_path / "A.pak").write_bytes(ipfb.encode(Table(entries, 0xD8000010)))
    (tmp_path / "A.p00").write_bytes(b"12345")
    written = write_archive(open_archive(tmp_path / "A.pak"), {}, tmp_path / "mod")
    assert contents(written) == {5: b"123", 6: b"345"}
    assert sum(part.size for part in written.parts.values()) <= 0x1000
