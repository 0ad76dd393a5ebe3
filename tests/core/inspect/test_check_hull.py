"""Checks: sound files pass all of them, each fault is found by the check that is meant for it, with its place."""

from dataclasses import replace

import numpy as np
import pytest

from core.editing.rebuild_hull import build
from core.errors import Severity
from core.formats import mcol
from core.inspect import check_hull
from core.inspect.checks import Check
from core.inspect.stored import as_stored, carried, cell_records
from tests.support.hulls import HULLS, LARGE, box, cubic_grid, read, rock

QUIRKS_TO_WARN_OF = {"S13_missing.col": ["overlapping triangles that the cell lists"]}


def hull(name="test.col"):
    return mcol.decode(read(name))


def by_name(checks: list[Check]) -> dict[str, Check]:
    names = [one.name for one in checks]
    assert len(names) == len(set(names))
    return dict(zip(names, checks, strict=True))


def failed(checks: list[Check], severity=None) -> list[str]:
    return [one.name for one in checks if not one.passed and severity in (None, one.severity)]


# --- hulls ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", HULLS, ids=lambda path: path.name)
def test_sound_hulls_have_no_faults(path):
    checks = check_hull.check_hull(mcol.decode(path.read_bytes()))
    assert failed(checks, Severity.ERROR) == []
    assert failed(checks, Severity.WARNING) == QUIRKS_TO_WARN_OF.get(path.name, [])


def test_figures_of_s14_p1():
    checks = by_name(check_hull.check_hull(hull(LARGE)))
    assert checks["edges shared by exactly two triangles"].total == 1386
    assert checks["vertices that a triangle uses"].total == 502
    tight = checks["spheres tight within 1 %"]
    assert (tight.good, tight.total) == (924, 924)
    # The builder's factor is 1.0001.
    assert np.median(tight.measured) == pytest.approx(0.99990, abs=5e-6)
    slots = checks["relocated words exactly those of the layout"]
    assert slots.total == 4 + 2 * checks["fill state 1 in cells with a list"].total


def test_the_missing_entries_are_named():
    checks = by_name(check_hull.check_hull(hull("quirks/S13_missing.col")))
    missing = checks["overlapping triangles that the cell lists"]
    assert missing.total - missing.good == 3
    assert missing.elements == (356, 357, 358)
    assert missing.finding.severity is Severity.WARNING
    assert "(6, 5, 3): triangle " in missing.finding.message
    assert missing.finding.message.count(" units deep") == 3
    inexact = checks["cells that list exactly the overlapping triangles"]
    assert inexact.elements == (356, 357, 358)


def test_extra_entries_are_told_but_no_fault():
    checks = by_name(check_hull.check_hull(hull("test.col")))
    extra = checks["list entries that overlap their cell"]
    assert extra.total - extra.good == 1
    assert extra.severity is Severity.INFO


def test_unknown_words_are_told_but_no_fault():
    checks = by_name(check_hull.check_hull(hull("quirks/test_words_sharedgap.col")))
    assert not checks["unread words at their usual value"].passed
    assert not checks["bytes between arrays that are zero"].passed


def test_several_lists_in_a_cell_are_told_but_no_fault():
    checks = by_name(check_hull.check_hull(hull("quirks/test_descending_multilist.col")))
    several = checks["occupied cells with one list record"]
    assert several.total - several.good == 23
    assert several.labels[0] == "(4, 0, 0)"


def without_entry(source):
    """The first list one entry shorter."""
    sizes = source.list_sizes.copy()
    sizes[0] -= 1
    return replace(source, list_sizes=sizes)


def without_entries(source):
    """The first nine lists of several entries one entry shorter."""
    sizes = source.list_sizes.copy()
    sizes[np.flatnonzero(sizes > 1)[:9]] -= 1
    return replace(source, list_sizes=sizes)


