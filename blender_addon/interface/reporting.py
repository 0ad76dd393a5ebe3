"""What operators say: reports, refusals, and the end of an import."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import bpy

from ...core.errors import RefusedError, SylpheedError
from ...core.text import some
from ..checks import results
from ..scene import object_names, viewport
from ..scene.roots import known_roots
from ..translations import report_text
from . import last_result

if TYPE_CHECKING:
    from ..checks.fixing import Fixed
    from ..scene import importing

Result = set[str]


@contextmanager
def progress(context: bpy.types.Context) -> Iterator[Callable[[float], None]]:
    """Shows a progress at the mouse pointer: a function to call with numbers from 0 to 1."""
    window = context.window_manager
    window.progress_begin(0, 1)
    try:
        yield window.progress_update
    finally:
        window.progress_end()


def finish_import(operator: bpy.types.Operator, context: bpy.types.Context, done: list[importing.Imported]) -> None:
    """Selects what came in, and reports."""
    roots = [imported.root for imported in done]
    viewport.select(context, roots)
    viewport.frame(context, roots)
    distance = viewport.reach(context, roots) if operator.reach else None
    if distance:
        raised = report_text(
            "Extended the 3D views' clip distance to {distance:,.4g} to cover the map", distance=distance
        )
        report(operator, "INFO", raised)
    for imported in done:
        if imported.summary:
            report(operator, "INFO", imported.summary)
        for warning in imported.warnings:
            report(operator, "WARNING", warning)


def report(operator: bpy.types.Operator, kind: str, text: str) -> None:
    """Reports a text that may hold a path which isn't text to Blender."""
    operator.report({kind}, object_names.printable(text))
    last_result.note(operator, kind, object_names.printable(text))


def refuse(operator: bpy.types.Operator, error: SylpheedError) -> Result:
    """Reports why an operator can't do it: its result."""
    report(operator, "ERROR", str(error))
    return {"CANCELLED"}


def refuse_export(operator: bpy.types.Operator, context: bpy.types.Context, error: SylpheedError) -> Result:
    """Reports why an export is refused, and checks the hulls and sets of the scene, so that the sidebar shows what to
    select and fix: the operator's result."""
    if isinstance(error, RefusedError):
        for root in known_roots(context.scene):
            results.run(context, root)
        viewport.redraw(context)
    return refuse(operator, error)


def report_fixed(
    operator: bpy.types.Operator, context: bpy.types.Context, root: bpy.types.Object, done: Fixed
) -> Result:
    """Reports how much was fixed of each object, and why others are as they were. Returns the operator's result."""
    viewport.redraw(context)
    if done.left_out:
        operator.report({"WARNING"}, "; ".join(f'"{name}" {why}' for name, why in done.left_out.items()))
    elif not done.counts:
        operator.report({"INFO"}, report_text("{name}: nothing to fix", name=root.name))
    if not done.counts:
        return {"CANCELLED"}
    names = some([f'"{name}"' for name in done.counts])
    count = sum(done.counts.values())
    operator.report({"INFO"}, report_text("Fixed {count:,} in {names}", count=count, names=names))
    return {"FINISHED"}
