"""The layout of hulls in a survey: unread words, blocks, gaps, box, cells. docs/FORMATS.md, section 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..formats.binary import padding
from ..formats.mcol import ONE
from ..formats.mcol_records import HEADER_END
from ..geometry.edges import edge_census
from .facts import Answer, Fact, Measured, NothingThere, Same, Subject, Tally, Total, named
from .hulls import Hull

USUAL_ORDER = "spheres vertices triangles cells lists indices"
WORDS_NAMED = 4
"""Most words of one kind whose values a line shows."""


class Shipped(NamedTuple):
    """What docs/FORMATS.md has of one of the game's hulls: half its box, cell size and occupied cells are 0
    where they have no number. `euler` is the Euler characteristic."""

    vertices: int
    triangles: int
    half: int
    cell: int
    occupied: int
    euler: int


SHIPPED = {
    "2cf7eb47": Shipped(34, 60, 50_000, 10_000, 575, 4),
    "cbb99d34": Shipped(8, 12, 250_000, 50_000, 488, 2),
    "d84a95fb": Shipped(111, 218, 50_000, 10_000, 492, 2),
    "db066592": Shipped(405, 790, 50_000, 10_000, 572, 10),
    "dc44fe0c": Shipped(89, 174, 50_000, 10_000, 468, 2),
    "df4628c2": Shipped(134, 260, 50_000, 10_000, 546, 4),
    "e084c13c": Shipped(8, 12, 250_000, 50_000, 488, 2),
    "db61c506": Shipped(73, 134, 50_000, 10_000, 514, 6),
    "dc4b0896": Shipped(502, 924, 25_000, 10_000, 110, 40),
    "dd89a110": Shipped(632, 1_164, 25_000, 10_000, 117, 50),
    "e16460cf": Shipped(554, 1_020, 25_000, 10_000, 118, 44),
}
"""The game's 11 hulls by the ids of their names."""

TOTAL_CELLS, TOTAL_TRIANGLES = 4_488, 4_768
FIRST_EMPTY = 1
"""How many of the 11 have an empty first cell."""


def _shipped(measure: Callable[[Hull], tuple], fields: tuple[str, ...]) -> Callable[[Hull], str]:
    """Compares with the documented number of the hull with that id."""

    def compared(hull: Hull) -> str:
        known = SHIPPED.get(hull.id)
        if known is None:
            return "a hull that the notes don't have"
        found = measure(hull)
        return "as in the notes" if found == tuple(getattr(known, name) for name in fields) else "another number"

    return compared


KNOWN = Same(("as in the notes", "a hull that the notes don't have"))


def _counts(hull: Hull) -> tuple[int, int]:
    return int(hull.header["vertex_count"]), int(hull.header["triangle_count"])


def _euler(hull: Hull) -> tuple[int]:
    edges = edge_census(hull.triangles)[0]
    return (len(np.unique(hull.triangles)) - len(edges) + len(hull.triangles),)


def _box(hull: Hull) -> tuple:
    low, high, size = (hull.header[name].astype(np.float64) for name in ("minimum", "maximum", "cell_size"))
    halves, sizes = set((high - low).tolist()), set(size.tolist())
    if len(halves) > 1 or len(sizes) > 1 or (low != -high).any():
        return None, None
    return int(halves.pop()) // 2, int(sizes.pop())


def _occupied(hull: Hull) -> tuple[int]:
    return (len(hull.occupied),)


# --- unread words ---------------------------------------------------------------------------------


def _words(values: Any) -> str:
    """Words as a line shows them: 0, or how many aren't, with the first of them."""
    words = np.asarray(values).astype(np.uint32).ravel()
    odd = words[words != 0]
    if not len(odd):
        return "0"
    different = list(dict.fromkeys(odd.tolist()))
    shown = " ".join(f"{word:08x}" for word in different[:WORDS_NAMED])
    return f"{len(odd):,} of {len(words):,} words ({shown}{' …' if len(different) > WORDS_NAMED else ''})"


def _header_word(name: str) -> Callable[[Hull], str]:
    return lambda hull: _words(hull.header[name])


