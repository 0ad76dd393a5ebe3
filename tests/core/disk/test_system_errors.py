"""What the system refuses is one line with its reason."""

import errno
import os

from core.disk.system_errors import system_error


def test_the_reason_is_the_system_s():
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert str(system_error(error, "can't be written", "a.col")) == (
        f"a.col: can't be written ({os.strerror(errno.ENOSPC)})"
    )


def test_an_error_without_a_number_has_its_text():
    assert str(system_error(OSError("no such drive"), "can't be read")) == "can't be read (no such drive)"
