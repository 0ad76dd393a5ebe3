"""One writer of archives at a time."""

import threading

import pytest

from core.disk import lock
from core.disk.lock import alone
from core.errors import FormatError


def test_it_may_be_nested(tmp_path):
    with alone(tmp_path), alone(tmp_path):
        assert lock._depth == 2
    assert lock._depth == 0


def test_another_thread_waits(tmp_path):
    order = []

    def write():
        with alone(tmp_path):
            order.append("other")

    with alone(tmp_path):
        other = threading.Thread(target=write)
        other.start()
        other.join(0.1)
        order.append("first")
    other.join()
    assert order == ["first", "other"]


def test_another_program_s_lock_is_named_after_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "WAITS", 0.0)
    monkeypatch.setattr(lock, "_locked", lambda stream: False)
    with pytest.raises(FormatError, match="another program is writing an archive") as caught, alone(tmp_path):
        raise AssertionError("it has no lock")
    assert caught.value.file == str(tmp_path) and lock._depth == 0
