"""What the command line tells of files, as plain data: descriptions, and the totals of many checks."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from . import mcol
from .collision_set import CollisionSet
from .counted import Check
from .errors import Severity
from .geometry import edge_census
from .mcol import Hull
from .separate import separate
from .surfaces import split, volumes

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
    """Counts of a library and of its families, ready for JSON."""
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
    by_name: dict[str, list[Check]] = {}
    for checks in checks_of_files:
        for check in checks:
            by_name.setdefault(check.name, []).append(check)
    return [
        Total(
            name,
            sum(check.good for check in checks),
            sum(check.total for check in checks),
            None if all(check.passed for check in checks) else checks[0].severity,
            median([check.measured for check in checks if check.measured is not None]),
            checks[0].unit,
        )
        for name, checks in by_name.items()
    ]


def median(measured: list[np.ndarray]) -> float | None:
    """The median of all values that are numbers, None without any."""
    values = np.concatenate([np.zeros(0), *measured])
    values = values[np.isfinite(values)]
    return float(np.median(values)) if len(values) else None
