"""What each rule is called in the sidebar."""

from __future__ import annotations

from ...core.rules.rule import Rule
from ..scene.scene_rules import SceneRule

TITLES = {
    Rule.NO_TRIANGLES: "No Triangles",
    Rule.LIMITS: "Over the Limits",
    Rule.VERTEX_COUNT: "More Vertices than Triangles",
    Rule.COORDINATES: "Unusable Coordinates",
    Rule.ZERO_AREA: "Zero-Area Faces",
    Rule.OPEN_EDGES: "Open Edges",
    Rule.NON_MANIFOLD_EDGES: "Non-Manifold Edges",
    Rule.DOUBLED_TRIANGLES: "Doubled Faces",
    Rule.OPEN_SURFACES: "Open Surfaces",
    Rule.NO_VOLUME: "Surfaces without Volume",
    Rule.FLIPPED: "Flipped Faces",
    Rule.INSIDE_OUT: "Inside-Out Surfaces",
    Rule.NO_FREE_SPACE: "No Free Space",
    Rule.BURIED_SURFACES: "Buried Surfaces",
    Rule.BOUNDING_BOX: "Outside the Bounding Box",
    Rule.REMOVED_SURFACES: "Missing Surfaces",
    Rule.LOOSE_VERTICES: "Unused Vertices",
    SceneRule.DOUBLED_VERTICES: "Doubled Vertices",
    SceneRule.LARGE_FACES: "Faces with Four or More Corners",
    Rule.SELF_INTERSECTIONS: "Self-Intersections",
    Rule.INTERSECTING_SURFACES: "Intersecting Surfaces",
    Rule.LONG_LISTS: "Cells with Long Lists",
    SceneRule.REFUSED: "Refused",
    SceneRule.CUTTERS: "Cutters in the Hull",
    SceneRule.EDITED_CELLS: "Cell Boxes with Faces",
    SceneRule.LEFT_OUT: "Not Exported as Shown",
    SceneRule.NAVIGATION_OLD: "Navigation out of Date",
    SceneRule.NAVIGATION_BLOCKED: "Links through Rock",
    Rule.EMPTY_PART: "Parts without Faces",
    Rule.REMOVED_PART: "Missing Parts",
}