def _positions(hull: Hull) -> tuple[int, int]:
    expected = hull.grid.position(np.arange(hull.grid.cell_count))
    good = (hull.cells["position"] == expected).all(axis=1)
    return int(good.sum()), len(good)


def _cell_words(hull: Hull) -> str:
    return _words(hull.cells["unknown_0c"])


def _empty_pointers(hull: Hull) -> str:
    return _words(hull.cells["lists"][hull.cells["list_count"] == 0])


def _empty_spheres(hull: Hull) -> str:
    return _words(np.ascontiguousarray(hull.cells["sphere"][hull.cells["list_count"] == 0], ">f4").view(">u4"))


def _list_words(hull: Hull) -> str:
    return _words(hull.records["unknown_08"])


def _fourth_words(hull: Hull) -> str:
    words = tuple(int(hull.header[name]) for name in ("minimum_w", "maximum_w", "extent_w"))
    return "1.0 1.0 0.0" if words == (ONE, ONE, 0) else " ".join(f"{word:08x}" for word in words)


# --- blocks and gaps ------------------------------------------------------------------------------


def gaps(hull: Hull) -> list[tuple[str, bytes, bytes]]:
    """Between the blocks, by the name of the one in front: the bytes up to a multiple of 16, and those beyond."""
    found, at, name = [], HEADER_END, "header"
    for start, following, size in [*hull.blocks, (hull.end, "", 0)]:
        between = hull.data[at:start] if start > at else b""
        filling = min(padding(at), len(between))
        found.append((name, between[:filling], between[filling:]))
        at, name = max(at, start + size), following
    return found


def _block_order(hull: Hull) -> str:
    names = [name for _, name, _ in hull.blocks]
    return "as in the notes" if names == USUAL_ORDER.split() else " ".join(names)


def _overlaps(hull: Hull) -> str:
    ends = np.maximum.accumulate([HEADER_END, *(start + size for start, _, size in hull.blocks)])
    starts = [start for start, _, _ in hull.blocks] + [hull.end]
    return f"{sum(start < end for start, end in zip(starts, ends, strict=True))}"


def _padded(hull: Hull) -> str:
    """Which blocks with another behind them aren't filled up to a multiple of 16."""
    short = [name for name, filling, _ in gaps(hull)[:-1] if len(filling) < padding(_end_of(hull, name))]
    return "all" if not short else f"not {' '.join(short)}"


def _end_of(hull: Hull, wanted: str) -> int:
    return next((start + size for start, name, size in hull.blocks if name == wanted), HEADER_END)


def _last_padded(hull: Hull) -> str:
    """Whether the last block is filled up to a multiple of 16."""
    name, filling, _ = gaps(hull)[-1]
    return "yes" if len(filling) == padding(_end_of(hull, name)) else "no"


def _filling(hull: Hull) -> str:
    filling = b"".join(one for _, one, _ in gaps(hull))
    values = sorted(set(filling) - {0})
    if not values:
        return "0"
    count = len(filling) - filling.count(0)
    return f"{count:,} of {len(filling):,} bytes ({' '.join(f'{value:02x}' for value in values[:WORDS_NAMED])})"


def _beyond(hull: Hull) -> str:
    rows = [f"{len(more):,} behind the {name}" for name, _, more in gaps(hull)[1:] if more]
    return ", ".join(rows) or "none"


def _first_block(hull: Hull) -> str:
    return f"0x{hull.blocks[0][0]:X}"


# --- box and cells --------------------------------------------------------------------------------


def _extent(hull: Hull) -> str:
    low, high, extent = (hull.header[name].astype(np.float32) for name in ("minimum", "maximum", "extent"))
    return "yes" if np.array_equal(extent, high - low) else "no"


def _cells_fill_box(hull: Hull) -> str:
    low, high, size = (hull.header[name].astype(np.float64) for name in ("minimum", "maximum", "cell_size"))
    return "yes" if np.array_equal(np.array(hull.dimensions) * size, high - low) else "no"


def _usable_grid(hull: Hull) -> str:
    try:
        return "yes" if hull.grid.cell_count else "no"
    except NothingThere:
        return "no"


def _dimensions(hull: Hull) -> str:
    return "×".join(map(str, hull.dimensions))


