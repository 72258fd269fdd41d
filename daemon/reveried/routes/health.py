"""`GET /v1/health`: liveness, version and protocol; no paths, names or counts."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from reverie import wire
from reverie.errors import StorageFailed
from reveried import PROTOCOL, __version__
from reveried.http.call import Reply
from reveried.http.routing import Route
from reveried.worker import WRITES_FAIL_HINT

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES"]


async def health(call: Call) -> Reply:
    """Return status, version, protocol, process id and uptime of this daemon.

    Raises:
        StorageFailed: writes fail until the daemon is started again; a daemon that only reads is not healthy.
    """
    failure = call.services.worker.failure
    if failure is not None:
        raise StorageFailed(f"Writes fail: {failure.message}", hint=WRITES_FAIL_HINT)
    return Reply(
        wire.Health(
            status="ok",
            version=__version__,
            protocol=PROTOCOL,
            pid=os.getpid(),
            uptime_seconds=round(time.monotonic() - call.services.started, 3),
        )
    )


ROUTES = (Route("GET", "/v1/health", health, "Liveness, version and protocol of the daemon."),)
