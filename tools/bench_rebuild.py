"""Rows of the bench: rebuilding hulls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tools.bench_measuring import Row, Work, compare, peak_memory, seconds

LARGEST_CLOSED = 65_534
"""Triangles of the largest hull: every edge has two triangles, so their number is even."""


ROCKS = 20


def rock_field(triangles: int):
    """A hull of that many triangles: a wall and twenty rocks in it."""
    from core.samples import hulls

    surfaces = ROCKS + 1
    return hulls.sample_hull(hulls.Map("bench", triangles // 2 + 2 * surfaces, 50_000, 10_000, ROCKS), 1)


def rebuild_rows(once: bool) -> tuple[list[Row], dict[str, float]]:
    from core.editing import options, rebuild_hull
    from core.editing.assemble import assemble
    from core.editing.pieces import Piece
    from core.editing.surface_meshes import separate
    from core.formats import mcol
    from core.geometry.grid import Grid

    shape = rock_field(LARGEST_CLOSED)
    rows: list[Row] = []
    memory: dict[str, float] = {}
    for count, bound, rounds in ((10, 1.5, 9), (50, 1.0, 5), *([(200, 1.0, 1)] if once else [])):
        half = np.full(3, 50_000, np.float32)
        grid = Grid(-half, half, np.full(3, 100_000 / count, np.float32), (count,) * 3)

        def ours(grid=grid) -> tuple[mcol.Hull, bytes]:
            hull = rebuild_hull.build(shape.vertices, shape.triangles.astype(np.int64), grid, True)
            return hull, mcol.encode(hull)

        peak, (hull, data) = peak_memory(ours)
        # The encoded bytes hold every output array; the hull's own fields are those of the same data.
        through = shape.vertices.nbytes + shape.triangles.nbytes + hull_bytes(hull) + len(data)
        memory[f"rebuild with {count}³ cells"] = peak / through
        peer, count_pairs = bvh_peer(shape, hull)
        rows.append(
            Row(
                f"rebuild {len(shape.triangles):,} triangles, {count}³ cells",
                f"mathutils.bvhtree, {len(hull.occupied):,} boxes",
                bound,
                compare(ours, peer, rounds),
                note=f"{len(hull.indices):,} pairs, the tree finds {count_pairs():,}",
            )
        )
        del hull, data

    hull = shape
    surfaces = separate(hull)
    pieces = [Piece(s.name, s.vertices, s.triangles, s.vertex_numbers, s.triangle_numbers) for s in surfaces]
    step = np.float32([500, 0, 0])
    place = next(number for number, piece in enumerate(pieces) if piece.name != "wall")
    old = pieces[place]
    pieces[place] = Piece(old.name, old.vertices + step, old.triangles, old.vertex_ids, old.triangle_ids)
    edit = assemble(pieces, hull)

    def rebuilt(what) -> bytes:
        fresh = replace(edit)  # an edit keeps its sorted edges
        return mcol.encode(rebuild_hull.rebuild(hull, fresh, options.Options(what)).hull)

    rows.append(
        Row(
            f"rebuild after moving one asteroid of {ROCKS}",
            "full rebuild",
            0.3,
            compare(lambda: rebuilt(options.Rebuild.CHANGED), lambda: rebuilt(options.Rebuild.ALL), 9),
        )
    )
    rows.append(growth_row())
    return rows, memory


def hull_bytes(hull) -> int:
    return sum(getattr(hull, name).nbytes for name in hull.__slots__ if isinstance(getattr(hull, name), np.ndarray))


def bvh_peer(shape, hull) -> tuple[Work, Callable[[], int]]:
    """Blender's own tree over the triangles, overlapped with the boxes of the cells that hold any, and how many pairs
    it found last. It tests surfaces, so it has no pair for a triangle within a box."""
    from mathutils.bvhtree import BVHTree

    low = hull.grid.lower_corner(hull.grid.position(hull.occupied))
    bit = np.arange(8)[:, None] >> np.arange(3) & 1
    quads = np.array([(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)])
    corners = (low[:, None] + bit * hull.grid.cell_size).reshape(-1, 3).tolist()
    sides = (np.arange(len(low))[:, None, None] * 8 + quads).reshape(-1, 4).tolist()
    vertices, triangles = shape.vertices.tolist(), shape.triangles.tolist()
    found: list[list[tuple[int, int]]] = []

    def overlap() -> None:
        tree = BVHTree.FromPolygons(vertices, triangles, all_triangles=True)
        found[:] = [tree.overlap(BVHTree.FromPolygons(corners, sides))]

    def count_pairs() -> int:
        pairs = np.array(found[0]).reshape(-1, 2)
        return len(np.unique(pairs[:, 0] * len(low) + pairs[:, 1] // 6))

    return overlap, count_pairs


def growth_row() -> Row:
    """How the time of a rebuild grows: the slope of its logarithm over that of the number of triangles."""
    from core.editing import rebuild_hull
    from core.formats import mcol

    hulls = [rock_field(count) for count in (1_000, 4_000, 16_000, LARGEST_CLOSED)]

    def work(hull) -> bytes:
        return mcol.encode(rebuild_hull.build(hull.vertices, hull.triangles.astype(np.int64), hull.grid, True))

    times = [min(seconds(lambda hull=hull: work(hull)) for _ in range(7)) for hull in hulls]
    counts = [len(hull.triangles) for hull in hulls]
    return Row(
        f"growth of the rebuild, {counts[0]:,} to {counts[-1]:,} triangles",
        "linear: exponent 1",
        1.05,
        float(np.polyfit(np.log(counts), np.log(times), 1)[0]),
    )