def with_array(name, place, value):
    def change(source):
        array = getattr(source, name).copy()
        array[place] = value
        return replace(source, **{name: array})

    return change


def turned(number):
    def change(source):
        triangles = source.triangles.copy()
        triangles[number] = triangles[number][..., ::-1]
        return replace(source, triangles=triangles)

    return change


def with_header(name, value):
    def change(source):
        header = source.carried.header.copy()
        header[name] = value
        return replace(source, carried=replace(source.carried, header=header))

    return change


def smaller(name, place, factor=0.9):
    def change(source):
        spheres = getattr(source, name).copy()
        spheres[place, 3] *= factor
        return replace(source, **{name: spheres})

    return change


def larger_sphere(source):
    spheres = source.spheres.copy()
    spheres[5, 3] *= 1.02
    return replace(source, spheres=spheres)


def another_position(source):
    cells = source.carried.cells.copy()
    cells["position"][7] = 9
    return replace(source, carried=replace(source.carried, cells=cells))


def unused_vertex(source):
    return replace(source, vertices=np.concatenate((source.vertices, np.zeros((1, 3), np.float32))))


WALL = slice(48, 60)


@pytest.mark.parametrize(
    ("change", "name", "severity", "elements"),
    [
        (without_entry, "overlapping triangles that the cell lists", Severity.WARNING, (0,)),
        (without_entries, "overlapping triangles that the cell lists", Severity.ERROR, None),
        (with_array("states", 0, 0), "fill state 1 in cells with a list", Severity.ERROR, (0,)),
        (with_array("states", 0, 2), "fill state 1 in cells with a list", Severity.ERROR, (0,)),
        (with_array("states", 225, 2), "fill state 2 in rock, 0 in free space elsewhere", Severity.WARNING, (225,)),
        (smaller("spheres", 5), "spheres that enclose their triangle", Severity.ERROR, (5,)),
        (with_array("spheres", 5, np.nan), "spheres that enclose their triangle", Severity.ERROR, (5,)),
        (larger_sphere, "spheres tight within 1 %", Severity.INFO, (5,)),
        (smaller("list_spheres", 3, 0.1), "list spheres that enclose their triangles", Severity.ERROR, (3,)),
        (smaller("list_spheres", 3), "list spheres that enclose their triangles wholly", Severity.INFO, (3,)),
        (smaller("spheres", 5, 1 / 1.0001001), "spheres that leave room for rounding", Severity.WARNING, (5,)),
        (smaller("cell_spheres", 3), "cell sphere == list sphere", Severity.INFO, (3,)),
        (turned(5), "triangles wound like their surface", Severity.ERROR, (5,)),
        (turned(WALL), "surfaces whose front faces free space", Severity.WARNING, None),
        (unused_vertex, "vertices that a triangle uses", Severity.ERROR, (34,)),
        (with_array("vertices", (0, 0), 99999), "vertices inside the box", Severity.ERROR, (0,)),
        (with_array("vertices", (0, 0), 50000.01), "vertices inside the box", Severity.WARNING, (0,)),
        (with_header("minimum_w", 0), "box pad words 1.0, 1.0, 0.0", Severity.INFO, ()),
        (with_header("extent", 1), "extent == max - min", Severity.INFO, ()),
        (with_header("unknown_60", 1), "unread words at their usual value", Severity.INFO, ()),
        (another_position, "cell records that carry their own position", Severity.INFO, (7,)),
        (with_array("indices", 0, 7), "overlapping triangles that the cell lists", Severity.WARNING, (0,)),
    ],
)
def test_a_fault_is_found_where_it_is(change, name, severity, elements):
    found = by_name(check_hull.check_hull(change(hull())))[name]
    assert not found.passed
    assert found.finding.severity is severity
    assert elements is None or found.elements == elements


