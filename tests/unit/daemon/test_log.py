"""The log on a full disk, and Python warnings as log lines."""

from __future__ import annotations

import errno
import io
import json
import warnings

import pytest

from reveried import log


class Full(io.StringIO):
    """A stream on a full disk."""

    def write(self, _text: str, /) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_logging_to_a_full_disk_raises_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Logging of infos and errors raises nothing when the stream cannot be written."""
    log.configure("info", Full())
    try:
        log.logger("test").info("hello")
        log.logger("test").error("trouble", exc_info=ValueError("x"))
    finally:
        log.configure("info")
    assert capsys.readouterr().out == ""


def test_a_warning_is_a_line_of_the_log() -> None:
    """A Python warning is logged with its kind and source line, without its message."""
    stream = io.StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        log.configure("info", stream)
        try:
            warnings.warn("line one\nline two", RuntimeWarning, stacklevel=1)
        finally:
            log.configure("info")
    [line] = stream.getvalue().splitlines()
    said = json.loads(line)
    assert (said["kind"], said["level"]) == ("RuntimeWarning", "warning")
    assert __file__ in said["where"]
    assert "line one" not in line
