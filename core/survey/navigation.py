"""Navigation volumes in a survey: a reader that no file stops, and facts about header and arrays.

docs/FORMATS.md, section 5. `tetrahedra` has the facts about what the arrays hold.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..formats.binary import offset_of, padding
from ..formats.chunk import POINTER_BASE
from ..formats.regn import (
    CELL,
    FACE,
    HEADER,
    HEADER_END,
    ITEM,
    RECORD_SIZES,
    REFERENCE,
    SPARE_FACES,
    TETRAHEDRON,
    VERTEX,
    Sections,
)
from .chunks import Shell
from .facts import Fact, NothingThere, NotMeasurable, Same, Subject, Tally
from .hulls import Hull


class Navigation:
    """A `.rgn` file as far as it can be read. `hull` is that of the same name, None if there is none."""

    def __init__(self, data: bytes, hull: Hull | None = None) -> None:
        self.data, self.hull = data, hull
        self.shell = Shell(data)
        self.end = self.shell.end
        self.header = np.frombuffer(data[POINTER_BASE:HEADER_END].ljust(HEADER.itemsize, b"\0"), HEADER)[0]
        self.counts = Sections(*(int(count) for count in self.header["counts"]))
        self.at = Sections(*(POINTER_BASE + int(pointer) for pointer in self.header["pointers"]))

    @property
    def partner(self) -> Hull:
        """The hull. Raises `NothingThere` if there is none."""
        if self.hull is None:
            raise NothingThere("no hull of that name here")
        return self.hull

    def array(self, name: str, dtype: np.dtype, more: int = 0) -> np.ndarray:
        """The records of an array that lie in the payload."""
        at = min(getattr(self.at, name), self.end)
        return np.frombuffer(
            self.data, dtype, min(getattr(self.counts, name) + more, (self.end - at) // dtype.itemsize), at
        )

    @cached_property
    def vertices(self) -> np.ndarray:
        """Float64 (nv, 3)."""
        return self.array("vertices", VERTEX).astype(np.float64)

    @cached_property
    def faces(self) -> np.ndarray:
        """FACE records without the spare ones. Raises `NothingThere` if one has no usable corners."""
        faces = self.array("faces", FACE)
        if not len(faces) or faces["vertices"].max() >= len(self.vertices) or not np.isfinite(self.vertices).all():
            raise NothingThere("unusable faces")
        return faces

    @cached_property
    def corners(self) -> np.ndarray:
        """The faces' corners, float64 (f, 3, 3)."""
        return self.vertices[self.faces["vertices"]]

    @cached_property
    def tetrahedra(self) -> np.ndarray:
        """TETRAHEDRON records. Raises `NothingThere` if one names a face that isn't there."""
        tetrahedra = self.array("tetrahedra", TETRAHEDRON)
        if not len(tetrahedra) or tetrahedra["faces"].max() >= len(self.faces):
            raise NothingThere("unusable tetrahedra")
        return tetrahedra

    @cached_property
    def own_corners(self) -> tuple[np.ndarray, np.ndarray]:
        """Each tetrahedron's vertices, int64 (t, 4), ascending, and which tetrahedra have exactly four, bool (t,)."""
        every = np.sort(self.faces["vertices"][self.tetrahedra["faces"]].reshape(-1, 12).astype(np.int64), axis=1)
        fresh = np.ones(every.shape, bool)
        fresh[:, 1:] = every[:, 1:] != every[:, :-1]
        good = fresh.sum(axis=1) == 4
        found = np.zeros((len(every), 4), np.int64)
        found[good] = every[good][fresh[good]].reshape(-1, 4)
        return found, good

    @cached_property
    def cells(self) -> np.ndarray:
        """CELL records."""
        return self.array("cells", CELL)

    @cached_property
    def expected_slots(self) -> np.ndarray:
        """File offsets of the words that the layout relocates, int64 (n,), ascending."""
        header = POINTER_BASE + offset_of(HEADER, "pointers") + 4 * np.arange(len(Sections._fields))
        pointers = [int(slot) for slot, at in zip(header, self.at, strict=True) if at != POINTER_BASE]
        cells = self.at.cells + 4 + CELL.itemsize * np.flatnonzero(self.cells["count"])
        items = self.at.items + 0x14 + ITEM.itemsize * np.flatnonzero(self.array("items", ITEM)["count"])
        references = self.at.references + 4 * np.arange(len(self.array("references", REFERENCE)))
        return np.unique(np.concatenate((pointers, cells, items, references))).astype(np.int64)


# --- header ---------------------------------------------------------------------------------------


def _fits(navigation: Navigation) -> str:
    own, other = navigation.header, navigation.partner.header
    different = [
        name.replace("_", " ")
        for name in ("minimum", "maximum", "cell_size")
        if own[name].tobytes() != other[name].tobytes()
    ]
    return "box and cell size" if not different else f"not {' '.join(different)}"


def _dimensions(navigation: Navigation) -> str:
    words = tuple(int(word) for word in navigation.header["dimensions"])
    if navigation.hull is not None:
        return "three words" if words == navigation.hull.dimensions else "something else"
    fits = int(np.prod(words, dtype=np.float64)) == navigation.counts.cells
    return "three words" if fits else "something else"


