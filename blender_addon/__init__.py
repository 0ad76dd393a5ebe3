"""Imports, helps to edit and exports the collision data of Project Sylpheed."""

from . import (
    check_operators,
    command_line,
    exported,
    file_handlers,
    fixes,
    grid_panel,
    grid_settings,
    last_check,
    making,
    object_fixes,
    operators,
    roots,
    sidebar,
    translations,
)

MODULES = (
    translations,
    roots,
    operators,
    exported,
    file_handlers,
    last_check,
    check_operators,
    fixes,
    object_fixes,
    sidebar,
    making,
    grid_settings,
    grid_panel,
    command_line,
)
"""Each registers and unregisters what it brings."""


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
