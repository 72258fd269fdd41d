"""`reverie serve`: the daemon in the foreground."""

from __future__ import annotations

import os

__all__ = ["serve"]


def serve() -> int:
    """Run the daemon until it is told to stop; its exit code."""
    from reveried.app import run  # noqa: PLC0415 - only this command loads the daemon itself

    os.chdir("/")  # every place is an absolute path; a folder that a daemon stands in cannot be unmounted
    return run(os.environ)
