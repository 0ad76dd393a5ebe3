"""The command line: `python -m core COMMAND`.

Exit status: 0 fine, 1 a check failed or a difference was found, 2 unreadable input or wrong usage.
"""

from __future__ import annotations

import contextlib
import os
import sys

from ..errors import SylpheedError
from .arguments import parse
from .printing import report_error

INTERRUPTED, PIPE_CLOSED = 130, 141
"""What a shell says of any program that was stopped by Ctrl-C or by a reader that went away."""


def main(arguments: list[str] | None = None) -> int:
    """Runs one command: its exit status. Nothing but `SystemExit` of `--help` and wrong usage is raised."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):  # a console that can't show a letter shows a question mark
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    options = parse(arguments)
    try:
        status: int = options.run(options)
        if sys.stdout:
            sys.stdout.flush()
        return status
    except SylpheedError as error:
        return report_error(str(error))
    except BrokenPipeError:
        _give_up_output()
        return PIPE_CLOSED
    except OSError as error:
        _give_up_output()
        return report_error(f"{error.filename or 'output'}: {error.strerror or error}")
    except KeyboardInterrupt:
        return INTERRUPTED


def _give_up_output() -> None:
    """Python would try to flush once more at exit, and complain."""
    if sys.stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
