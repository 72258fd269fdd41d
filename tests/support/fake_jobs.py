"""Jobs for the compute process in tests: each does one thing that a real one might."""

from __future__ import annotations

import os
import time

from reverie.errors import TokenBudgetExceeded, ValidationError

__all__ = ["JOBS"]


def _echo(body: bytes) -> bytes:
    return body


def _sleep(body: bytes) -> bytes:
    time.sleep(float(body))
    return b"slept"


def _wait(body: bytes) -> bytes:
    """Until there is a file of this name."""
    while not os.path.exists(body):  # noqa: PTH110 - the name is bytes
        time.sleep(0.01)
    return b"opened"


def _crash(body: bytes) -> bytes:
    os._exit(int(body or b"7"))


def _refuse(body: bytes) -> bytes:
    raise ValidationError("no good", hint="do better", where=body.decode())


def _budget(body: bytes) -> bytes:
    raise TokenBudgetExceeded("too little", budget=1, minimum_required=int(body))


def _defect(body: bytes) -> bytes:
    raise KeyError(body)


def _pid(body: bytes) -> bytes:
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
