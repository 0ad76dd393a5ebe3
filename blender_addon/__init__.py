"""Imports, helps to edit and exports the collision data of Project Sylpheed."""

from . import check_operators, command_line, fixes, last_check, operators, sidebar

MODULES = (operators, last_check, check_operators, fixes, sidebar, command_line)
"""Each registers and unregisters what it brings."""


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
