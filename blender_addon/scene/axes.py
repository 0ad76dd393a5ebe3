"""How a hull's root shows file coordinates in Blender. docs/FORMATS.md, section 8: a view, nothing in a file.

Only the root carries this; mesh data below it stays in the file's own numbers.
"""

from __future__ import annotations

import math

Triple = tuple[float, float, float]


def root_transform(scale: float, up: str, mirror: bool) -> tuple[Triple, Triple]:
    """Rotation (Euler XYZ, radians) and scale of the root.

    `up` names the file's axis that points up in Blender, Y or Z. Y is turned onto Z: a rotation, so what faced
    outward still does. `mirror` flips x for a left-handed view, and the sign says so to Blender's display.
    """
    rotation = (math.pi / 2 if up == "Y" else 0.0, 0.0, 0.0)
    return rotation, (-scale if mirror else scale, scale, scale)
