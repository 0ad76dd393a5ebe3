"""The records of a hull's file have the sizes and places that the game reads."""

from core.formats import mcol_records as records
from core.formats.mcol_records import CELL, HEADER, LIST, header_offset


def test_sizes():
    sizes = [dtype.itemsize for dtype in (HEADER, CELL, LIST, records.VERTEX, records.TRIANGLE, records.SPHERE)]
    assert sizes == [0x70, 32, 32, 12, 6, 16] and records.INDEX.itemsize == 2
    assert records.HEADER_END == 0x80


def test_places_in_the_file():
    places = {"minimum": 0x10, "vertex_count": 0x50, "vertices": 0x54, "triangles": 0x58, "spheres": 0x5C}
    places |= {"dimensions": 0x70, "outside_solid": 0x73, "cells": 0x74}
    assert {name: header_offset(name) for name in places} == places
