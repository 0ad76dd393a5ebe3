"""What the system refuses, as an error for the user."""

from __future__ import annotations

from os import PathLike

from ..errors import FormatError


def system_error(error: OSError, problem: str, file: str | PathLike[str] = "") -> FormatError:
    """The error of this problem with a file, with the system's reason in parentheses."""
    return FormatError(f"{problem} ({error.strerror or error})", file=str(file))
