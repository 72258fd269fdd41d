"""A log that cannot be written costs lines and nothing else."""

from __future__ import annotations

import errno
import io
from typing import TYPE_CHECKING

from reveried import log

if TYPE_CHECKING:
    import pytest


class Full(io.StringIO):
    """A stream on a full disk."""

    def write(self, _text: str, /) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_does_not_end_who_logs(capsys: pytest.CaptureFixture[str]) -> None:
    """Every level goes through without an exception."""
    log.configure("info", Full())
    try:
        log.logger("test").info("hello")
        log.logger("test").error("trouble", exc_info=ValueError("x"))
    finally:
        log.configure("info")
    assert capsys.readouterr().out == ""
