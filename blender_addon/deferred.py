"""Modules that are loaded when something of theirs is first used: enabling the extension doesn't wait for them.

What does the work is deferred, what Blender has to know of from the start isn't. A deferred module is imported like any
other, but whole, since a name would have to be looked up in it: `from . import scene_export`, later
`scene_export.export_hull`.
"""

from __future__ import annotations

import sys
from importlib.util import LazyLoader, find_spec, module_from_spec

DEFERRED = (
    "core.collision_set",
    "core.detect",
    "core.files",
    "core.geometry",
    "core.mcol",
    "core.query",
    "core.rebuild",
    "grid_layers",
    "mesh_bridge",
    "problems",
    "ring_fill",
    "scene_export",
    "scene_import",
    "scene_making",
    "scene_read",
    "scene_stage",
)


def defer(name: str) -> None:
    """Lets a module of this package wait for its first use, unless it is loaded already."""
    full_name = f"{__package__}.{name}"
    spec = None if full_name in sys.modules else find_spec(full_name)
    if spec is None or spec.loader is None:
        return
    spec.loader = LazyLoader(spec.loader)
    module = module_from_spec(spec)
    sys.modules[full_name] = module
    spec.loader.exec_module(module)
    package, _, own_name = full_name.rpartition(".")
    setattr(sys.modules[package], own_name, module)


for _name in DEFERRED:
    defer(_name)
