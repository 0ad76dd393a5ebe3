"""Rows of the bench: navigation volumes, rebuilt and patched."""

from __future__ import annotations

import numpy as np

from tools.bench_measuring import Row, compare, seconds

REBUILD_SECONDS, PATCH_SECONDS = 60.0, 0.5
"""What a modder waits for a map's volume at most, and for the patch after one moved asteroid."""


def navigation_rows(once: bool) -> list[Row]:
    """The game's largest map: its volume rebuilt, and patched after one asteroid moved; against the hull's own rebuild
    and against decoding hull and volume."""
    from core.editing import rebuild_hull
    from core.formats import mcol, regn, regn_contents
    from core.geometry.surfaces import split
    from core.navigation.build import build
    from core.navigation.patch import patch
    from core.samples import hulls

    row = max(hulls.MAPS, key=lambda row: row.vertices)
    old = hulls.sample_hull(row, 1)
    surface = split(old.triangles)
    places = old.vertices.copy()
    places[np.unique(old.triangles[surface == 3])] += np.float32((900, 600, -450))

    def rebuild_the_hull() -> mcol.Hull:
        return rebuild_hull.build(places, old.triangles.astype(np.int64), old.grid, bool(old.outside_solid))

    new, data, col = rebuild_the_hull(), regn_contents.encode(build(old), old.grid), mcol.encode(old)

    def rebuild_it() -> bytes:
        return regn_contents.encode(build(old), old.grid)

    def patch_it() -> bytes:
        return patch(regn.decode(data), old, new).data

    def decode() -> object:
        return mcol.decode(col), regn_contents.decode(regn.decode(data))

    assert patch_it() != data
    what = f"rebuild the navigation of {row.name.partition('_Asteroid')[0]}"
    patched = "patch it after moving one asteroid"
    rows = [
        Row(patched, "rebuilding the hull", 20.0, compare(patch_it, rebuild_the_hull, 7)),
        Row(patched, "decoding hull and volume", 30.0, compare(patch_it, decode, 7)),
        Row(patched, f"{PATCH_SECONDS:g} s", 1.0, min(seconds(patch_it) for _ in range(3)) / PATCH_SECONDS),
    ]
    if once:
        tetrahedra = f"{len(regn_contents.decode(regn.decode(data)).tetrahedra):,} tetrahedra"
        rows[:0] = [
            Row(what, "rebuilding the hull", 300.0, compare(rebuild_it, rebuild_the_hull, 3), tetrahedra),
            Row(what, "decoding hull and volume", 300.0, compare(rebuild_it, decode, 3)),
            Row(what, f"{REBUILD_SECONDS:g} s", 1.0, seconds(rebuild_it) / REBUILD_SECONDS),
        ]
    return rows
