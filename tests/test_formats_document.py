"""docs/FORMATS.md against the code: offsets and names of fields, numbers of the survey's facts, examples of hashes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from core.formats import chunk, idxd, mcol, regn
from core.formats.hashes import file_id, string_id
from core.survey.runner import FACTS

TEXT = (Path(__file__).parents[1] / "docs" / "FORMATS.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\d)\. [^\n]*\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S))
ROW = re.compile(r"^\| \+?0x([0-9A-F]+) \| ([^|]*) \| `(\w+)` \|", re.M)

RECORDS = [
    ("1", chunk.SHELL, 0x00),
    ("3", mcol.HEADER, 0x10),
    ("3", mcol.CELL, 0),
    ("3", mcol.LIST, 0),
    ("5", regn.HEADER, 0x10),
    ("5", regn.TETRAHEDRON, 0),
    ("5", regn.FACE, 0),
    ("5", regn.CELL, 0),
    ("5", regn.ITEM, 0),
    ("7", idxd.SECTION, 0),
    ("7", idxd.ROW, 0),
]
"""Each layout that the code declares as a dtype, the section with its table, and where the first field lies."""


def tables(section: str) -> list[dict[str, tuple[int, str]]]:
    """The tables of a section as name → offset and type."""
    found = [ROW.findall(block) for block in re.split(r"\n(?!\|)", SECTIONS[section])]
    return [{name: (int(offset, 16), kind) for offset, kind, name in rows} for rows in found if rows]


def size_of(kind: str) -> int:
    """The bytes of a type such as `u16[4]`, `ptr` or `f32[2] · 6`."""
    name, count, times = re.fullmatch(r"(\w+?)(?:\[(\d+)\])?(?: · (\d+))?", kind).groups()
    return {"u8": 1, "char": 1, "u16": 2}.get(name, 4) * int(count or 1) * int(times or 1)


@pytest.mark.parametrize("section, dtype, start", RECORDS, ids=lambda value: str(value)[:40])
def test_each_field_is_in_its_sections_table(section: str, dtype: np.dtype, start: int) -> None:
    fields = {name: (start + offset, kind.itemsize) for name, (kind, offset) in dtype.fields.items()}
    described = [{name: (offset, size_of(kind)) for name, (offset, kind) in table.items()} for table in tables(section)]
    assert fields in described


def test_each_fact_that_is_named_exists() -> None:
    named = set(re.findall(r"\bF\d\d+\b", TEXT))
    assert len(named) > 70
    assert sorted(named - {fact.number for fact in FACTS}) == []


def test_the_examples_of_file_ids_are_right() -> None:
    rows = re.findall(r"^\| `([^`|]+)` \| ([0-9a-f]{8}) \|$", SECTIONS["6"], re.M)
    assert len(rows) == 4
    assert {name: f"{file_id(name):08x}" for name, _ in rows} == dict(rows)


def test_the_ids_of_the_games_hulls_are_those_of_their_names() -> None:
    rows = re.findall(r"^\| `([^`|]+)` \| ([0-9a-f]{8}) \|", SECTIONS["3"], re.M)
    assert len(rows) == 11
    assert {name: f"{file_id(name + '.col'):08x}" for name, _ in rows} == dict(rows)


def test_the_schema_word_is_the_hash_of_its_name() -> None:
    assert f"{string_id('StageResource'):08x}" in SECTIONS["7"]
