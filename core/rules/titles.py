"""What those that break a rule are called, in the format's own words."""

from __future__ import annotations

from typing import NamedTuple

from .rule import Rule


class Title(NamedTuple):
    """`noun` with what is wrong with it: "cell", "with several list records"."""

    noun: str
    trait: str = ""

    def __str__(self) -> str:
        return f"{self.noun} {self.trait}".rstrip()


TITLES = {
    Rule.CHUNK_SHELL: Title("file", "with other bytes between the payload and POF0"),
    Rule.CHUNK_END: Title("file", "without the zero word at which the game stops reading"),
    Rule.CHUNK_ALONE: Title("file", "with further chunks, which the game steps over"),
    Rule.POINTER_TABLE: Title("relocated word", "more or fewer, none of which the game reads"),
    Rule.BOX_WORDS: Title("box", "with unusual pad words"),
    Rule.BOX_EXTENT: Title("extent", "other than max - min"),
    Rule.ARRAY_LENGTHS: Title("array", "with more or less behind it"),
    Rule.ARRAY_ORDER: Title("unusual order", "of arrays"),
    Rule.SPARE_BYTES: Title("byte", "of unknown meaning"),
    Rule.UNREAD_WORDS: Title("unread word", "with unknown contents"),
    Rule.NO_TRIANGLES: Title("hull", "without triangles"),
    Rule.LIMITS: Title("count", "over 65,535"),
    Rule.VERTEX_COUNT: Title("hull", "with more vertices than triangles"),
    Rule.COORDINATES: Title("vertex", "with no usable coordinates"),
    Rule.BOUNDING_BOX: Title("vertex", "outside the box"),
    Rule.UNUSED_VERTICES: Title("vertex", "that no triangle uses"),
    Rule.SHARED_EDGES: Title("edge", "not shared by exactly two triangles"),
    Rule.OPEN_EDGES: Title("open edge"),
    Rule.NON_MANIFOLD_EDGES: Title("non-manifold edge"),
    Rule.OPEN_SURFACES: Title("open surface"),
    Rule.ZERO_AREA: Title("zero-area triangle"),
    Rule.DOUBLED_TRIANGLES: Title("doubled triangle"),
    Rule.NO_VOLUME: Title("closed surface", "with no volume"),
    Rule.FLIPPED: Title("flipped triangle"),
    Rule.INSIDE_OUT: Title("inside-out surface"),
    Rule.NO_FREE_SPACE: Title("surface", "in a map without free space"),
    Rule.BURIED_SURFACES: Title("surface", "buried in rock, where no ship gets"),
    Rule.SELF_INTERSECTIONS: Title("self-intersecting triangle"),
    Rule.INTERSECTING_SURFACES: Title("triangle", "through another surface"),
    Rule.TRIANGLE_SPHERES: Title("sphere", "too small for the triangle"),
    Rule.SPHERE_ROUNDING: Title("sphere", "too small for the triangle by rounding"),
    Rule.SPHERE_SIZE: Title("sphere", "larger than needed"),
    Rule.LISTED_STATES: Title("cell", "with a list that a swept ship skips or takes for solid"),
    Rule.EMPTY_STATES: Title(
        "cell", "without a list whose fill state says rock for free space, or free space for rock"
    ),
    Rule.CELL_POSITIONS: Title("cell record", "with another position"),
    Rule.SEVERAL_LISTS: Title("cell", "with several list records"),
    Rule.LIST_POINTERS: Title("list pointer", "behind a gap or into shared indices"),
    Rule.CELL_SPHERES: Title("cell", "with two different spheres"),
    Rule.MISSING_ENTRIES: Title("triangle", "absent from the list of a touched cell"),
    Rule.TOUCHING_ENTRIES: Title("triangle", "on the border of a cell, listed in the one beside"),
    Rule.NEAR_ENTRIES: Title("triangle", "as near to a cell as the game rounds, not listed there"),
    Rule.SPARE_ENTRIES: Title("list entry", "outside the cell"),
    Rule.EXACT_LISTS: Title("cell", "with more or fewer triangles in the list"),
    Rule.REPEATED_ENTRIES: Title("list entry", "named again in the cell"),
    Rule.LIST_SPHERES: Title("list sphere", "too small for the triangles"),
    Rule.LIST_SPHERE_REACH: Title("list sphere", "around the triangles in the cell only, or but for rounding"),
    Rule.LISTED_SPHERE_REACH: Title("listed sphere", "beside the cell"),
    Rule.CELL_SPHERE_REACH: Title("cell sphere", "beside the cell"),
    Rule.LONG_LISTS: Title("cell", "with a long list"),
    Rule.REMOVED_SURFACES: Title("missing surface"),
    Rule.LOOSE_VERTICES: Title("unused vertex"),
    Rule.GROWN_GRID: Title("grown grid"),
    Rule.OBJ_FACES: Title("bent face"),
    Rule.PART_SIZE_WORDS: Title("size word", "other than the counts give"),
    Rule.PART_USABLE: Title("part", "that can't be drawn or edited"),
    Rule.PART_COORDINATES: Title("vertex", "with no usable coordinates"),
    Rule.PART_NAME_END: Title("name", "without closing NUL"),
    Rule.PART_NAME_LETTERS: Title("name", "in another encoding than CP932"),
    Rule.PART_NAME_FIELD: Title("name field", "of another length"),
    Rule.PART_NAME_REST: Title("name field", "with something behind the name"),
    Rule.PART_DROPPED: Title(
        "part", "that the game drops, because one before has the same name but for case, or a name with the same id"
    ),
    Rule.PART_TRIANGLES: Title("part", "without triangles"),
    Rule.PART_MANIFOLD: Title("open, doubled or branching part"),
    Rule.PART_EDGES: Title("edge", "not shared by exactly two triangles"),
    Rule.PART_CORNERS: Title("triangle", "with a vertex twice"),
    Rule.PART_ZERO_AREA: Title("zero-area triangle"),
    Rule.PART_DOUBLED_TRIANGLES: Title("doubled triangle"),
    Rule.PART_UNUSED_VERTICES: Title("vertex", "that no triangle uses"),
    Rule.SET_END: Title("file", "with bytes behind the last part, which the game takes for another"),
    Rule.SAME_PART_IDS: Title("part", "with the id of another"),
    Rule.REMOVED_PART: Title("removed part"),
    Rule.REPLACED_PART: Title("replaced part"),
    Rule.EMPTY_PART: Title("part", "without usable triangles"),
    Rule.NAVIGATION_BOX: Title("volume", "with unusual words around the box"),
    Rule.NAVIGATION_GRID: Title("volume", "with unknown dimensions"),
    Rule.NAVIGATION_ARRAYS: Title("volume", "with misplaced arrays"),
    Rule.NAVIGATION_CUT: Title("tetrahedron", "cut by new rock"),
    Rule.NAVIGATION_FREED: Title("triangle", "in front of space without tetrahedra"),
    Rule.TABLE_ROWS: Title("section", "with rows that the table lacks"),
    Rule.TABLE_STRINGS: Title("pointer", "beyond the strings"),
    Rule.TABLE_SIZE: Title("table", "with another size of the strings"),
    Rule.TABLE_END: Title("table", "with an open last string"),
    Rule.TABLE_NAMES: Title("name", "too long to be compared with the hash"),
    Rule.TABLE_HASHES: Title("name", "with the hash of another"),
    Rule.TABLE_SECTIONS: Title("repeated section"),
    Rule.TABLE_KEYS: Title("repeated key"),
    Rule.ARCHIVE_HEADER: Title("archive", "with another alignment or limit"),
    Rule.ARCHIVE_COUNT: Title("archive", "with more or fewer entries than the header counts"),
    Rule.ARCHIVE_TABLE: Title("archive", "with bytes behind the table"),
    Rule.ARCHIVE_ORDER: Title("entry", "out of the order of hashes"),
    Rule.ARCHIVE_DUPLICATES: Title("entry", "with the hash of another"),
    Rule.ARCHIVE_ALIGNMENT: Title("entry", "beside the alignment"),
    Rule.ARCHIVE_OVERLAP: Title("overlapping entry"),
    Rule.ARCHIVE_SHARED: Title("entry", "with the data of another"),
    Rule.ARCHIVE_GAP: Title("entry", "behind a gap that isn't empty"),
    Rule.ARCHIVE_DATA: Title("damaged entry"),
    Rule.ENTRY_CONTENTS: Title("unreadable entry"),
    Rule.GAME_ARCHIVES: Title("missing archive"),
    Rule.STAGE_TABLES: Title("damaged stage table"),
    Rule.PHASE_FILES: Title("missing file", "of a phase"),
    Rule.PAIR_FILES: Title("hull or navigation volume", "without the other"),
    Rule.PAIR_GRID: Title("navigation volume", "for another grid"),
    Rule.SET_FILES: Title("damaged CollisionSet"),
    Rule.SET_CONTENTS: Title("CollisionSet", "unlike the others"),
}
