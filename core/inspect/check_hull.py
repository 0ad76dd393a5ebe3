"""Every check of docs/FORMATS.md and of the measurements behind it, on hulls and on libraries.

A check counts: so many of so many. What is normal in the game's own files is INFO when it fails, what would be
a hole, a ghost wall or a crash in the game is an ERROR.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import Severity
from ..formats import chunk, mcol_records
from ..formats.chunk import DEFAULT_FLAGS, END_OF_ROW, Relocation
from ..formats.collision_set import CollisionSet, Part, dropped, unusable
from ..formats.mcol import FREE, LIMIT, LISTED, ONE, SOLID, Hull
from ..formats.mcol_layout import ROW, gaps
from ..geometry.edges import edge_census
from ..geometry.fill import layers_in_cells
from ..geometry.surfaces import Facing, all_rock, facing, names, orient
from ..geometry.triangles import corners, doubled, flat, repeated
from .check_lists import ROUNDING, cell_name, check_lists, distances
from .checks import Check, count
from .stored import as_stored, carried, cell_records

TIGHT = 0.99
"""A sphere is tight if its farthest corner lies at this part of the radius or beyond."""


# --- hulls ----------------------------------------------------------------------------------------


def check_hull(hull: Hull, like: Hull | None = None) -> list[Check]:
    """Every check of a map hull, docs/FORMATS.md, section 3. A hull that was never in a file is checked as the
    file that it would become; raises `FormatError` if it can't be one. `like`: see `check_lists`."""
    hull = as_stored(hull)
    usable = np.isfinite(hull.vertices).all(axis=1)
    checks = [
        *_file_checks(hull),
        count(
            usable,
            "vertices with usable coordinates",
            "vertices with coordinates that aren't numbers",
            Severity.WARNING,
            "vertex",
        ),
    ]
    if not len(hull.triangles):
        return [*checks, Check("hulls that hold triangles", 0, 1, Severity.WARNING, "hull without triangles")]
    if not usable.all():  # no triangle uses them
        hull = replace(hull, vertices=np.where(usable[:, None], hull.vertices, hull.vertices[hull.triangles[0, 0]]))
    return [*checks, *_mesh_checks(hull), *_surface_checks(hull), *_cell_checks(hull), *check_lists(hull, like)]


def _file_checks(hull: Hull) -> list[Check]:
    more = carried(hull)
    usual = ["spheres", "vertices", "triangles", "cells", "lists", "indices"]
    stored = [block.name for block in more.blocks if block.size]
    _, *behind = gaps(more.lead, more.blocks, mcol_records.HEADER_END)
    padded = [
        gap.alignment == ROW and not gap.kept
        for block, gap in zip(more.blocks, behind, strict=True)
        if block.name in ("vertices", "triangles", "spheres")
    ]
    spare = b"".join((more.lead, *(block.spare for block in more.blocks)))
    slots = len(mcol_records.HEADER_POINTERS) + len(hull.occupied) + len(hull.list_starts)
    pad_words = tuple(int(more.header[name]) for name in ("minimum_w", "maximum_w", "extent_w"))
    with np.errstate(over="ignore"):
        extent_fits = np.array_equal(more.header["extent"], hull.grid.maximum - hull.grid.minimum)
    in_order = not more.lead and stored == [name for name in usual if name in stored]
    words, usual_words = _unread_words(hull)
    odd_slots = more.odd_slots.count
    tail = chunk.survey_tail(more.shell.tail)
    return [
        # Decoding refuses a file without this.
        Check("chunk shell, POF0 directly behind the payload", 1, 1, Severity.ERROR),
        count([tail.ended], chunk.ENDED, chunk.NOT_ENDED, Severity.WARNING),
        count([not tail.chunks], chunk.ALONE, chunk.NOT_ALONE),
        Check(
            "relocated words exactly those of the layout",
            max(slots - odd_slots, 0),
            slots,
            fault="relocated words more or fewer, none of which the game reads",
        ),
        count([pad_words == (ONE, ONE, 0)], "box pad words 1.0, 1.0, 0.0", "box with unusual pad words"),
        count([extent_fits], "extent == max - min", "extent that isn't max - min"),
        count(padded, "lengths align16(12 nv), align16(6 nt), 16 nt", "arrays with more or less behind them"),
        count([in_order], "spheres at 0x80, usual order of arrays", "unusual order of arrays"),
        count(np.frombuffer(spare, np.uint8) == 0, "bytes between arrays that are zero", "bytes of unknown meaning"),
        count(words == usual_words, "unread words at their usual value", "unread words with unknown contents"),
    ]


