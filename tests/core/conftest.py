"""Running the command line within the tests."""

import pytest

from core.cli.main import main


@pytest.fixture
def run(capsys):
    """Runs a command in this process: exit status, standard output, standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def refused(run):
    """Runs a command that must be refused: its one line on standard error."""

    def refused(*arguments: object) -> str:
        status, _, error = run(*arguments)
        assert status == 2
        assert error.startswith("error: ")
        assert error.count("\n") == 1
        return error

    return refused
