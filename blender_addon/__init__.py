"""Imports, helps to edit and exports the collision data of Project Sylpheed."""

from . import operators


def register() -> None:
    operators.register()


def unregister() -> None:
    operators.unregister()
