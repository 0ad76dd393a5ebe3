"""Imports, helps to edit and exports the collision data of Project Sylpheed."""

from . import translations
from .checks import changes, results
from .interface import (
    changes_panel,
    check_operators,
    command_registration,
    create_operators,
    dropped_assets,
    file_handlers,
    fix_all_operator,
    fix_operators,
    grid_panel,
    hull_operators,
    last_result_panel,
    menus,
    navigation_operators,
    online_manual,
    overview_panel,
    play_operators,
    revert_operator,
    set_panel,
    sidebar,
)
from .overlay import settings
from .scene import mod_record, revision, roots

MODULES = (
    translations,
    roots,
    revision,
    menus,
    mod_record,
    file_handlers,
    results,
    changes,
    check_operators,
    fix_operators,
    fix_all_operator,
    revert_operator,
    play_operators,
    last_result_panel,
    overview_panel,
    sidebar,
    changes_panel,
    create_operators,
    hull_operators,
    set_panel,
    dropped_assets,
    navigation_operators,
    online_manual,
    settings,
    grid_panel,
    command_registration,
)
"""Each registers and unregisters what it brings."""


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
