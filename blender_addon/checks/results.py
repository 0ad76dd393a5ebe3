"""What the last check found, kept for the sidebar, which must not compute while it draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
from bpy.app.handlers import persistent

from ...core.errors import Severity
from ...core.text import plural
from . import occurrences, sidebar_titles

if TYPE_CHECKING:
    from ..scene.snapshot import Snapshot
    from . import problems


@dataclass(slots=True)
class Result:
    """A check, and what it was of. `root` is the object as it was last found: no reference outlives an undo."""

    checked: problems.Checked
    snapshot: Snapshot
    root: bpy.types.Object

    @property
    def edited(self) -> bool:
        """Whether something else would be exported than what was checked."""
        return self.snapshot.differs(bpy.context, self.root)


_results: dict[int, Result] = {}
"""By the root's session number, which survives undo and renaming."""


def run(context: bpy.types.Context, root: bpy.types.Object) -> problems.Checked:
    """Checks a root and keeps the result."""
    from ..scene.snapshot import Snapshot
    from . import problems

    checked = problems.check_root(context, root)
    _results[root.session_uid] = Result(checked, Snapshot.take(context, root), root)
    return checked


def of(root: bpy.types.Object) -> Result | None:
    """The last check of a root."""
    result = _results.get(root.session_uid)
    if result:
        result.root = root
    return result


@persistent
def forget(*_: object) -> None:
    """Drops every result."""
    _results.clear()
    occurrences.forget()


def summary(checked: problems.Checked) -> str:
    """One line: `S14: 2 errors, 1 warning: Open edges (3), …`"""
    shown = [problem for problem in checked.problems if problem.severity is not Severity.INFO]
    if not shown:
        return f"{checked.root}: no problems"
    errors, warnings = checked.count(Severity.ERROR), checked.count(Severity.WARNING)
    counts = [plural(n, word) for n, word in ((errors, "error"), (warnings, "warning")) if n]
    return f"{checked.root}: {', '.join(counts)}: " + ", ".join(
        f"{sidebar_titles.TITLES[problem.check]} ({problem.count:,})" for problem in shown
    )


def worst_severity(checked: problems.Checked) -> Severity:
    return checked.problems[0].severity


def register() -> None:
    bpy.app.handlers.load_post.append(forget)


def unregister() -> None:
    bpy.app.handlers.load_post.remove(forget)
    forget()
