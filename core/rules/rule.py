"""The names of all rules."""

from __future__ import annotations

import enum


class Rule(enum.StrEnum):
    """What a check counts or a fault breaks. The value is the rule's name in JSON and in scripts."""

    # The chunks of a file
    CHUNK_SHELL = "chunk shell"
    CHUNK_END = "files ended by a zero word"
    CHUNK_ALONE = "files of one chunk"

    # The arrays of a hull's file
    POINTER_TABLE = "pointer table"
    BOX_WORDS = "box words"
    BOX_EXTENT = "box extent"
    ARRAY_LENGTHS = "array lengths"
    ARRAY_ORDER = "array order"
    SPARE_BYTES = "spare bytes"
    UNREAD_WORDS = "unread words"

    # The mesh of a hull
    NO_TRIANGLES = "no triangles"
    LIMITS = "counts"
    VERTEX_COUNT = "vertex count"
    COORDINATES = "coordinates"
    BOUNDING_BOX = "bounding box"
    UNUSED_VERTICES = "unused vertices"
    SHARED_EDGES = "shared edges"
    OPEN_EDGES = "open edges"
    NON_MANIFOLD_EDGES = "non-manifold edges"
    OPEN_SURFACES = "open surfaces"
    ZERO_AREA = "zero-area triangles"
    DOUBLED_TRIANGLES = "doubled triangles"
    NO_VOLUME = "no volume"
    FLIPPED = "flipped triangles"
    INSIDE_OUT = "winding"
    NO_FREE_SPACE = "no free space"
    BURIED_SURFACES = "buried surfaces"
    SELF_INTERSECTIONS = "self-intersections"
    INTERSECTING_SURFACES = "intersecting surfaces"
    TRIANGLE_SPHERES = "triangle spheres"
    SPHERE_ROUNDING = "sphere rounding"
    SPHERE_SIZE = "sphere size"

    # The cells of a hull
    LISTED_STATES = "states of listed cells"
    EMPTY_STATES = "states of empty cells"
    CELL_POSITIONS = "cell positions"
    SEVERAL_LISTS = "several lists"
    LIST_POINTERS = "list pointers"
    CELL_SPHERES = "cell spheres"
    MISSING_ENTRIES = "missing entries"
    TOUCHING_ENTRIES = "touching entries"
    NEAR_ENTRIES = "near entries"
    SPARE_ENTRIES = "spare entries"
    EXACT_LISTS = "exact lists"
    REPEATED_ENTRIES = "repeated entries"
    LIST_SPHERES = "list spheres"
    LIST_SPHERE_REACH = "list sphere reach"
    LISTED_SPHERE_REACH = "listed sphere reach"
    CELL_SPHERE_REACH = "cell sphere reach"
    LONG_LISTS = "long lists"

    # What an edit did
    REMOVED_SURFACES = "removed surfaces"
    LOOSE_VERTICES = "loose vertices"
    GROWN_GRID = "grid"
    OBJ_FACES = "faces"

    # Collision sets
    PART_SIZE_WORDS = "part size words"
    PART_USABLE = "part contents"
    PART_COORDINATES = "part coordinates"
    PART_NAME_END = "part name end"
    PART_NAME_LETTERS = "part name letters"
    PART_NAME_FIELD = "part name field"
    PART_NAME_REST = "part name rest"
    PART_DROPPED = "dropped parts"
    PART_TRIANGLES = "part triangles"
    PART_MANIFOLD = "part manifold"
    PART_EDGES = "part edges"
    PART_CORNERS = "part corners"
    PART_ZERO_AREA = "part areas"
    PART_DOUBLED_TRIANGLES = "part doubled triangles"
    PART_UNUSED_VERTICES = "part unused vertices"
    SET_END = "set end"
    SAME_PART_IDS = "part names"
    REMOVED_PART = "removed part"
    REPLACED_PART = "replaced part"
    EMPTY_PART = "empty part"

    # Navigation volumes
    NAVIGATION_BOX = "navigation box"
    NAVIGATION_GRID = "navigation grid"
    NAVIGATION_ARRAYS = "navigation arrays"
    NAVIGATION_CUT = "navigation cut"
    NAVIGATION_FREED = "navigation freed"

    # Tables
    TABLE_ROWS = "table rows"
    TABLE_STRINGS = "table strings"
    TABLE_SIZE = "table size"
    TABLE_END = "table end"
    TABLE_NAMES = "table names"
    TABLE_HASHES = "table hash"
    TABLE_SECTIONS = "table sections"
    TABLE_KEYS = "table keys"

    # Archives
    ARCHIVE_HEADER = "archive header"
    ARCHIVE_COUNT = "archive count"
    ARCHIVE_TABLE = "archive table"
    ARCHIVE_ORDER = "archive order"
    ARCHIVE_DUPLICATES = "archive duplicates"
    ARCHIVE_ALIGNMENT = "archive alignment"
    ARCHIVE_OVERLAP = "archive overlap"
    ARCHIVE_SHARED = "archive shared"
    ARCHIVE_GAP = "archive gap"
    ARCHIVE_DATA = "archive data"
    ENTRY_CONTENTS = "entry contents"

    # Game folders
    GAME_ARCHIVES = "game archive"
    STAGE_TABLES = "stage table"
    PHASE_FILES = "phase files"
    PAIR_FILES = "pair files"
    PAIR_GRID = "pair grid"
    SET_FILES = "set files"
    SET_CONTENTS = "set contents"
