"""Navigation volumes for tests: rebuilt from hulls of tests/data, and changed in the way of other files."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from core.formats import mcol, regn, regn_contents
from core.formats.mcol import Hull
from core.formats.regn_contents import Graph
from core.navigation.build import build
from tests.support.hulls import DATA

ROCKS = "S13_AsteroidVolume_wp"
NO_WALL = "S01_AsteroidVolume_wp"


@functools.cache
def hull(name: str = ROCKS) -> Hull:
    return mcol.decode((DATA / f"{name}.col").read_bytes())


@functools.cache
def volume(name: str = ROCKS) -> bytes:
    one = hull(name)
    return regn_contents.encode(build(one), one.grid)


def decoded(data: bytes) -> Graph:
    return regn_contents.decode(regn.decode(data))


def written(graph: Graph, data: bytes) -> bytes:
    """The file with the records of a graph that was decoded from it."""
    return regn_contents.write_back(graph, regn.decode(data), np.zeros(len(graph.tetrahedra), bool))


def with_pairs(data: bytes, order: list[int], costs: float | None = None, clearances: float | None = None) -> bytes:
    """The file with its pairs of cost and clearance reordered, and with one value for all costs or clearances."""
    graph = decoded(data)
    tetrahedra = graph.tetrahedra.copy()
    tetrahedra["pairs"] = graph.tetrahedra["pairs"][:, order]
    for name, value in (("cost", costs), ("clearance", clearances)):
        if value is not None:
            tetrahedra["pairs"][name] = value
    return written(replace(graph, tetrahedra=tetrahedra), data)
