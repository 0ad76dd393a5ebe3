"""What the command line says about files, as plain data: descriptions, and the totals of many checks."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import numpy as np

from ..editing.surface_meshes import separate
from ..errors import FormatError, Severity
from ..formats import idxd, mcol
from ..formats.collision_set import CollisionSet
from ..formats.ipfb import Entry
from ..formats.mcol import Hull
from ..game.archive import Archive
from ..game.game_folder import hull_users
from ..game.stage_tables import Stage
from ..geometry.edges import edge_census
from ..geometry.surfaces import split, volumes
from ..rules.rule import Rule
from ..rules.severity import worst
from ..text import plural, printable
from . import check_table
from .check_archive import count_warning
from .checks import Check

SECTIONS_DESCRIBED = 200
"""How many sections of a table `info` describes; `list` has all."""

# --- descriptions ---------------------------------------------------------------------------------


def describe_hull(hull: Hull) -> dict:
    """Counts, box, grid and surfaces of a hull, ready for JSON."""
    grid = hull.grid
    states = np.bincount(hull.states, minlength=3)
    edges, _ = edge_census(hull.triangles)
    return {
        "vertices": len(hull.vertices),
        "triangles": len(hull.triangles),
        "euler_characteristic": len(hull.vertices) - len(edges) + len(hull.triangles),
        "box_minimum": grid.minimum.tolist(),
        "box_maximum": grid.maximum.tolist(),
        "cell_size": grid.cell_size.tolist(),
        "cells_along_x_y_z": list(grid.dimensions),
        "outside_the_box": "solid" if hull.outside_solid else "free",
        "cells": grid.cell_count,
        "cells_with_triangles": len(hull.occupied),
        "cells_in_free_space": int(states[mcol.FREE]),
        "cells_in_rock": int(states[mcol.SOLID]),
        "list_entries": int(hull.list_sizes.sum()),
        "surfaces": _describe_surfaces(hull),
    }


def _describe_surfaces(hull: Hull) -> list[dict]:
    volume = volumes(hull.vertices, hull.triangles, split(hull.triangles))
    return [
        {
            "name": surface.name,
            "vertices": len(surface.vertices),
            "triangles": len(surface.triangles),
            "faces": "outward" if volume[number] >= 0 else "inward",
        }
        for number, surface in enumerate(separate(hull))
    ]


def describe_set(library: CollisionSet) -> dict:
    """Counts of a collision set and of its families, ready for JSON."""
    families: dict[str, dict] = {}
    for part in library.parts:
        name = family(part.name)
        row = families.setdefault(name, {"name": name, "meshes": 0, "vertices": 0, "triangles": 0})
        row["meshes"] += 1
        row["vertices"] += len(part.vertices)
        row["triangles"] += len(part.triangles)
    return {
        "meshes": len(library.parts),
        "vertices": sum(len(part.vertices) for part in library.parts),
        "triangles": sum(len(part.triangles) for part in library.parts),
        "bytes_behind_the_last_mesh": len(library.trailing),
        "families": list(families.values()),
    }


def family(name: str) -> str:
    """The family of a mesh by its name: the prefix, or the stages' asteroids together."""
    if re.match(r"S\d\d_", name):
        return "stage asteroids"
    prefix, underscore, _ = name.partition("_")
    return prefix + underscore if underscore else "others"


def list_set(library: CollisionSet) -> list[dict]:
    """A row a mesh, in file order, ready for JSON."""
    return [
        {
            "name": part.name,
            "vertices": len(part.vertices),
            "triangles": len(part.triangles),
            "closed": bool((edge_census(part.triangles)[1] == 2).all()),
        }
        for part in library.parts
    ]


def describe_table(table: idxd.Table) -> dict:
    """Sections and rows of a table, ready for JSON. Of very many sections the first ones are described."""
    first, end = table.ranges()
    sections = table.section_records[:SECTIONS_DESCRIBED]
    about: dict[str, object] = {
        "strings": "UTF-16" if table.wide else "CP932",
        "rows": len(table.row_records),
        "sections": [
            {"name": check_table.shown(table, int(section["name"]), int(section["hash"])), "rows": rows}
            for section, rows in zip(sections, (end - first).tolist(), strict=False)
        ],
    }
    if len(sections) < len(table.section_records):
        about["sections_not_shown"] = len(table.section_records) - len(sections)
    return about


