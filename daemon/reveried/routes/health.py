"""`GET /v1/health`: liveness, version and protocol; no paths, names or counts."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from reverie import wire
from reveried import PROTOCOL, __version__
from reveried.http.call import Reply
from reveried.http.routing import Route

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES"]


async def health(call: Call) -> Reply:
    """Return status, version, protocol, process id and uptime of this daemon."""
    return Reply(
        wire.Health(
            status="ok",
            version=__version__,
            protocol=PROTOCOL,
            pid=os.getpid(),
            uptime_seconds=round(time.monotonic() - call.services.started, 3),
        )
    )


ROUTES = (Route("GET", "/v1/health", health, "Whether the daemon answers, and as what."),)
