"""Rows of the bench: reading files, with the memory that it takes."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np

from tools.bench_measuring import Row, compare, peak_memory
from tools.bench_rebuild import LARGEST_CLOSED, rock_field


def reading_rows(folder: Path, memory: dict[str, float]) -> list[Row]:
    from core.formats import collision_set, mcol
    from core.game.archive import open_archive

    rows = []
    small = (folder / "game" / "loose" / "S14_p2_AsteroidVolume_wp.col").read_bytes()
    large = mcol.encode(rock_field(LARGEST_CLOSED))
    set_data = (folder / "CollisionSet.bin").read_bytes()
    for what, decode, data, bound in (
        ("decode a .col", mcol.decode, large, 5.0),
        ("decode a small .col", mcol.decode, small, 5.0),
        ("decode a set", collision_set.decode, set_data, 2.0),
    ):

        def swapped(data=data) -> np.ndarray:
            return np.frombuffer(data, ">u4").astype(np.uint32)

        measured = compare(lambda data=data, decode=decode: decode(data), swapped, 15, least=0.02)
        rows.append(Row(f"{what}, {len(data) / 1e6:.2f} MB", "copying its words, byte order swapped", bound, measured))
        peak, _ = peak_memory(lambda data=data, decode=decode: decode(data))
        memory[what] = peak / (2 * len(data))  # the bytes, and as many in arrays

    path = folder / "game" / "hidden" / "MiscBin.pak"
    archive = open_archive(path)
    entry = archive.find("S14_p2_AsteroidVolume_wp.col")
    part = archive.part_of(entry).path

    def barely() -> bytes:
        with open(part, "rb") as file:
            file.seek(entry.offset)
            return zlib.decompress(file.read(entry.size)[10:])

    def ours() -> bytes:
        opened = open_archive(path)
        return opened.read(opened.find("S14_p2_AsteroidVolume_wp.col"))

    assert ours() == barely() == small
    rows.append(
        Row(
            "open MiscBin.pak and read one hull",
            "reading its bytes, zlib",
            1.5,
            compare(ours, barely, 15, least=0.02),
        )
    )
    return rows


def memory_row(memory: dict[str, float]) -> Row:
    worst = max(memory, key=lambda what: memory[what])
    return Row("peak memory of these", "input and output arrays", 6.0, memory[worst], f"most: {worst}")
