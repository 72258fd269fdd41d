"""Jobs for the compute process in tests: echo, sleep, crash, fail."""

from __future__ import annotations

import os
import time

from reverie.errors import TokenBudgetExceeded, ValidationError


def _echo(body: bytes) -> bytes:
    """Return the body."""
    return body


def _sleep(body: bytes) -> bytes:
    """Sleep for so many seconds."""
    time.sleep(float(body))
    return b"slept"


def _wait(body: bytes) -> bytes:
    """Wait until the file named by the body exists; trailing spaces only make the job larger."""
    while not os.path.exists(body.rstrip()):  # noqa: PTH110 - the name is bytes
        time.sleep(0.01)
    return b"opened"


def _crash(body: bytes) -> bytes:
    """Exit the process with this status, without clean-up."""
    os._exit(int(body or b"7"))


def _refuse(body: bytes) -> bytes:
    """Raise an error with a hint and details."""
    raise ValidationError("no good", hint="do better", where=body.decode())


def _budget(body: bytes) -> bytes:
    """Raise an error with typed details."""
    raise TokenBudgetExceeded("too little", budget=1, minimum_required=int(body))


def _defect(body: bytes) -> bytes:
    """Raise an exception that is a bug."""
    raise KeyError(body)


def _pid(body: bytes) -> bytes:
    """Return the id of the process."""
    del body
    return str(os.getpid()).encode()


JOBS = {
    "echo": _echo,
    "sleep": _sleep,
    "wait": _wait,
    "crash": _crash,
    "refuse": _refuse,
    "budget": _budget,
    "defect": _defect,
    "pid": _pid,
}


CLEARED: list[int] = []
"""One item for each time that the caches were cleared in this process."""


def clear_caches() -> None:
    CLEARED.append(1)
