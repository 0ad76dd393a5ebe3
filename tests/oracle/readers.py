"""Naive readers of the hull (`.col`) and of the mesh library (`.bin`), written with `struct` from docs/FORMATS.md.

They judge what the package under test writes, so they are strict where a game file has never been seen to differ, and
they name the broken rule. Unread bytes (docs/FORMATS.md, section 10) are handed out unchanged, never judged.
"""

import struct

import numpy as np


class OracleError(AssertionError):
    """A file breaks a rule of docs/FORMATS.md."""


def require(truth, rule, *values):
    if not truth:
        raise OracleError(rule + "".join(f" [{v:#x}]" if isinstance(v, int) else f" [{v}]" for v in values))


def unpack(data, offset, fields, what):
    """`struct.unpack_from`, big-endian, with the end of the file as a rule of its own."""
    size = struct.calcsize(">" + fields)
    require(offset >= 0 and offset + size <= len(data), f"{what} reaches past the end of the file", offset, size)
    return struct.unpack_from(">" + fields, data, offset)


class Record:
    """Plain holder of named values."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(self.__dict__)})"


class Col(Record):
    """One hull.

    magic, payload_size, flags, word_0c           the shell (section 1)
    bbox_min, bbox_max, extent                    (4,) float32, the fourth word included
    cell_size                                     (3,) float32
    word_4c, words_60 (4), words_78 (2)           unread words
    nv, nt, dims (nx, ny, nz), outside            outside = byte 0x73
    vertices (nv, 3) f32, triangles (nt, 3) u16, spheres (nt, 4) f32
    cells                                         list of Cell, x fastest
    at                                            dict of file offsets: spheres, vertices, triangles, cells, lists,
                                                  indices, and end, where the indices end
    gap                                           bytes between the last index and the end of the payload
    slots                                         file offsets of the words that POF0 names
    pof0                                          the coded bytes, padding included; pof0_shell: its 16 bytes
    tail                                          the bytes behind POF0
    """


class Cell(Record):
    """x, y, z, state, count, pointer (as stored, 0 = null), word_0c, sphere (4,) f32, lists: list of List."""


class List(Record):
    """offset, sphere (4,) f32, indices (list of int), words8 (2 unread words)."""


class Mesh(Record):
    """One record of the library: offset, size, raw_name, name, vertices (nv, 3) f32, triangles (nt, 3) u32."""


def padded(size):
    return (size + 15) // 16 * 16


def floats(data, offset, count, what):
    """(count,) float32, with the file's own bits."""
    unpack(data, offset, f"{4 * count}x", what)
    return np.frombuffer(data, ">f4", count, offset).astype(np.float32)


def decode_pof0(coded):
    """The file offsets of the pointer words, as the game's relocator steps through the coded bytes (section 2)."""
    slots, word, i = [], 0, 0
    while i < len(coded) and coded[i] != 0:
        width = coded[i] >> 6  # the top two bits happen to count the bytes
        require(width, "POF0: a byte 0x01-0x3F hangs the game (section 2)", i, coded[i])
        require(i + width <= len(coded), "POF0: a delta is cut off by the end of the coded bytes", i)
        delta = int.from_bytes(coded[i : i + width], "big") - ((width << 6) << (8 * (width - 1)))
        require(delta > 0, "POF0: slots must ascend, a delta of 0 is never needed (section 2)", i)
        word += delta
        slots.append(16 + 4 * word)
        i += width
    return slots