def _first_empty(hull: Hull) -> int:
    return int(len(hull.cells) > 0 and hull.cells["list_count"][0] == 0)


def _first_empty_answer(measured: Sequence[Measured], whole: bool) -> Answer:
    odd = [id for id, value in measured if value]
    return Answer(f"{len(odd):,} of {len(measured):,}{named(odd)}", whole and len(odd) != FIRST_EMPTY)


def _cell_count(hull: Hull) -> int:
    return len(hull.occupied)


def _triangle_count(hull: Hull) -> int:
    return int(hull.header["triangle_count"])


_H, ZERO, YES = Subject.HULL, Same(("0",)), Same(("yes",))
FACTS = (
    Fact("F57", "C", "words at 0x4C that aren't 0", _H, "unread, 0 so far", _header_word("unknown_4c"), ZERO),
    Fact("F58", "M", "words at 0x60-0x6F that aren't 0", _H, "mostly 0", _header_word("unknown_60"), ZERO),
    Fact("F59", "C", "words at 0x78-0x7F that aren't 0", _H, "unread, 0 so far", _header_word("unknown_78"), ZERO),
    Fact("F60", "M", "fourth words of the box", _H, "1.0 1.0 0.0", _fourth_words, Same(("1.0 1.0 0.0",))),
    Fact("F61", "M", "cells with their own position at +0x00", _H, "all", _positions, Tally()),
    Fact("F62", "M", "cells' words at +0x0C that aren't 0", _H, "0", _cell_words, ZERO),
    Fact("F63", "A", "pointers of empty cells that aren't 0", _H, "0", _empty_pointers, ZERO),
    Fact("F64", "C", "spheres of empty cells, words that aren't 0", _H, "unread, 0 so far", _empty_spheres, ZERO),
    Fact("F65", "C", "list records' words at +0x08 that aren't 0", _H, "unread, 0 so far", _list_words, ZERO),
    Fact("F67", "D", "order of the blocks", _H, USUAL_ORDER, _block_order, Same(("as in the notes",))),
    Fact("F68", "M", "first block begins at", _H, "0x80", _first_block, Same(("0x80",))),
    Fact("F69", "M", "blocks that overlap", _H, "0", _overlaps, ZERO),
    Fact("F70", "M", "blocks padded to 16 bytes before the next", _H, "all", _padded, Same(("all",))),
    Fact("F71", "A", "last block padded to 16 bytes", _H, "yes", _last_padded, YES),
    Fact("F72", "A", "padding that isn't 0", _H, "0", _filling, ZERO),
    Fact("F73", "D", "bytes between blocks beyond padding", _H, "none", _beyond, Same(("none",))),
    Fact("F74", "M", "extent is maximum - minimum", _H, "yes", _extent, YES),
    Fact("F75", "D", "cells fill the box exactly", _H, "yes", _cells_fill_box, YES),
    Fact("F76", "D", "grids", _H, "10×10×10 and 5×5×5", _dimensions, Same()),
    Fact(
        "F77",
        "D",
        "half the box and cell size",
        _H,
        "those of section 3",
        _shipped(_box, ("half", "cell")),
        KNOWN,
    ),
    Fact(
        "F78",
        "M",
        "vertices and triangles",
        _H,
        "those of section 3",
        _shipped(_counts, ("vertices", "triangles")),
        KNOWN,
    ),
    Fact("F79", "D", "Euler characteristic", _H, "those of section 3", _shipped(_euler, ("euler",)), KNOWN),
    Fact("F80", "D", "cells with triangles", _H, "those of section 3", _shipped(_occupied, ("occupied",)), KNOWN),
    Fact("F81", "M", "cells with triangles in all", _H, f"{TOTAL_CELLS:,}", _cell_count, Total(TOTAL_CELLS)),
    Fact("F82", "M", "triangles in all", _H, f"{TOTAL_TRIANGLES:,}", _triangle_count, Total(TOTAL_TRIANGLES)),
    Fact("F83", "C", "grids with all their cells in the file", _H, "yes", _usable_grid, YES),
    Fact("F84", "M", "first cell empty", _H, f"{FIRST_EMPTY} of 11", _first_empty, _first_empty_answer),
)
