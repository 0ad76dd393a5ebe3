"""What changed between two navigation volumes, in a modder's terms."""

from __future__ import annotations

import numpy as np
import pytest

from core.formats import regn, regn_contents
from core.inspect.diff_navigation import diff_navigations
from core.navigation.patch import patch
from tests.support.edited_hulls import edited
from tests.support.volumes import NO_WALL, ROCKS, decoded, hull, volume, with_pairs, written


def differences(a: bytes, b: bytes) -> list[str]:
    return [str(difference) for difference in diff_navigations(regn.decode(a), regn.decode(b))]


@pytest.mark.parametrize("name", [ROCKS, NO_WALL])
def test_the_same_bytes_have_no_difference(name: str) -> None:
    assert differences(volume(name), volume(name)) == []


def test_a_patch_is_described_by_its_clearances_and_cells() -> None:
    result = patch(regn.decode(volume()), hull(), edited("moved"), fill=False)
    clearances, cells = differences(volume(), result.data)
    assert clearances.startswith("clearances: ") and "lowered" in clearances and "raised" in clearances
    assert cells.endswith(f"no cell leads to {result.dropped:,} any more")


def test_a_grown_grid_is_described_first() -> None:
    result = patch(regn.decode(volume()), hull(), edited("grown"))
    found = differences(volume(), result.data)
    assert found[0] == "grid: box minimum: (-50000, -50000, -50000) -> (-60000, -60000, -60000)"
    assert "cells: 1,000 -> 1,728, numbered in another way" in found


def test_another_division_is_described_by_its_tetrahedra() -> None:
    found = differences(volume(ROCKS), volume(NO_WALL))
    removed, added = (int(text.split()[1].replace(",", "")) for text in found[:2])
    counts = [len(decoded(volume(name)).tetrahedra) for name in (ROCKS, NO_WALL)]
    assert found[0].endswith("removed") and found[1].endswith("added")
    assert counts[0] - removed == counts[1] - added < 100


def test_another_order_of_pairs_is_no_change_of_values() -> None:
    assert differences(volume(), with_pairs(volume(), [4, 2, 0, 5, 1, 3])) == [
        "clearances: the same in another order",
        "costs: the same in another order",
    ]


@pytest.mark.parametrize(
    ("records", "field", "value", "text"),
    [
        ("tetrahedra", "unknown_10", 5, "tetrahedra: another unknown 10 in 1"),
        ("faces", "unknown_2c", 5, "faces: another unknown 2c in 1"),
        ("faces", "centre", 1.0, "faces: another centre in 1"),
        ("tetrahedra", "number", 5, "tetrahedra: another number in 1"),
    ],
)
def test_a_field_of_a_record_is_named(records: str, field: str, value: float, text: str) -> None:
    graph = decoded(volume(NO_WALL))
    getattr(graph, records)[field][9] = value
    assert differences(volume(NO_WALL), written(graph, volume(NO_WALL))) == [text]


def test_words_of_the_header_and_bytes_that_nothing_reads() -> None:
    data = bytearray(volume(NO_WALL))
    data[0x4C] = 1
    assert differences(volume(NO_WALL), bytes(data)) == ["header: other words: unknown 4c"]
    data = bytearray(volume(NO_WALL))
    data[0x0F] = 1
    assert differences(volume(NO_WALL), bytes(data)) == [
        f"bytes: first difference at 0xF; {len(data):,} -> {len(data):,} bytes"
    ]


def test_a_file_whose_contents_cant_be_read_is_named() -> None:
    data = bytearray(volume(NO_WALL))
    at = regn.decode(bytes(data)).offsets.tetrahedra + 0x18
    data[at : at + 2] = b"\xff\xf0"
    (found,) = differences(volume(NO_WALL), bytes(data))
    assert found.startswith("contents: can't be compared, in the second file: tetrahedron 0")


def test_a_moved_vertex_makes_other_tetrahedra() -> None:
    graph = decoded(volume(NO_WALL))
    beside = int((graph.corners() == 5).any(axis=1).sum())
    graph.vertices[5] += np.float32(1)
    data = regn_contents.encode(graph, hull(NO_WALL).grid)
    found = differences(volume(NO_WALL), data)
    assert found[:2] == [f"tetrahedra: {beside:,} removed", f"tetrahedra: {beside:,} added"]
