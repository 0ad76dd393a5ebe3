"""docs/FORMATS.md against the code: fields of records, facts of the survey, examples of hashes and relocation codes."""

from __future__ import annotations

import importlib
import pkgutil
import re
import struct
from pathlib import Path

import numpy as np
import pytest

import core
from core.formats import collision_set, compression, ipfb
from core.formats.chunk import encode_slots
from core.formats.hashes import file_id, string_id, wide_string_id
from core.survey.runner import FACTS

TEXT = (Path(__file__).parents[1] / "docs" / "FORMATS.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\d+)\. [^\n]*\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S))
COLUMNS = "| offset | size | type | name | meaning | evidence | check |"
MARKS = re.compile(r"\b[MCDPIA]\b")

Field = tuple[int, int, str]
"""Offset from the start of the record, size in bytes, and the type's name without its count."""

KINDS = {"u1": "u8", "u2": "u16", "u4": "u32", "i4": "i32", "f4": "f32", "S4": "char"}


def rows_of(table: str) -> list[list[str]]:
    """The cells of a table's rows, without its head."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def layout_tables() -> list[list[list[str]]]:
    """The rows of each table that gives a record's fields."""
    blocks = re.findall(r"(?:^\|.*\n)+", TEXT, re.M)
    return [rows_of(block) for block in blocks if block.startswith(COLUMNS)]


def described(rows: list[list[str]]) -> dict[str, Field]:
    """The fields of a table whose size is a number, by name."""
    found = {}
    for offset, size, kind, name, *_ in rows:
        if size.isdigit() and offset.startswith(("0x", "+0x")):
            base = kind.partition("[")[0]
            found[name.strip("`")] = (int(offset, 16), int(size), "u32" if base == "ptr" else base)
    first = min((offset for offset, _, _ in found.values()), default=0)
    return {name: (offset - first, size, kind) for name, (offset, size, kind) in found.items()}


def declared() -> dict[str, dict[str, Field]]:
    """The fields of each record that a module of the package declares as a dtype, by the record's place in the code."""
    found: dict[str, dict[str, Field]] = {}
    for module in pkgutil.walk_packages(core.__path__, "core."):
        if module.name.endswith("__main__"):
            continue
        for name, dtype in vars(importlib.import_module(module.name)).items():
            if isinstance(dtype, np.dtype) and dtype.fields and all(kind.str[0] != "<" for kind in leaves(dtype)):
                found[f"{module.name}.{name}"] = {
                    field: (at, kind.itemsize, "pair" if kind.base.fields else KINDS[kind.base.str[1:]])
                    for field, (kind, at, *_) in dtype.fields.items()
                }
    return found


def leaves(dtype: np.dtype) -> list[np.dtype]:
    """The types of a record's fields, without their counts."""
    return [kind.base for kind, *_ in (dtype.fields or {}).values()]


def lines(text: str, count: int) -> list[tuple[str, ...]]:
    """Rows whose first cell is code or a list of offsets and whose others are hexadecimal, with so many cells."""
    return [
        tuple(cell.strip("`") for cell in row)
        for row in (rows_of("\n\n" + line)[0] for line in re.findall(r"^\|.*\|$", text, re.M))
        if len(row) == count and all(re.fullmatch(r"[0-9a-f ]{2,}", cell) for cell in row[1:])
    ]


def test_each_record_of_the_code_has_a_table_with_its_fields() -> None:
    tables = [described(rows) for rows in layout_tables()]
    assert len(declared()) > 12
    assert [place for place, fields in declared().items() if fields not in tables] == []


@pytest.mark.parametrize(
    ("layout", "names"),
    [
        (ipfb.HEADER, ["magic", "count", "alignment", "limit"]),
        (ipfb.ENTRY, ["hash", "position", "size"]),
        (compression.PACKED, ["magic", "size", "adler"]),
        (collision_set.HEAD, ["size", "name_length"]),
    ],
    ids=["archive", "row of an archive", "packed entry", "part of a set"],
)
def test_each_structure_of_the_code_has_a_table_with_its_fields(layout: struct.Struct, names: list[str]) -> None:
    codes = re.findall(r"\d*s|I", layout.format)
    sizes = [struct.calcsize(f">{code}") for code in codes]
    offsets = [sum(sizes[:place]) for place in range(len(sizes))]
    kinds = ["u32" if code == "I" else "char" for code in codes]
    assert dict(zip(names, zip(offsets, sizes, kinds, strict=True), strict=True)) in map(described, layout_tables())


def test_each_field_with_a_meaning_has_evidence() -> None:
    rows = [row for rows in layout_tables() for row in rows]
    assert len(rows) > 80
    assert [row for row in rows if row[4] and row[3] and not MARKS.search(row[5])] == []


def test_the_marks_are_those_of_the_survey() -> None:
    marks = re.findall(r"^\| ([A-Z]) \| \*\*", TEXT, re.M)
    assert {fact.mark for fact in FACTS} <= set(marks)
    assert len(marks) == len(set(marks))


def test_the_facts_that_the_document_names_are_those_of_the_survey() -> None:
    named = set(re.findall(r"\bF\d\d+\b", TEXT))
    for first, last in re.findall(r"\bF(\d+) to F(\d+)\b", TEXT):
        inside = [fact.number for fact in FACTS if int(first) <= int(fact.number[1:]) <= int(last)]
        assert {f"F{first}", f"F{last}"} <= set(inside)
        named.update(inside)
    assert named == {fact.number for fact in FACTS}


def test_the_examples_of_file_ids_are_right() -> None:
    examples = lines(SECTIONS["6"], 2)
    assert len(examples) == 6
    assert examples == [(name, f"{file_id(name):08x}") for name, _ in examples]


def test_the_ids_of_the_games_hulls_are_those_of_their_names() -> None:
    rows = re.findall(r"^\| `([^`|]+)` \| ([0-9a-f]{8}) \|", SECTIONS["3"], re.M)
    assert len(rows) == 11
    assert rows == [(name, f"{file_id(name + '.col'):08x}") for name, _ in rows]


def test_the_examples_of_key_hashes_are_right() -> None:
    examples = lines(SECTIONS["7"], 3)
    assert len(examples) == 5
    assert examples == [(text, f"{string_id(text):08x}", f"{wide_string_id(text):08x}") for text, *_ in examples]


def test_the_hash_that_stage_tables_begin_with_is_that_of_its_name() -> None:
    assert f"first section has the hash {string_id('StageResource'):08x}" in " ".join(SECTIONS["7"].split())


def test_the_examples_of_relocation_codes_are_right() -> None:
    examples = lines(SECTIONS["2"], 2)
    assert len(examples) == 3
    for slots, codes in examples:
        assert encode_slots(np.array([int(slot, 16) for slot in slots.split(", ")])) == bytes.fromhex(codes)


@pytest.mark.parametrize("text", ["", "x", "StageResource", "CollisionMeshes", "ア", "イオン砲"])
def test_the_recipes_of_the_hashes_give_the_codes_results(text: str) -> None:
    recipes = re.findall(r"(?:^    .*\n)+", SECTIONS["6"] + SECTIONS["7"], re.M)
    data = text.encode("cp932")
    units = [unit for (unit,) in struct.iter_unpack(">H", text.encode("utf-16-be"))]
    signed = [byte - 256 if byte > 127 else byte for byte in data]
    results = [run(recipe, values) for recipe, values in zip(recipes, (data.lower(), signed, units), strict=True)]
    assert results == [file_id(text), string_id(text), wide_string_id(text)]


def run(recipe: str, values: list[int] | bytes) -> int:
    """The result of one of the document's recipes, which are Python but for the names of two operators."""
    source = "\n".join(line[4:] for line in recipe.splitlines())
    source = source.replace("total = 0, h = 0", "total = h = 0").replace("^", "**").replace("modulo", "%")
    source = re.sub(r"for each [\w ]*\bc:", "for c in values:", source)
    source = re.sub(r"^(?:id|hash) =", "result =", source, flags=re.M)
    scope = {"values": values}
    exec(source, scope)
    return int(scope["result"])  # type: ignore[call-overload]


def cited() -> list[tuple[str, str, str]]:
    """The file, the sections and the heading, "" without one, of each reference to the document in code."""
    pattern = re.compile(r'docs/FORMATS\.md,\s+sections?\s+(\d+(?:(?:,| and| to)\s+\d+)*)(?:,\s+"([^"]+)")?')
    root = Path(core.__path__[0]).parent
    files = [path for room in ("core", "blender_addon", "tests", "tools") for path in (root / room).rglob("*.py")]
    return [
        (path.relative_to(root).as_posix(), sections, heading)
        for path in files
        for sections, heading in pattern.findall(path.read_text(encoding="utf-8"))
    ]


def test_each_section_that_code_cites_exists() -> None:
    assert len(cited()) > 60
    assert [place for place in cited() if not set(re.findall(r"\d+", place[1])) <= set(SECTIONS)] == []


def test_each_heading_that_code_cites_is_in_its_section() -> None:
    headings = [(path, sections, heading) for path, sections, heading in cited() if heading]
    assert len(headings) > 2
    assert [place for place in headings if not re.search(rf"^(?:### |\*\*){place[2]}", SECTIONS[place[1]], re.M)] == []