def _unread_words(hull: Hull) -> tuple[np.ndarray, np.ndarray]:
    """Every word that the game doesn't read and nobody understands, and its usual value, int64 (n,) each."""
    more = carried(hull)
    shell = more.shell
    usual = Relocation()
    groups = [
        ([shell.flags], DEFAULT_FLAGS),
        ([shell.relocation.flags], usual.flags),
        ([shell.unknown_0c, shell.relocation.unknown_0c], 0),
        *((more.header[name].ravel(), 0) for name in ("unknown_4c", "unknown_60", "unknown_78")),
        (cell_records(hull)["unknown_0c"], 0),
        (more.list_words.ravel(), 0),
        ([shell.tail == END_OF_ROW], True),
    ]
    words = [np.asarray(group, np.int64) for group, _ in groups]
    usual_words = [np.full(len(group), value, np.int64) for group, (_, value) in zip(words, groups, strict=True)]
    return np.concatenate(words), np.concatenate(usual_words)


def _mesh_checks(hull: Hull) -> list[Check]:
    vertices, triangles = hull.vertices, hull.triangles
    edges, uses = edge_census(triangles)
    counts = np.array((len(vertices), len(triangles)))
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = distances(corners(vertices, triangles), hull.spheres).max(axis=1) / hull.spheres[:, 3]
    error = Severity.ERROR
    return [
        count(counts <= LIMIT, "counts up to 65,535", "counts over 65,535", error),
        count(
            counts[:1] <= counts[1:], "no more vertices than triangles", "hull with more vertices than triangles", error
        ),
        _box_check(hull),
        count(
            _used(vertices, triangles),
            "vertices that a triangle uses",
            "vertices that no triangle uses",
            error,
            "vertex",
        ),
        count(
            uses == 2,
            "edges shared by exactly two triangles",
            "edges not shared by exactly two triangles",
            error,
            "vertex",
            edges,
        ),
        count(~flat(vertices, triangles), "triangles with an area", "triangles without area", error, "triangle"),
        count(
            ~doubled(triangles),
            "triangles unlike every other",
            "doubled triangles",
            Severity.WARNING,
            "triangle",
        ),
        count(
            reach <= 1 + ROUNDING,
            "spheres that enclose their triangle",
            "spheres too small for their triangle",
            error,
            "triangle",
        ),
        count(
            (reach <= 1) | ~(reach <= 1 + ROUNDING),
            "spheres that leave room for rounding",
            "spheres that enclose their triangle but for rounding",
            Severity.WARNING,
            "triangle",
        ),
        replace(
            count(reach >= TIGHT, "spheres tight within 1 %", "spheres larger than needed", kind="triangle"),
            measured=reach,
            unit="max|v-c| / r",
        ),
    ]


def _box_check(hull: Hull) -> Check:
    """The cells at the border serve what lies outside; the game finds them from outside for one cell more."""
    grid = hull.grid
    beyond = np.maximum(grid.minimum - hull.vertices, hull.vertices - grid.maximum)
    far = (beyond > grid.cell_size).any()
    return count(
        ~grid.outside(hull.vertices),
        "vertices inside the box",
        f"vertices outside the box by up to {max(beyond.max(), 0):.6g}",
        Severity.ERROR if far else Severity.WARNING,
        "vertex",
    )


def _surface_checks(hull: Hull) -> list[Check]:
    vertices, triangles = hull.vertices, hull.triangles
    surface, odd = orient(triangles)
    faces = facing(vertices, triangles, surface, bool(hull.outside_solid))
    # A rock beyond the wall harms nobody; with nothing around all of it, a wall or cavern is inside out or missing.
    inside_out = (faces == Facing.WRONG) | ((faces == Facing.OUTSIDE) & all_rock(vertices, triangles, surface, faces))

    def called(number: int) -> str:
        return names(vertices, triangles, surface)[number]

    return [
        count(
            ~odd,
            "triangles wound like their surface",
            "triangles wound against their surface",
            Severity.ERROR,
            "triangle",
        ),
        count(
            ~inside_out,
            "surfaces whose front faces free space",
            "surfaces turned inside out against byte 0x73",
            Severity.WARNING,
            "surface",
            label=called,
        ),
        count(
            ~np.isin(faces, (Facing.BURIED, Facing.OUTSIDE)) | inside_out,
            "surfaces that touch free space",
            "surfaces wholly in rock, where no ship gets",
            Severity.WARNING,
            "surface",
            label=called,
        ),
    ]


