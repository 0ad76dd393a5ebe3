"""Modules that are imported when something of theirs is first used: enabling the extension doesn't wait for them.

What does the work is deferred; what Blender has to know of from the start isn't. Import them from here, whole:
`from .deferred import scene_export`, later `scene_export.export_hull`. The first use imports all of them: another
Blender may update the extension on the disk, and half of the old would not go with half of the new.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import evaluation as evaluation
    from . import grid_layers as grid_layers
    from . import mesh_bridge as mesh_bridge
    from . import problems as problems
    from . import ring_fill as ring_fill
    from . import rings as rings
    from . import scene_export as scene_export
    from . import scene_import as scene_import
    from . import scene_making as scene_making
    from . import scene_mod as scene_mod
    from . import scene_read as scene_read
    from . import scene_stage as scene_stage
    from . import sources as sources
    from .core import collision_set as collision_set
    from .core import detect as detect
    from .core import files as files
    from .core import geometry as geometry
    from .core import mcol as mcol
    from .core import query as query
    from .core import rebuild as rebuild
    from .core import report as report
    from .core import same_file as same_file
else:

    class Deferred:
        """Stands for a module of this package."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            if attribute.startswith("__"):  # asked by tools that look at everything
                raise AttributeError(attribute)
            return getattr(import_all()[self._name], attribute)

    @cache
    def import_all() -> dict[str, ModuleType]:
        """All deferred modules, by their names in this package."""
        names = [stand_in._name for stand_in in globals().values() if isinstance(stand_in, Deferred)]
        return {name: import_module(f".{name}", __package__) for name in names}

    evaluation = Deferred("evaluation")
    grid_layers = Deferred("grid_layers")
    mesh_bridge = Deferred("mesh_bridge")
    problems = Deferred("problems")
    ring_fill = Deferred("ring_fill")
    rings = Deferred("rings")
    scene_export = Deferred("scene_export")
    scene_import = Deferred("scene_import")
    scene_making = Deferred("scene_making")
    scene_mod = Deferred("scene_mod")
    scene_read = Deferred("scene_read")
    scene_stage = Deferred("scene_stage")
    sources = Deferred("sources")
    collision_set = Deferred("core.collision_set")
    detect = Deferred("core.detect")
    files = Deferred("core.files")
    geometry = Deferred("core.geometry")
    mcol = Deferred("core.mcol")
    query = Deferred("core.query")
    rebuild = Deferred("core.rebuild")
    report = Deferred("core.report")
    same_file = Deferred("core.same_file")
