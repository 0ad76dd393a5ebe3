"""Imports, helps to edit and exports the collision data of Project Sylpheed."""

from . import file_handlers, grid_panel, grid_settings, making, operators, sidebar

MODULES = (operators, file_handlers, sidebar, making, grid_settings, grid_panel)
"""Each registers and unregisters what it brings."""


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
