"""What a navigation volume is: counts, regions of free space, pairs; and the regions as meshes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from ..formats import obj, regn_contents
from ..formats.regn import Navigation
from ..formats.regn_contents import Graph
from ..geometry.tetrahedra import volumes

REGIONS_DESCRIBED = 200
"""How many regions `info` describes; `obj` writes all."""


def describe_navigation(navigation: Navigation) -> dict:
    """Counts, box and grid of a volume, and what its contents are if they can be read, ready for JSON."""
    about = {
        **navigation.counts._asdict(),
        "box_minimum": navigation.minimum.tolist(),
        "box_maximum": navigation.maximum.tolist(),
        "cell_size": navigation.cell_size.tolist(),
        "cells_along_x_y_z": None if navigation.dimensions is None else list(navigation.dimensions),
    }
    try:
        return about | _describe_contents(regn_contents.decode(navigation))
    except FormatError as error:
        return about | {"contents": f"can't be read: {error}"}


def _describe_contents(graph: Graph) -> dict:
    clearance = graph.tetrahedra["pairs"]["clearance"].astype(np.float64)
    clearance = clearance[np.isfinite(clearance)]
    named = np.bincount(graph.tetrahedra["faces"].ravel(), minlength=len(graph.faces))
    led_to = np.zeros(len(graph.tetrahedra), bool)
    led_to[graph.references] = True
    size = _sizes(graph)
    regions = by_size(graph, size)
    about: dict = {
        "border_faces": int((named == 1).sum()),
        "cells_with_tetrahedra": int((graph.cells > 0).sum()),
        "tetrahedra_without_a_cell": int((~led_to).sum()),
        "volume": float(size.sum()),
        "least_clearance": float(clearance.min(initial=np.inf)) if len(clearance) else None,
        "greatest_clearance": float(clearance.max(initial=0.0)) if len(clearance) else None,
        "order_of_the_pairs": f"open, {graph.order.reason}" if graph.order.may.all() else graph.order.text,
        "regions": [
            {"name": region_name(place), "tetrahedra": len(own), "volume": float(size[own].sum())}
            for place, own in enumerate(regions[:REGIONS_DESCRIBED])
        ],
    }
    if len(regions) > REGIONS_DESCRIBED:
        about["regions_not_shown"] = len(regions) - REGIONS_DESCRIBED
    return about


def _sizes(graph: Graph) -> NDArray[np.float64]:
    """The volume of each tetrahedron, 0 where it has none, float64 (m,)."""
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.abs(volumes(graph.shapes()))
    return np.where(np.isfinite(size), size, 0.0)


def by_size(graph: Graph, size: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """The tetrahedra of each region, the one of the largest volume first."""
    region = graph.regions()
    total = np.bincount(region, size)
    order = np.argsort(region, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(region))[:-1]) if len(region) else []
    return [members[number] for number in np.argsort(-total, kind="stable").tolist()]


def region_name(place: int) -> str:
    """What the region with so many larger ones before it is called."""
    return f"region_{place + 1:02}"


def region_meshes(navigation: Navigation, stem: str) -> list[obj.Mesh]:
    """The surface of each region as a mesh, `stem.region_01` and so on, the largest first. Its triangles face away from
    the free space inside.

    Raises `FormatError` if the contents can't be read, or hold no places.
    """
    graph = regn_contents.decode(navigation)
    named = graph.tetrahedra["faces"].astype(np.int64)
    once = np.bincount(named.ravel(), minlength=len(graph.faces))[named] == 1
    if not np.isfinite(graph.vertices).all():
        raise FormatError("a vertex is no place", expected="finite numbers", remedy="`verify` says more")
    middle = graph.shapes().mean(axis=1)
    meshes = []
    for place, own in enumerate(by_size(graph, _sizes(graph))):
        row, column = np.nonzero(once[own])
        triangles = graph.faces["vertices"][named[own[row], column]].astype(np.int64)
        a, b, c = np.moveaxis(graph.vertices.astype(np.float64)[triangles], 1, 0)
        inward = np.einsum("ni,ni->n", np.cross(b - a, c - a), a - middle[own[row]]) < 0
        triangles[inward] = triangles[inward][:, ::-1]
        used, corners = np.unique(triangles, return_inverse=True)
        name = f"{stem}.{region_name(place)}"
        meshes.append(obj.Mesh(name, graph.vertices[used], corners.reshape(-1, 3).astype(np.int64)))
    return meshes
