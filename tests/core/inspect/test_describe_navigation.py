"""What a navigation volume is: counts and regions, and the regions' surfaces as meshes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.editing.rebuild_hull import build as build_hull
from core.errors import FormatError
from core.formats import regn, regn_contents
from core.geometry.edges import edge_census
from core.geometry.surfaces import split, volumes
from core.inspect.describe_navigation import describe_navigation, region_meshes
from core.navigation.build import build
from tests.support.hulls import box, cubic_grid
from tests.support.volumes import NO_WALL, ROCKS, decoded, hull, volume, with_pairs


def two_rooms() -> tuple[regn.Navigation, list[float]]:
    """Two rooms in solid rock, which nothing connects, and their volumes."""
    ends = [((-40, -40, -40), (-5, 40, 40)), ((10, -40, -40), (40, 40, 40))]
    shapes = [box(*map(np.float32, corners), inward=True) for corners in ends]
    vertices = np.concatenate([places for places, _ in shapes])
    triangles = np.concatenate([corners + 8 * number for number, (_, corners) in enumerate(shapes)])
    one = build_hull(vertices, triangles, cubic_grid(50, 5), True)
    data = regn_contents.encode(build(one), one.grid)
    return regn.decode(data), [float(np.prod(np.subtract(high, low))) for low, high in ends]


def test_each_part_of_free_space_is_a_region() -> None:
    navigation, sizes = two_rooms()
    about = describe_navigation(navigation)
    assert [region["name"] for region in about["regions"]] == ["region_01", "region_02"]
    assert [region["volume"] for region in about["regions"]] == pytest.approx(sizes)
    assert about["volume"] == pytest.approx(sum(sizes)) and about["tetrahedra_without_a_cell"] == 0
    assert sum(region["tetrahedra"] for region in about["regions"]) == about["tetrahedra"]


def test_a_region_is_the_closed_surface_of_its_free_space() -> None:
    navigation, sizes = two_rooms()
    meshes = region_meshes(navigation, "map")
    assert [mesh.name for mesh in meshes] == ["map.region_01", "map.region_02"]
    for mesh, size in zip(meshes, sizes, strict=True):
        assert (edge_census(mesh.triangles)[1] == 2).all()
        assert volumes(mesh.vertices, mesh.triangles, split(mesh.triangles)).sum() == pytest.approx(size)


@pytest.mark.parametrize("name", [ROCKS, NO_WALL])
def test_the_regions_of_a_map_add_up_to_its_free_space(name: str) -> None:
    one = hull(name)
    rock = float(volumes(one.vertices, one.triangles, split(one.triangles)).sum())
    inside = float(np.prod(one.grid.maximum.astype(float) - one.grid.minimum))
    free = -rock if one.outside_solid else inside - rock
    assert describe_navigation(regn.decode(volume(name)))["volume"] == pytest.approx(free, rel=1e-6)


def test_the_order_of_the_pairs_is_described() -> None:
    assert describe_navigation(regn.decode(volume()))["order_of_the_pairs"] == "01 02 03 12 13 23"
    other = with_pairs(volume(), [4, 2, 0, 5, 1, 3])
    assert describe_navigation(regn.decode(other))["order_of_the_pairs"] == "13 03 01 23 02 12"
    unknown = describe_navigation(regn.decode(with_pairs(volume(), list(range(6)), 0.0)))
    assert unknown["order_of_the_pairs"] == "open, costs aren't distances in any order"


def test_a_volume_with_unreadable_contents_is_described_by_its_header() -> None:
    navigation = regn.decode(volume(NO_WALL))
    contents = bytearray(navigation.carried.contents)
    at = navigation.offsets.tetrahedra + 0x18 - regn.HEADER_END
    contents[at : at + 2] = b"\xff\xf0"
    broken = replace(navigation, carried=replace(navigation.carried, contents=bytes(contents)))
    about = describe_navigation(broken)
    assert "can't be read: tetrahedron 0 names one of the faces" in about["contents"] and about["cells"] == 1000
    with pytest.raises(FormatError, match="tetrahedron 0"):
        region_meshes(broken, "map")


def test_a_vertex_that_is_no_place_has_no_mesh() -> None:
    graph = decoded(volume(NO_WALL))
    graph.vertices[3, 1] = np.nan
    navigation = regn.decode(regn_contents.encode(graph, hull(NO_WALL).grid))
    assert describe_navigation(navigation)["regions"]
    with pytest.raises(FormatError, match="no place"):
        region_meshes(navigation, "map")