def read_col(data, strict=True):
    """Read a hull, insisting on sections 1-3.

    `strict=False` leaves out what the game itself doesn't need (order of the blocks, packing of lists and indices,
    unread bytes with a known value), for files that carry their oddities from elsewhere.
    """
    data = bytes(data)
    size = len(data)

    # -- the shell and the end of the row (docs/FORMATS.md, sections 1 and 2)
    magic, payload, _, word_0c = unpack(data, 0, "4sIII", "shell")
    require(magic == b"MCOL", "magic is not MCOL", magic)
    require(data[8] & 1 == 0, "bit 0 of byte 0x08 says 'already relocated': the game crashes", data[8])
    require(payload % 16 == 0 or not strict, "payload size is no multiple of 16", payload)
    end = 16 + payload
    pof0_magic, coded_size = unpack(data, end, "4sI8x", "POF0 shell")
    require(pof0_magic == b"POF0", "no POF0 directly behind the payload", end, pof0_magic)
    require(data[end + 8] & 1 == 0, "bit 0 of byte +8 of POF0 is set", end + 8)
    coded = data[end + 16 : end + 16 + coded_size]
    tail = data[end + 16 + coded_size :]
    require(
        size == 16 + payload + 16 + coded_size + 16,
        "file length is not 16 + payload + 16 + POF0 + 16 (section 1)",
        size,
        16 + payload + 16 + coded_size + 16,
    )
    require(tail[:4] == b"\0\0\0\0", "no zero word ends the row of chunks (section 1)", tail[:4])
    slots = decode_pof0(coded)
    require(all(s + 4 <= end for s in slots), "POF0: a slot lies outside the payload")

    # -- the header (section 3)
    bbox_min, bbox_max, extent = (floats(data, o, 4, "header") for o in (0x10, 0x20, 0x30))
    cell_size = floats(data, 0x40, 3, "header")
    word_4c, nv, nt, p_vertices, p_triangles, p_spheres = unpack(data, 0x4C, "IHHIII", "header")
    words_60 = unpack(data, 0x60, "4I", "header")
    nx, ny, nz, outside, p_cells = unpack(data, 0x70, "4BI", "header")
    words_78 = unpack(data, 0x78, "2I", "header")
    require(np.isfinite(bbox_min[:3]).all() and np.isfinite(bbox_max[:3]).all(), "bbox is not finite")
    require((bbox_min[:3] <= bbox_max[:3]).all(), "bbox min > max")
    require((cell_size > 0).all() and np.isfinite(cell_size).all(), "cell size is not positive", cell_size)
    require(nx and ny and nz, "an axis of the grid has no cells", nx, ny, nz)
    if strict:
        require(
            bbox_min[3] == 1 and bbox_max[3] == 1 and extent[3] == 0, "fourth words of bbox and extent are not 1, 1, 0"
        )
        require(
            np.allclose(extent[:3], bbox_max[:3].astype(float) - bbox_min[:3], rtol=2e-7, atol=0),
            "extent is not max - min",
            extent,
        )

    def block(pointer, length, what):
        """File offset of a block; every pointer is relative to 0x10 and a used one is never null."""
        require(pointer != 0, f"pointer to {what} is null")
        offset = 16 + pointer
        require(offset >= 0x80 and offset + length <= end, f"{what} lie outside the payload", offset, length)
        return offset

    at = dict(
        spheres=block(p_spheres, 16 * nt, "spheres"),
        vertices=block(p_vertices, 12 * nv, "vertices"),
        triangles=block(p_triangles, 6 * nt, "triangles"),
        cells=block(p_cells, 32 * nx * ny * nz, "cells"),
    )
    require(at["spheres"] == 0x80 or not strict, "0x5C doesn't resolve to 0x80", at["spheres"])
    require(
        at["vertices"] % 4 == 0 and at["cells"] % 4 == 0 and at["triangles"] % 2 == 0,
        "a block is not aligned to its words",
    )
    spheres = floats(data, at["spheres"], 4 * nt, "spheres").reshape(nt, 4)
    vertices = floats(data, at["vertices"], 3 * nv, "vertices").reshape(nv, 3)
    triangles = np.array(unpack(data, at["triangles"], f"{3 * nt}H", "triangles"), dtype=np.uint16).reshape(nt, 3)
    require(nt == 0 or int(triangles.max()) < nv, "a triangle uses a vertex that isn't there")
    require(np.isfinite(vertices).all() and np.isfinite(spheres).all(), "a vertex or sphere is not finite")

    # -- cells, lists, indices
    cells, required, ends = [], [0x54, 0x58, 0x5C, 0x74], []
    for number in range(nx * ny * nz):
        offset = at["cells"] + 32 * number
        x, y, z, state, count, pointer, word = unpack(data, offset, "4B3I", "cell")
        cell = Cell(x=x, y=y, z=z, state=state, count=count, pointer=pointer, word_0c=word, lists=[])
        cell.sphere = floats(data, offset + 16, 4, "cell")
        cells.append(cell)
        where = f"cell {number}"
        require(state in (0, 1, 2), f"{where}: fill state is not 0, 1 or 2", state)
        require(
            count == 0 or state == 1, f"{where}: holds triangles but its fill state is not 1: sweeps skip it", state
        )
        if strict:
            require(
                (x, y, z) == (number % nx, number // nx % ny, number // nx // ny),
                f"{where}: its own coordinates are wrong",
            )
            require(count or state != 1, f"{where}: fill state 1 without a list")
        if count:
            required.append(offset + 8)
            first = block(pointer, 32 * count, f"{where}: lists")
            require(first % 4 == 0, f"{where}: list records are not aligned to words", first)
        for k in range(count):
            record = first + 32 * k
            n, p_indices, *words8 = unpack(data, record, "4I", "list")
            indices = block(p_indices, 2 * n, f"{where}: indices")
            require(indices % 2 == 0, f"{where}: indices at an odd offset", indices)
            required.append(record + 4)
            ends.append((record, indices, indices + 2 * n))
            listed = list(unpack(data, indices, f"{n}H", "indices"))
            require(
                all(i < nt for i in listed),
                f"{where}: lists a triangle that isn't there",
                *[i for i in listed if i >= nt],
            )
            sphere = floats(data, record + 16, 4, "list")
            require(
                np.isfinite(sphere).all() and sphere[3] >= 0, f"{where}: list sphere is not finite or negative", sphere
            )
            cell.lists.append(List(offset=record, sphere=sphere, indices=listed, words8=words8))

    # -- relocation: exactly the pointers, each once. Two cells may share list records, hence the set.
    missing, extra = sorted(set(required) - set(slots)), sorted(set(slots) - set(required))
    require(not missing, "POF0: pointers that are not relocated", *missing[:5])
    require(not extra, "POF0: words that are relocated but hold no pointer", *extra[:5])

    # -- order and packing of the blocks (section 3, the table at the header)
    at["lists"] = min((r for r, _, _ in ends), default=at["cells"] + 32 * len(cells))
    at["indices"] = min((i for _, i, _ in ends), default=at["lists"])
    at["end"] = max((e for _, _, e in ends), default=at["lists"])
    if strict:
        require(at["vertices"] == 0x80 + 16 * nt, "vertices don't follow the spheres", at["vertices"])
        require(
            at["triangles"] == at["vertices"] + padded(12 * nv),
            "triangles don't follow the vertices, padded to 16",
            at["triangles"],
        )
        require(
            at["cells"] == at["triangles"] + padded(6 * nt),
            "cells don't follow the triangles, padded to 16",
            at["cells"],
        )
        record, index = at["cells"] + 32 * len(cells), at["cells"] + 32 * len(cells) + 32 * len(ends)
        for this, indices, after in ends:
            require(this == record, "list records are not one behind the other in cell order", this, record)
            require(indices == index, "indices are not packed end to end", indices, index)
            record, index = record + 32, after

    return Col(
        magic=magic, payload_size=payload, flags=data[8:12], word_0c=word_0c,
        bbox_min=bbox_min, bbox_max=bbox_max, extent=extent, cell_size=cell_size, word_4c=word_4c, nv=nv, nt=nt,
        words_60=words_60, dims=(nx, ny, nz), outside=outside, words_78=words_78,
        vertices=vertices, triangles=triangles, spheres=spheres, cells=cells, at=at, gap=data[at["end"] : end],
        slots=slots, pof0=coded, pof0_shell=data[end : end + 16], tail=tail,
    )  # fmt: skip


def read_set(data):
    """Read a library as the game walks it (docs/FORMATS.md, section 4): one cursor, to the very end of the file.

    Also insists that the size word, which the game only logs, agrees with the walk (section 4).
    """
    data = bytes(data)
    meshes, cursor = [], 0
    while cursor != len(data):
        offset = cursor
        size, name_len = unpack(data, cursor, "II", "record")
        require(name_len != 0, "name_len 0 stops the game", offset)
        (raw_name,) = unpack(data, cursor + 8, f"{name_len}s", "name")
        require(b"\0" in raw_name, "name without NUL", offset, raw_name)
        require(name_len % 8 == 0, "name_len is no multiple of 8", offset, name_len)
        cursor += 8 + name_len
        nv, nt = unpack(data, cursor, "II", "counts")
        cursor += 8
        vertices = floats(data, cursor, 3 * nv, "vertices").reshape(nv, 3)
        cursor += 12 * nv
        triangles = np.array(unpack(data, cursor, f"{3 * nt}I", "triangles"), dtype=np.uint32).reshape(nt, 3)
        cursor += 12 * nt
        require(
            cursor == offset + 8 + size,
            "size word disagrees with name_len, nv and nt",
            offset,
            size,
            cursor - offset - 8,
        )
        require(nt == 0 or int(triangles.max()) < nv, "a triangle uses a vertex that isn't there", offset)
        require(np.isfinite(vertices).all(), "a vertex is not finite", offset)
        name = raw_name.split(b"\0")[0].decode("cp932")
        meshes.append(
            Mesh(offset=offset, size=size, raw_name=raw_name, name=name, vertices=vertices, triangles=triangles)
        )
    return meshes