def test_an_open_edge_and_what_follows_from_it():
    source = hull()
    triangles = source.triangles.copy()
    lost = set(triangles[10].tolist())
    triangles[10] = triangles[11]
    checks = by_name(check_hull.check_hull(replace(source, triangles=triangles)))
    edges = checks["edges shared by exactly two triangles"]
    assert edges.severity is Severity.ERROR
    assert edges.kind == "vertex"
    assert lost <= set(edges.elements)
    assert checks["triangles unlike every other"].elements == (10, 11)


def test_a_triangle_without_area():
    source = hull()
    triangles = source.triangles.copy()
    triangles[10, 1] = triangles[10, 0]
    found = by_name(check_hull.check_hull(replace(source, triangles=triangles)))["triangles with an area"]
    assert found.elements == (10,)
    assert found.severity is Severity.ERROR


def test_an_entry_named_twice_is_told_but_no_fault():
    source = hull()
    assert source.list_sizes[0] > 1
    indices = source.indices.copy()
    indices[1] = indices[0]
    found = by_name(check_hull.check_hull(replace(source, indices=indices)))["list entries named once in their cell"]
    assert (found.total - found.good, found.severity) == (1, Severity.INFO)


def test_more_vertices_than_triangles():
    vertices = np.concatenate((hull().vertices, np.zeros((30, 3), np.float32)))
    found = by_name(check_hull.check_hull(replace(hull(), vertices=vertices)))["no more vertices than triangles"]
    assert found.finding.severity is Severity.ERROR


def test_a_surface_in_rock_is_a_warning():
    outer, inner = rock((0, 0, 0), 20000), rock((0, 0, 0), 3000)
    source = build(*outer, cubic_grid(25000, 5), False)
    vertices = np.concatenate((outer[0], inner[0]))
    triangles = np.concatenate((outer[1], inner[1] + len(outer[0])))
    both = replace(source, vertices=vertices, triangles=triangles.astype(np.uint16))
    spheres = np.zeros((len(triangles), 4), np.float32)
    checks = by_name(check_hull.check_hull(replace(both, spheres=spheres)))
    found = checks["surfaces that touch free space"]
    assert found.severity is Severity.WARNING
    assert found.labels == ("asteroid_02",)
    assert checks["surfaces whose front faces free space"].passed


def test_a_hull_from_nothing_is_checked_as_the_file_that_it_becomes():
    source = build(*box([-25000] * 3, [25000] * 3, inward=True), cubic_grid(25000, 5), True)
    assert source.carried is None
    checks = check_hull.check_hull(source)
    assert failed(checks) == []
    assert by_name(checks)["cell records that carry their own position"].total == 125


def test_a_hull_without_triangles_is_worth_a_warning():
    source = hull()
    nothing = np.zeros(0, np.int64)
    empty = replace(
        source,
        vertices=np.zeros((0, 3), np.float32),
        triangles=np.zeros((0, 3), np.uint16),
        spheres=np.zeros((0, 4), np.float32),
        states=np.zeros_like(source.states),
        occupied=nothing,
        cell_spheres=np.zeros((0, 4), np.float32),
        first_list=nothing,
        list_counts=nothing,
        list_starts=nothing,
        list_sizes=nothing,
        list_spheres=np.zeros((0, 4), np.float32),
        indices=np.zeros(0, np.uint16),
    )
    assert failed(check_hull.check_hull(empty), Severity.ERROR) == []
    assert failed(check_hull.check_hull(empty), Severity.WARNING) == ["hulls that hold triangles"]


def test_a_hull_from_nothing_has_no_words_of_a_file_until_it_is_stored():
    source = build(*box([-25000] * 3, [25000] * 3, inward=True), cubic_grid(25000, 5), True)
    without_cells = replace(source, carried=replace(carried(as_stored(source)), cells=None))
    for ask, of in ((carried, source), (cell_records, source), (cell_records, without_cells)):
        with pytest.raises(ValueError, match="comes from no file"):
            ask(of)
    assert len(cell_records(as_stored(source))) == 125