def _cell_checks(hull: Hull) -> list[Check]:
    grid, occupied = hull.grid, hull.occupied
    position = cell_records(hull)["position"]
    numbers = np.arange(grid.cell_count)
    empty = np.ones(grid.cell_count, bool)
    empty[occupied] = False
    empty = np.flatnonzero(empty)
    rock = layers_in_cells(grid, hull.vertices, hull.triangles) + bool(hull.outside_solid) >= 1
    expected = np.where(rock, SOLID, FREE)
    single = hull.list_counts == 1
    own_list = hull.list_spheres[np.minimum(hull.first_list, len(hull.list_spheres) - 1)]
    same = (hull.cell_spheres.view(np.uint32) == own_list.view(np.uint32)).all(axis=1)
    packed = np.diff(hull.list_starts) == hull.list_sizes[:-1]

    def called(number: int) -> str:
        return cell_name(grid, number)

    return [
        count(
            hull.states[occupied] == LISTED,
            "fill state 1 in cells with a list",
            "cells with a list that a swept ship skips or takes for solid",
            Severity.ERROR,
            "cell",
            occupied,
            called,
        ),
        count(
            hull.states[empty] == expected[empty],
            "fill state 2 in rock, 0 in free space elsewhere",
            "cells without a list whose fill state says rock for free space, or free space for rock",
            Severity.WARNING,
            "cell",
            empty,
            called,
        ),
        count(
            (position == grid.position(numbers)).all(axis=1),
            "cell records that carry their own position",
            "cell records that carry another position",
            kind="cell",
            label=called,
        ),
        count(
            single,
            "occupied cells with one list record",
            "cells with several list records",
            kind="cell",
            elements=occupied,
            label=called,
        ),
        count(packed, "list pointers that differ by 2 x count", "list pointers that leave a gap or share indices"),
        count(
            same[single],
            "cell sphere == list sphere",
            "cells whose two spheres differ",
            kind="cell",
            elements=occupied[single],
            label=called,
        ),
    ]


def _used(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    used = np.zeros(len(vertices), bool)
    used[triangles] = True
    return used


# --- libraries ------------------------------------------------------------------------------------

_USABLE = "meshes whose triangles have usable corners"

_PART_CHECKS = (
    ("size words that match the counts", "size words that don't", Severity.ERROR),
    (_USABLE, "meshes that can't be drawn or edited", Severity.ERROR),
    ("vertices with usable coordinates", "vertices with coordinates that aren't numbers", Severity.WARNING),
    ("names closed by NUL", "names without closing NUL", Severity.WARNING),
    ("names in CP932", "names that aren't CP932", Severity.WARNING),
    ("name fields of 16, 24 or 32 bytes", "name fields of another length", Severity.INFO),
    ("name fields with zeros behind the name", "name fields with something behind the name", Severity.INFO),
    ("meshes with triangles", "meshes without triangles", Severity.WARNING),
    ("meshes with every edge shared by two (manifold)", "open, doubled or branching meshes", Severity.INFO),
    ("edges shared by exactly two triangles", "edges not shared by exactly two triangles", Severity.INFO),
    ("triangles with three different vertices", "triangles that use a vertex twice", Severity.WARNING),
    ("triangles with an area", "triangles without area", Severity.WARNING),
    ("triangles unlike every other", "doubled triangles", Severity.INFO),
    ("vertices that a triangle uses", "vertices that no triangle uses", Severity.INFO),
)
"""What is checked of each mesh: name, fault, severity; `_part_truths` gives the values in this order."""


def check_set(library: CollisionSet) -> list[Check]:
    """Every check of a library of object meshes, docs/FORMATS.md, section 4. `elements` are record numbers."""
    parts = library.parts
    truths = [_part_truths(part) for part in parts]
    checks = []
    for place, (name, fault, severity) in enumerate(_PART_CHECKS):
        values = [truth[place] for truth in truths]
        owners = np.repeat(np.arange(len(parts)), [len(value) for value in values])
        good = np.concatenate([np.zeros(0, bool), *values])
        called = [_name_and_reason(part) if name == _USABLE else part.name for part in parts]
        checks.append(count(good, name, fault, severity, "mesh", owners, called.__getitem__))
    first = ~np.isin(np.arange(len(parts)), dropped(parts))
    ends = Check(
        "files that end with their last mesh",
        int(not library.trailing),
        1,
        Severity.ERROR,
        f"file with {len(library.trailing):,} bytes behind the last mesh, which the game takes for another",
    )
    return [
        *checks[:7],
        count(
            first,
            "names that no mesh before has",
            "meshes that the game drops, because one before has the same name but for case, or a name with the same id",
            Severity.WARNING,
            "mesh",
            label=lambda number: parts[number].name,
        ),
        *checks[7:],
        ends,
    ]


def _name_and_reason(part: Part) -> str:
    return f"{part.name}: {unusable(part)}"


def _part_truths(part: Part) -> tuple[np.ndarray, ...]:
    name, closed, behind = part.name_field.partition(b"\0")
    usable = not unusable(part)
    if not usable:
        part = replace(part, vertices=part.vertices[:0], triangles=part.triangles[:0])
    shared = edge_census(part.triangles)[1] == 2
    values = (
        not part.size_excess,
        usable,
        np.isfinite(part.vertices).all(axis=1),
        bool(closed),
        _is_cp932(name),
        len(part.name_field) in (16, 24, 32),
        not any(behind),
        len(part.triangles) > 0 or not usable,
        shared.all(),
        shared,
        ~repeated(part.triangles),
        ~flat(part.vertices, part.triangles),
        ~doubled(part.triangles),
        _used(part.vertices, part.triangles),
    )
    return tuple(np.atleast_1d(np.asarray(value, bool)) for value in values)


def _is_cp932(name: bytes) -> bool:
    try:
        name.decode("cp932")
    except UnicodeDecodeError:
        return False
    return True
