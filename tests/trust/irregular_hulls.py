"""Hulls with any mixture of the oddities that docs/FORMATS.md allows, written with `struct` alone.

Made from a plain hull that the independent reader has read; nothing of the package under test is used.
"""

from __future__ import annotations

import struct

import numpy as np

from tests.oracle.readers import Col, read_col

BLOCKS = ("spheres", "vertices", "triangles", "cells", "lists", "indices")


def odd_hull(col: Col, random: np.random.Generator) -> bytes:
    """The same geometry, seen by every query as before, in a file that is odd wherever it may be."""

    def often() -> bool:
        return bool(random.random() < 0.5)

    def some_bytes(size: int) -> bytes:
        return random.bytes(size) if often() else bytes(size)

    def word() -> int:
        return int(random.integers(0, 2**32)) if often() else 0

    # The lists of each cell: any order, some triangles twice, several records, extra entries, shared with another.
    rows = [[list(record.indices) for record in cell.lists] for cell in col.cells]
    spheres = [[record.sphere for record in cell.lists] for cell in col.cells]
    for number, lists in enumerate(rows):
        for indices in lists:
            if often():
                random.shuffle(indices)
            if random.random() < 0.1:
                indices.append(indices[0])
        if lists and random.random() < 0.2 and len(lists[0]) > 1:
            cut = int(random.integers(1, len(lists[0])))
            lists[:1] = [lists[0][:cut], lists[0][cut:]]
            spheres[number][:1] = [spheres[number][0]] * 2

    order = [BLOCKS[i] for i in random.permutation(6)] if often() else list(BLOCKS)
    sizes = {"spheres": 16 * col.nt, "vertices": 12 * col.nv, "triangles": 6 * col.nt, "cells": 32 * len(col.cells)}
    sizes["lists"] = 32 * sum(map(len, rows))
    runs, places, counts, at = [], [], [], 0
    for indices in (indices for lists in rows for indices in lists):
        places.append(at)
        counts.append(len(indices))
        run = struct.pack(f">{len(indices)}H", *indices)
        if random.random() < 0.05:
            run += struct.pack(">H", int(random.integers(0, 2**16)))  # a gap between two lists that nobody reads
        runs.append(run)
        at += len(run)
    sizes["indices"] = at
    start, offset, body = {}, 0x80, b""
    if often():
        body += some_bytes(int(random.integers(1, 20)))
    for name in order:
        least = 2 if name in ("indices", "triangles") else 4
        body += some_bytes(-(0x80 + len(body)) % (16 if often() else least))
        start[name] = offset + len(body)
        body += bytes(sizes[name])
        if random.random() < 0.3:
            body += some_bytes(int(random.integers(0, 36)))
    body += some_bytes(-len(body) % (16 if often() else 4))
    payload = bytearray(bytes(0x80) + body)

    def put(where: int, form: str, *values) -> None:
        struct.pack_into(">" + form, payload, where, *values)

    pads = (0x3F800000, 0x3F800000, 0) if often() else [word() for _ in range(3)]
    for where, corner, pad in zip((0x10, 0x20, 0x30), (col.bbox_min, col.bbox_max, col.extent), pads, strict=True):
        put(where, "3fI", *corner[:3], pad)
    put(0x40, "3f", *col.cell_size)
    put(0x4C, "I2H", word(), col.nv, col.nt)
    put(0x54, "3I", *(start[name] - 16 for name in ("vertices", "triangles", "spheres")))
    put(0x60, "4I", *(word() for _ in range(4)))
    put(0x70, "4B", *col.dims, int(random.integers(1, 256)) if col.outside else 0)
    put(0x74, "3I", start["cells"] - 16, word(), word())
    put(start["spheres"], f"{4 * col.nt}f", *col.spheres.ravel())
    put(start["vertices"], f"{3 * col.nv}f", *col.vertices.ravel())
    put(start["triangles"], f"{3 * col.nt}H", *col.triangles.ravel())
    put(start["indices"], f"{at}s", b"".join(runs))

    slots, record = [0x54, 0x58, 0x5C, 0x74], 0
    for number, (cell, lists) in enumerate(zip(col.cells, rows, strict=True)):
        where = start["cells"] + 32 * number
        own = (cell.x, cell.y, cell.z) if often() else random.integers(0, 256, 3).tolist()
        pointer = start["lists"] + 32 * record - 16 if lists else word() * (random.random() < 0.2)
        put(where, "4B3I", *own, cell.state, len(lists), int(pointer), word())
        put(where + 16, "16s", cell.sphere.astype(">f4").tobytes() if lists else some_bytes(16))
        slots += [where + 8] * bool(lists)
        for sphere in spheres[number]:
            at_record = start["lists"] + 32 * record
            put(at_record, "4I", counts[record], start["indices"] + places[record] - 16, word(), word())
            put(at_record + 16, "4f", *sphere)
            slots.append(at_record + 4)
            record += 1
    coded, before = b"", 0x10
    for slot in sorted(slots):
        delta, before = (slot - before) // 4, slot
        width = max(1 + (delta > 0x3F) + (delta > 0x3FFF), int(random.integers(1, 4)) * (random.random() < 0.3))
        coded += ((width << (8 * width - 2)) + delta).to_bytes(width, "big")
    if often():
        coded += b"\0" + random.bytes(int(random.integers(0, 20)))  # behind the end mark nobody looks
    elif often():
        coded += bytes(-len(coded) % 16)
    flags = 0x00010005 if often() else int(random.integers(0, 2**32)) & ~0x01000000
    shell = struct.pack(">4s3I", b"MCOL", len(payload) - 16, flags, word())
    pof0 = struct.pack(">4s3I", b"POF0", len(coded), 0x00010005 if often() else word() & ~0x01000000, word())
    tail = bytes(16) + (random.bytes(int(random.integers(0, 40))) if often() else b"")
    return shell + bytes(payload[16:]) + pof0 + coded + tail


