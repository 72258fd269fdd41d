"""The supervisor of background loops: it logs an unexpected exception and restarts the loop after a pause.

A task that nobody awaits would otherwise end without a line in the log, and its work would not be done until the next
start of the daemon.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from reverie.errors import failure_of
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from typing import Any

PAUSE_S: Final = 1.0  # after the first failure of a loop, doubled after each further one
PAUSE_MOST_S: Final = 60.0  # a loop that ran for longer than this before it failed begins with the short pause again


def start_supervised(name: str, loop: Callable[[], Coroutine[Any, Any, None]]) -> asyncio.Task[None]:
    """Start a task that runs a loop, again after each exception; it ends when the loop returns or is cancelled."""
    return asyncio.get_running_loop().create_task(supervise(name, loop), name=name)


async def supervise(name: str, loop: Callable[[], Coroutine[Any, Any, None]], *, pause_s: float = PAUSE_S) -> None:
    """Run a loop until it returns; after an exception log it, pause, and begin the loop again."""
    clock = asyncio.get_running_loop()
    pause = pause_s
    while True:
        began = clock.time()
        has_ended = False
        with failures_logged(name):
            await loop()
            has_ended = True
        if has_ended:
            return
        if clock.time() - began > PAUSE_MOST_S:
            pause = pause_s
        await asyncio.sleep(pause)
        pause = min(2 * pause, PAUSE_MOST_S)


@contextmanager
def failures_logged(name: str, **about: str) -> Iterator[None]:
    """End the block at an exception, which is logged with its kind and lines of code; not at a cancellation.

    `name` is that of the loop or work, `about` what it worked on, as ids: what fails does not keep it from
    the rest.
    """
    log = logger("reveried.supervision")
    try:
        yield
    except BaseException as error:
        failure_of(error)
        log.exception("an unexpected error; the work goes on", work=name, **about, exc_info=error)