def _word(name: str):  # type: ignore[no-untyped-def]
    return lambda navigation: f"0x{int(navigation.header[name]):08X}"


def _cells(navigation: Navigation) -> str:
    return "as the hull's" if navigation.counts.cells == np.prod(navigation.partner.dimensions) else "another number"


def _order(navigation: Navigation) -> str:
    pairs = sorted(zip(navigation.at, range(6), strict=True))
    return " ".join(Sections._fields[place] for _, place in pairs)


def _lengths(navigation: Navigation) -> str:
    """Which arrays have another length than their count says: up to the next array or the payload's end."""
    ends = sorted([*navigation.at, navigation.end])
    wrong = []
    for name, at, count, size in zip(Sections._fields, navigation.at, navigation.counts, RECORD_SIZES, strict=True):
        length = (count + SPARE_FACES * (name == "faces")) * size
        following = next((end for end in ends if end > at), at)
        if following != at + length + padding(at + length):
            wrong.append(name)
    return "all" if not wrong else f"not {' '.join(wrong)}"


def _aligned(navigation: Navigation) -> str:
    return f"remainder {navigation.at.faces % 16}"


def _spare(navigation: Navigation) -> str:
    at = navigation.at.faces + navigation.counts.faces * FACE.itemsize
    spare = navigation.data[at : min(at + SPARE_FACES * FACE.itemsize, navigation.end)]
    if len(spare) < SPARE_FACES * FACE.itemsize:
        return "beyond the payload"
    return "something else" if any(spare) else "zeros"


def _cell_counts(navigation: Navigation) -> str:
    most = int(navigation.cells["count"].max(initial=0))
    return "0 or 1" if most <= 1 else f"up to {most:,}"


def _items(navigation: Navigation) -> tuple[int, int]:
    """Cells that lead to the items one after the other."""
    pointers = POINTER_BASE + navigation.cells["items"][navigation.cells["count"] > 0].astype(np.int64)
    expected = navigation.at.items + ITEM.itemsize * np.arange(len(pointers))
    return int((pointers == expected).sum()), max(len(pointers), navigation.counts.items)


def _references(navigation: Navigation) -> tuple[int, int]:
    """References that lead to a tetrahedron."""
    found = POINTER_BASE + navigation.array("references", REFERENCE).astype(np.int64) - navigation.at.tetrahedra
    good = (found >= 0) & (found % TETRAHEDRON.itemsize == 0)
    good &= found < navigation.counts.tetrahedra * TETRAHEDRON.itemsize
    return int(good.sum()), navigation.counts.references


def _empty(navigation: Navigation) -> tuple[int, int]:
    """Cells with tetrahedra exactly where the hull has any free space: those that aren't solid."""
    hull = navigation.partner
    if len(navigation.cells) != len(hull.cells):
        raise NotMeasurable("another number of cells than the hull")
    free = hull.cells["state"] != 2
    return int(((navigation.cells["count"] > 0) == free).sum()), len(free)


def _usable(navigation: Navigation) -> str:
    try:
        return "yes" if len(navigation.tetrahedra) else "no"
    except NothingThere as error:
        return f"no, {error}"


_N = Subject.NAVIGATION
USUAL_ORDER = " ".join(Sections._fields)
FACTS = (
    Fact("F85", "M", "equal to the hull's", _N, "box and cell size", _fits, Same(("box and cell size",))),
    Fact("F86", "A", "words at 0x50, the grid's dimensions", _N, "three words", _dimensions, Same(("three words",))),
    Fact("F87", "A", "word at 0x4C", _N, "0 so far", _word("unknown_4c"), Same(("0x00000000",))),
    Fact("F88", "A", "word at 0x5C", _N, "0 so far", _word("unknown_5c"), Same(("0x00000000",))),
    Fact("F89", "A", "word at 0x6C", _N, "0 so far", _word("unknown_6c"), Same(("0x00000000",))),
    Fact("F90", "D", "count of cells at 0x66", _N, "as the hull's", _cells, Same(("as the hull's",))),
    Fact("F91", "D", "order of the arrays", _N, USUAL_ORDER, _order, Same((USUAL_ORDER,))),
    Fact("F92", "D", "arrays as long as their counts say", _N, "all", _lengths, Same(("all",))),
    Fact("F93", "C", "offset of the faces modulo 16", _N, "remainder 0", _aligned, Same(("remainder 0",))),
    Fact("F94", "C", "two spare faces", _N, "zeros so far", _spare, Same(("zeros",))),
    Fact("F95", "C", "count of a cell's items", _N, "0 or 1", _cell_counts, Same(("0 or 1",))),
    Fact("F96", "D", "cells that lead to the items in order", _N, "all", _items, Tally()),
    Fact("F97", "D", "references that lead to a tetrahedron", _N, "all", _references, Tally()),
    Fact(
        "F98", "I", "cells with tetrahedra where the hull's cell isn't solid", _N, "not known", _empty, Tally(open=True)
    ),
)