def list_table(table: idxd.Table) -> list[dict]:
    """A row of each key, by section, ready for JSON; see `table_check.contents`."""
    return [{"name": name, "value": value} for name, value in check_table.contents(table)]


def describe_archive(archive: Archive) -> dict:
    """Counts of entries and the data files of an archive, ready for JSON."""
    families: dict[str, dict] = {}
    for entry in archive.entries:
        name = archive.names.get(entry.hash)
        ending = os.path.splitext(name)[1].lower() if name else "without a known name"
        row = families.setdefault(ending, {"name": ending, "entries": 0, "stored_bytes": 0})
        row["entries"] += 1
        row["stored_bytes"] += entry.size
    warning = count_warning(archive.table)
    return {
        "entries": len(archive.entries),
        "entries_with_known_names": sum(entry.hash in archive.names for entry in archive.entries),
        "alignment": archive.table.alignment,
        "limit_of_a_data_file": archive.table.limit,
        "data_files": [{"name": os.path.basename(part.path), "bytes": part.size} for part in archive.parts.values()],
        "endings": sorted(families.values(), key=lambda row: row["name"]),
        **({"warning": warning} if warning else {}),
    }


def list_archive(archive: Archive) -> list[dict]:
    """A row an entry, in the table's order, ready for JSON. `bytes`: unpacked, None if the data can't be reached."""
    rows = []
    forms: dict[tuple[int, int], tuple[str, int | None]] = {}  # rows may share what they lead to
    for entry in archive.entries:
        place = (entry.position, entry.size)
        if place not in forms:
            forms[place] = _stored_form(archive, entry)
        stored_as, size = forms[place]
        rows.append(
            {
                "name": archive.names.get(entry.hash),
                "hash": f"{entry.hash:08x}",
                "stored_bytes": entry.size,
                "stored_as": stored_as,
                "bytes": size,
            }
        )
    return rows


def _stored_form(archive: Archive, entry: Entry) -> tuple[str, int | None]:
    try:
        unpacked = archive.unpacked_size(entry)
    except FormatError:
        return "unreadable", None
    return ("raw", entry.size) if unpacked is None else ("packed", unpacked)


PHASES_NAMED = 4
"""How many phases that use a hull `stage_lines` names before it says that there are more."""


def stage_lines(found: list[Stage]) -> list[str]:
    """The phases with their files in columns, how many there are, then how many phases use each hull."""
    rows = [
        [printable(text or "-") for text in (one.name, phase.name, phase.hull, phase.navigation, phase.set)]
        for one in found
        for phase in one.phases
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    users = hull_users(found)
    lines += ["", f"{plural(len(found), 'stage')}, {plural(len(rows), 'phase')}"]
    width = max((len(printable(name)) for name in users), default=0)
    for name, phases in users.items():
        named = ", ".join(" ".join(phase) for phase in phases[:PHASES_NAMED])
        more = ", …" if len(phases) > PHASES_NAMED else ""
        lines.append(printable(f"{printable(name):{width}}  {plural(len(phases), 'phase')}: {named}{more}"))
    return lines


# --- totals ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Total:
    """One check over many files: `missed` is the worst severity among those that failed it."""

    name: str
    good: int
    total: int
    missed: Severity | None
    median: float | None
    unit: str


def totals(checks_of_files: list[list[Check]]) -> list[Total]:
    """The checks of files of one kind added up, in the order in which the files have them."""
    by_rule: dict[Rule, list[Check]] = {}
    for checks in checks_of_files:
        for check in checks:
            by_rule.setdefault(check.rule, []).append(check)
    return [
        Total(
            checks[0].name,
            sum(check.good for check in checks),
            sum(check.total for check in checks),
            None if all(c.passed for c in checks) else worst(c.severity for c in checks if not c.passed),
            median([check.measured for check in checks if check.measured is not None]),
            checks[0].unit,
        )
        for checks in by_rule.values()
    ]


def median(measured: list[np.ndarray]) -> float | None:
    """The median of all values that are numbers, None without any."""
    values = np.concatenate([np.zeros(0), *measured])
    values = values[np.isfinite(values)]
    return float(np.median(values)) if len(values) else None
