"""The line that shows how far a long job is."""

from tests.support.hulls import DATA

TEST = str(DATA / "test.col")
MISSING_ENTRIES = str(DATA / "quirks" / "S13_missing.col")


def test_progress_shows_on_a_terminal_after_a_second_and_is_wiped(run, monkeypatch):
    monkeypatch.setattr("core.cli.progress.time.monotonic", iter(range(0, 1000, 2)).__next__)
    assert run("verify", TEST)[2] == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert run("verify", TEST, MISSING_ENTRIES)[2] == (
        "\r\x1b[Kverifying 1 of 2: test.col\r\x1b[K\r\x1b[Kverifying 2 of 2: S13_missing.col\r\x1b[K"
    )
    monkeypatch.setattr("core.cli.progress.time.monotonic", lambda: 0)
    assert run("verify", TEST)[2] == ""
