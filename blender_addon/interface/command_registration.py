"""The name under which `blender --command` knows the extension's command line, which is loaded when it is called."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

COMMAND = "sylpheed"

_registered: list[object] = []


def _run(arguments: Sequence[str]) -> int:
    from . import command_line

    return command_line.run(arguments)


def register() -> None:
    _registered.append(bpy.utils.register_cli_command(COMMAND, _run))


def unregister() -> None:
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())