def rearranged(data: bytes, order: list[str], spare: dict[str, bytes]) -> bytes:
    """A plain hull with its arrays in another order and spare bytes behind each, and behind the header, by its name "".

    Pads no array but where the relocation table has to name its words.
    """
    col = read_col(data)
    sizes = {"spheres": 16 * col.nt, "vertices": 12 * col.nv, "triangles": 6 * col.nt, "cells": 32 * len(col.cells)}
    sizes |= {"lists": col.at["indices"] - col.at["lists"], "indices": col.at["end"] - col.at["indices"]}
    start: dict[str, int] = {}
    payload = bytearray(data[:0x80]) + spare[""]
    for name in order:
        payload += bytes(-len(payload) % (4 if name in ("cells", "lists") else 1))
        start[name] = len(payload)
        payload += data[col.at[name] : col.at[name] + sizes[name]] + spare[name]
    payload += bytes(-len(payload) % 4)

    def move(where: int, by: int) -> int:
        struct.pack_into(">I", payload, where, struct.unpack_from(">I", payload, where)[0] + by)
        return where

    by = {name: start[name] - col.at[name] for name in BLOCKS}
    slots = [
        move(where, by[name])
        for where, name in ((0x54, "vertices"), (0x58, "triangles"), (0x5C, "spheres"), (0x74, "cells"))
    ]
    slots += [move(start["cells"] + 32 * n + 8, by["lists"]) for n, cell in enumerate(col.cells) if cell.count]
    slots += [move(start["lists"] + at + 4, by["indices"]) for at in range(0, sizes["lists"], 32)]
    coded, before = b"", 0x10
    for slot in sorted(slots):
        delta, before = (slot - before) // 4, slot
        width = 1 + (delta > 0x3F) + (delta > 0x3FFF)
        coded += ((width << (8 * width - 2)) + delta).to_bytes(width, "big")
    struct.pack_into(">I", payload, 4, len(payload) - 16)
    return bytes(payload) + struct.pack(">4s3I", b"POF0", len(coded), 0x00010005, 0) + coded + bytes(16)
